"""`load`: a folder as Hugging Face writes it, as a model that gives a Trace of any text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.pretrained.image import Image
from attnviz.engine.pretrained.model_facts import ModelFacts
from attnviz.engine.pretrained.model_sizes import ModelSizes
from attnviz.engine.pretrained.pretrained_config import FREE, PretrainedConfig
from attnviz.engine.records import edits as edits_of
from attnviz.engine.records.config import Config
from attnviz.engine.records.edits import Edit
from attnviz.engine.records.trace import Step, Steps, Trace, result_of
from attnviz.models import boxed, decoder, forward
from attnviz.models.decoder import Answering
from attnviz.models.families import family_of
from attnviz.models.images import reader
from attnviz.models.images.reader import ImageReader
from attnviz.models.layer_arrays import Arrays
from attnviz.models.pairs import parts
from attnviz.models.pairs.one_kind import attention_of
from attnviz.models.run_cache import RUNS, Kept, StepsLater
from attnviz.models.run_record import RunRecord, layers_of
from attnviz.models.safetensors import Tensors
from attnviz.models.shapes.facts import NotReadError
from attnviz.models.tokenisers import tokeniser, unknown_words
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words, current_language

Tokenise = Callable[[str], tuple[list[int], list[str]]]

NOTES = Words(
    {
        "cut": "The sentence has {n:,} tokens; {room:,} are used.",
    }
)
FAULTS = Words(
    {
        "folder": "{folder} is not a folder; give the one that holds config.json and model.safetensors, or name a "
        "model in the package: {boxed}",
        "config": "{folder} holds no config.json; save the model there with model.save_pretrained",
        "not_read": "{why}; load it with Transformers and give it to of_model, which shows what PyTorch computes",
        "own": "{name} is the model's own; what can be changed is {free}",
        "empty": "the sentence has no tokens; type at least one word",
        "number": "the tokeniser gives a token the number {id}, and the model knows {n}; their files do not belong "
        "together",
    }
)


class Model(Answering):
    """A trained model: `model("the cat sat")` is a Trace of it, and of a model of images `model(image)`.

    Its weights stay in their file and are looked up as they are used, so that a model takes little memory of its own,
    and traces hold no copies of them. `limit` is how many tokens a sentence may have at most; a host lowers it.
    `folder` is where its files lie, None for a model in memory.
    """

    limit = 65_536
    folder: Path | None = None
    images: ImageReader | None = None  # of a model of images

    def __init__(self, folder: str | PathLike[str]) -> None:
        """Open a folder; raise ConfigError where it holds no model, one of another family, or a damaged one."""
        if not isinstance(folder, (str, PathLike)):
            raise ConfigError(FAULTS["folder"].format(folder=shorten(folder, 60), boxed=", ".join(boxed.NAMES)))
        self.folder = place = boxed.folder_of(folder)
        if not place.is_dir():
            raise ConfigError(FAULTS["folder"].format(folder=str(folder), boxed=", ".join(boxed.NAMES)))
        if not (place / "config.json").is_file():
            raise ConfigError(FAULTS["config"].format(folder=str(folder)))
        try:
            self._load(config := tokeniser.json_file(place / "config.json"), Tensors(place))
            self.images = reader.read(config, place, self._tables) if "patches" in self._tables else None
        except NotReadError as error:
            raise ConfigError(FAULTS["not_read"].format(why=error)) from None
        self.tokenise: Tokenise = tokeniser.read(place) if self.images is None else reader.no_words

    @classmethod
    def of_parts(cls, config: Mapping[str, Any], tensors: Mapping[str, Array], tokenise: Tokenise) -> Model:
        """Return a model from a config.json, arrays by name and a tokeniser. Raises ConfigError as `load` does."""
        model = cls.__new__(cls)
        model._load(config, tensors)
        model.tokenise = tokenise
        return model

    def __repr__(self) -> str:
        return f"<Model of {self.family}: {self.shape.n_layers} layers of {self.shape.n_heads} heads>"

    def _load(self, config: Mapping[str, Any], tensors: Mapping[str, Array]) -> None:
        family, self.shape = family_of(config)
        self.family = str(config["model_type"])
        arrays = Arrays(tensors, family, self.shape)
        each = [(arrays.layer(i), arrays.slices) for i in range(self.shape.n_layers)]
        self._layers = [layer for layer, _ in each]
        arrays.slices = {}
        self._tables = arrays.tables()
        self._norm = arrays.norm(family.norm, "e", self.shape.d_model, adds=True)
        self._final = arrays.norm(family.final, "f", self.shape.d_model)
        self._head = arrays.head(config) if self.shape.causal else None
        self._decoder = decoder.of_model(tensors, config)
        ends = config.get("eos_token_id")
        self._ends = frozenset(ends if isinstance(ends, list) else () if ends is None else (ends,))
        self.facts = ModelFacts(
            tuple(slices for _, slices in each), arrays.slices, self.shape.frequencies, self.shape.windows,
            self.shape.eps, self.shape.norm == "layer", forward.activation_of(self.shape),
            forward.experts_of(self.shape), arrays.buckets(), self.shape.max_distance,
            tuple(forward.parts_of(self.shape, i, self.parameters(i)) for i in range(self.shape.n_layers)),
            forward.around_of(self._tables, self._norm),
        )  # fmt: skip

    @cached_property
    def digest(self) -> str:
        """The first eight hexadecimal digits of the weights' SHA-256; of several files, of their digests by name."""
        parts = []
        for path in sorted(self.folder.glob("*.safetensors")) if self.folder else ():
            with path.open("rb") as file:
                parts.append(hashlib.file_digest(file, "sha256"))
        whole = parts[0] if len(parts) == 1 else hashlib.sha256(b"".join(each.digest() for each in parts))
        return whole.hexdigest()[:8]

    @property
    def most_tokens(self) -> int:
        """The most tokens that a sentence may have."""
        room = min(self.shape.n_positions or 65_536, self.limit)
        positions = self._tables.get("positions")
        return room if positions is None else min(room, len(positions) - self.shape.first_position)

    @property
    def n_patches(self) -> int:
        """The patches of an image, 0 for a model that reads words."""
        return 0 if self.images is None else len(self._tables["positions"]) - 1

    @property
    def token_table(self) -> Array:
        """The vector of each token, as the model reads it: (vocabulary, d_model)."""
        return self._tables["tokens"]

    @property
    def own_masks(self) -> tuple[str, ...]:
        """The masks that are the model's own."""
        return ("causal",) if self.shape.causal else ()

    @cached_property
    def sizes(self) -> ModelSizes:
        """The sizes that the cost of a run depends on."""
        shape = self.shape
        return ModelSizes(
            shape.n_layers, shape.n_heads, shape.n_kv_heads, shape.d_model, shape.d_head, shape.d_ff,
            self.facts.parts[0].gate, sum(each.size for layer in self._layers for each in layer.values()),
            shape.n_experts, shape.n_chosen, shape.sinks,
        )  # fmt: skip

    def tokens(self, config: Config) -> tuple[str, ...]:
        """Return the tokens of a setting's sentence, as its run has them. Raises ConfigError for an empty one."""
        return self._tokens(self.setting(config))[1]

    def __call__(
        self,
        text: str | Array | Image,
        target: str | None = None,
        *,
        part: str | None = None,
        edits: Sequence[Edit] = (),
        **free: Any,
    ) -> Trace:
        """Return the run of a text, every step of every layer kept; with a second text, that of the decoder.

        text   for a model of images an image: (height, width, 3), uint8 or floats from 0 to 1; or what is drawn, such
               as 'red circle, blue square'
        target a text that the decoder of T5 or BART reads;  `part`: encoder; decoder or cross, which it is if there is
               a target and nothing is said, one of its two kinds of attention from queries, keys and values on; or
               both, every step of the decoder, to which all below applies
        free   what of a setting applies to a model: mask, temperature, normaliser ..., as `Config` takes them
        edits  as `run` takes them

        `layers[i]` ends in that layer's hidden state, the last one's after the last norm where the model has one;
        `result` is the last of all.

        Raises ConfigError for an empty text, and for what a model decides itself.
        """
        if odd := sorted(set(free) - set(FREE)):
            raise ConfigError(FAULTS["own"].format(name=odd[0], free=", ".join(FREE[1:])))
        asked = parts.asked(self._decoder is not None, target, part, [*free, *(["edits"] if edits else [])])
        if self._decoder is not None and target is not None and asked != "encoder":
            whole = self.decoder(text)(target, edits=edits, **free)
            return whole if asked == "both" else attention_of(whole, asked, self._decoder.scale)
        return self._run(self._setting({"max_tokens": self.most_tokens} | free | self._given(text)), edits)

    def _given(self, text: Any) -> dict[str, Any]:
        read = text
        if self.images is not None:
            is_name = not isinstance(text, str) or reader.can_be_named(text)
            read = self.images(text if is_name else reader.checked(text))
        return {"sentence": read.name, "image": read} if isinstance(read, Image) else {"sentence": text}

    def run(self, config: Config, edits: Sequence[Edit] = ()) -> Trace:
        """Return the run of a setting, of which the model takes what applies to it."""
        return self._run(self.setting(config), edits)

    def setting(self, config: Config) -> PretrainedConfig:
        """Return the setting of a run: what the model decides, and what of `config` applies to it."""
        chosen = config.chosen
        kept = {"beside": chosen, "image": getattr(config, "image", None)}
        if self.images is not None and kept["image"] is None:
            kept["image"] = self.images(chosen.sentence)
        return self._setting({name: getattr(chosen, name) for name in FREE} | kept)

    def _setting(self, free: Mapping[str, Any]) -> PretrainedConfig:
        setting = dict(free)
        wanted = setting.pop("mask", "none")
        names = (wanted,) if isinstance(wanted, str) else tuple(wanted)
        masks = self.own_masks
        mask: Any = tuple(dict.fromkeys((*masks, *(name for name in names if name != "none")))) or "none"
        setting["normaliser"] = self.shape.normaliser(setting.get("normaliser", "softmax"))
        has_bias = "b_q" in self._layers[0]
        return PretrainedConfig(
            **setting, **self.shape.setting(), mask=mask, own_masks=masks, projection_bias=has_bias, facts=self.facts
        )

    @np.errstate(all="ignore")
    def _run(self, config: PretrainedConfig, edits: Sequence[Edit]) -> Trace:
        ids, tokens, notes = self._tokens(config)
        edits = tuple(map(edits_of.checked, edits))
        run = RunRecord(config, tokens, edits)
        around = run.steps(None)
        X = forward.embedded(around, config, self.shape, self._tables, self._norm, ids)
        around.check_edits()
        key = self, *(getattr(config, name) for name in FREE), edits, self.limit, current_language()
        kept = RUNS.get(key)
        if kept is None:
            layers, kept = self._computed(run, around, X, notes)
            RUNS.put(key, kept)
        else:
            inputs = [X, *(step.array for step in kept.results)]
            layers = tuple(
                StepsLater(names, result, partial(self._layer, run, i, inputs[i]))
                for i, (names, result) in enumerate(zip(kept.names, kept.results))
            )
        return Trace(
            config, tokens, tokens, around, layers, kept.results[-1], kept.notes, kept.edits, token_ids=tuple(ids),
            model=self,
        )  # fmt: skip

    def _computed(
        self, run: RunRecord, around: Steps, X: Array, notes: list[str]
    ) -> tuple[tuple[Mapping[str, Step], ...], Kept]:
        """Return every layer, and what is kept of them."""
        layers, applied = layers_of(run, around, X, notes, len(self._layers), partial(self._layer, run))
        return layers, Kept(tuple(map(tuple, layers)), tuple(map(result_of, layers)), tuple(notes), applied)

    def _for_text(self, text: str) -> PretrainedConfig:
        """Return the setting of a text of which nothing else was chosen."""
        return self._setting({"max_tokens": self.most_tokens, "sentence": text})

    @np.errstate(all="ignore")
    def _last_state(self, config: PretrainedConfig, ids: Sequence[int]) -> Array:
        """Return the last token's vector after all layers and the last norm, (d_model,); no step is kept."""
        run = RunRecord(config, tuple(map(self.piece, ids)), ())
        X = forward.embedded(run.steps(None), config, self.shape, self._tables, self._norm, ids)
        for i in range(len(self._layers)):
            X = result_of(self._layer(run, i, X)).array
        return X[-1]

    def _layer(self, run: RunRecord, i: int, X: Array) -> Steps:
        """Return the steps of a layer that reads X."""
        steps = run.steps(i)
        forward.layer(steps, i, run.config, self.parameters(i), X, run.tokens)
        return steps

    def parameters(self, i: int | None) -> Mapping[str, Array]:
        """Return the parameters of a layer by their names in a trace; the norm behind the last one is part of it.

        i  the layer, counted from 0; None is what its first layer reads
        """
        if i is None:
            return self._norm
        return self._layers[i] | self._final if i == len(self._layers) - 1 else self._layers[i]

    def _tokens(self, config: PretrainedConfig) -> tuple[list[int], tuple[str, ...], list[str]]:
        if config.image is not None:
            return [], config.image.tokens, []
        return self.tokens_of(config, self.most_tokens)

    def tokens_of(self, config: PretrainedConfig, most: int) -> tuple[list[int], tuple[str, ...], list[str]]:
        """Return the ids and tokens of a sentence, cut to what fits, and what is to be said of that."""
        ids, tokens = self.tokenise(config.sentence)
        if not ids:
            raise ConfigError(FAULTS["empty"])
        n, room, notes = len(ids), min(config.max_tokens, most), []
        if n > room:
            notes.append(NOTES["cut"].format(n=n, room=room))
            end = 0 if self.shape.causal else 1  # what closes a sentence stays: encoders were trained with it
            ids, tokens = ids[: room - end] + ids[n - end :], tokens[: room - end] + tokens[n - end :]
        notes += unknown_words.notes(self.tokenise, tokens)
        known = len(self._tables["tokens"])
        if max(ids) >= known or min(ids) < 0:
            raise ConfigError(FAULTS["number"].format(id=max(ids), n=known))
        return ids, tuple(tokens), notes


def load(folder: str | PathLike[str]) -> Model:
    """Return a model in the package by its name, small or full, or one from its folder.

    folder  as Hugging Face writes it: config.json, .safetensors files, and a tokeniser or preprocessor_config.json;
            ./small where it is called small

    Raises ConfigError, a ValueError, in one sentence for a folder that holds no such model.
    """
    return Model(folder)
