"""What a host copies: locked, bounded, and silent; no call to anybody while it runs, and no sentence in a log."""

from __future__ import annotations

import base64
import configparser
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.routing import Route
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_server_config import DEFAULT_WEBSOCKET_PING_INTERVAL
from websockets.sync.client import connect

from attnviz.ui import server
from attnviz.ui.hosting import counts, security_headers
from tools import supply_chain

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
sys.path.insert(0, str(DEPLOY))

import local  # noqa: E402

NGINX = (DEPLOY / "nginx/nginx.conf").read_text(encoding="utf-8")
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
LOCK = (ROOT / "requirements-lock.txt").read_text(encoding="utf-8")
NAME = re.compile(r"^([A-Za-z0-9_.-]+)==(\S+)", re.MULTILINE)


def names(text: str) -> dict[str, str]:
    """Locked packages and their versions."""
    return {name.lower().replace("_", "-"): version for name, version in NAME.findall(text)}


def test_every_locked_package_has_hashes_and_none_names_a_registry() -> None:
    entries = re.split(r"^(?=[A-Za-z0-9])", re.sub(r"^#.*\n", "", LOCK, flags=re.MULTILINE), flags=re.MULTILINE)[1:]
    assert len(entries) > 30
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry or "==" not in entry] == []
    assert not re.search(r"https?:|index|find-links|file:", re.sub(r"^#.*\n", "", LOCK, flags=re.MULTILINE))


