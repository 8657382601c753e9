"""The code of every form is run, and means to the installed PyTorch what the mask means here."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from attnviz import Config, attend, run
from attnviz.analysis.mask_forms import FORMS
from attnviz.engine.numerics.noise import Address, normal
from attnviz.engine.tables.masks import MASKS
from attnviz.engine.tables.tokenisers import PAD
from attnviz.experiments.masking_methods import LIBRARIES, RUN
from attnviz.exports.mask_code import LEGIBLE, code, expression
from tests.support.cases import for_each

SMALL, LARGE = (5, 7), (17, 19)


def made(text: str) -> Any:
    """What a code makes: the value of the last name that it sets."""
    names: dict[str, Any] = {}
    exec(text, names)  # noqa: S102 - that is the test
    return names[text.splitlines()[-1].split(" = ")[0] if " = " in text.splitlines()[-1] else last_target(text)]


def last_target(text: str) -> str:
    return next(line.split(" = ")[0] for line in reversed(text.splitlines()) if line.endswith("(["))


def odd(shape: tuple[int, int], same: bool = False) -> np.ndarray:
    """A mask without symmetry; `same` for every query."""
    i, j = np.indices(shape)
    return (j * j + (0 if same else i)) % 3 > 0


@pytest.mark.parametrize("shape", [SMALL, LARGE])
def test_the_numpy_code_makes_the_mask(shape: tuple[int, int]) -> None:
    np.testing.assert_array_equal(made(code("allowed", odd(shape))), odd(shape))


def test_every_mask_but_a_list_has_an_expression_that_is_used_beyond_what_can_be_read() -> None:
    words = " ".join(f"w{i}" for i in range(LEGIBLE + 3))
    other = " ".join(f"v{i}" for i in range(LEGIBLE - 2))
    for name in set(MASKS) - {"custom", "formula"}:
        config = Config(sentence=words, second_sentence=other, mask=name, pad_to=LEGIBLE + 1)
        trace = run(config)
        mask = trace["allowed"].array
        term = expression(config, mask, trace.key_tokens)
        assert term, name
        text = code("allowed", mask, term)
        assert "rows" not in text
        np.testing.assert_array_equal(made(text) & np.ones(mask.shape, bool), mask, name)
        assert made(text).shape == mask.shape, name


def test_masks_together_are_one_expression() -> None:
    trace = run(Config(sentence="a b c d", mask=("causal", "no_self")))
    assert expression(trace.config, trace["allowed"].array, trace.key_tokens) == "(j <= i) & (i != j)"


def test_there_is_no_expression_for_a_mask_that_the_setting_does_not_make() -> None:
    config, tokens = Config(mask="causal"), ("a", "b", "c")
    assert expression(config, np.tri(3, dtype=bool), tokens) == "j <= i"
    assert expression(config, np.tri(3, k=1, dtype=bool), tokens) is None
    assert expression(Config(mask="custom", custom_cells="1: 1"), np.eye(1, 3, dtype=bool), tokens) is None
    between = np.array([[True, False, True]] * 3)
    assert expression(Config(mask="padding"), between, ("a", PAD, "c")) is None


def through_torch(torch: Any, form_name: str, mask: np.ndarray, form: Any) -> tuple[np.ndarray, np.ndarray]:
    """One head of attention in PyTorch under a form of the mask, and the same here."""
    n_query, n_key = mask.shape
    q, k, v = (normal(Address(1, name), (n, 6)) for name, n in (("q", n_query), ("k", n_key), ("v", n_key)))
    here = attend(q, k, v, allowed=mask).output
    Q, K, V = (torch.tensor(x)[None] for x in (q, k, v))
    if form_name in ("sdpa", "additive"):
        form = form if form.dtype == torch.bool else form.double()
        return torch.nn.functional.scaled_dot_product_attention(Q, K, V, attn_mask=form)[0].numpy(), here
    heads = torch.nn.MultiheadAttention(6, 1, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        heads.in_proj_weight.copy_(torch.eye(6).repeat(3, 1))
        heads.out_proj.weight.copy_(torch.eye(6))
        given = {"key_padding_mask": form[None]} if form_name == "key_padding" else {"attn_mask": form}
        return heads(Q, K, V, **given)[0][0].numpy(), here


@for_each("shape", [SMALL, LARGE])
@for_each("name", [name for name in FORMS if name != "allowed"])
def test_each_form_means_the_same_to_pytorch(torch: Any, name: str, shape: tuple[int, int]) -> None:
    mask = odd(shape, same=name == "key_padding")
    found, here = through_torch(torch, name, mask, made(code(name, mask)))
    np.testing.assert_allclose(found, here, atol=1e-12)


@pytest.mark.parametrize("name", ["sdpa", "multi_head", "additive"])
def test_an_expression_means_the_same_to_pytorch(torch: Any, name: str) -> None:
    trace = run(Config(sentence=" ".join("abcdefghijklmnopqrs"), mask=("window", "causal")))
    mask = trace["allowed"].array
    text = code(name, mask, expression(trace.config, mask, trace.key_tokens))
    assert "abs(i - j) <= 2" in text
    found, here = through_torch(torch, name, mask, made(text))
    np.testing.assert_allclose(found, here, atol=1e-12)


def test_the_two_polarities_of_pytorch_really_differ(torch: Any) -> None:
    mask = odd(SMALL)
    found, here = through_torch(torch, "multi_head", mask, made(code("sdpa", mask)))
    assert np.abs(found - here)[0].max() > 0.1


def test_a_mask_that_is_not_the_same_for_every_query_has_no_key_padding() -> None:
    assert code("key_padding", odd(SMALL)).startswith("# The queries do not all see")
    assert "key_padding_mask = torch.tensor([T, F" in code("key_padding", odd(LARGE, same=True))


def test_what_is_said_of_pytorch_and_an_empty_row_is_so(torch: Any) -> None:
    """Every row of the table that says it was run, in its order."""
    x, none = torch.ones(1, 3, 4), torch.zeros(3, 3, dtype=torch.bool)
    scores, infinite = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.full((3, 3), -torch.inf)
    attend_there = torch.nn.functional.scaled_dot_product_attention
    heads = torch.nn.MultiheadAttention(4, 1, batch_first=True)
    with torch.no_grad():
        default, weights = heads(x, x, x, attn_mask=~none)
        quick, _ = heads(x, x, x, attn_mask=~none, need_weights=False)
    filled = scores.masked_fill(torch.ones(4, dtype=torch.bool), -1e9)
    holds = [
        infinite.softmax(-1).isnan().all(),
        all((attend_there(x, x, x, attn_mask=mask) == 0).all() for mask in (none, infinite)),
        default.isnan().all() and weights.isnan().all(),
        (quick == heads.out_proj.bias).all(),
        (filled.softmax(-1) == 0.25).all(),
        ((scores - 1e9).softmax(-1) == 0.25).all(),
        torch.allclose((scores.double() - 1e9).softmax(-1), scores.double().softmax(-1), atol=1e-6),
    ]
    with pytest.raises(RuntimeError, match="overflow"):
        scores.half().masked_fill(torch.ones(4, dtype=torch.bool), -1e9)
    assert all(holds), holds
    assert len(holds) + 1 == sum(known == RUN for _, _, known in LIBRARIES)
    assert torch.__version__.startswith("2.13") or "CI" not in os.environ, "the table names the version that was run"
