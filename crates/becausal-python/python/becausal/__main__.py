"""`python -m becausal`: the program."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the program with the arguments of this process."""
    from . import _program

    return _program.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
