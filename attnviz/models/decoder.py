"""The decoder of T5 and BART by its files, every step of it: attention to its own text, and to the encoder's.

A layer is two of the page of trained models: one without a feed-forward block, in which the decoder attends to itself,
and one that attends to what the encoder returns. All have the same columns, those of the encoder's text and behind them
those of the decoder's; each may look at one of the two.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.pretrained.model_facts import ModelFacts
from attnviz.engine.pretrained.model_sizes import ModelSizes
from attnviz.engine.pretrained.pretrained_config import FREE, PretrainedConfig
from attnviz.engine.records.config import Config
from attnviz.engine.records.edits import Edit
from attnviz.engine.records.trace import Steps, Trace, result_of
from attnviz.models import forward, next_words
from attnviz.models.families import DECODERS, Family
from attnviz.models.layer_arrays import OUTPUTS, Arrays
from attnviz.models.pairs import parts
from attnviz.models.run_record import RunRecord, layers_of
from attnviz.models.shapes.facts import Facts
from attnviz.models.writer import Writer
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

MASKS = ("none", "causal", "window", "dilated", "block", "prefix", "global_window", "no_self")
"""The masks that can be added to a decoder's own: those that compare positions."""

NOTES = Words(
    {
        "both": "Every layer of the decoder is two: the first attends to the decoder's own text, the second to what "
        "the encoder returns, which is given. The columns are those of the first text, then those of the second."
    }
)
FAULTS = Words(
    {
        "mask": "mask is {given}; what can be added to a decoder's own is {known}",
        "none": "this model has no decoder beside an encoder; T5 and BART have",
        "first": "a decoder attends to what its encoder read; give the first text, as in model.decoder(text)",
        "own_text": "target is the decoder's text, and this run of the decoder has its own; leave it out",
    }
)


@dataclass(frozen=True)
class Shifted:
    """A tokeniser of what a decoder reads: its start, then a text without what closes it. All else is the model's."""

    plain: Any
    start: int

    def __call__(self, text: str) -> tuple[list[int], list[str]]:
        ids, tokens = self.plain(text)
        first = getattr(self.plain, "piece", "#{}".format)(self.start)
        return [self.start, *ids][: max(len(ids), 1)], [first, *tokens][: max(len(ids), 1)]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)


def of_model(tensors: Mapping[str, Array], config: Mapping[str, Any]) -> Decoder | None:
    """Return the decoder beside a model's encoder; None where the family or the file has none."""
    halves = DECODERS.get(str(config.get("model_type")))
    if halves is None:
        return None
    names, base = halves[0].names, halves[0].base
    first = f"{names.layer.format(i=0)}{names.queries}.weight"
    return Decoder(tensors, config, *halves) if {first, base + first} & set(tensors) else None


