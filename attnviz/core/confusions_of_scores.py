"""Four short lessons on what is often mixed up before the softmax: roles, scale, products and sums."""

from __future__ import annotations

from attnviz.core.lesson import Lesson, Question, Slide

PAPER = "Vaswani et al. 2017, arXiv:1706.03762"

STORED = ((0, "values", (0, 0, 0), 10.0), (0, "values", (0, 1, 0), 20.0), (0, "values", (0, 2, 0), 40.0))
REPLACED = (*STORED[:2], (0, "values", (0, 2, 0), 400.0))

WHAT_Q_K_V = Lesson(
    "what_q_k_v",
    "What are queries, keys and values?",
    "A look-up in a table, made soft: keys decide how much, values decide what.",
    {
        "sentence": "green",
        "second_sentence": "red green blue",
        "embedding": "one_hot",
        "position": "none",
        "d_model": 3,
        "n_heads": 1,
        "d_k": 3,
        "d_v": 1,
        "initialiser": "identity",
        "output_projection": False,
        "scale": 1.0,
        "normaliser": "hardmax",
        "edits": STORED,
    },
    (
        Slide(
            "A table stores a **value** under each **key**: here [[values.1.1.1.1]], [[values.1.1.2.1]] and "
            "[[values.1.1.3.1]] under three words. A **query** asks for one of them. The score $q \\cdot k$ is 1 "
            "where query and key are the same word and 0 elsewhere; hardmax gives all the weight to the highest "
            "score. That is a dictionary: it hands over what is stored under the key that matches.",
            ("scores", "weights", "values", "heads"),
            question=Question("highest_key", at={"head": 1, "query": 1}),
        ),
        Slide(
            "Softmax in place of hardmax: $a_j = e^{s_j} / \\sum_l e^{s_l}$. The match still gets the most, but every "
            "value takes part, and the answer is a mixture of all three. **Attention is a look-up that mixes.**",
            ("scores", "weights", "heads"),
            {"normaliser": "softmax"},
            beside=True,
            question=Question(
                "weight",
                "One score is 1, the two others are 0. How much weight does the key that matches get under softmax?",
                {"head": 1, "query": 1, "key": 2},
                "e over e + 1 + 1.",
            ),
        ),
        Slide(
            "Scores ten times as large sharpen the softmax until it is, to the eye, the dictionary again. So the hard "
            "look-up is the limit of the soft one.",
            ("scaled", "weights", "heads"),
            {"normaliser": "softmax", "scale": 10.0},
            beside=True,
        ),
        Slide(
            "Now the value under the third key is ten times as large: [[values.1.1.3.1]]. The output moves and the "
            "weights do not, because no value enters a score. Keys say **how much**, values say **what**.",
            ("values", "weights", "heads"),
            {"normaliser": "softmax", "edits": REPLACED},
            question=Question(
                "weight",
                "The third value becomes ten times as large. How much weight does the second key get now?",
                {"head": 1, "query": 1, "key": 2},
                "The same as before: weights are made of queries and keys alone.",
            ),
        ),
        Slide(
            "In self-attention all three come from the same rows $X$, through three matrices: $Q = XW_Q$, $K = XW_K$, "
            "$V = XW_V$. Every word asks, answers and hands over. In Bahdanau's formula the query is the decoder's "
            "state $s_{i-1}$, and the annotations $h_j$ are keys and values at once.",
            ("embedded", "queries", "keys", "values"),
            {
                "sentence": "red green blue",
                "second_sentence": "",
                "embedding": "normal",
                "initialiser": "glorot",
                "normaliser": "softmax",
                "scale": None,
                "d_v": 2,
                "edits": (),
            },
            question=Question("shape", "Three words, d_k = 3: which shape do the queries have?", {"step": "queries"}),
        ),
    ),
    f"{PAPER}, section 3.2; Bahdanau et al. 2014, arXiv:1409.0473, section 3.1",
)

