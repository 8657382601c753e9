"""Published attentions as lines and settings: what each paper says, and the settings by their names in an address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """One published attention.

    title, source  what it is called, and who published it where
    equation       the weights as the paper writes them, in LaTeX, in the letters of the page
    link           what says it here, by names in an address
    note           what has to be known to read one as the other
    """

    title: str
    source: str
    equation: str
    link: Mapping[str, str]
    note: str = ""


SOFTMAX = r"a_{ij} = \mathrm{softmax}_j(s_{ij})"
CAT = {"sentence": "the king saw the queen and the dog", "n_heads": "2"}
OVER_SUM = "ratio(x, sum(x))"


def _score(line: str, **more: str) -> dict[str, str]:
    return {**CAT, "score": "formula", "score_formula": line, **more}


def _mask(line: str, **more: str) -> dict[str, str]:
    return {**CAT, "mask": "formula", "mask_formula": line, **more}


def _bias(line: str, **more: str) -> dict[str, str]:
    return {**CAT, "bias": "formula", "bias_formula": line, **more}


def _normaliser(line: str, **more: str) -> dict[str, str]:
    return {**CAT, "normaliser": "formula", "normaliser_formula": line, **more}


def _of(**settings: str) -> dict[str, str]:
    return {**CAT, **settings}


SCORES = {
    "additive": Paper(
        "Additive attention", "Bahdanau, Cho and Bengio 2014, arXiv:1409.0473, appendix A.1.2",
        r"s_{ij} = v \cdot \tanh(q_i W_q + k_j W_k)", _of(score="additive"),
        "The query is the decoder's state, the key the encoder's.",
    ),
    "dot": Paper("Dot product", "Luong, Pham and Manning 2015, arXiv:1508.04025, section 3.1",
                 r"s_{ij} = q_i \cdot k_j", _of(score="dot")),
    "general": Paper("General", "Luong, Pham and Manning 2015, arXiv:1508.04025, section 3.1",
                     r"s_{ij} = q_i W k_j^\top", _of(score="general")),
    "location": Paper("Location", "Luong, Pham and Manning 2015, arXiv:1508.04025, equation 8",
                      r"a_i = \mathrm{softmax}(q_i W)", _of(score="location"), "W has a column for each position."),
    "scaled_dot": Paper("Scaled dot product", "Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1",
                        r"s_{ij} = q_i \cdot k_j / \sqrt{d_k}", _of(mask="causal")),
    "content": Paper(
        "Addressing by content", "Graves, Wayne and Danihelka 2014, arXiv:1410.5401, section 3.3.1",
        r"s_{ij} = \beta\, \frac{q_i \cdot k_j}{\|q_i\| \|k_j\|}", _score("beta * dot(unit(q), unit(k))"),
        "The key strength β is one number a head here; in the paper it comes from the controller.",
    ),
    "qk_norm": Paper(
        "QKNorm", "Henry et al. 2020, arXiv:2010.04245", r"s_{ij} = g\, \hat q_i \cdot \hat k_j",
        _score("g * dot(unit(q), unit(k))", mask="causal"),
        "Here g is learned for each head, from 1; the published code has one for all heads, from log₂(L² - L) where "
        "sentences have L tokens.",
    ),
    "swin": Paper("Scaled cosine", "Liu et al. 2021, Swin Transformer V2, arXiv:2111.09883",
                  r"s_{ij} = \cos(q_i, k_j) / \tau,\; \tau \ge 0.01", _of(score="scaled_cosine"),
                  "τ is learned for each head. Without the bias by distance, which can be typed beside it."),
    "l2": Paper(
        "L2 attention", "Kim, Papamakarios and Mnih 2020, arXiv:2006.04710",
        r"s_{ij} = -\|q_i - k_j\|^2 / \sqrt{d_k},\; W_K = W_Q", _score("-sum((q - k)**2) / sqrt(d_k)", tied="yes"),
        "The weights alone: the paper also multiplies the output by a matrix that is made of W_Q.",
    ),
    "softcap": Paper(
        "Soft cap", "Gemma Team 2024, Gemma 2, arXiv:2408.00118",
        r"s_{ij} = c \tanh(q_i \cdot k_j / (c \sqrt{d_k}))", _of(softcap="50", mask="causal"),
        "c is 50. The published code has 144, which is d_model over the heads, below the root for the model of 27B, "
        "whose d_k is 128.",
    ),
    "elu": Paper(
        "Linear attention", "Katharopoulos et al. 2020, arXiv:2006.16236",
        r"a_{ij} = \frac{\phi(q_i) \cdot \phi(k_j)}{\sum_l \phi(q_i) \cdot \phi(k_l)},\; \phi(x) = \mathrm{elu}(x) + 1",
        _score("sum((q + 1 if q > 0 else exp(q)) * (k + 1 if k > 0 else exp(k)))", mask="causal", normaliser="formula",
               normaliser_formula=OVER_SUM),
    ),
    "performer": Paper(
        "Positive random features", "Choromanski et al. 2020, Performer, arXiv:2009.14794",
        r"a_{ij} \propto \phi(q_i) \cdot \phi(k_j),\; \phi(x) = e^{x W - \|x\|^2 / 2},\; x = q / d_k^{1/4}",
        _score("x = q / d_k**0.25; y = k / d_k**0.25; "
               "sum(exp(x@W - dot(x, x)/2) * exp(y@W - dot(y, y)/2))", initialiser="normal", d_model="4",
               position="none", normaliser="formula", normaliser_formula=OVER_SUM),
        "W is drawn and never learned; its columns are independent here, and orthogonal in the paper's best variant.",
    ),
    "cosformer": Paper(
        "cosFormer", "Qin et al. 2022, arXiv:2202.08791",
        r"a_{ij} \propto \mathrm{relu}(q_i) \cdot \mathrm{relu}(k_j) \cos\left(\frac{\pi}{2} \frac{i - j}{n}\right)",
        _score("dot(relu(q), relu(k)) * cos(1.5707963267948966 * (i - j) / n)", normaliser="formula",
               normaliser_formula=OVER_SUM),
        "n is how many tokens there are; the paper has an M that is at least as large.",
    ),
    "synthesizer": Paper(
        "Dense Synthesizer", "Tay et al. 2020, arXiv:2005.00743",
        r"s_i = \mathrm{relu}(x_i U + b)\, W + c",
        _score("sum(relu(q@U + b) * W[:, j]) + c[j]", projection_bias="yes", initialiser="linear"),
        "x_i is the token, its own query in the paper; no key is looked at.",
    ),
    "localness": Paper(
        "Modelled localness", "Yang et al. 2018, arXiv:1810.10182",
        r"s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_k}} - \frac{(j - P_i)^2}{2 (D_i / 2)^2},\; "
        r"P_i = n\, \sigma(u \cdot t_i),\; D_i = n\, \sigma(v \cdot t_i),\; t_i = \tanh(q_i W)",
        _score("t = tanh(q@W); p = n * sigmoid(sum(u*t)); z = n * sigmoid(sum(v*t)); "
               "sum(q*k) / sqrt(d_k) - 2 * ((j - p) / z)**2"),
        "The window of the paper that is the query's own: both its middle and its width come from the query.",
    ),
}  # fmt: skip
"""Scores of a query and a key."""

BIASES = {
    "alibi": Paper(
        "ALiBi", "Press, Smith and Lewis 2021, arXiv:2108.12409",
        r"s_{ij} = q_i \cdot k_j / \sqrt{d_k} - 2^{-8h/H} (i - j)", _of(bias="alibi", mask="causal"),
        "For H heads, a power of two.",
    ),
    "t5": Paper(
        "T5's buckets", "Raffel et al. 2019, arXiv:1910.10683, section 2.1",
        r"s_{ij} = q_i \cdot k_j + b_{h,\, \mathrm{bucket}(j - i)}", _of(score="dot", bias="t5"),
        "In both directions, as in its encoder.",
    ),
    "kerple": Paper(
        "KERPLE, logarithmic", "Chi et al. 2022, arXiv:2205.09921",
        r"s_{ij} = q_i \cdot k_j / \sqrt{d_k} - r_1 \log(1 + r_2 |i - j|),\; r_1, r_2 > 0",
        _bias("-exp(alpha) * log(1 + exp(beta) * abs(i - j))", mask="causal"),
        "r₁ and r₂ are learned for each head; they are exp(α) and exp(β) here, so that they stay positive. As in the "
        "published code, what is added is not scaled.",
    ),
    "kerple_power": Paper(
        "KERPLE, power", "Chi et al. 2022, arXiv:2205.09921",
        r"s_{ij} = q_i \cdot k_j / \sqrt{d_k} - r_1 |i - j|^{r_2},\; r_1 > 0,\; 0 < r_2 \le 2",
        _bias("-exp(alpha) * abs(i - j)**(2 * sigmoid(beta))", mask="causal"),
        "r₁ and r₂ are learned for each head: exp(α) and 2σ(β) here, which keeps them in their range. ALiBi is this "
        "with r₂ = 1 and slopes that are set.",
    ),
    "fire": Paper(
        "FIRE", "Li et al. 2023, arXiv:2310.04418",
        r"s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_k}} + f\left(\frac{\psi(i - j)}{\psi(\max(L, i))}\right),\; "
        r"\psi(x) = \log(c x + 1),\; f(t) = v \cdot \mathrm{relu}(\mathrm{relu}(t u + b)\, W + w)",
        _score("t = log(1 + exp(g) * abs(i - j)) / log(1 + exp(g) * max(exp(tau), i)); "
               "sum(q*k) / sqrt(d_k) + sum(v * relu(relu(t*u + b)@W + w))", mask="causal", projection_bias="yes",
               initialiser="linear"),
        "c is exp(g) and L is exp(τ); f has the paper's two hidden layers. All of them are each head's own here. "
        "The bias of the result of f is the same for all keys and changes no weight.",
    ),
    "rope": Paper(
        "Rotary positions", "Su et al. 2021, arXiv:2104.09864",
        r"s_{ij} = (R_i q_i) \cdot (R_j k_j) / \sqrt{d_k}", _of(position="rope", mask="causal"),
        "R_i turns numbers 2m and 2m + 1, counted from 0, by an angle of i · 10000^(-2m/d_k).",
    ),
    "span": Paper(
        "Adaptive span", "Sukhbaatar et al. 2019, arXiv:1905.07799",
        r"a_{ij} = \frac{m(i - j)\, e^{s_{ij}}}{\sum_{l < i} m(i - l)\, e^{s_{il}}},\; j < i,\; "
        r"m(x) = \min\left(\max\left(\frac{R + z - x}{R}, 0\right), 1\right)",
        _score("sum(q*k) / sqrt(d_k) + log(min(max((2 + exp(tau) - (i - j)) / 2, 1e-99), 1))", mask="causal.no_self"),
        "The soft mask is added as its logarithm; the span z is exp(τ), learned for each head, R is 2, "
        "and 1e-99 stands for 0, whose logarithm has no slope. A query does not see its own token, so that the first "
        "has no key. The scores of the paper also have a learned vector for each distance.",
    ),
    "head_windows": Paper(
        "A window for each head", "Guo et al. 2019, Multi-Scale Transformer, arXiv:1912.00544",
        r"j \text{ is seen by } i \text{ in head } h:\; |i - j| \le w_h",
        _mask("abs(i - j) <= 2**(h - 1)", n_heads="3"), "w is 1, 2 and 4 here.",
    ),
    "scalable": Paper(
        "Scalable softmax", "Nakanishi 2025, arXiv:2501.19399",
        r"a_{ij} = \frac{n^{g z_{ij}}}{\sum_l n^{g z_{il}}},\; z_{ij} = q_i \cdot k_j / \sqrt{d_k}",
        _score("g * log(i + 1) * sum(q*k) / sqrt(d_k)", mask="causal"),
        "n is how many keys the query sees, which under a causal mask is i + 1; g is learned for each head.",
    ),
}  # fmt: skip
"""Positions in the score."""

MASKS = {
    "longformer": Paper(
        "Window and global tokens", "Beltagy, Peters and Cohan 2020, arXiv:2004.05150, section 3.1",
        r"j \text{ is seen by } i:\; |i - j| \le r \text{ or } i < g \text{ or } j < g", _of(mask="global_window"),
        "Which keys are seen: r is half of the paper's window, and the paper has other projections for global tokens.",
    ),
    "blocks": Paper("Blocks", "Qiu et al. 2019, arXiv:1911.02972", r"\lfloor i / b \rfloor = \lfloor j / b \rfloor",
                    _of(mask="block"), "With the identity as the permutation of blocks."),
    "strided": Paper(
        "Strided, factorised", "Child et al. 2019, Sparse Transformer, arXiv:1904.10509, section 4.3",
        r"j \le i \text{ and } (i - j \le l \text{ or } (i - j) \bmod l = 0)",
        _mask("j <= i and (i - j <= 3 or (i - j) % 3 == 0)"), "Both patterns in one head, as one of the paper's ways.",
    ),
    "fixed": Paper(
        "Fixed, factorised", "Child et al. 2019, Sparse Transformer, arXiv:1904.10509, section 4.3",
        r"j \le i \text{ and } (\lfloor i / l \rfloor = \lfloor j / l \rfloor \text{ or } j \bmod l \ge l - c)",
        _mask("j <= i and (i // 3 == j // 3 or j % 3 >= 2)"), "Both patterns in one head; c is 1.",
    ),
    "strided_heads": Paper(
        "Strided, a head for each pattern", "Child et al. 2019, Sparse Transformer, arXiv:1904.10509, section 4.3",
        r"j \le i \text{ and } \left(h = 1 \text{ and } i - j \le l \text{ or } h = 2 \text{ and } "
        r"(i - j) \bmod l = 0\right)",
        _mask("j <= i and (h == 1 and i - j <= 3 or h == 2 and (i - j) % 3 == 0)"),
        "Each head computes one of the two patterns, as another of the paper's ways.",
    ),
    "fixed_heads": Paper(
        "Fixed, a head for each pattern", "Child et al. 2019, Sparse Transformer, arXiv:1904.10509, section 4.3",
        r"j \le i \text{ and } \left(h = 1 \text{ and } \lfloor i / l \rfloor = \lfloor j / l \rfloor \text{ or } "
        r"h > 1 \text{ and } j \bmod l \ge l - c\right)",
        _mask("j <= i and (h == 1 and i // 3 == j // 3 or h > 1 and j % 3 == 2)"),
        "c is 1. The second head gives the first two queries no key, so that its output is 0 there.",
    ),
    "dilated_heads": Paper(
        "A dilation for each head", "Beltagy, Peters and Cohan 2020, Longformer, arXiv:2004.05150, section 3.1",
        r"j \text{ is seen by } i \text{ in head } h:\; |i - j| \le r d_h \text{ and } (i - j) \bmod d_h = 0",
        _mask("abs(i - j) <= 2 * h and (i - j) % h == 0", n_heads="3"),
        "d is 1, 2 and 3 here, and r, half of the paper's window, is 2. Without global tokens.",
    ),
    "long_net": Paper(
        "Dilated segments, shifted by head", "Ding et al. 2023, LongNet, arXiv:2307.02486",
        r"\lfloor i / w \rfloor = \lfloor j / w \rfloor \text{ and } i \bmod r = j \bmod r = h \bmod r",
        _mask("i // 4 == j // 4 and i % 2 == h % 2 and j % 2 == h % 2"),
        "One segment length w and one dilation r of the paper's mixture, 4 and 2. A head computes the tokens of its "
        "own shift; the others get no key in it and an output of 0.",
    ),
    "streaming": Paper(
        "Sinks and a window", "Xiao et al. 2023, StreamingLLM, arXiv:2309.17453",
        r"j \le i \text{ and } (j < g \text{ or } i - j < r)", _mask("j <= i and (j < 2 or i - j < 3)"),
        "Which keys are kept; positions inside the cache, which the paper counts anew, are another matter.",
    ),
    "criss_cross": Paper(
        "Criss-cross", "Huang et al. 2018, CCNet, arXiv:1811.11721",
        r"\lfloor i / w \rfloor = \lfloor j / w \rfloor \text{ or } i \bmod w = j \bmod w",
        _mask("i // 4 == j // 4 or i % 4 == j % 4", score="dot"),
        "Tokens are the pixels of a picture of width 4, row by row; the scores are dot products, not scaled.",
    ),
}  # fmt: skip
"""Who may attend to what."""

NORMALISERS = {
    "top_k": Paper(
        "Explicit sparse attention", "Zhao et al. 2019, Explicit Sparse Transformer, arXiv:1912.11637",
        r"a_{ij} = \mathrm{softmax} \text{ over the } k \text{ largest } s_{ij} \text{ of a row}",
        _normaliser("e = exp(x - max(x)) * top(x, 3); e / sum(e)", mask="causal"),
        "Of equal scores the paper keeps all, and top(x, 3) the earlier.",
    ),
    "sparsemax": Paper("Sparsemax", "Martins and Astudillo 2016, arXiv:1602.02068",
                       r"a_{ij} = \max(s_{ij} - \tau_i, 0),\; \sum_j a_{ij} = 1",
                       _of(normaliser="sparsemax", mask="causal")),
    "entmax": Paper("Entmax 1.5", "Peters, Niculae and Martins 2019, arXiv:1905.05702",
                    r"a_{ij} = \max(s_{ij} / 2 - \tau_i, 0)^2,\; \sum_j a_{ij} = 1",
                    _of(normaliser="entmax15", mask="causal")),
    "off_by_one": Paper("Softmax₁", "Miller 2023, Attention Is Off By One",
                        r"a_{ij} = \frac{e^{s_{ij}}}{1 + \sum_l e^{s_{il}}}",
                        _of(normaliser="quiet_softmax", mask="causal")),
    "sinks": Paper(
        "Learned sinks", "OpenAI 2025, gpt-oss model card, arXiv:2508.10925",
        r"a_{ij} = \frac{e^{s_{ij}}}{e^{b_h} + \sum_l e^{s_{il}}}",
        _normaliser("m = max(max(x), g); e = exp(x - m); e / (exp(g - m) + sum(e))", mask="causal"),
        "b is g here, learned for each head. Both sides of the fraction are divided by the exponential of the largest, "
        "so that nothing overflows. Softmax₁ is this with b = 0.",
    ),
    "sigmoid": Paper(
        "Sigmoid attention", "Ramapuram et al. 2024, arXiv:2409.04431", r"a_{ij} = \sigma(s_{ij} - \log n)",
        _normaliser("sigmoid(x - log(n))"), "With the bias that the paper proposes for n keys.",
    ),
    "relu": Paper("ReLU attention", "Wortsman et al. 2023, arXiv:2309.08586",
                  r"a_{ij} = \mathrm{relu}(s_{ij}) / n", _of(normaliser="relu_over_n")),
    "squared_relu": Paper(
        "Squared ReLU", "Hua et al. 2022, FLASH, arXiv:2202.10447",
        r"a_{ij} = \mathrm{relu}(q_i \cdot k_j / n + b_{j - i})^2",
        _score("sum(q*k) / n", n_heads="1", bias="t5", normaliser="formula", normaliser_formula="relu(x)**2"),
        "The weights of its quadratic part, which has one head, with n as in the code of the paper. b is a number for "
        "each distance: T5's buckets are that up to 7. The paper makes queries and keys from one projection.",
    ),
    "softpick": Paper(
        "Softpick", "Zuhri, Fuadi and Aji 2025, arXiv:2504.20966",
        r"a_{ij} = \frac{\mathrm{relu}(e^{s_{ij}} - 1)}{\sum_l |e^{s_{il}} - 1|}",
        _normaliser("e = exp(x) - 1; ratio(relu(e), sum(abs(e)))", mask="causal"),
        "Without the ε below the line; a row of zeros stays one.",
    ),
    "taylor": Paper(
        "Softmax to the second order", "Arora et al. 2024, Based, arXiv:2402.18668",
        r"a_{ij} = \frac{1 + s_{ij} + s_{ij}^2 / 2}{\sum_l (1 + s_{il} + s_{il}^2 / 2)}",
        _normaliser("t = 1 + x + x**2 / 2; t / sum(t)", mask="causal"),
        "The paper has it beside windows with a softmax.",
    ),
    "stick_breaking": Paper(
        "Stick-breaking", "Tan et al. 2024, arXiv:2410.17980",
        r"a_{ij} = \beta_{ij} \prod_{j < l < i} (1 - \beta_{il}),\; \beta_{ij} = \sigma(s_{ij}),\; j < i",
        _normaliser("p = sigmoid(x); r = log(1 - p); p * exp(sum(r) - cumsum(r))", mask="causal.no_self"),
        "The nearest key breaks off its part first; the first query has no key. What is left goes to no key, where the "
        "published code can give it to the token itself.",
    ),
}  # fmt: skip
"""From scores to weights."""

HEADS = {
    "multi_query": Paper(
        "Multi-query", "Shazeer 2019, arXiv:1911.02150", r"s_{hij} = q_{hi} \cdot k_j / \sqrt{d_k}",
        _of(n_heads="4", n_kv_heads="1", mask="causal"), "The code in the paper leaves the scale to the projections.",
    ),
    "grouped": Paper(
        "Grouped-query", "Ainslie et al. 2023, arXiv:2305.13245",
        r"s_{hij} = q_{hi} \cdot k_{\lceil h / g \rceil j} / \sqrt{d_k}",
        _of(n_heads="4", n_kv_heads="2", mask="causal"),
        "g heads of queries share a head of keys; those are counted from 1, too.",
    ),
}  # fmt: skip
"""What heads share."""

PARTS = {
    "Scores": SCORES,
    "Positions": BIASES,
    "Who may attend": MASKS,
    "From scores to weights": NORMALISERS,
    "Heads": HEADS,
}
PAPERS = {name: paper for part in PARTS.values() for name, paper in part.items()}

LEFT_OUT = {
    "Forgetting Transformer (Lin et al. 2025, arXiv:2503.02130)": "logarithms of gates, from "
    "after the key to the query, are added up in the score, and `cumsum` goes along the scores of a row, in the "
    "normaliser, where there are no keys",
    "Contextual positions (Golovneva et al. 2024, CoPE, arXiv:2405.18719)": "gates are added up in the score, too",
    "Selective attention (Leviathan, Kalman and Matias 2024, arXiv:2410.02703)": "scores of one head are added up over "
    "queries and taken from those of all heads",
    "Talking heads (Shazeer et al. 2020, arXiv:2003.02436)": "it mixes scores, and then weights, of several heads, and "
    "a line sees one",
    "Differential attention (Ye et al. 2024, arXiv:2410.05258)": "it takes one map from another; each of the two "
    "can be shown as a head of its own, their difference cannot",
    "BigBird (Zaheer et al. 2020, arXiv:2007.14062)": "its window and global tokens can; its random keys are drawn, "
    "and a mask draws nothing: they can only be listed",
    "Sandwich (Chi et al. 2022, arXiv:2212.10356)": "it is a sum over frequencies, and a bias has no sum over "
    "anything: its terms can only be written out one by one",
}
"""What cannot be said exactly, and why."""
