"""The rules and the dashboard beside a real Prometheus that scrapes a real watch: each of them has figures."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from makers.command_line import environment

EXAMPLES = Path(__file__).parents[3] / "examples" / "prometheus"
RULES = (EXAMPLES / "iocast.rules.yml").read_text("utf-8")
# What a machine has only while it does something, or root traces.
SOMETIMES = {"iocast:disk_read_latency_seconds:mean1m", "iocast:disk_flush_latency_seconds:mean1m"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def asked(port: int, expression: str) -> list[object]:
    """The series that an expression has now."""
    query = urllib.parse.urlencode({"query": expression})
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?{query}", timeout=10) as answer:
        said = json.load(answer)
    assert said["status"] == "success", said
    return list(said["data"]["result"])


def expressions() -> dict[str, str]:
    """The title of each panel, with what it shows for all hosts and devices."""
    panels = json.loads((EXAMPLES / "grafana.json").read_text("utf-8"))["panels"]
    return {
        panel["title"]: re.sub(r"\$(instance|device)", ".+", target["expr"])
        for panel in panels
        for target in panel["targets"]
    }


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a Prometheus with our rules, once it has scraped for a while."""
    if shutil.which("prometheus") is None:
        pytest.skip("prometheus is not installed")
    room, (listen, port) = tmp_path_factory.mktemp("prometheus"), (free_port(), free_port())
    configuration = (EXAMPLES / "prometheus.yml").read_text("utf-8").replace("10s", "1s")
    (room / "prometheus.yml").write_text(configuration.replace("127.0.0.1:9101", f"127.0.0.1:{listen}"), "utf-8")
    (room / "iocast.rules.yml").write_text(RULES, "utf-8")
    watching = [sys.executable, "-m", "iocast", "watch", "--listen", f"127.0.0.1:{listen}", "--interval", "1s"]
    scraping = ["prometheus", "--config.file=prometheus.yml", f"--web.listen-address=127.0.0.1:{port}"]
    scraping += ["--storage.tsdb.path=data", "--log.level=error"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with (
        subprocess.Popen(watching, cwd=room, env=environment(), **quiet) as watch,
        subprocess.Popen(scraping, cwd=room, **quiet) as server,
    ):
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                (room / "written").write_bytes(b"x" * 65536)
                subprocess.run(["sync", room / "written"], check=True)
                try:
                    if asked(port, "iocast:disk_write_latency_seconds:mean1m"):
                        break
                except OSError:
                    pass
                time.sleep(0.5)
            yield port
        finally:
            for each in (watch, server):
                each.terminate()


@pytest.mark.long
def test_each_rule_and_panel_has_figures(prometheus: int) -> None:
    rules = re.findall(r"record: (\S+)", RULES)
    shown = expressions()
    assert len(rules) == 9
    empty = {name for name in rules if not asked(prometheus, name)}
    traced = asked(prometheus, "iocast_block_layer_latency_seconds_count")
    sometimes = SOMETIMES if traced else SOMETIMES | {name for name in rules if "p99" in name or "traced" in name}
    assert empty <= sometimes
    for title, expression in shown.items():
        name = expression.partition("{")[0]
        assert name in rules or asked(prometheus, expression), title
        asked(prometheus, expression)


def test_the_rules_are_rules(tmp_path: Path) -> None:
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed")
    for words in (("rules", "iocast.rules.yml"), ("config", "prometheus.yml")):
        checked = subprocess.run(["promtool", "check", *words], cwd=EXAMPLES, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stderr + checked.stdout
