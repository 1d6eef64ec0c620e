"""Kills becausal at random moments and compares what comes of it with an undisturbed run. See kill-test.sh."""

import json
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Seconds that one process may take; a small job takes far less than one.
PATIENCE = 120
# Kills are made in this many folders at the same time.
WORKERS = 2
# So many jobs for each kill that is asked for, at most: most kills hit, and the test ends in any case.
MAX_JOBS = 5
# A job is killed at most this often before it is left alone to end.
MAX_KILLS = 4

TRAIN = (
    "train CartPole-v1 --env-option=max_episode_steps=40 --seed=4 --steps=150 --quiet --threads=1 "
    "--set=warm_up=50 --set=epoch_steps=25 --set=members=1 --set=model_width=4 --set=fit_steps_first=3 "
    "--set=fit_steps=3 --set=rounds=1 --set=samples=64 --set=evaluation_episodes=1 --set=final_fit_steps=3 --set=final_rows=100 "
    "--set=policy_widths=[8] -o run"
).split()

FIT = "fit log.parquet --members=1 --steps=5 --quiet --threads=1 -o run".split()

# Every job: its command, and the one that continues it where the first has saved something.
JOBS = {
    "collect.csv": ("collect CartPole-v1 -n 20000 --seed=3 --quiet --threads=1 -o out.csv".split(), None),
    "collect.parquet": ("collect CartPole-v1 -n 20000 --seed=3 --quiet --threads=1 -o out.parquet".split(), None),
    "collect.npz": ("collect CartPole-v1 -n 20000 --seed=3 --quiet --threads=1 -o out.npz".split(), None),
    "discover": ("discover log.parquet --bootstrap=6 --quiet --threads=1 -o graph.json --picture graph.svg".split(), None),
    "fit": (FIT, None),
    "fit over a run": (FIT, None),
    "train": (TRAIN, "train CartPole-v1 -o run --resume --quiet --threads=1".split()),
}
# How the kills are shared out.
WEIGHTS = {"collect.csv": 1, "collect.parquet": 1, "collect.npz": 1, "discover": 2, "fit": 2, "fit over a run": 2, "train": 5}


class Finding(Exception):
    """Something that must not happen."""


def content(path: Path) -> dict[str, bytes]:
    """All files of a folder, hidden ones too, without what holds the time of day."""
    files = {}
    for file in sorted(path.rglob("*")):
        name = str(file.relative_to(path))
        if file.is_symlink() or file.is_dir():
            continue
        data = file.read_bytes()
        if file.name == "metrics.csv":
            data = b"\n".join(line.rsplit(b",", 1)[0] for line in data.splitlines())
        if file.name == "checkpoint.json":
            # How long metrics.csv is depends on the digits of the seconds in it.
            data = json.dumps({**json.loads(data), "metrics": None}).encode()
        if file.name.startswith("events.out.tfevents"):
            data = b"%d bytes" % len(data)
        files[name] = data
    return files


