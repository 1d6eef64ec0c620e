#!/usr/bin/env bash
# Opens a report, or the page of `becausal-paper examples`, in headless Chromium: no errors, keys and questions work, nothing overflows. Leaves screenshots.
# Installs Chromium from Debian and playwright-core from npm where they are missing (needs Node).
#   scripts/check-report.sh [REPORT.html] [FOLDER]     without a report, a small run is made for one
set -euo pipefail
cd "$(dirname "$0")/.."

report="${1:-}"
folder="${2:-target/check-report}"
mkdir -p "$folder"
if ! command -v chromium > /dev/null; then
    apt-get update && apt-get install -y --no-install-recommends chromium
fi
if ! command -v node > /dev/null; then
    apt-get install -y --no-install-recommends nodejs npm
fi
if [ ! -d "$folder/node_modules/playwright-core" ]; then
    npm install --silent --no-fund --no-audit --prefix "$folder" playwright-core
fi
if [ -z "$report" ]; then
    cargo build --release --locked -p becausal-cli
    becausal=target/release/becausal
    "$becausal" collect BuildMarine-v0 -n 3000 -o "$folder/data.parquet" --quiet
    "$becausal" fit "$folder/data.parquet" --members 2 --steps 300 -o "$folder/run" --quiet
    report="$folder/report.html"
    "$becausal" report "$folder/run" --steps 12 --states 20 -o "$report" --quiet
fi
NODE_PATH="$folder/node_modules" node scripts/check_report.cjs "$(realpath "$report")" "$(realpath "$folder")"
