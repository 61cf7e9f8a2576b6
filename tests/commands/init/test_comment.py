"""The comment beside a change: one, kept up to date, from data that strangers made."""

from __future__ import annotations

import io
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from tests.commands.init.support import Host, run, serving
from tests.support import initialised

if TYPE_CHECKING:
    from pathlib import Path

SHA = "a" * 40
API = "/repos/acme/jobs"
BOT = {"login": "github-actions[bot]"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("comment") / "new"
    assert initialised(folder)[1] == 0
    return folder


def archive(plan: str = "## 1 run starts\n", number: str = "7\n") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("plan.md", plan)
        packed.writestr("number.txt", number)
        packed.writestr("../../evil.sh", "exit 0")
    return buffer.getvalue()


def github(raw: bytes, *, files: list[str], comments: list[Any], sha: str = SHA, state: str = "open") -> Host:
    host = Host({})
    host.answers = {
        f"{API}/actions/runs/5/artifacts": lambda: {
            "artifacts": [{"name": "gen-plan", "id": 3, "size_in_bytes": len(raw)}]
        },
        f"{API}/actions/artifacts/3/zip": lambda: f"{host.url}/storage?sig=1",
        "/storage": lambda: raw,
        f"{API}/pulls/7": lambda: {"state": state, "head": {"sha": sha}, "changed_files": len(files)},
        f"{API}/pulls/7/files": lambda: [{"filename": name} for name in files],
        f"{API}/issues/7/comments": lambda: comments,
    }
    return host


def comment(root: Path, host: Host) -> None:
    with serving(host):
        environment = {
            "GITHUB_API_URL": host.url,
            "GITHUB_REPOSITORY": "acme/jobs",
            "GITHUB_TOKEN": "token",
            "RUN_ID": "5",
            "HEAD_SHA": SHA,
            "CONCLUSION": "success",
        }
        done = run(sys.executable, "-I", "ci/github_comment.py", cwd=root, **environment)
    assert done.returncode == 0, done.stderr


def test_github_gets_one_comment_and_keeps_it(root: Path) -> None:
    host = github(archive(), files=["jobs/team-a/x.yaml"], comments=[])
    comment(root, host)
    ((method, path, data),) = host.written
    assert (method, path) == ("POST", f"{API}/issues/7/comments")
    assert data["body"].startswith("<!-- gen plan -->\n## 1 run starts\n")
    assert SHA in data["body"]
    assert host.tokens["/storage"] is None, "the storage of artifacts is not the API"
    others = [{"id": 1, "user": {"login": "eve"}, "body": data["body"]}, {"id": 2, "user": BOT, "body": data["body"]}]
    host = github(archive("now\n"), files=["jobs/team-a/x.yaml"], comments=others)
    comment(root, host)
    assert [written[:2] for written in host.written] == [("PATCH", f"{API}/issues/comments/2")]


@pytest.mark.parametrize(
    "host",
    [
        github(archive(), files=[], comments=[], sha="b" * 40),
        github(archive(), files=[], comments=[], state="closed"),
        github(archive(number="7/../8"), files=[], comments=[]),
        github(b"x" * ((1 << 20) + 1), files=[], comments=[]),
    ],
    ids=["another commit", "closed", "no number", "too large"],
)
def test_github_gets_no_comment_about_another_commit(root: Path, host: Host) -> None:
    comment(root, host)
    assert host.written == []


@pytest.mark.parametrize(
    "file", [".github/workflows/check.yml", "ci/check.sh", "requirements.txt", "jobs/.gitattributes"]
)
def test_a_change_of_the_checks_is_listed_instead_of_the_plan(root: Path, file: str) -> None:
    host = github(archive("nothing is removed\n"), files=["jobs/team-a/x.yaml", file], comments=[])
    comment(root, host)
    ((_, _, data),) = host.written
    assert "nothing is removed" not in data["body"]
    assert f"    {file}\n" in data["body"]


def test_a_plan_is_cut_to_what_github_takes(root: Path) -> None:
    host = github(archive("x" * 900_000), files=[], comments=[])
    comment(root, host)
    ((_, _, data),) = host.written
    assert 64_000 < len(data["body"]) < 65_536
    bomb = github(archive("x" * 50_000_000), files=[], comments=[])
    comment(root, bomb)
    assert len(bomb.written) == 1


def test_gitlab_gets_one_comment_and_keeps_it(root: Path, tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("## 1 run starts\n", "utf-8")
    notes: list[Any] = []
    path = "/projects/4/merge_requests/7/notes"
    host = Host({"/user": lambda: {"id": 9}, path: lambda: notes})
    with serving(host):
        environment = {
            "CI_API_V4_URL": host.url,
            "CI_PROJECT_ID": "4",
            "CI_MERGE_REQUEST_IID": "7",
            "CI_COMMIT_SHA": SHA,
            "GEN_COMMENT_TOKEN": "token",
        }
        for _ in range(2):
            done = run(sys.executable, "-I", "ci/gitlab_comment.py", tmp_path / "plan.md", cwd=root, **environment)
            assert done.returncode == 0, done.stderr
            body = host.written[0][2]["body"]
            notes[:] = [{"id": 1, "author": {"id": 8}, "body": body}, {"id": 2, "author": {"id": 9}, "body": body}]
    assert [written[:2] for written in host.written] == [("POST", path), ("PUT", f"{path}/2")]
    assert host.written[0][2]["body"].startswith("<!-- gen plan -->\n## 1 run starts\n")
    assert host.tokens[path] == "token"
