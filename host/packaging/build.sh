#!/usr/bin/env bash
# Builds what is published, in target/packages: Debian packages, a tarball, an OCI image layout, the npm package and the Python
# wheel, with their checksums. The same sources and binary give the same bytes on the same machine.
#
#   host/packaging/build.sh OUTPUT    needs `make dist` and `make package`
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
out=$(realpath --canonicalize-missing "$1")
readonly root target out
umask 022
# Nobody's on a usual machine.
readonly IMAGE_USER=10001
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$root/Cargo.toml")
revision=$(git -C "$root" rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
created=$(date --utc --date "@$SOURCE_DATE_EPOCH" +%FT%TZ)
export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8 TZ=UTC
readonly version revision created

die() { printf 'packages: %s\n' "$*" >&2; exit 1; }

# FOLDER [OPTION...]: a tar of the folder, the same bytes each time.
archive() { tar --create --directory "$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=gnu "${@:2}" .; }

# --- What goes into the packages ------------------------------------------------------------------

# In `staged`: the input of host/packaging/debian.
stage() {
    mkdir -p "$staged"/{man,sbom,completions/{bash,zsh,fish}}
    cp -r "$root/host/packaging/debian" "$staged"
    cp "$target/dist/caudal" "$root/host/packaging/caudal.env" "$root/host/alerts.yml" "$root/host/OPERATING.md" "$staged"
    node "$root/host/sbom.mjs" "$staged/sbom" "$staged/caudal" >/dev/null
    mv "$staged/sbom/NOTICES" "$staged"
    "$staged/caudal" man "$staged/man"
    "$staged/caudal" completions bash >"$staged/completions/bash/caudal"
    "$staged/caudal" completions zsh >"$staged/completions/zsh/_caudal"
    "$staged/caudal" completions fish >"$staged/completions/fish/caudal.fish"

    local id
    id=$(readelf --notes "$staged/caudal" | sed -n 's/.*Build ID: //p')
    mkdir -p "$staged/usr/lib/debug/.build-id/${id:0:2}"
    install -m 644 "$target/dist/caudal.debug" "$staged/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"

    # An empty line is a dot in this file's format.
    sed -e '1,/^Copyright/d' -e '/./!s/^/./' -e 's/^/ /' "$root/LICENSE-MIT" | sed 1d >>"$staged/debian/copyright"
    printf 'caudal (%s) unstable; urgency=medium\n\n  * Release %s, from revision %s.\n\n -- The Caudal authors <caudal@example.org>  %s\n' \
        "$version" "$version" "$revision" "$(date --utc --rfc-email --date "$created")" >"$staged/debian/changelog"
}

debian() {
    (cd "$staged" && dpkg-buildpackage --build=binary --no-sign --no-check-builddeps) >"$scratch/log" 2>&1 ||
        die "dpkg-buildpackage failed: $(cat "$scratch/log")"
    cp "$scratch"/*.deb "$out"
}

# The files of the Debian package, for a machine without its package manager.
tarball() {
    local name=caudal-$version-linux-$architecture
    mkdir "$scratch/tarball"
    cp -r "$installed" "$scratch/tarball/$name"
    rm -r "$scratch/tarball/$name/DEBIAN"
    cp "$root"/LICENSE-* "$scratch/tarball/$name"
    cat >"$scratch/tarball/$name/README" <<-END
		Caudal $version: as root, copy etc and usr onto a machine with glibc and systemd, then run
		systemd-sysusers && systemd-tmpfiles --create && systemctl daemon-reload
		and go on with "Install a package" in usr/share/doc/caudal/OPERATING.md.gz. The sandbox needs Postgres: caudal serve --sandbox
	END
    archive "$scratch/tarball" | gzip -n >"$out/$name.tar.gz"
}

# --- The image ------------------------------------------------------------------------------------

# The binary, what it is linked to, the machine's certificate authorities, and the licences of all.
image_root() {
    local library package files=(/etc/ssl/certs/ca-certificates.crt /usr/share/doc/ca-certificates/copyright)
    mkdir -p "$image"/{etc,proc,dev,sys,tmp,usr/bin,var/lib/caudal/host}
    chmod 1777 "$image/tmp"
    chmod 700 "$image/var/lib/caudal/host"
    cp "$installed/usr/bin/caudal" "$image/usr/bin"
    printf 'root:x:0:0:root:/:/sbin/nologin\ncaudal:x:%d:%d:Caudal:/var/lib/caudal:/sbin/nologin\n' $IMAGE_USER $IMAGE_USER >"$image/etc/passwd"
    printf 'root:x:0:\ncaudal:x:%d:\n' $IMAGE_USER >"$image/etc/group"
    printf 'hosts: files dns\n' >"$image/etc/nsswitch.conf"
    for library in $(ldd "$image/usr/bin/caudal" | grep -o '/[^ ]*'); do
        package=$(dpkg-query --search "*${library#/usr}" | head -n 1 | cut -d: -f1)
        files+=("$library" "/usr/share/doc/$package/copyright")
    done
    (cd / && printf '%s\n' "${files[@]}" | sort -u | xargs cp --parents --dereference --target-directory "$image")
    mkdir -p "$image/usr/share/doc"
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
    archive "$image" --exclude=./var/lib/caudal/host >"$scratch/layer"
    # The only folder that the host writes to.
    tar --append --file "$scratch/layer" --directory "$image" --mtime="@$SOURCE_DATE_EPOCH" --owner=$IMAGE_USER --group=$IMAGE_USER \
        --numeric-owner --format=gnu ./var/lib/caudal/host
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
    archive "$layout" >"$layout.tar"
}

# --- Packages of other languages --------------------------------------------------------------------

npm_package() {
    # It was built by `make package`, which prepacking would repeat.
    (cd "$root/components/js" && npm pack --silent --ignore-scripts --pack-destination "$out" >/dev/null)
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

# --- All of it ----------------------------------------------------------------------------------------

[[ $("$target/dist/caudal" --version) = "caudal $version" ]] || die "$target/dist/caudal is not of release $version: run 'make dist'."
for file in components/js/package.json components/python/pyproject.toml; do
    grep -qE "^ *\"?version\"? ?[:=] \"$version\"" "$root/$file" || die "$file does not say version $version, as Cargo.toml does."
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rm -rf "$out"
mkdir -p "$out"
architecture=$(dpkg --print-architecture)
staged=$scratch/caudal-$version
installed=$staged/debian/caudal
readonly scratch architecture staged installed

stage
debian
tarball
image
npm_package
wheel
# Flit keeps its file to itself.
chmod 644 "$out"/*.whl
(cd "$out" && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%P\0' | sort -z | xargs -0 sha256sum >SHA256SUMS)
(cd "$out" && ls -l --no-group --block-size=K)
