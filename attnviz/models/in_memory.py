"""`of_model`: a Trace of a PyTorch model that is in memory, computed anew from its weights and held to its own numbers.

What cannot be computed anew is observed. PyTorch is not imported here: the model brings it along.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.pretrained.pretrained_config import facts_of
from attnviz.engine.records.trace import Trace
from attnviz.models import observed
from attnviz.models.families import DECODERS, FAMILIES
from attnviz.models.images.in_memory import image_of, name_in_files
from attnviz.models.images.reader import checked
from attnviz.models.model import FAULTS as MODEL_FAULTS
from attnviz.models.model import Model
from attnviz.models.pairs.parts import FAULTS as DECODER_FAULTS
from attnviz.models.safetensors import unwrapped
from attnviz.models.tokenisers.byte_pairs import readable
from attnviz.settings.faults import ConfigError, shorten, shorten_name
from attnviz.settings.language import Words

FAR = 0.05
"""The tolerance of the model's own hidden states, as a share of the largest."""

NOTES = Words(
    {
        "difference": "Recomputed from the model's weights; its own hidden states differ by at most {difference:.1e}.",
        "rounded": "Recomputed from the model's weights; in float32 it gives the same hidden states, in its own half "
        "precision they differ by at most {difference:.1e}.",
    }
)
FAULTS = Words(
    {
        "model": "of_model takes a model of Hugging Face Transformers, with a config and a state_dict, not {given}; of "
        "any other, of_weights takes its attention weights",
        "tokeniser": "the tokenizer is {given}; of_model takes a tokenizer of Hugging Face Transformers",
        "family": "the family {given} is none of those that are computed anew here",
        "decoder": "a decoder is not computed anew here",
        "kind": "one kind of a decoder's attention alone is not computed anew, all of it is, with part='both'",
        "adapters": "its layers carry adapters, as LoRA of peft adds them (model.merge_and_unload() merges them)",
        "array": "it has no parameter {name}, which its config asks for",
        "other": "the model computes something other than a {family} model does: its hidden states differ by up to "
        "{difference:.3g}; load it with attn_implementation='eager', or give its attention weights to of_weights",
    }
)


class _State(dict[str, Array]):
    def __missing__(self, name: str) -> Array:
        raise ConfigError(FAULTS["array"].format(name=shorten_name(name)))


def of_model(model: Any, tokenizer: Any, text: Any, target: str | None = None, *, part: str | None = None) -> Trace:
    """Return a Trace of a text through a model of Hugging Face Transformers, of any family.

    model      in PyTorch; whatever computes its attention (eager, SDPA, flash), in any precision, compiled or not
    tokenizer  the model's own; where it writes bytes as letters, tokens stand as the characters that these are, but for
               Ġ, a space. Of a model that reads pictures, its image processor, and `text` is the picture
    target     a second text, which the decoder reads, for a model that has an encoder as well, such as T5 or BART
    part       encoder, decoder, cross or both, of such a model; if left out, cross where there is a target, else
               encoder

    Of a family that `load` reads, its weights are copied and the run is computed anew in float64, every step of every
    layer; then the model runs the same text itself, and the notes say how far its hidden states are from these. Of T5
    and BART that is the encoder, and with part="both" the whole decoder.

    Any other model runs the text, and the trace begins with the queries, keys and values that its attention is given,
    or with its weights where these do not follow from them by a softmax alone; the notes say which and why.

    Raises ConfigError, a ValueError, for what is no such model, and for one of those families that computes something
    else.
    """
    for wrapper in ("_orig_mod", "module"):  # what was wrapped: compiling it anew for one text takes long
        model = getattr(model, wrapper, model)
    if not (hasattr(model, "state_dict") and hasattr(getattr(model, "config", None), "to_dict")):
        raise ConfigError(FAULTS["model"].format(given=type(model).__name__))
    has_decoder = _has_decoder(model)
    image = pixels = None
    try:
        if has_decoder and (part or ("encoder" if target is None else "cross")) not in ("encoder", "both"):
            is_read = str(model.config.to_dict().get("model_type")) in DECODERS
            raise ConfigError(FAULTS["kind" if is_read else "decoder"])
        model_read = _read(model, tokenizer)
        if FAMILIES[model_read.family].patches and not isinstance(text, str):
            pixels = _pixels(tokenizer, text, next(model.parameters()))
            image = image_of(_array(pixels[0]), model.config.to_dict(), tokenizer)
    except ConfigError as error:
        return _observed(model, tokenizer, text, target, part, str(error))
    if not has_decoder and (target is not None or part is not None):
        raise ConfigError(DECODER_FAULTS["target"])
    if part == "both":
        return _of_decoder(_base(model), model_read, text, target)
    if image is not None:
        return _compared(model_read(image), getattr(model, "vit", model), pixels, model_read.family)
    if FAMILIES[model_read.family].patches:
        checked(text)  # a text, which is no image
    return _of_text(_base(model).get_encoder() if has_decoder else model, model_read, tokenizer, text)


