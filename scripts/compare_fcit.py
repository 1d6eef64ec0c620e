"""Runs the published fcit package and becausal on the same rows, in the same run.

Called by compare-fcit.sh. The test draws at random which rows it learns from, so both run several
times. Prints the share of edges on which most runs of both decide alike at eta 0.05, how often single
runs do, the package's agreement with itself, and how many times faster a whole graph is.
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
parser.add_argument("--runs", type=int, default=3, help="runs of each for the agreement, an odd number; 0: the speed alone")
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

def becausal_decides(path):
    """How each run of becausal decides about every edge that can be tested."""
    decided = {}
    for seed in range(arguments.runs):
        graph = becausal("discover", path, "--method", "fcit", "--seed", str(seed), "-o", f"{arguments.folder}/graph.json")
        for edge in graph["edges"]:
            if edge["verdict"] != "untestable":
                decided.setdefault((edge["cause"], edge["effect"]), []).append(edge["p"] <= 0.05)
    return decided


def alike(first, second):
    """How often a run of the first decides like a run of the second."""
    return np.mean([a == b for a in first for b in second])


edges = most = single = itself = 0
for name, path in sets.items() if arguments.runs else ():
    ours = becausal_decides(path)
    data, inputs = factors(path)
    picked = random.Random(1).sample(sorted(ours), 40 // len(sets))
    by_most = 0
    for cause, effect in picked:
        mine = ours[cause, effect]
        theirs = [package(data, inputs, cause, effect) <= 0.05 for _ in range(arguments.runs)]
        same = (2 * sum(mine) > len(mine)) == (2 * sum(theirs) > len(theirs))
        by_most += same
        single += alike(mine, theirs)
        itself += np.mean([alike([run], theirs[:at] + theirs[at + 1 :]) for at, run in enumerate(theirs)])
        if not same:
            print(f"  {name}: {cause} -> {effect}: an edge in {sum(mine)} runs of becausal, in {sum(theirs)} of the package")
    print(f"{name}: {by_most} of {len(picked)} decided alike by most of {arguments.runs} runs", flush=True)
    edges, most = edges + len(picked), most + by_most
if edges:
    print(f"agreement at eta 0.05: by most runs {most} of {edges} ({100 * most / edges:.1f} %); of single runs {100 * single / edges:.1f} %; the package with itself {100 * itself / edges:.1f} %")

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
