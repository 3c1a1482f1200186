# Sourced: the source of a commit, and what makes its build reproducible.
# shellcheck shell=bash
#
# Wheels and the sdist are built from the commit, not from the working tree, in a folder of their own. With equal
# commit, compiler and linker two builds give equal bytes: times are the commit's (SOURCE_DATE_EPOCH), and the paths
# of this machine are mapped to names.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROOT=$PWD
BIN=$ROOT/.venv/bin
DIST=${DIST:-$ROOT/dist}
BUILD=${WHEEL_BUILD:-$ROOT/target/wheel}
SOURCE=$BUILD/source
REVISION=${REVISION:-HEAD}
COMMIT=$(git rev-parse --short=8 "$REVISION")
SOURCE_DATE_EPOCH=$(git show -s --format=%ct "$REVISION")
export SOURCE_DATE_EPOCH
export CARGO_TARGET_DIR=$BUILD/target
export CARGO_INCREMENTAL=0

# The files of the commit. RELEASE=1 keeps the version; otherwise it names the commit (PEP 440, local version).
unpack() {
    [[ -z $(git status --porcelain --untracked-files=no) ]] ||
        echo "the working tree has changes; what is built is commit $COMMIT" >&2
    rm -rf "$SOURCE"
    mkdir -p "$SOURCE" "$DIST"
    git archive "$REVISION" | tar -x -C "$SOURCE"
    if [[ -z ${RELEASE:-} ]]; then
        sed -i "0,/^version = \"\(.*\)\"/s//version = \"\1+g$COMMIT\"/" "$SOURCE/pyproject.toml"
    fi
    VERSION=$(sed -n '0,/^version = "\(.*\)"/s//\1/p' "$SOURCE/pyproject.toml")
}

# Paths of this machine, longest first: the last mapping that fits is applied.
mapped() {
    local cargo=${CARGO_HOME:-$HOME/.cargo}
    printf '%s ' "--remap-path-prefix=$cargo=/cargo" "--remap-path-prefix=$(rustc --print sysroot)=/rust" \
        "--remap-path-prefix=$SOURCE=/cwndlab" "--remap-path-prefix=$CARGO_TARGET_DIR=/target"
}
