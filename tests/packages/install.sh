#!/usr/bin/env bash
# From an empty Debian to a verified transfer, with the commands of OPERATING.md and README.md word for word: with the Debian
# package, and with the image's files beside Debian's Postgres. Prints the seconds that each takes. Then the package is upgraded
# while transfers are sent, taken back, started as a service, removed and purged.
#
#   tests/packages/install.sh FOLDER    what `make packages` has built
#
# Exits with 3, and the reason on standard error, where that cannot be tried.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
# The issue's bound, from the command that installs to the verified transfer.
readonly root SECONDS_MAX=300 START_SECONDS_MAX=60

unchecked() { printf 'install: %s\n' "$*" >&2; exit 3; }
die() { printf 'install: %s\n' "$*" >&2; exit 1; }

# FILE HEADING N: the shell commands of the Nth block below a heading.
block() {
    awk -v heading="$2" -v n="$3" '
        /^#+ / { below = ($0 ~ "^#+ " heading "$") }
        below && /^```sh/ { inside = ++count == n; next }
        /^```$/ { inside = 0 }
        inside' "$root/$1"
}

# LOG: waits for the sandbox, and sets the command for the token that it prints.
token_in() {
    local waited=0
    until token=$(grep -o 'export TOKEN=.*' "$1"); do
        ((++waited < START_SECONDS_MAX * 10)) || die "the sandbox does not start: $(tail -n 5 "$1")"
        sleep 0.1
    done
}

# LOG FOLDER [COMMANDS]: sends the first transfer from that folder.
transfer() {
    local token
    token_in "$1"
    "${within[@]}" "cd $2; $token; ${3-} $(block README.md 'The first transfer' 1)" >"$scratch/answers" || die "a command of README.md fails: $(cat "$scratch/answers")"
    cat "$scratch/answers"
    grep -q '"balance":8499.5' "$scratch/answers" || die "the transfer is not booked"
}

# NAME STARTED HOST LOG
finish() {
    local took=$(($(date +%s) - $2))
    echo "$1: $took s from the first command to a verified transfer"
    ((took <= SECONDS_MAX)) || die "that is more than $SECONDS_MAX s"
    kill "$3"
    wait "$3" || die "the sandbox does not stop: $(tail -n 5 "$4")"
}

