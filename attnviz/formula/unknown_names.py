"""Names, calls and brackets that a formula does not know: what they are called elsewhere, and what stands for them."""

from __future__ import annotations

import ast
import re

from attnviz.formula import names
from attnviz.formula.faults import CONSTRUCTS, FormulaError, fault
from attnviz.formula.graph import Kind
from attnviz.formula.text import span

LIBRARIES = ("np", "numpy", "torch", "math", "F", "nn", "functional", "tf", "jnp", "jax", "scipy")
TURNED = ("transpose", "t", "T", "mT")
"""The words for a transpose: a formula sees one query and one key, and there is nothing to turn."""

ELSEWHERE = {
    "cos": "dot(unit({0}), unit({1}))",
    "cosine": "dot(unit({0}), unit({1}))",
    "cosine_similarity": "dot(unit({0}), unit({1}))",
    "cos_sim": "dot(unit({0}), unit({1}))",
    "distance": "norm(({0}) - ({1}))",
    "dist": "norm(({0}) - ({1}))",
    "matmul": "dot({0}, {1})",
    "mm": "dot({0}, {1})",
    "inner": "dot({0}, {1})",
    "similarity": "dot({0}, {1})",
    "vdot": "dot({0}, {1})",
    "multiply": "({0}) * ({1})",
    "pow": "({0})**({1})",
    "power": "({0})**({1})",
    "square": "({0})**2",
    "gelu": "({0}) * sigmoid(1.702 * ({0}))",
    "maximum": "max({0}, {1})",
    "minimum": "min({0}, {1})",
    "clip": "min(max({0}, {1}), {2})",
    "where": "({1} if {0} else {2})",
    "log2": "log({0}) / log(2)",
    "log10": "log({0}) / log(10)",
    "log1p": "log(1 + {0})",
    "softplus": "log(1 + exp({0}))",
    "leaky_relu": "max({0}, 0.01 * ({0}))",
    "silu": "({0}) * sigmoid({0})",
    "tan": "sin({0}) / cos({0})",
    "sinh": "(exp({0}) - exp(-({0}))) / 2",
    "cosh": "(exp({0}) + exp(-({0}))) / 2",
    "var": "mean((({0}) - mean({0}))**2)",
    "std": "sqrt(mean((({0}) - mean({0}))**2))",
    "transpose": "{0}",
}
"""Functions of other programs, by how a formula says them; {0} is the first argument."""

ELSEWHERE_OF_ROWS = {
    "len": "n",
    "softmax": "e = exp({0} - max({0})); e / sum(e)",
    "sparsemax": "relu({0} - level({0}, 1))",
    "argmax": "1 if x == max(x) else 0",
    "topk": "top({0}, {1})",
    "top_k": "top({0}, {1})",
    "cumprod": "exp(cumsum(log({0})))",
}
ELSEWHERE_OF_PLACES = {"tril": "j <= i", "triu": "j >= i", "causal": "j <= i"}
EQUIVALENTS = {
    "score": {"len": "d_k", **ELSEWHERE},
    "normaliser": {**ELSEWHERE, **ELSEWHERE_OF_ROWS},
    "mask": ELSEWHERE | ELSEWHERE_OF_PLACES,
    "bias": ELSEWHERE,
}

