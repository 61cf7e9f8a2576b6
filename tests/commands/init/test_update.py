"""`gen init --update`, and the version of gen that a repository requires."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from gen import __version__
from gen.base.findings import UsageError
from gen.base.repository.settings import admits, read_settings
from gen.commands import init
from gen.report.findings.text import text
from tests.commands.init.support import committed, git, run, shared_source
from tests.processes import gen
from tests.support import PROJECT, Repository, initialised, tree

if TYPE_CHECKING:
    from pathlib import Path

CHECK = "ci/check.sh"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "new"
    assert initialised(folder, owner="@acme/infra", pins=True)[1] == 0
    return committed(folder)


def newer(monkeypatch: pytest.MonkeyPatch, **files: bytes | None) -> None:
    """A version of gen that writes other files; None is one that it does not write any more."""
    real = init.repository_files

    def changed(request: init.Request, *, example: bool, source: str | None = None) -> dict[str, bytes]:
        texts = dict(real(request, example=example, source=source))
        for path, raw in files.items():
            if raw is None:
                texts.pop(path, None)
            else:
                texts[path] = raw
        return texts

    monkeypatch.setattr(init, "repository_files", changed)


def test_another_version_is_refused_in_one_line(repo: Repository) -> None:
    repo.write("gen.yaml", "requires: ==9.9.0\n")
    with pytest.raises(UsageError) as refused:
        repo.render()
    said = f"this repository requires gen ==9.9.0, and this is {__version__}: run `pip install 'gitops-gen==9.9.0'`"
    assert str(refused.value) == said
    repo.write("requirements.txt", "# the source\ngitops-gen @ git+https://git.example.com/gen@" + "a" * 40 + "\n")
    with pytest.raises(UsageError, match=r"run `pip install --requirement requirements\.txt`$"):
        repo.check()
    repo.write("gen.yaml", f"requires: '>={__version__},<99'\n")
    assert repo.render()[1] == 0


@pytest.mark.slow
@pytest.mark.parametrize("command", [["validate", "."], ["schema", "job"], ["explain", "team/demo", "--pods"]])
def test_commands_that_read_the_repository_around_them_refuse_it_too(command: list[str], repo: Repository) -> None:
    repo.write("gen.yaml", "requires: ==9.9.0\n")
    done = gen(*command, cwd=repo.root)
    said = (
        f"gen: this repository requires gen ==9.9.0, and this is {__version__}: run `pip install 'gitops-gen==9.9.0'`\n"
    )
    assert (done.returncode, done.stderr) == (2, said)


@pytest.mark.parametrize("content", ["", "- a\n", "requires: {a: b}\n", "require: ==1\n", "requires: =1\n", "[\n"])
def test_settings_that_are_none_are_refused(repo: Repository, content: str) -> None:
    repo.write("gen.yaml", content)
    with pytest.raises(UsageError, match=r"gen\.yaml"):
        repo.render()


@pytest.mark.parametrize(
    ("content", "place", "expected"),
    [
        ("init:\n  filez: {}\n", "2:10", "one of `namespace`, `overlay`, `owner`, `with`, `files`"),
        ("init:\n  files: {a: [b]}\n", "2:10", "paths with the names of their blobs"),
        ("init:\n  with: pins\n", "2:9", "a list of texts"),
        ("init:\n  owner: [a]\n", "2:10", "a text"),
        ("init: a\n", "1:7", "a mapping"),
    ],
)
def test_no_field_of_the_settings_is_ignored(repo: Repository, content: str, place: str, expected: str) -> None:
    repo.write("gen.yaml", content)
    with pytest.raises(UsageError, match=rf"^gen\.yaml:{place}: .* is not valid: expected {expected}"):
        repo.render()


@pytest.mark.parametrize(("requires", "fits"), [("==0.1.0", True), (">=0.1,<0.2", True), ("~=0.2", False), ("", True)])
def test_ranges_of_versions(requires: str, fits: bool) -> None:
    assert admits(requires, "0.1.0") is fits


@pytest.mark.slow
def test_an_update_without_news_changes_nothing(root: Path) -> None:
    report, code = initialised(root, update=True)
    assert (code, report.summary) == (0, "all files are those of this version")
    assert git("status", "--porcelain", cwd=root) == ""
    settings = read_settings(root)
    assert settings.names == {"namespace": "team-a", "overlay": "production", "owner": "@acme/infra"}
    assert (settings.requires, settings.parts) == (f"=={__version__}", ("pins",))


@pytest.mark.slow
def test_edits_of_the_user_stay(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (root / CHECK).read_text()
    own = before.replace("set -euo pipefail\n", "set -euo pipefail\necho 'by us'\n")
    (root / CHECK).write_text(own)
    (root / ".gitlab-ci.yml").unlink()
    (root / "justfile").write_text("ours:\n")
    git("commit", "--quiet", "--all", "--message", "Ours", cwd=root)
    newer(
        monkeypatch,
        **{
            CHECK: (before + "# newer\n").encode(),
            "ci/new.sh": b"#!/bin/sh\n",
            "renovate.json": b"{}\n",
            ".pre-commit-config.yaml": None,
            ".gitlab-ci.yml": b"newer\n",
        },
    )
    report, code = initialised(root, update=True)
    assert code == 0, text(report)
    assert (root / CHECK).read_text() == own + "# newer\n"
    assert (root / "ci/new.sh").exists()
    assert not (root / ".gitlab-ci.yml").exists(), "the user removed it"
    assert not (root / ".pre-commit-config.yaml").exists(), "gen does not write it any more"
    assert (root / "justfile").read_text() == "ours:\n"
    assert "changed ci/check.sh\n" in report.summary
    assert initialised(root, update=True)[0].summary == "all files are those of this version"
    assert Repository(root).check()[1] == 0


@pytest.mark.slow
def test_lines_that_both_changed_are_marked(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (root / CHECK).read_text()
    (root / CHECK).write_text(before.replace("set -euo pipefail", "set -eu"))
    newer(monkeypatch, **{CHECK: before.replace("set -euo pipefail", "set -euxo pipefail").encode()})
    report, code = initialised(root, update=True)
    assert code == 1
    assert [(one.code, one.place.file) for one in report.findings] == [("merge-conflict", CHECK)]
    line = (root / CHECK).read_text().splitlines()[report.findings[0].place.line - 1]
    assert line == "<<<<<<< yours"


@pytest.mark.slow
def test_only_a_repository_in_git_is_updated(tmp_path: Path) -> None:
    assert initialised(tmp_path / "new")[1] == 0
    with pytest.raises(UsageError, match="is not in a Git repository"):
        initialised(tmp_path / "new", update=True)


@pytest.mark.slow
def test_an_edited_file_takes_all_updates(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first text of gen is in a commit: later ones were merged with the edits."""
    before = (root / CHECK).read_text()
    own = before.replace("set -euo pipefail\n", "set -euo pipefail\necho 'by us'\n")
    (root / CHECK).write_text(own)
    git("commit", "--quiet", "--all", "--message", "Ours", cwd=root)
    for last in ("# second\n", "# third\n", "# fourth\n", ""):
        with monkeypatch.context() as patch:
            newer(patch, **{CHECK: (before + last).encode()})
            report, code = initialised(root, update=True)
        assert code == 0, text(report)
        assert (root / CHECK).read_text() == own + last
        git("commit", "--quiet", "--all", "--message", "Update", cwd=root)