WHY_ROOT = Lesson(
    "why_root",
    "Why divide by √d_k, and not by d_k or d_model?",
    "A sum of d_k products spreads as √d_k, and softmax makes a wide spread all-or-nothing.",
    {
        "sentence": "one two three four five six",
        "position": "none",
        "d_model": 64,
        "n_heads": 2,
        "d_k": 4,
        "d_v": 4,
        "initialiser": "orthogonal",
        "score": "dot",
    },
    (
        Slide(
            "A dot product adds $d_k$ products. If the entries of $q$ and $k$ are independent with mean 0 and "
            "variance 1, each product has variance 1 and their sum has variance $d_k$: scores spread as "
            "$\\sqrt{d_k}$. Here the matrices are random, the entries have that variance, $d_k$ is 4, and nothing is "
            "divided yet.",
            ("scores", "weights"),
        ),
        Slide(
            "Sixteen times the width, about four times the spread. Softmax sees differences, so that most rows now "
            "give more than half to one key, though no key has become a better match.",
            ("scaled", "weights"),
            {"d_k": 64},
            beside=True,
            question=Question(
                "true_or_false",
                "The heads become 64 wide and nothing is divided. Does the largest weight of a row, on average, pass "
                "one half?",
                {"says": "mostly_one_key"},
                "Scores then spread about four times as wide as with four columns.",
            ),
        ),
        Slide(
            "Divided by $\\sqrt{d_k}$, scores of wide heads have a spread of about 1, and so have those of narrow "
            "ones: width alone no longer decides how sharp the weights are.",
            ("scaled", "weights"),
            {"d_k": 64, "score": "scaled_dot"},
            beside=True,
            question=Question(
                "true_or_false",
                "Still 64 wide, now divided by the root of 64. Is the largest weight of a row above one half on "
                "average?",
                {"says": "mostly_one_key"},
                "The root takes the width out of the spread.",
            ),
        ),
        Slide(
            "Divided by $d_k$ itself, the spread is $1/\\sqrt{d_k}$ and shrinks as heads grow: the rows are nearly "
            "flat, and every word takes nearly the mean of all values.",
            ("scaled", "weights"),
            {"d_k": 64, "scale": 1.0 / 64.0},
            beside=True,
        ),
        Slide(
            "And not $\\sqrt{d_{model}}$: the sum has one product for each column of **a head**. With an embedding "
            "twice as wide and heads as before, $\\sqrt{d_k}$ still gives a spread of about 1.\n\nIt matters for "
            "learning: $\\partial a_j / \\partial s_k = a_j(\\delta_{jk} - a_k)$ goes to 0 as one weight goes to 1.",
            ("scaled", "weights"),
            {"d_k": 64, "score": "scaled_dot", "d_model": 128},
        ),
    ),
    f"{PAPER}, section 3.2.1, with its footnote on the variance",
)

WHY_BOTH = Lesson(
    "why_both",
    "Why two matrices, W_Q and W_K, if only their product counts?",
    "The product of two thin matrices is cheap, and need not be symmetric.",
    {
        "sentence": "rain falls on wet streets",
        "d_model": 6,
        "n_heads": 1,
        "d_k": 2,
        "d_v": 2,
        "output_projection": False,
    },
    (
        Slide(
            "It is true: $S = QK^\\top = X\\,W_Q W_K^\\top X^\\top = X M X^\\top$. Scores depend on the product $M$ "
            "alone, and $M$ is a matrix of six by six numbers here. So why not learn $M$?",
            ("w_q", "w_k", "scores"),
            question=Question("size", at={"step": "w_q"}, why="W_K has as many; together fewer than the 36 of M."),
        ),
        Slide(
            "Because two thin matrices are less. $M = W_Q W_K^\\top$ has rank $d_k$ at most, here 2 of 6: a head "
            "compares words in two directions only, with fewer parameters, and a key has two numbers to be kept and "
            "compared in place of six.",
            ("queries", "keys", "scores"),
            question=Question(
                "true_or_false",
                "Can the product of W_Q and the transpose of W_K have the full rank 6?",
                {"says": "product_has_full_rank"},
                "Each row of the product is a mixture of two rows, so its rank is at most 2.",
            ),
        ),
        Slide(
            "Why not **one** thin matrix, $W_K = W_Q$? Then $M = W_Q W_Q^\\top$ is symmetric: word $i$ scores word "
            "$j$ exactly as $j$ scores $i$.",
            ("queries", "keys", "scores"),
            {"tied": True},
            beside=True,
            question=Question("true_or_false", at={"head": 1, "says": "symmetric"}),
        ),
        Slide(
            "And $s_{ii} = |q_i|^2$ can never be negative. Since $q_i \\cdot q_j \\le |q_i||q_j|$, the highest score "
            "of the whole matrix lies on the diagonal: some word always gives itself the most. (Softmax makes rows of "
            "the symmetric scores, each over its own sum, so that the weights are not symmetric.)",
            ("scores", "weights"),
            {"tied": True},
            question=Question("true_or_false", at={"head": 1, "says": "columns_sum_to_one"}),
        ),
        Slide(
            "A head that reads **the word before** needs both: what a word asks for differs from what it answers to. "
            "Set by hand, two matrices do it.",
            ("queries", "keys", "weights"),
            {"initialiser": "by_hand", "patterns": ("previous",)},
            question=Question("highest_key", at={"head": 1, "query": 4}),
        ),
        Slide(
            "The same head with $W_K = W_Q$: now each word answers to what it asks for, and from the third on each "
            "finds itself. (The first two both ask for the first, so they find each other.)",
            ("queries", "keys", "weights"),
            {"initialiser": "by_hand", "patterns": ("previous",), "tied": True},
            question=Question("highest_key", at={"head": 1, "query": 4}),
        ),
    ),
    f"{PAPER}, section 3.2.2",
)

