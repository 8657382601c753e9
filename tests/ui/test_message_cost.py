"""What a move costs: so many messages and bytes from a run, and no more from one version to the next.

Counted and not timed, before what the browser has is left out at the socket (`ui/hosting/changes.py`): most of the
messages, but few of the bytes. One longer than the server's limit is only named again in any case.
"""

from __future__ import annotations

import tomllib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest, local_script_runner

from attnviz.ui.hosting import scripts
from attnviz.ui.session.browser import component

ROOT = Path(__file__).parents[2]
KEPT = tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))["global"]["minCachedMessageSize"]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[bytes]]]:
    """The messages of each run, as they are made."""
    found: list[list[bytes]] = []
    read = local_script_runner.parse_tree_from_messages

    def parsed(messages: list[Any]) -> Any:
        found.append([message.SerializeToString(deterministic=True) for message in messages])
        return read(messages)

    monkeypatch.setattr(local_script_runner, "parse_tree_from_messages", parsed)
    monkeypatch.setattr(scripts, "_is_served", False)  # as other tests of this process may have it
    component._together.cache_clear()
    yield found
    component._together.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("heads", "words", "most", "most_packed"),
    [pytest.param(8, 12, 61_400, 44_000, id="8 x 12"), pytest.param(16, 64, 630_000, 575_000, id="16 x 64")],
)
def test_a_move_sends_few_messages_and_little(
    heads: int, words: int, most: int, most_packed: int, runs: list[list[bytes]]
) -> None:
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    page.query_params["v"] = "1"
    page.query_params["n_heads"] = str(heads)
    page.query_params["sentence"] = " ".join(f"w{at}" for at in range(words))
    page.query_params["max_tokens"] = str(words)
    page.run()
    page.number_input(key="seed").set_value(7).run()
    page.number_input(key="seed").set_value(8).run()
    assert not page.exception
    before, after = {*runs[-2]}, runs[-1]
    sent = [message for message in after if len(message) < KEPT or message not in before]
    assert len(after) <= 50
    assert sum(map(len, sent)) <= most
    packed = zlib.compressobj(wbits=-15)
    assert sum(len(packed.compress(each) + packed.flush(zlib.Z_SYNC_FLUSH)) for each in sent) <= most_packed
    assert len(after) - len(sent) >= 2, "the style and the scripts are there already"


@pytest.mark.slow
def test_statistics_of_a_long_text_send_no_more_than_is_drawn(runs: list[list[bytes]]) -> None:
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    setting = {"v": "1", "panel": "statistics", "sentence": " ".join(f"w{at}" for at in range(1024))}
    setting |= {"max_tokens": "1024", "n_heads": "2", "n_layers": "2", "d_model": "16", "head": "2", "query": "900"}
    for name, value in setting.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    (scripts,) = (message for message in runs[-1] if b"attnviz_scripts" in message)  # sent once in a visit
    assert sum(map(len, runs[-1])) - len(scripts) <= 500_000
    *_, rows, sums, rolled = (table.value for table in page.dataframe)
    assert rows.shape[0] == 1024
    assert sums.shape == (2, 32)
    assert rolled.shape == (32, 32)
    assert "900 w899" in {*rolled.index}
    assert any("of the words that the maps show" in each.proto.body for each in page.get("html"))
