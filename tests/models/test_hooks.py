"""Knocked-out heads, patches and attributions beside hooks on the same model in PyTorch, in float64 from end to end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from attnviz import attribute, gradients, knock_out, patch
from tests.support.cases import for_each
from tests.support.small_models import FOLDER, NAMES, model

ONE, OTHER = "the king and the queen saw", "the king and the river saw"
OUTPUTS = ("attn.c_proj", "attention.out_proj", "attention.dense", "self_attn.o_proj", "self_attn.out_proj")
"""What turns the heads of a layer, side by side, into its output: the ends of its names in the families."""


class _Double:
    """PyTorch to a module that asks for float32 in the middle of its arithmetic, and is given float64."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def __getattr__(self, name: str) -> Any:
        return self._torch.float64 if name in ("float", "float32") else getattr(self._torch, name)


def in_double(name: str, torch: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A model of Transformers that computes in float64 wherever it would choose float32 itself."""
    transformers = pytest.importorskip("transformers")
    how = {"dtype": torch.float64, "attn_implementation": "eager"}
    how |= {"experts_implementation": "eager"} if model(name).shape.n_experts else {}  # the others know no float64
    kind = transformers.AutoModelForCausalLM if model(name).writes_on else transformers.AutoModel
    made = kind.from_pretrained(FOLDER / name, **how).double().eval()
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)
    monkeypatch.setattr(sys.modules[type(made).__module__], "torch", _Double(torch))
    if model(name).shape.rotates(0):
        [turn] = [module for at, module in made.named_modules() if at.endswith("rotary_emb")]
        for i, frequencies in enumerate(model(name).shape.frequencies):
            kinds = getattr(turn, "layer_types", None)  # where layers rotate by angles of their own
            its = f"{made.config.layer_types[i]}_inv_freq" if kinds else "inv_freq"
            setattr(turn, its, torch.tensor(np.asarray(frequencies)))
    return made


class Hooked:
    """A model whose heads can be read and put otherwise on their way into the output projection."""

    def __init__(self, made: Any, n_heads: int, torch: Any) -> None:
        self._made, self._torch, self.n_heads = made, torch, n_heads
        self.outputs = [module for at, module in made.named_modules() if at.endswith(OUTPUTS)]
        parts = dict(made.named_modules())
        ends = [(f"h.{i}", f"layers.{i}") for i in range(len(self.outputs))]
        self.blocks = [next(parts[at] for at in parts if at.endswith(each)) for each in ends]

    @contextmanager
    def _hooked(self, hooks: list[Any]) -> Iterator[None]:
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()

    def __call__(self, ids: list[int], put: Any = None, after: Any = None) -> SimpleNamespace:
        """The logits, the heads (layers, heads, n, d_v) and what each block hands on.

        put    (layer, heads) -> heads;  `after` (layer, stream) -> stream
        """
        found = SimpleNamespace(heads=[], streams=[], scores=None)

        def read(layer: int, given: Any) -> Any:
            n, width = given.shape[1:]
            Z = given[0].reshape(n, self.n_heads, width // self.n_heads).transpose(0, 1).clone()
            Z = Z if put is None else put(layer, Z)
            found.heads.append(Z.numpy())
            return (Z.transpose(0, 1).reshape(1, n, width),)

        def hand_on(layer: int, given: Any) -> Any:
            whole = given if self._torch.is_tensor(given) else given[0]
            stream = whole[0].clone() if after is None else after(layer, whole[0].clone())
            found.streams.append(stream.numpy())
            return stream[None] if self._torch.is_tensor(given) else (stream[None], *given[1:])

        hooks = [m.register_forward_pre_hook(lambda _, x, i=i: read(i, x[0])) for i, m in enumerate(self.outputs)]
        hooks += [m.register_forward_hook(lambda _, x, y, i=i: hand_on(i, y)) for i, m in enumerate(self.blocks)]
        with self._hooked(hooks), self._torch.no_grad():
            found.scores = self._made(self._torch.tensor([ids])).logits[0].numpy()
        found.heads = np.stack(found.heads)
        return found


@for_each("name", [name for name in NAMES if model(name).writes_on])
def test_it_is_what_hooks_in_pytorch_give(name: str, torch: Any) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        _compare(name, torch, monkeypatch)


WITH_SLOPES = [*(name for name in NAMES if model(name).writes_on), "bart", "t5", "t5_encoder"]


@for_each("name", WITH_SLOPES)
def test_slopes_are_those_of_autograd(name: str, torch: Any) -> None:
    trace = model(name)(ONE)
    G = np.random.default_rng(0).normal(size=trace.result.shape)
    slopes = gradients(trace, {(len(trace.layers) - 1, trace.result.name): G})
    with pytest.MonkeyPatch.context() as monkeypatch:
        made, read = in_double(name, torch, monkeypatch), []
        made = made if model(name).writes_on else made.get_encoder()
        made.get_input_embeddings().register_forward_hook(lambda _, x, y: read.append(y) or y.retain_grad())
        with torch.enable_grad():
            last = made(torch.tensor([list(trace.token_ids)]), output_hidden_states=True).hidden_states[-1]
            (last[0] * torch.tensor(G)).sum().backward()
        theirs = read[0].grad[0].numpy()
    ours = slopes["token_embeddings"].array
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())


def _compare(name: str, torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = model(name)
    heads = made.shape.n_heads
    hooked = Hooked(in_double(name, torch, monkeypatch), heads, torch)
    trace, other = made(ONE), made(OTHER)
    n = len(trace.query_tokens)
    assert len(other.query_tokens) == n
    assert len(hooked.outputs) == len(trace.layers) == len(hooked.blocks)
    ids, theirs = list(trace.token_ids), hooked(list(other.token_ids))

    def same(found: Any, hooks: Any) -> None:
        ours = np.stack([made.scores(found, row)[-1] for row in range(n)])
        np.testing.assert_allclose(ours, hooks.scores, rtol=0, atol=1e-9)
        for i, layer in enumerate(found.layers):
            np.testing.assert_allclose(layer["heads"].array, hooks.heads[i], rtol=0, atol=1e-9)

    plain = hooked(ids)
    same(trace, plain)
    chosen = [(0, heads - 1), (1, 0)]

    def without(mean: bool) -> Any:
        def put(layer: int, Z: Any) -> Any:
            for at, head in chosen:
                if at == layer:
                    Z[head] = torch.tensor(plain.heads[at][head]).mean(dim=0) if mean else 0.0
            return Z

        return put

    off, mean = knock_out(trace, chosen), knock_out(trace, chosen, "mean")
    same(off, hooked(ids, without(mean=False)))
    same(mean, hooked(ids, without(mean=True)))
    for one, two in ((off, trace), (mean, off)):
        assert np.abs(one.result.array - two.result.array).max() > 1e-3

    def from_other(layer: int, Z: Any) -> Any:
        if layer == 0:
            Z[1, 3:5] = torch.tensor(theirs.heads[0][1, 3:5])
        return Z

    same(patch(trace, other, [(0, "heads", [3, 4], 1)]), hooked(ids, from_other))

    def stream(layer: int, X: Any) -> Any:
        if layer == 0:
            X[4:] = torch.tensor(theirs.streams[0][4:])
        return X

    same(patch(trace, other, [(0, "ff_added", range(4, n), None)]), hooked(ids, after=stream))
    _attributed(made, hooked, trace, plain)


def _attributed(made: Any, hooked: Hooked, trace: Any, plain: Any) -> None:
    """Each head's part: what its output adds to the stream, read off through the last norm with its scale held."""
    one, instead, row = 5, 77, 4
    found = attribute(trace, one, instead, position=row)
    ends = ("ln_f", "final_layer_norm", "model.norm")
    norms = {at: module for at, module in hooked._made.named_modules() if at.endswith(ends)}
    norm = norms[min(norms, key=len)]  # OPT's layers have norms of that name, too
    gain = norm.weight.detach().numpy() + made.shape.gain
    U = hooked._made.get_output_embeddings().weight.detach().numpy()
    x = plain.streams[-1][row]
    centred, eps = made.facts.centred, made.facts.eps
    w = gain * (U[one] - U[instead])
    w = (w - w.mean() if centred else w) / np.sqrt((x.var() if centred else (x**2).mean()) + eps)
    for i, output in enumerate(hooked.outputs):
        W = output.weight.detach().numpy()
        W = W if made.family == "gpt2" else W.T
        into = plain.heads[i][:, row]
        each = np.stack([z @ W[h * len(z) : (h + 1) * len(z)] for h, z in enumerate(into)])
        if "output_normed" in trace.layers[i]:
            y = each.sum(axis=0)
            behind = hooked.blocks[i].post_attention_layernorm.weight.detach().numpy()
            each = each * (made.shape.gain + behind) / np.sqrt((y**2).mean() + eps)
        np.testing.assert_allclose(found.heads[i], each @ w, rtol=0, atol=1e-9)
    if not made.shape.logits_softcap:
        np.testing.assert_allclose(found.logit, plain.scores[row, one] - plain.scores[row, instead], rtol=0, atol=1e-9)
