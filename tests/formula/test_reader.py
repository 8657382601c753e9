"""What may be typed, what it means, and where it goes wrong."""

from __future__ import annotations

import re

import pytest

from attnviz import ConfigError, FormulaError
from attnviz.formula.reader import parse
from attnviz.settings.language import set_language
from tests.support.cases import for_each


@for_each(
    "text, axes, any_widths",
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
    ("score", "W*q", "W", "it stands to the right of @"),
    ("score", "sum(i)", "i", "already"),
    ("score", "sum(q*k", "(", "this bracket is never closed: a ) is missing"),
    ("score", "sum(q*kk)", "kk", "did you mean k?"),
    ("score", "sum(q.T*k)", ".T", "leave out .T"),
    ("score", "q.k", "q.k", "write q @ k"),
    ("score", "q k", "k", "an operator is missing"),
    ("score", "sigmoid q@k", "q@k", "put what sigmoid applies to in brackets"),
    ("score", "q @ k / norm(q) norm(k)", "norm", "an operator is missing"),
    ("score", "q @ k +", "+", "breaks off"),
    ("score", "0,5*sum(q*k)", "0,5*sum(q*k)", "with a point"),
    ("score", "sum(q*k)/0,5", "sum(q*k)/0,5", "with a point"),
    ("score", "()", "()", "cannot be used"),
    ("score", "softmax(q@k)", "softmax", "as the normaliser"),
    ("normaliser", "softmax(x)", "softmax", "e / sum(e)"),
    ("score", "√(q@k)", "√", "'√' cannot be read here; write sqrt(...)"),
    ("score", "q@k\u202e", "\u202e", "'\\u202e' cannot be read"),
    ("score", "λ*sum(q*k)", "λ", "write lam"),
    ("score", "norm(Q - K)", "Q", "did you mean q?"),
    ("score", "ln(q@k)", "ln", "did you mean log?"),
    ("score", "-|q-k|", "|", "write norm(...) for the length of a vector"),
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
    ("mask", "abs(i - j) <= 2**head", "head", "did you mean h?"),
    ("mask", "token[j - 10] == token[i]", "token[j - 10]", "at most 9 places away"),
    ("normaliser", "x * top(x, 2.5)", "top(x, 2.5)", "a whole number from 1"),
    ("normaliser", "cumsum(n) * x", "n", "the same for every key"),
    ("bias", "cumsum(j)", "cumsum(j)", "for normalisers, as in cumsum(x)"),
    ("score", "q @ cumsum(k)", "cumsum(k)", "here is one query with one key"),
    ("bias", "v * abs(i - j)", "v", "not known"),
    ("normaliser", "sigmoid(v * x)", "v", "not known"),
    ("bias", "q", "q", "not known"),
    ("bias", "W", "W", "not known"),
    ("normaliser", "x > mean(x)", "x > mean(x)", "true or false"),
    ("normaliser", "x @ x", "x @ x", "a normaliser has a row"),
    ("normaliser", "sum(i)", "i", "the same for every key"),
]


@for_each("kind, text, part, mend", FAULTS)
def test_a_fault_names_its_position_and_what_to_write(kind: str, text: str, part: str | None, mend: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text, kind)
    fault = caught.value
    assert isinstance(fault, ConfigError)
    assert mend in str(fault)
    assert 0 <= fault.at <= max(len(text), 1)
    if part is not None:
        assert text[fault.at : fault.until] == part
        assert "^" * len(part) in fault.pointed(text)