@pytest.mark.slow
def test_steps_and_scripts_become_those_of_an_action_or_a_component(root: Path) -> None:
    """The source of gen decides, that of requirements.txt if no other is given."""
    files = (".gitlab-ci.yml", "ci/check.sh", "ci/github_comment.py", "ci/gitlab_comment.py")
    before = {file: (root / file).read_text() for file in files}
    check = root / ".github/workflows/check.yml"
    check.write_text(check.read_text().replace("timeout-minutes: 15", "timeout-minutes: 30"))
    git("commit", "--quiet", "--all", "--message", "Ours", cwd=root)
    for source, script, steps in (
        (shared_source(), "ci/github_comment.py", "uses: acme/gen/actions/check@"),
        (shared_source("gitlab.example.com"), "ci/gitlab_comment.py", "actions/checkout@"),
    ):
        report, code = initialised(root, update=True, source=source)
        assert code == 0, text(report)
        assert [one for one in before if not (root / one).exists()] == [script]
        assert steps in check.read_text()
        assert "timeout-minutes: 30" in check.read_text()
        git("add", "--all", cwd=root)
        git("commit", "--quiet", "--message", "Update", cwd=root)
        assert initialised(root, update=True)[0].summary == "all files are those of this version"
    assert "component: gitlab.example.com/acme/gen/check@" in (root / ".gitlab-ci.yml").read_text()
    (root / "requirements.txt").write_text("gitops-gen==1\n")
    assert initialised(root, update=True)[1] == 0
    assert (root / ".gitlab-ci.yml").read_text() == before[".gitlab-ci.yml"]
    assert (root / "ci/gitlab_comment.py").read_text() == before["ci/gitlab_comment.py"]


def scaffold_commits() -> list[str]:
    """The last three commits of the project that changed what `gen init` writes, without the one of today."""
    done = run("git", "log", "-5", "--format=%H", "--", "gen/templates/init", cwd=PROJECT)
    return done.stdout.split()[1:4] if done.returncode == 0 else []


@pytest.mark.slow
@pytest.mark.parametrize("number", range(3))
def test_repositories_of_older_commits(number: int, tmp_path: Path) -> None:
    """What these wrote has the edits of a user, and becomes what gen writes today, with the edits."""
    commits = scaffold_commits()
    if len(commits) <= number:
        pytest.skip("needs the history of the project")
    old, folder = tmp_path / "old", tmp_path / "repository"
    git("clone", "--quiet", "--shared", "--no-checkout", PROJECT, old, cwd=tmp_path)
    git("checkout", "--quiet", commits[number], cwd=old)
    done = run(sys.executable, "-m", "gen", "init", folder, cwd=old, PYTHONPATH=str(old))
    assert done.returncode == 0, done.stderr
    committed(folder)
    owners = folder / "CODEOWNERS"
    owners.write_text(owners.read_text() + "/jobs/team-a/ @team-a\n")
    git("commit", "--quiet", "--all", "--message", "Ours", cwd=folder)
    report, code = initialised(folder, update=True)
    assert code == 0, text(report)
    assert initialised(tmp_path / "today")[1] == 0
    for path, expected in tree(tmp_path / "today").items():
        ours = "/jobs/team-a/ @team-a\n" if path == "CODEOWNERS" else ""
        if not path.startswith(("jobs/", "overlays/", "rendered/")) and path not in {"gen.yaml", "requirements.txt"}:
            assert (folder / path).read_text() == expected + ours, path
    assert Repository(folder).render()[1] == 0
    assert json.loads((folder / "schemas/job.schema.json").read_text())
