#!/usr/bin/env bash
# Training of the world model beside a PyTorch user's, on the same machine in the same run.
#
#   scripts/compare-world-model.sh PEERS.PY
#
# PEERS.PY times the model written the usual PyTorch way (one module per output). Both sides have
# all cores: PyTorch inside a batch, becausal with as many ensemble members side by side. Times are
# milliseconds a batch of 1024 rows, the smaller of two interleaved runs.
set -euo pipefail
peers=$(realpath "${1:?the path of peers.py}")
cd "$(dirname "$0")/.."
venv=target/peers-torch
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet numpy torch
fi
threads=$(nproc)
cargo build --quiet --release --bench model -p becausal-model
bench() { cargo bench --quiet -p becausal-model --bench model -- "$1"; }
peer() { OMP_NUM_THREADS=$threads "$venv/bin/python" "$peers" world-model --threads "$threads" "$@"; }
for run in 1 2; do
    echo "run $run"
    echo "  PyTorch, CartPole's size:               $(peer --inputs 5 --actions 1 --outputs 4 --width 64 --parents 4)"
    echo "  PyTorch, LunarLander's size, full:      $(peer --inputs 9 --actions 2 --outputs 10 --width 128 --parents 9)"
    echo "  PyTorch, LunarLander's size, 3 parents: $(peer --inputs 9 --actions 2 --outputs 10 --width 128 --parents 3)"
    bench training | sed 's/^/  becausal: /'
done
bench rollouts | sed 's/^/  becausal: /'
