"""A folder of interactive pages: what its index names is there, and what a link says stays text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from attnviz import Config, command, run
from attnviz.engine.external.traces import of_weights
from attnviz.exports import interactive_html, site

HOSTILE = '</b><script>alert(1)</script> "x" <img/src=x>'


class Links(HTMLParser):
    """The tags of a page, and the files that it names."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.named: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.named += [value or "" for name, value in attrs if name in ("href", "src")]


def test_every_run_has_its_page_and_its_picture_under_its_heading() -> None:
    first, second = run(Config(sentence="the cat sat")), run(Config(sentence=HOSTILE, tokeniser="whitespace"))
    nothing = of_weights(np.zeros((1, 2, 2)), ["a", "b"], ["a", "b"])
    written = dict(site.files(["One <i>", (first, 0), (second, 0), "Two", (nothing, 0)]))
    assert list(written)[-1] == "index.html"
    assert written["01-the-cat-sat.html"] == interactive_html.html(first)
    index = Links(written["index.html"])
    assert sorted(index.named) == sorted(written.keys() - {"index.html"})
    assert [name for name in written if name.startswith("03")] == ["03-a-b.html"]  # no weight of it can be named
    assert {"script", "i"} & {*index.tags} == set()
    assert index.tags.count("ul") == index.tags.count("h2") == 2
    assert re.findall("<h2>(.*?)</h2>", written["index.html"]) == ["One &lt;i&gt;", "Two"]
    assert all(re.fullmatch(r"[a-z0-9-]+\.(html|svg)", name) for name in written)


def test_the_command_writes_a_site_of_links_or_of_one_setting(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    links = tmp_path / "links.txt"
    links.write_text(
        "# A lecture\n\nhttps://x.org/?sentence=a+b+c&n_layers=2&layer=2\nmask=causal&n_heads=99\n", "utf-8"
    )
    folder = tmp_path / "new" / "site"
    assert command.main(["render", "--site", str(folder), "--links", str(links)]) == 0
    assert f"line 4 of {links}: Heads was 99" in capfd.readouterr().err.replace("'", "")
    assert len(list(folder.iterdir())) == 5
    picture = dict(site.files([(run(Config(sentence="a b c", n_layers=2)), 1)]))["01-a-b-c.svg"]
    assert (folder / "01-a-b-c.svg").read_text("utf-8") == picture
    assert command.main(["render", "one two", "--site", str(tmp_path / "one")]) == 0
    assert {path.name for path in (tmp_path / "one").iterdir()} == {"01-one-two.html", "01-one-two.svg", "index.html"}


@pytest.mark.parametrize(
    ("words", "text", "said"),
    [
        (["--site", "{folder}", "--links", "{links}"], "# only a heading\n", "holds no link; give one per line"),
        (["--site", "{folder}", "--links", "{links}.no"], "", "cannot be read: no such file"),
        (["--site", "{links}", "a b"], "", "cannot be written: "),
        (["-o", "run.html", "--links", "{links}"], "", "--links is for --site"),
        (["a b"], "", "one of the arguments -o/--output --site is required"),
        (["a b", "-o", "a.html", "--site", "{folder}"], "", "not allowed with argument"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(
    words: list[str], text: str, said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    links = tmp_path / "links.txt"
    links.write_text(text, "utf-8")
    given = [word.format(folder=tmp_path / "site", links=links) for word in words]
    assert command.main(["render", *given]) == 2
    output = capfd.readouterr().err
    assert said in output
    assert output.count("\n") == 1
