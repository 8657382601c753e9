"""The current setting as a stand-alone script that needs NumPy alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attnviz.codegen.words import NUMPY, Words, calls
from attnviz.engine.external.layer_plans import chosen_in
from attnviz.engine.pretrained.model_registry import model_of
from attnviz.engine.pretrained.pretrained_config import is_pretrained
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.engine.tables.biases import BIASES
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.engine.tables.masks import MASKS
from attnviz.engine.tables.normalisers import NORMALISERS
from attnviz.engine.tables.scores import SCORES
from attnviz.exports.script import inputs
from attnviz.exports.script.comments import COMMENT, in_language, wrapped
from attnviz.exports.script.functions import definition, needed_functions
from attnviz.exports.script.lines import WIDTH, Part, fitted, indented
from attnviz.exports.script.parts import VERBATIM, parts, words
from attnviz.settings import language
from attnviz.settings.language import Plural

SUMMARY = language.Words(
    {
        "title": "Attention step by step: {heads}, in {library}.",
        "layers": "Attention step by step in {layers}: {heads}, in {library}.",
        "choices": "Score: {score}. Mask: {mask}. Normaliser: {normaliser}. Bias by distance: {bias}.",
        "projections": "Projections: {projections}.",
        "of_model": "those of a trained model ({family})",
        "edited": "Numbers that were changed by hand are set in the lines marked so; all that follows uses them.",
        "rows": "Rows are queries, columns are keys; a vector is a row, so that a projection is X @ W. Shapes stand "
        "beside the steps.",
    }
)
COUNTS = language.Words({"head": Plural("{n} head", "{n} heads"), "layer": Plural("{n} layer", "{n} layers")})


def numpy_script(of: Config | Trace) -> str:
    """Return a setting or its run as a NumPy script that computes every step anew and prints the weights.

    It holds only what the setting needs, draws the same random numbers bit for bit, and gives every step a variable
    with the name that it has in the papers.

    Raises ConfigError for a setting that cannot be run.

    >>> print(numpy_script(Config(sentence="a b", score="dot", initialiser="identity")).splitlines()[-2])
    np.set_printoptions(precision=3, suppress=True, linewidth=120)
    """
    trace = run_of(of)
    script_parts = parts(trace, looped=True)
    return script(trace, "NumPy", [*opening(trace, script_parts), *script_parts, PRINT])


def run_of(of: Config | Trace) -> Trace:
    """Return the run of a setting, or the one that is given."""
    return of if isinstance(of, Trace) else run(of)


PRINT = Part("print", "np.set_printoptions(precision=3, suppress=True, linewidth=120)\nprint(A)")


def opening(trace: Trace, script_parts: Sequence[Part], library: Words = NUMPY) -> list[Part]:
    """Return the parts before the first step: the setting, the functions that the steps call, and the tokens."""
    code = "\n".join(part.code for part in script_parts if part.name not in VERBATIM)
    names = needed_functions(code)
    chosen = chosen_in(trace, 0)
    draws, functions = definition(
        names, code, library, is_tempered=chosen.temperature != 1.0, epsilon=chosen.norm.epsilon
    )
    opened = [
        Part("setting", _setting(trace, f"{draws}\n{functions}\n{code}", any(part.looped for part in script_parts))),
        Part("draws", draws),
        Part("functions", functions),
        Part("tokens", inputs.tokens(trace)),
    ]
    return [part for part in opened if part.code]


def _setting(trace: Trace, code: str, looped: bool) -> str:
    """Return the numbers of the setting, of which the code uses each but the first two."""
    lines = [f"SEED = {trace.config.seed}"] if re.search(r"\bSEED\b", code) else []
    for line in inputs.setting(trace):
        name = line.split()[0]
        used = looped if name == "n_layers" else re.search(rf"\b{name.strip(',')}\b", code)
        lines += [line] if used or name == "d_model," else []
    return "\n".join(lines)


def script(trace: Trace, library: str, whole: Sequence[Part]) -> str:
    """Return the text of a script made of these parts, beginning with what it is and what it imports."""
    text = f'"""{summary(trace, library)}"""\n\n{imports(whole, library)}\n'
    inside = False
    for part in whole:
        if part.looped and not inside:
            text += "\nfor layer in range(n_layers):"
        lines = indented(_block(part, trace)) if part.looped else _block(part, trace)
        text += "\n" + "\n".join(lines) + "\n"
        inside = part.looped
    return text


def _block(part: Part, trace: Trace) -> list[str]:
    """Return a part under its title; functions stand apart, as they do in any script."""
    title, text = words(part, trace)
    lines = [f"# {title}", *(f"# {line}" for line in wrapped(text, COMMENT))]
    code = in_language(part.code)
    if part.name in ("draws", "functions"):
        return [*lines, "", "", code, ""]
    return [*lines, code if part.name in VERBATIM else fitted(code, WIDTH - 4 * part.looped)]


def summary(trace: Trace, library: str) -> str:
    """Summarise the script, in words that hold nothing of what was typed."""
    config = trace.config
    n_layers, heads = config.n_layers, COUNTS["head"].format(n=config.n_heads)
    title = SUMMARY["layers" if n_layers > 1 else "title"]
    projections = INITIALISERS[config.initialiser].label
    if is_pretrained(trace):
        projections = SUMMARY["of_model"].format(family=model_of(trace).family)
    choices = SUMMARY["choices"].format(
        score=SCORES[config.score].label,
        mask=language.sign(", ").join(MASKS[name].label for name in config.mask),
        normaliser=NORMALISERS[config.normaliser].label,
        bias=BIASES[config.bias].label,
    )
    lines = [
        title.format(heads=heads, library=library, layers=COUNTS["layer"].format(n=n_layers)),
        *("", choices, SUMMARY["projections"].format(projections=projections)),
        *([SUMMARY["edited"]] if trace.edits else []),
        *("", SUMMARY["rows"], ""),
    ]
    return "\n".join("\n".join(wrapped(line, WIDTH)) for line in lines)


def imports(whole: Sequence[Part], library: str) -> str:
    """Return the modules that the parts use; what a token says does not count."""
    code = "\n".join(part.code for part in whole if part.name not in VERBATIM)
    lines = ["import math"] if "math." in code else []
    lines += ["import attnviz"] if "attnviz." in code else []
    lines += ["from base64 import b64decode"] if calls("b64decode", code) else []
    lines += ["from hashlib import blake2b"] if calls("blake2b", code) else []
    installed = ["import numpy as np"] if "np." in code else []
    installed += ["import torch"] if library == "PyTorch" else []
    return "\n".join([*lines, "", *installed] if lines else installed)