install_package() {
    local started
    # shellcheck disable=SC2046
    mmdebstrap --quiet --variant=minbase --include=dbus,systemd-sysv "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$debian" \
        $(grep -ls debian-archive-keyring /etc/apt/sources.list.d/*) || unchecked "mmdebstrap fails: see above"
    mount -t proc proc "$debian/proc"
    cp /etc/resolv.conf /etc/hosts "$debian/etc"
    echo 'APT::Get::Assume-Yes "true";' >"$debian/etc/apt/apt.conf.d/99assume-yes"
    find "$packages" -maxdepth 1 -type f -exec cp --target-directory "$debian/root" {} +
    started=$(date +%s)
    "${within[@]}" "cd /root; $(block host/OPERATING.md 'Install a package' 1)" >"$scratch/log" 2>&1 ||
        die "the package is not installed: $(tail -n 5 "$scratch/log")"
    "${within[@]}" '! command -v cc gcc rustc cargo' || die "a compiler was installed"
    # From here on ports are the drill's own.
    unshare --net "$0" "$packages" "$scratch" "$started"
}

use_package() {
    "${within[@]}" "cd /root; exec $(block host/OPERATING.md 'Install a package' 2)" >"$scratch/log" 2>&1 &
    transfer "$scratch/log" /root
    finish "the Debian package" "$1" $! "$scratch/log"
}

# LOG: starts the sandbox of the package, and sets its process and token.
serve() {
    "${within[@]}" 'cd /root; exec caudal serve --sandbox' >"$1" 2>&1 &
    host=$!
    token_in "$1"
}

stop() {
    kill "$host"
    wait "$host" || die "the sandbox does not stop"
}

upgrade_package() {
    local host token load version next=$scratch/next sent=$debian/root/sent
    version=$("${within[@]}" 'dpkg-query --show caudal | cut -f2')
    # The next release: the same program under a higher number.
    dpkg-deb --raw-extract "$packages/caudal_${version}_"*.deb "$next"
    sed -i "s/^Version: .*/Version: $version+next/" "$next/DEBIAN/control"
    dpkg-deb --build --root-owner-group "$next" "$debian/root/next.deb" >/dev/null
    serve "$scratch/before"
    touch "$debian/root/sending"
    "${within[@]}" "cd /root; $token; $(block README.md 'The first transfer' 1 | sed '/^account=/,$d')"'
        account=$(call $api/accounts | id_in) payee=$(call $api/beneficiaries | id_in)
        while [[ -e sending ]]; do
            call $api/transactions -d "{\"fromAccountId\":\"$account\",\"toBeneficiaryId\":\"$payee\",\"amount\":0.01}" || echo FAILED
        done >sent 2>&1' &
    load=$!
    sleep 2
    "${within[@]}" 'dpkg --install /root/next.deb' >/dev/null
    sleep 2
    rm "$debian/root/sending"
    wait $load || die "the transfers stop: $(tail -n 2 "$sent")"
    ! grep -m 1 FAILED -B 1 "$sent" || die "a transfer failed during the upgrade"
    echo "the package was upgraded: $(grep -c '"id"' "$sent") transfers meanwhile, none failed"
    stop
    for package in next.deb "caudal_${version}_*.deb"; do
        "${within[@]}" "dpkg --install /root/$package" >/dev/null 2>&1
        serve "$scratch/after"
        "${within[@]}" 'cd /root; caudal verify' >/dev/null || die "the ledger is not sound with $package"
        stop
    done
    echo "after the upgrade and after the way back the ledger is sound"
}

# COMMAND: until it succeeds in the machine.
waits() {
    local waited=0
    until inside "$1" >/dev/null 2>&1; do
        ((++waited < START_SECONDS_MAX * 5)) || return
        sleep 0.2
    done
}

# A host in production: the package's service under systemd, with its keys as credentials.
serve_in_production() {
    local boot setup
    # Nothing may be mounted where the machine has its own.
    umount "$debian/proc"
    systemd-nspawn --quiet --directory "$debian" --register=no --keep-unit --console=pipe --boot </dev/null >"$scratch/boot" 2>&1 &
    boot=$!
    # The first children prepare the machine and end.
    inside() { nsenter --all --target "$(pgrep --parent $boot)" "${within[@]:2}" "$1"; }
    waits 'systemctl is-active --quiet postgresql@*' || unchecked "systemd does not start: $(tail -n 5 "$scratch/boot")"
    node -p 'const { x, y } = crypto.generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" });
        JSON.stringify({ keys: [{ kty: "EC", crv: "P-256", alg: "ES256", kid: "1", x, y }] })' >"$debian/etc/caudal/provider.json"
    setup=$(cat <<-'END'
		echo 127.0.0.1 db.internal >>/etc/hosts
		runuser -u postgres -- psql -qc 'create database caudal'
		caudal roles | runuser -u postgres -- psql -qv ON_ERROR_STOP=1 caudal
		for role in owner serve; do
		    runuser -u postgres -- psql -qc "alter role caudal_$role password '$role'"
		    echo "db.internal:5432:caudal:caudal_$role:$role" >>~/.pgpass
		done
		chmod 600 ~/.pgpass
		install -o caudal -m 600 ~/.pgpass /var/lib/caudal/.pgpass
		editor() {
		    printf '%s\n' '[certificates]' 'behind-proxy = true' '[database]' 'database-url = "postgres://caudal_serve@db.internal/caudal"' \
		        '[tokens]' 'jwt-issuer = "https://bank.example"' 'jwt-audience = "https://bank.example"' \
		        '[openid-provider]' 'jwt-keys = "/etc/caudal/provider.json"' >"$1"
		}
		USER=ana
		END
    )
    inside "cd /; $setup
        $(block host/OPERATING.md 'Install a package' 3 | sed 's/--rail stp/--rail instant/')" >"$scratch/production" 2>&1 ||
        die "a host in production is not set up: $(tail -n 5 "$scratch/production")"
    waits 'curl -fsS http://127.0.0.1:8080/readyz' ||
        die "the service is not ready: $(inside 'journalctl --unit caudal' | tail -n 5)"
    inside "$(block host/OPERATING.md 'caudal doctor' 1)" >"$scratch/production" 2>&1 ||
        die "something is wrong with the service: $(cat "$scratch/production")"
    inside 'systemctl stop caudal; ! systemctl is-failed --quiet caudal; systemctl poweroff' || die "the service does not stop"
    wait $boot || die "the machine does not stop"
    mount -t proc proc "$debian/proc"
    echo "a host in production runs under systemd, and its doctor finds nothing wrong"
}

remove_package() {
    "${within[@]}" 'umask 077; echo key >/etc/caudal/keys/ledger; echo heads >/var/lib/caudal/host/heads'
    "${within[@]}" 'apt-get remove caudal' >/dev/null
    [[ ! -e $debian/usr/bin/caudal && -e $debian/etc/caudal/caudal.toml ]] || die "removal leaves the program, or takes the settings"
    "${within[@]}" 'apt-get purge caudal' 2>&1 | grep 'kept are' || die "a purge does not say what it keeps"
    [[ ! -e $debian/etc/caudal/caudal.toml ]] || die "a purge leaves the settings"
    [[ -e $debian/etc/caudal/keys/ledger && -e $debian/var/lib/caudal/host/heads ]] || die "a purge takes keys or heads"
}

use_image() {
    local started run layout=("$packages"/*-oci) bundle=$scratch/bundle url=postgres://caudal:sandbox@127.0.0.1/image
    started=$(date +%s)
    umoci unpack --image "${layout[0]}:$(sed -E 's/.*ref.name":"([^"]*).*/\1/' "${layout[0]}/index.json")" "$bundle" 2>/dev/null
    # A runtime would do what the image says: user, environment, command.
    mapfile -t run < <(node -p "const { user, env, args } = require('$bundle/config.json').process; [user.uid + ':' + user.gid, ...env, ...args].join('\n')")
    [[ ${run[0]} =~ ^[1-9] ]] || die "the image runs as root"
    mount -t proc proc "$bundle/rootfs/proc"
    mount --bind "$debian/dev" "$bundle/rootfs/dev"
    # The client is Debian's; it finds the data folder where README.md has it.
    mkdir -p "$debian/root/image/.caudal"
    mount --bind "$bundle/rootfs/var/lib/caudal/host" "$debian/root/image/.caudal"
    "${within[@]}" "pg_ctlcluster \$(pg_lsclusters -h | cut -d' ' -f1) main start
        runuser -u postgres -- psql -q -c \"create role caudal login password 'sandbox'\" -c 'create database image owner caudal'"
    env -i "${run[@]:1:${#run[@]}-3}" DATABASE_URL=$url \
        "$(command -v chroot)" --userspec="${run[0]}" "$bundle/rootfs" "${run[@]: -2}" --sandbox >"$scratch/image-log" 2>&1 &
    transfer "$scratch/image-log" /root/image "export DATABASE_URL=$url;"
    finish "the image" "$started" $! "$scratch/image-log"
    "${within[@]}" "pg_ctlcluster \$(pg_lsclusters -h | cut -d' ' -f1) main stop"
}

packages=$(realpath "${1:?say which folder has the packages}") scratch=${2-}
[[ -e $packages/SHA256SUMS ]] || unchecked "$packages has no packages: run 'make packages'"
debian=$scratch/debian
within=(chroot "$debian" env -i HOME=/root TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive)
within+=(${http_proxy:+"http_proxy=$http_proxy"} bash -euo pipefail -c)
readonly packages scratch debian within

if [[ -z $scratch ]]; then
    [[ $EUID -eq 0 ]] || unchecked "only root can enter another root"
    "$root/tests/tools.sh" debian || unchecked "the tools for packages cannot be installed"
    own=$(mktemp -d /tmp/caudal-install.XXXXXX)
    trap 'rm -rf --one-file-system "$own"' EXIT
    chmod 755 "$own"
    # So that neither mounts nor processes are left.
    unshare --mount --pid --fork --kill-child --mount-proc "$0" "$packages" "$own"
elif [[ -z ${3-} ]]; then
    install_package
else
    ip link set lo up
    use_package "$3"
    upgrade_package
    serve_in_production
    use_image
    remove_package
fi
