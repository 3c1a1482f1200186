#!/bin/sh
# Fuzzes all targets, or those named, for SECONDS in all: fuzz/run.sh SECONDS [TARGET...]
# With `same` in place of SECONDS the runs are the same every time, as in continuous integration,
# where a finding must come from a change. A search for new findings takes minutes.
# Needs a C++ compiler, but neither nightly Rust nor cargo-fuzz: coverage instrumentation is a
# stable pass of LLVM, and libfuzzer-sys contains the fuzzer. --target keeps build scripts free of
# the instrumentation. A finding ends the run with its exit status; the script prints the input
# and keeps it in fuzz/artifacts.
set -eu
cd "$(dirname "$0")"
seconds=${1:?usage: fuzz/run.sh SECONDS|same [TARGET...]}
shift
[ $# -gt 0 ] || set -- scenario segments queues packets

host=$(rustc -vV | sed -n 's/^host: //p')
target_dir=${CARGO_TARGET_DIR:-target}/fuzz
instrument="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
for option in inline-8bit-counters pc-table trace-compares; do
    instrument="$instrument -Cllvm-args=-sanitizer-coverage-$option"
done
RUSTFLAGS="$instrument -Ccodegen-units=1 --cfg fuzzing" \
    cargo build --quiet --release --target "$host" --target-dir "$target_dir"

for target in "$@"; do
    # New inputs go into the corpus (not kept in git), after the seeds.
    corpus=corpus/$target
    if [ "$seconds" = same ]; then
        corpus=corpus/same-$target
        rm -rf "$corpus"
    fi
    mkdir -p "artifacts/$target" "$corpus"
    if [ "$target" = scenario ]; then
        cp ../examples/*.toml seeds/scenario/* "$corpus/"
        options="-only_ascii=1 -dict=scenario.dict -max_len=4000"
        runs=40000
    else
        cp "seeds/$target/"* "$corpus/"
        options="-max_len=1500"
        case $target in packets) runs=2000000 ;; *) runs=150000 ;; esac
    fi
    if [ "$seconds" = same ]; then
        options="$options -seed=1 -runs=$runs -reload=0"
    else
        options="$options -max_total_time=$((seconds / $#))"
    fi
    # shellcheck disable=SC2086
    "$target_dir/$host/release/$target" $options -timeout=10 -rss_limit_mb=1500 \
        -print_final_stats=1 -artifact_prefix="artifacts/$target/" "$corpus" \
        2>"artifacts/$target/log" || {
        status=$?
        tail -n 60 "artifacts/$target/log" >&2
        for input in "artifacts/$target/"crash-* "artifacts/$target/"timeout-* \
            "artifacts/$target/"oom-*; do
            [ -e "$input" ] || continue
            echo "input $input:" >&2
            if [ "$target" = scenario ]; then cat "$input" >&2; else od -A d -t x1 "$input" >&2; fi
        done
        exit "$status"
    }
    grep -E '^(Done|stat::number_of_executed)' "artifacts/$target/log" |
        sed "s/^/$target: /"
done
