"""The sheets of a workbook for each layer: its matrices, its mask, each of its heads, and its output."""

from __future__ import annotations

import numpy as np

from attnviz.engine.external.traces import first_steps
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_of, score_of
from attnviz.engine.tables.normalisers.hardmax import size_of_terms
from attnviz.exports.workbook import score_formulas as formulas
from attnviz.exports.workbook import typed as workbook_typed
from attnviz.exports.workbook.layout import FORBIDDEN, Block, Book, Formula, Sheet
from attnviz.exports.workbook.normaliser_formulas import MaskedScores
from attnviz.exports.workbook.score_formulas import Pair, added, numbers, product, same, shape
from attnviz.exports.workbook.settings_sheet import Inputs, embedded, setting
from attnviz.exports.workbook.steps import PER_HEAD, StepWriter
from attnviz.formula import names
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words, translate

NAMES = {
    "normed": "Normed",
    "parameters": "Projections",
    "allowed": "Mask",
    "head": "Head {n}",
    "output": "Output",
}
TITLES = Words(
    {
        "normed": "The input, normalised",
        "parameters": "The matrices",
        "allowed": "The mask",
        "head": "Head {n}",
        "output": "From the heads to the output",
    }
)
LINES = Words(
    {"allowed": ("1 means that the query of the row may attend to the key of the column, 0 that it may not.",)}
)
LAYER_NAME, LAYER_TITLE = "L{n} {name}", "Layer {n} · {title}"
SHARED = "{heading} · made on the sheet {sheet}"
FEED_FORWARD = ("w_1", "b_1", "w_3", "b_3", "w_2", "b_2")


def sheets(trace: Trace) -> Book:
    """Return every sheet of the workbook of a run, as blocks of numbers and formulas.

    Raises ConfigError for a run too large for a workbook, and for one with infinity where no mask put it.
    """
    book, is_self = Book(), not trace.config.is_cross_attention
    with np.errstate(all="ignore"):
        inputs = setting(book, trace)
        X, X_kv = embedded(book, trace)
        for layer in range(len(trace.layers)):
            X = LayerSheets(book, trace, layer, inputs).write(X, X if is_self else X_kv)
    return book