_Q = dict.fromkeys(("Q", "query", "Query", "queries", "q_i", "q_j", "qi"), "q")
_K = dict.fromkeys(("K", "key", "Key", "keys", "k_j", "k_i", "kj"), "k")
_ROWS = dict.fromkeys(("row", "query"), "i") | dict.fromkeys(("col", "column", "key", "pos"), "j")
_COUNTS = dict.fromkeys(("N", "L", "len", "length", "n_tokens", "seq_len", "T"), "n") | {"head": "h", "H": "n_heads"}
MEANT = {
    "score": _Q
    | _K
    | dict.fromkeys(("d", "dk", "dim", "d_head", "head_dim", "dim_k", "D"), "d_k")
    | dict.fromkeys(("QK", "qk", "qK", "QKT", "qkT", "qTk", "similarity", "scores"), "q @ k")
    | dict.fromkeys(("qWk", "QWK", "qTWk"), "q @ W @ k")
    | dict.fromkeys(("Wq", "WQ", "W_Q"), "W_q")
    | dict.fromkeys(("Wk", "WK", "W_K"), "W_k")
    | dict.fromkeys(("W1", "W_1", "M", "B", "R", "S"), "W")
    | dict.fromkeys(("W2", "W_2"), "U")
    | dict.fromkeys(("T", "temperature", "temp"), "tau")
    | dict.fromkeys(("a", "s", "m", "scale", "theta", "slope", "weight"), "g")
    | dict.fromkeys(("bias",), "b[j]")
    | {"lambda_": "lam", "n_tokens": "n", "head": "h", "H": "n_heads"},
    "mask": _ROWS
    | _COUNTS
    | {"causal": "j <= i", "tril": "j <= i", "distance": "abs(i - j)", "no_self": "i != j"}
    | dict.fromkeys(("padding", "pad"), 'token[j] != "<pad>"'),
    "bias": _ROWS
    | _COUNTS
    | {"distance": "abs(i - j)", "alibi": "-abs(i - j) * 2**(-8*h/n_heads)"}
    | dict.fromkeys(("m", "slope"), "2**(-8*h/n_heads)"),
    "normaliser": dict.fromkeys(("s", "S", "z", "X", "score", "scores", "x_i", "x_j", "xi", "xj", "z_j", "logits"), "x")
    | _COUNTS
    | {"softmax": "e = exp(x - max(x)); e / sum(e)", "sparsemax": "relu(x - level(x, 1))", "T": "1"},
}
"""Names by what they are called in the formulas of each kind."""

EVERYWHERE = {"pi": "3.141592653589793", "e": "2.718281828459045", "inf": "1e9", "eps": "1e-8", "epsilon": "1e-8"}


def of_name(name: str, kind: Kind, known: tuple[str, ...], where: tuple[int, int]) -> FormulaError:
    """Return the message for a name that is not known: what it is called here, or which names there are."""
    if name in names.CALLED:
        of_row = kind.name == "normaliser"
        better = names.OF_ROWS.get(name, f"{name}(x)") if of_row else f"{name}(...)"
        return fault("function_alone", where, (*where, better) if of_row else None, name=name, better=better)
    if name == "T" and kind.name == "normaliser":
        return fault("over_T", where)
    meant = MEANT[kind.name].get(name) or EVERYWHERE.get(name, "")
    near = meant or names.nearest(name, known)
    if near:
        return fault("unknown_near", where, (*where, near), name=name[: names.MAX_NAME_CHARACTERS], near=near)
    is_score = kind.name == "score"
    facts = {"known": ", ".join(known)} | ({"own": ", ".join(names.STEPS)} if is_score else {})
    return fault("unknown_of_score" if is_score else "unknown", where, name=name[: names.MAX_NAME_CHARACTERS], **facts)


def of_function(n: ast.Call, name: str, kind: Kind, text: str) -> FormulaError:
    """Return the message for a function that there is not, or that takes another number of arguments."""
    where = span(text, n)
    arguments = [text[slice(*span(text, each))] for each in n.args]
    line = EQUIVALENTS[kind.name].get(name, "")
    if line and len(arguments) > _highest(line):
        better = re.sub(r"(?<!\w)\((\w[\w.]*)\)", r"\1", line.format(*arguments))
        whole = ";" not in better or where == (0, len(text))
        return fault("near_function", span(text, n.func), (*where, better) if whole else None, name=name, better=better)
    if name in names.CALLED:
        wanted = " / ".join(map(str, names.ARGUMENTS.get(name, (1,))))
        first = f"{name}({arguments[0]})" if _is_axis(name, arguments) else ""
        better = f"sum(abs({arguments[0]}))" if name == "norm" and arguments[1:] == ["1"] else first
        fix = (*where, better) if better else None
        return fault("arguments", where, fix, name=name, wanted=wanted, given=len(arguments))
    near = names.nearest(name, names.CALLED)
    at = span(text, n.func)
    if near:
        return fault("no_function_near", at, (*at, near), name=name[: names.MAX_NAME_CHARACTERS], near=near)
    return fault("no_function", at, name=name[: names.MAX_NAME_CHARACTERS], known=", ".join(names.CALLED))


