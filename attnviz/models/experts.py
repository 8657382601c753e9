"""The matrices of a block of experts, joined to those of one block: the columns of the first expert come first."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.pretrained.model_facts import TensorSlice
from attnviz.models.safetensors import Tensors, shaped
from attnviz.models.shapes.shape import Shape

SYMBOLS = {"gate": "w_1", "up": "w_3", "down": "w_2"}
IN_MEMORY = ("gate_up_proj", "down_proj")
"""The names that Transformers 5 gives the matrices of all experts in memory: (experts, out, in)."""


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
