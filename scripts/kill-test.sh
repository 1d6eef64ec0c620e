#!/usr/bin/env bash
# Kills `collect`, `discover`, `fit` and `train` with SIGKILL at random moments, runs them again (a training: resumes it), and
# compares every byte with those of a run that nobody disturbed. Needs Python 3.11, nothing else.
#   scripts/kill-test.sh [KILLS] [SEED] [PROGRAM]     100 kills, seed 0, target/release/becausal (built where it is missing)
set -euo pipefail
cd "$(dirname "$0")/.."

kills="${1:-100}"
seed="${2:-0}"
program="${3:-target/release/becausal}"
if [ ! -x "$program" ]; then
    cargo build --release --locked -p becausal-cli
fi
exec python3 scripts/kill_test.py "$(realpath "$program")" "$kills" "$seed"
