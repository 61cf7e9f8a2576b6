"""The message at the end of a workflow: the script in real shells with a local server, and the rendered node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from gen.render.parts.containers import source
from tests.support import OVERLAY, Repository

if TYPE_CHECKING:
    from collections.abc import Iterator


NOTIFYING = OVERLAY.replace("gen-pipeline,", "gen-pipeline, notify: {secret: hook, when: ended},")
PIPELINE = "kind: pipeline\nimage: a:1\ncommand: x\ntimeout: 1h\nsteps: {only: {kind: batch}}\n"


class Server:
    """A server that keeps its requests."""

    def __init__(self, status: int) -> None:
        received: list[tuple[str, Any]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received.append((self.path, json.loads(body)))
                self.send_response(status)
                self.send_header("Location", "http://192.0.2.1/")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.received = received
        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook?token=s3cret"
        Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture(params=[200, 302])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    one = Server(request.param)
    yield one
    one.server.shutdown()
    one.server.server_close()


def sent(shell: list[str], url: str, when: str, status: str) -> tuple[int, str]:
    command = [*shell, "-c", source("notify.sh"), "notify", when, "team", "nightly", "nightly-1700000000", status]
    env = {**os.environ, "GEN_URL": url, "no_proxy": "*"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=100)
    return done.returncode, done.stderr


needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="no `curl`")


@needs_curl
@pytest.mark.parametrize(
    ("when", "status", "messages"), [("failed", "Failed", 1), ("failed", "Succeeded", 0), ("ended", "Succeeded", 1)]
)
def test_a_message_is_sent(shell: list[str], server: Server, when: str, status: str, messages: int) -> None:
    assert sent(shell, server.url, when, status) == (0, "")
    assert [path for path, _ in server.received] == ["/hook?token=s3cret"] * messages, "and no redirection is followed"
    for _, body in server.received:
        assert body == {
            "text": f"team/nightly: run nightly-1700000000 has ended: {status}",
            "namespace": "team",
            "job": "nightly",
            "run": "nightly-1700000000",
            "status": status,
        }


@needs_curl
def test_a_lost_message_fails_no_run_and_shows_no_token(shell: list[str]) -> None:
    code, said = sent(shell, "http://127.0.0.1:9/?token=s3cret\nproxy=x", "failed", "Failed")
    assert code == 0
    assert "gen: the message was not sent" in said
    assert "s3cret" not in said


def test_the_overlay_alone_decides_where_messages_go(repo: Repository) -> None:
    repo.overlay(NOTIFYING)
    repo.job(PIPELINE)
    spec = repo.one("Workflow")["spec"]
    (end,) = [one for one in spec["templates"] if one["name"] == spec["onExit"]]
    assert end["container"]["env"] == [
        {"name": "GEN_URL", "valueFrom": {"secretKeyRef": {"name": "hook", "key": "url"}}}
    ]
    assert end["container"]["args"] == ["ended", "team", "demo", "{{workflow.name}}", "{{workflow.status}}"]
    repo.overlay(OVERLAY)
    repo.job(PIPELINE + "attempt: 2\n")
    assert "onExit" not in repo.one("Workflow")["spec"]


def test_runs_of_a_schedule_have_a_message_and_runs_without_a_workflow_none(repo: Repository) -> None:
    repo.overlay(NOTIFYING)
    alone = "kind: pytorch\nimage: a:1\ncommand: x\ntimeout: 1h\n"
    repo.job(alone + "schedule: '@daily'\n")
    assert repo.one("CronWorkflow")["spec"]["workflowSpec"]["onExit"] == "main-exit"
    repo.job(PIPELINE + "schedule: '@daily'\n")
    assert repo.one("CronWorkflow")["spec"]["workflowSpec"]["onExit"] == "main-exit"
    repo.job(alone)
    assert "onExit" not in json.dumps(repo.objects())
    repo.job(PIPELINE.replace("only", "main-exit"))
    assert [one.message for one in repo.render()[0].findings] == [
        "`main-exit` is the name of the node that sends a message at the end"
    ]
