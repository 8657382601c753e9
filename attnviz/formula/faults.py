"""Faults in a typed formula: the sentence, and the position in the line that it is about."""

from __future__ import annotations

from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words, full_stop, sign

FAULTS = Words(
    {
        "empty": "nothing is typed yet; {wanted} is expected",
        "long": "the formula has {n:,} characters; at most {most} fit",
        "character": "{character} cannot be read here",
        "character_instead": "{character} cannot be read here; write {better}",
        "bar": "write norm(...) for the length of a vector, abs(...) for a number, and or between two conditions",
        "token_character": "a token cannot contain this character",
        "factor": "write {number}*{name}",
        "deep": "this is nested too deeply or too long: at most {levels} levels and {parts} parts",
        "closing": "this bracket is never closed: a {closing} is missing",
        "opening": "this bracket closes none: leave it out, or write the {opening} that is missing",
        "equality": "one = gives a line a name; to compare, write ==",
        "unreadable": "this cannot be read as a formula",
        "last": "the last line is the formula itself: leave out the name and the =",
        "assignment": "each line before the last has the form name = ...",
        "taken": "the name {name} is taken; choose another",
        "unused": "{name} is never used; use it or remove the line",
        "construct": "{what} cannot be used in a formula",
        "type_instead": "Type {line}",
        "between": "an operator is missing before this, such as * or @",
        "brackets_missing": "put what {name} applies to in brackets",
        "angle": "angle brackets are read as < and >; write dot({one}, {other})",
        "order": "write {better} instead of {sign}",
        "semicolon": "a semicolon ends a line; separate arguments with a comma",
        "lines_apart": "separate two lines with a semicolon",
        "if_else": "an if needs its else, as in 1 if j < i else 0",
        "if_first": "the if goes in the middle, as in 1 if j < i else 0",
        "latex": "this is LaTeX; write the formula as in Python, such as sum(q*k) / sqrt(d_k)",
        "comment": "a comment has no place here; leave it out",
        "quoted": "write the formula without quotation marks",
        "return": "leave out {what}: only the formula itself is wanted",
        "library": "leave out {prefix} and write {name}(...)",
        "method": "write {better}: a function stands before its brackets",
        "near_function": "there is no function {name}; write {better}",
        "keyword": "leave out {what}: a function takes nothing but its arguments here",
        "function_alone": "{name} is a function; write {better}",
        "over_T": "x is already divided by the temperature; leave T out",
        "token_named": "a token is written {better}",
        "quotes": 'put a word in quotation marks: "{name}"',
        "vector_bracket": "leave out {what}: {name} is already the vector of one query or one key",
        "row_bracket": "leave out {what}: x is already the whole row of scores",
        "entry": "{what} would be a part of {name}, and a line always takes all of it",
        "and": "join two conditions with and, not with a comma",
        "power_of_e": "write exp(...) for a power of e",
        "power_of_function": "leave out {sign}: a function is called as in {name}(x)",
        "broken_off": "the formula breaks off here; something has to follow",
        "decimal": "a comma separates arguments; write a number with a point, as in 0.5",
        "transpose": "leave out {name}: q and k are one query and one key, and q @ k is their product",
        "dot_between": "a dot multiplies nothing here; write q @ k for the dot product, or * entry by entry",
        "softmax_after": "the softmax comes after the score, as the normaliser; leave it out here",
        "softmax_inside": "the softmax comes after the whole score, as the normaliser; a part of it has none",
        "number": "a number looks like 2, 0.5 or 1e-6",
        "times_j": "write {number}*j: j is the number of the key",
        "matrix": "{name} is a matrix: it stands to the right of @, as in q @ {name}, or as {name}[j], one row for "
        "each key",
        "unknown": "{name} is not known here; there are {known}",
        "unknown_of_score": "{name} is not known here; there are {known}, and parameters of your own: {own}",
        "unknown_near": "{name} is not known here; did you mean {near}?",
        "no_function": "there is no function {name}; there are {known}",
        "no_function_near": "there is no function {name}; did you mean {near}?",
        "two_roles": "{name} is used in two ways: as {one} and as {other}",
        "brackets_mask": "square brackets are allowed only in token[i] and token[j], and for a neighbour at most 9 "
        "places away in token[i - 1] or token[j + 1]",
        "brackets_score": "square brackets are allowed only in W[j], W[:, j] and b[j]: a row, a column or a number "
        "per key",
        "level": "level takes a power from 1 to {most}, as in level(x, 2)",
        "of_rows": "{name} goes along the scores of a row, and here is one query with one key; it is for normalisers, "
        "as in {call}",
        "top": "top takes how many keys of a row, a whole number from 1 to {most}, as in top(x, 3)",
        "brackets": "square brackets cannot be used here",
        "arguments": "wrong number of arguments: {name} takes {wanted}, not {given}",
        "not_a_vector": "{name} goes over the entries of a vector, but this is one number already",
        "not_a_row": "{name} goes over the keys of a row, but this is the same for every key",
        "token_alone": 'a token can only be compared, as in token[j] != "the"',
        "token_compared": 'a token is compared with a token or a text, by == or !=, as in token[j] != "the"',
        "membership": 'write for example token[j] in ("the", "a") or j in (0, 1)',
        "truth": "and, or, not and if go with comparisons, such as j <= i",
        "comparison": "compare with < <= > >= == or !=",
        "at_left": "@ needs a vector on its left; this is one number",
        "at_right": "@ needs a vector or a matrix on its right; this is one number",
        "at_row": "@ multiplies vectors and matrices; a normaliser has a row of numbers x",
        "invert": "write not instead of {sign}",
        "vector_left": "this has an entry for each number of a vector; a score is one number: put sum(...) around it",
        "outcome_truth": "{wanted} is expected, and this is true or false",
        "outcome_number": "{wanted} is expected, and this is a number: compare it, as in i - j < 3",
        "widths": "more than {most} hidden widths; use fewer matrices",
        "work": "{heads} heads, {queries} × {keys} tokens and width {width} would take about {n} million steps; "
        "at most {most} million fit. Choose fewer heads or tokens, smaller widths, or fewer functions inside sum(...)",
        "table_work": "{heads} heads and {queries} × {keys} tokens would take about {n} million steps; "
        "at most {most} million fit. Choose fewer heads or tokens, or a shorter formula",
        "bias": "the bias is {value} at query {query} and key {key}; {n} of {all} numbers are like that",
        "no_definition": 'a score is {given}; give a line such as "sum(q * k)", or a function of q and k',
        "not_traced": "the function could not be written as a formula: {why}",
    }
)

