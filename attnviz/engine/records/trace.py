"""All intermediates of a run, with their axes named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from os import PathLike

from attnviz.arrays import Array
from attnviz.engine.records.config import Config
from attnviz.engine.records.edits import Edit
from attnviz.engine.records.step_specs import OF_MODELS, Spec
from attnviz.settings.counting import index_of
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words, translate, translated_fields

AXES = Words(
    {
        "query": "the tokens that ask, first token first: a row each",
        "key": "the tokens that are attended to: a column each in a score matrix",
        "head": "the heads; each has queries of its own",
        "kv_head": "the key/value heads; several query heads may share one",
        "model": "d_model, the numbers that stand for a token",
        "d_k": "the width of queries and keys",
        "d_v": "the width of values",
        "d_a": "the hidden width of the score",
        "number": "one number for each head",
        "joined": "the columns of all heads side by side, the sum of their d_v",
        "out": "the columns of the output",
        "d_ff": "the width of the feed-forward block",
    }
)
"""The meaning of each axis of a step."""


STEPS = {
    "token_embeddings": Spec("E", ("query", "model"), "signed", r"E", "a vector for each token"),
    "positions": Spec("P", ("query", "model"), "signed", r"P", "a vector for each position"),
    "embedded": Spec("X", ("query", "model"), "signed", r"X = E + P", "what the layer reads"),
    "token_embeddings_kv": Spec("E'", ("key", "model"), "signed", r"E'", "a vector for each token attended to"),
    "positions_kv": Spec("P'", ("key", "model"), "signed", r"P'", "a vector for each position attended to"),
    "embedded_kv": Spec("X'", ("key", "model"), "signed", r"X' = E' + P'", "what keys and values are made of"),
    "normed": Spec(
        r"\hat X", ("query", "model"), "signed", r"\hat X = \mathrm{LN}(X)", "rows with mean 0 and deviation 1"
    ),
    "w_q": Spec("W_Q", ("head", "model", "d_k"), "signed", r"W_Q", "turns a token into a query"),
    "b_q": Spec("b_Q", ("head", "d_k"), "signed", r"b_Q", "added to every query"),
    "w_k": Spec("W_K", ("kv_head", "model", "d_k"), "signed", r"W_K", "turns a token into a key"),
    "b_k": Spec("b_K", ("kv_head", "d_k"), "signed", r"b_K", "added to every key"),
    "w_v": Spec("W_V", ("kv_head", "model", "d_v"), "signed", r"W_V", "turns a token into a value"),
    "b_v": Spec("b_V", ("kv_head", "d_v"), "signed", r"b_V", "added to every value"),
    "projected_queries": Spec(
        r"\tilde Q",
        ("head", "query", "d_k"),
        "signed",
        r"\tilde Q_h = X W_Q^h + b_Q^h",
        "queries before they are rotated",
    ),
    "projected_keys": Spec(
        r"\tilde K",
        ("kv_head", "key", "d_k"),
        "signed",
        r"\tilde K_h = X W_K^h + b_K^h",
        "keys before they are rotated",
    ),
    "queries": Spec("Q", ("head", "query", "d_k"), "signed", r"Q_h = X W_Q^h + b_Q^h", "what each token asks for"),
    "keys": Spec("K", ("kv_head", "key", "d_k"), "signed", r"K_h = X W_K^h + b_K^h", "what each token answers to"),
    "values": Spec("V", ("kv_head", "key", "d_v"), "signed", r"V_h = X W_V^h + b_V^h", "what each token passes on"),
    "score_w": Spec("W", ("head", "d_k", "d_k"), "signed", r"W", "says which entry of a query meets which of a key"),
    "score_w_q": Spec("W_q", ("head", "d_k", "d_a"), "signed", r"W_q", "turns a query into hidden units"),
    "score_w_k": Spec("W_k", ("head", "d_k", "d_a"), "signed", r"W_k", "turns a key into hidden units"),
    "score_v": Spec("v", ("head", "d_a"), "signed", r"v", "weighs the hidden units"),
    "score_b": Spec("b", ("head", "d_a"), "signed", r"b", "added to the hidden units"),
    "score_matrix_u": Spec("U", ("head", "d_k", "d_a"), "signed", r"U", "a matrix of the typed score"),
    "score_matrix_a": Spec("A", ("head", "d_k", "d_a"), "signed", r"A", "a matrix of the typed score"),
    "score_vector_u": Spec("u", ("head", "d_k"), "signed", r"u", "a vector of the typed score"),
    "score_vector_w": Spec("w", ("head", "d_k"), "signed", r"w", "a vector of the typed score"),
    "score_vector_c": Spec("c", ("head", "d_k"), "signed", r"c", "a vector of the typed score"),
    "score_g": Spec("g", ("head", "number"), "signed", r"g", "a number a head of the typed score"),
    "score_alpha": Spec(r"\alpha", ("head", "number"), "signed", r"\alpha", "a number a head of the typed score"),
    "score_beta": Spec(r"\beta", ("head", "number"), "signed", r"\beta", "a number a head of the typed score"),
    "score_gamma": Spec(r"\gamma", ("head", "number"), "signed", r"\gamma", "a number a head of the typed score"),
    "score_lam": Spec(r"\lambda", ("head", "number"), "signed", r"\lambda", "a number a head of the typed score"),
    "score_tau": Spec(r"\tau", ("head", "number"), "signed", r"\tau", "a number a head of the typed score"),
    "scores": Spec(
        "S", ("head", "query", "key"), "signed", r"S_h = Q_h K_h^\top", "how well each query matches each key"
    ),
    "scaled": Spec("S'", ("head", "query", "key"), "signed", r"S'_h = c_h\, S_h", "the scores times the scale"),
    "capped": Spec("S''", ("head", "query", "key"), "signed", r"S'' = c \tanh(S' / c)", "the scores, squeezed"),
    "bias": Spec("B", ("head", "query", "key"), "signed", r"B", "added to the scores by distance"),
    "allowed": Spec("M", ("query", "key"), "allowed", r"M_{ij} \in \{0, 1\}", "who may attend to what"),
    "masked": Spec(
        r"\hat S",
        ("head", "query", "key"),
        "signed",
        r"\hat S = S'' + B,\; -\infty \text{ where forbidden}",
        "scores of what is allowed",
    ),
    "weights": Spec(
        "A",
        ("head", "query", "key"),
        "share",
        r"A_h = \mathrm{softmax}(\hat S_h)",
        "how much of each value a query takes",
    ),
    "heads": Spec("Z", ("head", "query", "d_v"), "signed", r"Z_h = A_h V_h", "the values, mixed by those weights"),
    "concat": Spec("C", ("query", "joined"), "signed", r"C = [Z_1 \dots Z_H]", "the heads side by side"),
    "w_o": Spec("W_O", ("joined", "out"), "signed", r"W_O", "mixes the heads"),
    "b_o": Spec("b_O", ("out",), "signed", r"b_O", "added to every output"),
    "output": Spec("Y", ("query", "out"), "signed", r"Y = C W_O + b_O", "what attention passes on"),
    "added": Spec("X + Y", ("query", "out"), "signed", r"X + Y", "the input and what attention adds to it"),
    "added_normed": Spec(
        r"\mathrm{LN}(X + Y)", ("query", "out"), "signed", r"\mathrm{LN}(X + Y)", "the same, normalised"
    ),
    "ff_normed": Spec(
        r"\hat Y", ("query", "out"), "signed", r"\hat Y = \mathrm{LN}(X + Y)", "what the feed-forward block reads"
    ),
    "w_1": Spec("W_1", ("out", "d_ff"), "signed", r"W_1", "into the feed-forward block"),
    "b_1": Spec("b_1", ("d_ff",), "signed", r"b_1", "added to the hidden units"),
    "w_3": Spec("W_3", ("out", "d_ff"), "signed", r"W_3", "into what the gates let through"),
    "b_3": Spec("b_3", ("d_ff",), "signed", r"b_3", "added to what the gates let through"),
    "ff_gate": Spec("F_1", ("query", "d_ff"), "signed", r"F_1 = f(Y W_1 + b_1)", "how far each gate is open"),
    "ff_up": Spec("F_3", ("query", "d_ff"), "signed", r"F_3 = Y W_3 + b_3", "what the gates let through"),
    "ff_hidden": Spec(
        "F", ("query", "d_ff"), "signed", r"F = f(Y W_1 + b_1)", "the hidden units of the feed-forward block"
    ),
    "w_2": Spec("W_2", ("d_ff", "out"), "signed", r"W_2", "out of the feed-forward block"),
    "b_2": Spec("b_2", ("out",), "signed", r"b_2", "added to what leaves the block"),
    "ff_output": Spec("G", ("query", "out"), "signed", r"G = F W_2 + b_2", "what the feed-forward block passes on"),
    "ff_added": Spec("Y + G", ("query", "out"), "signed", r"Y + G", "its input and what the block adds to it"),
    "ff_added_normed": Spec(
        r"\mathrm{LN}(Y + G)", ("query", "out"), "signed", r"\mathrm{LN}(Y + G)", "the same, normalised"
    ),
    **OF_MODELS,
}
"""Every step that a run can record; those of the page's own settings come first, in the order of the data."""


