"""Data in and out."""

from __future__ import annotations

import numpy as np
import pytest

import becausal

HOVER = becausal.Schema(
    """
name = "Hover"
[state]
height = { kind = "continuous" }
legs = { kind = "boolean", size = 2 }
[action]
engine = { kind = "categorical", labels = ["off", "on"] }
[reward]
near = "-abs(height' - 10)"
"""
)


def columns(**changed):
    data = {
        "episode": [0, 0, 0, 1, 1],
        "height": [0.0, 1.0, 2.0, 5.0, 6.0],
        "legs": np.array([[1, 0], [0, 0], [0, 0], [1, 1], [0, 0]]),
        "engine": ["on", "on", "off", "off", "on"],
    }
    return data | changed


def test_columns_become_transitions() -> None:
    log = becausal.read(columns(), schema=HOVER)
    assert len(log) == 3 and log.episodes == 2
    out = log.to_dict()
    assert out["height"].tolist() == [0.0, 1.0, 5.0]
    assert out["height'"].tolist() == [1.0, 2.0, 6.0]
    assert out["engine"].tolist() == ["on", "on", "off"]
    assert out["legs[0]"].tolist() == [True, False, True]
    assert any("next state is taken from the row after" in note for note in log.notes)


@pytest.mark.parametrize(
    "data, words",
    [
        (columns(height=[0.0, np.nan, 2.0, 5.0, 6.0]), "the first in row 2"),
        (columns(engine=["on", "on", "of", "off", "on"]), "row 3 (index 2), column `engine`"),
        (columns(altitude=[1, 2, 3, 4, 5]), "column `altitude` is not in the schema"),
        ({k: v for k, v in columns().items() if k != "engine"}, "column `engine` is missing"),
        (columns(height=[0.0, 1.0]), "column `height` has 2 rows"),
        (columns(height=[0.0, np.inf, 2.0, 5.0, 6.0]), "not a finite number"),
        (columns(height=np.zeros((5, 1, 1))), "3 axes"),
        (columns(height=np.arange(5).astype("datetime64[ns]")), 'expected a number, got the text "1970-01-01'),
        ({name: [] for name in columns()} | {"legs": np.zeros((0, 2))}, "no rows"),
    ],
)
def test_data_that_do_not_fit_are_refused_with_row_and_column(data, words) -> None:
    with pytest.raises(becausal.DataError) as raised:
        becausal.read(data, schema=HOVER)
    assert words in str(raised.value)


def test_a_frame_with_two_columns_of_one_name_is_refused() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"height": [0.0, 1.0], "engine": ["on", "off"], "episode": [0, 0]})
    with pytest.raises(becausal.DataError, match="several columns are called `height`"):
        becausal.read(pandas.concat([frame, frame[["height"]]], axis=1), schema=HOVER)


def test_missing_cells_are_dropped_where_asked() -> None:
    data = columns(height=[0.0, np.nan, 2.0, 5.0, 6.0])
    log = becausal.read(data, schema=HOVER, missing="drop")
    assert len(log) == 1
    with pytest.raises(ValueError, match="missing"):
        becausal.read(data, schema=HOVER, missing="guess")


def test_columns_need_a_schema() -> None:
    with pytest.raises(ValueError, match="schema"):
        becausal.read(columns())
    with pytest.raises(ValueError, match="cannot read int"):
        becausal.read(3)


def test_frames_of_pandas_and_polars() -> None:
    flat = {k: v for k, v in columns().items() if k != "legs"}
    flat["legs[0]"] = [True, False, False, True, False]
    flat["legs[1]"] = [0, 0, 0, 1, 0]
    expected = becausal.read(flat, schema=HOVER).to_dict()
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(flat)
    logs = [becausal.read(frame, schema=HOVER)]
    frame["engine"] = frame["engine"].astype("category")
    logs.append(becausal.read(frame, schema=HOVER))
    polars = pytest.importorskip("polars")
    logs.append(becausal.read(polars.DataFrame(flat), schema=HOVER))
    for log in logs:
        for name, values in log.to_dict().items():
            assert values.tolist() == expected[name].tolist(), name
    frame = logs[0].to_pandas()
    assert list(frame["engine"]) == ["on", "on", "off"]
    again = becausal.read(frame, schema=HOVER)
    assert again.to_dict()["height'"].tolist() == [1.0, 2.0, 6.0]


def test_the_index_of_a_pandas_frame_is_no_variable(tmp_path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = becausal.read(columns(), schema=HOVER).to_pandas().set_index(pandas.Index(["a", "b", "c"]))
    frame.to_parquet(tmp_path / "log.parquet")
    assert "__index_level_0__" in (tmp_path / "log.parquet").read_bytes().decode("latin1")
    assert len(becausal.read(tmp_path / "log.parquet", schema=HOVER)) == 3


def test_graphs_become_frames_and_networks(run) -> None:
    assert {pair["verdict"] for pair in run.graph.pairs} <= {"edge", "none", "untestable"}
    pandas = pytest.importorskip("pandas")
    edges = run.graph.edges
    assert isinstance(edges, pandas.DataFrame) and len(edges) == 6
    pytest.importorskip("networkx")
    network = run.graph.to_networkx()
    assert network.has_edge("device", "temperature'")
    assert network.edges["device", "temperature'"]["strength"] > 0.5


def test_a_million_rows_go_in_quickly() -> None:
    import time

    rows = 1_000_000
    data = {
        "episode": np.repeat(np.arange(rows // 1000), 1000),
        "height": np.random.default_rng(0).normal(size=rows),
        "legs": np.zeros((rows, 2), dtype=bool),
        "engine": np.zeros(rows, dtype=np.int64),
    }
    begun = time.monotonic()
    log = becausal.read(data, schema=HOVER)
    assert len(log) == rows - rows // 1000
    assert time.monotonic() - begun < 10


ROAD = """name = "Road"
[state]
x = { kind = "continuous" }
[action]
go = { kind = "categorical", labels = ["slow", "fast"] }
[reward]
pay = "100"
far = "x'"
[termination]
when = "x' > 18"
"""


@pytest.mark.parametrize("last", [8.0, 18.0], ids=["cut short", "ended"])
def test_where_a_record_ends_is_no_difference(last) -> None:
    """Every step pays 100. Nobody knows what follows the last one, so the other course does not earn 100 more or less."""
    random = np.random.default_rng(0)
    data: dict[str, list] = {"episode": [], "x": [], "go": [], "x'": [], "terminated": []}
    for episode in range(60):
        x = 0.0
        while x <= last:
            go = int(random.integers(2))
            then = x + 1 + go
            for name, value in zip(data, (episode, x, go, then, then > 18)):
                data[name].append(value)
            x = then
    log = becausal.read({name: np.array(values) for name, values in data.items()}, schema=becausal.Schema(ROAD))
    run = becausal.fit(log, members=1, steps=200)
    steps = int(np.sum(np.array(data["episode"]) == 3))
    for step in (steps - 3, steps - 1):
        moment = run.recorded(3, step)
        # The slower one never ends earlier.
        if moment.action["go"] == "fast":
            for horizon in (None, 16):
                text = run.why_not(moment, "slow", horizon=horizon).text
                assert "for pay" not in text and "pay +" not in text and "pay -" not in text, text
