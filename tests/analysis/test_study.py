"""What heads do over many texts, against loops in plain Python and matrices over the whole vocabulary."""

from __future__ import annotations

import math
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import STATISTICS, Config, ConfigError, Trace, compare, head_kinds, load, run, study
from attnviz.analysis.special_tokens import SPECIAL
from attnviz.models.model import Model

MODELS = Path(__file__).parents[1] / "models"
TEXTS = ("the king and the queen saw the king", "a cat", "she saw a dog and a cat and a dog")


def by_hand(traces: list[Trace], layer: int, head: int) -> dict[str, float]:
    """The measures of one head, number by number."""
    found: dict[str, list[float]] = {}
    for trace in traces:
        A, ids = trace.layers[layer]["weights"].array[head].tolist(), trace.token_ids or trace.query_tokens
        words = [j for j, token in enumerate(trace.query_tokens) if token not in SPECIAL]
        for i, row in enumerate(A):
            total = sum(row)
            p = [x / total for x in row]
            found.setdefault("entropy", []).append(-sum(x * math.log(x) for x in p if x))
            found.setdefault("effective_keys", []).append(math.exp(found["entropy"][-1]))
            found.setdefault("largest", []).append(max(row))
            found.setdefault("mean_distance", []).append(sum(x * abs(i - j) for j, x in enumerate(p)))
            found.setdefault("share_on_self", []).append(p[i])
            found.setdefault("share_on_first", []).append(p[0])
            if i:
                found.setdefault("share_on_previous", []).append(p[i - 1])
            if i in words and len(words) < len(row):
                found.setdefault("special_tokens", []).append(sum(x for j, x in enumerate(p) if j not in words))
            same = [j for j in range(i) if ids[j] == ids[i]]
            if same:
                found.setdefault("duplicate", []).append(sum(row[j] for j in same))
            if after := [j + 1 for j in same if j + 1 < i]:
                found.setdefault("induction", []).append(sum(row[j] for j in after))
    return {name: sum(each) / len(each) for name, each in found.items()}


