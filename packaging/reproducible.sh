#!/usr/bin/env bash
# Builds the wheel of this commit twice, in two folders, and compares the bytes (takes minutes).
. "$(dirname "$0")/source.sh"
target=${1:-$(uname -m)-unknown-linux-gnu}
elsewhere=$(mktemp -d)
trap 'rm -rf "$elsewhere"' EXIT
for number in 1 2; do
    WHEEL_BUILD=$elsewhere/build-$number DIST=$elsewhere/$number packaging/wheel.sh "$target"
done
sha256sum "$elsewhere"/?/*.whl
cmp "$elsewhere"/1/*.whl "$elsewhere"/2/*.whl && echo "equal: two builds, in two folders"
