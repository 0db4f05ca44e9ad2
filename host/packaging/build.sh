#!/usr/bin/env bash
# Builds what is published, in target/packages: Debian packages, a tarball, an OCI image layout, the npm package and the Python
# wheel, with their checksums. The same sources and binary give the same bytes on the same machine.
#
#   host/packaging/build.sh OUTPUT    needs `make dist` and `make package`
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
out=$(realpath --canonicalize-missing "$1")
# The image's user is nobody's on a usual machine.
readonly root target out IMAGE_USER=10001
umask 022
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$root/Cargo.toml")
revision=$(git -C "$root" rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
created=$(date --utc --date "@$SOURCE_DATE_EPOCH" +%FT%TZ)
export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8 TZ=UTC
readonly version revision created

die() { printf 'packages: %s\n' "$*" >&2; exit 1; }

# FOLDER OWNER [OPTION...]: a tar of the folder, the same bytes each time.
archive() { tar --directory "$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner="$2" --group="$2" --numeric-owner --format=gnu "${@:3}"; }

# In `staged`: the input of host/packaging/debian.
stage() {
    mkdir -p "$staged"/{man,sbom,completions/{bash,zsh,fish}}
    cp -r "$root/host/packaging/debian" "$staged"
    cp "$target/dist/caudal" "$root/host/alerts.yml" "$root"/host/{OPERATING,ACCESSIBILITY,CHANGELOG}.md "$staged"
    cp "$root/components/README.md" "$staged/COMPONENTS.md"
    node "$root/host/sbom.mjs" "$staged/sbom" "$staged/caudal" >/dev/null
    mv "$staged/sbom/NOTICES" "$staged"
    "$staged/caudal" config example >"$staged/caudal.toml"
    "$staged/caudal" man "$staged/man"
    "$staged/caudal" completions bash >"$staged/completions/bash/caudal"
    "$staged/caudal" completions zsh >"$staged/completions/zsh/_caudal"
    "$staged/caudal" completions fish >"$staged/completions/fish/caudal.fish"

    local id
    id=$(readelf --notes "$staged/caudal" | sed -n 's/.*Build ID: //p')
    mkdir -p "$staged/usr/lib/debug/.build-id/${id:0:2}"
    install -m 644 "$target/dist/caudal.debug" "$staged/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"

    printf 'Either of Apache-2.0, in /usr/share/common-licenses/Apache-2.0, or\n\n' | cat - "$root/LICENSE-MIT" >"$staged/debian/copyright"
    printf 'caudal (%s) unstable; urgency=medium\n\n  * Release %s, from revision %s.\n\n -- The Caudal authors <caudal@example.org>  %s\n' \
        "$version" "$version" "$revision" "$(date --utc --rfc-email --date "$created")" >"$staged/debian/changelog"
}

# The files of the Debian package, for a machine without its package manager.
tarball() {
    local name=caudal-$version-linux-$architecture
    local folder=$scratch/tarball/$name
    mkdir -p "$folder"
    cp -r "$installed"/{etc,usr} "$root"/LICENSE-* "$folder"
    # `lib` is a link on most machines, onto which no folder can be copied.
    cp -r "$installed/lib" "$folder/usr"
    cat >"$folder/README" <<-END
		Caudal $version: as root, on a machine with glibc and systemd, run cp -r etc usr / &&
		systemd-sysusers && systemd-tmpfiles --create caudal.conf && systemctl daemon-reload
		and go on with "Install a package" in usr/share/doc/caudal/OPERATING.md.gz. The sandbox needs Postgres: caudal serve --sandbox
	END
    archive "$scratch/tarball" 0 --create . | gzip -n >"$out/$name.tar.gz"
}

# The binary, what it is linked to, the machine's certificate authorities, and the licences of all.
image_root() {
    local library package files=(/etc/ssl/certs/ca-certificates.crt /usr/share/doc/ca-certificates/copyright)
    mkdir -p "$image"/{etc,proc,dev,sys,tmp,usr/{bin,share/doc},var/lib/caudal/host}
    chmod 1777 "$image/tmp"
    chmod 700 "$image/var/lib/caudal/host"
    cp "$installed/usr/bin/caudal" "$image/usr/bin"
    printf 'hosts: files dns\n' >"$image/etc/nsswitch.conf"
    for library in $(ldd "$image/usr/bin/caudal" | grep -o '/[^ ]*'); do
        package=$(dpkg-query --search "*${library#/usr}" | head -n 1 | cut -d: -f1)
        files+=("$library" "/usr/share/doc/$package/copyright")
    done
    (cd / && printf '%s\n' "${files[@]}" | sort -u | xargs cp --parents --dereference --target-directory "$image")
    cp -r "$installed/usr/share/doc/caudal" "$image/usr/share/doc"
    cp -r "$installed/usr/share/caudal" "$image/usr/share"
}

# FILE MEDIA-TYPE: files it under its digest, and prints its descriptor.
blob() {
    local digest size
    digest=$(sha256sum "$1" | cut -d' ' -f1) size=$(stat --format %s "$1")
    mv "$1" "$layout/blobs/sha256/$digest"
    printf '{"mediaType":"application/vnd.oci.image.%s","digest":"sha256:%s","size":%d}' "$2" "$digest" "$size"
}

image() {
    local image=$scratch/image layout=$out/caudal-$version-oci layer config manifest contents
    image_root
    mkdir -p "$layout/blobs/sha256"
    archive "$image" 0 --create --file "$scratch/layer" --exclude=./var/lib/caudal/host .
    # The only folder that the host writes to.
    archive "$image" $IMAGE_USER --append --file "$scratch/layer" ./var/lib/caudal/host
    contents=$(sha256sum "$scratch/layer" | cut -d' ' -f1)
    gzip -n <"$scratch/layer" >"$scratch/layer.gz"
    layer=$(blob "$scratch/layer.gz" layer.v1.tar+gzip)
    cat >"$scratch/config" <<-END
		{"created":"$created","architecture":"$architecture","os":"linux","config":{"User":"$IMAGE_USER:$IMAGE_USER",
		"Env":["PATH=/usr/bin","CAUDAL_DATA_DIR=/var/lib/caudal/host"],"Entrypoint":["/usr/bin/caudal"],"Cmd":["serve"],
		"Volumes":{"/var/lib/caudal/host":{}},"WorkingDir":"/","StopSignal":"SIGTERM","Labels":{
		"org.opencontainers.image.title":"caudal","org.opencontainers.image.version":"$version",
		"org.opencontainers.image.revision":"$revision","org.opencontainers.image.created":"$created",
		"org.opencontainers.image.licenses":"MIT OR Apache-2.0"}},
		"rootfs":{"type":"layers","diff_ids":["sha256:$contents"]},"history":[{"created":"$created","created_by":"host/packaging/build.sh"}]}
	END
    config=$(blob "$scratch/config" config.v1+json)
    printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":%s,"layers":[%s]}\n' "$config" "$layer" >"$scratch/manifest"
    manifest=$(blob "$scratch/manifest" manifest.v1+json)
    printf '{"imageLayoutVersion":"1.0.0"}\n' >"$layout/oci-layout"
    printf '{"schemaVersion":2,"manifests":[%s,"annotations":{"org.opencontainers.image.ref.name":"%s"}}]}\n' "${manifest%\}}" "$version" >"$layout/index.json"
    archive "$layout" 0 --create . >"$layout.tar"
}

wheel() {
    local flit tools
    flit=$(grep '^flit_core==' "$root/tests/python/requirements.txt")
    tools=$target/tools/$flit
    [[ -d $tools ]] || python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target "$tools" "$flit"
    (cd "$root/components/python" && PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$tools python3 -c '
import sys, flit_core.buildapi
flit_core.buildapi.build_wheel(sys.argv[1])' "$out")
}

[[ $("$target/dist/caudal" --version) = "caudal $version" ]] || die "$target/dist/caudal is not of release $version: run 'make dist'."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rm -rf "$out"
mkdir -p "$out"
architecture=$(dpkg --print-architecture)
staged=$scratch/caudal-$version
installed=$staged/debian/caudal
readonly scratch architecture staged installed

stage
(cd "$staged" && dpkg-buildpackage --build=binary --no-sign --no-check-builddeps) >"$scratch/log" 2>&1 ||
    die "dpkg-buildpackage fails: $(cat "$scratch/log")"
cp "$scratch"/*.deb "$out"
tarball
image
# `make package` has built it, which prepacking would repeat.
(cd "$root/components/js" && npm pack --silent --ignore-scripts --pack-destination "$out" >/dev/null)
wheel
# Flit keeps its file to itself.
chmod 644 "$out"/*.whl
(cd "$out" && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%P\0' | sort -z | xargs -0 sha256sum >SHA256SUMS)
