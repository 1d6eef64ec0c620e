#!/usr/bin/env bash
# Learning CartPole-v1 without a model beside Stable-Baselines3's PPO, on the same machine in the same run.
#
#   scripts/compare-sb3.sh [SEED [STEPS]]        default: 1 60000
#
# Both have the settings of the RL zoo, one thread each, and play 20 evaluation episodes side by side every
# 5120 steps. Times are the smaller of two interleaved runs: Stable-Baselines3's without Python's start and
# without its imports, becausal's from the start of the program to its end. Other work on the machine makes the
# wall clock longer, of short and long runs not alike; the processor's time is what was really worked.
#
# Installs Stable-Baselines3 into target/peers-sb3 (a virtual environment) the first time; TORCH_VENV=DIR
# takes PyTorch from another virtual environment (same Python) instead of downloading it.
set -euo pipefail
cd "$(dirname "$0")/.."

seed=${1:-1}
steps=${2:-60000}
venv=target/peers-sb3
if [ ! -e "$venv/installed" ]; then
    python3 -m venv "$venv"
    if [ -n "${TORCH_VENV:-}" ]; then
        packages=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
        ls -d "$(realpath "$TORCH_VENV")"/lib/python*/site-packages > "$packages/torch.pth"
    fi
    "$venv/bin/pip" install --quiet stable-baselines3
    touch "$venv/installed"
fi
cargo build --quiet --release
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for run in 1 2; do
    echo "run $run of 2" >&2
    OMP_NUM_THREADS=1 "$venv/bin/python" scripts/sb3_cart_pole.py learn "$seed" "$steps" > "$folder/theirs-$run.json"
    TIMEFORMAT='%R %U %S'
    { time target/release/becausal train CartPole-v1 --model none --seed "$seed" --steps "$steps" --threads 1 --quiet \
        --set final_fit_steps=0 -o "$folder/ours-$run" > "$folder/log"; } 2> "$folder/ours-$run.time"
done
"$venv/bin/python" scripts/sb3_cart_pole.py table "$folder"