def run(program: str, arguments: list[str], folder: Path) -> subprocess.CompletedProcess:
    """Runs a command to its end."""
    return subprocess.run(
        [program, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE
    )


def starts(program: str, folder: Path) -> dict[str, dict[str, bytes]]:
    """What each job begins with: the log that is discovered and fitted, and an older run."""
    folder.mkdir()
    files = []
    for command in ("collect Vacuum-v0 -n 250 --seed=1 --quiet -o log.parquet".split(), [*FIT, "--seed=9"]):
        done = run(program, command, folder)
        if done.returncode != 0:
            sys.exit(f"cannot prepare: {done.stderr.decode(errors='replace')}")
        files.append(content(folder))
    return {job: files[job == "fit over a run"] for job in JOBS}


def next_command(job: str, folder: Path) -> list[str]:
    """What a user runs after a kill."""
    first, resume = JOBS[job]
    return resume if resume and (folder / "run" / "checkpoint.json").exists() else first


def of_run(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in files.items() if name.startswith("run/")}


def check_whole(job: str, folder: Path, start: dict[str, bytes], reference: dict[str, bytes]) -> None:
    """What has its name right after a kill is whole: never half a file, and the older one is not lost."""
    for name in ("out.csv", "out.parquet", "out.npz", "graph.json", "graph.svg"):
        file = folder / name
        if file.exists() and file.read_bytes() != reference[name]:
            raise Finding(f"{name} is there, but not whole")
    if job.startswith("fit"):
        found = content(folder)
        older = {name.replace(".run.old/", "run/", 1): data for name, data in found.items() if name.startswith(".run.old/")}
        if (of_run(found) or older) not in ({}, of_run(start), of_run(reference)):
            raise Finding("run is there, but not whole")
        if of_run(start) and not of_run(found) and older != of_run(start):
            raise Finding("the older run is lost")
    checkpoint = folder / "run" / "checkpoint.json"
    if job == "train" and checkpoint.exists():
        named = json.loads(checkpoint.read_text())["folder"]
        if not (folder / "run" / "checkpoints" / named / "state.json").exists():
            raise Finding("the checkpoint that is named is not there")


def lay_out(folder: Path, files: dict[str, bytes]) -> None:
    """Writes the files that a job begins with."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def trial(program: str, job: str, moments: list[float], start: dict[str, bytes], reference: dict[str, bytes], length: float) -> int:
    """Kills a job at these moments (shares of its length), lets it end, compares. Returns how often it was hit."""
    hits = 0
    with tempfile.TemporaryDirectory(prefix="kill-test-") as name:
        folder = Path(name)
        lay_out(folder, start)
        for moment in moments:
            command = next_command(job, folder)
            child = subprocess.Popen(
                [program, *command],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            time.sleep(moment * length)
            child.kill()
            errors = child.communicate(timeout=PATIENCE)[1].decode(errors="replace")
            if child.returncode == -9:
                hits += 1
            elif child.returncode == 0:
                break
            else:
                raise Finding(f"{' '.join(command)}: exit {child.returncode} before the kill: {errors}")
            check_whole(job, folder, start, reference)
        done = run(program, next_command(job, folder), folder)
        if done.returncode != 0:
            errors = done.stderr.decode(errors="replace")
            raise Finding(f"after {hits} kills at {moments}: exit {done.returncode}: {errors}")
        found = content(folder)
        names = sorted(name for name in found.keys() | reference.keys() if found.get(name) != reference.get(name))
        if names:
            raise Finding(f"after {hits} kills at {moments}: differs or is left over: {', '.join(names)}")
    return hits


def main() -> int:
    program, kills, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    started = time.monotonic()
    references, lengths = {}, {}
    with tempfile.TemporaryDirectory(prefix="kill-test-") as name:
        base = Path(name)
        start = starts(program, base / "start")
        for job, (command, _) in JOBS.items():
            found = []
            for attempt in range(2):
                folder = base / f"{job}-{attempt}"
                folder.mkdir()
                lay_out(folder, start[job])
                begun = time.monotonic()
                done = run(program, command, folder)
                lengths[job] = max(lengths.get(job, 0.0), time.monotonic() - begun)
                if done.returncode != 0:
                    print(f"{job}: {done.stderr.decode(errors='replace')}", file=sys.stderr)
                    return 1
                found.append(content(folder))
            if found[0] != found[1]:
                print(f"{job}: two undisturbed runs differ", file=sys.stderr)
                return 1
            references[job] = found[0]
            print(f"{job}: {len(found[0])} files, {lengths[job]:.2f} s undisturbed", flush=True)
    chance = random.Random(seed)
    hits = dict.fromkeys(JOBS, 0)
    trials = dict.fromkeys(JOBS, 0)
    findings = []

    def plan() -> tuple[str, list[float]]:
        job = chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        # A third of the kills come in the first moments, when a folder is made and nothing is saved.
        early = lambda: 0.15 * chance.random() if chance.random() < 1 / 3 else chance.random()
        return job, [early() for _ in range(chance.randint(1, MAX_KILLS))]

    def one(planned: tuple[str, list[float]]) -> tuple[str, int, str]:
        job, moments = planned
        try:
            return job, trial(program, job, moments, start[job], references[job], lengths[job]), ""
        except (Finding, subprocess.TimeoutExpired, OSError, ValueError, KeyError) as finding:
            return job, 0, f"{job}: {finding}"

    with ThreadPoolExecutor(WORKERS) as pool:
        told = 0
        while sum(hits.values()) < kills and len(findings) < 20 and sum(trials.values()) < MAX_JOBS * kills:
            for job, hit, finding in pool.map(one, [plan() for _ in range(4 * WORKERS)]):
                hits[job] += hit
                trials[job] += 1
                if finding:
                    findings.append(finding)
                    print(f"FOUND {finding}", flush=True)
            if sum(hits.values()) >= told + 100:
                told = sum(hits.values())
                print(f"{told} kills, {len(findings)} findings, {time.monotonic() - started:.0f} s", flush=True)
    for job in JOBS:
        print(f"{job}: {hits[job]} kills in {trials[job]} jobs")
    seconds = time.monotonic() - started
    print(f"{sum(hits.values())} kills in {sum(trials.values())} jobs, {len(findings)} findings, {seconds:.0f} s (seed {seed})")
    return 1 if findings or sum(hits.values()) < kills else 0


if __name__ == "__main__":
    sys.exit(main())
