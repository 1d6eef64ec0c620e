#!/usr/bin/env bash
# Builds the wheel, installs it with everything that it works with (torch, SB3, Minari, pandas, Polars, onnxruntime,
# MuJoCo, MiniGrid), and runs all tests, the type checkers and the notebooks.
#
#   scripts/check-python.sh
#
# The executed notebooks are in target/notebooks: copy them to examples/ where their answers have changed.
# Makes a virtual environment in target/python-full the first time; torch takes some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=target/python-full
if [ ! -e "$venv/installed" ]; then
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet 'maturin>=1.9,<2' pytest mypy nbconvert nbclient ipykernel pandas polars pyarrow \
        networkx onnx onnxruntime 'gymnasium[box2d,mujoco]' minigrid 'minari[create,hdf5]' torch stable-baselines3
    touch "$venv/installed"
fi
export PATH="$PWD/$venv/bin:$PATH"
echo "== the wheel"
rm -rf target/wheels/full
maturin build --release --quiet --locked --manifest-path crates/becausal-python/Cargo.toml --out target/wheels/full
ls -l target/wheels/full
pip install --quiet --force-reinstall --no-deps target/wheels/full/becausal-*.whl
cd crates/becausal-python
echo "== types"
mypy python/becausal
python -m mypy.stubtest becausal._becausal
echo "== tests"
pytest -q -p no:cacheprovider tests
echo "== notebooks"
cd ../../examples
for notebook in *.ipynb; do
    jupyter nbconvert --to notebook --execute --output-dir ../target/notebooks --ExecutePreprocessor.timeout=1200 \
        --ExecutePreprocessor.record_timing=False "$notebook"
done
