#!/usr/bin/env bash
# How many changes to crates/tcp and crates/queues their tests notice: bench/mutants.sh [SHARD]
#
# cargo-mutants (`cargo install cargo-mutants`) changes the code in one place at a time, for example `<` to `<=`, and
# runs the tests of both crates. A shard, by default 0/40, is every 40th of all changes, the same ones each time. Changes
# that no test notices are listed as missed.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo mutants --version >/dev/null 2>&1 || {
    echo "cargo-mutants is not installed: cargo install --locked cargo-mutants" >&2
    exit 2
}
mkdir -p target
status=0
cargo mutants --package cwndlab-tcp --package cwndlab-queues --test-package cwndlab-tcp,cwndlab-queues \
    --shard "${1:-0/40}" --sharding round-robin --no-shuffle --colors never --timeout 120 --output target/mutants || status=$?
# 2: some were missed, 3: some ran into the limit, which counts as noticed.
((status == 2 || status == 3)) && status=0
exit "$status"
