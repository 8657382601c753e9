"""Every step of the decoders of T5 and BART: against Transformers, autograd, and what files and a browser say of it."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import (
    Config,
    ConfigError,
    Trace,
    attribute,
    behaviours,
    gradients,
    knock_out,
    load,
    of_model,
    patch,
    run,
    study,
)
from attnviz.analysis.circuits import prompts as prompts_of_package
from attnviz.analysis.circuits.behaviours import KINDS, ways
from attnviz.analysis.circuits.prompts import prompts
from attnviz.arithmetic.cell_position import CellPosition
from attnviz.exports.script import model_parameters, next_words
from attnviz.exports.script.notebook import notebook
from attnviz.exports.script.numpy_script import numpy_script
from attnviz.exports.script.torch_script import torch_script
from attnviz.live.program import program_of
from attnviz.text.headline import headline
from tests.exports.test_models import by, by_notebook, said
from tests.live.test_live import distances
from tests.models.test_decoder import PAIRS, Tokenizer, expected
from tests.models.test_hooks import _Double
from tests.support import readings, scripts
from tests.support.cases import for_each
from tests.support.live_changes import Case, _entry
from tests.support.slopes import loss, slope_of, steps_of
from tests.support.small_models import FOLDER, model

ONE, OTHER = "a cat", "the king saw"
CHANGED: dict[str, Any] = {
    "mask": "no_self",
    "temperature": 0.7,
    "normaliser": "sparsemax",
    "edits": [
        (None, "token_embeddings", (0, 1), 0.3),
        (None, "embedded_kv", (0, 1), 0.3),
        (0, "w_q", (1, 2, 0), 0.7),
        (0, "shift", (1, 1), 0.5),
        (1, "scores", (0, 1, 0), 2.0),
        (2, "shifted", (6, 1), 0.5),
    ],
}


@cache
def runs() -> dict[str, Trace]:
    found = {}
    for name in PAIRS:
        found[name] = model(name)(ONE, OTHER, part="both")
        found[f"{name}, changed"] = model(name)(ONE, OTHER, part="both", **CHANGED)
        found[f"{name}, masks"] = model(name)("the cat sat", OTHER, part="both", mask=("window", "block"))
    return found


def library(name: str, torch: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The model of Transformers, which computes in float64 wherever it would choose float32 itself."""
    transformers = pytest.importorskip("transformers")
    kind = transformers.AutoModelForSeq2SeqLM
    made = kind.from_pretrained(FOLDER / name, dtype=torch.float64, attn_implementation="eager").double().eval()
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)
    monkeypatch.setattr(sys.modules[type(made).__module__], "torch", _Double(torch))
    return made


def called(made: Any, torch: Any, trace: Trace, text: str, name: str, **more: Any) -> Any:
    ids = torch.tensor([model(name).tokenise(text)[0]])
    return made(input_ids=ids, decoder_input_ids=torch.tensor([trace.token_ids]), **more)


@for_each("name", PAIRS)
def test_every_layer_and_the_next_words_are_the_library_s(name: str, torch: Any) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        made = library(name, torch, monkeypatch)
        first, second = map(str, expected(name)["sentences"][:2])
        trace = model(name)(first, second, part="both")
        with torch.no_grad():
            out = called(made, torch, trace, first, name, output_hidden_states=True, output_attentions=True)
        ours = [trace["embedded"].array, *(list(layer.values())[-1].array for layer in trace.layers[1::2])]
        for computed, theirs in zip(ours, out.decoder_hidden_states, strict=True):
            np.testing.assert_allclose(computed, theirs[0].numpy(), rtol=0, atol=1e-9)
        m = len(trace.key_tokens) - len(trace.query_tokens)
        for layers, theirs, columns, none in (
            (trace.layers[::2], out.decoder_attentions, slice(m, None), slice(m)),
            (trace.layers[1::2], out.cross_attentions, slice(m), slice(m, None)),
        ):
            for layer, weights in zip(layers, theirs, strict=True):
                np.testing.assert_allclose(layer["weights"].array[..., columns], weights[0].numpy(), rtol=0, atol=1e-9)
                assert not layer["weights"].array[..., none].any()
        logits = model(name).scores(trace)[-1]
        np.testing.assert_allclose(logits, out.logits[0, -1].numpy(), rtol=0, atol=1e-9)
        share = float(torch.softmax(out.logits[0, -1], -1).max())
        assert model(name).next_words(trace, 1)[0][1] == pytest.approx(share, abs=1e-9)
        assert model(name).next_words(first, 5, target=second) == model(name).next_words(trace, 5)
        assert len(model(name).logit_lens(trace)) == len(trace.layers) + 1
        ranks = model(name).ranks(trace, int(logits.argmax()))
        assert ranks[-1] == (1, pytest.approx(share, abs=1e-9))


