#!/usr/bin/env bash
# Trains models with XGBoost, LightGBM and scikit-learn, exports them with the package in components/python, and compares
# what they give afterwards. The libraries are installed once, into a folder of the user's cache.
#
#   tests/python/run.sh CAUDAL
#
# Exits with status 3 if they cannot be installed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
CAUDAL=$(realpath "$1")
tools=${XDG_CACHE_HOME:-$HOME/.cache}/caudal/python-$(sha256sum "$here/requirements.txt" | head -c 16)
readonly here tools
# Threads that wait busily make a busy machine slower.
export OMP_WAIT_POLICY=passive
export CAUDAL PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1

"$here/../tools.sh" node
# One that was moved, or whose Python was replaced, no longer starts.
if [[ ! -e $tools/installed ]] || ! "$tools/bin/python" -c ''; then
    rm -rf "$tools"
    "$here/../tools.sh" python || exit 3
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --requirement "$here/requirements.txt" || exit 3
    touch "$tools/installed"
fi

scratch=$(mktemp -d /tmp/caudal-python.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
"$tools/bin/pip" wheel --quiet --no-deps --no-build-isolation --wheel-dir "$scratch" "$here/../../components/python"
# Python imports from a wheel as it is.
PYTHONPATH=$(echo "$scratch"/*.whl) "$tools/bin/python" -m unittest discover --start-directory "$here" --pattern '*_test.py'