class Decoder(Writer):
    """The decoder of a model, `own` and `other` being the two halves of each of its layers.

    encoder  the Model that it is part of;  `encoded` the run of that which it attends to. `beside` sets both.
    """

    encoder: Any
    encoded: Trace | None = None

    def __init__(self, tensors: Mapping[str, Array], config: Mapping[str, Any], own: Family, other: Family) -> None:
        self.shape = shape = own.read(Facts(config))
        self._start = config.get("decoder_start_token_id") or 0
        n = shape.n_layers
        shapes = {"own": replace(shape, d_ff=0), "other": replace(shape, buckets=0)}
        arrays = {"own": Arrays(tensors, own, shapes["own"]), "other": Arrays(tensors, other, shapes["other"])}
        halves = [(kind, i) for i in range(n) for kind in shapes]
        layers = [(arrays[kind].layer(i), arrays[kind].slices) for kind, i in halves]
        buckets = arrays["own"].buckets()
        arrays["own"].slices = {}
        tables = {"tokens": own.tokens, "positions": own.positions}
        self._tables = {part: arrays["own"].table(part, name) for part, name in tables.items() if name}
        self._norm = arrays["own"].norm(own.norm, "e", shape.d_model, adds=True)
        self._final = arrays["own"].norm(own.final, "f", shape.d_model)
        self._layers = [layer for layer, _ in layers]
        self._layers[-1] = self._layers[-1] | self._final
        stored = any(name in tensors for name in OUTPUTS)
        self._head = arrays["own"].head(config) if stored else None
        if not stored and config.get("tie_word_embeddings", True):
            self._head = self._tables["tokens"]
        if "final_logits_bias" in tensors and np.any(bias := tensors["final_logits_bias"]):  # BART's, mostly zeros
            self.logits_bias = np.ravel(bias).astype(float)
        ends = config.get("eos_token_id")
        self._ends = frozenset(ends if isinstance(ends, list) else () if ends is None else (ends,))
        has = [forward.parts_of(shapes[kind], i, self._layers[at]) for at, (kind, i) in enumerate(halves)]
        has = [
            replace(each, cross=True) if kind == "other" else replace(each, weights=each.weights | {"shift"})
            for each, (kind, _) in zip(has, halves)
        ]
        self.facts = ModelFacts(
            tuple(slices for _, slices in layers), arrays["own"].slices, (), (None,) * 2 * n, shape.eps,
            shape.norm == "layer", forward.activation_of(shape), None, buckets, shape.max_distance,
            tuple(has), replace(forward.around_of(self._tables, self._norm), cross=True), ("own", "other") * n,
        )  # fmt: skip

    def beside(self, encoder: Any, encoded: Trace | None = None) -> Decoder:
        """Return this decoder with the model that it is part of, and with the run of its encoder."""
        found = copy.copy(self)
        found.encoder, found.encoded, found.folder = encoder, encoded, encoder.folder
        found.tokenise = Shifted(encoder.tokenise, self._start)
        return found

    def __repr__(self) -> str:
        shape, read = self.shape, "" if self.encoded is None else f", beside {shorten(self.encoded.config.sentence)}"
        return f"<Decoder of {self.family}: {shape.n_layers} layers of {shape.n_heads} heads{read}>"

    @property
    def scale(self) -> float:
        """The factor on the scores."""
        return float(self.shape.d_head**-0.5 if self.shape.scale is None else self.shape.scale)

    @property
    def digest(self) -> str:
        return str(self.encoder.digest)

    @property
    def family(self) -> str:
        return str(self.encoder.family)

    @property
    def own_masks(self) -> tuple[str, ...]:
        return ("causal",)

    @property
    def most_tokens(self) -> int:
        """The most tokens that the decoder can read."""
        room, positions = min(self.shape.n_positions or 65_536, self.encoder.limit), self._tables.get("positions")
        return int(room if positions is None else min(room, len(positions) - self.shape.first_position))

    @cached_property
    def sizes(self) -> ModelSizes:
        """The sizes that the cost of a run depends on."""
        shape, n_weights = self.shape, sum(each.size for layer in self._layers for each in layer.values())
        gate = self.facts.parts[-1].gate
        return ModelSizes(
            2 * shape.n_layers, shape.n_heads, shape.n_kv_heads, shape.d_model, shape.d_head, shape.d_ff, gate,
            n_weights,
        )  # fmt: skip

    def parameters(self, i: int | None) -> Mapping[str, Array]:
        """Return the parameters of a layer by their names in a trace; None is what its first layer reads."""
        return self._norm if i is None else self._layers[i]

    def tokens(self, config: Config) -> tuple[str, ...]:
        """Return the tokens of a setting's sentence, as its run has them."""
        return self._tokens(self.setting(config))[1]

    def __call__(self, text: str, *, edits: Sequence[Edit] = (), **free: Any) -> Trace:
        """Return the run of a text that the decoder reads behind its start; all else as a model takes it."""
        return self._run(self._setting({"max_tokens": self.most_tokens} | free | {"sentence": text}), edits)

    def run(self, config: Config, edits: Sequence[Edit] = ()) -> Trace:
        """Return the run of a setting, of which the model takes what applies to it."""
        return self._run(self.setting(config), edits)

    def setting(self, config: Config) -> PretrainedConfig:
        """Return the setting of a run: what the model decides, and what of `config` applies to it."""
        return self._setting({name: getattr(config.chosen, name) for name in FREE} | {"beside": config.chosen})

    def _setting(self, free: Mapping[str, Any]) -> PretrainedConfig:
        setting = dict(free)
        wanted = setting.pop("mask", "none")
        names = (wanted,) if isinstance(wanted, str) else tuple(wanted)
        if odd := [name for name in names if name not in MASKS]:
            raise ConfigError(FAULTS["mask"].format(given=shorten(odd[0]), known=", ".join(MASKS)))
        mask: Any = tuple(dict.fromkeys((*self.own_masks, *(name for name in names if name != "none"))))
        shape = self.shape.setting() | {"n_layers": 2 * self.shape.n_layers, "t5_bidirectional": False}
        text = "" if self.encoded is None else str(self.encoded.config.sentence)
        return PretrainedConfig(
            **setting, **shape, mask=mask, own_masks=self.own_masks, projection_bias="b_q" in self._layers[0],
            facts=self.facts, second_sentence=text,
        )  # fmt: skip

    def _for_text(self, text: str) -> PretrainedConfig:
        return self._setting({"max_tokens": self.most_tokens, "sentence": text})

    def _tokens(self, config: PretrainedConfig) -> tuple[list[int], tuple[str, ...], list[str]]:
        """Return the ids and tokens that the decoder reads, cut to what fits, and what is to be said of that."""
        ids, tokens, notes = self.encoder.tokens_of(config, self.most_tokens)
        shifted = Shifted(lambda _: (ids, list(tokens)), self._start)(config.sentence)
        return shifted[0], (self.piece(self._start), *shifted[1][1:]), notes

    @property
    def _given(self) -> Trace:
        if self.encoded is None:
            raise ConfigError(FAULTS["first"])
        return self.encoded

    def _input(self, run: RunRecord, ids: Sequence[int]) -> tuple[Steps, Array, forward.Beside]:
        """Return the steps before the first layer, what that reads, and what the encoder gives."""
        around, Y = run.steps(None), np.asarray(self._given.result.array, dtype=float)
        X = forward.embedded(around, run.config, self.shape, self._tables, self._norm, ids)
        X_kv = around.record("embedded_kv", np.concatenate([Y, np.zeros((len(ids), Y.shape[1]))]), formula="X'")
        return around, X, forward.Beside(X_kv, self._given.query_tokens)

    def _record(self, config: PretrainedConfig, tokens: tuple[str, ...], edits: Sequence[Edit]) -> RunRecord:
        return RunRecord(config, tokens, tuple(edits), columns=(*self._given.query_tokens, *tokens))

    @np.errstate(all="ignore")
    def _run(self, config: PretrainedConfig, edits: Sequence[Edit]) -> Trace:
        ids, tokens, notes = self._tokens(config)
        run = self._record(config, tokens, edits)
        around, X, beside = self._input(run, ids)
        around.check_edits()

        def layer(i: int, X: Array) -> Steps:
            steps = run.steps(i)
            forward.layer(steps, i, config, self.parameters(i), X, tokens, beside)
            return steps

        layers, edited = layers_of(run, around, X, notes, len(self._layers), layer)
        said = (NOTES["both"], *self._given.notes, *notes)
        return Trace(
            config, tokens, run.columns, around, layers, result_of(layers[-1]), said, edited, token_ids=tuple(ids),
            model=self,
        )  # fmt: skip

    @np.errstate(all="ignore")
    def _last_state(self, config: PretrainedConfig, ids: Sequence[int]) -> Array:
        """Return the last token's vector after all layers and the last norm, (d_model,); no step is kept."""
        tokens = tuple(map(self.piece, ids))
        run = self._record(config, tokens, ())
        _, X, beside = self._input(run, ids)
        for i in range(len(self._layers)):
            steps = run.steps(i)
            forward.layer(steps, i, config, self.parameters(i), X, tokens, beside)
            X = result_of(steps).array
        return X[-1]