def copying_by_hand(model: Model, trace: Trace, layer: int, head: int) -> float:
    """The same eigenvalues from the other side: of the circuit as a map of the model's own vectors."""
    steps, last = trace.layers[layer], trace.layers[-1]
    centred = (lambda x: x - x.mean(axis=-1, keepdims=True)) if model.facts.centred else (lambda x: x)
    x = centred(np.asarray(model.token_table, float)) * steps["g_1"].array
    V, Z = steps["w_v"].array, steps["w_o"].array
    width = V.shape[-1]
    written = V[head * len(V) // trace.config.n_heads] @ Z[head * width : (head + 1) * width]
    logits = (centred(written) * last["g_f"].array) @ np.asarray(model.words_table, float).T  # of each entry read
    values = np.linalg.eigvals(logits @ x)
    assert values.sum().real == pytest.approx(np.einsum("wd,dw->", x, logits))  # the trace over all words
    return float(values.sum().real / np.abs(values).sum())


@pytest.mark.parametrize("name", ["gpt2", "llama", "bert", "setting"])
def test_every_measure_is_the_mean_that_a_loop_gives(name: str) -> None:
    setting = Config(n_heads=2, n_layers=2, mask="causal")
    model = setting if name == "setting" else load(MODELS / name)
    traces = [run(replace(setting, sentence=text)) if name == "setting" else model(text) for text in TEXTS]
    found = study(model, iter(TEXTS))
    assert (found.n_texts, found.n_rows) == (3, sum(len(trace.query_tokens) for trace in traces))
    table = found.to_pandas()
    for layer, head in np.ndindex(found.kinds.shape):
        expected = by_hand(traces, layer, head)
        for measure in {*STATISTICS, "special_tokens", "duplicate", "induction"} - {"row_sum"}:
            number = found[measure].array[layer, head]
            assert number == pytest.approx(expected.get(measure, math.nan), rel=1e-12, nan_ok=True), measure
            assert table.loc[(layer, head), measure] == pytest.approx(number, nan_ok=True)
        if name in ("gpt2", "llama"):
            expected_score = copying_by_hand(model, traces[0], layer, head)
            assert found["copying"].array[layer, head] == pytest.approx(expected_score, abs=1e-6)
        else:
            assert math.isnan(found["copying"].array[layer, head])
    kinds = [
        [kind.kind for steps in trace.layers for kind in head_kinds(of_words(trace, steps), tokens=trace.query_tokens)]
        for trace in traces
    ]
    for at, each in enumerate(zip(*kinds)):
        layer, head = divmod(at, found.kinds.shape[1])
        kind, times = Counter(each).most_common(1)[0]
        assert found["kind_share"].array[layer, head] == times / 3
        assert times == 1 or found.kinds[layer, head] == kind


def of_words(trace: Trace, steps: Any) -> Any:
    """The weights of a layer without the rows of special tokens, which do not count for a kind."""
    rows = [token[0] not in "[<" for token in trace.query_tokens]
    return steps["weights"].array * np.array(rows)[:, None]


def test_two_models_are_as_far_apart_as_a_loop_says() -> None:
    model = load(MODELS / "gpt2")
    warm: Callable[[str], Trace] = lambda text: model(text, temperature=2.0)  # noqa: E731
    found, rows, states = compare(model, warm, TEXTS), [], []
    for text in TEXTS:
        for one, other in zip(model(text).layers, warm(text).layers):
            rows.append(0.5 * np.abs(one["weights"].array - other["weights"].array).sum(axis=-1))
            x, y = (steps[list(steps)[-1]].array for steps in (one, other))
            states.append([np.sqrt(((b - a) ** 2).sum()) / np.sqrt((a**2).sum()) for a, b in zip(x, y)])
    layers = len(found.kinds)
    for layer in range(layers):
        of_layer = np.concatenate(rows[layer::layers], axis=-1).mean(axis=-1)
        np.testing.assert_allclose(found["distance"].array[layer], of_layer, rtol=1e-12)
        assert found["states"].array[layer] == pytest.approx(np.concatenate(states[layer::layers]).mean(), rel=1e-12)
    for name in found.a:
        np.testing.assert_array_equal(found[name].array, found.b[name].array - found.a[name].array)
    assert (found["entropy"].array > 0).all()  # a warmer softmax spreads
    assert repr(found).startswith("<Comparison: ")


def test_named_axes_a_table_and_a_picture() -> None:
    found = study(load(MODELS / "gpt2"), TEXTS)
    table, step = found.to_pandas(), found["induction"]
    assert (step.axes, step.to_pandas().index.name) == (("layer", "head"), "layer")
    assert (table.index.names, table.columns[0]) == (["layer", "head"], "kind")
    figure = found.figure("induction")
    np.testing.assert_array_equal(figure.data[0].z, step.array)
    assert (figure.layout.yaxis.title.text, figure.layout.xaxis.title.text) == ("layer", "head")
    assert repr(found).startswith("<Study: ")


def test_memory_is_that_of_one_text_however_many_there_are() -> None:
    text = " ".join(f"w{n}" for n in range(20))

    def peak(n: int) -> int:
        def texts() -> Iterator[str]:
            for i in range(n):
                yield f"{text} {i}"

        tracemalloc.start()
        study(Config(n_heads=4, max_tokens=21), texts())
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(1)
    assert peak(10) < 1.3 * peak(2)


def test_what_cannot_be_studied_is_said_in_a_sentence() -> None:
    model = load(MODELS / "gpt2")
    sizes = {"a": Config(n_heads=1), "b": Config(n_heads=2)}
    for make, said in (
        (lambda: study(model, "the cat"), "texts is 'the cat'; give a list of texts"),
        (lambda: study(model, [3]), "texts is 3"),
        (lambda: study(model, []), "there are no texts"),
        (lambda: study("small", ["a"]), r"the model is 'small'; give load\(folder\)"),
        (lambda: study(lambda text: run(replace(sizes[text], sentence="a")), ["a", "b"]), "text 2 has 1 and 2 layers"),
        (lambda: compare(sizes["a"], sizes["b"], ["a"]), "the first model has 1 and 1 layers and heads, the second 1"),
        (lambda: compare(Config(), Config(tokeniser="characters"), ["ab"]), "text 1 has other tokens"),
    ):
        with pytest.raises(ConfigError, match=said):
            make()
    with pytest.raises(KeyError, match="there is no measure 'inducton'; choose one of: entropy"):
        study(sizes["a"], ["a"])["inducton"]
