"""Writes a log of fifty variables and its schema: each sensor follows itself and its neighbour. Arguments: the CSV, the schema."""
import random
import sys

SENSORS = 48
VALVE = ["closed", "half open", "open"]

log, schema = sys.argv[1:]
random.seed(1)
names = [f"sensor_{at:02d}" for at in range(SENSORS)]


def describe(at: int, name: str) -> str:
    label = f', unit = "bar", label = "pressure of the long pipe {at:02d}"' if at % 7 == 0 else ""
    return f'{name} = {{ kind = "continuous"{label} }}\n'


with open(schema, "w", encoding="utf-8") as file:
    file.write('name = "Plant of fifty variables"\n[state]\n')
    file.writelines(describe(at, name) for at, name in enumerate(names))
    file.write('[action]\nvalve = { kind = "categorical", labels = ["closed", "half open", "open"] }\n')
    file.write('pump = { kind = "boolean" }\n[reward]\n"steady" = "-abs(sensor_00\')"\n"flow" = "0.1 * sensor_03\'"\n')

with open(log, "w", encoding="utf-8") as file:
    file.write(",".join(["episode", *names, "valve", "pump"]) + "\n")
    for episode in range(30):
        state = [random.gauss(0, 1) for _ in names]
        for _ in range(40):
            valve, pump = random.randrange(3), random.randrange(2)
            cells = [str(episode), *(f"{value:.4f}" for value in state), VALVE[valve], "true" if pump else "false"]
            file.write(",".join(cells) + "\n")
            state = [0.8 * value + 0.3 * state[(at + 1) % SENSORS] + random.gauss(0, 0.2) for at, value in enumerate(state)]
            state[0] += 0.5 * valve
            state[3] += 0.7 * pump