class Answering(Writer):
    """A writer that, where it has a decoder beside an encoder, asks that: the text is then the encoder's."""

    _decoder: Decoder | None = None

    def decoder(self, text: Any = None) -> Decoder:
        """Return the decoder beside the encoder's run of a text; called with a second text, it returns its own run.

        text  may be a run of the encoder, with edits too

        Raises ConfigError for a model without a decoder beside an encoder.
        """
        if self._decoder is None:
            raise ConfigError(FAULTS["none"])
        encoded = self(text) if isinstance(text, str) else text
        if encoded is not None:
            next_words.check(encoded, -1, self.facts, self.shape.d_model)
        return self._decoder.beside(self, encoded)

    def _answering(self, text: str | Trace, target: str | None) -> tuple[Writer, str | Trace]:
        if (writer := self._decoder_of(text)) is not None:
            if target is not None:
                raise ConfigError(FAULTS["own_text"])
            return writer, text
        if self._decoder is not None:
            return self.decoder(text), target or ""
        if target is not None:
            raise ConfigError(parts.FAULTS["target"])
        return self, text

    def _decoder_of(self, run: Any) -> Decoder | None:
        """Return the decoder that made a run, None for what is none of one. Raises ConfigError for another model's."""
        if not isinstance(run, Trace) or not isinstance(run.model, Decoder):
            return None
        if self._decoder is None:
            raise ConfigError(next_words.FAULTS["no_run"])
        next_words.check(run, -1, self._decoder.facts, self.shape.d_model)
        return run.model

    def scores(self, trace: Trace, row: int = -1) -> Array:
        writer = self._decoder_of(trace)
        return super().scores(trace, row) if writer is None else writer.scores(trace, row)

    def word_number(self, word: str | int, trace: Trace | None = None) -> int:
        return super().word_number(word, trace) if self._decoder is None else self.decoder().word_number(word, trace)
