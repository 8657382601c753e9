"""The words of the lines of arithmetic: a title and a plain sentence for each."""

from __future__ import annotations

from attnviz.settings.language import Words

LINES = Words(
    {
        "step": ("{step}", "What it is: {meaning}."),
        "query": ("The query", "Row {i} of the layer's input times W_Q{plus}{owner}: what token {i} asks for."),
        "key": ("The key", "Row {j} of what is attended to times W_K{plus}{owner}: what token {j} answers to."),
        "value": ("The value", "The same row times W_V{plus}{owner}: what token {j} passes on."),
        "given_query": ("The query", "Row {i} of the queries, as it was given: the arithmetic begins here."),
        "given_key": ("The key", "Row {j} of the keys, as it was given."),
        "given_value": ("The value", "Row {j} of the values, as it was given."),
        "given_score": ("The score", "As it was given: the arithmetic begins here."),
        "given_weight": ("The weight", "As it was given: there is nothing before it."),
        "normed_query": ("The query, normalised", "Divided by the root of its mean square, times the gain g_Q."),
        "normed_key": ("The key, normalised", "Divided by the root of its mean square, times the gain g_K."),
        "normed_query_of_heads": (
            "The query, normalised",
            "Divided by the root of the mean square of this token's queries in all heads, times the gain g_Q.",
        ),
        "normed_key_of_heads": (
            "The key, normalised",
            "Divided by the root of the mean square of this token's keys in all heads, times the gain g_K.",
        ),
        "turned_query": (
            "The query, rotated",
            "RoPE rotates each pair of entries by position {at} times the pair's angle.",
        ),
        "turned_key": (
            "The key, rotated",
            "RoPE rotates each pair of entries by position {at} times the pair's angle.",
        ),
        "stretched_query": (
            "The query, rotated",
            "RoPE rotates each pair of entries by position {at} times the pair's angle, and YaRN multiplies by {by}.",
        ),
        "stretched_key": (
            "The key, rotated",
            "RoPE rotates each pair of entries by position {at} times the pair's angle, and YaRN multiplies by {by}.",
        ),
        "scale": ("The scale", "The score times {c}."),
        "scale_of_width": (
            "The scale",
            "The score over the root of the width {d}, so that width alone does not sharpen.",
        ),
        "softcap": ("The soft cap", "Squeezed between minus and plus {cap}."),
        "softcap_off": ("The soft cap", "Off: nothing is squeezed."),
        "bias": ("The bias", "Added for the distance between query and key."),
        "sink": ("The sink", "What makes the scores of the head count from its sink: minus the score of that."),
        "bias_of_sink": ("Less the sink", "The score of the head's sink is taken away, so that the sink stands at 0."),
        "bias_edited": ("The bias", "Added to the score. Edited: the settings give {expected}, it was set to {bias}."),
        "mask": ("The mask", "Query {i} may attend to key {j}, so the score stays."),
        "opened": ("The mask", "The settings forbid key {j} to query {i}; the mask was edited, so the score stays."),
        "forbidden": ("The mask", "Query {i} may not attend to key {j}: {why}."),
        "temperature": ("The temperature", "The score over the temperature {T}."),
        "temperature_unused": ("The temperature", "This normaliser gives the same weights at every temperature."),
        "weight_of_formula": ("The weight", "The normaliser of the whole {line}."),
        "typed_vector": ("Entry by entry", "One number for each entry of the vectors."),
        "typed_through": ("Through a matrix", "A vector times a matrix: one number for each column of it."),
        "typed_sum": ("Added up", "The sum of all entries."),
        "typed_max": ("The largest entry", "The largest of all entries."),
        "typed_min": ("The smallest entry", "The smallest of all entries."),
        "typed_norm": ("The length", "The root of the sum of all squares."),
        "typed_cumsum": ("The sum so far", "The entries from the first to each, added up."),
        "typed_top": (
            "Among the largest",
            "1 for each of the largest, 0 for the rest; of equal ones the earlier counts as larger.",
        ),
        "typed_level": ("The level", "The threshold: the powers of what lies above it add to 1."),
        "typed_number": ("A number of the formula", "A part of the formula that is one number."),
        "typed_bias": ("The bias", "What was typed, from the positions and the numbers that are learned."),
        "typed_score": (
            "The score",
            "The whole formula, with the numbers of the lines before; i and j count from 0.",
        ),
        "typed_row": ("Along the {line}", "One number for each key of the {line} that takes part."),
        "typed_forbidden": ("The weight", "The key is forbidden, so it takes no part: the weight is 0."),
        "typed_weight": ("The weight", "The whole formula, with the numbers of the lines before."),
        "emptied": ("The weight", "The {line} has nothing that may be attended to: every weight is 0."),
        "share": (
            "The share of this key",
            "The weight times each entry of the value: what this key puts into the output.",
        ),
        "share_of_forbidden": ("The share of this key", "What is forbidden takes no part, whatever its value holds."),
        "output": ("The output of the head", "The shares of all keys added up, entry by entry."),
    }
)
"""For every line a title and a plain sentence; in both, names in braces stand for numbers."""

EDITED = "Edited: the line gives {computed}; it was set to {result}, and all that follows uses that."
EDITED_VECTOR = (
    "Edited: the line gives different numbers; some were changed by hand, and all that follows uses the edited ones."
)
EDITED_TO = "edited to"
SETTLED = "Numbers that are zero up to rounding are written as 0."