@for_each("name", PAIRS)
def test_what_it_writes_is_what_the_library_writes(name: str, torch: Any) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        made = library(name, torch, monkeypatch)
        first = str(expected(name)["sentences"][0])
        begun = list(model(name)(first, "", part="both").token_ids)
        ids = list(begun)
        for _ in range(6):
            with torch.no_grad():
                theirs = torch.tensor([model(name).tokenise(first)[0]])
                scores = made(input_ids=theirs, decoder_input_ids=torch.tensor([ids])).logits[0, -1]
            ids.append(int(scores.argmax()))
        ends = {json.loads((FOLDER / name / "config.json").read_text())["eos_token_id"]}
        written = ids[len(begun) :]
        stop = next((at for at, number in enumerate(written) if number in ends), len(written))
        decoder = model(name).decoder(first)
        assert model(name).generate(first, 6, top_k=1) == decoder.written(begun, written[:stop])
    assert model(name).generate(first, 6, seed=3) == model(name).generate(first, 6, seed=3)
    assert len({model(name).generate(first, 6, seed=seed) for seed in range(4)}) > 1
    assert model(name).generate(first, 2, target="the").startswith("the")


@for_each("name", PAIRS)
def test_slopes_are_those_of_autograd(name: str, torch: Any) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        made = library(name, torch, monkeypatch)
        first, second = map(str, expected(name)["sentences"][:2])
        trace = model(name)(first, second, part="both")
        dice = np.random.default_rng(0)
        L = dice.normal(size=trace.result.shape)
        slopes = gradients(trace, {(None, "output"): L})
        encoder = made.get_encoder()
        with torch.no_grad():
            encoded = encoder(torch.tensor([model(name).tokenise(first)[0]])).last_hidden_state
        encoded.requires_grad_()
        out = made.get_decoder()(input_ids=torch.tensor([trace.token_ids]), encoder_hidden_states=encoded)
        (out.last_hidden_state[0] * torch.tensor(L)).sum().backward()
        m = encoded.shape[1]
        found = slopes["embedded_kv"].array
        np.testing.assert_allclose(found[:m], encoded.grad[0].numpy(), rtol=0, atol=1e-9)
        assert not found[m:].any()
        parameters = dict(made.named_parameters())
        for i, layer in enumerate(slopes.layers):
            for symbol, at in trace.config.facts.slices[i].items():
                theirs = parameters[at.tensor].grad.numpy()
                G = layer[symbol].array
                if symbol[:3] in ("w_q", "w_k", "w_v"):
                    G = G.transpose(0, 2, 1).reshape(theirs.shape)
                elif symbol[:3] in ("b_q", "b_k", "b_v"):
                    G = G.reshape(theirs.shape)
                elif symbol.startswith("w_"):
                    G = G.T
                np.testing.assert_allclose(G, theirs, rtol=0, atol=1e-9, err_msg=f"{symbol} of layer {i}")
        back = gradients(model(name)(first), {(None, "output"): found[:m]})
        assert np.abs(back["token_embeddings"].array).max() > 0, "and on through the encoder, whose run is another"


@pytest.mark.slow
@for_each("name", PAIRS)
def test_slopes_of_every_step_are_what_changed_numbers_do(name: str) -> None:
    trace, dice, step = model(name)(ONE, OTHER, part="both"), np.random.default_rng(2), 1e-4
    of: dict[Any, np.ndarray] = {(0, "weights"): dice.normal(size=trace.layers[0]["weights"].shape)}
    of |= {(i, list(each)[-1]): dice.normal(size=list(each.values())[-1].shape) for i, each in enumerate(trace.layers)}
    slopes = gradients(trace, of)
    for layer, called_, each in steps_of(trace):
        there = np.argwhere(np.isfinite(each.array))
        [at] = [tuple(map(int, cell)) for cell in dice.permutation(there)[:1]]
        ends = []
        for sign in (step, -step):
            edits = [(layer, called_, at, float(each.array[at]) + sign)]
            moved = model(name)(ONE, OTHER, part="both", edits=edits)
            ends.append(loss(moved, of))
        slope = (ends[0] - ends[1]) / (2 * step)
        assert slope_of(slopes, layer, called_)[at] == pytest.approx(slope, abs=1e-5), (called_, layer)


