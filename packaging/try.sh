#!/usr/bin/env bash
# Installs a wheel as a user does, where no compiler is on the path, runs the demo, and prints what each step took.
#
#   packaging/try.sh [WHEEL]      by default the one of this commit in dist/
set -euo pipefail
cd "$(dirname "$0")/.."
wheel=$(realpath "${1:-$(packaging/current-wheel.sh)}")
[[ -f $wheel ]] || { echo "wheel: none of this commit in dist/: expected \`make wheel\` before, or WHEEL" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/tools"
ln -s "$(command -v sh)" "$folder/tools/sh"
step() {
    local name=$1 begin=$EPOCHREALTIME
    shift
    "$@"
    awk "BEGIN { printf \"%s: %.1f s\n\", \"$name\", $EPOCHREALTIME - $begin }"
}
# Without the variables of a developer's shell: only this environment and a shell are on the path.
clean() { (cd "$folder" && env -i HOME="$folder" LANG=C.UTF-8 PATH="$folder/env/bin:$folder/tools" "$@"); }
step "environment" python3 -m venv "$folder/env"
step "installation" "$folder/env/bin/pip" install --quiet "$wheel"
for program in cargo rustc cc gcc; do
    ! clean sh -c "command -v $program" || { echo "$program is on the path: expected no compiler" >&2; exit 1; }
done
step "demo" clean cwndlab demo -q >"$folder/printed"
tail -1 "$folder/printed"
clean cwndlab run --help >/dev/null
clean python -c "import cwndlab; [getattr(cwndlab, name) for name in cwndlab.__all__]; print('all public names are there')"
