"""The ways in that deploy/ describes before the site, each started and clicked through: TLS, a login, a folder.

Without caddy or nginx these tests are skipped on a desk, and fail where the environment says CI. oauth2-proxy, which is
in no package here, is played by a server that answers as its documentation says; the rest is the very files.
"""

from __future__ import annotations

import os
import re
import shutil
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, urlsplit

import pytest

from attnviz import Config
from attnviz.settings import short_link, url_codec
from tests.browser_idle import PATIENCE

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "deploy"))

import local  # noqa: E402

pytestmark = pytest.mark.browser

DEPLOY = ROOT / "deploy"
REST = "[data-test-connection-state=CONNECTED][data-test-script-state=notRunning]"
QUERY = url_codec.query_string(Config(sentence="zebra quagga okapi", n_heads=3, seed=4))
OURS = ("attnviz/stage", "attnviz/preview.png")


@pytest.fixture(scope="module")
def site() -> Iterator[Any]:
    for tool in ("nginx", "caddy"):
        if not shutil.which(tool):
            if os.environ.get("CI"):
                pytest.fail(f"{tool} is not installed")
            pytest.skip(f"{tool} is not installed")
    with local.site(n_replicas=1) as running:
        yield running


def answers(url: str) -> bool:
    """Whether anything is answered, by whatever certificate."""
    try:
        urllib.request.urlopen(url, timeout=5, context=ssl._create_unverified_context()).close()  # noqa: S310, S323
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


@contextmanager
def started(command: list[str], url: str, folder: Path, **given: str) -> Iterator[None]:
    """A program for as long as the block lasts, from the moment in which it answers."""
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=os.environ | given, stdout=log, stderr=log)
    try:
        last = time.monotonic() + PATIENCE
        while not answers(url):
            assert time.monotonic() < last, url
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.05)
                pytest.fail((folder / "log").read_text("utf-8"))
        yield
    finally:
        process.terminate()
        process.wait()


