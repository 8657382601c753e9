"""The way back through one layer: each step hands its slopes on to the steps that it was made from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.backward.accumulated_slopes import LayerStep, Slopes, back
from attnviz.engine.records import typed_rows
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.blocks import FEED_FORWARDS, NORMS
from attnviz.engine.tables.normalised_axes import NORMALISED_AXES
from attnviz.engine.tables.positions import POSITIONS
from attnviz.engine.tables.scores.slopes import swap
from attnviz.formula import names


class LayerBack:
    """One layer, walked from its end to what it reads."""

    def __init__(self, trace: Trace, slopes: Slopes, i: int) -> None:
        self.trace, self.config, self.slopes, self.i = trace, trace.config, slopes, i
        self.reads: LayerStep = (None, "embedded") if i == 0 else (i - 1, next(reversed(list(trace.layers[i - 1]))))
        self.norm = NORMS[self.config.norm]
        self.source = self.at("normed") if self.norm.applied == "before" else self.reads
        self.source_kv = (None, "embedded_kv") if self.config.is_cross_attention else self.source

    def at(self, name: str) -> LayerStep:
        return self.i, name

    def array(self, name: str) -> Array:
        return self.slopes.array(self.at(name))

    def walk(self) -> None:
        config = self.config
        attended = self.at("output")
        result = self.at("added_normed" if self.norm.applied == "after" else "added" if config.residual else "output")
        if config.feed_forward != "none":
            self._joined("ff_added", result, self.at("ff_output"))
            self._feed_forward(result)
        self._joined("added", self.reads, attended)
        self._output()
        self._mixing()
        self._normaliser()
        self._scores()
        self._projections()
        if self.norm.applied == "before":
            self._norm("normed", self.reads)

    def _norm(self, name: str, source: LayerStep) -> None:
        G, row = self.slopes.through(self.at(name)), self.norm
        if G is not None:
            X = self.slopes.array(source)
            self.slopes.add(source, back(row)(G, X, self.slopes.unedited(self.at(name), lambda: row.fn(X))))

    def _joined(self, name: str, x: LayerStep, y: LayerStep) -> None:
        """Add the slopes through the norm after a block and the sum x + y, where they are on."""
        if self.norm.applied == "after":
            self._norm(f"{name}_normed", self.at(name) if self.config.residual else y)
        G = self.slopes.through(self.at(name)) if self.config.residual else None
        if G is not None:
            self.slopes.add(x, G)
            self.slopes.add(y, G)

    def _affine(self, G: Array, x: LayerStep, w: str, b: str) -> None:
        """Go back through Y = X W + b: G W^T goes to X, X^T G to W, and the sum of the rows to b."""
        self.slopes.add(x, G @ self.array(w).T)
        self.slopes.add(self.at(w), self.slopes.array(x).T @ G)
        self.slopes.add(self.at(b), G.sum(axis=0))

    def _feed_forward(self, result: LayerStep) -> None:
        G = self.slopes.through(self.at("ff_output"))
        if G is not None:
            self._affine(G, self.at("ff_hidden"), "w_2", "b_2")
        source = self.at("ff_normed") if self.norm.applied == "before" else result
        G, activated = self.slopes.through(self.at("ff_hidden")), self.at("ff_hidden")
        if FEED_FORWARDS[self.config.feed_forward].gated:
            activated = self.at("ff_gate")
            G = self._through_gates(G, source)
        if G is not None:
            self._activation(G, activated, source)
        if self.norm.applied == "before":
            self._norm("ff_normed", result)

    def _through_gates(self, G: Array | None, source: LayerStep) -> Array | None:
        """Go back through the gates, F = F_1 * F_3: each takes G times the other."""
        if G is not None:
            self.slopes.add(self.at("ff_gate"), G * self.array("ff_up"))
            self.slopes.add(self.at("ff_up"), G * self.array("ff_gate"))
        up = self.slopes.through(self.at("ff_up"))
        if up is not None:
            self._affine(up, source, "w_3", "b_3")
        return self.slopes.through(self.at("ff_gate"))

    def _activation(self, G: Array, at: LayerStep, source: LayerStep) -> None:
        """Go back through the activation of the hidden units, and W_1."""
        row, X = FEED_FORWARDS[self.config.feed_forward], self.slopes.array(source) @ self.array("w_1")
        if self.at("b_1") in self.slopes.steps:
            X = X + self.array("b_1")
        F = self.slopes.unedited(at, lambda: row.fn(X))
        self._affine(back(row)(G, X, F), source, "w_1", "b_1")

    def _output(self) -> None:
        G = self.slopes.through(self.at("output"))
        if G is not None and self.at("w_o") in self.slopes.steps:
            self._affine(G, self.at("concat"), "w_o", "b_o")
        elif G is not None:
            self.slopes.add(self.at("concat"), G)
        G = self.slopes.through(self.at("concat"))
        if G is not None:
            Z, start = np.zeros(self.array("heads").shape), 0
            for h, width in enumerate(np.repeat(self.config.value_widths(), self.config.group_size).tolist()):
                Z[h, :, :width] = G[:, start : start + width]
                start += width
            self.slopes.add(self.at("heads"), Z)

    def _each(self, name: str) -> Array:
        """Return keys or values, those of its group for each head."""
        return np.repeat(self.array(name), self.config.group_size, axis=0)

    def _shared(self, G: Array) -> Array:
        """Add up the slopes of what several heads share."""
        group = self.config.group_size
        return G if group == 1 else G.reshape(-1, group, *G.shape[1:]).sum(axis=1)

    def _mixing(self) -> None:
        """Go back through Z = A V: G V^T goes to A, A^T G to V; a value that is not finite is left out."""
        G = self.slopes.through(self.at("heads"))
        if G is not None:
            V = self._each("values")
            V = V if np.isfinite(V.sum()) else np.where(np.isfinite(V), V, 0.0)
            self.slopes.add(self.at("weights"), G @ swap(V))
            self.slopes.add(self.at("values"), self._shared(swap(self.array("weights")) @ G))

    def _normaliser(self) -> None:
        """Go back from the weights to the masked scores and, of allowed keys, to the bias and the capped scores."""
        G, row = self.slopes.through(self.at("weights")), typed_rows.normaliser_of(self.config)
        X, T, over = self.array("masked"), self.config.temperature, self.config.normalise_over
        if G is not None:
            A = self.slopes.unedited(self.at("weights"), lambda: NORMALISED_AXES[over].fn(row.fn, X, T))
            turn = swap if over == "queries" else np.asarray
            self.slopes.add(self.at("masked"), turn(back(row)(turn(G), turn(X), turn(A), T)))
        G = self.slopes.through(self.at("masked"))
        if G is not None:
            G = np.where(self.array("allowed"), G, 0.0)
            self.slopes.add(self.at("bias"), G)
            self.slopes.add(self.at("capped"), G)

    def _scores(self) -> None:
        """Go back through the soft cap, the scale and the score function."""
        config, row = self.config, typed_rows.score_of(self.config)
        G = self.slopes.through(self.at("capped"))
        if G is not None and config.softcap:
            make = lambda: config.softcap * np.tanh(self.array("scaled") / config.softcap)  # noqa: E731
            G = G * (1.0 - (self.slopes.unedited(self.at("capped"), make) / config.softcap) ** 2)
        if G is not None:
            self.slopes.add(self.at("scaled"), G)
        G = self.slopes.through(self.at("scaled"))
        if G is not None:
            widths = np.repeat(config.key_widths(), config.group_size).tolist()
            scale = np.array([row.scale(d) if config.scale is None else config.scale for d in widths])
            self.slopes.add(self.at("scores"), G if (scale == 1.0).all() else G * scale[:, None, None])
        G = self.slopes.through(self.at("scores"))
        if G is None:
            return
        dQ, dK, of_parameters = back(row)(
            G, self.array("scores"), self.array("queries"), self._each("keys"), **self._parameters_of_score(row)
        )
        self.slopes.add(self.at("queries"), dQ)
        self.slopes.add(self.at("keys"), self._shared(dK))
        for name, gradient in of_parameters.items():
            self.slopes.add(self.at(names.STEPS[name]), gradient if row.parameters[name] else gradient[:, None])

    def _parameters_of_score(self, row: Any) -> dict[str, Array]:
        """Return the score function's own matrices, as it takes them."""
        steps = {name: names.STEPS[name] for name in row.parameters if self.at(names.STEPS[name]) in self.slopes.steps}
        return {name: self.array(s) if row.parameters[name] else self.array(s)[:, 0] for name, s in steps.items()}

    def _projections(self) -> None:
        widths = {"values": (), "keys": self.config.key_widths()}
        widths["queries"] = tuple(np.repeat(widths["keys"], self.config.group_size).tolist())
        for name, source in (("values", self.source_kv), ("keys", self.source_kv), ("queries", self.source)):
            G = self._turned_back(name, widths[name])
            if G is None:
                continue
            w, b = f"w_{name[0]}", f"b_{name[0]}"
            self.slopes.add(source, (G @ swap(self.array(w))).sum(axis=0))  # one large product would wake all threads
            self.slopes.add(self.at(w), self.slopes.array(source).T @ G)
            self.slopes.add(self.at(b), G.sum(axis=1))
        for letter in "wb":
            self._tied(f"{letter}_q", f"{letter}_k")

    def _turned_back(self, name: str, widths: Iterable[int]) -> Array | None:
        """Return slopes of the queries, keys or values as they were projected, before RoPE rotated them."""
        G, row = self.slopes.through(self.at(name)), POSITIONS[self.config.position]
        before = self.at(f"projected_{name}")
        if before not in self.slopes.steps:
            return G
        if G is not None:
            unrotated = np.zeros(G.shape)
            for h, width in enumerate(widths):
                unrotated[h, :, :width] = back(row)(G[h, :, :width], **row.settings(self.config))
            self.slopes.add(before, unrotated)
        return self.slopes.through(before)

    def _tied(self, q: str, k: str) -> None:
        """Go back through W_K = W_Q: the keys' matrix is the queries', and heads that share keys have one."""
        drawn = self.trace.given_in[self.i] if self.trace.given_in else frozenset()
        if not self.config.tied or k in drawn or self.at(q) not in self.slopes.steps:
            return
        G = self.slopes.through(self.at(k)) if self.at(k) in self.slopes.steps else None
        group = self.config.group_size
        if G is not None:
            first = np.zeros(self.array(q).shape)
            first[::group] = G
            self.slopes.add(self.at(q), first)
        whole = self.slopes.of(self.at(q))
        if whole is not None and group > 1:
            self.slopes.replace(self.at(q), np.repeat(self._shared(whole), group, axis=0))
