#!/usr/bin/env bash
# The tests of the studio. They need Node, npm, the WebAssembly target and Chromium; where one is missing they skip.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
command -v node >/dev/null && command -v npm >/dev/null || missing+=("Node with npm")
command -v chromium >/dev/null || missing+=(chromium)
web/simulator.sh check 2>/dev/null || missing+=("the WebAssembly target (web/simulator.sh check)")
if ((${#missing[@]} > 0)); then
    printf 'studio: tests skipped, not here: '
    printf '%s; ' "${missing[@]}"
    printf '\n'
    exit 0
fi
make --no-print-directory web
.ci/step "types and format of the studio" "10 s" npm --prefix web run --silent lint
.ci/step "tests of the studio" "1 min" npm --prefix web run --silent test
