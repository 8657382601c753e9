"""The image of a model that reads one, beside the controls: the one that is read, others to take, and one's own."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attnviz.engine.pretrained.model_registry import HostedModel
from attnviz.engine.records.config import Config
from attnviz.models.images.drawn import COLOURS, EXAMPLES, SHAPES
from attnviz.models.images.uploaded import UPLOADED, is_named
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words
from attnviz.ui.session import session_state
from attnviz.ui.session.callback import callback
from attnviz.ui.session.failures import refused
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import PANEL_NAMES, Selection
from attnviz.uploads import read_image

WORDS = Words(
    {
        "images": "It reads an image, which the sentence names: shapes ({shapes}) in colours ({colours}). The tokens "
        "are its patches, by row and column; “{panel}”, below the maps, lays the weights of one over it.",
        "upload": "Or a picture of your own",
        "uploaded": "This picture was uploaded: a link names it and does not hold it. It is kept in the memory of the "
        "server, among the last {most}, and nowhere else.",
    }
)
SIDE = 168
"""Pixels of the image."""
_FILE, _FAULT = "uploaded_image", "uploaded_image_fault"


def show(model: HostedModel, draft: Config, *, may_change: bool) -> None:
    """Draw the image that the sentence names, and offer others."""
    known = {"colours": ", ".join(COLOURS), "shapes": ", ".join(SHAPES), "panel": PANEL_NAMES["word"].label}
    paragraph([WORDS["images"].format(**known)])
    try:
        array = model.images(draft.sentence).array
    except ConfigError:  # which the page says
        array = None
    if array is not None:
        larger = max(SIDE // len(array), 1)  # whole pixels, as the model has them
        enlarged = array.repeat(larger, axis=0).repeat(larger, axis=1)
        st.image(enlarged, caption=draft.sentence, width=SIDE, output_format="PNG")
        if is_named(draft.sentence):
            paragraph([WORDS["uploaded"].format(most=UPLOADED.most)])
    if not may_change:
        return
    for n, example in enumerate(EXAMPLES):
        st.button(example, key=f"drawn-{n}", on_click=_take, args=(example,), disabled=example == draft.sentence)
    st.file_uploader(WORDS["upload"], type=["png", "jpg", "jpeg"], key=_FILE, max_upload_size=5, on_change=_upload)
    if _FAULT in st.session_state:
        notice(st.session_state.pop(_FAULT), kind="fault")


@callback
def _take(sentence: str) -> None:
    """Name another image, and leave all else as it is."""
    config, selection = session_state.saved(Config, Selection)
    session_state.adopt(replace(config, sentence=sentence), selection)


@callback
def _upload() -> None:
    """Take in a picture, and name it."""
    file = st.session_state.get(_FILE)
    if file is None:
        return
    try:
        name = UPLOADED.keep(read_image.read(file.getvalue()))
    except ConfigError as error:
        st.session_state[_FAULT] = refused(error)
        return
    config, selection = session_state.saved(Config, Selection)
    session_state.adopt(replace(config, sentence=name), selection)
