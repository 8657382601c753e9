"""Lines of a script: a step with its shape beside it, the numbers that were changed in it, and numbers as they are."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.arrays import Array
from attnviz.codegen.words import NUMPY, Words
from attnviz.engine.learning import learnable
from attnviz.engine.records.trace import Step, Trace
from attnviz.exports.script.rows import VARIABLES

PARAMETERS = ("w_", "b_", "score_")
"""The prefixes of the names of parameters."""

WIDTH = 118
"""Columns that a line may have."""


@dataclass(frozen=True)
class Part:
    """A few lines of a script that belong together.

    name    of the part, for its title and its text
    code    the lines
    steps   the steps that the lines compute
    layer   the layer that they belong to, the first of several in a loop; None around the layers
    looped  whether they stand in a loop over the layers
    """

    name: str
    code: str
    steps: tuple[Step, ...] = ()
    layer: int | None = None
    looped: bool = False


class Lines:
    """A collector of the lines of the parts of one layer, of all layers in a loop, or of what stands around them."""

    def __init__(
        self, trace: Trace, layers: Sequence[int | None], words: Words = NUMPY, *, looped: bool = False
    ) -> None:
        self._trace, self._layers, self._looped, self.words = trace, layers, looped, words
        self.layer = layers[0]
        self._steps: Mapping[str, Step] = trace.around if self.layer is None else trace.layers[self.layer]
        self._lines: list[str] = []
        self._written: list[Step] = []
        self.parts: list[Part] = []
        self._is_learned = learnable.learns(trace.config)

    def has(self, name: str) -> bool:
        """Return whether the run has the step here."""
        return name in self._steps

    def edited(self, name: str) -> bool:
        """Return whether a number of the step was changed by hand here."""
        return any(edit[0] in self._layers and edit[1] == name for edit in self._trace.edits)

    def arrays(self, name: str) -> list[Array]:
        """Return the step's numbers, in each of these layers."""
        return [self._trace.layers[layer][name].array for layer in self._layers if layer is not None]

    def write(self, *lines: str) -> None:
        """Add lines as they are."""
        self._lines += lines

    def step(self, name: str, code: str, *, same: bool = False, then: Mapping[int, Sequence[str]] | None = None) -> str:
        """Add the line that computes a step, and what was changed in it; gives the step's variable.

        same  says that the code is another step as it stands, which must not change along with this one
        then  lines that belong to the computation in one layer alone
        """
        variable, step = VARIABLES[name], self._steps[name]
        if self._is_learned and name.startswith(PARAMETERS):
            code, same = self._learned(variable), True
        code = f"{code}.{self.words.copy}()" if same and self.edited(name) else code
        self._lines += commented(f"{variable} = {code}", f"{step.shape}: {', '.join(step.axes)}")
        for layer in self._layers:
            self._only(layer, (then or {}).get(layer or 0, ()))
            self._only(layer, [_change(edit, self.words) for edit in self._trace.edits if edit[:2] == (layer, name)])
        self._written.append(step)
        return variable

    def _learned(self, variable: str) -> str:
        """Return the learned parameters, of this layer alone where there are several."""
        return f"{variable}_learned" + (f"[{self.layer_index()}]" if self._trace.config.n_layers > 1 else "")

    def _only(self, layer: int | None, lines: Sequence[str]) -> None:
        """Add lines for one layer alone."""
        if lines and layer in self._layers:
            self._lines += [f"if layer == {layer}:", *indented(lines)] if self._looped else list(lines)

    def end(self, name: str) -> None:
        """Make what was added since the last part the part of this name; nothing if nothing was."""
        if self._lines:
            code = "\n".join(self._lines)
            self.parts.append(Part(name, code, tuple(self._written), self.layer, self._looped))
        self._lines, self._written = [], []

    def address(self, name: str) -> str:
        """Return the address at which the numbers of a parameter are drawn, as code."""
        return f'f"layer{{layer}}/{name}"' if self._looped else f'"layer{self.layer}/{name}"'

    def layer_index(self) -> str:
        """Return the number of the layer, as code."""
        return "layer" if self._looped else str(self.layer)


def _change(edit: tuple[int | None, str, tuple[int, ...], float], words: Words) -> str:
    _, name, index, value = edit
    text = repr(bool(value)) if name == "allowed" else number(value, words)
    return f"{VARIABLES[name]}[{', '.join(map(str, index))}] = {text}  # changed by hand"


def number(value: float, words: Words = NUMPY) -> str:
    """Return a number that Python reads back as the same.

    >>> number(-0.5), number(float("-inf"))
    ('-0.5', '-np.inf')
    """
    return f"-{words.np}.inf" if value == -np.inf else repr(float(value))


