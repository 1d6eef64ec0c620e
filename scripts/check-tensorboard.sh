#!/usr/bin/env bash
# Trains CartPole-v1 for a moment, stops and resumes, and reads its curves back with TensorBoard's own reader.
#
#   scripts/check-tensorboard.sh
#
# Every number of metrics.csv must be there under its name, at its step, with its value in single precision.
# Installs TensorBoard into target/peers-tensorboard (a virtual environment) the first time.
set -euo pipefail
cd "$(dirname "$0")/.."

python=target/peers-tensorboard/bin/python
if [ ! -e target/peers-tensorboard/installed ]; then
    python3 -m venv target/peers-tensorboard
    "$python" -m pip install --quiet tensorboard
    touch target/peers-tensorboard/installed
fi

cargo build --release --quiet
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
small=(--quiet --env-option max_episode_steps=100 --set members=2 --set model_width=8 --set final_fit_steps=0)
target/release/becausal train CartPole-v1 -o "$folder/causal" "${small[@]}" --steps 600 > "$folder/log"
target/release/becausal train CartPole-v1 -o "$folder/causal" --quiet --resume --steps 900 > "$folder/log"
target/release/becausal train CartPole-v1 -o "$folder/none" --quiet --model none --set final_fit_steps=0 --steps 20000 > "$folder/log"
"$python" scripts/tensorboard_curves.py "$folder/causal" "$folder/none"