def test_scripts_and_cells_say_what_a_run_does(torch: Any) -> None:
    ways = {"numpy": partial(by, numpy_script), "torch": partial(by, torch_script), "notebook": by_notebook}
    assert readings.disagreeing(runs(), runs().values(), ways | {"cell": readings.by_cell}) == []


@pytest.mark.slow
def test_so_does_a_workbook() -> None:
    pytest.importorskip("xlsxwriter")
    assert readings.disagreeing(runs(), runs().values(), {"workbook": readings.by_workbook}) == []


def test_so_does_a_browser_after_any_change(node: str, tmp_path: Path) -> None:
    found = []
    for name in PAIRS:
        before, dice = runs()[name], random.Random(name)  # noqa: S311 - nothing secret
        tried = [each for each in steps_of(before) if each[0] in (None, 0, 1) and each[1] != "allowed"]
        edits = [
            (layer, step, tuple(dice.randrange(n) for n in array.shape), dice.randrange(-64, 65) / 64)
            for layer, step, array in tried
        ]
        program = program_of(before)
        masks = [step["made"] for step in program["steps"] if step["name"].startswith("allowed.")]
        assert masks == [None] * 4, "no line of a mask knows of two texts"
        tries = [
            Case(name, before, model(name)(ONE, OTHER, part="both", edits=[e]), [_entry(before, e)], program)
            for e in edits
        ]
        off = distances(tries, node, tmp_path)
        found += [(f"{far:.1e} at {at}", name, e) for e, (far, at) in zip(edits, off, strict=True) if far > 1e-9]
    assert found == []