SLIPS = [
    ("score", "<q,k>", "<q,k>", "dot(q, k)"),
    ("score", "⟨q, k⟩", "⟨", "dot(q, k)"),
    ("score", "dot(q;k)", ";", "dot(q,k)"),
    ("score", "np.dot(q, k)", "np.", "dot(q, k)"),
    ("score", "torch.matmul(q, k)", "torch.", "dot(q, k)"),
    ("score", "np.linalg.norm(q - k)", "np.linalg.", "norm(q - k)"),
    ("score", "q.T @ k", ".T", "q @ k"),
    ("score", "q^T k", "^T", "q @ k"),
    ("score", "qKᵀ/√d", "ᵀ", "q @ k/sqrt(d_k)"),
    ("score", "qᵀk", "ᵀ", "q @ k"),
    ("score", "q' * k", "'", "sum(q * k)"),
    ("score", "QK^T/sqrt(dk)", "^T", "q @ k/sqrt(d_k)"),
    ("score", "Q K^T / √d_k", "^T", "q @ k / sqrt(d_k)"),
    ("score", "similarity(q, k)", "similarity", "dot(q, k)"),
    ("score", "T * q@k", "T", "tau * q@k"),
    ("score", "a*q@k", "a", "g*q@k"),
    ("score", "softmax(q k)", "k", "q @ k"),
    ("score", "q·k", "·", "q@k"),
    ("score", "q k", "k", "q @ k"),
    ("score", "q W k", "W", "q @ W @ k"),
    ("score", "qk", "qk", "q @ k"),
    ("score", "2 q @ k", "q", "2 * q @ k"),
    ("score", "2(q@k)", "(", "2 * (q@k)"),
    ("score", "(q@k)^2", "^", "(q@k)**2"),
    ("score", "||q-k||", "|", "norm(q-k)"),
    ("score", "-|q-k|", "|", "-norm(q-k)"),
    ("score", "exp(q@k", "(", "exp(q@k)"),
    ("score", "exp(-norm(q-k)", "(", "exp(-norm(q-k))"),
    ("score", "sum(q*k))", ")", "sum(q*k)"),
    ("score", "exp q@k", "q@k", "exp(q@k)"),
    ("score", "dot q k", "q k", "dot(q , k)"),
    ("score", "e^(q@k)", "^", "exp(q@k)"),
    ("score", "e**(q@k)", "e**(q@k)", "exp(q@k)"),
    ("score", "exp**(q@k)", "**", "exp(q@k)"),
    ("score", "sum_i q_i k_i", "q_i k_i", "sum(q * k)"),
    ("score", "q[i]*k[j]", "[i]", "sum(q*k)"),
    ("score", "Q @ K.T / sqrt(d_k)", "Q", "q @ k / sqrt(d_k)"),
    ("score", "cosine_similarity(q, k)", "cosine_similarity", "dot(unit(q), unit(k))"),
    ("score", "cos(q, k)", "cos", "dot(unit(q), unit(k))"),
    ("score", "W @ q @ k", "W", "q @ W @ k"),
    ("score", "s = q@k", "s =", "q@k"),
    ("score", "score(q, k) = q@k", "score(q, k) =", "q@k"),
    ("score", "lambda q, k: q@k", "lambda q, k:", "q@k"),
    ("score", "return q@k", "return", "q@k"),
    ("score", "q.dot(k)", "q.dot(k)", "dot(q, k)"),
    ("score", "(q*k).sum(axis=-1)", "(q*k).sum(axis=-1)", "sum(q*k)"),
    ("score", "sum(q*k, axis=-1)", "axis=-1", "sum(q*k)"),
    ("score", "sum(q*k, -1)", "sum(q*k, -1)", "sum(q*k)"),
    ("score", "norm(q-k, 1)", "norm(q-k, 1)", "sum(abs(q-k))"),
    ("score", "pow(q@k, 2)", "pow", "(q@k)**2"),
    ("score", "SUM(q*k)", "SUM", "sum(q*k)"),
    ("score", "1,5 * q@k", "1,5 * q@k", "1.5 * q@k"),
    ("score", "q@k if i>j", "if", "q@k if i>j else 0"),
    ("score", "if i>j: q@k else: 0", "if", "q@k if i>j else 0"),
    ("score", "i>j ? q@k : 0", "?", "q@k if i>j else 0"),
    ("score", r"\frac{q k}{\sqrt{d_k}}", "\\", "(q @ k)/(sqrt(d_k))"),
    ("score", "q - k", "q - k", "sum(q - k)"),
    ("score", "sum(q)+b", "b", "sum(q)+sum(b)"),
    ("score", "q @ W[j] + b", "b", "q @ W[j] + sum(b)"),
    ("score", "q*k/2 + 1", "q*k/2", "sum(q*k/2) + 1"),
    ("score", "1 - q*k + b", "q*k", "1 - sum(q*k) + sum(b)"),
    ("score", "-2*(g + q - k)", "q", "-2*(g + sum(q) - sum(k))"),
    ("score", "q*k if i < j else 1", "q*k", "sum(q*k) if i < j else 1"),
    ("score", "q if i < j else -k", "q if i < j else -k", "sum(q if i < j else -k)"),
    ("score", "b*(q + k)", "b*(q + k)", "sum(b*(q + k))"),
    ("score", "'q@k'", "'q@k'", "q@k"),
    ("score", "q@k # dot", "# dot", "q@k"),
    ("score", "t = q*k, sum(t)", ",", "t = q*k; sum(t)"),
    ("score", "t = q*k sum(t)", "sum", "t = q*k; sum(t)"),
    ("mask", "j =< i", "=<", "j <= i"),
    ("mask", "i <> j", "<>", "i != j"),
    ("mask", "i = j", "=", "i == j"),
    ("mask", "j<=i && i<3", "&", "j<=i and i<3"),
    ("mask", "j<=i || i==0", "|", "j<=i or i==0"),
    ("mask", "|i-j| < 2", "|", "abs(i-j) < 2"),
    ("mask", "!(j<=i)", "!", "not (j<=i)"),
    ("mask", "j<=i, i<3", ",", "j<=i and i<3"),
    ("mask", "j mod 2 == 0", "mod", "j % 2 == 0"),
    ("mask", "j % 2", "j % 2", "j % 2 == 0"),
    ("mask", "1 if j<=i else 0", "1 if j<=i else 0", "j<=i"),
    ("mask", "if j<=i", "if", "j<=i"),
    ("mask", "causal", "causal", "j <= i"),
    ("mask", "token[j] = the", "=", 'token[j] == "the"'),
    ("mask", "token[j] == the", "the", 'token[j] == "the"'),
    ("mask", "token(j) == 'the'", "token(j)", "token[j] == 'the'"),
    ("mask", "word[j] == 'the'", "word[j]", "token[j] == 'the'"),
    ("mask", "token[j] not 'the'", "not", "token[j] != 'the'"),
    ("mask", "token[j] in 'the'", "'the'", "token[j] == 'the'"),
    ("mask", "token[j] is 'the'", "token[j] is 'the'", "token[j] == 'the'"),
    ("mask", "token[j] == 'a' or 'the'", "'the'", "token[j] in ('a', 'the')"),
    ("mask", "j in range(3)", "range(3)", "0 <= j < 3"),
    ("bias", "-|i-j|", "|", "-abs(i-j)"),
    ("bias", "2^(-8h/n_heads)", "^", "2**(-8*h/n_heads)"),
    ("bias", "abs i-j", "i-j", "abs(i-j)"),
    ("bias", "np.where(j>i, -1e9, 0)", "np.", "-1e9 if j>i else 0"),
    ("bias", "1 if j<=i", "if", "1 if j<=i else 0"),
    ("normaliser", "softmax(x/2)", "softmax", "e = exp(x/2 - max(x/2)); e / sum(e)"),
    ("normaliser", "exp(x/T)/sum(exp(x/T))", "T", "exp(x)/sum(exp(x))"),
    ("normaliser", "e^x/sum(e^x)", "^", "exp(x)/sum(exp(x))"),
    ("normaliser", "exp(x)/Σexp(x)", "Σ", "exp(x)/sum(exp(x))"),
    ("normaliser", "exp(x)/sum exp(x)", "exp(x)", "exp(x)/sum(exp(x))"),
    ("normaliser", "x/x.sum()", "x.sum()", "x/sum(x)"),
    ("normaliser", "x/norm", "norm", "x/norm(x)"),
    ("normaliser", "exp(x_i)/sum(exp(x_j))", "x_i", "exp(x)/sum(exp(x))"),
    ("normaliser", "e = exp(x), e/sum(e)", ",", "e = exp(x); e/sum(e)"),
    ("normaliser", "x == max(x)", "x == max(x)", "1 if x == max(x) else 0"),
]


