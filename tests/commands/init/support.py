"""A machine of CI: Git, an index with gen on it, and a host with an API."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import runpy
import subprocess
import sys
import threading
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
import yaml

from gen import __version__
from tests.support import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WHO = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


GEN = f"{os.path.dirname(sys.executable)}/gen"  # noqa: PTH120 - not through its link
"""The variable of `ci/check.sh`, for tests that are not about an installation, which takes most of the time."""
PATH = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"  # noqa: PTH120 - not through its link


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    merged = {**os.environ, **WHO, "PATH": PATH, "GITHUB_ACTIONS": "", "PIP_NO_INDEX": "1", **environment}
    return subprocess.run(command, cwd=cwd, env=merged, capture_output=True, text=True, check=False)


def run_here(script: str, *arguments: str | Path, cwd: Path, **environment: str) -> None:
    """Run a script of Python as `run` does, without the time that a process needs to start."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.chdir(cwd)
        patch.setattr(sys, "argv", [script, *map(str, arguments)])
        runpy.run_path(script, run_name="__main__")


def git(*arguments: str | Path, cwd: Path) -> str:
    done = run("git", *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def committed(root: Path) -> Path:
    git("init", "--quiet", "--initial-branch", "main", cwd=root)
    git("add", "--all", cwd=root)
    git("commit", "--quiet", "--message", "Start", cwd=root)
    return root


def with_stand_in(folder: Path, script: str) -> Path:
    """A new repository, committed, with a script in the place of gen."""
    stand_in = folder.parent / "stand-in"
    stand_in.write_text(script, "utf-8")
    stand_in.chmod(0o755)
    setup = f'#!/usr/bin/env bash\nmkdir -p "$1/bin" && cp "{stand_in}" "$1/bin/gen"\n'
    (folder / "ci/setup.sh").write_text(setup, "utf-8")
    return committed(folder)


def wheel_source(folder: Path) -> str:
    """A pinned source: the digest of a wheel that leads to this checkout and its dependencies."""
    folder.mkdir()
    name = f"gitops_gen-{__version__}"
    paths = [str(PROJECT), *(path for path in sys.path if path.endswith("site-packages"))]
    members = {
        "gitops_gen_here.pth": "".join(f"{path}\n" for path in paths),
        f"{name}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: gitops-gen\nVersion: {__version__}\n",
        f"{name}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{name}.dist-info/entry_points.txt": "[console_scripts]\ngen = gen.__main__:main\n",
    }
    record = "".join(f"{path},sha256={_digest(text)},{len(text.encode())}\n" for path, text in members.items())
    file = folder / f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as wheel:
        for path, text in members.items():
            wheel.writestr(path, text)
        wheel.writestr(f"{name}.dist-info/RECORD", f"{record}{name}.dist-info/RECORD,,\n")
    return f"file://{file}#sha256={hashlib.sha256(file.read_bytes()).hexdigest()}"


def shared_source(host: str = "github.com") -> str:
    """A commit of a repository that has the action, or the component. Nothing can be installed from it."""
    return f"git+https://{host}/acme/gen.git@{'a' * 40}"


def steps_of(root: Path, job: str) -> list[dict[str, Any]]:
    """The steps of the workflow of a job, and of the actions of this project that it uses."""
    workflow = yaml.safe_load((root / f".github/workflows/{job}.yml").read_text("utf-8"))
    return [inner for step in workflow["jobs"][job]["steps"] for inner in _steps_in(step)]


def _steps_in(step: dict[str, Any]) -> list[dict[str, Any]]:
    own = re.fullmatch("acme/gen/(actions/[a-z]+)@a{40}", step.get("uses", ""))
    if own is None:
        return [step]
    action = yaml.safe_load((PROJECT / own[1] / "action.yml").read_text("utf-8"))
    return [{**inner, "folder": PROJECT / own[1]} for inner in action["runs"]["steps"]]


def gitlab_jobs(root: Path) -> dict[str, Any]:
    """The jobs of `.gitlab-ci.yml`, and those of the component of this project that it includes."""
    jobs: dict[str, Any] = yaml.safe_load((root / ".gitlab-ci.yml").read_text("utf-8"))
    for included in jobs.get("include", ()):
        if re.fullmatch("[a-z.]+/acme/gen/check@a{40}", included.get("component", "")):
            jobs |= yaml.safe_load((PROJECT / "templates/check.yml").read_text("utf-8"))
    return jobs


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


@dataclass
class Host:
    """A Git host as its API shows it: answers by path, and received writes."""

    answers: dict[str, Callable[[], Any]]
    url: str = ""
    written: list[tuple[str, str, Any]] = field(default_factory=list)
    tokens: dict[str, str | None] = field(default_factory=dict)
    """Which credential came with a path."""


@contextmanager
def serving(host: Host) -> Iterator[Host]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            host.tokens[path] = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN")
            answer = host.answers[path]() if path in host.answers else None
            if isinstance(answer, str):
                self.send_response(302)
                self.send_header("Location", answer)
                self.end_headers()
                return
            self.send_response(404 if answer is None else 200)
            self.end_headers()
            self.wfile.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode())

        def _write(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            host.written.append((self.command, urlsplit(self.path).path, json.loads(raw)))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        do_POST = do_PATCH = do_PUT = _write  # noqa: N815 - the names are those of the base class

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    host.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
