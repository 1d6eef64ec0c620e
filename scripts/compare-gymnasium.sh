#!/usr/bin/env bash
# Environment steps per second, becausal's and Gymnasium's, on one core each, in the same run.
#
#   scripts/compare-gymnasium.sh [ID ...]        default: all that Gymnasium has too
#
# Installs Gymnasium into target/peers (a virtual environment) the first time.
set -euo pipefail
cd "$(dirname "$0")/.."

environments=("$@")
[ $# -gt 0 ] || environments=(CartPole-v1 LunarLander-v3 LunarLanderContinuous-v3)
python=target/peers/bin/python
if [ ! -x "$python" ]; then
    python3 -m venv target/peers
    "$python" -m pip install --quiet 'gymnasium[box2d]==1.4.0' numpy
fi

cargo build --release --quiet -p becausal-envs --benches
ours=$(cargo bench --quiet -p becausal-envs --bench environments -- --json | grep '^{')
"$python" scripts/gymnasium_speed.py "$ours" "${environments[@]}"
