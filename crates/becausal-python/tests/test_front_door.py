"""The front door: read, fit, ask, save, open."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

import becausal


def test_questions_are_answered_in_words_pictures_and_json(run) -> None:
    moment = run.recorded(26, 20)
    for answer in (
        run.why(moment),
        run.why_not(moment, "off", horizon=3),
        run.what_if(moment, {"temperature": 25}),
        run.why((26, 20), rewards="comfort"),
    ):
        assert answer.sentence in str(answer)
        assert answer.svg.startswith("<svg ")
        assert answer.png(1.0).startswith(b"\x89PNG")
        assert answer.dot.startswith("digraph")
        assert json.loads(answer.json)
        html = answer._repr_html_()
        assert "<svg " in html and "<script" not in html
        assert answer.sentence in answer.details
    assert run.why(moment).waterfall.startswith("<svg ")
    assert run.why_not(moment, "off").waterfall.startswith("<svg ")


def test_the_papers_method_is_a_keyword(log, run, tmp_path) -> None:
    paper = becausal.fit(log, preset="paper", members=2, steps=60)
    assert (paper.preset, paper.method) == ("paper", "fcit")
    paper.save(tmp_path / "paper")
    assert becausal.open(tmp_path / "paper").preset == "paper"
    # A run of the paper's preset is explained by attention, the same in every state.
    assert paper.why((26, 20)) == paper.why((26, 20), preset="paper", influence="attention")
    assert (run.preset, run.method) == ("default", "auto")
    by = {how: run.why((26, 20), influence=how).json for how in ("state", "effect", "attention")}
    assert by["state"] == run.why((26, 20)).json and len(set(by.values())) == 3
    assert becausal.discover(log, method="fcit").json != becausal.discover(log).json


def test_decisions_worth_a_look_are_found(run) -> None:
    costly = run.find("costly", count=3)
    assert 0 < len(costly) <= 3 and costly[0]["amount"] >= costly[-1]["amount"] > 0
    assert costly[0]["sentence"].startswith("Because ")
    assert run.find("surprising", count=1)[0]["episode"] is not None
    assert run.find("close") == [], "nobody knows its policy"
    with pytest.raises(ValueError, match="costly, mistakes, close, surprising"):
        run.find("boring")
    with pytest.raises(becausal.MissingError, match="policy"):
        run.until_action(run.recorded(26, 20), "off")


def test_a_run_is_shown_in_the_browser(run) -> None:
    view = run.view(open=False)
    with urllib.request.urlopen(view.address) as page:
        assert b"<html" in page.read()
    address = view.address.split("#")[0].split("?")[0]
    view.stop()
    view.stop()
    with pytest.raises(OSError):
        urllib.request.urlopen(address, timeout=2)


def test_a_run_survives_its_folder(run, tmp_path) -> None:
    run.save(tmp_path / "run")
    again = becausal.open(tmp_path / "run")
    moment = run.recorded(26, 20)
    assert again.why(moment) == run.why(moment)
    assert str(again.graph) == str(run.graph)
    assert again.path == tmp_path / "run"
    assert run.path is None


def test_answers_are_those_of_the_program(greenhouse, tmp_path) -> None:
    def program(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "becausal", *words], cwd=greenhouse, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    folder = str(tmp_path / "run")
    common = ["--schema", "schema.toml", "--ignore", "timestamp"]
    program("fit", "log.csv", *common, "--members", "2", "--steps", "200", "--seed", "4", "-o", folder)
    theirs = program("explain", folder, "--episode", "26", "--step", "20", "--why-not", "off")
    log = becausal.read(greenhouse / "log.csv", schema=greenhouse / "schema.toml", ignore="timestamp")
    ours = becausal.fit(log, members=2, steps=200, seed=4)
    assert ours.why_not(ours.recorded(26, 20), "off").text == theirs.rstrip("\n") or (
        ours.why_not(ours.recorded(26, 20), "off").text.strip() == theirs.strip()
    )
    ours.save(tmp_path / "ours")
    for name in ("graph.json", "data.parquet"):
        assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "run" / name).read_bytes(), name
    weights = [sorted(p.read_bytes() for p in (tmp_path / who / "world-model").glob("weights*")) for who in ("ours", "run")]
    assert weights[0] and weights[0] == weights[1]


def test_the_program_says_what_is_wrong_by_its_exit_code() -> None:
    done = subprocess.run([sys.executable, "-m", "becausal", "nonsense"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "nonsense" in done.stderr
    done = subprocess.run([sys.executable, "-m", "becausal", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and becausal.__version__ in done.stdout


@pytest.mark.parametrize(
    "wrong, error, words",
    [
        (lambda run, log: run.why_not(run.recorded(26, 20), "of"), ValueError, "did you mean `off`"),
        (lambda run, log: run.why_not(run.recorded(26, 20), "heat"), ValueError, "nothing to compare"),
        (lambda run, log: run.recorded(60, 0), ValueError, "there is no episode 60"),
        (lambda run, log: run.why((0, 10_000)), ValueError, "there is no step"),
        (lambda run, log: run.why("now"), ValueError, "expected a moment"),
        (lambda run, log: run.why((0, 0), horizon=0), ValueError, "horizon"),
        (lambda run, log: run.why((0, 0), rewards="joy"), ValueError, "joy"),
        (lambda run, log: run.play(0), becausal.MissingError, "no policy"),
        (lambda run, log: run.audit(), becausal.MissingError, "no environment"),
        (lambda run, log: run.graph.parents("humidity"), ValueError, "humidity'"),
        (lambda run, log: run.graph.with_eta(2), ValueError, "from 0 to 1"),
        (lambda run, log: run.report("/nowhere/report.html", steps=1), OSError, "/nowhere"),
        (lambda run, log: becausal.fit(log, members=0), ValueError, "`members` is 0"),
        (lambda run, log: becausal.fit(log, model="best"), ValueError, "`model`"),
        (lambda run, log: becausal.fit(log, preset="papr"), ValueError, "did you mean `paper`"),
        (lambda run, log: becausal.fit(log, method="magic"), ValueError, "`method`"),
        (lambda run, log: becausal.discover(log, method="magic"), ValueError, "`method`"),
        (lambda run, log: run.why((0, 0), influence="atention"), ValueError, "did you mean `attention`"),
        (lambda run, log: becausal.fit(log, progress=3), ValueError, "`progress`"),
        (lambda run, log: becausal.read("none.csv"), FileNotFoundError, "none.csv"),
        (lambda run, log: becausal.open("none"), FileNotFoundError, "none"),
        (lambda run, log: becausal.Schema.read("none.toml"), FileNotFoundError, "none.toml"),
        (lambda run, log: becausal.Schema("[state]\nx = 3"), becausal.SchemaError, "line 2"),
        (lambda run, log: run.play(-1), ValueError, "the seed is -1, expected"),
        (lambda run, log: run.audit(seed=2**64), ValueError, "the seed is 18446744073709551616, expected"),
        (lambda run, log: becausal.fit(log, seed=0.5), ValueError, "the seed is 0.5, expected"),
        (lambda run, log: becausal.discover(log, seed="1"), ValueError, "the seed is '1', expected"),
        (lambda run, log: becausal.train("LunarLander-v3", "none", options={"gravity": True}), ValueError, "true"),
        (lambda run, log: run.recorded(-1, 0), ValueError, "-1 where a whole number is expected"),
        (lambda run, log: run.why((0, -1)), ValueError, "-1 where a whole number is expected"),
        (lambda run, log: run.why((0, 0), horizon=-1), ValueError, "-1 where a whole number is expected"),
        (lambda run, log: run.audit(states=1.5), ValueError, "1.5 where a whole number is expected"),
        (lambda run, log: becausal.fit(log, steps=-5), ValueError, "-5 where a whole number is expected"),
        (lambda run, log: becausal.record("CartPole-v1", rows="many"), ValueError, "`rows` is 'many'"),
        (lambda run, log: becausal.record("CartPole-v1", rows=1.5), ValueError, "`rows` is 1.5"),
    ],
)
def test_what_is_wrong_is_said(wrong, error, words, run, log) -> None:
    with pytest.raises(error) as raised:
        wrong(run, log)
    assert words in str(raised.value)
    assert isinstance(raised.value, becausal.Error)


def test_a_model_is_made_afterwards_for_an_agent_that_exists(log, tmp_path) -> None:
    small = (
        "warm_up = 150\nepoch_steps = 50\nmembers = 1\nmodel_width = 8\nfit_steps_first = 20\nfit_steps = 20\nrounds = 2\n"
        "samples = 256\nevaluation_episodes = 3\nfinal_episodes = 3\nfinal_fit_steps = 20\nfinal_rows = 300"
    )
    agent = becausal.train("CartPole-v1", tmp_path / "agent", steps=300, settings=small, progress=False)
    quick = {"members": 1, "steps": 40, "progress": False}
    alone = becausal.fit(agent.data, **quick)
    assert not alone.has_policy and alone.policy_owner is None
    for given in (tmp_path / "agent", str(tmp_path / "agent" / "policy"), agent):
        run = becausal.fit(agent.data, policy=given, **quick)
        assert run.policy_owner is not None
        assert run.play(3).reward == agent.play(3).reward
    run.save(tmp_path / "run")
    again = becausal.open(tmp_path / "run")
    assert again.play(3).reward == agent.play(3).reward, "the policy is kept in the folder"
    assert again.audit(states=3, progress=False).cases
    assert alone.audit(states=3, policy=tmp_path / "agent", progress=False).cases
    with pytest.raises(becausal.Error, match="the policy is for CartPole-v1"):
        becausal.fit(log, policy=tmp_path / "agent", **quick)
    # A Python agent in the place of one of ours.
    other = becausal.fit(agent.data, policy=lambda observation: 0, **quick)
    assert {step["push"] for step in _actions(other.play(3))} == {"left"}


def _actions(episode: becausal.Episode) -> list[dict[str, object]]:
    return [episode.at(step).action for step in range(len(episode))]


def test_what_a_listener_raises_stops_the_work(log) -> None:
    class Enough(Exception):
        pass

    heard = []

    def listen(task, done, total, unit, note):
        heard.append(task)
        raise Enough(task)

    begun = time.monotonic()
    with pytest.raises(Enough):
        becausal.fit(log, steps=100_000, members=50, progress=listen)
    assert len(heard) == 1, "it is not called again"
    assert time.monotonic() - begun < 60


def test_progress_is_heard(log) -> None:
    heard = []
    becausal.fit(log, members=2, steps=300, progress=lambda *told: heard.append(told))
    assert heard
    for task, done, total, unit, _ in heard:
        assert task and unit and 0 <= done <= total


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name == "nt", reason="needs signals")
def test_ctrl_c_stops_a_fit(greenhouse) -> None:
    code = (
        "import becausal\n"
        "log = becausal.read('log.csv', schema='schema.toml', ignore='timestamp')\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    becausal.fit(log, steps=100_000, members=200)\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped', flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=greenhouse, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out == "stopped\n"
    assert process.returncode == 0


def ends(child: int) -> bool:
    """Whether a process ends within a minute; it is killed if it does not."""
    begun = time.monotonic()
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.monotonic() - begun > 60:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return False
        time.sleep(0.05)
    return True


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_can_work(run) -> None:
    moment = run.recorded(26, 20)
    expected = run.why(moment).text
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            same = run.why(moment).text == expected
            os.write(writer, b"same" if same else b"other")
        finally:
            os._exit(0)
    assert ends(child), "the forked process hangs"
    assert os.read(reader, 10) == b"same"
    os.close(reader)
    os.close(writer)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_can_end_while_its_parent_serves(run) -> None:
    view = run.view(open=False)
    child = os.fork()
    if child == 0:
        view.stop()
        os._exit(0)
    assert ends(child), "the forked process hangs"
    with urllib.request.urlopen(view.address) as page:
        assert page.status == 200, "the parent still serves"
    view.stop()


def test_threads_get_the_same_answers(run) -> None:
    moment = run.recorded(26, 20)
    expected = run.why(moment).text
    answers: list[str] = []
    threads = [
        threading.Thread(target=lambda: answers.extend(run.why(moment).text for _ in range(20)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 80


def test_a_schema_can_be_pickled_and_compared(log) -> None:
    again = pickle.loads(pickle.dumps(log.schema))
    assert again == log.schema
    assert again.to_toml() == log.schema.to_toml()


def test_a_log_is_written_and_read_again(log, tmp_path) -> None:
    for ending in ("csv", "parquet", "npz"):
        file = tmp_path / f"again.{ending}"
        log.save(file)
        again = becausal.read(file)
        assert len(again) == len(log) and again.schema == log.schema


def test_import_loads_nothing_heavy() -> None:
    code = (
        "import sys, becausal\n"
        "heavy = {'gymnasium', 'torch', 'pandas', 'IPython', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_report_is_one_page(run, tmp_path: Path) -> None:
    run.report(tmp_path / "report.html", steps=2)
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!") and "</html>" in page


def test_scores_say_how_random_a_value_is(run) -> None:
    scores = run.scores()
    assert set(scores) == set(run.graph.effects)
    for score in scores.values():
        assert set(score) == {"error", "change_error", "explained", "log_likelihood", "coverage", "chance"}
    # All variables of the greenhouse are numbers, which have no most likely label.
    assert scores["temperature'"]["chance"] is None


def test_the_program_can_be_run_several_times_in_one_process(greenhouse, tmp_path, capfd) -> None:
    from becausal import _program

    before = signal.getsignal(signal.SIGINT)
    words = ["discover", str(greenhouse / "log.csv"), "--schema", str(greenhouse / "schema.toml"), "--ignore", "timestamp"]
    words += ["-o", str(tmp_path / "graph.json")]
    told = []
    for threads in ("1", "2", "3"):
        assert _program.main([*words, "--threads", threads]) == 0
        told.append(capfd.readouterr().out)
    assert "6 edges" in told[0] and len(set(told)) == 1
    assert signal.getsignal(signal.SIGINT) is before
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(_program.main([*words, "--threads", "2"])))
    thread.start()
    thread.join()
    assert codes == [0]
