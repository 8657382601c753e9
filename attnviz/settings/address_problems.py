"""Sentences on an address that could not be used as it stands: one for each kind of correction."""

from __future__ import annotations

from attnviz.settings.language import Words

PROBLEMS = Words(
    {
        "cut": (
            "The checksum at the end of this link is missing. If it was shared with you, it was cut short: settings "
            "may be missing too, and this may not be the picture that was shared. Ask for the whole link."
        ),
        "changed": (
            "This link was changed after it was made: the checksum at its end does not match. If you did not change "
            "it yourself, this may not be the picture that was shared."
        ),
        "without": "Too long for a link: {label}. Open the saved file to have it.",
        "twice": "{label} was given {n:,} times; the last is used.",
        "no_text": "{label} was given as {kind}, not as text; ignored.",
        "unknown": "There is no setting called {names}; ignored.",
        "unknown_many": "There is no setting called {names} and {n:,} more; ignored.",
        "version": "The link's version {version} is not known here; it is read as version {newest}.",
        "unfitting": "{label} was {given}, which does not go with the rest; {used} is used.",
        "outside": "{label} was {given}; choose {allowed}; {used} is used.",
        "left": "{label} was {given}; choose {allowed}; left as it is in A.",
        "unusable": "{label} could not be used ({why}); {used} is used.",
        "together": "The settings do not go together ({why}); the defaults are used.",
        "no_json": "The file could not be read as JSON; the defaults are used.",
        "no_settings": "The file holds no settings by name; the defaults are used.",
    }
)