WANTED = Words(
    {
        "score": "one number for each query and key",
        "mask": "true or false for each query and key",
        "bias": "one number for each query and key",
        "normaliser": "one weight for each query and key",
    }
)

CONSTRUCTS = Words(
    {
        "Attribute": "a dot after a name",
        "Lambda": "lambda",
        "Tuple": "a comma here",
        "List": "a list",
        "Dict": "a dictionary",
        "Set": "a set",
        "JoinedStr": "a text",
        "NamedExpr": ":=",
        "ListComp": "a list",
        "GeneratorExp": "for",
        "": "this",
    }
)
"""The names of Python's constructs that have no place in a formula."""

ROLES = Words(
    {
        "matrix": "a matrix",
        "rows": "a row for each key",
        "columns": "a column for each key",
        "vector": "a vector",
        "list": "a number for each key",
        "number": "one number",
    }
)


Fix = tuple[int, int, str]
"""The part of a line from one character to another, and what to write in its place."""


class FormulaError(ConfigError):
    """A formula that cannot be used, and where: `at` and `until` count the characters of the line from 0.

    suggestion  the whole line as it was probably meant, which can be read; nothing where that cannot be guessed
    which, fix  the name of the fault, and what to write in which position, from which the suggestion is made
    """

    suggestion = ""
    which = ""
    fix: Fix | None = None

    def __init__(self, message: str, at: int = 0, until: int | None = None) -> None:
        super().__init__(message)
        self.at = at
        self.until = at + 1 if until is None else max(until, at + 1)

    @property
    def sentence(self) -> str:
        """Return what is wrong, without the suggestion."""
        return str(self.args[0])

    def __str__(self) -> str:
        if not self.suggestion:
            return self.sentence
        stop = "" if self.sentence.endswith(("?", "？")) else full_stop()
        return f"{self.sentence}{stop}{sign(' ')}{FAULTS['type_instead'].format(line=self.suggestion)}"

    def pointed(self, text: str) -> str:
        """Return the line with the position marked under it.

        >>> print(FormulaError("did you mean tanh?", 4, 8).pointed("sum(tahn(q*k))"))
        sum(tahn(q*k))
            ^^^^
        """
        start = text.rfind("\n", 0, self.at) + 1
        line = text[start:].split("\n")[0]
        width = max(1, min(self.until, start + len(line)) - self.at)
        before = text[:start] + line
        after = text[start + len(line) :]
        return f"{before}\n{' ' * (self.at - start)}{'^' * width}{after}"


def fault(which: str, span: tuple[int, int] = (0, 1), fix: Fix | None = None, /, **facts: object) -> FormulaError:
    """Return the fault of this name at a span of the line, with what to write in which position if that is known."""
    error = FormulaError(FAULTS[which].format(**facts), *span)
    error.which, error.fix = which, fix
    return error
