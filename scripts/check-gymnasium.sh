#!/usr/bin/env bash
# Plays fresh episodes in Gymnasium, replays them here, and counts the steps that are the same bit for bit.
#
#   scripts/check-gymnasium.sh [FIRST_SEED [EPISODES]]        default: 5000 20
#
# Installs Gymnasium into target/peers (a virtual environment) the first time.
set -euo pipefail
cd "$(dirname "$0")/.."

python=target/peers/bin/python
if [ ! -x "$python" ]; then
    python3 -m venv target/peers
    "$python" -m pip install --quiet 'gymnasium[box2d]==1.4.0' numpy
fi

cargo build --release --quiet
"$python" scripts/gymnasium_exact.py target/release/becausal "${1:-5000}" "${2:-20}"
