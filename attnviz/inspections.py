"""The commands that look at what is there: `attnviz diff` at two runs, `attnviz check` at an attention function."""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from attnviz.analysis.probes.own_attention import check_attention
from attnviz.arguments import linked, unusable, with_model
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.exports import archive
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError, shorten
from attnviz.text.changes import difference_of
from attnviz.text.step_names import steps

WORDS = {
    "diff": "say which steps differ between two runs, the first first, and by how much",
    "run": "a run: a link, a setting that was saved, or a run that was saved as .npz or .json",
    "check": "name the usual mistakes in an attention function of your own, by running it on probes",
    "file": "a Python file with a function of q, k and v; it is run as any program of yours is",
    "name": "the function, where the file has several",
    "same": "A and B are the same, number for number",
    "first": "the first step that differs: {name}{layer}",
    "layer": " of layer {n}",
    "step": "{layer:9}{name:20}{said}",
    "moved": "{moved:,} of {n:,} numbers, by {most:.4g} at most",
    "rounding": "by rounding alone, {most:.1e} at most",
    "forbidden": ", and {n:,} masked in one of them alone",
    "shape": "{a} in A, {b} in B",
    "absent": "absent",
    "mistake": "mistake: {text}",
    "note": "{text}",
}
FAULTS = {
    "none": "{name} holds no function of q, k and v; give it one, such as def attention(q, k, v)",
    "several": "{name} holds several functions of q, k and v; choose one with --name: {names}",
    "missing": "{name} holds no function called {given}; it has {names}",
    "runs": "{name} cannot be run: {error}",
}


def add_to(commands: Any) -> None:
    """Add the two commands to the parsers of the command line."""
    two = commands.add_parser("diff", help=WORDS["diff"], description=f"{WORDS['diff'].capitalize()}.")
    for name in "ab":
        two.add_argument(name, metavar=name.upper(), help=WORDS["run"])
    own = commands.add_parser("check", help=WORDS["check"], description=f"{WORDS['check'].capitalize()}.")
    own.add_argument("file", metavar="FILE.py", help=WORDS["file"])
    own.add_argument("--name", help=WORDS["name"])


def diff(arguments: Mapping[str, Any]) -> int:
    """Print the steps that differ between two runs; 1 where there are any, as `diff` has it."""
    found = list(differing(*(_run_of(arguments[name]) for name in "ab")))
    if not found:
        print(WORDS["same"])
        return 0
    layer, name, _ = found[0]
    print(WORDS["first"].format(name=name, layer=_of_layer(layer)))
    for layer, name, said in found:
        place = _of_layer(layer).removeprefix(" of ")
        print(WORDS["step"].format(layer=place, name=name, said=said))
    return 1


def differing(a: Trace, b: Trace) -> Iterator[tuple[int | None, str, str]]:
    """Yield each step that differs between two runs, in the order of the data: its layer, its name, and how far."""
    for layer in range(max(len(a.layers), len(b.layers))):
        each = [steps(trace, layer) if layer < len(trace.layers) else {} for trace in (a, b)]
        for name in dict.fromkeys([*each[0], *each[1]]):
            if layer and name in ("embedded", "embedded_kv"):
                continue  # the result of the layer before
            place = None if name in a.around or name in b.around else layer
            said = _difference(a, b, layer, name)
            if said:
                yield place, name, said


def _difference(a: Trace, b: Trace, layer: int, name: str) -> str:
    """Return how far a step differs, "" where it does not."""
    each = [(steps(trace, layer) if layer < len(trace.layers) else {}).get(name) for trace in (a, b)]
    shapes = [None if step is None else step.shape for step in each]
    if shapes[0] != shapes[1]:
        written = (WORDS["absent"] if shape is None else " × ".join(map(str, shape)) for shape in shapes)
        return WORDS["shape"].format(**dict(zip("ab", written)))
    moved, n, most, one_sided = difference_of(a, b, layer, name)
    if not moved and not one_sided:
        return WORDS["rounding"].format(most=most) if most else ""
    said = WORDS["moved"].format(moved=moved, n=n, most=most)
    return said + WORDS["forbidden"].format(n=one_sided) if one_sided else said


def _of_layer(layer: int | None) -> str:
    return "" if layer is None else WORDS["layer"].format(n=ordinal(layer))


def _run_of(name: str) -> Trace:
    """Return the run that a link or a file holds."""
    if name.lower().endswith((".npz", ".json")) and "=" not in name:
        try:
            data = Path(name).read_bytes()
        except OSError as error:
            raise unusable(name, "read", error) from None
        if name.lower().endswith(".npz") or _is_run(data):
            return archive.read(data)
    config, _, problems = linked(name)
    if problems and "=" not in name:
        raise ConfigError(problems[0])
    for problem in problems:
        print(f"attnviz: {problem}", file=sys.stderr)
    return run(with_model(config, must=True))


def _is_run(data: bytes) -> bool:
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(whole, dict) and isinstance(whole.get("about"), dict)


def check(arguments: Mapping[str, Any]) -> int:
    """Print what is wrong with a function of somebody's own; 1 where there is a mistake."""
    findings = check_attention(_function(arguments["file"], arguments["name"]))
    for finding in findings:
        print(WORDS["mistake" if finding.is_mistake else "note"].format(text=finding.text))
    return int(any(finding.is_mistake for finding in findings))


def _function(path: str, name: str | None) -> Callable[..., Any]:
    """Run a file and return its function of q, k and v. Raises ConfigError where there is not one."""
    shown = shorten(path, 120)
    try:
        space = runpy.run_path(str(Path(path)))
    except Exception as error:
        raise ConfigError(FAULTS["runs"].format(name=shown, error=f"{type(error).__name__}: {error}")) from None
    own = {each: value for each, value in space.items() if _is_own(value, space)}
    if name is not None:
        if name not in own:
            raise ConfigError(FAULTS["missing"].format(name=shown, given=shorten(name), names=", ".join(own) or "none"))
        return own[name]
    fitting = {each: value for each, value in own.items() if value.__code__.co_argcount >= 3}
    if len(fitting) != 1:
        which = "several" if fitting else "none"
        raise ConfigError(FAULTS[which].format(name=shown, names=", ".join(fitting)))
    return next(iter(fitting.values()))


def _is_own(value: object, space: Mapping[str, Any]) -> bool:
    """Return whether a value is a function that the file itself defines."""
    return callable(value) and getattr(value, "__module__", None) == space["__name__"] and hasattr(value, "__code__")


COMMANDS: dict[str, Callable[[Mapping[str, Any]], int]] = {"diff": diff, "check": check}
"""The commands by name; each returns its exit code."""
