#!/usr/bin/env bash
# From an empty Debian to a verified transfer on the installed package, word for word as README.md and host/OPERATING.md say;
# then an upgrade while transfers are sent, the way back, removal and purge. As root, after `make packages`.
#
#   tests/packages/installed.sh [FOLDER of the packages]
set -euo pipefail

repository=$(cd "$(dirname "$0")/../.." && pwd)
packages=$(realpath "${1:-$repository/target/packages}")
readonly repository packages

# What is mounted and started here goes when this ends.
if [[ -z ${CAUDAL_UNSHARED-} ]]; then
    command -v mmdebstrap >/dev/null || "$repository/tests/tools.sh" debian
    CAUDAL_UNSHARED=1 exec unshare --mount --pid --fork --kill-child "$0" "$@"
fi

die() { printf 'installed: %s\n' "$*" >&2; exit 1; }

# FILE HEADING NUMBER: a block of commands below a heading.
block() {
    awk -v heading="$2" -v number="$3" '
        /^#+ / { inside = $0 == heading }
        inside && /^```sh/ { count++; copying = count == number; next }
        /^```$/ { copying = 0 }
        copying' "$repository/$1" | grep . || die "$1 has no block $3 below $2"
}

inside() { chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 TOKEN="${TOKEN-}" "$@"; }
# As the user of the sandbox, in a folder of theirs.
as_ana() { inside setpriv --reuid ana --regid ana --init-groups env HOME=/home/ana bash -euo pipefail -c "cd /home/ana; $1"; }

serve() {
    as_ana 'exec caudal serve --sandbox >printed 2>log' &
    local seconds
    for seconds in {1..60}; do
        TOKEN=$(sed -n 's/^export TOKEN=//p' "$root/home/ana/printed" 2>/dev/null || true)
        [[ -z $TOKEN ]] || return 0
        sleep 1
    done
    die "the sandbox does not start: $(cat "$root/home/ana/log")"
}

stop() {
    inside pkill --signal INT --exact caudal
    wait
    rm -f "$root/home/ana/printed"
}

version_of() { inside dpkg-query --show --showformat '${Version}' caudal; }

root=$(mktemp -d /tmp/caudal-installed.XXXXXX)
trap 'umount "$root/proc" "$root/dev" 2>/dev/null; rm -rf "$root"' EXIT
chmod 755 "$root"
began=$SECONDS
mmdebstrap --quiet --variant=minbase "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mkdir "$root/packages"
cp "$packages"/{SHA256SUMS,*.deb} "$root/packages"
# Only the Debian packages were brought here.
sed -i '/\.deb$/!d' "$root/packages/SHA256SUMS"
printf 'a Debian without anything: %d s\n' $((SECONDS - began))

began=$SECONDS
inside bash -euo pipefail -c "cd /packages; export DEBIAN_FRONTEND=noninteractive; $(block host/OPERATING.md '## Install a package' 1 | sed 's/apt-get install/& --yes/')"
inside useradd --create-home ana
serve
transfer=$(block README.md '## The first transfer' 1)
as_ana "$transfer" | tee "$root/home/ana/transferred"
grep -q '"balance":8499.5' "$root/home/ana/transferred" || die "no transfer was made"
printf 'from there to a verified transfer: %d s (at most 300)\n' $((SECONDS - began))

# The next release: the same program under a higher number.
old=$(version_of)
dpkg-deb --raw-extract "$packages/caudal_${old}_"*.deb "$root/next"
sed -i "s/^Version: .*/Version: $old+next/" "$root/next/DEBIAN/control"
dpkg-deb --build --root-owner-group "$root/next" "$root/packages/next.deb" >/dev/null

touch "$root/home/ana/sending"
as_ana "$(sed '/^account=/,$d' <<<"$transfer")"'
    account=$(call $api/accounts | id_in) payee=$(call $api/beneficiaries | id_in)
    while [[ -e sending ]]; do
        call $api/transactions -d "{\"fromAccountId\":\"$account\",\"toBeneficiaryId\":\"$payee\",\"amount\":0.01}" >>sent || echo FAILED >>sent
    done' &
load=$!
sleep 2
inside dpkg --install /packages/next.deb >/dev/null
[[ $(version_of) = "$old+next" ]] || die "the upgrade was not installed"
sleep 2
rm "$root/home/ana/sending"
wait $load
! grep FAILED "$root/home/ana/sent" || die "a transfer failed during the upgrade"
printf 'transfers while the package was upgraded: %d, none failed\n' "$(grep -c '"id"' "$root/home/ana/sent")"
stop
for package in next.deb "caudal_${old}_$(dpkg --print-architecture).deb"; do
    inside dpkg --install "/packages/$package" >/dev/null 2>&1
    serve
    as_ana "caudal verify" || die "the ledger is not sound under $package"
    stop
done

inside sh -c 'umask 077; echo key >/etc/caudal/keys/ledger; echo heads >/var/lib/caudal/host/heads'
inside apt-get remove --yes caudal >/dev/null
[[ ! -e $root/usr/bin/caudal && -e $root/etc/caudal/caudal.toml ]] || die "removal leaves the program, or takes the settings"
inside apt-get purge --yes caudal 2>&1 | grep 'kept are' || die "a purge does not say what it keeps"
[[ ! -e $root/etc/caudal/caudal.toml ]] || die "a purge leaves the settings"
[[ -e $root/etc/caudal/keys/ledger && -e $root/var/lib/caudal/host/heads ]] || die "a purge takes keys or heads"
echo "removed and purged; keys and data are kept"
