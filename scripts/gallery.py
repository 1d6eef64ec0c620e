"""Writes docs/gallery.md: explanations of trained agents and of a log, as printed, with their pictures.

    python3 scripts/gallery.py BECAUSAL LANDER MARINES CART GREENHOUSE

BECAUSAL is the program, the others are runs (docs/gallery.md says how they are made). Which decisions are shown is a
rule, not a choice: the first that `becausal explain RUN --find` lists of each kind.
"""

import json
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"

RUNS = [
    ("LunarLander-v3", "lander", "becausal train LunarLander-v3 --until 200 --seed 301 -o lander && becausal audit lander", ["costly", "close", "mistakes"]),
    ("BuildMarine-v0", "marines", "becausal train BuildMarine-v0 --seed 301 -o marines && becausal audit marines", ["costly", "close", "mistakes"]),
    ("CartPole-v1", "cart", "becausal train CartPole-v1 --seed 61 -o cart && becausal audit cart", ["surprising", "close"]),
    (
        "A greenhouse, from its log",
        "greenhouse",
        "becausal fit log.csv --schema schema.toml --ignore timestamp --members 3 --steps 300 -o greenhouse",
        ["costly", "surprising"],
    ),
]

OPENING = """# Gallery

Ten explanations as the program prints them, with their pictures. A rule chose them: the first decision that
`becausal explain RUN --find` lists of each kind (*costly*: most was at stake; *close*: the agent was least sure; *mistakes*: another action would
have earned more by the model; *surprising*: what followed was least expected). Where a kind has nothing to show, the page says so.
`scripts/gallery.py` writes this page.
"""


def main() -> None:
    program, *runs = sys.argv[1:]
    if len(runs) != len(RUNS):
        sys.exit(__doc__)
    pictures = DOCS / "gallery"
    pictures.mkdir(exist_ok=True)
    text = OPENING
    for (title, name, made_by, kinds), run in zip(RUNS, runs):
        text += f"\n## {title}\n\n    $ {made_by}\n"
        for kind in kinds:
            text += f"\n### {kind.capitalize()}\n\n"
            text += explanation(program, run, name, kind, pictures)
    (DOCS / "gallery.md").write_text(text)


def explanation(program: str, run: str, name: str, kind: str, pictures: Path) -> str:
    """The first decision of a kind: its command, what it prints, and its picture."""
    found = json.loads(printed(program, "explain", run, "--find", kind, "--count", "1", "--json"))["found"]
    if not found:
        return f"`--find {kind}` lists nothing.\n"
    first = found[0]
    seed = first["episode_seed"]
    which = ["--episode-seed", str(seed)] if seed is not None else ["--episode", str(first["episode"])]
    asked = [*which, "--step", str(first["step"])]
    if kind == "mistakes":
        # The question that found it.
        asked += ["--why-not", first["rival"], "--horizon", "5"]
    picture = pictures / f"{name}-{kind}.svg"
    printed(program, "explain", run, *asked, "-o", str(picture))
    answer = printed(program, "explain", run, *asked)
    lines = "".join(f"    {line}\n" if line else "\n" for line in answer.rstrip().split("\n"))
    command = " ".join(["becausal", "explain", name, *asked])
    return f"    $ {command}\n{lines}\n![{command}](gallery/{picture.name})\n"


def printed(*command: str) -> str:
    return subprocess.run([*command, "-q"], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