def test_the_lock_holds_what_the_page_asks_for() -> None:
    required = re.findall(r"^([a-z]+)[=><]", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert {*required} == {"streamlit", "numpy", "plotly", "pandas"}
    assert {*required, "segno", "resvg-py", "xlsxwriter"} <= names(LOCK).keys()
    pinned = names((ROOT / "requirements.txt").read_text(encoding="utf-8"))
    assert names(LOCK)["streamlit"] == pinned["streamlit"]


def test_the_site_without_containers_runs_under_the_settings_of_the_image() -> None:
    set_there = dict(re.findall(r"^(?:ENV|   ) ([A-Z_]+)=(\S+)", DOCKERFILE, re.MULTILINE))
    assert {"OPENBLAS_NUM_THREADS", "MALLOC_MMAP_THRESHOLD_"} == local.SETTINGS.keys()
    assert local.SETTINGS.items() <= set_there.items()


def test_the_policy_names_the_inline_script_of_the_installed_streamlit() -> None:
    spec = find_spec("streamlit")
    assert spec is not None
    index = (Path(str(spec.origin)).parent / "static/index.html").read_bytes()
    (script,) = re.findall(rb"<script>(.*?)</script>", index, re.DOTALL)
    assert f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'" in NGINX


def test_nginx_and_the_page_send_the_same_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(security_headers.FRAMES, "self")  # as the replicas behind it have it
    security_headers.policy.cache_clear()
    (policy,) = re.findall(r"""'' "(default-src [^"]+)";""", NGINX)
    assert policy == security_headers.policy()
    security_headers.policy.cache_clear()
    for name, text in security_headers.ALWAYS.items():
        given = rf"\$upstream_http_{name.lower().replace('-', '_')} \$\w+ \{{\n +default '';\n +'' "
        assert re.search(f'{given}"?{re.escape(text)}"?;', NGINX), name
        assert re.search(rf"add_header {name} \$\w+ always;", NGINX), name


def test_the_policy_allows_no_script_but_our_own() -> None:
    (policy,) = re.findall(r"""'' "(default-src [^"]+)";""", NGINX)
    parts = {name: allowed for name, *allowed in (part.split() for part in policy.split(";"))}
    assert parts["default-src"] == ["'none'"]
    ours = ["'self'", "blob:", "'wasm-unsafe-eval'"]  # the last is for WebAssembly; JavaScript is not evaluated
    assert [word for word in parts["script-src"] if not word.startswith("'sha256-")] == ours
    words = {word for words in parts.values() for word in words} - {*ours}
    assert not [word for word in words if "*" in word or "http" in word or "eval" in word]
    assert parts["connect-src"] == ["'self'"]
    assert parts["worker-src"] == ["blob:"]  # in which a browser learns; its script comes with the component


def test_a_missing_replica_neither_stops_nginx_nor_is_lost_when_it_comes_back() -> None:
    found = {}
    for name in ("upstream", "health"):
        lines = (DEPLOY / f"nginx/{name}.conf").read_text(encoding="utf-8").splitlines()
        servers = [line.split() for line in lines if line.startswith("server ")]
        assert all("resolve" in words for words in servers)
        assert {line.split()[0] for line in lines if line and line[0] != "#"} >= {"zone", "resolver"}
        found[name] = [words[1] for words in servers]
    assert found["health"] == found["upstream"] == ["page-1:8501", "page-2:8501"]


def test_no_question_about_health_counts_against_a_replica() -> None:
    asked = {where for where in re.findall(r"proxy_pass (\S+);", NGINX) if "health" in where}
    assert asked == {"http://health/_stcore/health", "http://health"}
    location = re.search(r"location = /_stcore/health \{\n\s+proxy_pass http://health;", NGINX)
    assert location is not None
    servers = re.findall(r"^server .*", (DEPLOY / "nginx/health.conf").read_text(encoding="utf-8"), re.MULTILINE)
    assert servers
    assert all("max_fails=0;" in line for line in servers)


def test_the_cookie_that_leads_to_a_replica_names_no_visitor() -> None:
    assert "userid" not in NGINX
    assert "hash $bucket consistent;" in NGINX
    assert not re.search(r"\$(uid_|remote_addr\b(?! \[)).*consistent", NGINX)


def test_no_log_of_nginx_has_a_place_for_the_query() -> None:
    (form,) = re.findall(r"log_format \w+ ([^;]+);", NGINX)
    assert {*re.findall(r"\$\w+", form)} == {
        *("$remote_addr", "$time_iso8601", "$request_method", "$uri", "$status", "$body_bytes_sent", "$request_time"),
        *("$upstream_addr", "$upstream_status", "$upstream_response_time"),
    }
    assert "error_log stderr crit;" in NGINX


@pytest.mark.slow
def test_a_replica_that_hangs_is_left_out_and_a_site_without_any_is_not_well() -> None:
    found_or_missing("nginx")
    with local.site(n_replicas=2) as site:
        hangs, answers = site.replicas
        assert hangs.process is not None
        hangs.process.send_signal(signal.SIGSTOP)  # as a process does that computes without end: it still accepts
        buckets = [f"attnviz={bucket:02x}" for bucket in range(0, 256, 8)]
        started = time.monotonic()
        assert {status(site.url + "/_stcore/host-config", bucket) for bucket in buckets} == {200}
        assert time.monotonic() - started < 60  # each would wait for itself if it were asked again and again
        for bucket in buckets[::4]:
            headers = {"Cookie": bucket}
            with connect(site.url.replace("http", "ws", 1) + "/_stcore/stream", additional_headers=headers):
                pass
        assert status(site.url + "/healthz") == 200
        hangs.kill()
        answers.kill()
        assert status(site.url + "/healthz") == 502


@pytest.mark.slow
def test_replicas_that_were_slow_to_say_how_they_are_are_asked_again_at_once() -> None:
    found_or_missing("nginx")
    with local.site(n_replicas=2) as site:
        running = [each.process for each in site.replicas if each.process is not None]
        for process in running:
            process.send_signal(signal.SIGSTOP)
        slow = [status(site.url + f"/{path}", "attnviz=00") for path in ("healthz", "_stcore/health")]
        assert slow == [504, 504]
        for process in running:
            process.send_signal(signal.SIGCONT)
        for bucket in ("attnviz=00", "attnviz=80", "attnviz=ff"):
            assert status(site.url + "/_stcore/health", bucket) == 200
            assert status(site.url + "/_stcore/host-config", bucket) == 200


def status(url: str, cookie: str = "") -> int:
    """The status of an answer to a visitor with a cookie."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers={"Cookie": cookie}), timeout=30) as answer:  # noqa: S310
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_only_a_socket_may_be_silent_for_longer_than_streamlit_leaves_it() -> None:
    locations = dict(re.findall(r"^        location ([^{]+) \{(.*?)^        \}", NGINX, re.MULTILINE | re.DOTALL))
    own = {name: re.findall(r"proxy_read_timeout (\d+)s;", lines) for name, lines in locations.items()}
    assert own.pop("= /_stcore/stream") == ["90"]
    assert DEFAULT_WEBSOCKET_PING_INTERVAL * 2 <= 90
    (for_all,) = re.findall(r"^        proxy_read_timeout (\d+)s;", NGINX, re.MULTILINE)
    assert max(map(int, [for_all, *(each[0] for each in own.values() if each)])) <= 15


def stages() -> dict[str, list[str]]:
    """The lines of each stage of the Dockerfile by its name."""
    parts = re.split(r"^FROM (\S+) AS (\w+)\n", DOCKERFILE, flags=re.MULTILINE)[1:]
    return {name: [base, *lines.splitlines()] for base, name, lines in zip(parts[::3], parts[1::3], parts[2::3])}


def test_the_images_run_as_nobody_in_particular_and_say_whether_they_are_well() -> None:
    found = stages()
    assert [*found] == ["page", "static", "front", "default"]
    assert found["default"][0] == "page"
    for name, user in (("page", "1000"), ("front", "101")):
        users = [line.split()[1] for line in found[name] if line.startswith("USER ")]
        assert users[-1] == user
        assert any(line.startswith("HEALTHCHECK") for line in found[name])
        assert re.fullmatch(r"\w+:\d+\.\d+\.\d+-[a-z-]+@sha256:[0-9a-f]{64}", found[name][0])
    assert "OPENBLAS_NUM_THREADS=1" in DOCKERFILE
    assert "--require-hashes -r requirements-lock.txt" in DOCKERFILE


def test_nginx_is_no_older_than_the_fixes_and_what_its_files_ask_for() -> None:
    version = re.match(r"nginx:(\d+)\.(\d+)\.(\d+)", stages()["front"][0])
    assert version is not None
    assert tuple(map(int, version.groups())) >= (1, 30, 2)  # CVE-2026-42945 and CVE-2026-9256; `resolve` needs 1.27.3


def test_a_bot_keeps_tags_and_digests_current() -> None:
    renovate = json.loads((ROOT / "renovate.json").read_text(encoding="utf-8"))
    assert "docker:pinDigests" in renovate["extends"]
    assert {*renovate["enabledManagers"]} == {"dockerfile", "docker-compose", "pip_requirements", "pep621"}
    named = {name for rule in renovate["packageRules"] for name in rule.get("matchFileNames", ())}
    assert all((ROOT / name).is_file() for name in named)


def test_what_the_images_copy_is_there_and_is_sent_to_the_builder() -> None:
    sent = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    copied = [word for line in re.findall(r"^COPY (?!--)(.+)$", DOCKERFILE, re.MULTILINE) for word in line.split()[:-1]]
    assert len(copied) == 7
    for path in copied:
        assert (ROOT / path).exists(), path
        assert any(f"!{part}" in sent for part in (path, *map(str, Path(path).parents))), path


def found_or_missing(tool: str) -> str:
    """The path of a checking tool; without it, skip on a desk and fail where the environment says CI."""
    path = shutil.which(tool) or shutil.which(tool, path=str(Path(sys.executable).parent))
    if path is None:
        if os.environ.get("CI"):
            pytest.fail(f"{tool} is not installed; deploy/requirements-check.txt has it")
        pytest.skip(f"{tool} is not installed; deploy/requirements-check.txt has it")
    return path


@pytest.mark.slow
def test_the_tools_own_checkers_find_nothing() -> None:
    manifest = DEPLOY / "kubernetes/attnviz.yaml"
    checks = {"hadolint": [str(DEPLOY / "Dockerfile")], "kubernetes-validate": ["--strict", str(manifest)]}
    for tool, words in checks.items():
        answer = subprocess.run([found_or_missing(tool), *words], capture_output=True, text=True)
        assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.mark.slow
def test_compose_files_and_the_bots_settings_have_the_form_that_their_readers_ask_for(tmp_path: Path) -> None:
    (tmp_path / "renovate.json").write_bytes((ROOT / "renovate.json").read_bytes())
    for name in COMPOSE:
        (tmp_path / f"{name}.json").write_text(json.dumps(compose(name)), "utf-8")
    for kind, found in (("renovate", "renovate.json"), ("compose-spec", "compose*.json")):
        files = [*map(str, tmp_path.glob(found))]
        assert files
        command = [found_or_missing("check-jsonschema"), "--builtin-schema", f"vendor.{kind}", *files]
        answer = subprocess.run(command, capture_output=True, text=True)
        assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.mark.slow
def test_whatever_compose_starts_is_bounded_and_only_the_outermost_can_be_reached() -> None:
    found: dict[str, Any] = {}
    for name in COMPOSE:  # each changes what those before it say
        services = compose(name)["services"]
        for service, given in services.items():
            found[service] = found.get(service, {}) | {each: what for each, what in given.items() if each != "volumes"}
        outermost = "front" if name == "compose.yaml" else "caddy"
        assert {service for service, each in found.items() if each.get("ports")} == {outermost}
        for service, each in found.items():
            assert each["read_only"], service
            assert each["cap_drop"] == ["ALL"], service
            assert {"cpus", "mem_limit", "pids_limit"} <= each.keys(), service
            assert each["ulimits"]["nofile"]["soft"] >= server.MOST_FILES, service
            assert {"max-size", "max-file"} <= each["logging"]["options"].keys(), service
            assert re.search(r":v?\d+\.\d+\.\d+|^attnviz", each["image"]), service
    assert found["page-1"] == found["page-2"]
    assert found["oauth2-proxy"]["environment"]["OAUTH2_PROXY_REQUEST_LOGGING"] == "false"
    mounted = [each for name in COMPOSE for each in compose(name)["services"].get("caddy", {}).get("volumes", ())]
    assert all((DEPLOY / each.split(":")[0]).exists() for each in mounted if each.startswith("./"))


COMPOSE = ("compose.yaml", "compose.tls.yaml", "compose.login.yaml")


def compose(name: str) -> dict[str, Any]:
    """One of the files of Docker Compose; what it takes away stands as None."""
    yaml = pytest.importorskip("yaml")

    class Loader(yaml.SafeLoader):  # type: ignore[misc, name-defined]
        """A reader that knows the one tag of Compose's own that the files use."""

    Loader.add_constructor("!reset", lambda *_: [])
    read: dict[str, Any] = yaml.load((DEPLOY / name).read_text("utf-8"), Loader)
    return read


def test_an_audit_that_nobody_answers_is_not_taken_for_a_clean_one() -> None:
    advisory = {"id": "CVE-2019-10906", "fix_versions": ["2.10.1"]}
    known = [{"name": "jinja2", "version": "2.10", "vulns": [advisory]}]
    clean = [{"name": "numpy", "version": "2.4.6", "vulns": []}]
    unknown = [{"name": "numpy", "skip_reason": "not found"}]
    for locked, asked, code in (
        (clean, known, 0),
        (clean + known, known, 1),
        (clean + known, [], 1),
        (clean, [{"name": "jinja2", "version": "2.10", "vulns": []}], 2),
        (clean, unknown, 2),
        (clean + unknown, known, 2),
        ([], known, 2),
        ([], [], 2),
    ):
        assert supply_chain.judged(locked, asked)[0] == code, (locked, asked)
    assert "CVE-2019-10906, mended in 2.10.1" in supply_chain.judged(known, known)[1]


def manifests(name: str) -> list[dict[str, Any]]:
    """The parts of a file of deploy/kubernetes."""
    yaml = pytest.importorskip("yaml")
    return [*yaml.safe_load_all((DEPLOY / "kubernetes" / name).read_text("utf-8"))]


@pytest.mark.slow
def test_only_the_gateway_reaches_a_pod_and_a_pod_reaches_nobody() -> None:
    (policy,) = (part["spec"] for part in manifests("attnviz.yaml") if part["kind"] == "NetworkPolicy")
    assert policy["podSelector"]["matchLabels"] == {"app": "attnviz"}
    assert {*policy["policyTypes"]} == {"Ingress", "Egress"}
    assert policy["egress"] == []
    (way,) = policy["ingress"]
    assert way["ports"] == [{"port": "http"}]
    assert len(way["from"]) == 1
    assert "namespaceSelector" in way["from"][0]


@pytest.mark.slow
def test_the_gateway_keeps_a_visitor_on_one_pod_and_logs_no_query() -> None:
    """kubernetes-validate knows none of these kinds, which are no part of Kubernetes itself."""
    parts = {(part["kind"], part["metadata"]["name"]): part for part in manifests("gateway.yaml")}
    service = next(part for part in manifests("attnviz.yaml") if part["kind"] == "Service")
    gateway, route = parts["Gateway", "attnviz"]["spec"], parts["HTTPRoute", "attnviz"]["spec"]
    redirect = parts["HTTPRoute", "attnviz-to-https"]["spec"]
    versions = {kind: part["apiVersion"] for (kind, _), part in parts.items()}
    assert versions.pop("EnvoyProxy") == "gateway.envoyproxy.io/v1alpha1"
    assert versions == dict.fromkeys(("GatewayClass", "Gateway", "HTTPRoute"), "gateway.networking.k8s.io/v1")
    assert ("GatewayClass", gateway["gatewayClassName"]) in parts
    ports = {each["name"]: (each["port"], each["protocol"]) for each in gateway["listeners"]}
    assert ports == {"http": (80, "HTTP"), "https": (443, "HTTPS")}
    assert [each["parentRefs"] for each in (route, redirect)] == [
        [{"name": "attnviz", "sectionName": "https"}],
        [{"name": "attnviz", "sectionName": "http"}],
    ]
    assert {each["hostname"] for each in gateway["listeners"]} == {*route["hostnames"], *redirect["hostnames"]}
    (rule,) = route["rules"]
    assert rule["sessionPersistence"] == {"type": "Cookie"}
    assert rule["backendRefs"] == [{"name": service["metadata"]["name"], "port": service["spec"]["ports"][0]["port"]}]
    given = gateway["infrastructure"]["parametersRef"]
    assert parts[given["kind"], given["name"]]["spec"]["telemetry"]["accessLog"] == {"disable": True}


@pytest.mark.slow
def test_the_manifests_agree_with_the_images() -> None:
    yaml = pytest.importorskip("yaml")
    parts = {part["kind"]: part for part in yaml.safe_load_all((DEPLOY / "kubernetes/attnviz.yaml").read_text("utf-8"))}
    pod = parts["Deployment"]["spec"]["template"]["spec"]
    page, front = pod["containers"]
    assert [each["securityContext"]["runAsUser"] for each in (page, front)] == [1000, 101]
    assert all(each["securityContext"]["readOnlyRootFilesystem"] for each in (page, front))
    assert page["readinessProbe"]["httpGet"]["path"] == "/_stcore/health"
    assert front["readinessProbe"]["httpGet"]["path"] == "/readyz"  # what is full gets no newcomers, and goes on
    assert "httpGet" not in front["livenessProbe"]
    files = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["x-bounds"]["ulimits"]["nofile"]
    assert files["soft"] >= server.MOST_FILES
    assert all(each["lifecycle"]["preStop"]["sleep"]["seconds"] >= 5 for each in (page, front))
    assert pod["terminationGracePeriodSeconds"] > page["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert "Ingress" not in parts
    assert parts["HorizontalPodAutoscaler"]["spec"]["metrics"][0]["containerResource"]["container"] == page["name"]
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]
    assert all(each["read_only"] and each["cap_drop"] == ["ALL"] for each in compose.values())
    assert {name for name, each in compose.items() if "ports" in each} == {"front"}
    assert all({"max-size", "max-file"} <= each["logging"]["options"].keys() for each in compose.values())
    waits = {name: each["condition"] for name, each in compose["front"]["depends_on"].items()}
    assert waits == {"page-1": "service_healthy", "page-2": "service_healthy"}


WITNESS = """
import os, sys
open(os.environ["WITNESS"], "a").close()
def note(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        with open(os.environ["WITNESS"], "a") as file:
            print(event, args[1] if event != "socket.getaddrinfo" else args[:2], file=file)
sys.addaudithook(note)
"""
HERE = re.compile(r"127\.0\.0\.1|'localhost'|::1|b?'?/|None")


@pytest.fixture
def witness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in which every Python that is started from now on notes whom it calls."""
    (tmp_path / "sitecustomize.py").write_text(WITNESS, encoding="utf-8")
    monkeypatch.setenv("WITNESS", str(tmp_path / "calls"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path / "calls"


def away(calls: Path) -> list[str]:
    """The calls that do not stay on this machine."""
    return [line for line in calls.read_text(encoding="utf-8").splitlines() if not HERE.search(line)]


def visited(url: str, **query: str) -> list[Any]:
    """What the page at an address sends, until it is whole."""
    ask, sent = BackMsg(), []
    ask.rerun_script.query_string = urlencode({"v": "1"} | query)
    with connect(url.replace("http", "ws", 1) + "/_stcore/stream", subprotocols=["streamlit"], max_size=None) as socket:  # type: ignore[list-item]
        socket.send(ask.SerializeToString())
        while not sent or sent[-1].WhichOneof("type") != "script_finished":
            sent.append(ForwardMsg.FromString(socket.recv(timeout=30)))
    return sent


@pytest.mark.slow
def test_a_running_page_calls_nobody_and_writes_no_sentence_into_its_log(witness: Path, tmp_path: Path) -> None:
    page = local.Replica(tmp_path / "page.log", "secret", address="0.0.0.0")  # noqa: S104 - as in the image
    page.start()
    try:
        for query in ({}, {"page": "take"}, {"n_heads": "many quagga"}, {"embedding": "own", "own_numbers": "quagga"}):
            sent = visited(f"http://127.0.0.1:{page.port}", **{"sentence": "zebra quagga okapi"} | query)
            assert any("quagga" in str(message) for message in sent)
            assert sent[-1].script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
    finally:
        page.kill()
    log = page.log.read_text(encoding="utf-8")
    assert "URL: http" in log
    assert "quagga" not in log
    assert away(witness) == []


def test_the_witness_sees_a_call(witness: Path) -> None:
    call = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('192.0.2.1', 9))"
    subprocess.run([sys.executable, "-c", call], check=False, capture_output=True)
    subprocess.run([sys.executable, "-c", "import socket; socket.getaddrinfo('x.test', 1)"], capture_output=True)
    assert len(away(witness)) == 2


def test_alerts_and_board_ask_only_for_what_the_server_tells() -> None:
    board = json.loads((DEPLOY / "monitoring/board.json").read_text("utf-8"))
    alerts = (DEPLOY / "monitoring/alerts.yml").read_text("utf-8")
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    asked += re.findall(r"^ +expr: (.+)$", alerts, re.MULTILINE)
    named = {name for each in asked for name in re.findall(r"attnviz_\w+", each)}
    assert named == {*counts.METRICS}
    assert {*re.findall(r'reason="(\w+)"', " ".join(asked))} <= {*counts.REASONS}
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    assert all(each.count("(") == each.count(")") for each in asked)


@pytest.mark.slow
def test_the_rules_are_read_by_prometheus_own_checker_where_it_is_installed() -> None:
    yaml = pytest.importorskip("yaml")
    (group,) = yaml.safe_load((DEPLOY / "monitoring/alerts.yml").read_text("utf-8"))["groups"]
    for rule in group["rules"]:
        assert rule.keys() >= {"alert", "expr", "labels", "annotations"}
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert "{{ $labels.instance }}" in rule["annotations"]["summary"]
    (job,) = yaml.safe_load((DEPLOY / "monitoring/prometheus.yml").read_text("utf-8"))["scrape_configs"]
    assert job["metrics_path"] in {route.path for route in server.ROUTES if isinstance(route, Route)}
    if tool := shutil.which("promtool"):
        checked = subprocess.run([tool, "check", "rules", str(DEPLOY / "monitoring/alerts.yml")], capture_output=True)
        assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_unit_of_systemd_starts_the_page_as_its_command_knows_it() -> None:
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string((DEPLOY / "systemd/attnviz.service").read_text("utf-8"))
    python, module, name, *words = unit["Service"]["ExecStart"].split()
    assert (Path(python).name, module, name) == ("python", "-m", "attnviz")
    known = subprocess.run([sys.executable, "-m", "attnviz", "--help"], capture_output=True, text=True, cwd=ROOT).stdout
    assert {word for word in words if word.startswith("--")} == {"--processes", "--address", "--port"}
    assert all(f"  {word} " in known for word in words if word.startswith("--"))
    below = (DEPLOY / "nginx/subpath.conf").read_text("utf-8")
    host, port = (words[words.index(each) + 1] for each in ("--address", "--port"))
    assert below.count(f"proxy_pass http://{host}:{port}/") == 2
