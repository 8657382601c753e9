"""Pages that say another layer, put in the place of the page for as long as a test lasts."""

from __future__ import annotations

import pytest

from attnviz import Config, Trace, run
from attnviz.engine.plan import page, plans

OTHERS = {
    "read_kv @ W_V + b_V": "2 * (read_kv @ W_V) + b_V",
    "read @ W_Q + b_Q": "(read + read) @ W_Q + b_Q",
    'step("scaled", S * page.scale())': 'step("scaled", 0.5 * (S * page.scale()))',
    '"scores", score(Q, K, *page': '"scores", 3 * score(Q, K, *page',
    "normalise(S, Q, K, *learned)": "normalise(S, Q, K, *learned) / 4",
    "mix(A, V, allowed, Q)": "0.25 * mix(A, V, allowed, Q)",
    "only_where(allowed, S + bias)": "only_where(allowed, tanh(S) + bias)",
    "activation(read @": "2 * activation(read @",
}
"""What is said of the layer, and what is said in its place."""
SETTING = Config(sentence="the cat sat on", n_heads=2, projection_bias=True, initialiser="normal", bias="alibi",
                 mask="causal", norm="pre", residual=True, feed_forward="gelu", position="rope", softcap=3.0,
                 n_kv_heads=1)  # fmt: skip


def of_page(source: str, setting: Config, patch: pytest.MonkeyPatch) -> Trace:
    """Return the run of a setting by another page; `patch` is that of the fixture `said`."""
    made = dict(vars(page))
    exec(compile(source, "page.py", "exec"), made)  # noqa: S102 - our own page
    for name in ("attention", "layer"):
        patch.setattr(page, name, made[name])
    plans.layer_plan.cache_clear()
    return run(setting)
