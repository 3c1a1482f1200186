#!/usr/bin/env bash
# Builds wheels of this commit into dist/, and checks them.
#
#   packaging/wheel.sh [TARGET...]    targets of rustup; x86_64-unknown-linux-gnu where none is named
#
# The stable ABI of Python 3.10 (abi3) makes one wheel for each machine. Zig links against the symbols of glibc 2.17
# (manylinux2014), or against musl 1.2, wherever it is built. The studio is inside where `make web` has built it.
. "$(dirname "$0")/source.sh"
MOST_MB=15
targets=("$@")
((${#targets[@]})) || targets=("$(uname -m)-unknown-linux-gnu")

unpack
if [[ -f python/cwndlab/templates/studio.html ]]; then
    cp -p python/cwndlab/templates/studio.html "$SOURCE/python/cwndlab/templates/"
else
    echo "no studio in the wheel: python/cwndlab/templates/studio.html is not there; \`make web\` builds it" >&2
fi
for target in "${targets[@]}"; do
    case $target in
    *-musl) tag=musllinux_1_2 ;;
    *) tag=manylinux2014 ;;
    esac
    out=$BUILD/$target
    rm -rf "$out"
    # musl is a shared library too: a Python extension is loaded into a process that has one.
    flags=$(mapped)
    [[ $target != *-musl ]] || flags+=" -C target-feature=-crt-static"
    (cd "$SOURCE" && PATH="$BIN:$PATH" RUSTFLAGS="$flags" maturin build --release --strip --locked --zig \
        --target "$target" --compatibility "$tag" --out "$out")
    wheel=$(echo "$out"/*.whl)
    bytes=$(stat -c %s "$wheel")
    echo "$(basename "$wheel"): $(awk "BEGIN { printf \"%.1f\", $bytes / 1e6 }") MB, sha256 $(sha256sum "$wheel" | cut -c1-64)"
    if ((bytes > MOST_MB * 1000000)); then
        echo "wheel: $bytes bytes is not valid: expected at most $MOST_MB MB" >&2
        exit 1
    fi
    "$BIN/twine" check --strict "$wheel"
    "$BIN/abi3audit" --strict --summary "$wheel"
    if [[ $target == *-musl ]]; then
        # auditwheel would open libc.so, which on a machine with glibc is a linker script.
        unzip -qo "$wheel" 'cwndlab/_core*.so' -d "$out"
        if readelf -d "$out"/cwndlab/_core*.so | grep NEEDED | grep -vF '[libc.so]' >&2; then
            echo "wheel: it needs these libraries: expected libc.so alone" >&2
            exit 1
        fi
    else
        "$BIN/auditwheel" show "$wheel"
    fi
    # Of code and metadata; the notices of other libraries in the studio name no path of ours.
    if unzip -p "$wheel" | grep -qaF -e "$ROOT" -e "${CARGO_HOME:-$HOME/.cargo}/registry"; then
        echo "wheel: it holds a path of this machine: expected none" >&2
        exit 1
    fi
    cp "$wheel" "$DIST/"
done
