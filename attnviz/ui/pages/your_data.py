"""The Your data page: weights, scores, or queries, keys and values of one's own, uploaded or pasted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import streamlit as st

from attnviz.arithmetic.cell import Cell
from attnviz.engine.cost.need import Need
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.scores import SCORES
from attnviz.exports import archive
from attnviz.exports.formats import ExportTarget
from attnviz.settings.faults import ConfigError
from attnviz.settings.fields import settings
from attnviz.settings.language import Words
from attnviz.ui.pages import explore, exports
from attnviz.ui.session import admission, session_state, widget_values, widgets
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import PANEL_NAMES, Selection, outside, within
from attnviz.uploads import parse_text, read_files, to_trace
from attnviz.uploads.parse_text import Upload
from attnviz.uploads.to_trace import PARTS

KINDS = Words({"weights": "Weights", "scores": "Scores", "vectors": "Q, K, V"})
PLURALS = Words({"layer": "layers", "head": "heads", "query": "queries", "key": "keys"})
TEXTS = Words(
    {
        "kind": "Kind of data",
        "file": "A file: .npz, .npy, .json or .csv, up to 5 MB",
        "paste": "Or paste rows of numbers, or JSON",
        "paste_part": "Or paste {part}",
        "tokens": "Tokens, separated by spaces or as a JSON list",
        "key_tokens": "Key tokens, if they are others",
        "example": "Show an example",
        "take": "Export",
        "panel": "Below the pictures",
        "where": "Your own numbers go into the fields behind » at the top left.",
        "private": "Your data stay in this session: they are not in the link.",
        "setting": "Masks, scale, soft cap, normaliser and temperature are those of the Explore page.",
        "score": "The score function of the Explore page has matrices of its own, so the scaled dot product is used "
        "here.",
        "fault": "{fault}. {kept}",
        "kept": "The previous data are still shown.",
        "too_many": "there are {n} {what}; up to {most} can be shown on the page, so use a part, or attnviz.show",
    }
)
EXAMPLES: dict[str, tuple[str, dict[str, str]]] = {
    "weights": (
        "the cat drank its milk",
        {
            "weights": "1.0\t0\t0\t0\t0\n0.3\t0.7\t0\t0\t0\n0.1\t0.6\t0.3\t0\t0\n"
            "0.05\t0.8\t0.05\t0.1\t0\n0.02\t0.08\t0.4\t0.3\t0.2"
        },
    ),
    "scores": (
        "the cat drank its milk",
        {"scores": "2 -inf -inf -inf -inf\n1 2 -inf -inf -inf\n0 2 1 -inf -inf\n0 3 0 1 -inf\n-1 0.5 2 1.5 1"},
    ),
    "vectors": (
        "the cat sat",
        {"q": "1 0\n0 2\n1 1", "k": "1 0\n0 1\n1 1", "v": "1 0 0\n0 1 0\n0 0 1"},
    ),
}
"""Tokens and texts that show what can be pasted."""

NEED = Need(drawn=40, any_length=True)
PANELS = ("cell", "word", "statistics", "table")
LIMITS = {
    item.name: int(item.metadata["kind"].high)
    for item in settings(Selection)
    if item.name in ("layer", "head", "query", "key")
}
"""The most layers, heads and tokens that a position on the page can name."""

MAX_PASTED_CHARACTERS = 900_000
"""Characters: a message with more than a million bytes would break the connection."""
_MOST_RESENT = 10_000  # pasted characters that are sent back to the browser in every run, although it holds them

_HELD, _PROBLEM = "own_held", "own_problem"
_KIND, _FILE, _TOKENS, _KEY_TOKENS = "own_kind", "own_file", "own_tokens", "own_key_tokens"
_PASTE = "own_paste_{part}"


@dataclass(frozen=True)
class HeldUpload:
    """The upload that is shown: its kind, its arrays by part, tokens as typed; or a saved run, as its file."""

    kind: str
    parts: Mapping[str, Upload] = field(default_factory=dict)
    tokens: str = ""
    key_tokens: str = ""
    saved: bytes = b""
    is_example: bool = False
    texts: Mapping[str, str] = field(default_factory=dict)


def page(config: Config, selection: Selection) -> Selection:
    """Draw the page; return the selection as the visitor leaves it. `config` is the current setting, which applies."""
    if _HELD not in st.session_state:
        _keep(_example_of("weights"))
    with st.sidebar, st.container(key="own-data"):
        _bring(config)
        if st.session_state.get(_PROBLEM):  # below the fields: on a phone they lie over the maps
            notice(st.session_state[_PROBLEM], kind="fault")
    with st.container(key="own-where"):  # said where the sidebar is closed at first
        paragraph([TEXTS["where"]])
    upload = st.session_state[_HELD]
    again = partial(_trace, upload, config)
    if not admission.admitted(NEED, again() if upload.saved else to_trace.sizes(upload.kind, upload.parts, config)):
        return selection
    trace = again()
    notice(*session_state.of_address(outside(selection, trace)))
    selection, cell = explore.maps(trace, _of_numbers(within(selection, trace)))
    return _below(trace, selection, cell, again)


def _of_numbers(selection: Selection) -> Selection:
    """Return the selection without a panel that numbers of one's own do not have, such as that of a mask."""
    return replace(selection, panel=selection.panel if selection.panel in PANELS else "cell")