class LayerSheets:
    """The sheets of one layer. Steps that were given and not computed are numbers to change, like parameters."""

    def __init__(self, book: Book, trace: Trace, layer: int, inputs: Inputs) -> None:
        self._book, self._config, self._layer, self._inputs = book, trace.config, layer, inputs
        self._is_one_of_many = len(trace.layers) > 1
        self._steps = trace.layers[layer]
        self._given = first_steps(self._steps)
        self._writer = StepWriter(trace, layer, self._steps)
        self._blocks: dict[tuple[str, int], Block] = {}

    def write(self, X: Block | None, X_kv: Block | None) -> Block | None:
        """Write every sheet of the layer; return what it hands on, None where there is nothing."""
        source, is_self = X, X is X_kv
        if X is not None and "normed" in self._steps:
            sheet = self._sheet("normed")
            source = self._writer.step(sheet, "normed", self._normed(sheet, X))
        if not self._given:
            self._parameters()
        if "allowed" in self._steps:
            self._keep("allowed", 0, self._writer.step(self._sheet("allowed"), "allowed", None))
        for h in range(len(self._steps["weights"].array)):
            self._head(h, source, source if is_self else X_kv)
        return self._output(X) if "output" in self._steps else None

    def _sheet(self, which: str, n: int = 0) -> Sheet:
        name, title = NAMES[which].format(n=n), TITLES[which].format(n=n)
        if self._is_one_of_many:
            name = LAYER_NAME.format(n=ordinal(self._layer), name=name.lower())
            title = translate(LAYER_TITLE, n=ordinal(self._layer), title=title)
        return self._book.sheet(name, title, LINES.get(which, ()))

    def _keep(self, name: str, head: int, block: Block) -> Block:
        self._blocks[name, head] = block
        return block

    def _parameters(self) -> None:
        """Place matrices and biases; those of which every head has its own stand side by side."""
        sheet = self._sheet("parameters")
        for name in PER_HEAD:
            beside = None
            for head in range(len(self._steps[name].array) if name in self._steps else 0):
                beside = self._writer.step(sheet, name, self._tied(name, head), head, beside=beside)
                self._keep(name, head, beside)
        for name in ("w_o", "b_o", *FEED_FORWARD):
            if name in self._steps:
                self._keep(name, 0, self._writer.step(sheet, name, None))

    def _tied(self, name: str, head: int) -> Formula | None:
        """Place W_K as the cells of W_Q where one matrix serves both, and its bias likewise."""
        if not self._config.tied or name not in ("w_k", "b_k"):
            return None
        other = self._blocks[name.replace("k", "q"), head * self._config.group_size]
        array, edited = np.atleast_2d(self._steps[name].head(head)), self._writer.edited(name, head)
        differing = zip(*np.nonzero(array != other.array))
        return same(other) if all((int(i), int(j)) in edited for i, j in differing) else None

    def _head(self, h: int, X: Block | None, X_kv: Block | None) -> None:
        """Write one head from its queries, keys and values to what it hands on."""
        sheet, group = self._sheet("head", ordinal(h)), h // self._config.group_size
        pair = V = None
        if "queries" in self._steps:
            Q = self._rotated(sheet, "queries", h, X)
            K, V = (self._of_group(sheet, name, group, X_kv) for name in ("keys", "values"))
            pair = Pair(sheet, Q, K, self._of_score(h))
        A = self._weights(sheet, h, pair)
        if V is not None:
            self._keep("heads", h, self._writer.step(sheet, "heads", product(A, V), h))

    def _of_group(self, sheet: Sheet, name: str, group: int, X: Block | None) -> Block:
        """Return keys or values; those that another head has made stand again on the sheet of this one."""
        block = self._blocks.get((name, group))
        if block is None:
            return self._rotated(sheet, name, group, X)
        heading = translate(SHARED, heading=block.heading, sheet=block.sheet)
        return sheet.add(heading, block.array, same(block), rows=block.rows, columns=block.columns)

    def _rotated(self, sheet: Sheet, name: str, head: int, X: Block | None) -> Block:
        """Return queries, keys or values, rotated where RoPE is on."""
        formula, unturned = None if X is None else self._projected(X, name[0], head), f"projected_{name}"
        if unturned in self._steps:
            Y = self._writer.step(sheet, unturned, formula, head)
            formula = formulas.rotated(sheet, Y, self._config.rope_base, self._inputs.rope_base)
        return self._keep(name, head, self._writer.step(sheet, name, formula, head))

    def _projected(self, X: Block, letter: str, head: int) -> Formula:
        return product(X, self._blocks[f"w_{letter}", head], self._blocks.get((f"b_{letter}", head)))

    def _of_score(self, h: int) -> dict[str, Block]:
        """Return the score's own matrices, by their names in it; one that this run does not have is left out."""
        parameters = [(name, (names.STEPS[name], h)) for name in score_of(self._config).parameters]
        return {name: self._blocks[position] for name, position in parameters if position in self._blocks}

    def _weights(self, sheet: Sheet, h: int, pair: Pair | None) -> Block:
        """Write from the scores to the weights of a head."""
        if "masked" not in self._steps:
            return self._writer.step(sheet, "weights", None, h)
        config = self._config
        masked = self._masked(sheet, h, self._capped(sheet, h, pair))
        over_queries = config.normalise_over == "queries"
        size = ("0", 0.0) if pair is None else self._size_of_terms(pair, h)
        lines = MaskedScores(sheet, masked, self._inputs.temperature, config.temperature, over_queries, size)
        normaliser = normaliser_of(config)
        if normaliser.written:
            formula = normaliser.written.workbook(lines)
        else:
            formula = workbook_typed.weights(lines, normaliser.line_formula, (h, config.n_heads))
        return self._writer.step(sheet, "weights", formula, h, grey_of=masked)

    def _size_of_terms(self, pair: Pair, h: int) -> tuple[str, float]:
        """Return the size of the terms that the scores of a head are sums of, as a formula and as a number."""
        scale, own_scale = self._inputs.scale, 1.0
        formula = f"SQRT(SUMSQ({pair.Q.whole()}))*SQRT(SUMSQ({pair.K.whole()}))"
        if scale is not None:
            formula, own_scale = f"ABS({scale.at(0, h)})*{formula}", float(scale.array[0, h])
        return formula, size_of_terms(pair.Q.array, pair.K.array, own_scale).item()

    def _score(self, pair: Pair, h: int) -> Formula:
        return workbook_typed.score(pair, score_of(self._config).definition, (h, self._config.n_heads))

    def _capped(self, sheet: Sheet, h: int, pair: Pair | None) -> Block:
        """Return scores, scaled and capped; where given scores forbid a cell, so does what follows."""
        closed = self._steps["scores"].array[h] == -np.inf if pair is None else False
        known = {"forbidden": closed} if np.any(closed) else {}
        formula = None if pair is None else self._score(pair, h)
        S = self._writer.step(sheet, "scores", formula, h, **known)
        scale, c = self._inputs.scale, self._inputs.softcap
        factor = "" if scale is None else scale.at(0, h)

        def scaled(i: int, j: int) -> str:
            s = S.at(i, j)
            return f"IF(ISNUMBER({s}),{s}*{factor},{s})" if known else f"{s}*{factor}"

        product = self._writer.step(sheet, "scaled", scaled, h, **known)

        def capped(i: int, j: int) -> str:
            s = product.at(i, j)
            return (
                f"IF(AND({c}>0,ISNUMBER({s})),{c}*TANH({s}/{c}),{s})" if known else f"IF({c}>0,{c}*TANH({s}/{c}),{s})"
            )

        return self._writer.step(sheet, "capped", capped, h, **known)

    def _masked(self, sheet: Sheet, h: int, capped: Block) -> Block:
        """Return the capped scores with their bias, and nothing where the mask or an infinite bias forbids."""
        may = self._blocks["allowed", 0]
        B = self._writer.step(sheet, "bias", None, h) if "bias" in self._steps else None

        def formula(i: int, j: int) -> str:
            s, m = capped.at(i, j), may.at(i, j)
            if B is None:
                return f'IF({m}<>0,{s},"{FORBIDDEN}")'
            b = B.at(i, j)
            return f'IF(AND({m}<>0,ISNUMBER({b})),{s}+{b},"{FORBIDDEN}")'

        return self._writer.step(sheet, "masked", formula, h)

    def _output(self, X: Block | None) -> Block:
        """Return the heads side by side, W_O, and what stands around attention in the layer."""
        sheet, steps, write = self._sheet("output"), self._steps, self._writer.step
        C = write(sheet, "concat", self._joined())
        W_O = self._blocks.get(("w_o", 0))
        Y = write(sheet, "output", same(C) if W_O is None else product(C, W_O, self._blocks.get(("b_o", 0))))
        Y = self._joined_up(sheet, "added", X, Y)
        if "ff_output" not in steps:
            return Y
        source = write(sheet, "ff_normed", self._normed(sheet, Y)) if "ff_normed" in steps else Y
        F = self._hidden(sheet, source)
        G = write(sheet, "ff_output", product(F, self._blocks["w_2", 0], self._blocks.get(("b_2", 0))))
        return self._joined_up(sheet, "ff_added", Y, G)

    def _joined(self) -> Formula:
        """Return for each column of the whole the column of the head that stands there."""
        heads = [self._blocks["heads", h] for h in range(len(self._steps["heads"].array))]
        positions = [(block, j) for block in heads for j in range(block.array.shape[1])]
        return lambda i, j: positions[j][0].at(i, positions[j][1])

    def _hidden(self, sheet: Sheet, source: Block) -> Block:
        """Return the hidden units of the feed-forward block, before and after the kink; gated, with their gates."""
        W, b = self._blocks["w_1", 0], self._blocks.get(("b_1", 0))
        array = source.array @ W.array + (0.0 if b is None else b.array)
        heading = formulas.HEADINGS["linear_part"].format(
            symbol="Y W₁" + ("" if b is None else " + b₁"), shape=shape(array)
        )
        before = sheet.add(heading, array, product(source, W, b), rows=source.rows, columns=numbers(array.shape[1]))
        activated = formulas.FEED_FORWARDS[self._config.feed_forward]
        if "ff_gate" not in self._steps:
            return self._writer.step(sheet, "ff_hidden", lambda i, j: activated(before.at(i, j)))
        gate = self._writer.step(sheet, "ff_gate", lambda i, j: activated(before.at(i, j)))
        W_3, b_3 = self._blocks["w_3", 0], self._blocks.get(("b_3", 0))
        up = self._writer.step(sheet, "ff_up", product(source, W_3, b_3))
        return self._writer.step(sheet, "ff_hidden", lambda i, j: f"{gate.at(i, j)}*{up.at(i, j)}")

    def _normed(self, sheet: Sheet, X: Block) -> Formula:
        return formulas.NORMS[self._config.norm](sheet, X)

    def _joined_up(self, sheet: Sheet, name: str, X: Block | None, Y: Block) -> Block:
        """Return the residual connection and the norm after it, where they are on."""
        if X is not None and name in self._steps:
            Y = self._writer.step(sheet, name, added(X, Y))
        if f"{name}_normed" in self._steps:
            Y = self._writer.step(sheet, f"{name}_normed", self._normed(sheet, Y))
        return Y