@translated_fields("meaning")
@dataclass(frozen=True)
class Step:
    """One intermediate: a read-only array and what its axes are.

    `true_widths` holds, for an axis along which heads differ, the width of each head: columns beyond it are padding.
    """

    name: str
    array: Array
    symbol: str
    axes: tuple[str, ...]
    kind: str
    formula: str
    meaning: str
    true_widths: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def widths(self) -> tuple[int, ...] | None:
        """The true number of columns of each head, or None if the last axis is the same for all."""
        return self.true_widths.get(self.axes[-1])

    def head(self, h: int) -> Array:
        """Return the part of the array that belongs to head h, without padding."""
        if not self.axes[0].endswith("head"):
            return self.array
        return self.array[h][
            tuple(slice(self.true_widths[a][h] if a in self.true_widths else None) for a in self.axes[1:])
        ]


class Steps(Mapping[str, Step]):
    """The steps of one layer, or those around the layers, in the order in which they were recorded."""

    def __init__(self, place: str, sizes: dict[str, int], edits: Sequence[Edit] = (), own: Sequence[Edit] = ()) -> None:
        """`edits` must fit; those of the setting's `own` that do not are left out, and kept in `left_out`."""
        self._place, self._sizes = place, sizes
        self._edits: dict[str, list[tuple[Edit, bool]]] = {}
        for edit, must in [*((edit, False) for edit in own), *((edit, True) for edit in edits)]:
            self._edits.setdefault(edit[1], []).append((edit, must))
        self._steps: dict[str, Step] = {}
        self.edits: list[Edit] = []
        self.left_out: list[Edit] = []

    def record(
        self,
        name: str,
        array: Array,
        *,
        formula: str | None = None,
        axes: tuple[str, ...] | None = None,
        widths: Mapping[str, tuple[int, ...]] | None = None,
    ) -> Array:
        """Keep the array under its name and hand it back, so that a formula can stand around the call.

        Applies the edits that name this step; the array is read-only from here on. Raises ValueError if an axis has
        another size than it had before. `formula` and `axes` stand in for those of the step where they depend on the
        setting; `widths` are the widths of each head along an axis where heads differ.
        """
        spec, widths = STEPS[name], widths or {}
        axes, formula = axes or spec.axes, formula or spec.formula
        array = self._edited(name, array, axes, widths)
        self._check_axes(name, axes, array.shape)
        array = array.view()
        array.flags.writeable = False
        ragged = {axis: each for axis, each in widths.items() if len(set(each)) > 1}
        self._steps[name] = Step(name, array, spec.symbol, axes, spec.kind, formula, spec.meaning, ragged)
        return array

    def _edited(self, name: str, array: Array, axes: tuple[str, ...], widths: Mapping[str, tuple[int, ...]]) -> Array:
        edits = self._edits.pop(name, [])
        array = array.copy() if edits else array
        for edit, must in edits:
            index, limits = edit[2], list(array.shape)
            if index and 0 <= index[0] < limits[0]:
                limits = [widths[axis][index[0]] if axis in widths else n for axis, n in zip(axes, limits)]
            if len(index) == len(limits) and all(0 <= i < n for i, n in zip(index, limits)):
                array[index] = edit[3]
                self.edits.append(edit)
            elif must:
                raise ConfigError(
                    translate(
                        "an edit of {name} at {index} lies outside its shape {shape}; correct or remove it",
                        name=name,
                        index=index,
                        shape=tuple(limits),
                    )
                )
            else:
                self.left_out.append(edit)
        return array

    def _check_axes(self, name: str, axes: tuple[str, ...], shape: tuple[int, ...]) -> None:
        if len(axes) != len(shape):
            raise ValueError(f"{name} has {len(shape)} axes, but is declared with {len(axes)}: {', '.join(axes)}")
        for axis, size in zip(axes, shape):
            if self._sizes.setdefault(axis, size) != size:
                raise ValueError(f"{name}: axis {axis!r} has size {size}, but had {self._sizes[axis]} before")

    def check_edits(self) -> None:
        """Raises ConfigError if an edit names a step that was never recorded here; the setting's own are left out."""
        for name, edits in self._edits.items():
            if any(must for _, must in edits):
                raise ConfigError(
                    translate(
                        "an edit names {name}, which is not a step of {place}; the steps are: {names}",
                        name=repr(name),
                        place=self._place,
                        names=", ".join(self),
                    )
                )
            self.left_out += [edit for edit, _ in edits]

    def __getitem__(self, name: str) -> Step:
        return self._steps[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._steps)

    def __len__(self) -> int:
        return len(self._steps)