def _of_text(model: Any, model_read: Model, tokenizer: Any, text: str) -> Trace:
    """Return the trace of a text, with a note on how far the model's own hidden states are from it."""
    trace = model_read(text)
    ids = _tokens(tokenizer, text)[0]
    if len(ids) > len(trace.query_tokens):  # it was cut, as no position is left
        return trace
    return _compared(trace, model, _whole(model, ids), model_read.family)


def _of_decoder(model: Any, model_read: Model, text: Any, target: str | None) -> Trace:
    """Return the trace of a whole decoder, with a note on how far the model's own hidden states are from it."""
    trace = model_read(text, target, part="both")
    encoder, decoder = model.get_encoder(), model.get_decoder()
    was_training = encoder.training
    encoded = encoder.eval()(_whole(model, list(model_read.tokenise(text)[0]))).last_hidden_state
    encoder.train(was_training)
    ids = _whole(model, list(trace.token_ids))
    if len(trace.key_tokens) - len(trace.query_tokens) < encoded.shape[1]:  # it was cut, as no position is left
        return trace
    return _compared(trace, decoder, ids, model_read.family, encoder_hidden_states=encoded)


def _compared(trace: Trace, model: Any, whole: Any, family: str, **more: Any) -> Trace:
    """Return the trace with a note on how far the model's own hidden states are from it, of the same `whole` input.

    more  what the model is called with beside that

    Raises ConfigError where they are further than rounding explains.
    """
    difference = _difference(trace, _states(partial(model, **more), whole, model))
    most = FAR * max(float(np.abs(trace.result.array).max()), 1.0)
    is_far = difference > most
    half = _half(model) if is_far else {}
    if half:  # whose rounding may be all of the difference
        is_far = _difference(trace, _states(partial(_with, model, half, **more), whole, model)) > most
    if is_far:
        raise ConfigError(FAULTS["other"].format(family=family, difference=difference))
    said = NOTES["rounded" if difference > most else "difference"].format(difference=difference)
    return replace(trace, notes=(*trace.notes, said))


def _base(model: Any) -> Any:
    """Return a model without what stands behind its layers."""
    return getattr(model, "base_model", model)


def _has_decoder(model: Any) -> bool:
    """Return whether a model has a decoder beside an encoder, which the config of one that was cut may not say."""
    both = all(hasattr(_base(model), part) for part in ("encoder", "decoder"))
    return both or bool(getattr(model.config, "is_encoder_decoder", False))


def _read(model: Any, tokenizer: Any) -> Model:
    """Return a model computed anew from its parameters. Raises ConfigError for one that cannot be."""
    config, tensors = model.config.to_dict(), model.state_dict()
    if any(".base_layer." in name for name in tensors):
        raise ConfigError(FAULTS["adapters"])
    kind = str(config.get("model_type"))
    if kind not in FAMILIES:
        raise ConfigError(FAULTS["family"].format(given=shorten(kind)))
    named = name_in_files if FAMILIES[kind].patches else str
    state = _State({named(unwrapped(name)): _array(tensor) for name, tensor in tensors.items()})
    return Model.of_parts(config, state, _Tokeniser(tokenizer))


def _observed(model: Any, tokenizer: Any, text: Any, target: str | None, part: str | None, why: str) -> Trace:
    """Return the Trace of what a model computes itself, since it cannot be computed anew."""
    has_decoder = _has_decoder(model)
    if not has_decoder and (target is not None or part is not None):
        raise ConfigError(DECODER_FAULTS["target"])
    if not isinstance(text, str):
        pixels = _pixels(tokenizer, text, next(model.parameters()))
        return observed.trace_of(model, {"pixel_values": pixels}, (), why)
    ids, tokens = _tokens(tokenizer, text)
    if not ids:
        raise ConfigError(MODEL_FAULTS["empty"])
    given: dict[str, Any] = {"input_ids": _whole(model, ids)}
    if not has_decoder:
        return observed.trace_of(model, given, tokens, why)
    first = getattr(model.config, "decoder_start_token_id", None) or 0
    read, words = _tokens(tokenizer, text if target is None else target)
    given["decoder_input_ids"] = _whole(model, [first, *read][: len(read)])
    start = _Tokeniser(tokenizer).piece(first) if hasattr(tokenizer, "convert_ids_to_tokens") else f"#{first}"
    shifted = [start, *words][: len(words)] if target is not None else ()
    return observed.trace_of(model, given, tokens, why, target=shifted, part=part)


