"""The words on a wrong number or choice: the mistake that leads to it, or else the way to the answer."""

from __future__ import annotations

from attnviz.settings.language import Words

HINTS = Words(
    {
        "scale": "That is what comes out without the scale: the scores have to be divided first.",
        "columns": "That is a softmax over the column: it has to run along the row, over the keys.",
        "mask": "That is what comes out without the mask: forbidden keys take no part in the sum.",
        "left_out": "That takes the scores that were written in out of the sum, as −∞ would: any other number counts.",
        "divided_again": "That would be so if the row were divided by its sum again: nothing does that here.",
        "no_softmax": "That is the score: softmax makes a weight of it.",
        "no_sum": "That is the exponential of the score: it still has to be divided by the sum of the row's.",
        "transposed": "That is the number across the diagonal: rows are queries, columns are keys.",
        "scaled_already": "That is divided already: what is asked for is the score itself.",
        "by_width": "That is divided by d_k: it has to be divided by the root of d_k.",
        "sign": "The size is right and the sign is not.",
        "unweighted": "That counts every value alike: each has to be multiplied by its weight.",
        "columns_of_weights": "That takes the weights from the column of the query: they stand in its row.",
        "crossed": "That is the sum along the other axis.",
        "mean": "That is the mean: the sum is asked for.",
        "one_head": "That is one head: count the numbers of all of them.",
        "unshared": "That counts one for every head: here the heads of a group share theirs.",
        "sides": "That adds the lengths of the axes: they have to be multiplied.",
        "variance": "That is the variance: the standard deviation is its root.",
        "twice": "That is divided once too often.",
        "by_root": "That is divided by the root of the divisor only.",
        "side_by_side": "That is the number where heads are put side by side: here they are taken as they lie in "
        "memory.",
        "no_exponential": "That is the difference of the logits: a ratio of shares is e to the power of it.",
        "no_temperature": "That is the ratio at temperature 1: the difference has to be divided by the temperature "
        "first.",
        "times_temperature": "That multiplies the difference by the temperature: it has to be divided by it.",
        "halved_ratio": "That divides the ratio by the temperature: the difference has to be divided, before the "
        "exponential.",
        "one_side": "That grows with one side only: more words are more rows and more columns.",
        "from_one": "That is the position counted from 1: here the first word stands at position 0.",
        "other_wave": "That takes the sine for the cosine, or the cosine for the sine: they take turns along a row.",
        "no_root": "That divides by the mean of the squares: its root is missing.",
        "by_length": "That divides by the root of the sum: the mean of the squares is asked for.",
        "unnormed": "That is the number before the norm.",
        "no_residual": "That is what attention writes: what the word was before has to be added.",
        "only_before": "That is the word before attention: what attention writes has to be added.",
        "as_they_lie": "That takes the heads as they lie in memory: they have to be put side by side.",
    }
)
"""The feedback on a known mistake, by its name."""

HOW = Words(
    {
        "queries": "Multiply the row of the input by the column of the matrix, entry by entry, and add the products.",
        "scores": "Multiply the query and the key entry by entry, and add the products.",
        "scaled": "Multiply the score by the scale.",
        "weights": "Compute eˢ for every score s of the row, and divide the one asked for by their sum.",
        "heads": "Multiply each value by its weight, and add them up.",
        "allowed": "Ask which keys the mask leaves to the query of that row.",
        "concat": "Lay the rows of the heads side by side: those of head 1, then those of head 2, and so on.",
        "reshaped": "Count through the numbers of the heads in memory order: all of head 1, then all of head 2.",
        "highest_key": "Look along the row of the query: the largest score that is allowed gets the largest weight.",
        "read": "Find the row of the query, and go along it to the largest weight.",
        "shape": "One number for each axis: the heads, if they are still apart, then rows, then columns.",
        "sum": "Add up all numbers of that row or column, with their signs.",
        "size": "Multiply the lengths of all axes.",
        "spread": "A sum of n independent products spreads as the root of n; a divisor divides the spread.",
        "largest_weight": "The wider the scores of a row are spread, the nearer its largest weight is to 1.",
        "next_word": "Look where the heads attend at the last word: which word would they bring here?",
        "times_as_likely": "Shares are exponentials of the logits, over one sum: divide one by the other.",
        "head_owed": "A weight says where a head looks. Ask what is lost without it, not how dark its cells are.",
        "added": "Add what attention writes to what the word was before, number by number.",
        "normed": "Square the numbers of the row, take the root of their mean, and divide by it.",
        "positions": "Divide the position by the wavelength of its pair of columns, and take the sine or the cosine.",
        "symmetric": "Compare the score of row i and column j with that of row j and column i: each is a query times "
        "a key.",
        "rows_sum_to_one": "Add up the weights of a row, from left to right.",
        "columns_sum_to_one": "Think of the sum that each weight was divided by: is it the same down a column?",
        "same": "Go through what this step is computed from: does the change reach any of it?",
        "looks_ahead": "Look above the diagonal, where keys come later than the query.",
        "mostly_one_key": "Look along the rows of the scores: by how much does the largest exceed the others?",
        "padding_is_not_read": "Look at the columns of the padding before softmax, in the rows of the words.",
        "heads_add_up": "Write a row of C out as the numbers of head 1, then those of head 2, and multiply it by W_O.",
        "groups_agree": "A row of scores is made of a query and the keys: compare both between the heads of a group.",
        "product_has_full_rank": "Compare the shapes: the rank of a product is at most that of either factor.",
        "scores_within_v": "Look at what goes through the tanh, and at the values that a tanh can take.",
        "values_within_limit": "Look for the largest entry of W_V, without its sign, and compare it with the limit.",
        "scores_of_queries": "Work out one score from the query and the key that are shown, and compare.",
        "scores_follow_distance": "Rotate query and key further by the same angle: what becomes of their product?",
    }
)
"""The hint for a wrong answer that no known mistake leads to."""
