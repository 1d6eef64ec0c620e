#!/usr/bin/env bash
# Opens the live viewer in headless Chromium and uses every control: no errors, nothing overflows, axe-core finds nothing serious. Then the
# slow probes of its server: clients that never read, large bodies, a thousand requests at once, memory. Leaves screenshots.
# Installs Chromium from Debian, and playwright-core and axe-core from npm, where they are missing (needs Node).
#   scripts/check-view.sh [RUN] [FOLDER]     a trained run, for the policy's part; a small one is trained without it
set -euo pipefail
cd "$(dirname "$0")/.."

run="${1:-}"
folder="${2:-target/check-view}"
mkdir -p "$folder"
if ! command -v chromium > /dev/null; then
    apt-get update && apt-get install -y --no-install-recommends chromium
fi
if ! command -v node > /dev/null; then
    apt-get install -y --no-install-recommends nodejs npm
fi
if [ ! -d "$folder/node_modules/axe-core" ]; then
    npm install --silent --no-fund --no-audit --prefix "$folder" playwright-core axe-core
fi
cargo build --release --locked -p becausal-cli
becausal=target/release/becausal

if [ -z "$run" ]; then
    run="$folder/trained"
    if [ ! -d "$run/world-model" ]; then
        "$becausal" train CartPole-v1 -o "$run" --quiet --steps 4000 --seed 1
    fi
fi
# Continuous actions and drawings; a log without an environment; fifty variables.
if [ ! -d "$folder/continuous" ]; then
    "$becausal" collect LunarLanderContinuous-v3 -n 3000 -o "$folder/continuous.parquet" --quiet
    "$becausal" fit "$folder/continuous.parquet" --members 2 --steps 200 -o "$folder/continuous" --quiet
fi
if [ ! -d "$folder/log" ]; then
    "$becausal" fit examples/greenhouse/log.csv --schema examples/greenhouse/schema.toml --ignore timestamp \
        --members 2 --steps 200 -o "$folder/log" --quiet
fi
if [ ! -d "$folder/wide" ]; then
    python3 scripts/wide_log.py "$folder/wide.csv" "$folder/wide.toml"
    "$becausal" fit "$folder/wide.csv" --schema "$folder/wide.toml" --members 2 --steps 60 -o "$folder/wide" --quiet
fi
NODE_PATH="$folder/node_modules" node scripts/check_view.cjs "$becausal" "$(realpath "$folder")" \
    "$run" "$folder/continuous" "$folder/log" "$folder/wide"