@contextmanager
def caddy(site: Any, folder: Path, login: int | None = None) -> Iterator[str]:
    """The address of Caddy, with the login before it if there is one at that port."""
    port = local.free_port()
    shutil.copy(DEPLOY / "caddy/Caddyfile", folder)
    given = {"SITE": f"localhost:{port}", "FRONT": site.url.partition("//")[2], "HTTP_PORT": str(local.free_port())}
    given |= {"XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    if login is not None:
        shutil.copytree(DEPLOY / "caddy/login", folder / "login")
        given["LOGIN"] = f"127.0.0.1:{login}"
    url = f"https://localhost:{port}"
    with started(["caddy", "run", "--config", "Caddyfile", "--adapter", "caddyfile"], url, folder, **given):
        yield url


def clicked_through(page: Any, base: str, link: str) -> None:
    """Open a link below `base`, change it as a person does, and ask at every address of ours."""
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(link)
    page.locator(REST).wait_for()
    assert page.url == f"{base}/?{QUERY}"
    seed = page.get_by_role("spinbutton", name="Seed")
    seed.fill("41")
    seed.press("Enter")
    page.wait_for_function("() => ['seed=41', 'quagga', 'n_heads=3'].every(part => location.search.includes(part))")
    page.locator(REST).wait_for()
    ask = (
        "async (path) => { const found = await fetch(path); return [found.status, found.headers.get('content-type')] }"
    )
    kinds = [page.evaluate(ask, f"{path}?{QUERY}") for path in OURS]
    assert kinds == [[200, "application/octet-stream"], [200, "image/png"]]
    assert page.evaluate(ask, page.locator("link[rel=icon]").get_attribute("href"))[0] == 200
    assert errors == []
    assert page.evaluate(ask, "attnviz/metrics")[0] == 404
    page.goto(f"{base}/s/{short_link.pack(dict(parse_qsl(QUERY)))}")
    page.locator(REST).wait_for()
    assert page.url == f"{base}/?{QUERY}"
    page.get_by_text("quagga").first.wait_for()


def test_caddy_ends_tls_before_nginx(site: Any, new_page: Callable[..., Any], tmp_path: Path) -> None:
    page = new_page(ignore_https_errors=True)  # the certificate is Caddy's own
    with caddy(site, tmp_path) as base:
        clicked_through(page, base, f"{base}/?{QUERY}")
        answer = page.goto(base)
        assert answer.header_value("strict-transport-security") == "max-age=31536000"
        (cookie,) = (each for each in page.context.cookies() if each["name"] == "attnviz")
        assert cookie["secure"]
        assert cookie["httpOnly"]
    assert "quagga" not in (tmp_path / "log").read_text("utf-8")


class Login(BaseHTTPRequestHandler):
    """oauth2-proxy as far as Caddy meets it, with everybody welcome who presses the button."""

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path == "/oauth2/auth":
            self._say(202 if "_oauth2_proxy=known" in self.headers.get("Cookie", "") else 401)
        elif path == "/oauth2/sign_in":
            back = quote(self.headers["X-Auth-Request-Redirect"], safe="")
            self._say(200, f'<a href="/oauth2/callback?rd={back}">Log in</a>')
        else:
            (back,) = parse_qs(query)["rd"]
            self._say(302, Location=back, Set_Cookie="_oauth2_proxy=known; Path=/; Secure; HttpOnly")

    def _say(self, status: int, text: str = "", **headers: str) -> None:
        self.send_response(status)
        headers |= {"Content-Type": "text/html", "Content-Length": str(len(text))}
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_login_keeps_strangers_out_and_leads_to_the_link_that_was_opened(
    site: Any, new_page: Callable[..., Any], tmp_path: Path
) -> None:
    login = ThreadingHTTPServer(("127.0.0.1", local.free_port()), Login)
    threading.Thread(target=login.serve_forever, daemon=True).start()
    page = new_page(ignore_https_errors=True)
    with ExitStack() as stack:
        stack.callback(login.server_close)
        stack.callback(login.shutdown)
        base = stack.enter_context(caddy(site, tmp_path, login.server_port))
        for path in ("/", f"/attnviz/stage?{QUERY}", "/_stcore/health", "/static/x.js"):
            page.goto(base + path)
            assert page.get_by_role("link").all_text_contents() == ["Log in"], path
        page.goto(f"{base}/?{QUERY}")
        page.get_by_role("link", name="Log in").click()
        page.locator(REST).wait_for()
        clicked_through(page, base, page.url)
        page.context.clear_cookies()
        page.goto(f"{base}/?{QUERY}")
        page.get_by_role("link", name="Log in").wait_for()


OF_A_SITE = r"""
location ~* \.(js|css|png|svg)$ { root /nowhere; }
add_header X-Frame-Options DENY;
add_header Content-Security-Policy "default-src 'none'" always;
"""
"""What a site may have, which must not reach the page."""


def test_the_page_stands_below_a_folder_of_another_site(
    site: Any, new_page: Callable[..., Any], tmp_path: Path
) -> None:
    port = local.free_port()
    below = (DEPLOY / "nginx/subpath.conf").read_text("utf-8")
    assert below.count("127.0.0.1:8080/") == 2
    below = below.replace("127.0.0.1:8080/", site.url.partition("//")[2] + "/")
    assert "/var/log/nginx/error.log crit" in below
    below = below.replace("/var/log/nginx/error.log", f"{tmp_path}/error.log")
    places = " ".join(f"{name}_temp_path {tmp_path};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    log = f"access_log {tmp_path}/access.log;"
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/pid; error_log stderr crit; events {{}}\n"
        f"http {{ {log} {places}\nserver {{ listen 127.0.0.1:{port};\n{OF_A_SITE}{below}\n}} }}",
        "utf-8",
    )
    command = ["nginx", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf"), "-g", "daemon off;"]
    page, base = new_page(), f"http://127.0.0.1:{port}/attention"
    with started(command, f"{base}/", tmp_path):
        clicked_through(page, base, f"http://127.0.0.1:{port}/attention?{QUERY}")
        cookies = [each for each in page.context.cookies() if each["name"] in ("attnviz", "_streamlit_xsrf")]
        assert {(each["path"], each["secure"]) for each in cookies} == {("/attention/", True)}
        found = page.request.get(f"{base}?{QUERY}", max_redirects=0)
        assert (found.status, found.headers["location"]) == (308, f"/attention/?{QUERY}")
        whole = page.request.get(f"{base}/")
        assert [each["value"] for each in whole.headers_array if each["name"].lower() == "content-security-policy"] == [
            whole.headers["content-security-policy"]
        ]
        for hidden in ("_stcore/metrics", "attnviz/metrics", "_stcore/agent/openapi.json"):
            assert page.request.get(f"{base}/{hidden}").status == 404
        (script,) = re.findall(r"attnviz/scripts-\w+\.js", whole.text())
        assert page.request.get(f"{base}/{script}").headers["content-encoding"] == "gzip"
    assert "attention" not in (tmp_path / "access.log").read_text("utf-8"), "an address may hold a sentence"


def test_a_server_that_knows_its_folder_has_everything_below_it(
    server: Callable[..., Any], new_page: Callable[..., Any]
) -> None:
    base = server("app.py", "--server.baseUrlPath=see/attention").url
    assert urlsplit(base).path == "/see/attention"
    page = new_page()
    clicked_through(page, base, f"{base}?{QUERY}")
    said = page.request.get(f"{base}/?{QUERY}").text()
    for name, path in (("og:url", ""), ("og:image", "attnviz/preview.png")):
        found = re.search(f'property="{name}" content="([^"?]*)', said)
        assert found is not None
        assert found[1] == f"{base}/{path}"
        assert page.request.get(found[1]).ok
