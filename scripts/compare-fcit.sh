#!/usr/bin/env bash
# Compares becausal with the published fcit package on the same rows in the same run: decisions and speed.
#
#   scripts/compare-fcit.sh [--rows N]        rows of each set for the decisions; the speed is measured at 20,000
#
# Installs the package and what it needs into target/peers-fcit (a virtual environment) the first time.
set -euo pipefail
cd "$(dirname "$0")/.."

python=target/peers-fcit/bin/python
if [ ! -x "$python" ]; then
    python3 -m venv target/peers-fcit
    "$python" -m pip install --quiet numpy scipy scikit-learn joblib
    "$python" -m pip install --quiet --no-deps fcit
fi

cargo build --release --quiet
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
target/release/becausal collect LunarLanderContinuous-v3 -n 20000 --seed 1 -o "$folder/lander.npz" --quiet >/dev/null
"$python" scripts/compare_fcit.py target/release/becausal "$folder" --lander "$folder/lander.npz" "$@"
