"""The setting as a file: to save it, and to open one; for what is too long to travel in a link."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.settings import url_codec
from attnviz.settings.language import Words
from attnviz.ui.session import session_state
from attnviz.ui.session.callback import callback

_UPLOAD = "_upload"
WORDS = Words(
    {
        "save": "Save this setting",
        "open": "Open a saved setting",
        "unreadable": "The file is not text in UTF-8, so nothing was opened.",
    }
)


def offer(*records: object) -> None:
    """Offer the records as a file to save, and a field to open one."""
    saved = url_codec.to_file(*records)
    st.download_button(
        WORDS["save"], saved, "attnviz-setting.json", "application/json", on_click="ignore", width="stretch"
    )
    st.file_uploader(
        WORDS["open"],
        type="json",
        key=_UPLOAD,
        on_change=_open,
        args=tuple(map(type, records)),
        max_upload_size=1,
    )


@callback
def _open(*classes: type[Any]) -> None:
    """Adopt what the uploaded file holds, as a callback: before the next run draws a widget."""
    uploaded = st.session_state.get(_UPLOAD)
    if uploaded is None:
        return
    try:
        records, problems = url_codec.from_file(uploaded.getvalue().decode("utf-8"), *classes)
    except UnicodeDecodeError:
        session_state.say([WORDS["unreadable"]])
        return
    session_state.adopt(*records, problems=problems)
