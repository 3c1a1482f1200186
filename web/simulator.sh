#!/usr/bin/env bash
# Builds the simulator as the WebAssembly module of the page, web/public/simulator.wasm.
#
#   web/simulator.sh          builds it: with rustup's target where it is, with Debian's packages otherwise
#   web/simulator.sh check    says what is missing, and nothing where it can be built
set -euo pipefail
cd "$(dirname "$0")/.."
TARGET=wasm32-unknown-unknown
LINKER=$(compgen -c wasm-ld- | sort -V | tail -1 || true)

has_target() { [[ -d "$(rustc --print sysroot 2>/dev/null)/lib/rustlib/$TARGET/lib" ]]; }
# Debian's compiler for the web has the standard library's sources, from which cargo builds it.
has_packages() { [[ -d "$(/usr/bin/rustc --print sysroot 2>/dev/null)/lib/rustlib/src" && -n $LINKER ]]; }

if ! has_target && ! has_packages; then
    echo "no WebAssembly target: rustup target add $TARGET, or Debian's rustc-web, cargo-web, rust-web-src and lld-22" >&2
    exit 1
fi
[[ ${1:-} != check ]] || exit 0

build=(build --profile web --target "$TARGET" -p cwndlab-web)
if has_target; then
    cargo "${build[@]}"
else
    PATH="/usr/bin:$PATH" RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Clinker=$(command -v "$LINKER")" \
        /usr/bin/cargo "${build[@]}" -Zbuild-std=std,panic_abort
fi
mkdir -p web/public
built="${CARGO_TARGET_DIR:-target}/$TARGET/web/cwndlab_web.wasm"
# A tenth smaller and faster; the page works without it.
if command -v wasm-opt >/dev/null; then
    wasm-opt -O3 --all-features "$built" -o web/public/simulator.wasm
else
    cp "$built" web/public/simulator.wasm
fi
