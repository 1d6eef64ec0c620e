"""Runs the published fcit package and becausal on the same rows, in the same run.

Called by compare-fcit.sh. Prints the share of edges on which both decide alike at eta 0.05, beside
the package's agreement with itself, and how many times faster a whole graph is.
"""
import argparse
import json
import random
import subprocess
import time

import numpy as np
from fcit import fcit

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("program")
parser.add_argument("folder")
parser.add_argument("--lander", help="LunarLanderContinuous transitions (.npz), 20,000 rows or more")
parser.add_argument("--rows", type=int, default=5000, help="rows for the agreement")
parser.add_argument("--edges", type=int, default=6, help="edges timed of the package")
arguments = parser.parse_args()
rng = np.random.default_rng(0)

LANDER = """name = "LunarLanderContinuous"
[state]
x = { kind = "continuous" }
y = { kind = "continuous" }
vx = { kind = "continuous" }
vy = { kind = "continuous" }
angle = { kind = "continuous" }
v_angle = { kind = "continuous" }
legs = { kind = "boolean", size = 2 }
[action]
main = { kind = "continuous", low = -1.0, high = 1.0 }
lateral = { kind = "continuous", low = -1.0, high = 1.0 }
[outcome]
fuel = { kind = "continuous" }
crash = { kind = "boolean" }
rest = { kind = "boolean" }
"""
PROBES = """name = "Probes"
[state]
x = { kind = "continuous" }
z = { kind = "continuous" }
w = { kind = "continuous" }
[action]
a = { kind = "boolean" }
[outcome]
noise = { kind = "continuous" }
exact = { kind = "continuous" }
gated = { kind = "continuous" }
product = { kind = "continuous" }
"""


def becausal(*words):
    out = subprocess.run([arguments.program, *words, "--json", "--quiet"], capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(out.stderr)
    return json.loads(out.stdout)


def save(name, data, schema):
    path = f"{arguments.folder}/{name}.npz"
    np.savez(path, **data)
    with open(f"{arguments.folder}/{name}.schema.toml", "w") as file:
        file.write(schema)
    return path


def probes(rows):
    n = rng.standard_normal
    z, w, a = n(rows), n(rows), rng.integers(0, 2, rows)
    x = 0.7 * z + 0.7 * n(rows)
    data = {"x": x, "z": z, "w": w, "a": a, "x'": x + n(rows), "z'": 0.9 * z + 0.1 * w + 0.3 * n(rows), "w'": w + 0.2 * x + 0.3 * n(rows)}
    data |= {"noise": n(rows), "exact": z, "gated": np.where(a, x, z) + 0.3 * n(rows), "product": z * w + 0.3 * n(rows)}
    return save("probes", data | {"episode": np.arange(rows) // 50}, PROBES)


def first(path, rows, name, schema):
    return save(name, {k: v[:rows] for k, v in np.load(path).items()}, schema)


def factors(path):
    data = {k: (v if v.ndim == 2 else v[:, None]).astype(float) for k, v in np.load(path).items() if k not in ("episode", "terminated", "truncated", "reward")}
    outcomes = {"fuel", "crash", "rest", "noise", "exact", "gated", "product"}
    return data, [k for k in data if not k.endswith("'") and k not in outcomes]


def package(data, inputs, cause, effect):
    others = [data[k] for k in inputs if k != cause]
    p = fcit.test(data[cause], data[effect], np.concatenate(others, 1))
    return 1.0 if np.isnan(p) else float(p)


sets = {}
for env in ("AimTest-v0", "CartPole-v1"):
    path = f"{arguments.folder}/{env}.npz"
    becausal("collect", env, "-n", str(arguments.rows), "-o", path)
    sets[env] = path
sets["probes"] = probes(min(arguments.rows, 3000))
if arguments.lander:
    sets["lander"] = first(arguments.lander, arguments.rows, "lander_first", LANDER)

total = same = itself = 0
each = 40 // len(sets)
for name, path in sets.items():
    graph = becausal("discover", path, "--method", "fcit", "-o", f"{arguments.folder}/graph.json")
    ours = {(e["cause"], e["effect"]): e for e in graph["edges"] if e["verdict"] != "untestable"}
    data, inputs = factors(path)
    picked = random.Random(1).sample(sorted(ours), min(each, len(ours)))
    agree = again = 0
    for cause, effect in picked:
        p = [package(data, inputs, cause, effect) for _ in range(2)]
        mine = ours[cause, effect]["p"]
        agree += (mine <= 0.05) == (p[0] <= 0.05)
        again += (p[1] <= 0.05) == (p[0] <= 0.05)
        if (mine <= 0.05) != (p[0] <= 0.05):
            print(f"  {name}: {cause} -> {effect}: becausal p {mine:.3g}, package p {p[0]:.3g} and {p[1]:.3g}")
    print(f"{name}: {agree} of {len(picked)} decided alike; the package with itself {again}", flush=True)
    total, same, itself = total + len(picked), same + agree, itself + again
print(f"agreement at eta 0.05: {same} of {total} ({100 * same / total:.1f} %); the package with itself {itself} ({100 * itself / total:.1f} %)")

if arguments.lander:
    path = first(arguments.lander, 20000, "lander20k", LANDER)
    seconds = {}
    for method in ("auto", "fcit"):
        took = []
        for _ in range(3):
            start = time.perf_counter()
            becausal("discover", path, "--method", method, "-o", f"{arguments.folder}/graph.json")
            took.append(time.perf_counter() - start)
        seconds[method] = min(took)
    data, inputs = factors(path)
    effects = [k for k in data if k not in inputs]
    edges = [(c, e) for e in effects for c in inputs]
    took = []
    for cause, effect in random.Random(0).sample(edges, arguments.edges):
        start = time.perf_counter()
        package(data, inputs, cause, effect)
        took.append(time.perf_counter() - start)
    whole = np.mean(took) * len(edges)
    print(f"20,000 rows, {len(edges)} edges: package {whole:.0f} s ({np.mean(took):.2f} s an edge, {len(took)} timed), "
          f"fcit {seconds['fcit']:.2f} s ({whole / seconds['fcit']:.0f} times), auto {seconds['auto']:.2f} s ({whole / seconds['auto']:.0f} times)")
