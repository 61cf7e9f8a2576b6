"""The comment on a change: a single one, kept up to date, from untrusted data."""

from __future__ import annotations

import io
import sys
import zipfile
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.cases import for_each
from tests.commands.init.support import Host, run, run_here, serving
from tests.support import initialised

if TYPE_CHECKING:
    from pathlib import Path

SHA = "a" * 40
BASE = "c" * 40
MERGE = "d" * 40
TREE = "e" * 40
JUDGED = f"{TREE}\n{BASE}\n{SHA}\n"
API = "/repos/acme/jobs"
BOT = {"login": "github-actions[bot]"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("comment") / "new"
    assert initialised(folder)[1] == 0
    return folder


def archive(
    plan: str = "## 1 run starts\n", number: str = "7\n", head: str = f"{SHA}\n", judged: str = JUDGED
) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("plan.md", plan)
        packed.writestr("number.txt", number)
        packed.writestr("head.txt", head)
        packed.writestr("merge.txt", f"{MERGE}\n")
        packed.writestr("judged.txt", judged)
        packed.writestr("../../evil.sh", "exit 0")
    return buffer.getvalue()


def pull_request(sha: str = SHA, **changed: Any) -> dict[str, Any]:
    head = {"sha": sha, "ref": "topic", "repo": {"full_name": "eve/jobs", "owner": {"login": "eve"}}}
    return {"state": "open", "number": 7, "head": head, "base": {"ref": "main", "sha": BASE}} | changed


PAGE = {"name": "gen-page", "id": 4, "size_in_bytes": 3_000_000}


def github(raw: bytes, *, files: list[str], comments: list[Any], pull: dict[str, Any] | None = None) -> Host:
    host = Host({})
    found = pull_request() if pull is None else pull
    host.answers = {
        f"{API}/actions/runs/5/artifacts": lambda: {
            "artifacts": [PAGE, {"name": "gen-plan", "id": 3, "size_in_bytes": len(raw)}]
        },
        f"{API}/actions/artifacts/3/zip": lambda: f"{host.url}/storage?sig=1",
        "/storage": lambda: raw,
        f"{API}/pulls": lambda: [found],
        f"{API}/pulls/7": lambda: found,
        f"{API}/compare/{BASE}...{SHA}": lambda: {
            "merge_base_commit": {"sha": BASE},
            "files": [{"filename": name} for name in files],
        },
        f"{API}/git/ref/heads/main": lambda: {"object": {"sha": BASE}},
        f"{API}/git/commits/{MERGE}": lambda: {"parents": [{"sha": BASE}, {"sha": SHA}], "tree": {"sha": TREE}},
        f"{API}/issues/7/events": lambda: [{"event": "head_ref_force_pushed"}],
        f"{API}/issues/7/comments": lambda: comments,
    }
    return host


def comment(root: Path, host: Host, *, process: bool = False) -> None:
    with serving(host):
        environment = {
            "GITHUB_API_URL": host.url,
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_REPOSITORY": "acme/jobs",
            "GITHUB_TOKEN": "token",
            "RUN_ID": "5",
            "HEAD_SHA": SHA,
            "HEAD_BRANCH": "topic",
            "HEAD_REPOSITORY": "eve/jobs",
            "BASE_BRANCH": "main",
            "CONCLUSION": "success",
        }
        if process:
            done = run(sys.executable, "-I", "ci/github_comment.py", cwd=root, **environment)
            assert done.returncode == 0, done.stderr
        else:
            run_here("ci/github_comment.py", cwd=root, **environment)


def test_github_gets_one_comment_and_keeps_it(root: Path) -> None:
    host = github(archive(), files=["jobs/team-a/x.yaml"], comments=[])
    comment(root, host, process=True)
    ((method, path, data),) = host.written
    assert (method, path) == ("POST", f"{API}/issues/7/comments")
    assert data["body"].startswith("<!-- gen plan -->\n## 1 run starts\n")
    assert SHA in data["body"]
    assert "[Review page](https://github.com/acme/jobs/actions/runs/5/artifacts/4)" in data["body"]
    assert host.tokens["/storage"] is None, "the storage of artifacts is not the API"
    others = [{"id": 1, "user": {"login": "eve"}, "body": data["body"]}, {"id": 2, "user": BOT, "body": data["body"]}]
    host = github(archive("now\n"), files=["jobs/team-a/x.yaml"], comments=others)
    comment(root, host)
    assert [written[:2] for written in host.written] == [("PATCH", f"{API}/issues/comments/2")]


@for_each(
    "host",
    [
        github(archive(), files=[], comments=[], pull=pull_request("b" * 40)),
        github(archive(head="b" * 40), files=[], comments=[]),
        github(archive(head=""), files=[], comments=[]),
        github(archive(), files=[], comments=[], pull=pull_request(state="closed")),
        github(archive(), files=[], comments=[], pull=pull_request(base={"ref": "weak", "sha": BASE})),
        github(archive(), files=[], comments=[], pull=pull_request(head={"sha": SHA, "ref": "main", "repo": None})),
        github(archive(number="7/../8"), files=[], comments=[]),
        github(b"x" * ((1 << 20) + 1), files=[], comments=[]),
    ],
    ids=[
        "another commit",
        "an artifact about another commit",
        "an artifact about no commit",
        "closed",
        "another base branch",
        "another branch",
        "no number",
        "too large",
    ],
)
def test_github_gets_no_comment_about_another_commit(root: Path, host: Host) -> None:
    comment(root, host)
    assert host.written == []


def test_a_force_push_before_the_comment_is_posted_stops_it(root: Path) -> None:
    """The plan of one head must not be posted once the pull request has another one."""
    host = github(archive(), files=[], comments=[])
    asked: list[str] = []

    def forced() -> dict[str, Any]:
        asked.append("pull")
        return pull_request(SHA if len(asked) == 1 else "b" * 40)

    host.answers[f"{API}/pulls/7"] = forced
    comment(root, host)
    assert (len(asked), host.written) == (2, [])


def test_changed_checks_are_those_of_the_checked_commit(root: Path) -> None:
    """After a force-push, the files of the pull request would be those of its new head."""
    host = github(archive("nothing is removed\n"), files=["ci/check.sh"], comments=[])
    host.answers[f"{API}/pulls/7/files"] = list
    comment(root, host)
    ((_, _, data),) = host.written
    assert "nothing is removed" not in data["body"]


@pytest.mark.parametrize("changed", [True, False])
def test_changed_checks_are_found_among_any_number_of_files(root: Path, *, changed: bool) -> None:
    host = github(archive("1 run starts\n"), files=[f"jobs/a/{number}.yaml" for number in range(300)], comments=[])
    for commit, digest in ((BASE, "1"), (SHA, "2" if changed else "1")):
        entries = [{"path": "ci", "sha": digest}, {"path": "jobs", "sha": commit}]
        host.answers[f"{API}/git/trees/{commit}"] = partial(dict, tree=entries)
    comment(root, host)
    ((_, _, data),) = host.written
    assert ("1 run starts" in data["body"]) is not changed
    assert ("    ci\n" in data["body"]) is changed


@pytest.mark.parametrize(
    ("judged", "changed", "reason"),
    [
        (
            JUDGED,
            {"git/ref/heads/main": {"object": {"sha": "b" * 40}}},
            "`main` moved from cccccccccccc to bbbbbbbbbbbb",
        ),
        ("", {}, "the run does not say what it judged"),
        (f"{TREE}\n{BASE}\nx\n", {}, "the run does not say what it judged"),
        (f"{'1' * 40}\n{BASE}\n{SHA}\n", {}, "the judged tree is not the one of the merge"),
        (f"{TREE}\n{BASE}\n{'b' * 40}\n", {}, "the judged tree is not the one of the merge"),
        (
            JUDGED,
            {f"git/commits/{MERGE}": {"parents": [{"sha": SHA}], "tree": {"sha": TREE}}},
            "the judged tree is not",
        ),
    ],
    ids=["the base moved", "nothing judged", "no commit", "another tree", "another head", "another merge"],
)
def test_a_plan_for_another_merge_is_not_shown(root: Path, judged: str, changed: dict[str, Any], reason: str) -> None:
    host = github(archive("0 runs start\n", judged=judged), files=["jobs/team-a/x.yaml"], comments=[])
    host.answers |= {f"{API}/{path}": partial(dict, answer) for path, answer in changed.items()}
    comment(root, host)
    ((_, _, data),) = host.written
    assert "0 runs start" not in data["body"]
    assert "Review page" not in data["body"]
    assert data["body"].splitlines()[1].startswith(f"### No plan: {reason}")


@pytest.mark.parametrize("file", ["overlays/production/overlay.yaml", "README.md", "docs/owners.md"])
def test_a_plan_of_overlays_and_texts_is_shown(root: Path, file: str) -> None:
    host = github(
        archive("1 run starts\n"), files=["jobs/team-a/x.yaml", "rendered/production/x/y.yaml", file], comments=[]
    )
    comment(root, host)
    ((_, _, data),) = host.written
    assert "1 run starts" in data["body"]


@pytest.mark.parametrize("how", ["its base was changed", "another pull request has another base"])
def test_a_plan_for_another_base_is_not_shown(root: Path, how: str) -> None:
    """An author who may push branches can check the same head against a base with other checks."""
    host = github(archive("0 runs start\n"), files=[], comments=[])
    if how == "its base was changed":
        host.answers[f"{API}/issues/7/events"] = lambda: [{"event": "base_ref_changed"}]
    else:
        other = pull_request(number=8, state="closed", base={"ref": "weak", "sha": BASE})
        host.answers[f"{API}/pulls"] = lambda: [pull_request(), other]
    comment(root, host)
    ((_, _, data),) = host.written
    assert "0 runs start" not in data["body"]
    assert data["body"].splitlines()[1] == "### No plan: this branch was also proposed for another base branch"


@pytest.mark.parametrize("listed", ["issues/7/events", "pulls"])
def test_no_plan_is_shown_if_not_everything_was_seen(root: Path, listed: str) -> None:
    """3,000 labels hide the change of the base after them."""
    host = github(archive("0 runs start\n"), files=[], comments=[])
    page = [{"event": "labeled"}] * 100 if listed == "issues/7/events" else [pull_request()] * 100
    host.answers[f"{API}/{listed}"] = lambda: page
    comment(root, host)
    ((_, _, data),) = host.written
    assert "0 runs start" not in data["body"]
    assert "Review page" not in data["body"]
    assert (
        data["body"].splitlines()[1] == "### No plan: this branch has too many events or pull requests to see its bases"
    )


def test_a_run_that_failed_early_is_a_comment(root: Path) -> None:
    host = github(archive(""), files=[], comments=[])
    comment(root, host)
    ((_, _, data),) = host.written
    assert data["body"].splitlines()[1] == "### Refused: the check failed before it had a plan, see its log"


@for_each(
    "file",
    [
        ".github/workflows/check.yml",
        "ci/check.sh",
        "requirements.txt",
        "jobs/.gitattributes",
        ".gitmodules",
        "x/.gitmodules",
        ".venv/lib/python3.12/site-packages/x.pth",
        "gen/__main__.py",
        "setup.cfg",
        "jobs/team-a/.GitAttributes",
        "jobs/x.yaml",
        "overlays",
        "docs/conf.py",
    ],
)
def test_a_change_of_the_checks_is_listed_instead_of_the_plan(root: Path, file: str) -> None:
    host = github(archive("nothing is removed\n"), files=["jobs/team-a/x.yaml", file], comments=[])
    comment(root, host)
    ((_, _, data),) = host.written
    assert "nothing is removed" not in data["body"]
    assert "Review page" not in data["body"], "it has the same plan"
    assert data["body"].splitlines()[1] == "### No plan: this pull request changes files that can change its checks"
    assert f"    {file}\n" in data["body"]


def test_many_new_files_hide_no_change_of_the_checks(root: Path) -> None:
    host = github(archive("nothing is removed\n"), files=[], comments=[])
    files = [{"filename": f"A/{number}", "status": "added"} for number in range(30)]
    files += [{"filename": "ci/check.sh", "status": "modified"}, {"filename": ".github/z.yml", "status": "added"}]
    host.answers[f"{API}/compare/{BASE}...{SHA}"] = lambda: {"merge_base_commit": {"sha": BASE}, "files": files}
    comment(root, host)
    ((_, _, data),) = host.written
    assert "\n    ci/check.sh\n    .github/z.yml\n    A/0\n" in data["body"]
    assert "\n    and 12 more\n" in data["body"]


def test_no_name_of_a_file_is_markdown(root: Path) -> None:
    name = "x\n\n### No errors\n\n![](https://evil.example.com) \x1b\u202e"
    host = github(archive("nothing is removed\n"), files=[name], comments=[])
    comment(root, host)
    ((_, _, data),) = host.written
    assert "\n    x??### No errors??![](https://evil.example.com) ??\n" in data["body"]


def test_a_plan_is_cut_to_what_github_takes(root: Path) -> None:
    host = github(archive("x" * 900_000), files=[], comments=[])
    comment(root, host)
    ((_, _, data),) = host.written
    assert 64_000 < len(data["body"]) < 65_536
    bomb = github(archive("x" * 50_000_000), files=[], comments=[])
    comment(root, bomb)
    assert len(bomb.written) == 1


REQUEST = "/projects/4/merge_requests/7"


def gitlab(root: Path, plan: Path, request: dict[str, Any], notes: list[Any], target: str = BASE) -> Host:
    jobs = [{"name": "lint", "web_url": "https://x"}, {"name": "gen", "web_url": "https://gitlab.com/a/b/-/jobs/6"}]
    host = Host(
        {
            "/user": lambda: {"id": 9},
            REQUEST: lambda: request,
            f"{REQUEST}/notes": lambda: notes,
            "/projects/4/pipelines/11/jobs": lambda: jobs,
            "/projects/4/repository/branches/main": lambda: {"commit": {"id": target}},
        }
    )
    with serving(host):
        environment = {
            "CI_API_V4_URL": host.url,
            "CI_PROJECT_ID": "4",
            "CI_PIPELINE_ID": "11",
            "CI_MERGE_REQUEST_IID": "7",
            "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
            "CI_COMMIT_SHA": SHA,
            "GEN_COMMENT_TOKEN": "token",
        }
        run_here("ci/gitlab_comment.py", plan, cwd=root, **environment)
    return host


CURRENT = {"sha": SHA, "target_branch": "main", "state": "opened"}


def test_gitlab_gets_one_comment_and_keeps_it(root: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.md"
    plan.write_text("## 1 run starts\n", "utf-8")
    (tmp_path / "head.txt").write_text(f"{SHA}\n", "utf-8")
    (tmp_path / "judged.txt").write_text(JUDGED, "utf-8")
    (tmp_path / "plan.html").write_text("<!doctype html>", "utf-8")
    first = gitlab(root, plan, CURRENT, [])
    body = first.written[0][2]["body"]
    assert body.startswith("<!-- gen plan -->\n## 1 run starts\n")
    assert "[Review page](https://gitlab.com/a/b/-/jobs/6/artifacts/file/gen-report/plan.html)" in body
    notes = [{"id": 1, "author": {"id": 8}, "body": body}, {"id": 2, "author": {"id": 9}, "body": body}]
    second = gitlab(root, plan, CURRENT, notes)
    written = [one[:2] for host in (first, second) for one in host.written]
    assert written == [("POST", f"{REQUEST}/notes"), ("PUT", f"{REQUEST}/notes/2")]
    assert first.tokens[f"{REQUEST}/notes"] == "token"


@pytest.mark.parametrize("changed", [{"sha": "b" * 40}, {"target_branch": "weak"}, {"state": "closed"}])
def test_gitlab_gets_no_comment_about_another_commit(root: Path, tmp_path: Path, changed: dict[str, str]) -> None:
    (tmp_path / "plan.md").write_text("## 1 run starts\n", "utf-8")
    assert gitlab(root, tmp_path / "plan.md", CURRENT | changed, []).written == []


@pytest.mark.parametrize("head", ["", "b" * 40])
def test_gitlab_gets_no_plan_that_the_branch_committed(root: Path, tmp_path: Path, head: str) -> None:
    """A file of the branch stays in the work tree when the job `gen` fails before its report."""
    (tmp_path / "plan.md").write_text("## 0 runs start\n", "utf-8")
    (tmp_path / "plan.html").write_text("<!doctype html>", "utf-8")
    if head:
        (tmp_path / "head.txt").write_text(head, "utf-8")
    body = gitlab(root, tmp_path / "plan.md", CURRENT, []).written[0][2]["body"]
    assert "### Refused: the check failed before it had a plan" in body
    assert "0 runs start" not in body
    assert "Review page" not in body


@pytest.mark.parametrize(
    ("judged", "reason"),
    [
        (JUDGED, "`main` moved from cccccccccccc to bbbbbbbbbbbb since: run the pipeline again"),
        ("", "the job does not say what it judged"),
    ],
)
def test_gitlab_gets_no_plan_for_another_target(root: Path, tmp_path: Path, judged: str, reason: str) -> None:
    for name, text in {"plan.md": "## 0 runs start\n", "head.txt": SHA, "judged.txt": judged}.items():
        (tmp_path / name).write_text(text, "utf-8")
    body = gitlab(root, tmp_path / "plan.md", CURRENT, [], "b" * 40).written[0][2]["body"]
    assert body.splitlines()[1] == f"### No plan: {reason}"
    assert "0 runs start" not in body


def test_gitlab_gets_a_comment_without_a_plan(root: Path, tmp_path: Path) -> None:
    host = gitlab(root, tmp_path / "plan.md", CURRENT, [])
    assert "### Refused: the check failed before it had a plan" in host.written[0][2]["body"]
    assert "Review page" not in host.written[0][2]["body"]
