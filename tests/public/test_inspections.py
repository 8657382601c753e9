"""`attnviz diff` and `attnviz check`: what they print, and what they refuse."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.command import main
from attnviz.inspections import differing

LINK = "?v=1&sentence=the+cat+sat&n_layers=2"


def test_two_runs_are_told_apart_step_by_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = run(Config(sentence="the cat sat", n_layers=2)), run(Config(sentence="the cat sat", n_layers=2, scale=1.0))
    for kind in ("npz", "json"):
        b.save(tmp_path / f"b.{kind}")
        assert main(["diff", LINK, str(tmp_path / f"b.{kind}")]) == 1
        first, *lines = capsys.readouterr().out.splitlines()
        assert first == "the first step that differs: scaled of layer 1"
        expected = [
            (layer + 1, name, np.abs(np.nan_to_num(b.layers[layer][name].array - a.layers[layer][name].array)).max())
            for layer in (0, 1)
            for name in a.layers[layer]
            if not np.allclose(np.nan_to_num(a.layers[layer][name].array), np.nan_to_num(b.layers[layer][name].array))
        ]
        found = [re.match(r"layer (\d)  (\w+) +[\d,]+ of [\d,]+ numbers, by (\S+) at most$", line) for line in lines]
        assert all(found)
        assert [(int(each[1]), each[2]) for each in found if each] == [row[:2] for row in expected]
        np.testing.assert_allclose([float(each[3]) for each in found if each], [row[2] for row in expected], rtol=1e-3)
    assert main(["diff", LINK, LINK]) == 0
    assert capsys.readouterr().out == "A and B are the same, number for number\n"
    seeded = [each[:2] for each in differing(a, run(Config(sentence="the cat sat", n_layers=2, seed=1)))]
    assert seeded[0] == (None, "token_embeddings")
    assert [each for each in seeded if each[1] == "embedded"] == [(None, "embedded")]
    shapes = list(differing(a, run(Config(sentence="the cat sat", n_heads=2))))
    assert (0, "w_q", "4 × 16 × 4 in A, 2 × 16 × 4 in B") in shapes
    assert (1, "weights", "4 × 3 × 3 in A, absent in B") in shapes
    [masked] = [
        s for _, n, s in differing(a, run(Config(sentence="the cat sat", n_layers=2, mask="causal"))) if n == "masked"
    ][:1]
    assert masked.endswith(", and 12 masked in one of them alone")


def test_own_functions_are_checked_by_running_their_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.py"
    code = "import numpy as np\n\ndef attention(q, k, v):\n    s = q @ k.T{scale}\n"
    code += "    e = np.exp(s - s.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True) @ v\n"
    file.write_text(code.format(scale=" / q.shape[-1] ** 0.5"), encoding="utf-8")
    assert main(["check", str(file)]) == 0
    assert capsys.readouterr().out == "it computes softmax(Q Kᵀ / √d_k) V on vectors without a mask\n"
    file.write_text(code.format(scale=""), encoding="utf-8")
    assert main(["check", str(file)]) == 1
    assert capsys.readouterr().out.startswith("mistake: the scores are not divided by √d_k; write scores /")
    file.write_text(code.format(scale="") + "\ndef other(q, k, v): return q\n", encoding="utf-8")
    empty = tmp_path / "empty.py"
    empty.write_text("from numpy import dot\n", encoding="utf-8")
    for words, said in (
        (["check", str(file)], "holds several functions of q, k and v; choose one with --name: attention, other"),
        (["check", str(file), "--name", "it"], "holds no function called 'it'; it has attention, other"),
        (["check", str(empty)], "holds no function of q, k and v; give it one, such as def attention(q, k, v)"),
        (["check", str(tmp_path / "none.py")], "cannot be run: FileNotFoundError"),
        (["diff", "none.npz", LINK], "'none.npz' cannot be read: no such file or directory"),
        (["diff", "anything", LINK], "There is no setting called 'anything'"),
    ):
        assert main(words) == 2
        assert said in capsys.readouterr().err
    assert main(["check", str(file), "--name", "attention"]) == 1
