"""Every parameter of a layer lies where it is said to lie in the file, read with the library of the format."""

from __future__ import annotations

import re

import numpy as np

from attnviz.arithmetic.cell import derive
from attnviz.arithmetic.notation.latex_numbers import NumberFormat
from attnviz.arithmetic.products import offered, products
from attnviz.arithmetic.step_words import weights_in
from attnviz.arithmetic.tensor_slices import column
from attnviz.engine.external.layer_plans import plan_of_layer
from attnviz.engine.pretrained.model_facts import TensorSlice
from attnviz.engine.pretrained.pretrained_config import facts_of
from attnviz.models.safetensors import Tensors
from tests.support.cases import for_each
from tests.support.small_models import FOLDER, NAMES, given, model

WORDS = "the king and the queen saw a dog and a cat"


def in_file(tensors: Tensors, part: TensorSlice, d: int, head: int) -> np.ndarray:
    if part.units or part.axis == "stack" or "…" in part.tensor:
        return of_experts(tensors, part.at(d))
    tensor = np.asarray(tensors[part.tensor], dtype=float)
    n = part.number(d, head)
    return (tensor[:, n] if part.axis == "column" else tensor[n]) + part.plus


def of_experts(tensors: Tensors, place: str) -> np.ndarray:
    """What a place in the files says, such as experts.2.w1.weight[3], or that of several: experts.0…3.w2.weight[1]."""
    name, inside = place.removesuffix("]").split("[")
    index = tuple(slice(None) if each == ":" else int(each) for each in inside.split(", "))
    several = re.fullmatch(r"(.*\.)(\d+)…(\d+)(\..*)", name)
    names = [name]
    if several:
        before, first, last, behind = several.groups()
        names = [f"{before}{e}{behind}" for e in range(int(first), int(last) + 1)]
    return np.concatenate([np.ravel(np.asarray(tensors[each], dtype=float)[index]) for each in names])


@for_each("name", [*NAMES, "vit"])
def test_each_column_is_where_it_is_said_to_be(name: str) -> None:
    trace, tensors = model(name)(given(name, WORDS)), Tensors(FOLDER / name)
    for layer, steps in enumerate(trace.layers):
        parameters = [each for each in steps if each.startswith(("w_", "b_", "g_", "c_", "sinks"))]
        parameters = [each for each in parameters if not each.endswith("_f")]
        assert {"w_q", "w_k", "w_v", "w_o", "w_1", "w_2"} <= {*parameters}
        for parameter in parameters:
            part = facts_of(trace.config).slice_of(layer, parameter)
            assert part is not None, parameter
            array = steps[parameter].array
            by_head = steps[parameter].axes[0].endswith("head")
            for head in range(len(array) if by_head else 1):
                one = array[head] if by_head else array
                for d in {0, 1 % one.shape[-1], one.shape[-1] - 1}:
                    there = in_file(tensors, part, d, head)
                    np.testing.assert_array_equal(one[..., d], there if one.ndim > 1 else np.squeeze(there))


@for_each("name", NAMES)
def test_tokens_and_positions_are_rows_of_their_tables(name: str) -> None:
    trace, tensors = model(name)(WORDS), Tensors(FOLDER / name)
    part = facts_of(trace.config).slice_of(None, "tokens")
    assert part is not None
    table = np.asarray(tensors[part.tensor], dtype=float) * model(name).shape.embedding_factor
    np.testing.assert_array_equal(table[list(trace.token_ids)], trace["token_embeddings"].array)


def test_a_position_is_written_as_numpy_writes_it() -> None:
    trace = model("gpt2")(WORDS)
    part = facts_of(trace.config).slice_of(1, "w_k")
    assert part is not None
    width = trace.config.key_widths()[0]
    n = trace.config.n_heads * width + 1 * width + 2
    assert column(part, "W_K", 2, head=1) == (
        f"Column 3 of W_K is transformer.h.1.attn.c_attn.weight[:, {n}] in model.safetensors."
        if part.tensor.startswith("transformer.")
        else f"Column 3 of W_K is h.1.attn.c_attn.weight[:, {n}] in model.safetensors."
    )


@for_each("name", [*NAMES, "vit"])
def test_no_line_of_a_model_is_taken_for_edited_and_its_parameters_are_named(name: str) -> None:
    trace = model(name)(given(name, WORDS))
    for layer in range(len(trace.layers)):
        cell = derive(trace, layer, 1, 4, 2)
        assert cell.edited == ()
        for line in ("query", "key", "value"):
            assert "model.safetensors" in cell[line].source
        if "normed_queries" in trace.layers[layer]:
            assert "q_norm" in cell["normed_query"].source


@for_each("name", [*NAMES, "vit"])
def test_any_number_is_taken_down_to_what_it_is_made_of(name: str) -> None:
    trace = model(name)(given(name, WORDS))
    for layer, steps in enumerate(trace.layers):
        plan = plan_of_layer(trace, layer)
        names = offered(trace, layer)
        same = {step for step, value in plan.items() if value.args and value.args[0].name}
        assert {*names} == {step for step in plan if plan[step].op == "step"} - same - {"weights"}
        for step in names:
            array, by_head = steps[step].array, steps[step].axes[0].endswith("head")
            for row, d, head in ((4, 1, 0), (3, 2, len(array) - 1 if by_head else 0)):
                found = products(trace, layer, step, row, d, head, digits=17)
                number = array[head, row, d] if by_head else array[row, d]
                assert found.result == number
                size = np.abs(array[np.isfinite(array)]).max()
                assert found.computed == number or abs(found.computed - number) <= 1e-12 * size
                if len(found.values) and not found.activated:
                    assert abs(found.total - number) <= 1e-12 * (np.abs(found.values).sum() + abs(found.bias))
                parameters = [each for each in weights_in(plan[step].args[0]) if not each.name.endswith("_f")]
                assert len(found.sources) == len(parameters)
                assert all("model.safetensors" in source for source in found.sources)
                assert f"{NumberFormat(17).number(found.computed)}\n\\end" in found.latex


def test_what_a_decoder_reads_one_word_later_is_no_sum_of_products() -> None:
    for name in ("bart", "t5"):
        trace = model(name)("a rose is a rose", "a rose is", part="both")
        for layer in range(len(trace.layers)):
            found = [products(trace, layer, step, 1, 1) for step in offered(trace, layer)]
            assert any(len(each.values) for each in found)
            assert "shifted" not in offered(trace, layer)


def test_a_key_out_of_the_window_of_a_layer_is_said_to_be() -> None:
    trace = model("gpt_neo")("the king and the queen saw a dog and a cat and the king saw the queen")
    window = next(i for i, each in enumerate(facts_of(trace.config).windows) if each is not None)
    reach = facts_of(trace.config).windows[window]
    assert reach is not None
    query = reach + 2
    mask = derive(trace, window, 0, query, 0)["mask"].sentence
    assert f"attends to the last {reach + 1} tokens only" in mask
    assert "edited" not in mask