@for_each("kind, text, part, mend", SLIPS)
def test_a_slip_is_marked_and_the_line_that_was_meant_is_given(kind: str, text: str, part: str, mend: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text, kind)
    fault = caught.value
    assert fault.suggestion == mend
    assert parse(mend, kind)
    assert text.find(part) == fault.at or text.rfind(part) == fault.at
    assert text[fault.at : fault.until] == part
    assert str(fault).endswith(f"Type {mend}")
    assert fault.sentence not in ("this cannot be read as a formula", "")


@for_each(
    "kind, text, said",
    [
        ("score", "x^2", "write **"),
        ("score", "zebra(q, k)", "there is no function zebra"),
        ("score", "concat(q, k)", "there is no function concat"),
        ("score", "__import__('os')", "there is no function __import__"),
        ("score", "q if (z:=1) else k", ":= cannot be used"),
        ("score", "softmax(q@k) - lam*softmax(q@W@k)", "a part of it has none"),
        ("score", "2*softmax(q@k)", "a part of it has none"),
        ("score", "q[0]*k[0] + q[1]*k[1]", "q[0] would be a part of q"),
        ("score", "q[:2] @ k[:2]", "q[:2] would be a part of q"),
        ("score", "np.cumsum(q) @ k", "cumsum goes along the scores of a row"),
        ("mask", "token[j].startswith('t')", "there is no function startswith"),
        ("normaliser", "x[0] / sum(x)", "x[0] would be a part of x"),
    ],
)
def test_no_line_is_given_where_none_can_be_guessed_or_one_would_mean_something_else(
    kind: str, text: str, said: str
) -> None:
    with pytest.raises(FormulaError, match=re.escape(said)) as caught:
        parse(text, kind)
    assert caught.value.suggestion == ""
    assert "Type" not in str(caught.value)


def test_what_a_score_may_name_of_its_own_is_listed() -> None:
    with pytest.raises(FormulaError, match="parameters of your own: W, W_q, W_k, U, A, v, b,"):
        parse("zebra * (q @ k)")


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
