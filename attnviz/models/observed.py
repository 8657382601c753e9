"""A Trace of a PyTorch model of any kind: what its own attention reads and gives while it runs a text.

Transformers hands queries, keys and values to one function, whatever the model is; while a text runs, that function is
ours. It notes what it is given and has the model's own one compute the weights. PyTorch is not imported here: the model
brings it along.

Source: the attention interface of Transformers, https://huggingface.co/docs/transformers/attention_interface.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.external.traces import of_vectors, of_weights
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

NAME = "attnviz"
"""Our function, as Transformers has it in its list."""
ONE_AT_A_TIME = threading.RLock()
"""Held while a model is watched: Transformers has one list of functions for all threads."""
FAR = 1e-3
"""The tolerance of the model's own weights, which are shares of one; in half precision twice what that rounds to."""
CLOSED = -9000.0
"""What a mask adds to a score at most where a query may not attend."""

NOTES = Words(
    {
        "vectors": "From queries, keys and values on as the model itself computes them; its own weights differ by at "
        "most {difference:.1e}. What comes before these is its own, since {why}.",
        "weights": "The weights that the model itself computes; what comes before them is its own, since {why}.",
        "part": "These are the weights of its {part}; part= chooses another: {parts}.",
    }
)
FAULTS = Words(
    {
        "failed": "the model could not run the text: {error}",
        "nothing": "the model kept no attention weights; it may have no attention, or else load it with "
        'from_pretrained(..., attn_implementation="eager")',
        "shape": "the model's weights have shape {shape}, for {rows} queries and {columns} keys: it attends in blocks, "
        "or to tokens of its own; give the weights themselves to of_weights",
        "target": "{part} needs a second text, that of the decoder: of_model(model, tokenizer, text, target=...)",
        "part": "part is {given}; this model has {parts}",
    }
)
PARTS = {"encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}


@dataclass
class _Seen:
    """The queries, keys and values that the attention of a layer was given, and its weights."""

    weights: Any
    vectors: tuple[Any, Any, Any]
    mask: Any
    scale: float | None
    softcap: float


@dataclass
class _Watch:
    seen: list[_Seen] = field(default_factory=list)

    def __call__(self, module: Any, query: Any, key: Any, value: Any, mask: Any = None, *more: Any, **how: Any) -> Any:
        """Have the model's own attention compute, and keep what it was given."""
        own = sys.modules[type(module).__module__].eager_attention_forward
        output, weights = own(module, query, key, value, mask, *more, **how)
        scale = how.get("scaling", more[0] if more else None)
        self.seen.append(_Seen(weights, (query, key, value), mask, scale, how.get("softcap") or 0.0))
        return output, weights


@contextmanager
def _watched(model: Any) -> Iterator[list[_Seen]]:
    """Within it the attention of a model is watched, if its Transformers can be asked for that, and eager if not."""
    watch, name = _Watch(), "eager"
    try:
        package, masks = import_module("transformers"), import_module("transformers.masking_utils")
        package.AttentionInterface.register(NAME, watch)
        package.AttentionMaskInterface.register(NAME, masks.eager_mask)
        name = NAME
    except (ImportError, AttributeError):  # one of before version 4.53
        pass
    configs = {id(each.config): each for each in model.modules() if hasattr(each, "set_attn_implementation")}
    before = [(each, getattr(each.config, "_attn_implementation", None)) for each in configs.values()]
    with _silent():
        try:
            for each, _ in before:
                each.set_attn_implementation(name)
            yield watch.seen
        finally:
            for each, how in before:
                if how is not None:
                    each.set_attn_implementation(how)
            watch.seen = []  # Transformers keeps what watches


@contextmanager
def _silent() -> Iterator[None]:
    """Within it Transformers does not warn of models whose attention cannot be chosen; their weights come anyway."""
    try:
        logging = import_module("transformers.utils.logging")
    except ImportError:
        yield
        return
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(before)


def trace_of(
    model: Any,
    given: Mapping[str, Any],
    tokens: Sequence[str],
    why: str,
    *,
    target: Sequence[str] = (),
    part: str | None = None,
) -> Trace:
    """Return a Trace of what a model of Transformers computes.

    given   what it is called with
    tokens  those that the model reads; none for a picture, whose parts are named by row and column;  `target` those
            that its decoder reads, where it has one
    why     a reason why it is not computed anew, as a clause
    part    encoder, decoder or cross, for a model that has these

    It begins with queries, keys and values where the weights that follow from them are the model's own, and otherwise
    with these. Raises ConfigError, a ValueError, where there are none.
    """
    with ONE_AT_A_TIME, _watched(model) as seen:
        out = _run(model, given)
    weights, said, rows, columns = _chosen(out, part, tokens, target)
    if not weights or any(each is None for each in weights):
        raise ConfigError(FAULTS["nothing"])
    A = [_array(each)[0] for each in weights]
    if not tokens:
        rows = columns = _parts_of_picture(A[0].shape[-1])
    if any(each.shape[-2:] != (len(rows), len(columns)) for each in A):
        raise ConfigError(FAULTS["shape"].format(shape=A[0].shape, rows=len(rows), columns=len(columns)))
    trace = _of_vectors([_of(each, seen) for each in weights], A, rows, columns)
    if trace is not None:
        difference = max(float(np.abs(layer["weights"].array - a).max()) for layer, a in zip(trace.layers, A))
        begins = NOTES["vectors"].format(difference=difference, why=why)
    else:
        trace, begins = of_weights(np.stack(A), rows, columns), NOTES["weights"].format(why=why)
    return replace(trace, notes=(begins, *said, *trace.notes))


def _chosen(
    out: Any, part: str | None, tokens: Sequence[str], target: Sequence[str]
) -> tuple[Any, list[str], Sequence[str], Sequence[str]]:
    """Return the weights of the part that is wanted, what is to be said of it, and its rows and columns."""
    named = {name: found for name, attribute in PARTS.items() if (found := getattr(out, attribute, None))}
    if not named:
        return getattr(out, "attentions", None), [], tokens, tokens
    part = part or ("cross" if target else "encoder")
    if part in ("decoder", "cross") and not target:
        raise ConfigError(FAULTS["target"].format(part=part))
    if part not in named:
        raise ConfigError(FAULTS["part"].format(given=shorten(part), parts=", ".join(named)))
    said = NOTES["part"].format(part=part, parts=", ".join(each for each in named if each != part))
    rows, columns = (tokens if part == "encoder" else target), (target if part == "decoder" else tokens)
    return named[part], [said], rows, columns


def _parts_of_picture(n: int) -> tuple[str, ...]:
    """Return names of what a model reads of a picture: what stands before it, then its squares by row and column.

    >>> _parts_of_picture(5)
    ('[CLS]', '1,1', '1,2', '2,1', '2,2')
    """
    before = next((k for k in range(min(n, 8)) if math.isqrt(n - k) ** 2 == n - k), None)
    if before is None:  # no square of squares
        return tuple(map(str, range(1, n + 1)))
    side = math.isqrt(n - before)
    first = ["[CLS]", *(f"[{k}]" for k in range(2, before + 1))][:before]
    return (*first, *(f"{row},{column}" for row in range(1, side + 1) for column in range(1, side + 1)))


def _run(model: Any, given: Mapping[str, Any]) -> Any:
    """Call a model as it is when nobody trains it, without gradients."""
    was_training = model.training
    model.eval()
    try:
        with import_module("torch").no_grad():
            return model(**given, output_attentions=True, return_dict=True)
    except Exception as error:
        raise ConfigError(FAULTS["failed"].format(error=shorten(f"{type(error).__name__}: {error}", 200))) from error
    finally:
        model.train(was_training)


def _array(tensor: Any) -> Array:
    return np.array(tensor.detach().to("cpu").double().numpy())


def _of(weights: Any, seen: Sequence[_Seen]) -> _Seen | None:
    """Return what led to weights, by the tensor itself."""
    return next((each for each in seen if each.weights is weights), None)


def _of_vectors(
    seen: Sequence[_Seen | None], A: Sequence[Array], rows: Sequence[str], columns: Sequence[str]
) -> Trace | None:
    """Return the trace of queries, keys and values; None unless all layers' weights follow from them."""
    found = [each for each in seen if each is not None]
    how = {(each.scale, each.softcap, _mask(each.mask, a.shape)) for each, a in zip(found, A)}
    if len(found) < len(A) or len(how) != 1:
        return None
    [(scale, softcap, mask)] = how
    if mask is None or scale is None or not math.isfinite(scale):
        return None
    try:
        Q, K, V = (np.stack([_array(each.vectors[i])[0] for each in found]) for i in range(3))
        config = Config(score="dot", scale=float(scale), softcap=float(softcap), mask=mask)  # type: ignore[arg-type]
        trace = of_vectors(Q, K, V, rows, columns, config=config)
    except (ConfigError, ValueError):  # layers of several widths, or vectors of no such form
        return None
    most = max(FAR, *(2 * import_module("torch").finfo(each.weights.dtype).eps for each in found))
    near = all(
        layer["weights"].shape == a.shape and np.abs(layer["weights"].array - a).max() <= most
        for layer, a in zip(trace.layers, A)
    )
    return trace if near else None


def _mask(added: Any, shape: tuple[int, ...]) -> str | None:
    """Return the mask that is added to scores, (heads, rows, columns): none or causal; None for anything else."""
    if added is None:
        return "none"
    array = _array(added)
    closed = (array == 0) if added.dtype == import_module("torch").bool else (array <= CLOSED)
    if (array[~closed] != 0).any() and not (array[~closed] == 1).all():
        return None  # a bias
    closed = np.broadcast_to(closed[0, ..., : shape[-1]], shape)
    if not closed.any():
        return "none"
    return "causal" if (closed == np.triu(np.ones(shape[1:], dtype=bool), 1)).all() else None
