#!/usr/bin/env bash
# How many changes to crates/tcp and crates/queues their tests notice: bench/mutants.sh [SHARD]
#
# cargo-mutants (`cargo install cargo-mutants`) changes the code in one place at a time, for example `<` to `<=`, and
# runs the tests of the crate. A shard, by default 0/16, is every 16th of all changes; the same ones each time. A change
# that no test notices is listed as missed.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo mutants --version >/dev/null 2>&1 || {
    echo "cargo-mutants is not installed: cargo install --locked cargo-mutants" >&2
    exit 2
}
# Names of tests that run simulations for seconds are those of other crates: the tests of the crate itself decide.
cargo mutants --package cwndlab-tcp --package cwndlab-queues --shard "${1:-0/16}" --no-shuffle --colors never \
    --minimum-test-timeout 120 --output target/mutants