WHAT_IS_ADDED = Lesson(
    "what_is_added",
    "What is “added” in additive attention?",
    "The query's and the key's contribution to each hidden unit, before a tanh; nothing is added to the scores.",
    {
        "sentence": "some words meet",
        "position": "none",
        "d_model": 4,
        "n_heads": 1,
        "d_k": 2,
        "d_v": 2,
        "d_a": 3,
        "score": "additive",
        "output_projection": False,
    },
    (
        Slide(
            "A pair is scored by a small network: $s_{ij} = v \\cdot \\tanh(q_i W_q + k_j W_k)$. The query is turned "
            "into $d_a$ hidden units, the key into as many, and these two are **added**, unit by unit. Then tanh, "
            "then a weight $v_a$ for each unit.",
            ("score_w_q", "score_w_k", "score_v", "scores"),
            question=Question("shape", at={"step": "score_w_q"}),
        ),
        Slide(
            "The dot product multiplies instead: $s_{ij} = \\sum_d q_{id} k_{jd}$, and has no parameters. Queries, "
            "keys and values are the same here and there; only the comparison is another.",
            ("queries", "keys", "scores", "weights"),
            {"score": "dot"},
            beside=True,
            question=Question(
                "rows_changed",
                "The score function changes from additive to the dot product. Which rows of the keys change?",
                {"step": "keys"},
                "None: the score function comes after them.",
            ),
        ),
        Slide(
            "Each tanh lies between −1 and 1, so that no additive score is larger in size than $\\sum_a |v_a|$, "
            "however long query and key are. It needs no $\\sqrt{d_k}$: the width of query and key does not enter the "
            "bound.",
            ("score_v", "scores"),
            question=Question(
                "true_or_false",
                "Does every score stay within the sum of the sizes of v?",
                {"says": "scores_within_v"},
                "Each hidden unit lies between −1 and 1 and counts with its entry of v.",
            ),
        ),
        Slide(
            "The tanh is what makes it work. Without it the score would be a part of the query plus a part of the "
            "key, $q_i W_q \\cdot v + k_j W_k \\cdot v$; the first is the same for all keys, softmax drops it, and "
            "**every word would have the same weights**. Under the tanh the query decides where on the curve each key "
            "lies.",
            ("scores", "weights"),
        ),
        Slide(
            "Two other things are called additive and are not this: a mask of 0 and $-\\infty$ is added to the scores "
            "**after** any score function, and a residual adds a layer's input to its output.",
            ("scores", "masked", "weights"),
            {"mask": "causal"},
            beside=True,
            question=Question(
                "rows_changed",
                "A causal mask is put on. Which rows of the scores, as the score function gives them, change?",
                {"step": "scores"},
                "None: the mask is applied to what the score function returned.",
            ),
        ),
    ),
    "Bahdanau et al. 2014, arXiv:1409.0473, appendix A.1.2; Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1",
)