def _below(trace: Trace, selection: Selection, cell: Cell | None, again: Callable[[], Trace]) -> Selection:
    """Draw one panel in detail below the maps, and the files; `again` makes the run anew."""
    with st.container(key="all-lines"):
        selection = _of_numbers(selection)
        selection = widgets.choose_available(
            selection, "panel", TEXTS["panel"], PANELS, words=_panel_named, buttons=True, label_visibility="collapsed"
        )
        further = (again,) if selection.panel == "table" else ()
        selection = explore.panel_of(trace, within(selection, trace), cell, *further)
    target = ExportTarget(selection.layer, head=selection.head, query=selection.query, key=selection.key)
    with st.expander(TEXTS["take"], key="own-files"):
        for title, column in zip(("Pictures", "Data"), st.columns(2, gap="medium")):
            with column:
                for name in exports.GROUPS[title]:
                    exports.offer(name, trace, target, again)
    return selection


def pasted_into() -> list[str]:
    """Return the keys of the fields that rows of numbers are pasted into."""
    return [_PASTE.format(part=part) for parts in PARTS.values() for part in parts]


def _bring(config: Config) -> None:
    """Draw the widgets for files and pasted text."""
    upload: HeldUpload = st.session_state[_HELD]
    chosen = (
        st.segmented_control(
            TEXTS["kind"],
            KINDS,
            format_func=KINDS.__getitem__,
            key=_KIND,
            default=widget_values.start(_KIND, upload.kind),
            required=True,
            on_change=_other_kind,
            args=(config,),
        )
        or upload.kind
    )
    st.button(TEXTS["example"], key="own_example", on_click=_example, args=(config, chosen))
    parts = PARTS[chosen]
    for part in parts:
        label = TEXTS["paste"] if len(parts) == 1 else TEXTS["paste_part"].format(part=part.upper())
        key = _PASTE.format(part=part)
        text = widget_values.start(key, upload.texts.get(part, ""))
        start = "" if key in st.session_state and len(text) > _MOST_RESENT else text
        high = 128 if len(parts) == 1 else 80
        st.text_area(
            label, start, key=key, height=high, max_chars=MAX_PASTED_CHARACTERS, on_change=_pasted, args=(config,)
        )
    for key, words in ((_TOKENS, upload.tokens), (_KEY_TOKENS, upload.key_tokens)):
        label = TEXTS[key.removeprefix("own_")]
        st.text_input(label, widget_values.start(key, words), key=key, on_change=_named, args=(config,))
    st.file_uploader(TEXTS["file"], key=_FILE, on_change=_uploaded, args=(config,), max_upload_size=5)
    paragraph([TEXTS["private"], *_about_setting(upload, config)])


def _about_setting(upload: HeldUpload, config: Config) -> Sequence[str]:
    """Describe the part of the current setting that applies to the numbers."""
    if upload.saved or upload.kind == "weights":
        return ()
    other = (TEXTS["score"],) if upload.kind == "vectors" and SCORES[config.score].parameters else ()
    return (TEXTS["setting"], *other)


def _panel_named(name: str) -> str:
    return PANEL_NAMES[name].label


@callback
def _uploaded(config: Config) -> None:
    """Take in the file; as a callback, so that what it says is drawn at once."""
    file = st.session_state.get(_FILE)
    if file is None or _KIND not in st.session_state:
        return
    upload, data = HeldUpload(st.session_state[_KIND]), file.getvalue()
    try:
        if archive.is_archive(data):
            archive.read(data, read_files.BUDGET)
            upload = replace(upload, saved=data)
        else:
            upload = replace(upload, parts={"": read_files.read(file.name, data)})
    except ConfigError as error:
        _refuse(error)
    else:
        named = st.session_state[_HELD].is_example or any(each.query_tokens for each in upload.parts.values())
        if _accept(upload, config, typed=not named):
            st.session_state.update(dict.fromkeys(pasted_into(), ""))


