"""Files that `gen init` writes, and files that it keeps."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import pytest
import yaml
from jsonschema_rs import Draft7Validator

from gen.base.findings import UsageError
from gen.commands.init import Request, run
from gen.commands.new import job_text
from gen.job.kinds import ALL_KINDS
from gen.report.findings.text import text
from gen.report.schemas import schema_text
from tests.commands.init import support
from tests.support import PROJECT, Repository, initialised, tree

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow  # processes in repositories that `gen init` creates


def made(root: Path) -> Path:
    report, code = initialised(root)
    assert code == 0, text(report)
    return root


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_it_is_rendered_and_clean(tmp_path: Path) -> None:
    root = made(tmp_path / "new")
    report, code = Repository(root).check()
    assert (code, report.findings) == (0, ())
    assert {path.split("/")[0] for path in tree(root / "rendered")} == {"production"}


def test_names_are_those_that_were_given(tmp_path: Path) -> None:
    root = tmp_path / "new"
    assert initialised(root, namespace="vision", overlay="ack", owner="@acme/infra")[1] == 0
    assert (root / "jobs/vision/hello.yaml").exists()
    assert (root / "overlays/ack/overlay.yaml").exists()
    assert "@acme/infra" in (root / "CODEOWNERS").read_text("utf-8")
    assert "team-a" not in (root / "README.md").read_text("utf-8")
    assert Repository(root).check()[1] == 0


@pytest.mark.parametrize(
    "request_of",
    [
        lambda root: Request(folder=root, namespace="Team"),
        lambda root: Request(folder=root, overlay="../x"),
        lambda root: Request(folder=root, owner="a\n* @me"),
        lambda root: Request(folder=root, owner="platform"),
        lambda root: Request(folder=root, source="https://example.com/gen.whl\nevil"),
    ],
)
def test_a_name_that_cannot_be_writes_nothing(tmp_path: Path, request_of: object) -> None:
    assert callable(request_of)
    with pytest.raises(UsageError, match=r"is not a valid|invalid --source"):
        run(request_of(tmp_path / "new"))
    assert not (tmp_path / "new").exists()


def test_what_is_optional_in_the_overlay_renders_when_it_is_uncommented(tmp_path: Path) -> None:
    root = made(tmp_path / "new")
    overlay = root / "overlays/production/overlay.yaml"
    head, options = overlay.read_text("utf-8").split("# Optional fields:")
    uncommented = "\n".join(line.removeprefix("# ") for line in options.splitlines()[1:])
    overlay.write_text(head + uncommented, "utf-8")
    job = root / "jobs/team-a/hello.yaml"
    job.write_text(job.read_text("utf-8") + "\ndata: {results: /results, training-data: /data}\n", "utf-8")
    report, code = Repository(root).render()
    assert (code, {finding.code for finding in report.findings}) == (0, {"mutable-ref"}), "`pins: warn` is one of them"


def test_a_new_job_of_each_kind_renders_with_what_the_readme_names(tmp_path: Path) -> None:
    root = made(tmp_path / "new")
    overlay = root / "overlays/production/overlay.yaml"
    for kind in ALL_KINDS:
        (root / f"jobs/team-a/new-{kind}.yaml").write_text(job_text(kind, with_schema=True), "utf-8")

    def refused() -> set[str]:
        report, _ = Repository(root).render()
        return {finding.place.file for finding in report.findings if finding.is_error}

    assert refused() == {f"jobs/team-a/new-{kind}.yaml" for kind in ("train", "pipeline")}
    fields = r"(?m)^# (runtimes:.*|pipelines:.*|  (?:torch-distributed|argo: {serviceAccount).*)$"
    overlay.write_text(re.sub(fields, r"\1", overlay.read_text("utf-8")), "utf-8")
    assert refused() == set()


def test_again_it_has_nothing_to_do_and_it_mends_what_is_missing(tmp_path: Path) -> None:
    root = made(tmp_path / "new")
    before = files(root)
    report, code = initialised(root)
    assert (code, "nothing was written" in report.summary) == (0, True)
    (root / "ci/check.sh").unlink()
    shutil.rmtree(root / "jobs")
    made(root)
    assert files(root) == before
    assert os.access(root / "ci/check.sh", os.X_OK)


def test_again_without_its_options_it_has_nothing_to_do(tmp_path: Path) -> None:
    root = tmp_path / "new"
    assert initialised(root, namespace="vision", owner="infra@example.com", pins=True)[1] == 0
    report, code = initialised(root)
    assert (code, report.findings, "nothing was written" in report.summary) == (0, (), True)


def test_a_repository_that_is_there_gets_all_but_the_example(tmp_path: Path) -> None:
    for file in ("jobs/mine/a.yaml", "overlays/prod/overlay.yaml"):
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).write_text("x: 1\n", "utf-8")
    made(tmp_path)
    assert sorted(path.name for path in (tmp_path / "jobs").iterdir()) == ["mine"]
    assert not (tmp_path / "rendered").exists()
    assert (tmp_path / "ci/check.sh").exists()


def test_files_in_the_way_are_all_named_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine\n", "utf-8")
    (tmp_path / "other.txt").write_text("mine\n", "utf-8")
    (tmp_path / "justfile").mkdir()
    (tmp_path / "ci").write_text("a file\n", "utf-8")
    before = files(tmp_path)
    report, code = initialised(tmp_path)
    assert code == 1
    assert [finding.place.file for finding in report.findings] == [
        "README.md",
        "ci/check.sh",
        "ci/github_comment.py",
        "ci/gitlab_comment.py",
        "ci/hook.sh",
        "ci/setup.sh",
        "justfile",
    ]
    assert files(tmp_path) == before


def test_files_of_the_user_stay_and_the_rest_is_added(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine\n", "utf-8")
    report, code = initialised(tmp_path)
    assert ([(finding.code, finding.place.file) for finding in report.findings], code) == ([("kept", "README.md")], 0)
    assert (tmp_path / "README.md").read_text("utf-8") == "mine\n"
    assert (tmp_path / "ci/check.sh").exists()


@pytest.mark.parametrize("link", ["ci", ".github", "README.md", "rendered"])
def test_links_are_not_followed(tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "new"
    root.mkdir()
    (root / link).symlink_to(outside if link != "README.md" else outside / "README.md")
    refused = _refusal(root)
    assert link in refused
    assert list(outside.iterdir()) == []
    assert [path.name for path in root.iterdir()] == [link]


def _refusal(root: Path) -> str:
    try:
        report, code = initialised(root)
    except UsageError as error:
        return str(error)
    assert code == 1
    return text(report)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "new").write_text("x", "utf-8")
    with pytest.raises(UsageError, match="is not a folder"):
        initialised(tmp_path / "new")


def test_a_read_only_folder_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path / "new")
    before = files(tmp_path)
    (tmp_path / "new/ci/check.sh").unlink()

    opened = os.open

    def full(path: str, flags: int, *others: int, **named: int) -> int:
        if flags & os.O_CREAT:
            raise OSError(28, "No space left on device", "check.sh")
        return opened(path, flags, *others, **named)

    monkeypatch.setattr(os, "open", full)
    with pytest.raises(UsageError, match=r"check\.sh cannot be written: No space left on device; nothing was changed"):
        initialised(tmp_path / "new")
    monkeypatch.undo()
    assert files(tmp_path) == {path: raw for path, raw in before.items() if path != "new/ci/check.sh"}


def test_editors_find_the_schemas_and_accept_the_files(tmp_path: Path) -> None:
    root = made(tmp_path / "new")
    settings = json.loads((root / ".vscode/settings.json").read_text("utf-8"))
    extension = json.loads((PROJECT / "editors/vscode/package.json").read_text("utf-8"))
    recommended = json.loads((root / ".vscode/extensions.json").read_text("utf-8"))["recommendations"]
    assert recommended == [f"{extension['publisher']}.{extension['name']}"]  # and no second one that checks YAML
    for schema, pattern in settings["yaml.schemas"].items():
        validator = Draft7Validator(json.loads((root / schema).read_text("utf-8")))
        (file,) = root.glob(pattern)
        validator.validate(yaml.safe_load(file.read_text("utf-8")))
        reference = file.read_text("utf-8").splitlines()[0].removeprefix("# yaml-language-server: $schema=")
        assert (file.parent / reference).resolve() == (root / schema).resolve()
    assert (root / "schemas/job.schema.json").read_text("utf-8") == schema_text("job")


def test_owners_own_all_but_jobs(tmp_path: Path) -> None:
    root = made(tmp_path / "new")
    rules = [line.split() for line in (root / "CODEOWNERS").read_text("utf-8").splitlines() if line[:1] == "/"]
    assert rules == [["/jobs/"], ["/rendered/*/jobs/"], ["/CODEOWNERS", rules[-1][1]]]
    lines = [line.split() for line in (root / "CODEOWNERS").read_text("utf-8").splitlines() if line[:1] != "#"]
    assert lines[0] == ["*", rules[-1][1]], "every other file has an owner"
    any_level = [line for line in lines if line[0][0] == "."]
    assert {line[0] for line in any_level} == {".gitattributes", ".gitmodules", ".venv/"}
    assert {len(line) for line in any_level} == {2}


def test_all_that_init_writes_but_jobs_has_an_owner(tmp_path: Path) -> None:
    """Also the files that it writes only if it is asked to, such as `renovate.json`."""
    root = tmp_path / "new"
    assert initialised(root, pins=True, retire=True, renovate=True)[1] == 0
    lines = [
        line.split() for line in (root / "CODEOWNERS").read_text("utf-8").splitlines() if line[:1] not in ("#", "")
    ]

    def owners(path: str) -> list[str]:
        """Those of the last line that matches, as in GitHub's documentation of CODEOWNERS."""
        matching = (names for pattern, *names in lines if _matches(pattern, path))
        return list(matching)[-1]

    files = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert {"renovate.json", ".pre-commit-config.yaml", "ci/check.sh", "requirements.txt"} <= files
    free = {path for path in files if not owners(path)}
    assert {path.rpartition("/")[0] for path in free} == {
        "jobs/team-a",
        "rendered/production/jobs/team-a/hello",
    }
    assert owners("jobs/team-a/.gitattributes")