def _pixels(processor: Any, picture: Any, parameter: Any) -> Any:
    """Return a picture as a model reads it."""
    try:
        return processor(images=picture, return_tensors="pt")["pixel_values"].to(parameter)
    except (TypeError, ValueError, KeyError):
        raise ConfigError(FAULTS["tokeniser"].format(given=type(processor).__name__)) from None


def _array(tensor: Any) -> Array:
    """Return a copy of a tensor, which later training does not change; half precision as float32."""
    tensor = tensor.detach().to("cpu")
    if tensor.is_floating_point() and tensor.element_size() < 4:
        tensor = tensor.float()
    return np.array(tensor.numpy())


def _tokens(tokenizer: Any, text: str) -> tuple[list[int], list[str]]:
    """Return the ids of a text and the pieces that they stand for."""
    try:
        encoding = tokenizer(text)
        ids = [int(number) for number in (encoding["input_ids"] if isinstance(encoding, Mapping) else encoding)]
        pieces = tokenizer.convert_ids_to_tokens(ids) if hasattr(tokenizer, "convert_ids_to_tokens") else ids
        shown = readable if _is_byte_level(tokenizer) else str
        return ids, [shown(str(piece)) for piece in pieces]
    except (TypeError, ValueError, KeyError):
        raise ConfigError(FAULTS["tokeniser"].format(given=type(tokenizer).__name__)) from None


@dataclass(frozen=True)
class _Tokeniser:
    """A tokenizer of Transformers, as the others are called."""

    made: Any

    def __call__(self, text: str) -> tuple[list[int], list[str]]:
        return _tokens(self.made, text)

    @property
    def unknown(self) -> str | None:
        """The token that stands for what the vocabulary does not have."""
        named = getattr(self.made, "unk_token", None)
        return named if isinstance(named, str) and named != getattr(self.made, "eos_token", None) else None

    def piece(self, number: int) -> str:
        """Return the piece of an id; one that there is not stands as its number."""
        named = getattr(self.made, "convert_ids_to_tokens", None)
        [piece] = named([number]) if named else [None]
        return f"#{number}" if piece is None else (readable if _is_byte_level(self.made) else str)(str(piece))

    def written(self, before: list[int], ids: list[int]) -> str:
        """Return what ids say behind others."""
        return str(self.made.decode(before + ids))[len(str(self.made.decode(before))) :]


def _is_byte_level(tokenizer: Any) -> bool:
    """Return whether a tokenizer writes bytes as letters, which has to be known: in others é is the letter itself.

    Older tokenizers of Transformers hold the table of letters; the others name how they decode.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    steps = (getattr(backend, name, None) for name in ("decoder", "pre_tokenizer"))
    return hasattr(tokenizer, "byte_decoder") or any("ByteLevel" in repr(step) for step in steps)


def _half(model: Any) -> dict[str, Any]:
    """Return what the model holds in half precision, by name, as float32."""
    held = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    return {name: x.float() for name, x in held.items() if x.is_floating_point() and x.element_size() < 4}


def _with(model: Any, held: Mapping[str, Any], *args: Any, **more: Any) -> Any:
    """Call a model as if it held other tensors, which it does not keep."""
    return importlib.import_module("torch.func").functional_call(model, held, args, more)


def _states(call: Callable[..., Any], whole: Any, model: Any = None) -> list[Array]:
    """Return the hidden states that a call of the model gives, by itself its own; no dropout, and no gradients.

    whole  what it reads: the ids of its tokens or, where it reads images, pixels
    """
    model = call if model is None else model
    was_training = model.training
    model.eval()
    try:
        out = call(whole, output_hidden_states=True, return_dict=True)
    finally:
        model.train(was_training)
    *before, last = out.hidden_states
    return [_array(state[0]) for state in (*before, getattr(out, "last_hidden_state", last))]  # behind the last norm


def _whole(model: Any, ids: list[int]) -> Any:
    """Return ids as a model reads them, of whole numbers from the start: bfloat16 knows none from 257 on."""
    return next(model.parameters()).new_zeros(0).long().new_tensor([ids])


def _difference(trace: Trace, states: list[Array]) -> float:
    """Return the largest difference between the hidden states."""
    layers = trace.layers[1::2] if facts_of(trace.config).reads else trace.layers  # two of a decoder are one of theirs
    ours = [trace["embedded"].array, *(list(layer.values())[-1].array for layer in layers)]
    return max(float(np.abs(computed - expected).max()) for computed, expected in zip(ours, states, strict=True))
