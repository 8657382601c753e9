"""The README's pictures, from the running app: `python docs/pictures.py` in the root, with Chromium installed."""

from __future__ import annotations

import sys
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
    "class": ("v=1&initialiser=by_hand&page=class&step=weights", "light", 1280, 720),
    "phone": ("", "light", 390, 844),
}


def take(page: Page, url: str, target: Path) -> None:
    """One picture of the page, once its charts are drawn and nothing runs any more."""
    page.goto(url)
    page.wait_for_selector(".attn-focus")
    page.wait_for_load_state("networkidle")
    page.wait_for_function("!document.querySelector('[data-testid=stStatusWidget]')")
    page.wait_for_function("document.fonts.status === 'loaded'")
    page.wait_for_timeout(500)  # the words are drawn after the last chart
    page.screenshot(path=target)


def main() -> None:
    server = Server(ROOT / "app.py")
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=QUIET)
            for name, (query, theme, width, height) in PICTURES.items():
                page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme)  # type: ignore[arg-type]
                take(page, f"{server.url}/?{query}", ROOT / "docs" / f"{name}.png")
                page.close()
            browser.close()
    finally:
        server.close()


if __name__ == "__main__":
    main()