def _matches(pattern: str, path: str) -> bool:
    if pattern.startswith("/"):
        return fnmatchcase(path, f"{pattern[1:]}*")
    return pattern == "*" or pattern.rstrip("/") in path.split("/")


@pytest.mark.parametrize("host", ["", "github.com", "gitlab.example.com"])
def test_files_that_the_readme_names_are_there(tmp_path: Path, host: str) -> None:
    root = tmp_path / "new"
    assert initialised(root, source=support.shared_source(host) if host else None)[1] == 0
    for name in re.findall(r"`([\w.]+/[\w./]*|[\w]+\.\w+)`", (root / "README.md").read_text("utf-8")):
        assert (root / name).exists(), name


def test_the_documented_first_commands_work(tmp_path: Path) -> None:
    """The commands of gen's README, from `gen init` to the first commit, then those of the new repository."""
    readme = (PROJECT / "README.md").read_text("utf-8")
    start, add, change = (_commands(readme, title) for title in ("## Start a repository", "## Add a job", "To change"))
    script = f"set -e\n{start}\n{add}\n{change}\ngit add --all\ngit commit --quiet -m Change"
    done = support.run("bash", "-c", script, cwd=tmp_path, EDITOR="true")
    assert done.returncode == 0, done.stdout + done.stderr
    root = tmp_path / "my-jobs"
    own = _commands((root / "README.md").read_text("utf-8"), "# Training jobs").replace("my-job ", "other-job ")
    done = support.run("bash", "-ec", own, cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert support.run("bash", "ci/hook.sh", cwd=root).returncode == 0, "gen on the PATH is enough"


def _commands(text: str, title: str) -> str:
    """The first block of commands below a title."""
    return text.partition(title)[2].partition("```sh\n")[2].partition("```")[0]


def test_git_shows_generated_files_in_full_and_never_merges_them_by_lines(tmp_path: Path) -> None:
    root = made(tmp_path / "new")
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    command = ["git", "check-attr", "linguist-generated", "merge", "diff", "eol", "--", "rendered/production/x.yaml"]
    said = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    assert [line.rsplit(": ", 1)[1] for line in said.splitlines()] == ["true", "unset", "unspecified", "lf"]


def test_the_wheel_has_the_templates(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="the build backend is not installed")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=PROJECT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    templates = {
        path.relative_to(PROJECT).as_posix() for path in (PROJECT / "gen/templates").rglob("*") if path.is_file()
    }
    assert templates - packed == set()