def _is_axis(name: str, arguments: list[str]) -> bool:
    """Return whether the second argument is the axis of an array in other programs, or the 2 of a norm."""
    return (
        len(arguments) == 2 and name in names.OVER and arguments[1] in (("2",) if name == "norm" else ("-1", "0", "1"))
    )


def _highest(line: str) -> int:
    """Return the number of the last argument that the line names, from 0; -1 where it names none."""
    return max((int(digit) for digit in re.findall(r"\{(\d)\}", line)), default=-1)


def of_call(n: ast.Call, kind: Kind, known: tuple[str, ...], text: str) -> FormulaError | None:
    """Return the message for something that is called as no function of a formula is; None for a plain call."""
    start, until = span(text, n)
    func = n.func
    if isinstance(func, ast.Attribute):
        return _dotted(n, func, kind, text)
    if not isinstance(func, ast.Name) or func.id in known:
        at = text.find("(", span(text, func)[1], until)
        sign = " @ " if isinstance(func, ast.Name) and func.id in ("q", "k", *names.VECTORS) else " * "
        return fault("between", (at, at + 1), (at, at, sign))
    if func.id == "token":
        better = f"token[{'i' if 'i' in text[start + 5 : until] else 'j'}]"
        return fault("token_named", (start, until), (start, until, better), better=better)
    extra: list[ast.keyword | ast.expr] = [*n.keywords, *(arg for arg in n.args if isinstance(arg, ast.Starred))]
    if extra:
        at, end = _around(text, extra[0])
        comma = text.rfind(",", start, at)
        harmless = isinstance(extra[0], ast.keyword) and extra[0].arg in ("axis", "dim", "keepdims", "keepdim")
        fix = (comma, end, "") if harmless and comma >= 0 else None
        return fault("keyword", (at, end), fix, what=text[at:end][: names.MAX_NAME_CHARACTERS])
    return None


def _around(text: str, part: ast.keyword | ast.expr) -> tuple[int, int]:
    """Return the span of a keyword or a starred argument, which is no expression of its own."""
    if not isinstance(part, ast.keyword):
        return span(text, part)
    start, end = span(text, part.value)
    return max(text.rfind(part.arg or "**", 0, start), 0), end


def of_softmax(n: ast.Call, text: str) -> FormulaError:
    """Return the message for a softmax in a score; where it is around all of it, the score itself is meant."""
    at = span(text, n.func)
    is_whole = text[slice(*span(text, n))] == text.strip()
    return fault("softmax_after", at, (*at, "")) if is_whole else fault("softmax_inside", span(text, n))


def _is_known(name: str, kind: Kind) -> bool:
    """Return whether a function of this name can be said here, by its own name or by another."""
    return name in (*names.CALLED, *EQUIVALENTS[kind.name], *names.COMES_AFTER)


def _dotted(n: ast.Call, func: ast.Attribute, kind: Kind, text: str) -> FormulaError:
    """Return the message for np.tanh(x), x.sum() or q.T()."""
    start, until = span(text, n)
    root: ast.expr = func
    while isinstance(root, ast.Attribute):
        root = root.value
    end_of_value = text.rfind(".", start, span(text, func)[1])  # behind the brackets of a value
    opening = text.find("(", span(text, func)[1] - 1, until)
    if func.attr not in TURNED and not _is_known(func.attr, kind):
        end = span(text, func)[1]
        name, known = func.attr[: names.MAX_NAME_CHARACTERS], ", ".join(names.CALLED)
        return fault("no_function", (end - len(func.attr), end), name=name, known=known)
    if func.attr in names.OF_ROWS and kind.over != "j":
        return fault("of_rows", (start, until), name=func.attr, call=names.OF_ROWS[func.attr])
    if isinstance(root, ast.Name) and root.id in LIBRARIES:
        at = span(text, func)[1] - len(func.attr)
        return fault("library", (start, at), (start, at, ""), prefix=text[start:at], name=func.attr)
    value, arguments = text[start:end_of_value].strip(), text[opening + 1 : until - 1].strip()
    if value.startswith("(") and value.endswith(")"):
        value = value[1:-1]
    if func.attr in TURNED:
        return fault("transpose", (start, until), (end_of_value, until, ""), name=text[end_of_value:until])
    plain = re.sub(r",?\s*(axis|dim)\s*=\s*-?\d+|^\s*-1\s*$", "", arguments)
    better = f"{func.attr}({', '.join(filter(None, [value, plain]))})"
    return fault("method", (start, until), (start, until, better), name=func.attr, better=better)


