#!/usr/bin/env bash
# Installs a wheel on Debian 11, whose C library (glibc 2.31) is older than that of the machine that built the wheel,
# and runs the demo there. Debian 11 lies in a directory, with a Python built from the sources of this Debian's.
#
#   packaging/old-debian.sh [WHEEL]      by default the one of this commit in dist/; needs root, debootstrap, 10 minutes
set -euo pipefail
cd "$(dirname "$0")/.."
wheel=$(realpath "${1:-$(packaging/current-wheel.sh)}")
[[ -f $wheel ]] || { echo "wheel: none of this commit in dist/: expected \`make wheel\` before, or WHEEL" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "debootstrap is missing: apt-get install debootstrap" >&2; exit 2; }
root=${OLD_DEBIAN:-out/old-debian}
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Created-By: Packages" | head -1)
inside() { chroot "$root" env -i HOME=/srv LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }

if [[ ! -x $root/opt/python/bin/python3 ]]; then
    mkdir -p "$root/src"
    debootstrap --variant=minbase --include=ca-certificates bullseye "$root" "$mirror"
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    sources=$(mktemp -d)
    mkdir -p "$sources/lists/partial"
    echo "deb-src $mirror bookworm main" >"$sources/list"
    options=(-o Dir::Etc::sourcelist="$sources/list" -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$sources/lists")
    apt-get "${options[@]}" update --quiet=2 2>/dev/null
    (cd "$root/src" && apt-get "${options[@]}" source --download-only --quiet=2 python3.11 2>/dev/null)
    rm -r "$sources"
    inside apt-get update --quiet=2
    inside apt-get install --quiet=2 --no-install-recommends gcc make libc6-dev zlib1g-dev libssl-dev libffi-dev libbz2-dev liblzma-dev libsqlite3-dev
    inside sh -ec 'cd /src && tar -xf python3.11_*.orig.tar.* && cd [Pp]ython-3* &&
        { ./configure --prefix=/opt/python && make -j2 && make install; } >/src/python.log 2>&1'
    # The compiler goes, and the libraries that Python needs stay.
    inside apt-get install --quiet=2 libssl1.1 libffi7 libbz2-1.0 liblzma5 libsqlite3-0
    inside apt-get purge --quiet=2 gcc make libc6-dev
fi
# pip finds packages as it does here.
cp "${PIP_CERT:-/etc/ssl/certs/ca-certificates.crt}" "$root/etc/ssl/certs/ca-certificates.crt"
cp "$wheel" "$root/src/"
rm -rf "$root/srv/env" "$root/srv/out"
step() {
    local name=$1 begin=$EPOCHREALTIME
    shift
    inside "$@"
    awk "BEGIN { printf \"%s: %.1f s\n\", \"$name\", $EPOCHREALTIME - $begin }"
}
inside /opt/python/bin/python3 -c "import platform; print(*platform.libc_ver())"
! inside sh -c "command -v cc gcc cargo rustc" || { echo "a compiler is on the path: expected none" >&2; exit 1; }
step "environment" /opt/python/bin/python3 -m venv /srv/env
step "installation" /srv/env/bin/pip install --quiet --cert /etc/ssl/certs/ca-certificates.crt "/src/$(basename "$wheel")"
step "demo" sh -c "cd /srv && env/bin/cwndlab demo -q >printed"
tail -1 "$root/srv/printed"
inside /srv/env/bin/python -c "import cwndlab; [getattr(cwndlab, name) for name in cwndlab.__all__]; print('all public names are there')"