def indented(lines: Iterable[str]) -> list[str]:
    """Return the lines, four columns further in; empty ones stay empty."""
    return [f"    {part}" if part else "" for line in lines for part in line.split("\n")]


def commented(line: str, comment: str) -> list[str]:
    """Return a line and its comment, beside it or, where that is too long, above it.

    >>> commented("Y = C", "(2, 3)")
    ['Y = C  # (2, 3)']
    """
    beside = f"{line}  # {comment}"
    return [beside] if len(beside) <= WIDTH and "\n" not in line else [f"# {comment}", line]


def fitted(code: str, width: int = WIDTH) -> str:
    """Return the code, each line that is too long broken inside the outermost brackets, its comment above it.

    >>> print(fitted("Y = f(a, b)  # (2, 3)", width=20))
    # (2, 3)
    Y = f(a, b)
    >>> print(fitted("Y = f(a, b) + c", width=14))
    Y = (
        f(a, b) + c
    )
    """
    return "\n".join(line if len(line) <= width else _broken(line, width) for line in code.split("\n"))


def _broken(line: str, width: int) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    code, _, comment = line.strip().partition("  # ")
    above = [f"{indent}# {comment}"] if comment else []
    if len(indent + code) > width and " = " in code:
        variable, _, value = code.partition(" = ")
        opening = value.index("(") + 1 if "(" in value and _is_one_call(value) else 0
        inside = value[opening:-1] if opening else value
        start = f"{indent}{variable} = {value[:opening] or '('}"
        lines = [f"{indent}    {each}" for each in _wrapped(inside, width - len(indent) - 4)]
        return "\n".join([*above, start, *lines, f"{indent})"])
    return "\n".join([*above, f"{indent}{code}"])


def _wrapped(code: str, width: int) -> list[str]:
    """Return the code, which stands in brackets, in lines that end at a space outside any text.

    >>> _wrapped("a + 'b c' + d", 9)
    ["a + 'b c'", '+ d']
    """
    words: list[str] = []
    quote = ""
    for piece in code.split(" "):
        if quote:
            words[-1] += f" {piece}"
        else:
            words.append(piece)
        for c in piece:
            quote = (quote if c != quote else "") if quote else (c if c in "\"'" else "")
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] += f" {word}"
    return lines


def _is_one_call(value: str) -> bool:
    """Return whether the first bracket is closed by the last character."""
    depth = 0
    for position, character in enumerate(value):
        depth += (character in "([{") - (character in ")]}")
        if character in ")]}" and depth == 0:
            return position == len(value) - 1
    return False


def listed(items: Sequence[str]) -> str:
    """Return items in brackets, in as many lines as it takes.

    >>> print(listed(["1.0", "2.0"]))
    [1.0, 2.0]
    """
    lines = [""]
    for item in items:
        if lines[-1] and len(lines[-1]) + len(item) > WIDTH - 8:
            lines.append("")
        lines[-1] += f"{item}, "
    if len(lines) == 1:
        return f"[{lines[0].removesuffix(', ')}]"
    return "\n".join(["[", *indented(line.rstrip() for line in lines), "]"])


BYTES_PER_LINE = 81
"""Bytes of an array in one line of a script: 108 characters of base64."""


def in_base64(array: Array) -> list[str]:
    """Return the bytes of an array as texts in base64, one a line: as decimal numbers they would be twice as long."""
    data = array.tobytes()
    pieces = (data[at : at + BYTES_PER_LINE] for at in range(0, len(data), BYTES_PER_LINE))
    return [f'    "{b64encode(piece).decode()}"' for piece in pieces]


def without_bytes(script: str, longest: int) -> tuple[str, bool]:
    """Return a script as it can be shown, and whether it is whole: if it is too long, ... stands for texts in base64.

    >>> without_bytes('W = stored((2,),\\n    "AAA="\\n    "AAB="\\n)', 8)
    ('W = stored((2,),\\n    ...\\n)', False)
    """
    is_whole = len(script) <= longest
    return script if is_whole else re.sub(r'(\n    "[A-Za-z0-9+/=]+")+(?=\n\))', "\n    ...", script), is_whole


def vector(xs: Array, words: Words = NUMPY) -> str:
    """Return a row of numbers as a list."""
    return listed([number(x, words) for x in xs])


def matrix(X: Array, words: Words = NUMPY) -> str:
    """Return rows of numbers as an array, a row a line."""
    rows = indented(f"{vector(row, words)}," for row in X)
    return "\n".join([f"{words.array}([", *rows, "])"])
