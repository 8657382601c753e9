"""Long lines of scripts: broken at spaces, none of which stands in a text."""

from __future__ import annotations

import ast

from attnviz.exports.script.lines import _wrapped


def test_a_line_is_broken_between_words_and_never_inside_a_text() -> None:
    code = """f(a + "it's a b", 'two words "and more" here') + g("x y z") - h(b)"""
    for width in (1, 9, 20, 44, 200):
        lines = _wrapped(code, width)
        assert " ".join(lines) == code
        assert ast.dump(ast.parse("(" + "\n".join(lines) + ")")) == ast.dump(ast.parse(f"({code})"))
    assert _wrapped(code, 1) == [
        "f(a", "+", """"it's a b",""", """'two words "and more" here')""", "+", """g("x y z")""", "-", "h(b)",
    ]  # fmt: skip
