"""The matrices of a block of experts, joined to those of one block: the columns of the first expert come first.

Those of GPT-OSS are one array for gate and up in turn, with biases. Published files hold them as MXFP4: sixteen bytes
are 32 numbers of 4 bits, the lower half of a byte first, and each such block has a power of two that multiplies it.

Source: Open Compute Project 2023, OCP Microscaling Formats (MX) Specification 1.0, sections 5.3.3 and 6.3.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.pretrained.model_facts import TensorSlice
from attnviz.models.safetensors import FAULTS, Tensors, shaped
from attnviz.models.shapes.shape import Shape
from attnviz.settings.faults import ConfigError, shorten_name

SYMBOLS = {"gate": "w_1", "up": "w_3", "down": "w_2"}
IN_MEMORY = ("gate_up_proj", "down_proj")
"""The names that Transformers 5 gives the matrices of all experts in memory: (experts, out, in)."""

OF_4_BITS = np.array([sign * x for sign in (1.0, -1.0) for x in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)], np.float32)
"""What each number of 4 bits says: a bit for the sign, two for the exponent, one behind the point."""

BLOCK, BIAS, NONE = 16, 127, 255
"""The bytes of a block, what is taken from the byte of its exponent, and the exponent that says that it is none."""

LEAST, MOST = -23, 13
"""The exponents with which float16 holds every number of a block exactly."""


def joined(
    tensors: Mapping[str, Array], at: str, names: Mapping[str, str], shape: Shape
) -> tuple[dict[str, Array], dict[str, TensorSlice]]:
    """Return W_1, W_3 and W_2 of a layer, and where their columns lie.

    at     what stands before the number of an expert in the names of its matrices
    names  those of its matrices behind the number: gate, up and down

    Raises ConfigError for one that is missing or misshapen.
    """
    memory = f"{at.rpartition('experts.')[0].replace('block_sparse_moe', 'mlp')}experts."
    whole = f"{memory}{IN_MEMORY[0]}" in tensors
    return _of_memory(tensors, memory, shape) if whole else _of_files(tensors, at, names, shape)


def _of_memory(tensors: Mapping[str, Array], at: str, shape: Shape) -> tuple[dict[str, Array], dict[str, TensorSlice]]:
    n, units, d = shape.n_experts, shape.units, shape.d_model
    both, down = (f"{at}{name}" for name in IN_MEMORY)
    first = shaped(tensors, both, n, 2 * units, d)
    arrays = {
        "w_1": first[:, :units].reshape(-1, d).T,
        "w_3": first[:, units:].reshape(-1, d).T,
        "w_2": shaped(tensors, down, n, d, units).transpose(0, 2, 1).reshape(-1, d),
    }
    slices = {name: TensorSlice(both, "row", first=k * units, units=units) for k, name in enumerate(("w_1", "w_3"))}
    return arrays, slices | {"w_2": TensorSlice(down, "column")}


def _of_files(
    tensors: Mapping[str, Array], at: str, names: Mapping[str, str], shape: Shape
) -> tuple[dict[str, Array], dict[str, TensorSlice]]:
    n, units, d = shape.n_experts, shape.units, shape.d_model
    arrays, slices = dict[str, Array](), dict[str, TensorSlice]()
    for part, name in SYMBOLS.items():
        sizes = (d, units) if part == "down" else (units, d)
        each = [shaped(tensors, f"{at}{e}.{names[part]}.weight", *sizes) for e in range(n)]
        arrays[name] = np.concatenate([W.T for W in each]) if part == "down" else np.concatenate(each).T
        tensor = f"{at}{{e}}.{names[part]}.weight"
        file = tensors.file(tensor.format(e=0)) if isinstance(tensors, Tensors) else ""
        slices[name] = (
            TensorSlice(tensor.format(e=f"0…{n - 1}"), "row", file)
            if part == "down"
            else TensorSlice(tensor, "row", file, units=units)
        )
    return arrays, slices


def interleaved(tensors: Mapping[str, Array], at: str, shape: Shape) -> tuple[dict[str, Array], dict[str, TensorSlice]]:
    """Return the matrices and biases of a layer's experts in GPT-OSS, and where their columns lie.

    at  what stands before the names of the experts' arrays

    Raises ConfigError for one that is missing, misshapen or damaged.
    """
    n, units, d = shape.n_experts, shape.units, shape.d_model
    both, down = f"{at}gate_up_proj", f"{at}down_proj"
    first, second = _matrix(tensors, both, n, d, 2 * units), _matrix(tensors, down, n, units, d)
    biases, last = shaped(tensors, f"{both}_bias", n, 2 * units), shaped(tensors, f"{down}_bias", n, d)
    arrays, slices = {"w_2": second.reshape(-1, d), "b_experts": last}, dict[str, TensorSlice]()
    for k, name in enumerate(("1", "3")):
        arrays[f"w_{name}"] = first[..., k::2].transpose(1, 0, 2).reshape(d, -1)
        arrays[f"b_{name}"] = biases[:, k::2].reshape(-1)
        slices[f"w_{name}"] = _slice(tensors, both, first=k, stride=2, units=units)
        slices[f"b_{name}"] = TensorSlice(f"{both}_bias", "entry", _file(tensors, f"{both}_bias"), k, 2, units=units)
    packed = _is_packed(tensors, down)
    w_2, b_2 = f"{down}_blocks" if packed else down, f"{down}_bias"
    slices["w_2"] = TensorSlice(w_2, "column" if packed else "stack", _file(tensors, w_2))
    slices["b_experts"] = TensorSlice(b_2, "column", _file(tensors, b_2))
    return arrays, slices


def unpacked(blocks: Array, scales: Array) -> Array:
    """Return the numbers of blocks of 4 bits, (..., rows, blocks, 16) with a scale for each, as (..., rows, columns).

    They are exact, in float16 where this holds them and in float32 elsewhere.

    >>> unpacked(np.full((1, 1, 16), 0x21, np.uint8), np.array([[128]], np.uint8))[0, :4].tolist()
    [1.0, 2.0, 1.0, 2.0]
    """
    exponents = scales.astype(np.int32) - BIAS
    fits = not exponents.size or (exponents.min() >= LEAST and exponents.max() <= MOST)
    said = OF_4_BITS.astype(np.float16 if fits else np.float32)
    numbers = np.empty((*blocks.shape, 2), said.dtype)
    numbers[..., 0], numbers[..., 1] = said[blocks & 15], said[blocks >> 4]
    np.ldexp(numbers, exponents[..., None, None], out=numbers)
    return numbers.reshape(*blocks.shape[:-2], -1)


def _matrix(tensors: Mapping[str, Array], name: str, n: int, n_in: int, n_out: int) -> Array:
    """Return the matrices of all experts, (experts, in, out)."""
    if not _is_packed(tensors, name):
        return shaped(tensors, name, n, n_in, n_out)
    n_blocks = -(-n_in // (2 * BLOCK))
    blocks = _bytes(tensors, f"{name}_blocks", n, n_out, n_blocks, BLOCK)
    scales = _bytes(tensors, f"{name}_scales", n, n_out, n_blocks)
    if (scales == NONE).any():
        file, said = _file(tensors, f"{name}_scales"), shorten_name(f"{name}_scales")
        raise ConfigError(FAULTS["finite"].format(file=file, name=said))
    return unpacked(blocks, scales)[..., :n_in].transpose(0, 2, 1)


def _is_packed(tensors: Mapping[str, Array], name: str) -> bool:
    return name not in tensors and f"{name}_blocks" in tensors


def _bytes(tensors: Mapping[str, Array], name: str, *sizes: int) -> Array:
    """Return an array of bytes of this shape. Raises ConfigError for another."""
    array = tensors[name]
    if array.dtype != np.uint8:
        file = _file(tensors, name)
        raise ConfigError(FAULTS["type"].format(file=file, name=shorten_name(name), type=array.dtype))
    if array.shape != sizes:
        raise ConfigError(FAULTS["shape"].format(name=shorten_name(name), shape=array.shape, needed=sizes))
    return array


def _file(tensors: Mapping[str, Array], name: str) -> str:
    return tensors.file(name) if isinstance(tensors, Tensors) else ""


def _slice(tensors: Mapping[str, Array], name: str, **more: int) -> TensorSlice:
    """Return where a column of the experts lies: a row of the blocks where these are packed."""
    if _is_packed(tensors, name):
        return TensorSlice(f"{name}_blocks", "row", _file(tensors, f"{name}_blocks"), **more)
    return TensorSlice(name, "column", _file(tensors, name), **more)