def holds(layer: Mapping[str, Step], step: Step) -> bool:
    """Return whether a step is one of a layer; a layer that is computed later is not computed for that."""
    there: Mapping[str, Step] = getattr(layer, "there", layer)
    return there.get(step.name) is step


def result_of(layer: Mapping[str, Step]) -> Step:
    """Return the last step of a layer, which the next one reads."""
    return layer[list(layer)[-1]]


@dataclass(frozen=True)
class Trace:
    """Everything that a run computed.

    `trace["embedded"]` and the other steps around the layers, `trace.layers[i]["weights"]` and the other steps of a
    layer; `trace["weights"]` is short for the last layer's. `trace["output"]` is the last layer's result, after
    residual, norm and feed-forward where there are any.
    """

    config: Config
    query_tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]
    around: Mapping[str, Step]
    layers: tuple[Mapping[str, Step], ...]
    result: Step
    notes: tuple[str, ...]
    """Facts about this run that a reader should know: emptied rows, cut sentences, missing numbers."""
    edits: tuple[Edit, ...] = ()
    """The numbers that were changed by hand, where they stand."""
    given: frozenset[str] = frozenset()
    """The parameters that were brought along in every layer, by their names in `projections`."""
    given_in: tuple[frozenset[str], ...] = ()
    """The same for each layer; empty where nothing was brought along."""
    token_ids: tuple[int, ...] = ()
    """The rows of a trained model's table of tokens, one a token; empty in every other run."""

    def __getitem__(self, name: str) -> Step:
        if name == "output":
            return self.result
        for steps in (self.around, self.layers[-1]):
            if name in steps:
                return steps[name]
        names = ", ".join([*self.around, *self.layers[-1]])
        raise KeyError(translate("there is no step {name}; choose one of: {names}", name=repr(name), names=names))

    def save(
        self,
        path: str | PathLike[str],
        *,
        layer: int = 1,
        step: str = "weights",
        head: int | None = None,
        query: int | None = None,
        key: int | None = None,
    ) -> None:
        """Write the trace to a file; the end of its name says what kind.

        .html .svg .png .step.svg .step.png .csv .npz .json .xlsx .tex, and .py .torch.py .ipynb, which compute the run
        anew. `layer`, `step`, `head`, `query` and `key`, counted from 1, matter to the kinds that hold a part of it.

        Raises ConfigError, a ValueError, for any other name, for what this trace cannot be written as, and where a
        library is missing.
        """
        # What writes files stands on floors above this one, and is loaded where a file is asked for.
        formats = import_module("attnviz.exports.formats")
        place = formats.ExportTarget(index_of(layer), step, index_of(head), index_of(query), index_of(key))
        formats.save(self, path, place)

    def _repr_html_(self) -> str:
        """Return the interactive file in a frame, which a notebook draws where a trace ends a cell."""
        whole = import_module("attnviz.exports.formats").export("html", self)
        return (
            f'<iframe sandbox="allow-scripts" srcdoc="{escape(whole)}" title="attnviz" '
            'style="width: 100%; height: 720px; border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        sizes = f"{len(self.query_tokens)} queries, {len(self.key_tokens)} keys"
        heads = f"{self.config.n_heads} heads in each of {len(self.layers)} layers"
        return f"<Trace: {sizes}, {heads}; {', '.join([*self.around, *self.layers[-1]])}>"
