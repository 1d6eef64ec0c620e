"""Which edges of a LunarLander log can a regression see that knows the true causes?

Usage: python scripts/lander_oracle.py FLIGHTS.csv... (needs numpy and scipy; FLIGHTS.csv by `becausal collect`)

Only rows that begin and end in the air are used. Each effect is regressed on functions of its true causes, engine by
engine: sine and cosine of the angle, the angular velocity and its products with them, and the other causes as they are.
Five folds of whole episodes are cross-fitted. For each cause, what it adds beyond the other causes is multiplied with
the residual without it and summed by episode. Two t values follow: with the variance of these sums, and with the
variance of the sums of the residual with all causes.
"""

import csv
import sys

import numpy as np
from scipy import stats

TRUE = {
    "x'": ["x", "vx", "v_angle", "angle", "engine"],
    "y'": ["y", "vy", "engine", "angle", "v_angle"],
    "vx'": ["vx", "engine", "angle"],
    "vy'": ["vy", "engine", "angle"],
    "angle'": ["angle", "v_angle", "engine"],
    "v_angle'": ["v_angle", "engine", "angle"],
    "fuel": ["engine"],
}
ENGINES = {"none": 0, "left": 1, "main": 2, "right": 3}
FOLDS = 5


def load(path):
    with open(path, encoding="utf-8") as file:
        rows = csv.reader(file)
        names = next(rows)
        table = np.array([[ENGINES[v] if v in ENGINES else float(v) for v in row] for row in rows])
    log = {name: table[:, at] for at, name in enumerate(names)}
    touching = sum(log[leg] for leg in ("legs[0]", "legs[1]", "legs'[0]", "legs'[1]")) + log["crash"]
    return {name: values[touching == 0] for name, values in log.items()}


def features(log, causes):
    """A column for each feature, and the causes that each depends on."""
    columns = [(np.ones(len(log["x"])), set())]
    for cause in causes:
        if cause == "angle":
            angle = log["angle"]
            columns += [(f, {cause}) for f in (np.sin(angle), np.cos(angle) - 1, angle)]
        elif cause == "v_angle":
            columns += [(log[cause], {cause}), (log[cause] ** 2, {cause})]
        elif cause != "engine":
            columns.append((log[cause], {cause}))
    if {"angle", "v_angle"} <= set(causes):
        for turn in (np.sin, np.cos):
            columns.append((log["v_angle"] * turn(log["angle"]), {"angle", "v_angle"}))
    if "engine" in causes:
        for values, inputs in list(columns):
            columns += [(values * (log["engine"] == k), inputs | {"engine"}) for k in (1, 2, 3)]
    return np.array([values for values, _ in columns]).T, [inputs for _, inputs in columns]


def fit(columns, values):
    scale = np.sqrt((columns**2).mean(0)) + 1e-300
    return np.linalg.lstsq(columns / scale, values, rcond=1e-10)[0] / scale


def pairs(log):
    episode = log["episode"].astype(int)
    for effect, causes in TRUE.items():
        before = log.get(effect[:-1], 0) if effect.endswith("'") else 0
        columns, inputs = features(log, causes)
        for cause in causes:
            # The effect's own state is left out of the target, or it would hide in it.
            target = log[effect] - (0 if effect == cause + "'" else before)
            others = [at for at, of in enumerate(inputs) if cause not in of]
            full, reduced, added = (np.zeros(len(target)) for _ in range(3))
            for fold in range(FOLDS):
                train, test = episode % FOLDS != fold, episode % FOLDS == fold
                with_all = columns @ fit(columns[train], target[train])
                without = columns[:, others] @ fit(columns[train][:, others], target[train])
                more = with_all - without
                expected = columns[:, others] @ fit(columns[train][:, others], more[train])
                full[test] = (target - with_all)[test]
                reduced[test] = (target - without)[test]
                added[test] = (more - expected)[test]
            by_episode = [[(added * of)[episode == e].sum() for e in np.unique(episode)] for of in (reduced, full)]
            sums, noise = np.array(by_episode)
            strength = 1 - (full**2).sum() / (reduced**2).sum()
            moves = np.sqrt((added**2).mean()) / (log[effect] - before).std()
            ts = [sums.mean() / (of.std(ddof=1) / np.sqrt(len(sums))) for of in (sums, noise)]
            yield cause, effect, strength, moves, ts, [stats.t.sf(t, len(sums) - 1) for t in ts]


if len(sys.argv) < 2:
    sys.exit(__doc__)
for path in sys.argv[1:]:
    print(path)
    seen = [0, 0]
    for cause, effect, strength, moves, ts, ps in pairs(load(path)):
        print(
            f"  {cause + ' -> ' + effect:22} strength {strength:7.4f}, moves it by {100 * moves:7.2f} % of its usual change, "
            f"t {ts[0]:9.2f} (p {ps[0]:.1e}), by the noise {ts[1]:9.2f} (p {ps[1]:.1e})"
        )
        for way, p in enumerate(ps):
            seen[way] += p <= 0.001 and strength >= 0.01
    print(f"  seen with p at most .001 and strength at least .01: {seen[0]}, by the noise {seen[1]}")
