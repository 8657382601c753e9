"""Every number as a table, and as text that a spreadsheet takes for numbers and words only."""

from __future__ import annotations

import csv as reader
import io
import math

import numpy as np
import pandas as pd
import pytest

from attnviz import Config, run
from attnviz.analysis import statistics
from attnviz.analysis.statistics import STATISTICS
from attnviz.exports import tables
from attnviz.text import step_names
from attnviz.text.cost_ledger import ledger
from tests.support.cases import for_each

REPEATED = "the cat the cat the"
RAGGED = {"sentence": "a b c", "second_sentence": "x y", "n_heads": 4, "n_kv_heads": 2, "d_k": (3, 2), "d_v": (1, 2)}


def tokens(trace):
    return trace.query_tokens, trace.key_tokens


@pytest.mark.parametrize(
    "settings", [{"sentence": REPEATED}, RAGGED, RAGGED | {"score": "general", "projection_bias": True}]
)
def test_a_tidy_table_holds_every_true_number_at_its_position_exactly(settings):
    trace = run(Config(**settings))
    for step in step_names.steps(trace, 0).values():
        frame = tables.tidy(step, *tokens(trace))
        true = [step.head(h) for h in range(len(step.array))] if step.axes[0].endswith("head") else [step.array]
        assert len(frame) == sum(part.size for part in true)
        axes = [name for name in frame.columns if name != "value" and not name.endswith("_token")]
        assert len(axes) == step.array.ndim
        at = tuple(frame[name].to_numpy() - 1 for name in axes)
        assert (frame["value"].to_numpy() == step.array[at]).all()
        assert len(frame.drop_duplicates(axes)) == len(frame)


def test_a_tidy_table_knows_tokens_by_position_and_text():
    trace = run(Config(**RAGGED))
    frame = tables.tidy(trace["weights"], *tokens(trace))
    assert list(frame.columns) == ["head", "query", "query_token", "key", "key_token", "value"]
    row = frame[(frame["head"] == 3) & (frame["query"] == 2) & (frame["key"] == 1)].iloc[0]
    assert (row["query_token"], row["key_token"], row["value"]) == ("b", "x", trace["weights"].array[2, 1, 0])


def test_repeated_tokens_stay_apart_in_a_matrix():
    trace = run(Config(sentence=REPEATED, mask="causal"))
    frame = tables.matrix(trace["weights"], *tokens(trace), head=1)
    assert list(frame.index) == list(frame.columns) == ["1 the", "2 cat", "3 the", "4 cat", "5 the"]
    assert (frame.index.name, frame.columns.name) == ("query", "key")
    np.testing.assert_array_equal(frame.to_numpy(), trace["weights"].array[1])
    assert frame.loc["3 the", "1 the"] == trace["weights"].array[1, 2, 0]


def test_a_matrix_shows_true_columns_and_leaves_the_run_alone():
    trace = run(Config(**RAGGED, projection_bias=True))
    frame = tables.matrix(trace["queries"], *tokens(trace), head=3)
    assert list(frame.index) == ["1 a", "2 b", "3 c"]
    assert list(frame.columns) == ["1", "2"]
    frame.iloc[0, 0] = 1e9
    assert trace["queries"].array[3, 0, 0] != 1e9
    assert tables.matrix(trace["b_q"], *tokens(trace), head=0).shape == (1, 3)
    assert tables.matrix(trace["keys"], *tokens(trace), head=1).shape == (2, 2)
    assert tables.matrix(trace["output"], *tokens(trace)).shape == (3, 16)
    with pytest.raises(IndexError):
        tables.matrix(trace["keys"], *tokens(trace), head=2)


def test_statistics_of_rows_and_heads():
    trace = run(Config(sentence=REPEATED, mask="causal", n_heads=3))
    A = trace["weights"].array
    rows, heads = tables.row_statistics(trace, 0), tables.head_statistics(trace, 0)
    assert (len(rows), len(heads)) == (15, 3)
    for name, values in statistics.of_rows(A).items():
        label = STATISTICS[name].label
        np.testing.assert_array_equal(rows[label].to_numpy().reshape(3, 5), values)
        wanted = values.max(axis=1) if name == "largest" else [np.mean(head[~np.isnan(head)]) for head in values]
        np.testing.assert_allclose(heads[label], wanted, rtol=0, atol=1e-15)
    assert rows["Keys it may attend to"].tolist() == [1, 2, 3, 4, 5] * 3
    assert rows["query"].tolist() == ["1 the", "2 cat", "3 the", "4 cat", "5 the"] * 3
    assert rows["Largest weight at"][0] == "1 the"
    i, j = np.unravel_index(A[2].argmax(), (5, 5))
    assert heads["Largest weight at"][2] == f"{rows['query'][i]} → {rows['query'][j]}"


def test_statistics_of_cross_attention_leave_out_positions():
    rows = tables.row_statistics(run(Config(sentence="a b", second_sentence="x y")), 0)
    for row in STATISTICS.values():
        assert rows[row.label].isna().all() == row.self_only


def test_a_query_that_looks_at_nothing_points_nowhere():
    trace = run(Config(sentence="a b", mask="custom", custom_cells="2: 1", n_heads=1))
    rows = tables.row_statistics(trace, 0)
    assert rows["Largest weight at"].tolist() == ["", "1 a"]
    assert rows["Effective number of keys"].tolist() == [0, 1]
    assert tables.head_statistics(trace, 0)["Largest weight at"].tolist() == ["2 b → 1 a"]
    nowhere = run(Config(sentence="a", mask="no_self", n_heads=1))
    assert tables.head_statistics(nowhere, 0)["Largest weight at"].tolist() == [""]


