"""Convert recorded episodes (.npz: seed and start of each episode, first, action, obs, reward, terminated) to the format of the tests.

    python convert_lunar_lander.py OUT_DIR FILE.npz...

tests/suite/lunar_lander.rs describes the format.
"""
import pathlib
import struct
import sys

import numpy as np

out = pathlib.Path(sys.argv[1])
for name in sys.argv[2:]:
    data = dict(np.load(name))
    continuous = data["action"].ndim == 2
    blob = bytearray(struct.pack("<I", len(data["seed"])))
    for episode, seed in enumerate(data["seed"]):
        start, end = (int(data["start"][episode + k]) for k in (0, 1))
        blob += struct.pack("<II", int(seed), end - start)
        blob += data["first"][episode].astype("<f4").tobytes()
        for k in range(start, end):
            action = data["action"][k]
            blob += action.astype("<f4").tobytes() if continuous else bytes([int(action)])
            blob += data["obs"][k].astype("<f4").tobytes()
            blob += struct.pack("<dB", float(data["reward"][k]), bool(data["terminated"][k]))
    (out / (pathlib.Path(name).stem + ".bin")).write_bytes(blob)
