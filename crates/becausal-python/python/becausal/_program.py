"""The program, with Gymnasium's environments and the agents of other libraries.

Most commands are the program's own. Three things are added to it here: `gym:ID` wherever an environment is asked for,
`--policy agent.zip` or `agent.onnx`, and, in every run that was recorded in a Gymnasium environment, that environment.
"""

from __future__ import annotations

import argparse
import ast
import json
import signal
import sys
import threading
from typing import Any, Optional

from . import _becausal
from ._errors import Error

_AGENTS = (".zip", ".onnx")

_COMMANDS = {
    "audit", "check", "collect", "demo", "discover", "envs", "explain", "fit", "help", "replay", "report", "reproduce",
    "train",
}  # fmt: skip


def main(arguments: list[str]) -> int:
    """Runs the program and returns its exit code."""
    command = next((word for word in arguments if word in _COMMANDS), "")
    foreign = next((word for word in arguments if word.startswith("gym:")), None)
    if foreign is not None and command in ("collect", "envs"):
        try:
            return _collect(arguments) if command == "collect" else _describe(foreign, arguments)
        except Error as error:
            return _fail(str(error), "--json" in arguments)
        except Exception as error:
            # Of Gymnasium or of the environment, such as a package that is not installed.
            return _fail(f"{foreign}: {type(error).__name__}: {error}", "--json" in arguments)
        except KeyboardInterrupt:
            print("stopped, nothing was written", file=sys.stderr)
            return 130
    if foreign is not None:
        return _fail(
            f"`{command}` needs a built-in environment; of Gymnasium's, `collect` records one and `envs` shows its variables",
            "--json" in arguments,
            2,
        )
    policy: Optional[str] = None
    if command in ("audit", "explain", "report"):
        arguments, policy = _without_policy(arguments)

    def complete(run: _becausal.Run) -> _becausal.Run:
        from ._front import completed

        return completed(run, None, policy, None)

    if threading.current_thread() is not threading.main_thread():
        return _becausal.main(["becausal", *arguments], complete)
    # The program has its own way with Ctrl-C; Python would only hear it when the command is done.
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return _becausal.main(["becausal", *arguments], complete)
    finally:
        signal.signal(signal.SIGINT, before)


def _without_policy(arguments: list[str]) -> tuple[list[str], Optional[str]]:
    """Takes `--policy agent.zip` out of the arguments: the program does not know such files."""
    rest: list[str] = []
    policy: Optional[str] = None
    at = 0
    while at < len(arguments):
        word = arguments[at]
        value = arguments[at + 1] if word == "--policy" and at + 1 < len(arguments) else word.removeprefix("--policy=")
        if word.startswith("--policy") and value.endswith(_AGENTS):
            policy = value
            at += 2 if word == "--policy" else 1
            continue
        rest.append(word)
        at += 1
    return rest, policy


def _fail(words: str, is_json: bool, code: int = 1) -> int:
    if is_json:
        kind = "usage" if code == 2 else "failed"
        print(json.dumps({"error": {"message": words, "advice": None, "kind": kind, "exit_code": code}}))
    else:
        print(f"error: {words}", file=sys.stderr)
    return code


def _option(text: str) -> tuple[str, Any]:
    name, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, {"true": True, "false": False}.get(value, value)


def _made(id: str, options: dict[str, Any]) -> Any:
    if not options:
        return id
    import gymnasium

    bare = id.removeprefix("gym:")
    return gymnasium.make(bare, **options)


def _collect(arguments: list[str]) -> int:
    from ._record import record

    parser = argparse.ArgumentParser(prog="becausal", description="Record transitions of a Gymnasium environment.")
    parser.add_argument("command")
    parser.add_argument("env", metavar="gym:ID")
    parser.add_argument("-n", "--rows", type=int, default=20_000)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--policy", default="random", help="random, or the path of a .zip (SB3; a pickle: loading it runs code), .onnx or run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--env-option", type=_option, action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--threads", type=int, help="for the other commands: environments are stepped by one thread")
    parser.add_argument("--memory", help="for the other commands")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("-q", "--quiet", action="store_true")
    given = parser.parse_args(arguments)
    env = _made(given.env, dict(given.env_option))
    log = record(env, given.policy, rows=given.rows, seed=given.seed, progress=False if given.quiet else None)
    log.save(given.output)
    told = {
        "environment": given.env,
        "seed": given.seed,
        "file": given.output,
        "rows": len(log),
        "episodes": log.episodes,
        "terminated": int(log.to_dict()["terminated"].sum()),
    }
    if given.json:
        print(json.dumps(told))
    else:
        print(
            f"{given.output}: {len(log):,} transitions of {given.env} in {log.episodes:,} episodes, "
            f"{told['terminated']:,} of them ended by its rules"
        )
    return 0


def _describe(id: str, arguments: list[str]) -> int:
    schema = _becausal.Schema.of(id)
    if "--json" in arguments:
        print(
            json.dumps(
                {
                    "name": schema.name,
                    "columns": [column for column in schema.columns if column["role"] != "next"],
                    "rewards": schema.rewards,
                    "end": schema.end,
                }
            )
        )
        return 0
    print(schema.to_toml(), end="")
    return 0
