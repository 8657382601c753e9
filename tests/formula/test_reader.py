"""What may be typed, what it means, and where it goes wrong."""

from __future__ import annotations

import pytest

from attnviz import ConfigError, FormulaError
from attnviz.formula.reader import parse
from attnviz.settings.language import set_language


@pytest.mark.parametrize(
    ("text", "axes", "any_widths"),
    [
        ("q @ W @ k", {"W": ("d_q", "d_k")}, True),
        ("sum((q@W) * k) + sum(q * k)", {"W": ("d_k", "d_k")}, False),
        ("sum(v * tanh(q@W + k@U))", {"v": ("d_a",), "W": ("d_q", "d_a"), "U": ("d_k", "d_a")}, True),
        ("sum(q * W[:, j])", {"W": ("d_q", "key")}, True),
        ("sum(k * W[j]) + b[j] + g", {"W": ("key", "d_k"), "b": ("key",), "g": ()}, True),
        ("sum(tanh(q@W)) + sum(tanh(k@U) * u)", {"W": ("d_q", "d_a"), "U": ("d_k", "d_b"), "u": ("d_b",)}, True),
    ],
)
def test_shapes_follow_from_use(text: str, axes: dict[str, tuple[str, ...]], any_widths: bool) -> None:
    formula = parse(text)
    assert {name: formula.axes_of(name) for name in formula.parameters} == axes
    assert formula.any_widths is any_widths


FAULTS = [
    ("score", "tahn(q)", "tahn", "there is no function tahn; did you mean tanh?"),
    ("score", "3j", "3j", "write 3*j: j is the number of the key"),
    ("score", "sum(2q)", "2q", "write 2*q"),
    ("score", "2^3", "^", "write **"),
    ("score", "sum(q − k)", "−", "write -"),
    ("score", "q*k", "q*k", "put sum(...) around it"),
    ("score", "W*q", "W", "it stands right of @"),
    ("score", "sum(i)", "i", "already"),
    ("score", "sum(q*k", "(", "closing bracket"),
    ("score", "sum(q*kk)", "kk", "did you mean k?"),
    ("score", "sum(q.T*k)", "q.T", "leave out .T"),
    ("score", "q.k", "q.k", "write q @ k"),
    ("score", "q k", "k", "a sign is missing"),
    ("score", "sigmoid q@k", "q", "a sign is missing"),
    ("score", "q @ k / norm(q) norm(k)", "n", "a sign is missing"),
    ("score", "q @ k +", "+", "breaks off"),
    ("score", "0,5*sum(q*k)", "0,5*sum(q*k)", "with a point"),
    ("score", "()", "()", "cannot be used"),
    ("score", "softmax(q@k)", "softmax", "as the normaliser"),
    ("normaliser", "softmax(x)", "softmax", "e / sum(e)"),
    ("score", "√(q@k)", "√", "'√' cannot be read here; write sqrt(...)"),
    ("score", "q@k\u202e", "\u202e", "'\\u202e' cannot be read"),
    ("score", "λ*sum(q*k)", "λ", "write lam"),
    ("score", "norm(Q - K)", "Q", "did you mean q?"),
    ("score", "ln(q@k)", "ln", "did you mean log?"),
    ("score", "-|q-k|", "|", "norm(...)"),
    ("score", "ｑ @ k", "ｑ", "cannot be read"),
    ("score", "__import__('os')", "__import__", "there is no function"),
    ("score", "t = q*k; sum(q*k*q)", "t", "never used"),
    ("score", "t = q*k\nsum(t*tt)", "tt", "did you mean t?"),
    ("score", "sum(q*k) + sum(v*q) + v[j]", "v[j]", "two ways"),
    ("score", "x = sum(q); x = sum(k); x", "x", "taken"),
    ("score", "j <= i", "j <= i", "true or false"),
    ("score", "", None, "nothing is typed yet"),
    ("score", "sum(q*k) " + "+ 1" * 120, None, "at most 300"),
    ("score", "token[j]", "token[j]", "square brackets"),
    ("mask", "i-j", "i-j", "this is a number"),
    ("mask", "token[j]", "token[j]", "only be compared"),
    ("mask", 'token[j] in ("thé", "a") and x', "x", "not known"),
    ("mask", "j <= i & 1", "&", "write and"),
    ("bias", "q", "q", "not known"),
    ("bias", "W", "W", "not known"),
    ("normaliser", "x > mean(x)", "x > mean(x)", "true or false"),
    ("normaliser", "x @ x", "x @ x", "a normaliser has a row"),
    ("normaliser", "sum(i)", "i", "the same for every key"),
]


@pytest.mark.parametrize(("kind", "text", "place", "mend"), FAULTS)
def test_a_fault_names_its_place_and_what_to_write(kind: str, text: str, place: str | None, mend: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text, kind)
    fault = caught.value
    assert isinstance(fault, ConfigError)
    assert mend in str(fault)
    assert 0 <= fault.at <= max(len(text), 1)
    if place is not None:
        assert text[fault.at : fault.until] == place
        assert "^" * len(place) in fault.pointed(text)


def test_a_fault_is_said_in_the_language_that_is_spoken() -> None:
    set_language("de")
    try:
        with pytest.raises(FormulaError, match="es gibt keine Funktion tahn; gemeint: tanh"):
            parse("tahn(q)")
    finally:
        set_language("en")


def test_the_mark_stands_under_the_line_that_is_wrong() -> None:
    fault = FormulaError("so", 6, 8)
    assert fault.pointed("a = q\nbb\nc").split("\n") == ["a = q", "bb", "^^", "c"]


def test_what_is_typed_twice_is_computed_once() -> None:
    once = parse("exp(x - max(x)) / sum(exp(x - max(x)))", "normaliser")
    assert [node.op for node in once.nodes].count("call") == 1
    assert (
        len(
            parse(
                "; ".join(["a = q*k", *(f"a{n} = {'a' if n == 0 else f'a{n - 1}'} * a" for n in range(9))])
                + "; sum(a8)"
            ).nodes
        )
        < 20
    )
