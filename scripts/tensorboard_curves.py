"""Compare the curves that TensorBoard reads from runs with their metrics.csv; called by check-tensorboard.sh."""

import csv
import struct
import sys
from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def single(text):
    """A number as an event holds it."""
    return struct.unpack("<f", struct.pack("<f", float(text)))[0]


def check(run):
    events = EventAccumulator(str(run), size_guidance={"scalars": 0})
    events.Reload()
    tags = events.Tags()["scalars"]
    curves = {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in tags}
    with open(run / "metrics.csv") as file:
        rows = list(csv.DictReader(file))
    wrong = []
    for name in rows[0]:
        expected = [(int(row["real_steps"]), single(row[name])) for row in rows if row[name]]
        if name not in ("epoch", "real_steps") and curves.get(name, []) != expected:
            wrong.append(f"{run.name}: {name}: TensorBoard has {curves.get(name)}, metrics.csv {expected}")
    print(f"{run.name}: {len(rows)} epochs, {len(tags)} curves")
    for tag in tags:
        print(f"  {tag:28} {len(curves[tag]):3} points, the last {curves[tag][-1][1]:.6g}")
    return wrong


wrong = [message for run in sys.argv[1:] for message in check(Path(run))]
sys.exit("\n".join(wrong) if wrong else print("TensorBoard reads what metrics.csv says."))
