"""The page of what people bring: weights, scores, or queries, keys and values, as a file or pasted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import streamlit as st

from attnviz.core.config import Config
from attnviz.core.fields import ConfigError, settings
from attnviz.core.language import Words
from attnviz.core.scores import SCORES
from attnviz.core.trace import Trace
from attnviz.ui import cell, controls, explore, locale, panels, take
from attnviz.ui.say import line, say
from attnviz.ui.selection import PANEL_NAMES, Selection, within
from attnviz.views import archive, brought, pasted, reading_files
from attnviz.views.brought import PARTS
from attnviz.views.formats import Place
from attnviz.views.overview import overview
from attnviz.views.pasted import Brought

KINDS = Words({"weights": "Weights", "scores": "Scores", "vectors": "Q, K, V"})
PLURALS = Words({"layer": "layers", "head": "heads", "query": "queries", "key": "keys"})
TEXTS = Words(
    {
        "kind": "What it is",
        "file": "A file: .npz, .npy, .json or .csv, up to 5 MB",
        "paste": "Or paste rows of numbers, or JSON",
        "paste_part": "Or paste {part}",
        "tokens": "Tokens, between spaces or as a JSON list",
        "key_tokens": "Key tokens, if they are others",
        "example": "Show an example",
        "take": "Take it away",
        "panel": "Below the pictures",
        "private": "What you bring stays in this session: it is not in the link.",
        "setting": "Masks, scale, soft cap, normaliser and temperature are those of the Explore page.",
        "score": "The score function of the Explore page has matrices of its own, so the scaled dot product is used "
        "here.",
        "fault": "{fault}. {kept}",
        "kept": "What was there before is still shown.",
        "too_many": "there are {n} {what}; up to {most} can be shown on the page, so bring a part, or use attnviz.show",
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

PANELS = {
    "cell": cell.panel,
    "word": panels.read_word,
    "flow": panels.every_step,
    "statistics": panels.statistics,
    "table": panels.table,
}
LIMITS = {
    item.name: int(item.metadata["kind"].high)
    for item in settings(Selection)
    if item.name in ("layer", "head", "query", "key")
}
"""How many layers, heads and tokens a place on the page can name."""

LONGEST = 900_000
"""Characters: a message with more than a million bytes would break the connection."""
_SAID_AGAIN = 10_000  # characters of what was pasted that a browser is told in every run, although it holds them

_HELD, _PROBLEM = "own_held", "own_problem"
_KIND, _FILE, _TOKENS, _KEY_TOKENS = "own_kind", "own_file", "own_tokens", "own_key_tokens"
_PASTE = "own_paste_{part}"


@dataclass(frozen=True)
class Held:
    """What is shown: its kind, its arrays by part, tokens as they were typed; or a saved run."""

    kind: str
    parts: Mapping[str, Brought] = field(default_factory=dict)
    tokens: str = ""
    key_tokens: str = ""
    run: Trace | None = None
    is_example: bool = False
    texts: Mapping[str, str] = field(default_factory=dict)


def page(trace: Trace, selection: Selection) -> Selection:
    """Draw the page; the selection as the visitor leaves it. `trace` is the present run, whose setting applies."""
    config = trace.config
    if _HELD not in st.session_state:
        _keep(_example_of("weights"))
    _bring(config)
    if st.session_state.get(_PROBLEM):
        say(st.session_state[_PROBLEM], kind="fault")
    own = _trace(st.session_state[_HELD], config)
    line([*overview(own), *_about_setting(st.session_state[_HELD], config)])
    say(*own.notes)
    selection = explore.pictures(own, within(selection, own), key="own")
    selection = controls.pick(
        selection, "panel", TEXTS["panel"], [*PANELS], words=_panel_named, buttons=True, label_visibility="collapsed"
    )
    selection = PANELS.get(selection.panel, cell.panel)(own, within(selection, own))
    place = Place(selection.layer, head=selection.head, query=selection.query, key=selection.key)
    with st.expander(TEXTS["take"], key="own-files"):
        for title, column in zip(("Pictures", "Data"), st.columns(2, gap="medium")):
            with column:
                for name in take.GROUPS[title]:
                    take.offer(name, own, place)
    return selection


def pasted_into() -> list[str]:
    """The keys of the fields that rows of numbers are pasted into."""
    return [_PASTE.format(part=part) for parts in PARTS.values() for part in parts]


def _bring(config: Config) -> None:
    """The widgets that take something in."""
    held: Held = st.session_state[_HELD]
    kind, example = st.columns([4, 1], vertical_alignment="bottom")
    with kind:
        chosen = (
            st.segmented_control(
                TEXTS["kind"],
                KINDS,
                format_func=KINDS.__getitem__,
                key=_KIND,
                default=controls.start(_KIND, held.kind),
                required=True,
                on_change=_other_kind,
                args=(config,),
            )
            or held.kind
        )
    example.button(TEXTS["example"], key="own_example", on_click=_example, args=(config, chosen), width="stretch")
    file, *areas = st.columns([1] * (1 + len(PARTS[chosen])))
    with file:
        st.file_uploader(TEXTS["file"], key=_FILE, on_change=_uploaded, args=(config,), max_upload_size=5)
    for area, part in zip(areas, PARTS[chosen]):
        label = TEXTS["paste"] if len(areas) == 1 else TEXTS["paste_part"].format(part=part.upper())
        key = _PASTE.format(part=part)
        text = controls.start(key, held.texts.get(part, ""))
        start = "" if key in st.session_state and len(text) > _SAID_AGAIN else text
        area.text_area(label, start, key=key, height=104, max_chars=LONGEST, on_change=_pasted, args=(config,))
    queries, keys = st.columns(2)
    typed = {_TOKENS: (queries, held.tokens), _KEY_TOKENS: (keys, held.key_tokens)}
    for key, (place, words) in typed.items():
        label = TEXTS[key.removeprefix("own_")]
        place.text_input(label, controls.start(key, words), key=key, on_change=_named, args=(config,))
    line([TEXTS["private"]])


def _about_setting(held: Held, config: Config) -> Sequence[str]:
    """What of the present setting applies to the numbers."""
    if held.run is not None or held.kind == "weights":
        return ()
    other = (TEXTS["score"],) if held.kind == "vectors" and SCORES[config.score].parameters else ()
    return (TEXTS["setting"], *other)


def _panel_named(name: str) -> str:
    return PANEL_NAMES[name].label


@locale.aloud
def _uploaded(config: Config) -> None:
    """Take in the file; as a callback, so that what it says is drawn at once."""
    file = st.session_state.get(_FILE)
    if file is None:
        return
    held, data = Held(st.session_state[_KIND]), file.getvalue()
    try:
        if archive.is_archive(data):
            held = replace(held, run=archive.read(data, reading_files.BUDGET))
        else:
            held = replace(held, parts={"": reading_files.read(file.name, data)})
    except ConfigError as error:
        _refuse(error)
    else:
        named = st.session_state[_HELD].is_example or any(each.query_tokens for each in held.parts.values())
        if _take(held, config, typed=not named):
            st.session_state.update(dict.fromkeys(pasted_into(), ""))


@locale.aloud
def _pasted(config: Config) -> None:
    """Take in what was pasted, once there is a text for every part."""
    kind = st.session_state[_KIND]
    texts = {part: st.session_state.get(_PASTE.format(part=part), "") for part in PARTS[kind]}
    if not all(text.strip() for text in texts.values()):
        return
    try:
        parts = {part if len(texts) > 1 else "": pasted.of_text(text) for part, text in texts.items()}
    except ConfigError as error:
        _refuse(error)
    else:
        _take(Held(kind, parts, texts=texts), config)


@locale.aloud
def _named(config: Config) -> None:
    """Take in tokens for what is there."""
    _take(st.session_state[_HELD], config, untyped=False)


@locale.aloud
def _other_kind(config: Config) -> None:
    """See what is there as another kind; an example gives way to the example of that kind."""
    held: Held = st.session_state[_HELD]
    kind = st.session_state[_KIND]
    if held.is_example or "" not in held.parts:
        _example(config, kind)
    else:
        _take(replace(held, kind=kind), config)


def _example(config: Config, kind: str) -> None:
    """Put the example of a kind into the fields, and show it."""
    held = _example_of(kind)
    for part, text in held.texts.items():
        st.session_state[_PASTE.format(part=part)] = text
    st.session_state[_TOKENS], st.session_state[_KEY_TOKENS] = held.tokens, ""
    _keep(held)


def _example_of(kind: str) -> Held:
    tokens, texts = EXAMPLES[kind]
    parts = {part: pasted.of_text(text) for part, text in texts.items()}
    return Held(kind, parts, tokens, is_example=True, texts=texts)


def _take(held: Held, config: Config, *, typed: bool = True, untyped: bool = True) -> bool:
    """Show what was brought, with the typed tokens or else without, and say whether it can be shown."""
    named = replace(held, tokens=st.session_state.get(_TOKENS, ""), key_tokens=st.session_state.get(_KEY_TOKENS, ""))
    bare = replace(held, tokens="", key_tokens="")
    for each in [named] * typed + [bare] * untyped:
        try:
            _trace(each, config)
        except ConfigError as error:
            _refuse(error)
            continue
        st.session_state[_TOKENS], st.session_state[_KEY_TOKENS] = each.tokens, each.key_tokens
        _keep(each)
        return True
    return False


def _keep(held: Held) -> None:
    st.session_state[_HELD], st.session_state[_PROBLEM] = held, None


def _refuse(error: ConfigError) -> None:
    fault = f"{str(error)[0].upper()}{str(error)[1:]}"
    st.session_state[_PROBLEM] = TEXTS["fault"].format(fault=fault, kept=TEXTS["kept"])


def _trace(held: Held, config: Config) -> Trace:
    """What is held as a trace. Raises ConfigError if it does not fit together, or not on the page."""
    return _on_page(
        held.run if held.run is not None else brought.trace(held.kind, held.parts, held.tokens, held.key_tokens, config)
    )


def _on_page(trace: Trace) -> Trace:
    """The trace, if the page has room for it."""
    sizes = {"layer": len(trace.layers), "head": trace.config.n_heads}
    sizes |= {"query": len(trace.query_tokens), "key": len(trace.key_tokens)}
    for what, n in sizes.items():
        if n > LIMITS[what]:
            raise ConfigError(TEXTS["too_many"].format(n=n, what=PLURALS[what], most=LIMITS[what]))
    return trace
