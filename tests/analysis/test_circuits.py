"""Heads knocked out, runs patched and logits attributed, beside plain NumPy and beside edits of single numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attnviz import Config, ConfigError, attribute, behaviours, gradients, knock_out, load, of_weights, patch, run
from attnviz.analysis.circuits import maps, prompts
from attnviz.analysis.circuits.attribution import products, products_of_word
from attnviz.analysis.circuits.behaviours import KINDS, by_card, roles
from attnviz.engine.records.trace import Trace
from attnviz.models.safetensors import Tensors
from attnviz.models.sampling import softmax
from tests.support.cases import for_each
from tests.support.small_models import FOLDER, NAMES, model
from tools.training.prompts import written

ONE, OTHER = "the king and the queen saw", "the king and the river saw"
DECODERS = [name for name in NAMES if model(name).writes_on]


def norm(X: np.ndarray, g: np.ndarray, c: np.ndarray) -> np.ndarray:
    return (X - X.mean(-1, keepdims=True)) / np.sqrt(X.var(-1, keepdims=True) + 1e-5) * g + c


def gpt2(
    ids: list[int], off: Any = None, mean: bool = False, put: Any = None, block: int | None = None
) -> tuple[np.ndarray, list[np.ndarray]]:
    """GPT-2 by hand: the logits and the heads of each layer (n, heads, d_v).

    `off` is a head, `put` rows of one, `block` the layer whose feed-forward block is taken out.
    """
    file, n = Tensors(FOLDER / "gpt2"), len(ids)
    t = {name.removeprefix("transformer."): np.asarray(file[name], dtype=float) for name in file}
    X, all_heads = t["wte.weight"][ids] + t["wpe.weight"][:n], []
    for i in range(2):
        h = f"h.{i}."
        Y = norm(X, t[h + "ln_1.weight"], t[h + "ln_1.bias"]) @ t[h + "attn.c_attn.weight"] + t[h + "attn.c_attn.bias"]
        Q, K, V = (part.reshape(n, 4, 4) for part in np.split(Y, 3, axis=1))
        Z = np.zeros((n, 4, 4))
        for head in range(4):
            for row in range(n):
                scores = np.exp([Q[row, head] @ K[j, head] / 2.0 for j in range(row + 1)])
                Z[row, head] = scores / scores.sum() @ V[: row + 1, head]
        if off is not None and off[0] == i:
            Z[:, off[1]] = Z[:, off[1]].mean(axis=0) if mean else 0.0
        if put is not None and put[0] == i:
            Z[put[2], put[1]] = put[3]
        all_heads.append(Z)
        X = X + Z.reshape(n, 16) @ t[h + "attn.c_proj.weight"] + t[h + "attn.c_proj.bias"]
        F = norm(X, t[h + "ln_2.weight"], t[h + "ln_2.bias"]) @ t[h + "mlp.c_fc.weight"] + t[h + "mlp.c_fc.bias"]
        F = 0.5 * F * (1 + np.tanh(np.sqrt(2 / np.pi) * (F + 0.044715 * F**3)))
        F = F @ t[h + "mlp.c_proj.weight"] + t[h + "mlp.c_proj.bias"]
        X = X + (F if block != i else F.mean(axis=0) if mean else 0.0)
    return norm(X, t["ln_f.weight"], t["ln_f.bias"]) @ t["wte.weight"].T, all_heads


def logits(trace: Trace) -> np.ndarray:
    return np.stack([model("gpt2").scores(trace, row)[-1] for row in range(len(trace.query_tokens))])


def test_gpt_2_by_hand_says_the_same_without_a_head_and_with_another_runs() -> None:
    trace, other = model("gpt2")(ONE), model("gpt2")(OTHER)
    ids, theirs = list(trace.token_ids), gpt2(list(other.token_ids))[1]
    cases: list[tuple[Trace, dict[str, Any]]] = [
        (trace, {}),
        (knock_out(trace, [(0, 2)]), {"off": (0, 2)}),
        (knock_out(trace, [(0, 2)], "mean"), {"off": (0, 2), "mean": True}),
        (knock_out(trace, [(0, "feed_forward")]), {"block": 0}),
        (knock_out(trace, [(1, "feed_forward")], "mean"), {"block": 1, "mean": True}),
        (patch(trace, other, [(1, "heads", [-1, 3], 1)]), {"put": (1, 1, [-1, 3], theirs[1][[-1, 3], 1])}),
    ]
    for found, how in cases:
        np.testing.assert_allclose(logits(found), gpt2(ids, **how)[0], rtol=0, atol=1e-11)
    spread = [np.abs(logits(found) - logits(trace)).max() for found, _ in cases[1:]]
    assert min(spread) > 1e-3
    over = [model("gpt2")("a dog saw"), other]
    mean = np.concatenate([each.layers[0]["heads"].array[2] for each in over]).mean(axis=0)
    found = knock_out(trace, [(0, 2)], "mean", over).layers[0]["heads"].array[2]
    np.testing.assert_allclose(found, np.broadcast_to(mean, found.shape), rtol=0, atol=1e-15)


@for_each("name", DECODERS)
def test_the_parts_of_a_logit_add_up_to_it(name: str) -> None:
    made, plain = model(name), model(name)(ONE)
    changed = knock_out(plain, [(0, 1), (1, 0)]), patch(plain, made(OTHER), [(0, "ff_added", [4], None)])
    for trace in (plain, *changed):
        for instead, row in ((None, -1), (77, 3)):
            found = attribute(trace, 5, instead, row)
            assert found.heads.shape == (2, made.shape.n_heads)
            assert found.positions.shape == (*found.heads.shape, len(trace.query_tokens))
            assert found.heads.sum() + found.rest == pytest.approx(found.logit, abs=1e-12)
            np.testing.assert_allclose(found.positions.sum(axis=-1), found.heads, rtol=0, atol=1e-12)
            assert not found.positions[..., row % len(trace.query_tokens) + 1 :].any()
            np.testing.assert_array_equal(found["parts"].array[:, -1], found.feed_forward)
            assert found.parts.sum() + found.embedded + found.bias == pytest.approx(found.logit, abs=1e-12)
            for layer, part in np.ndindex(found.parts.shape):
                down = products(trace, 5, instead, layer, part, row)
                assert down.total == found.parts[layer, part]
                assert down.each.sum() + down.rest == pytest.approx(down.total, abs=1e-12)
                if not {"g_2_out", "b_2", "b_experts"} & {*trace.layers[layer]} or part < made.shape.n_heads:
                    assert abs(down.rest) < 1e-12, "biases alone are no products"
            for layer, key in np.ndindex(found.positions.shape[::2]):
                word = products_of_word(trace, 5, instead, layer, key, row)
                np.testing.assert_allclose(word.each, found.positions[layer, :, key], rtol=0, atol=1e-12)
                assert word.total == pytest.approx(found.positions[layer, :, key].sum(), abs=1e-12)
            scores = made.scores(trace, row)[-1]
            if not made.shape.logits_softcap:
                whole = scores[5] - (0.0 if instead is None else scores[instead])
                assert found.logit == pytest.approx(whole, abs=1e-12)
    [off, _] = changed
    assert not attribute(off, 5).heads[[0, 1], [1, 0]].any()
    v = _read_off(made, plain)
    of_biases = sum(float(layer["b_o"].array @ v) for layer in plain.layers if "b_o" in layer)
    last = plain.layers[-1]
    of_biases += float(last["c_f"].array @ made.words_table[5].astype(float)) if "c_f" in last else 0.0
    if "output_normed" not in last:
        assert attribute(plain, 5).bias == pytest.approx(of_biases, abs=1e-12)
        streams = [plain.layers[i]["ff_output"].array[-1] @ v for i in range(2)]
        np.testing.assert_allclose(attribute(plain, 5).feed_forward, streams, rtol=0, atol=1e-12)


def _read_off(made: Any, trace: Trace) -> Any:
    last, centred = trace.layers[-1], made.facts.centred
    x, w = last["ff_added"].array[-1], made.words_table[5].astype(float) * last["g_f"].array
    return (w - w.mean() * centred) / np.sqrt((x.var() if centred else (x**2).mean()) + made.facts.eps)


@for_each("name", NAMES)
def test_a_head_that_is_knocked_out_is_as_if_its_numbers_were_edited(name: str) -> None:
    made = model(name)
    trace = made(ONE, temperature=1.5)
    Z = trace.layers[1]["heads"].array
    edits = [(1, "heads", (0, i, j), 0.0) for i in range(Z.shape[1]) for j in range(Z.shape[2])]
    found, edited = knock_out(trace, [(1, 0)]), made(ONE, temperature=1.5, edits=edits)
    for step in edited.layers[1]:
        np.testing.assert_array_equal(found.layers[1][step].array, edited.layers[1][step].array)
        assert not found.layers[1][step].array.flags.writeable
    assert found.layers[0] is trace.layers[0]
    assert {*found.edits} == {*edited.edits} != set()
    assert found.result is found.layers[1][found.result.name]
    twice = knock_out(found, [(0, 1)])  # what was changed before stays changed
    assert not twice.layers[1]["heads"].array[0].any()
    assert not twice.layers[0]["heads"].array[1].any()


def test_a_run_of_the_page_s_own_setting_can_be_changed_too() -> None:
    config = Config(sentence=ONE, second_sentence="a dog sat", n_heads=4, n_kv_heads=2, d_v=(2, 3), n_layers=2,
                    residual=True, norm="pre", feed_forward="relu", bias="none", mask="none")  # fmt: skip
    trace = run(config)
    edits = [(0, "heads", (3, i, j), 0.0) for i in range(len(trace.query_tokens)) for j in range(3)]
    found, edited = knock_out(trace, [(0, 3)]), run(config, edits=edits)
    np.testing.assert_allclose(found.result.array, edited.result.array, rtol=0, atol=1e-14)
    assert {*found.edits} == {*edits}
    slopes = gradients(found, {(None, "output"): np.ones(found.result.shape)})
    assert slopes.layers[0]["heads"].array[3].any()  # a number put by hand has a slope, and hands none back
    assert not slopes.layers[0]["weights"].array[3].any()
    moved = patch(trace, run(Config(**{**vars(config), "seed": 5})), [(None, "embedded", [2], None)])
    assert np.abs(moved.layers[0]["queries"].array[:, 2] - trace.layers[0]["queries"].array[:, 2]).max() > 0.01
    np.testing.assert_array_equal(moved.layers[0]["queries"].array[:, 1], trace.layers[0]["queries"].array[:, 1])


def test_what_cannot_be_is_said_in_a_sentence() -> None:
    trace, longer = model("gpt2")(ONE), model("gpt2")(ONE + " a dog")
    encoder = model("bert")(ONE)
    off: list[tuple[Any, str]] = [
        (lambda: knock_out(trace, [(2, 0)]), "no layer 2; this run has 2, choose 0 to 1"),
        (lambda: knock_out(trace, [(0, 4)]), "no head 4 in heads; it has 4, choose 0 to 3"),
        (lambda: knock_out(trace, [(0, -1)]), "no head -1"),
        (lambda: knock_out(trace, [(0, "ff_output")]), r"or \(layer, 'feed_forward'\)"),  # type: ignore[list-item]
        (lambda: knock_out(run(Config()), [(0, "feed_forward")]), "layer 0 of this run has no feed-forward block"),
        (lambda: knock_out(trace, (1, 0)), r"is no list of heads; give \(layer, head\)"),  # type: ignore[arg-type]
        (lambda: knock_out(trace, [(0, 0)], "average"), "how is 'average'; choose zero, mean or corpus"),  # type: ignore[arg-type]
        (lambda: knock_out(run(Config()), [(0, 0)], "corpus"), "that reads one text, and this run is of none"),
        (lambda: knock_out(trace, [(0, 0)], "mean", [run(Config(d_v=3))]), "over holds runs of another model"),
        (lambda: knock_out("the cat", [(0, 0)]), r"takes a run, as in knock_out\(model\(text\)"),  # type: ignore[arg-type]
        (lambda: knock_out(of_weights(np.eye(3)), [(0, 0)]), "needs a run from a sentence"),
        (lambda: patch(trace, longer, [(0, "heads", None, None)]), "with the same number of tokens"),
        (lambda: patch(trace, encoder, [(0, "heads", None, None)]), "of different models; give runs of one"),
        (lambda: patch(trace, trace, [(0, "final_normed", None, None)]), "no step 'final_normed' in layer 0; choose"),
        (lambda: behaviours([trace], ["mary"]), "give a pair"),  # type: ignore[list-item]
        (lambda: model("gpt2").next_words(ONE, 0), "n is 0; give a whole number from 1 on"),
        (lambda: model("gpt2").next_words(ONE, 2.5), "n is 2.5"),  # type: ignore[arg-type]
        (lambda: patch(trace, trace, [(0, "heads", [99], None)]), "no position 99"),
        (lambda: patch(trace, trace, [(0, "ff_output", None, [0])]), "the step ff_output has no heads"),
        (lambda: patch(trace, trace, [(0, "b_o", [0], None)]), "the step b_o has no positions"),
        (lambda: patch(trace, trace, [(None, "positions", None, None)]), "only 'embedded' can be patched"),
        (lambda: patch(trace, trace, [(0, "heads")]), "is no place of a run"),  # type: ignore[list-item]
        (lambda: attribute(encoder, "the"), "of no model that writes on"),
        (lambda: attribute(run(Config()), "the"), "of no model that writes on"),
        (lambda: attribute(trace, "the river"), "no single word of this model, it is made of"),
        (lambda: attribute(trace, 5, position=99), "row is 99"),
    ]  # fmt: skip
    for call, message in off:
        with pytest.raises(ConfigError, match=message):
            call()


def test_more_numbers_than_a_run_can_record_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnviz.analysis.circuits.changed_runs.MOST_NUMBERS", 20)
    trace = model("gpt2")("a cat")
    with pytest.raises(ConfigError, match=r"changes \d+ numbers; at most 20 can be changed at a time"):
        patch(trace, trace, [(0, "ff_output", None, None)])


def test_the_mean_over_the_corpus_is_that_of_the_prompts_in_the_package() -> None:
    made = model("gpt2")
    texts = [each.text for each in prompts.prompts() if not each.word]
    assert len(texts) == 100
    with pytest.raises(ConfigError):  # so those about two people are no prompts of this model
        made.word_number("lena")
    rows = np.concatenate([made(text).layers[1]["heads"].array[3] for text in texts])
    found = knock_out(made(ONE), [(1, 3)], "corpus").layers[1]["heads"].array[3]
    np.testing.assert_allclose(found, np.broadcast_to(rows.mean(axis=0), found.shape), rtol=0, atol=1e-12)


def test_so_is_that_of_a_feed_forward_block() -> None:
    made = model("gpt2")
    rows = np.concatenate([made(each.text).layers[1]["ff_output"].array for each in prompts.prompts() if not each.word])
    found = knock_out(made(ONE), [(1, "feed_forward")], "corpus").layers[1]["ff_output"].array
    np.testing.assert_allclose(found, np.broadcast_to(rows.mean(axis=0), found.shape), rtol=0, atol=1e-12)


@for_each("name", ["gemma2", "gpt2", "gpt_neox", "small"])
def test_without_each_part_says_what_becomes_of_the_word_and_what_is_said_instead(name: str) -> None:
    made = load(name) if name == "small" else model(name)
    trace, (word, other) = made(ONE), (5, 77)
    layers, before = len(trace.layers), attribute(trace, word, other).logit
    for how in ("zero", "mean"):
        found = maps.without_each_part(trace, word, other, how)
        parts = made.shape.n_heads + (name != "small")
        assert found.difference.shape == found.said.shape == (layers, parts)
        assert found.before == pytest.approx(softmax(made.scores(trace)[-1])[word], abs=1e-12)
        for i, j in np.ndindex(layers, parts):
            off = knock_out(trace, [(i, "feed_forward" if j == made.shape.n_heads else j)], how)  # type: ignore[arg-type]
            shares = softmax(made.scores(off)[-1])
            assert found.difference[i, j] == pytest.approx(attribute(off, word, other).logit - before, abs=1e-11)
            assert found.share[i, j] == pytest.approx(shares[word], abs=1e-12)
            assert found.other_share[i, j] == pytest.approx(shares[other], abs=1e-12)
            assert (found.said[i, j], found.said_share[i, j]) == (shares.argmax(), pytest.approx(shares.max()))
            assert found.rank[i, j] == 1 + (shares > shares[word]).sum()
        heads = maps.without_each_head(trace, word, other, how)
        np.testing.assert_array_equal(heads, found.difference[:, : made.shape.n_heads])


def test_parts_and_measures_have_named_axes() -> None:
    trace = load("full")(ONE)
    found, n = attribute(trace, 5, 77), len(trace.query_tokens)
    sizes = {"layer": 3, "head": 4, "key": n, "part": 5}
    assert {*found} == {"heads", "positions", "feed_forward", "parts"}
    for name, step in found.items():
        assert step.shape == tuple(sizes[axis] for axis in step.axes), name
        np.testing.assert_array_equal(step.array, getattr(found, name))
        assert not step.array.flags.writeable
    assert list(found["parts"].to_pandas().columns) == ["0", "1", "2", "3", "feed_forward"]
    assert list(found["positions"].to_pandas().columns)[:3] == ["<s>", "the", "king"]
    assert attribute(load("small")(ONE), 5)["parts"].shape == (3, 4)
    for kind, measured in behaviours([trace]).items():
        assert {*measured} == {"weight", "share"}
        for name, step in measured.items():
            assert (step.axes, step.kind) == (("layer", "head"), "share"), kind
            np.testing.assert_array_equal(step.array, getattr(measured, name))
    for mapping in (found, behaviours([trace])["induction"]):
        with pytest.raises(KeyError, match="'head'; choose one of"):
            mapping["head"]


def test_a_model_is_measured_on_the_prompts_in_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    made, some = load("small"), prompts.prompts()[::4]
    monkeypatch.setattr(prompts, "prompts", lambda: some)
    found, card = behaviours(made), by_card(made)
    given = [each for each in some if each.word]
    assert card is not None
    runs = [made(each.text) for each in given]
    expected = behaviours(runs, [(each.word, each.instead_of) for each in given])
    lists = behaviours([made(each.text) for each in some if not each.word])
    for kind in KINDS:
        wanted = lists.get(kind, expected[kind])
        np.testing.assert_allclose(found[kind].weight, wanted.weight, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(found[kind].share, wanted.share)
        assert found[kind].n == wanted.n >= 25
        assert card[kind].n >= 100, "which is of all prompts, as a test of the card has it"
    by_head = {at: [each.kind for each in does] for at, does in roles(card).items()}
    assert by_head[2, 3] == ["induction", "name_mover"]  # it copies, in lists and names
    assert {*behaviours(model("bert"))} == {*KINDS[:3]}


def test_the_prompts_are_questions_that_training_left_out() -> None:
    assert prompts.FILE.read_text(encoding="utf-8") == written()
