#!/usr/bin/env bash
# Builds the sdist of this commit into dist/, with the Rust sources of all its dependencies inside: it needs Python,
# Rust and a C compiler, and no network.
#
#   packaging/sdist.sh            writes dist/cwndlab-VERSION.tar.gz
#   packaging/sdist.sh check      also builds a wheel of it offline, with an empty cargo home (takes minutes)
. "$(dirname "$0")/source.sh"

unpack
if [[ -f python/cwndlab/templates/studio.html ]]; then
    cp -p python/cwndlab/templates/studio.html "$SOURCE/python/cwndlab/templates/"
fi
out=$BUILD/sdist
rm -rf "$out"
(cd "$SOURCE" && "$BIN/maturin" sdist --out "$out")
archive=$(echo "$out"/*.tar.gz)
name=$(basename "$archive" .tar.gz)
tar -xzf "$archive" -C "$out"
(
    cd "$out/$name"
    mkdir -p .cargo
    # It has fewer crates than the repository: without those of live runs the lock file is shorter.
    # Not `--quiet`, which leaves out the settings as well.
    cargo vendor --versioned-dirs vendor 2>/dev/null >.cargo/config.toml
    grep -q 'directory = "vendor"' .cargo/config.toml
)
# Equal bytes for equal commits: sorted names, the commit's time, no owner.
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$out" -cf - "$name" |
    gzip -n9 >"$DIST/$name.tar.gz"
echo "$name.tar.gz: $(stat -c %s "$DIST/$name.tar.gz" | awk '{ printf "%.1f", $1 / 1e6 }') MB," \
    "sha256 $(sha256sum "$DIST/$name.tar.gz" | cut -c1-64)"
"$BIN/twine" check --strict "$DIST/$name.tar.gz"

if [[ ${1:-} == check ]]; then
    empty=$(mktemp -d)
    trap 'rm -rf "$empty"' EXIT
    tar -xzf "$DIST/$name.tar.gz" -C "$empty"
    begin=$SECONDS
    # In the profile without link-time optimisation: what is checked is that nothing is missing.
    (cd "$empty/$name" && CARGO_HOME=$empty/cargo CARGO_NET_OFFLINE=true CARGO_TARGET_DIR=$empty/target \
        "$BIN/maturin" build --profile live --locked --out "$empty/wheels")
    echo "offline: built $(basename "$empty"/wheels/*.whl) in $((SECONDS - begin)) s with an empty cargo home"
fi