@callback
def _pasted(config: Config) -> None:
    """Take in what was pasted, once there is a text for every part."""
    kind = st.session_state.get(_KIND)
    if kind is None:  # the page has been left since
        return
    texts = {part: st.session_state.get(_PASTE.format(part=part), "") for part in PARTS[kind]}
    if not all(text.strip() for text in texts.values()):
        return
    try:
        parts = {part if len(texts) > 1 else "": parse_text.from_text(text) for part, text in texts.items()}
    except ConfigError as error:
        _refuse(error)
    else:
        _accept(HeldUpload(kind, parts, texts=texts), config)


@callback
def _named(config: Config) -> None:
    """Take in tokens for what is there."""
    _accept(st.session_state[_HELD], config, untyped=False)


@callback
def _other_kind(config: Config) -> None:
    """See what is there as another kind; an example gives way to the example of that kind."""
    upload: HeldUpload = st.session_state[_HELD]
    kind = st.session_state.get(_KIND, upload.kind)
    if upload.is_example or "" not in upload.parts:
        _example(config, kind)
    else:
        _accept(replace(upload, kind=kind), config)


@callback
def _example(config: Config, kind: str) -> None:
    """Put the example of a kind into the fields, and show it."""
    upload = _example_of(kind)
    for part, text in upload.texts.items():
        st.session_state[_PASTE.format(part=part)] = text
    st.session_state[_TOKENS], st.session_state[_KEY_TOKENS] = upload.tokens, ""
    _keep(upload)


def _example_of(kind: str) -> HeldUpload:
    tokens, texts = EXAMPLES[kind]
    parts = {part: parse_text.from_text(text) for part, text in texts.items()}
    return HeldUpload(kind, parts, tokens, is_example=True, texts=texts)


def _accept(upload: HeldUpload, config: Config, *, typed: bool = True, untyped: bool = True) -> bool:
    """Show the upload, with the typed tokens or else without, and return whether it can be shown."""
    named = replace(upload, tokens=st.session_state.get(_TOKENS, ""), key_tokens=st.session_state.get(_KEY_TOKENS, ""))
    bare = replace(upload, tokens="", key_tokens="")
    for each in [named] * typed + [bare] * untyped:
        try:
            _see(each, config)
        except ConfigError as error:
            _refuse(error)
            continue
        st.session_state[_TOKENS], st.session_state[_KEY_TOKENS] = each.tokens, each.key_tokens
        _keep(each)
        return True
    return False


def _see(upload: HeldUpload, config: Config) -> None:
    """Build the trace of an upload to see whether it can be shown. Raises ConfigError if not, or if it is too large."""
    if upload.saved:  # as large as its file: nothing is computed
        _trace(upload, config)
    else:
        sizes = to_trace.sizes(upload.kind, upload.parts, config)
        admission.before_page(NEED, sizes, partial(_trace, upload, config))


def _keep(upload: HeldUpload) -> None:
    st.session_state[_HELD], st.session_state[_PROBLEM] = upload, None


def _refuse(error: ConfigError) -> None:
    fault = f"{str(error)[0].upper()}{str(error)[1:]}"
    st.session_state[_PROBLEM] = TEXTS["fault"].format(fault=fault, kept=TEXTS["kept"])


def _trace(upload: HeldUpload, config: Config) -> Trace:
    """Build the trace of an upload. Raises ConfigError if it does not fit together, or not on the page."""
    if upload.saved:
        return _on_page(archive.read(upload.saved, read_files.BUDGET))
    return _on_page(to_trace.trace(upload.kind, upload.parts, upload.tokens, upload.key_tokens, config))


def _on_page(trace: Trace) -> Trace:
    """Return the trace, if the page has room for it."""
    sizes = {"layer": len(trace.layers), "head": trace.config.n_heads}
    sizes |= {"query": len(trace.query_tokens), "key": len(trace.key_tokens)}
    for what, n in sizes.items():
        if n > LIMITS[what]:
            raise ConfigError(TEXTS["too_many"].format(n=n, what=PLURALS[what], most=LIMITS[what]))
    return trace