@for_each("name", PAIRS)
def test_scripts_end_in_the_next_words_and_may_read_the_files(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = runs()[name]
    likely = [f"{word} {share:.4f}" for word, share in model(name).next_words(trace, 10)]
    assert said(numpy_script(trace))[1] == likely
    monkeypatch.setattr(model_parameters, "MOST", 0)
    monkeypatch.setattr(next_words, "MOST", 0)
    script = numpy_script(trace)
    assert "attnviz.load(FOLDER).decoder()" in script
    assert said(script)[1] == likely
    scripts.compare(trace, scripts.execute(script), readings.CLOSE, bits=False)
    assert "first text" in notebook(trace)


def test_a_bias_of_the_logits_is_added(tmp_path: Path) -> None:
    from attnviz import Model
    from attnviz.models.safetensors import Tensors

    tensors = {name: np.asarray(array) for name, array in Tensors(FOLDER / "bart").items()}
    config = json.loads((FOLDER / "bart" / "config.json").read_text())
    bias = np.linspace(-1, 1, len(tensors["final_logits_bias"][0]))
    made = Model.of_parts(config, tensors | {"final_logits_bias": bias[None]}, model("bart").tokenise)
    trace, plain = made(ONE, OTHER, part="both"), runs()["bart"]
    np.testing.assert_allclose(made.scores(trace), model("bart").scores(plain) + bias, atol=1e-12)
    assert said(numpy_script(trace))[1] == [f"{word} {share:.4f}" for word, share in made.next_words(trace, 10)]


def test_a_mask_says_why_in_a_layer_of_either_text() -> None:
    trace = runs()["bart"]
    first = len(trace.key_tokens) - len(trace.query_tokens)
    why = [CellPosition(trace, layer, 0, 1, key).why for layer, key in ((0, 0), (0, first + 2), (1, first))]
    assert "attends to its own text only" in why[0]
    assert "Causal" in why[1]
    assert "attends to the first text only" in why[2]


def test_formulas_count_the_columns_of_the_first_text() -> None:
    for name, trace in runs().items():
        first = len(trace.key_tokens) - len(trace.query_tokens)
        own, other = trace.layers[:2]
        assert own["allowed"].formula.startswith(rf"j > {first}\;\text{{and}}\;(j - {first}) \le i"), name
        assert other["allowed"].formula.startswith(rf"j \le {first}"), name
        assert r"(j - " not in other["allowed"].formula
        assert own["shifted"].formula in (r"\bar X = J X", r"\bar X = J \hat X")
    assert "bucket}((j - 4) - i)" in runs()["t5"].layers[0]["bias"].formula


def test_edits_of_the_encoder_are_followed() -> None:
    encoded = model("t5")(ONE, edits=[(0, "w_q", (0, 0, 0), 2.0)])
    trace = model("t5").decoder(encoded)(OTHER)
    plain = runs()["t5"]
    assert np.abs(trace.result.array - plain.result.array).max() > 1e-6
    again = load(FOLDER / "t5")(ONE, OTHER, part="both")
    np.testing.assert_array_equal(again.result.array, plain.result.array)


@for_each("name", PAIRS)
def test_what_cannot_be_is_said(name: str) -> None:
    made = model(name)
    with pytest.raises(ConfigError, match="mask is 'custom'; what can be added to a decoder's own is none, causal, wi"):
        made(ONE, OTHER, part="both", mask="custom")
    with pytest.raises(ConfigError, match="an edit names 'nothing', which is not a step of layer 0"):
        made(ONE, OTHER, part="both", edits=[(0, "nothing", (0,), 1.0)])
    with pytest.raises(ConfigError, match="n is -1; give a whole number from 0 on"):
        made.generate(ONE, -1)
    with pytest.raises(ConfigError, match="the trace is no run of this model"):
        made.decoder(model("gpt2")(ONE))
    with pytest.raises(ConfigError, match="this model has no decoder beside an encoder; T5 and BART have"):
        model("gpt2").decoder(ONE)
    for ask in (model("gpt2").next_words, partial(model("gpt2").generate, n=1)):
        with pytest.raises(ConfigError, match="this one has not both"):
            ask(ONE, target="a dog")


@for_each("name", PAIRS)
def test_of_model_computes_the_whole_decoder_anew(name: str, torch: Any) -> None:
    transformers = pytest.importorskip("transformers")
    made = transformers.AutoModelForSeq2SeqLM.from_pretrained(FOLDER / name)
    first, second = map(str, expected(name)["sentences"][:2])
    trace = of_model(made, Tokenizer(model(name)), first, second, part="both")
    np.testing.assert_allclose(trace.result.array, model(name)(first, second, part="both").result.array, atol=1e-12)
    assert trace.notes[-1].startswith("Recomputed from the model's weights; its own hidden states differ by at most")
    assert made.training is False
    with torch.no_grad():
        dict(made.named_parameters())[trace.config.facts.slices[3]["w_o"].tensor].mul_(1.0)
        made.get_decoder().register_forward_hook(
            lambda _, __, out: out.__class__(**{**out, "last_hidden_state": out.last_hidden_state + 5.0})
        )
    seen = of_model(made, Tokenizer(model(name)), first, second, part="cross")
    assert "one kind of a decoder's attention alone is not computed anew" in " ".join(seen.notes)
    with pytest.raises(ConfigError, match="the model computes something other than a"):
        of_model(made, Tokenizer(model(name)), first, second, part="both")


@for_each("name", PAIRS)
def test_heads_are_knocked_out_and_logits_not_taken_apart(name: str) -> None:
    trace = runs()[name]
    out = knock_out(trace, [(1, 0)])
    edited = model(name)(ONE, OTHER, part="both", edits=list(out.edits))
    np.testing.assert_allclose(out.result.array, edited.result.array, rtol=0, atol=1e-12)
    other = model(name)(ONE, "the king was", part="both")
    patched = patch(trace, other, [(None, "embedded", None, None)])
    np.testing.assert_allclose(patched.result.array, other.result.array, rtol=0, atol=1e-12)
    assert np.abs(other.result.array - trace.result.array).max() > 1e-6
    with pytest.raises(
        ConfigError, match="the run is of a decoder beside an encoder, whose logits are not taken apart"
    ):
        attribute(trace, 5)


@for_each("name", PAIRS)
def test_ways_back_are_measured_in_the_decoder_s_own_columns(name: str) -> None:
    text = "the king and the queen and the king"
    whole, own = model(name)(ONE, text, part="both"), model(name)(ONE, text, part="decoder")
    found = behaviours([whole])
    ids = whole.token_ids or ()
    for kind, each in found.items():
        rows = [(row, keys) for way, row, keys in ways(ids) if way == kind]
        weight = np.mean([[A.array[:, row, keys].sum(-1) for row, keys in rows] for A in weights_of(own)], axis=1)
        assert each.n == len(rows) > 0
        np.testing.assert_allclose(each.weight[::2], weight, rtol=0, atol=1e-12)
        assert not each.weight[1::2].any(), "to its own text the other attention gives nothing"


@for_each("name", PAIRS)
def test_so_they_are_over_the_prompts_and_in_a_study(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    some = prompts()[::10]
    monkeypatch.setattr(prompts_of_package, "prompts", lambda: some)
    decoder = model(name).decoder(ONE)
    shape = f"{len(decoder.facts.parts) // 2} layers of {decoder.shape.n_heads} heads"
    assert repr(decoder) == f"<Decoder of {name}: {shape}, beside {ONE!r}>"
    lists = [decoder(each.text) for each in some if not each.word]
    assert 0 < len(lists) < len(some)
    found, expected = behaviours(decoder), behaviours(lists)
    assert {*found} == {*KINDS[:3]}
    for kind, each in found.items():
        assert each.n == expected[kind].n > 0
        np.testing.assert_array_equal(each.weight, expected[kind].weight)
    texts = ["the king and the queen and the king", "a cat sat"]
    measured, traces = study(decoder, texts), [decoder(text) for text in texts]
    assert measured.elsewhere == (1, 3)
    assert "attended to in layers 1, 3" in repr(measured)
    for at, layer in ((0, 0), (2, 2)):
        own = [trace.layers[layer]["weights"].array[..., -len(trace.query_tokens) :] for trace in traces]
        before = np.concatenate([np.diagonal(A, offset=-1, axis1=1, axis2=2) for A in own], axis=1).mean(axis=1)
        np.testing.assert_allclose(measured["share_on_previous"].array[at], before, rtol=0, atol=1e-12)
        assert np.isfinite(measured["induction"].array[at]).all()
    for measure in ("mean_distance", "share_on_previous", "share_on_first", "duplicate", "induction"):
        assert np.isnan(measured[measure].array[1::2]).all(), measure
    assert np.isfinite(measured["entropy"].array).all()


def weights_of(trace: Trace) -> list[Any]:
    return [layer["weights"] for layer in trace.layers]


def test_ways_back_of_a_run_over_two_texts_are_refused() -> None:
    with pytest.raises(ConfigError, match="every row attends to another text; leave it out"):
        behaviours([run(Config(sentence="a b", second_sentence="c d e"))])


def test_wrong_calls_are_said() -> None:
    pair, other, gpt = model("bart"), model("t5"), model("gpt2")
    whole = pair(ONE, OTHER, part="both")
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: pair(None, OTHER, part="both"), "give the first text, as in model.decoder"),  # type: ignore[arg-type]
        (lambda: pair.decoder()(OTHER), "give the first text, as in model.decoder"),
        (lambda: other.next_words(whole), "the trace is no run of this model"),
        (lambda: gpt.next_words(whole), "the trace is no run of this model"),
        (lambda: gpt.logit_lens(whole), "the trace is no run of this model"),
        (lambda: pair.next_words(whole, target="the"), "this run of the decoder has its own; leave it out"),
        (lambda: pair.generate(whole, 3), "the text is <Trace"),  # type: ignore[arg-type]
        (lambda: gpt(ONE, part="both"), "part chooses between an encoder and a decoder, and this model has not both"),
        (lambda: knock_out(whole, [(0, 1)], how="corpus"), "of a trained model that reads one text"),
    ]
    for call, said_so in calls:
        with pytest.raises(ConfigError, match=said_so):
            call()


def test_the_line_above_says_which_columns_are_whose() -> None:
    trace = runs()["bart"]
    m, n = len(trace.key_tokens) - len(trace.query_tokens), len(trace.query_tokens)
    assert headline(trace)[0] == (
        f"2 heads of a decoder, 4 layers deep. In odd layers {n} tokens attend to each other, the last columns; in "
        f"even ones to {m} tokens of the encoder's text, the first columns."
    )


@for_each("name", [*PAIRS, "gpt2", "bert"])
def test_an_edit_of_a_layer_that_there_is_not_is_refused(name: str) -> None:
    texts = {"target": "a dog", "part": "both"} if name in PAIRS else {}
    n_layers = len(model(name)("the cat", **texts).layers)
    model(name)("the cat", edits=[(n_layers - 1, "scores", (0, 0, 0), 1.0)], **texts)
    with pytest.raises(ConfigError, match=f"an edit names layer {n_layers}; choose 0 to {n_layers - 1}"):
        model(name)("the cat", edits=[(n_layers, "scores", (0, 0, 0), 1.0)], **texts)
