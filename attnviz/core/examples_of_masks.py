"""A published example of a causal mask, and then of eight heads."""

from __future__ import annotations

from typing import Any

from attnviz.core.edits import Edit
from attnviz.core.lesson import Lesson, Question, Slide


def _cut(step: str, start: int, width: int) -> tuple[Edit, ...]:
    """The edits that make the identity's first columns pick columns from `start` on instead."""
    off = tuple((0, step, (0, i, i), 0.0) for i in range(width))
    return off + tuple((0, step, (0, start + i, i), 1.0) for i in range(width))


_QKV = """\
-0.17726915 -0.60715105 0.27040047 1.32262995 1.31088812 0.03025595 0.02526448 -0.6110974 \
0.76514641 -1.69868336 -1.59656269 -0.76914076
-0.35466501 -1.00190095 0.49971724 0.52404003 0.03582415 0.53263921 -0.34596446 0.67464531 \
-0.81664305 -0.10608875 -1.38933315 -2.52314108
-0.96664612 -0.92880235 0.31031606 1.47667384 -0.21136 1.38581759 -2.44668208 -0.46287517 \
0.20812633 0.43433177 -1.68935144 -0.07477778
2.58801299 0.91252951 0.47811754 -1.90542747 -0.4030099 -0.90153947 -0.72863338 -1.69069868 \
1.00473554 0.71972715 -0.40171648 -0.90225516
0.39023975 1.89121848 -0.77398807 0.55986816 -0.05841235 0.88533137 0.23723818 1.64457024 \
-1.03943008 -2.32277988 1.68366562 0.53501308
-0.11781247 0.66704404 0.74030888 0.80908705 0.90458896 -0.71120042 -0.77826392 1.28070143 \
1.49572558 0.46566221 -0.26506452 1.31825037"""
"""Each row: four numbers of the query, four of the key, four of the value."""

_EIGHT_HEADS: dict[str, Any] = {
    "embedding": "normal",
    "own_numbers": "",
    "edits": (),
    "d_model": 512,
    "n_heads": 8,
    "d_k": 64,
    "d_v": 64,
    "initialiser": "linear",
    "projection_bias": True,
    "score": "scaled_dot",
    "output_projection": True,
}

CAUSAL = Lesson(
    name="causal",
    title="No looking ahead",
    about="What does a causal mask do to the weights, and when must the scale not be forgotten?",
    setting={
        "sentence": "The cat sat on the mat.",
        "tokeniser": "whitespace",
        "embedding": "own",
        "own_numbers": _QKV,
        "position": "none",
        "initialiser": "identity",
        "edits": (*_cut("w_k", 4, 4), *_cut("w_v", 8, 4)),
        "d_model": 12,
        "n_heads": 1,
        "d_k": 4,
        "d_v": 4,
        "score": "dot",
        "mask": "causal",
        "output_projection": False,
    },
    slides=(
        Slide(
            "Six words, and for each of them a query, a key and a value of four random numbers. Nothing was learned, "
            "and the words play no part in the numbers.",
            steps=("queries", "keys", "values"),
        ),
        Slide(
            "Each word may look at itself and at what stands before it. The example describes its mask as 0 for later "
            "words and 1 for earlier ones; what its code adds to the scores is minus infinity and 0. The code is "
            "right: 0 and 1 would hide nothing.",
            steps=("allowed", "weights"),
            question=Question(
                "weight",
                "Which weight does the first word, {query}, give itself?",
                {"query": 1, "key": 1, "tolerance": 0},
                "It is the only key that it may look at, and shares add to 1, whatever the score is.",
            ),
        ),
        Slide(
            "What is forbidden is gone before softmax, so the rest of the row is shared out as if it were all there "
            "is.",
            steps=("masked", "weights"),
            question=Question(
                "highest_key",
                "The scores of {query} with the first three words are given. Which key gets the most?",
                {"query": 3},
                "The example points out that this word looks at that one. It says nothing about language: the "
                "numbers are random, and with others it would be another word.",
            ),
        ),
        Slide(
            "Now the mask is lifted, and every word sees all six.",
            steps=("weights",),
            change={"mask": "none"},
            beside=True,
            question=Question(
                "rows_changed",
                "Which rows of the weights change when the mask is lifted?",
                {"step": "weights"},
                "The last word saw everything before, so nothing changes for it. Every other row has to share with "
                "new keys.",
            ),
        ),
        Slide(
            "The formula above the example's numbers divides by $\\sqrt{d_k} = 2$. The numbers do not: they follow "
            "from the scores as they are. With the scale the weights are flatter.",
            steps=("weights",),
            change={"score": "scaled_dot"},
            beside=True,
            question=Question(
                "weight",
                "Without the scale, {query} gives {key} the weight 0.8818. What is it with the scores halved?",
                {"query": 3, "key": 2, "tolerance": 0.05},
                "Halving all scores takes the root of all the exponentials: the ratio between two weights becomes "
                "its root.",
            ),
        ),
        Slide(
            "Then the example turns to eight heads and words of 512 numbers. Each head is 64 wide, and eight times 64 "
            "is 512 again. Every head has weights of its own, under the same mask, and here the scale is there.",
            steps=("weights",),
            change=_EIGHT_HEADS,
            question=Question(
                "size",
                "How many numbers do the eight matrices W_Q have together?",
                {"step": "w_q"},
                "512 × 512: eight matrices of 512 × 64, or one that is cut into eight. Keys and values have as many, "
                "so one matrix for all three is 512 × 1536.",
            ),
        ),
        Slide(
            "Each head hands over 64 numbers a word. The eight are joined, and $W_O$ mixes them.",
            steps=("weights",),
            change=_EIGHT_HEADS,
            question=Question(
                "shape",
                "Which shape comes out at the end?",
                {"step": "output"},
                "The shape of what went in: six words of 512 numbers. So the next layer can begin where this one ends.",
            ),
        ),
    ),
    source="A notebook with a causal mask, then eight heads; its numbers are recomputed in tests/core/test_seeds.py.",
)
