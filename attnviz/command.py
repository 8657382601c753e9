"""The command line: `attnviz` starts the page, and `attnviz render` writes a run to a file."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NoReturn

from attnviz import __version__, inspections, options, serving
from attnviz.arguments import linked, unusable, with_model
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.engine.tables.added_rows import load_rows
from attnviz.exports import site
from attnviz.exports.formats import FORMATS, ExportTarget, export, kind_of
from attnviz.models import hosting
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.fields import settings
from attnviz.ui.session.selection import Selection, within
from attnviz.uploads import read_files, to_trace

WORDS = {
    "usage": "attnviz [--with FILE] [--model NAME] [--port N] [--address HOST] [--watch] "
    "[--processes N]\n"
    "       attnviz [--with FILE] [--model NAME] render [SENTENCE] -o FILE [settings]\n"
    "       attnviz diff A B\n       attnviz check FILE.py",
    "render_usage": "attnviz render [SENTENCE] -o FILE [settings]\n       attnviz render --site FOLDER --links FILE",
    "about": "See attention happen. Without a command, start the page.",
    "more": "Any option of Streamlit may follow, written as --server.baseUrlPath=attention.",
    "port": "1 to 65535; otherwise Streamlit's own, 8501 or the next that is free",
    "address": "who may open the page: localhost is this machine alone, 0.0.0.0 the whole network [localhost]",
    "processes": "so many processes behind one port, each watched, and each visitor held to one of them; 1 to 64",
    "watch": "start the page anew if it ends, or does not answer for 20 seconds",
    "with": "a Python file of your own with scores and normalisers, each a LineRow; may be given more than once",
    "model": "a trained model to offer: minilm, if it is installed, or name=FOLDER as Hugging Face writes it; may be "
    "given more than once",
    "model_tokens": "tokens that a sentence may have with a model, 2 to 1024 [32]",
    "render": "write a run to a file, without the page",
    "sentence": "the sentence, in quotes",
    "weights": "attention weights of your own to draw, .npz, .npy, .json or .csv; the sentence then names the tokens",
    "site": "a folder to write interactive pages to, with an index that any web space or browser shows",
    "links": "a file of links for --site, one per line, and headings after a #; - is standard input",
    "output": "the file; the end of its name says what kind it is; - is standard output",
    "format": "the kind of file, where the name does not say it",
    "link": "start from a link that was copied, or from a setting that was saved as a file",
    "kinds": "kinds of files:",
    "parts": "Part of the run, for .csv, .svg, .png and .tex",
    "setting": "Setting",
}
FAULTS = {
    "dash": "; where a value begins with a dash, write --option=value",
    "quotes": "{what} is one word too many; put the sentence in quotes",
    "format": "--output is -, which does not say what kind of file it is; add --format and one of {known}",
    "binary": "standard output is a terminal, and a file of this kind is not text; name a file after --output",
    "links": "{name} holds no link; give one per line, as the page copies them",
    "line": "line {n} of {name}: {why}",
    "site": "--links is for --site: name the folder that its pages go to",
}


class Parser(argparse.ArgumentParser):
    """An argument parser whose faults are one sentence."""

    def error(self, message: str) -> NoReturn:
        message = message.removeprefix("argument ")
        raise ConfigError(message + (FAULTS["dash"] if "expected one argument" in message else ""))


def main(words: Sequence[str] | None = None) -> int:
    """Do what the command line says; the exit code, 2 for what cannot be done, which standard error then explains."""
    try:
        arguments, rest = _parser().parse_known_args(words)
        for path in arguments.own_rows or ():
            load_rows(path)
        hosting.offer_those_in_the_package()
        hosting.offer_those_of_the_environment()
        hosting.offer(arguments.offered or (), arguments.model_tokens)
        if arguments.command is None and arguments.processes is not None:
            return serving.serve_several(arguments, rest)
        if arguments.command is None and arguments.watch:
            return serving.watch(arguments.port, arguments.address, sys.argv[1:] if words is None else words)
        if arguments.command is None:
            serving.start(arguments.port, arguments.address, [*rest, *serving.handed_over(arguments.replica)])
            return 0
        _refuse(rest, arguments.command)
        if arguments.command in inspections.COMMANDS:
            return inspections.COMMANDS[arguments.command](vars(arguments))
        (_render_site if "site" in arguments else _render)(vars(arguments))
    except BrokenPipeError:  # nobody reads any more, which is nothing to complain of
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ConfigError as error:
        print(f"attnviz: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="attnviz", usage=WORDS["usage"], description=WORDS["about"], epilog=WORDS["more"], allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument("--with", action="append", dest="own_rows", metavar="FILE", help=WORDS["with"])
    parser.add_argument("--model", action="append", dest="offered", metavar="NAME", help=WORDS["model"])
    parser.add_argument("--model-tokens", default="", metavar="N", help=WORDS["model_tokens"])
    parser.add_argument("--port", metavar="N", help=WORDS["port"])
    parser.add_argument("--address", metavar="HOST", default="localhost", help=WORDS["address"])
    parser.add_argument("--watch", action="store_true", help=WORDS["watch"])
    parser.add_argument("--processes", metavar="N", help=WORDS["processes"])
    parser.add_argument("--replica", default="", help=argparse.SUPPRESS)
    kinds = [WORDS["kinds"], *(f"  {'.' + name:11}{form.note}" for name, form in FORMATS.items())]
    commands = parser.add_subparsers(dest="command", metavar="render | diff | check")
    inspections.add_to(commands)
    render = commands.add_parser(
        "render",
        help=WORDS["render"],
        usage=WORDS["render_usage"],
        description=f"{WORDS['render'].capitalize()}.",
        epilog="\n".join(kinds),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    render.add_argument("sentence", nargs="?", help=WORDS["sentence"])
    target = render.add_mutually_exclusive_group(required=True)
    target.add_argument("-o", "--output", metavar="FILE", help=WORDS["output"])
    target.add_argument("--site", metavar="FOLDER", help=WORDS["site"])
    render.add_argument("--links", metavar="FILE", help=WORDS["links"])
    render.add_argument("--format", choices=FORMATS, metavar="KIND", help=WORDS["format"])
    render.add_argument("--weights", metavar="FILE", help=WORDS["weights"])
    render.add_argument("--link", metavar="LINK", help=WORDS["link"])
    parts = [item.name for item in fields(ExportTarget)]
    grouped = {WORDS["parts"]: [item for item in settings(Selection) if item.name in parts]}
    for item in settings(Config):
        if item.name != "sentence":
            grouped.setdefault(item.metadata["group"] or WORDS["setting"], []).append(item)
    for name, items in grouped.items():
        options.add(render.add_argument_group(name), items)
    return parser


def _refuse(rest: Sequence[str], command: str) -> None:
    """Raise ConfigError if there is more on the command line than it can mean."""
    for what in rest[:1]:
        if what.startswith("-"):
            raise serving.unknown(what, f"{command} ")
        raise ConfigError(FAULTS["quotes"].format(what=shorten(what)))


def _render_site(arguments: Mapping[str, Any]) -> None:
    """Write a folder of interactive pages: of the links of a file, or of the one setting of the command line."""
    folder = Path(arguments["site"])
    if "links" in arguments:
        parts = _listed(arguments["links"])
    else:
        trace, selection = _computed(arguments)
        parts = iter([(trace, selection.layer)])
    try:
        for name, text in site.files(parts):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise unusable(str(folder), "written", error) from None


def _listed(name: str) -> Iterator[str | tuple[Trace, int]]:
    """Yield the headings of a file of links, and the runs of the links, each with the layer that it shows."""
    try:
        lines = (sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8-sig")).splitlines()
    except (OSError, ValueError) as error:
        raise unusable(name, "read", error) from None
    said = [(n, line.strip()) for n, line in enumerate(lines, 1) if line.strip()]
    if all(line.startswith("#") for _, line in said):
        raise ConfigError(FAULTS["links"].format(name=shorten(name, 120)))
    for n, line in said:
        if line.startswith("#"):
            yield line.lstrip("#").strip()
            continue
        config, selection, problems = linked(line)
        trace = run(with_model(config, must=False))
        for note in (*problems, *trace.notes):
            print(f"attnviz: {FAULTS['line'].format(n=n, name=shorten(name, 120), why=note)}", file=sys.stderr)
        yield trace, within(selection, trace).layer


def _computed(arguments: Mapping[str, Any]) -> tuple[Trace, Selection]:
    """Return the run of what the command line says and what is shown of it, with its notes on standard error."""
    config, selection, problems = linked(arguments.get("link"))
    config = with_model(replace(config, **options.named_fields(Config, arguments)), "model" in arguments)
    trace = _uploaded(arguments["weights"], arguments.get("sentence", "")) if "weights" in arguments else run(config)
    for note in (*problems, *trace.notes):
        print(f"attnviz: {note}", file=sys.stderr)
    return trace, replace(within(selection, trace), **options.named_fields(Selection, arguments))


def _render(arguments: Mapping[str, Any]) -> None:
    if "links" in arguments:
        raise ConfigError(FAULTS["site"])
    name = _kind(arguments["output"], arguments.get("format"))
    trace, selection = _computed(arguments)
    target = ExportTarget(**{item.name: getattr(selection, item.name) for item in fields(ExportTarget)})
    data = export(name, trace, target)
    _write(data, arguments["output"])


def _uploaded(name: str, tokens: str) -> Trace:
    """Return the trace of weights in a file; `tokens` stand for those of the file."""
    try:
        data = Path(name).read_bytes()
    except OSError as error:
        raise unusable(name, "read", error) from None
    return to_trace.trace("weights", {"": read_files.read(name, data)}, tokens, "", Config())


def _kind(output: str, ending: str | None) -> str:
    """Return the row of FORMATS that is meant."""
    if ending is None and output == "-":
        raise ConfigError(FAULTS["format"].format(known=", ".join(FORMATS)))
    return ending or kind_of(output)


def _write(data: str | bytes, output: str) -> None:
    """Write to a file, or to standard output; text in UTF-8, its lines ended as they are."""
    whole = data.encode("utf-8") if isinstance(data, str) else data
    if output == "-":
        if isinstance(data, bytes) and sys.stdout.isatty():
            raise ConfigError(FAULTS["binary"])
        sys.stdout.buffer.write(whole)
        sys.stdout.flush()
        return
    try:
        Path(output).write_bytes(whole)
    except (OSError, ValueError) as error:
        raise unusable(output, "written", error) from None