def of_brackets(n: ast.Subscript, kind: Kind, text: str) -> FormulaError:
    """Return the message for square brackets that stand where there are none."""
    where = span(text, n)
    inside = text[slice(*span(text, n.slice))]
    name = n.value.id if isinstance(n.value, ast.Name) else ""
    row = {"score": ("q", "k", "Q", "K", "query", "key"), "normaliser": ("x", "s", "z")}.get(kind.name, ())
    if name in row:
        at = span(text, n.value)[1]
        if re.search(r"\d|[^,\s]\s*:|:\s*[^,\s]", inside):
            return fault("entry", where, name=name, what=text[slice(*where)])
        which = "vector_bracket" if kind.name == "score" else "row_bracket"
        return fault(which, (at, where[1]), (at, where[1], ""), name=name, what=text[at : where[1]])
    positions = {"i": "i", "q": "i", "query": "i"} | dict.fromkeys(("j", "k", "key"), "j")
    if kind.truth and name in ("token", "tokens", "word", "words") and inside in positions:
        better = f"token[{positions[inside]}]"
        return fault("token_named", where, (*where, better), better=better)
    return fault({"mask": "brackets_mask", "score": "brackets_score"}.get(kind.name, "brackets"), where)


def of_sign(n: ast.Attribute | ast.Tuple, kind: Kind, text: str) -> FormulaError:
    """Return the message for a dot or a comma that stands between two parts."""
    start, until = span(text, n)
    if isinstance(n, ast.Attribute):
        value = span(text, n.value)[1]
        if n.attr in TURNED:
            return fault("transpose", (value, until), (value, until, ""), name=text[value:until].strip())
        return fault("dot_between", (start, until), (value, until, f" @ {n.attr}"))
    comma = text.find(",", span(text, n.elts[0])[1]) if n.elts else start
    if kind.truth and len(n.elts) > 1:
        return fault("and", (comma, comma + 1), (comma, comma + 1, " and"))
    if text[comma - 1 : comma].isdigit() and text[comma + 1 : comma + 2].isdigit():
        return fault("decimal", (start, until), (comma, comma + 1, "."))
    fix = (comma, until, "") if len(n.elts) == 1 else None
    return fault("construct", (start, until), fix, what=CONSTRUCTS["Tuple"])


def of_last(n: ast.stmt, kind: Kind, text: str) -> FormulaError:
    """Return the message for a last line that is no formula: most often one with a name and an = in front of it."""
    where = span(text, n)
    if not isinstance(n, ast.Assign):
        return fault("last", where)
    value = span(text, n.value)
    if isinstance(n.value, ast.Tuple) and len(n.value.elts) > 1:
        comma = text.find(",", span(text, n.value.elts[0])[1])
        return fault("lines_apart", (comma, comma + 1), (comma, comma + 1, ";"))
    at = text.find("=", span(text, n.targets[-1])[1])
    if kind.truth:
        return fault("equality", (at, at + 1), (at, at + 1, "=="))
    named = n.targets[0]
    if isinstance(named, ast.Name) and named.id in ("i", "j", "h"):  # no name to give: it is meant to be compared
        compared = f"1 if {text[where[0] : at].strip()} == {text[slice(*value)]} else 0"
        return fault("equality", (at, at + 1), (*where, compared))
    return fault("last", (where[0], at + 1), (where[0], value[0], ""))


def of_power(n: ast.BinOp, text: str) -> FormulaError | None:
    """Return the message for e**x and exp**(x), which people write for exp(x); None for any other operation."""
    if not isinstance(n.op, ast.Pow) or not isinstance(n.left, ast.Name):
        return None
    where = span(text, n)
    if n.left.id == "e":
        inside = text[slice(*span(text, n.right))]
        is_whole = inside.count("(") == inside.count(")")
        return fault("power_of_e", where, (*where, f"exp({inside})") if is_whole else None)
    if n.left.id in names.CALLED:
        at = text.find("**", where[0])
        return fault("power_of_function", (at, at + 2), (at, at + 2, ""), sign=text[at : at + 2], name=n.left.id)
    return None
