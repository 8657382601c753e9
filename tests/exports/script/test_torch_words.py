"""The words of the PyTorch script, which need no PyTorch to be read: NumPy means other things by some of them."""

from __future__ import annotations

import ast
import re

from attnviz import Config
from attnviz.exports.script.torch_script import torch_script
from tests.support.cases import for_each

SHARED = {"sentence": "a b", "n_heads": 4, "n_kv_heads": 2, "normaliser": "sparsemax"}


@for_each(
    "setting, lines",
    [
        (SHARED, ["K_h = torch.repeat_interleave(K, 2, dim=0)", "V_h = torch.repeat_interleave(V, 2, dim=0)"]),
        (SHARED | {"tied": True}, ["W_Q = torch.repeat_interleave(W_shared, 2, dim=0)"]),
        ({"normaliser": "hardmax"}, ["top = S_scaled.amax(dim=-1, keepdim=True)"]),
        ({"normaliser": "quiet_softmax"}, [".amax(dim=-1, keepdim=True).clip(min=0)"]),
        ({"d_v": (2, 3)}, ["torch.cat("]),
        ({"normaliser": "sparsemax"}, ["z.sort(dim=-1, descending=True).values", "torch.take_along_dim("]),
    ],
)
def test_a_word_that_means_something_else_is_translated(setting: dict[str, object], lines: list[str]):
    code = torch_script(Config(**setting))
    ast.parse(code)
    for line in lines:
        assert line in code
    assert not re.search(r"torch\.(repeat|concatenate|take_along_axis)\(|axis=|keepdims", code)