def test_sums_of_columns_by_key():
    trace = run(Config(**RAGGED))
    frame = tables.column_sums(trace, 0)
    assert list(frame.columns) == ["1 x", "2 y"]
    np.testing.assert_allclose(frame.to_numpy(), trace["weights"].array.sum(axis=1))


def test_rollout_up_to_a_layer():
    trace = run(Config(sentence=REPEATED, n_layers=3, residual=True))
    weights = [layer["weights"].array for layer in trace.layers]
    np.testing.assert_array_equal(tables.rollout(trace, 1), statistics.rollout(weights[:2])[-1])
    bare = run(Config(sentence=REPEATED, n_layers=2))
    weights = [layer["weights"].array for layer in bare.layers]
    np.testing.assert_array_equal(tables.rollout(bare, 1), statistics.rollout(weights, residual=False)[-1])
    assert tables.rollout(run(Config(**RAGGED)), 0) is None


def test_the_ledger_as_a_table():
    whole = ledger(run(Config()), 0)
    frame = tables.of_ledger(whole)
    assert frame["step"].tolist() == [row.name for row in whole.rows] + [""]
    assert frame["multiply-adds"].tolist() == [row.n_multiply_adds for row in whole.rows] + [whole.n_multiply_adds]
    assert frame["parameters"].iloc[-1] == whole.n_parameters == 4 * 16 * 16
    named = tables.axes(whole).set_index("axis")["meaning"]
    assert set(named.index) == {axis for row in whole.rows for axis, _, _ in row.axes}
    assert named["d_k"] == "the width of queries and keys"


# CSV -----------------------------------------------------------------------------------------------------------------

HOSTILE = ["=1+1", "+1", "-1", "@SUM(A1)", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠a", "−1"]
HARMLESS = ["the", "1=1", "a-b", "'", '"', ",", "", "é", "👩‍👩‍👧", " x"]


def read(text):
    return list(reader.reader(io.StringIO(text, newline="")))


@for_each("token", HOSTILE)
def test_text_that_looks_like_a_formula_is_quoted_wherever_it_stands(token):
    cell = pd.DataFrame({"token": [token], "value": [1.5]})
    assert read(tables.csv(cell)) == [["token", "value"], [f"'{token}", "1.5"]]
    label = pd.DataFrame([[1.5]], index=pd.Index([token], name="query"), columns=[token])
    assert read(tables.csv(label)) == [["query", f"'{token}"], [f"'{token}", "1.5"]]


@for_each("token", HARMLESS)
def test_other_text_comes_back_as_it_was(token):
    assert read(tables.csv(pd.DataFrame({"token": [token], "n": [1]})))[1] == [token, "1"]


def test_numbers_are_never_quoted_and_come_back_exactly():
    numbers = [-0.1, 1 / 3, -1e-300, 2.0**-1074, 1e22, -math.inf, math.nan, -5.0]
    text = [row[0] for row in read(tables.csv(pd.DataFrame({"value": numbers})))[1:]]
    np.testing.assert_array_equal([float(cell) for cell in text], numbers)
    mixed = pd.DataFrame({"mixed": [-1.5, "-1.5", -2]}, dtype=object)
    assert [row[0] for row in read(tables.csv(mixed))[1:]] == ["-1.5", "'-1.5", "-2"]


def test_every_table_of_a_hostile_sentence_is_safe():
    trace = run(Config(sentence="=1+1 @a -b the the", tokeniser="whitespace", n_layers=2, residual=True, mask="causal"))
    frames = [tables.tidy(step, *tokens(trace)) for step in step_names.steps(trace, 0).values()]
    frames += [tables.matrix(step, *tokens(trace)) for step in step_names.steps(trace, 1).values()]
    frames += [tables.row_statistics(trace, 0), tables.head_statistics(trace, 0), tables.column_sums(trace, 0)]
    frames += [tables.rollout(trace, 1), tables.of_ledger(ledger(trace, 0)), tables.axes(ledger(trace, 0))]
    for frame in frames:
        lines = read(tables.csv(frame))
        assert len({len(line) for line in lines}) == 1
        for cell in (cell for line in lines for cell in line):
            assert not cell.startswith(tables.FORMULA_STARTS) or math.isfinite(float(cell)) or cell == "-inf"


def test_the_exact_weights_come_back_from_the_csv():
    trace = run(Config(sentence=REPEATED, mask="causal"))
    frame = tables.tidy(trace["masked"], *tokens(trace))
    back = [float(line[-1]) for line in read(tables.csv(frame))[1:]]
    np.testing.assert_array_equal(back, trace["masked"].array.ravel())


@for_each("split", [";", "\t", "|"])
@for_each("start", ["=1+1", "+1", "-1", "@A1"])
def test_no_cell_is_a_formula_where_lists_are_split_at_another_sign(split: str, start: str) -> None:
    for token in (f"{split}{start}", f"a{split} {start}", f"a{split}{split}{start}"):
        text = tables.csv(pd.DataFrame({"token": [token], "value": [1.5]}))
        for cell in text.splitlines()[1].strip('"').split(split):
            assert not cell.strip(' "').startswith(("=", "+", "-", "@")), (token, text)
