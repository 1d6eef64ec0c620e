#!/bin/sh
# Compares becausal with the published fcit package on the same rows in the same run: decisions and speed.
#
#   scripts/compare-fcit.sh [LANDER.npz]
#
# LANDER.npz: LunarLanderContinuous transitions, 20,000 rows or more; without it the speed is not measured.
# Needs Python with numpy, scipy, scikit-learn, joblib and fcit (pip install --no-deps fcit); PYTHON names it.
set -eu
cd "$(dirname "$0")/.."
cargo build --release --quiet -p becausal-cli
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
lander=${1:+--lander "$1"}
# shellcheck disable=SC2086 # two words are meant
"${PYTHON:-python3}" scripts/compare_fcit.py "${CARGO_TARGET_DIR:-target}/release/becausal" "$folder" $lander
