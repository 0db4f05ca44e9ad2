#!/usr/bin/env bash
# Counts what is written by hand, and fails above the ceiling. A change that adds a capability raises the ceiling by its budget,
# and lowers it to what was used. .gitattributes names what is generated or vendored.
#
#   tests/lines.sh [FOLDER of another clone]
set -euo pipefail

readonly CEILING=168296

list=$(realpath "$(dirname "$0")/../.gitattributes")
cd "${1:-$(dirname "$0")/..}"

# PATHSPEC...: lines of text files that are tracked.
lines() { git -c core.attributesFile="$list" grep -I --count '' -- "$@" | awk -F: '{ lines += $NF } END { print lines + 0 }'; }
# PATHSPEC...
bytes() { git -c core.attributesFile="$list" ls-files -z -- "$@" | xargs -0 cat -- | wc -c; }

total=0
for folder in host/src host/core/src host/web components tests; do
    count=$(lines "$folder" ':(exclude,attr:linguist-generated)' ':(exclude,attr:linguist-vendored)')
    total=$((total + count))
    printf '%7d lines in %s\n' "$count" "$folder"
done
printf '%7d lines by hand, of %d\n' "$total" "$CEILING"
printf '%7d lines generated\n' "$(lines ':(attr:linguist-generated)')"
printf '%7d bytes vendored\n' "$(bytes ':(attr:linguist-vendored)')"
[[ -n ${1-} ]] || ((total <= CEILING))
