"""A run written once more in PyTorch, a head at a time, so that its automatic derivatives can be asked for any step.

It takes tokens' vectors, positions, biases, masks and parameters from a trace, and computes everything else anew.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from attnviz import Trace

StepName = tuple[int | None, str]


class TorchRun:
    """The steps of a run as tensors that keep their derivatives, by layer and name."""

    def __init__(self, torch: Any, trace: Trace) -> None:
        self.torch, self.trace, self.config = torch, trace, trace.config
        self.steps: dict[StepName, Any] = {}
        self.edits: dict[StepName, list[Any]] = {}
        for layer, name, index, value in trace.edits:
            self.edits.setdefault((layer, name), []).append((index, value))
        kinds = ("", "_kv") if self.config.is_cross_attention else ("",)
        X = [
            self.record(
                None, f"embedded{s}", self.leaf(None, f"token_embeddings{s}") + self.leaf(None, f"positions{s}")
            )
            for s in kinds
        ]
        x = X[0]
        for i in range(len(trace.layers)):
            x = self.layer(i, x, X[-1] if len(X) > 1 else None)

    def tensor(self, array: Any) -> Any:
        return self.torch.tensor(np.array(array, dtype=float), dtype=self.torch.float64)

    def leaf(self, layer: int | None, name: str) -> Any:
        """A step that was drawn or given, as it stands in the trace."""
        steps = self.trace.around if layer is None else self.trace.layers[layer]
        if name not in steps:
            return None
        self.steps[layer, name] = self.tensor(steps[name].array).requires_grad_()
        return self.steps[layer, name]

    def record(self, layer: int | None, name: str, y: Any) -> Any:
        """Keep a step that was computed, with what was changed by hand in it."""
        if (layer, name) in self.edits:
            mask = self.torch.zeros(y.shape, dtype=self.torch.bool)
            values = self.torch.zeros(y.shape, dtype=self.torch.float64)
            for index, value in self.edits[layer, name]:
                mask[index], values[index] = True, value
            y = self.torch.where(mask, values, y)
        y = y + 0.0
        if not y.requires_grad:
            y.requires_grad_()
        y.retain_grad()
        self.steps[layer, name] = y
        return y

    def layer(self, i: int, x: Any, x_kv: Any) -> Any:
        config = self.config
        source = self.normed(i, "normed", x, ("pre", "rms"))
        y = self.attention(i, source, source if x_kv is None else x_kv)
        y = self.joined(i, "added", x, y)
        if config.feed_forward == "none":
            return y
        source = self.normed(i, "ff_normed", y, ("pre", "rms"))
        hidden = plus(source @ self.leaf(i, "w_1"), self.leaf(i, "b_1"))
        f = self.activated(hidden)
        if config.feed_forward in ("swiglu", "geglu"):
            f = self.record(i, "ff_gate", f)
            f = f * self.record(i, "ff_up", plus(source @ self.leaf(i, "w_3"), self.leaf(i, "b_3")))
        f = self.record(i, "ff_hidden", f)
        g = self.record(i, "ff_output", plus(f @ self.leaf(i, "w_2"), self.leaf(i, "b_2")))
        return self.joined(i, "ff_added", y, g)

    def activated(self, z: Any) -> Any:
        functional = self.torch.nn.functional
        match self.config.feed_forward:
            case "relu":
                return functional.relu(z)
            case "swiglu":
                return functional.silu(z)
            case "gelu_tanh":
                return functional.gelu(z, approximate="tanh")
        return 0.5 * z * (1 + self.torch.erf(z / math.sqrt(2)))

    def normed(self, i: int, name: str, x: Any, where: tuple[str, ...]) -> Any:
        if self.config.norm not in where:
            return x
        return self.record(i, name, rms(x) if self.config.norm == "rms" else norm(x))

    def joined(self, i: int, name: str, x: Any, y: Any) -> Any:
        if self.config.residual:
            y = self.record(i, name, x + y)
        return self.normed(i, f"{name}_normed", y, ("post",))

    def attention(self, i: int, x: Any, x_kv: Any) -> Any:
        torch, config, group = self.torch, self.config, self.config.group_size
        w_q, b_q = self.leaf(i, "w_q"), self.leaf(i, "b_q")
        w_k, b_k = (self.tied(i, letter, q) for letter, q in (("w", w_q), ("b", b_q)))
        w_v, b_v = self.leaf(i, "w_v"), self.leaf(i, "b_v")
        Q, K, V = (self.projected(y, w, b) for y, w, b in ((x, w_q, b_q), (x_kv, w_k, b_k), (x_kv, w_v, b_v)))
        d_k = list(config.key_widths())
        d_q = [d_k[h // group] for h in range(config.n_heads)]
        Q, K = self.rotated(i, "queries", Q, d_q), self.rotated(i, "keys", K, d_k)
        V = self.record(i, "values", V)
        steps = self.trace.layers[i]
        allowed, bias = torch.tensor(np.array(steps["allowed"].array)), self.leaf(i, "bias")
        parameters = {n.removeprefix("score_"): self.leaf(i, n) for n in steps if n.startswith("score_")}
        S = torch.stack([self.scores(h, Q[h][:, :d], K[h // group][:, :d], d, parameters) for h, d in enumerate(d_q)])
        S = self.record(i, "scores", S)
        scale = [
            config.scale if config.scale is not None else 1 / math.sqrt(d) if config.score == "scaled_dot" else 1.0
            for d in d_q
        ]
        S = self.record(i, "scaled", S * self.tensor(scale)[:, None, None])
        S = self.record(i, "capped", config.softcap * torch.tanh(S / config.softcap) if config.softcap else S)
        S = self.record(i, "masked", torch.where(allowed, S if bias is None else S + bias, -torch.inf))
        turn = (lambda a: a.transpose(-1, -2)) if config.normalise_over == "queries" else (lambda a: a)
        A = self.record(i, "weights", turn(self.normalised(turn(S))))
        Z = self.record(i, "heads", torch.stack([A[h] @ V[h // group] for h in range(config.n_heads)]))
        d_v = config.value_widths()
        C = self.record(i, "concat", torch.cat([Z[h][:, : d_v[h // group]] for h in range(config.n_heads)], dim=-1))
        w_o = self.leaf(i, "w_o")
        return self.record(i, "output", C if w_o is None else plus(C @ w_o, self.leaf(i, "b_o")))

    def tied(self, i: int, letter: str, q: Any) -> Any:
        """W_K or its bias: taken from that of the queries where the setting says so."""
        if not self.config.tied or q is None:
            return self.leaf(i, f"{letter}_k")
        return self.record(i, f"{letter}_k", q[:: self.config.group_size])

    def projected(self, x: Any, w: Any, b: Any) -> Any:
        return self.torch.stack([plus(x @ w[h], None if b is None else b[h]) for h in range(len(w))])

    def rotated(self, i: int, name: str, Y: Any, widths: list[int]) -> Any:
        if self.config.position != "rope":
            return self.record(i, name, Y)
        Y = self.record(i, f"projected_{name}", Y)
        heads = []
        for y, width in zip(Y, widths):
            columns = list(y.unbind(-1))
            for pair in range(width // 2):
                angle = self.tensor(np.arange(len(y)) * self.config.rope_base ** (-2 * pair / width))
                one, other, c, s = columns[2 * pair], columns[2 * pair + 1], angle.cos(), angle.sin()
                columns[2 * pair], columns[2 * pair + 1] = one * c - other * s, one * s + other * c
            heads.append(self.torch.stack(columns, dim=-1))
        return self.record(i, name, self.torch.stack(heads))

    def scores(self, h: int, q: Any, k: Any, d: int, parameters: Mapping[str, Any]) -> Any:
        torch = self.torch
        pairs = q[:, None, :], k[None, :, :]
        match self.config.score:
            case "scaled_dot" | "dot":
                return q @ k.T
            case "general":
                return q @ parameters["w"][h][:d, :d] @ k.T
            case "additive":
                left, right = q @ parameters["w_q"][h][:d], k @ parameters["w_k"][h][:d]
                left = left + parameters["b"][h] if "b" in parameters else left
                return torch.tanh(left[:, None] + right[None]) @ parameters["v"][h]
            case "cosine":
                return (q / length(torch, q)) @ (k / length(torch, k)).T
            case "gaussian":
                return -0.5 * ((pairs[0] - pairs[1]) ** 2).sum(-1)
            case "negative_distance":
                far = ((pairs[0] - pairs[1]) ** 2).sum(-1)
                return -torch.where(far > 0, torch.sqrt(torch.where(far > 0, far, 1.0)), 0.0)
            case "location":
                return q @ parameters["w"][h][:d]
            case "multiplicative_tanh":
                return torch.tanh(q @ parameters["w"][h][:d, :d] @ k.T)
            case "qk_norm":
                return (q / length(torch, q) * parameters["vector_u"][h][:d] * math.sqrt(d)) @ (
                    k / length(torch, k) * parameters["vector_w"][h][:d]
                ).T
            case "scaled_cosine":
                return (q / length(torch, q)) @ (k / length(torch, k)).T / parameters["tau"][h, 0].clamp(min=0.01)
            case "formula" if self.config.score_formula.startswith("sum(tanh"):
                distances = abs(self.tensor(np.arange(len(q)))[:, None] - self.tensor(np.arange(len(k)))[None])
                return torch.tanh(pairs[0] * pairs[1]).sum(-1) / math.sqrt(d) - 0.1 * distances
            case "formula":
                return (torch.exp(-abs(pairs[0] - pairs[1])) @ parameters["v"][h][:d]) * parameters["g"][h, 0]
        raise NotImplementedError(f"TorchRun.scores in tests/torch_attention.py needs the score {self.config.score}")

    def normalised(self, X: Any) -> Any:
        torch, allowed = self.torch, ~torch_isneginf(self.torch, X)
        z = torch.where(allowed, X, 0.0) / self.config.temperature
        largest = torch.where(allowed, z, -torch.inf).amax(-1, keepdim=True).detach()
        largest = torch.where(torch.isinf(largest), 0.0, largest)
        name = self.config.normaliser
        if name == "formula":
            name = "softmax" if self.config.normaliser_formula.startswith("e =") else "relu_over_n"
        match name:
            case "softmax":
                e = torch.where(allowed, torch.exp(z - largest), 0.0)
                return ratio(torch, e, e.sum(-1, keepdim=True))
            case "quiet_softmax" | "softmax_with_sink":  # with its sink at 0
                shift = largest.clamp(min=0.0)
                e = torch.where(allowed, torch.exp(z - shift), 0.0)
                return e / (torch.exp(-shift) + e.sum(-1, keepdim=True))
            case "sigmoid":
                return torch.where(allowed, torch.sigmoid(z), 0.0)
            case "hardmax":
                return self.tensor(self._now(X)) + 0.0 * z
            case "linear":
                p = torch.where(allowed, torch.relu(torch.where(allowed, X, 0.0)), 0.0)
                return ratio(torch, p, p.sum(-1, keepdim=True))
            case "relu_over_n" | "squared_relu_over_n":
                power = 2 if name.startswith("squared") else 1
                p = torch.where(allowed, torch.relu(z), 0.0) ** power
                return ratio(torch, p, allowed.sum(-1, keepdim=True).double())
            case "entmax":
                return self.sparse(z, allowed, power=4)  # 1 / (order - 1), with its order of 1.25
            case "sparsemax" | "entmax15":
                return self.sparse(z, allowed, power=1 if name == "sparsemax" else 2)
        raise NotImplementedError(f"TorchRun.normalised in tests/torch_attention.py needs the normaliser {name}")

    def _now(self, X: Any) -> Any:
        """The weights of hardmax, written by hand: equal but for rounding is equal."""
        found = np.zeros(X.shape)
        for at in np.ndindex(X.shape[:-1]):
            row = X[at].detach().numpy()
            finite = row[np.isfinite(row)]
            if len(finite):
                wins = row >= finite.max() - 1e-9 * (finite.max() - finite.min())
                found[at] = wins / wins.sum()
        return found

    def sparse(self, z: Any, allowed: Any, power: int) -> Any:
        """Sparsemax and entmax: the threshold by halving an interval, and then in closed form on its support, or by one
        step of Newton's method, whose derivative is that of the threshold."""
        torch = self.torch
        z = torch.where(allowed, z / power, -1e9)
        with torch.no_grad():
            low, high = z.amax(-1, keepdim=True) - 1.0, z.amax(-1, keepdim=True)
            for _ in range(80):
                middle = (low + high) / 2
                many = (torch.relu(z - middle) ** power).sum(-1, keepdim=True) > 1
                low, high = torch.where(many, middle, low), torch.where(many, high, middle)
            support = (z > high) & allowed
        n = support.sum(-1, keepdim=True).clamp(min=1).double()
        mean = torch.where(support, z, 0.0).sum(-1, keepdim=True) / n
        if power == 1:
            threshold = mean - 1.0 / n
        elif power > 2:
            above = torch.where(support, z - high, 0.0)
            steep = power * (above ** (power - 1)).sum(-1, keepdim=True).detach()
            threshold = high + ratio(torch, (above**power).sum(-1, keepdim=True) - 1.0, steep)
        else:
            spread = torch.where(support, (z - mean) ** 2, 0.0).sum(-1, keepdim=True)
            threshold = mean - torch.sqrt(torch.clamp(1.0 - spread, min=1e-300) / n)
        return torch.where(support, (z - threshold) ** power, 0.0)


def torch_isneginf(torch: Any, X: Any) -> Any:
    return torch.isinf(X) & (X < 0)


def plus(y: Any, b: Any) -> Any:
    return y if b is None else y + b


def norm(x: Any) -> Any:
    centred = x - x.mean(-1, keepdim=True)
    return centred / ((centred**2).mean(-1, keepdim=True) + 1e-5) ** 0.5


def rms(x: Any) -> Any:
    return x / ((x**2).mean(-1, keepdim=True) + 1e-5) ** 0.5


def ratio(torch: Any, x: Any, y: Any) -> Any:
    return torch.where(y == 0, 0.0, x / torch.where(y == 0, 1.0, y))


def length(torch: Any, x: Any) -> Any:
    squared = (x * x).sum(-1, keepdim=True)
    return torch.where(squared > 0, torch.sqrt(torch.where(squared > 0, squared, 1.0)), 1.0)
