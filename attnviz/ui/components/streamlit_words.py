"""The words that Streamlit itself writes on the page, which it has in English alone: the browser says them anew."""

from __future__ import annotations

from attnviz.settings.language import WRITTEN, Words, current_language

_ENGLISH = (
    # where files are uploaded
    "Upload",
    "Drag and drop a file here",
    "{size} per file",
    "file upload",
    "Add files",
    "{type} files are not allowed.",
    "File must be {size} or smaller.",
    "Cancel upload of {name}",
    "Click to retry upload",
    # lists, fields and buttons
    "No results",
    "Choose an option",
    "Choose options",
    "You can only select up to {n} options. Remove an option first.",
    "Selected values",
    "Select all",
    "Clear all",
    "Clear value",
    "Clear entry",
    "Remove {name}",
    "Open",
    "Close",
    "Increment",
    "Decrement",
    "Help",
    "Help for {name}",
    "Shortcut {name}",
    "Copy to clipboard",
    "Copied",
    # tables
    "Show/hide columns",
    "Download as CSV",
    "Search",
    "Fullscreen",
    "Close fullscreen",
    "Dataframe column menu",
    "Sort ascending",
    "Sort descending",
    "Format",
    "Autosize",
    "Pin column",
    "Unpin column",
    "Hide column",
    "Copy column name",
    # around the page
    "Skip to main content",
    "Sidebar",
    "Collapse sidebar",
    "Expand sidebar",
    "Main menu",
    "Theme",
    "System",
    "Light",
    "Dark",
    "Print",
    "Record screen",
    "Link to heading",
    "Running...",
)
WORDS = Words({english: english for english in _ENGLISH})
"""The words by what Streamlit writes, in braces what it fills in."""


def words() -> dict[str, str]:
    """Return what each of them is in the language of the page; nothing in English."""
    if current_language() == WRITTEN:
        return {}
    return dict(WORDS)
