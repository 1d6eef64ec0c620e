#!/usr/bin/env bash
# Feeds damaged files to every reader and prints how many inputs each target got and how many
# crashed it. See fuzz/README.md.
#
#   scripts/fuzz.sh                          100,000 inputs for each target
#   scripts/fuzz.sh inputs=1000000           as many inputs for each target
#   scripts/fuzz.sh seconds=60 schema graph  a minute for each of these targets
#   scripts/fuzz.sh seeds                    write fuzz/seeds and fuzz/fixtures again
#
# SANITIZER=address also checks the memory accesses of dependencies; it is half as fast.
# The exit code is 1 when something crashed; the inputs are then in fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"

limit="-runs=100000"
targets=()
for argument in "$@"; do
    case "$argument" in
        inputs=*) limit="-runs=${argument#inputs=}" ;;
        seconds=*) limit="-max_total_time=${argument#seconds=}" ;;
        seeds) targets+=(make_seeds) ;;
        *) targets+=("$argument") ;;
    esac
done
if [ ${#targets[@]} -eq 0 ]; then
    for file in fuzz_targets/*.rs; do
        name="$(basename "$file" .rs)"
        [ "$name" = make_seeds ] || targets+=("$name")
    done
fi

rustup toolchain list | grep -q nightly || rustup toolchain install nightly --profile minimal
cargo fuzz --version >/dev/null 2>&1 || cargo +nightly install cargo-fuzz --locked
sanitizer="${SANITIZER:-none}"
mkdir -p artifacts
for target in "${targets[@]}"; do
    cargo +nightly fuzz build --fuzz-dir . --sanitizer "$sanitizer" "$target" \
        >artifacts/build.log 2>&1 || { cat artifacts/build.log; exit 1; }
done
host="$(rustc +nightly -vV | sed -n 's/^host: //p')"
if [ "${targets[0]}" = make_seeds ]; then
    "target/$host/release/make_seeds" -runs=1 >artifacts/make_seeds.log 2>&1 ||
        { cat artifacts/make_seeds.log; exit 1; }
    du -sh seeds fixtures
    exit
fi

failed=0
printf '%-12s %12s %9s %8s %8s\n' target inputs seconds crashes covered
for target in "${targets[@]}"; do
    mkdir -p "corpus/$target" "artifacts/$target"
    log="artifacts/$target.log"
    dictionary=()
    [ -f "dictionaries/$target.txt" ] && dictionary=("-dict=dictionaries/$target.txt")
    begun=$(date +%s)
    crashes=0
    # libFuzzer has a limit on memory too, for what is not allocated by Rust.
    "target/$host/release/$target" "$limit" -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=1024 \
        -print_final_stats=1 -artifact_prefix="artifacts/$target/" "${dictionary[@]}" \
        "corpus/$target" "seeds/$target" >"$log" 2>&1 &
    process=$!
    trap 'kill "$process" 2>/dev/null || true; rm -rf "/dev/shm/becausal-fuzz/$process"' EXIT
    wait "$process" || crashes=1
    rm -rf "/dev/shm/becausal-fuzz/$process"
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
    covered=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)
    printf '%-12s %12s %9s %8s %8s\n' \
        "$target" "${inputs:-0}" "$(($(date +%s) - begun))" "$crashes" "${covered:-0}"
    if [ "$crashes" -ne 0 ]; then
        failed=1
        grep -m3 -A3 'panicked at\|ERROR: \|memory allocation of' "$log" || true
    fi
done
exit "$failed"
