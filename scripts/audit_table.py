#!/usr/bin/env python3
"""Prints the tables of docs/explanations.md about trained agents from what `becausal audit RUN --json` printed.

    becausal audit RUN --json > RUN.json
    python scripts/audit_table.py RUN.json ...
"""

import json
import sys
from pathlib import Path


def share(value):
    """A share as the tables have it: .913, or a dash where there was nothing to score."""
    if value is None:
        return "-"
    return "1" if round(value, 3) == 1 else f"{value:.3f}".lstrip("0")


def percent(value):
    return "-" if value is None else f"{100 * value:.2g} %" if value < 0.1 else f"{100 * value:.0f} %"


def beside(audit, key, shown):
    """A score, and in brackets those of the rules: reachable, ideal."""
    lines = [audit.get(name) for name in ("reachable", "ideal")]
    brackets = ", ".join(shown(line[key]) for line in lines if line)
    return shown(audit[key]) + (f" ({brackets})" if brackets else "")


def table(heading, rows):
    print("| " + " | ".join(heading) + " |")
    print("|" + "---|" * len(heading))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def main():
    audits = [(Path(name).stem, json.loads(Path(name).read_text())) for name in sys.argv[1:]]
    heading = ["agent", "precision", "recall", "sign (reachable, ideal)", "error", "best action"]
    table(
        [*heading, "single influences: precision, recall"],
        [
            [
                name,
                share(audit["precision"]),
                share(audit["recall"]),
                beside(audit, "sign", share),
                beside(audit, "size_error", percent),
                beside(audit, "best_action", share),
                ", ".join(share(audit["influence"][key]) for key in ("precision", "recall")),
            ]
            for name, audit in audits
        ],
    )
    sure = ["sure", "likely", "a guess"]
    heading = ["agent", "reward differences: drawn", "audited", "values: drawn", "audited", "told"]
    table(
        [*heading, *(f"right when *{word}*" for word in sure)],
        [
            [
                name,
                *(share(audit[key]) for key in ("worth_held_raw", "worth_held", "value_held_raw", "value_held", "told")),
                *(f"{share(audit['certainty'][word]['sign'])} of {audit['certainty'][word]['cases']}" for word in sure),
            ]
            for name, audit in audits
        ],
    )


if __name__ == "__main__":
    main()
