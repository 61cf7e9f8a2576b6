"""A run with a cache has the same output and files as one without."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gen.render.cache import Cache, _tools, cache_folder
from gen.render.pipeline import render_files
from gen.report.findings.text import text
from tests.support import OVERLAY, Repository

if TYPE_CHECKING:
    from collections.abc import Callable

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\ndata: {nas: /data}\n"
RUN = "rendered/dev/jobs/team/a/pytorchjob-a.yaml"


@pytest.fixture
def cached(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> tuple[Repository, list[str]]:
    """A rendered repository with a cache, and the names of the jobs that are rendered from then on."""
    for name in "abc":
        repo.job(JOB, name=name)
    assert repo.render(cache=repo.root / "cache")[1] == 0
    rendered: list[str] = []

    def noted(inputs: Any, jobs: Any, done: Any) -> Any:
        rendered.extend(job.stem for job in jobs)
        return render_files(inputs, jobs, done)

    monkeypatch.setattr("gen.render.run.render_files", noted)
    return repo, rendered


def test_nothing_is_rendered_when_nothing_changed(cached: tuple[Repository, list[str]]) -> None:
    repo, rendered = cached
    for _ in range(2):
        report, code = repo.check(cache=repo.root / "cache")
        assert (code, report.changes, rendered) == (0, (), [])
    assert report.summary == "3 jobs in 1 overlay: would write 0, would remove 0, 5 unchanged"
    assert repo.render(cache=repo.root / "cache")[0].summary.endswith("wrote 0, removed 0, 5 unchanged")


def test_without_a_change_no_models_are_imported(cached: tuple[Repository, list[str]]) -> None:
    """Their import takes as long as the rest of the run."""
    root, cache = str(cached[0].root), str(cached[0].root / "cache")
    code = (
        "import sys; from pathlib import Path; from gen.commands.rendering import RenderRequest, render_and_compare\n"
        f"done = render_and_compare(RenderRequest(root=Path({root!r})), Path({cache!r}))\n"
        "heavy = ('gen.job', 'gen.overlay', 'gen.render.pipeline', 'pydantic.', 'yaml', 'jinja2')\n"
        "print(done.comparison.same, [name for name in sys.modules if name.startswith(heavy)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "5 []"


def test_only_the_job_that_changed_is_rendered(cached: tuple[Repository, list[str]]) -> None:
    repo, rendered = cached
    repo.job(JOB + "gpus: 1\n", name="b")
    report, code = repo.render(cache=repo.root / "cache")
    assert (code, rendered) == (0, ["b"])
    assert [change.path for change in report.changes] == [RUN.replace("/a", "/b").replace("-a.", "-b.")]
    assert repo.check()[1] == 0


@pytest.mark.parametrize("change", ["edit", "remove", "forge"])
def test_output_that_is_not_as_it_was_is_seen(cached: tuple[Repository, list[str]], change: str) -> None:
    repo, _ = cached
    path = repo.root / RUN
    original = path.read_text()
    if change == "edit":
        path.write_text(original.replace("replicas: 1", "replicas: 2"))
    elif change == "remove":
        path.unlink()
    else:
        first = (repo.root / RUN.replace("/a/", "/b/").replace("-a.", "-b.")).read_text()
        path.write_text(first)
    with_cache = text(repo.check(cache=repo.root / "cache")[0])
    assert with_cache == text(repo.check()[0])
    assert RUN in with_cache
    repo.render(cache=repo.root / "cache")
    assert path.read_text() == original


@pytest.mark.parametrize(
    "change",
    [
        lambda repo: repo.overlay(OVERLAY + "defaults: {cpu: 2}\n"),
        lambda repo: repo.overlay('kubernetes: "1.34"\n', name="prod"),
        lambda repo: repo.job(JOB, name="d"),
        lambda repo: (repo.root / "jobs/team/c.yaml").unlink(),
        lambda repo: repo.job(JOB + "wrokers: 2\n", name="c"),
        lambda repo: repo.job("name: b\n" + JOB, name="c"),
        lambda repo: repo.write("jobs/stray.yaml", JOB),
        lambda repo: repo.write("jobs/team/c.yaml", b"\xff"),
        lambda repo: repo.write("overlays/dev/overlay.yaml", OVERLAY + "namespaces: {}\n"),
    ],
)
def test_any_change_of_inputs_gives_what_it_gives_without_a_cache(
    cached: tuple[Repository, list[str]], change: Any
) -> None:
    repo, _ = cached
    change(repo)
    assert text(repo.check(cache=repo.root / "cache")[0]) == text(repo.check()[0])


def test_warnings_are_remembered(repo: Repository) -> None:
    repo.overlay(OVERLAY + "select: {include: [team/a]}\n")
    repo.job(JOB, name="a")
    repo.job(JOB, name="b")
    for _ in range(3):
        report, code = repo.render(cache=repo.root / "cache")
        assert code == 0
        assert [(f.code, f.severity.value) for f in report.findings] == [("not-selected", "warning")]


def spoiled(line: int, change: Callable[[dict[str, Any]], object]) -> Callable[[bytes], bytes]:
    """Change a stored line, and the digest with it."""

    def write(content: bytes) -> bytes:
        lines = content.splitlines()[:-1]
        stored = json.loads(lines[line])
        change(stored)
        lines[line] = json.dumps(stored).encode()
        changed = b"".join(each + b"\n" for each in lines)
        return changed + hashlib.sha256(changed).hexdigest().encode()

    return write


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda _: b"{}",
        lambda _: b"[]",
        lambda _: b"\xff",
        lambda _: b'{"key": 1, "jobs": [], "run": 2}',
        lambda content: content[:-1],
        lambda content: content.replace(b'"pods":1', b'"pods":0'),
        lambda content: b"".join(content.splitlines(keepends=True)[:2]),
        spoiled(0, lambda stored: stored.pop("findings")),
        spoiled(1, lambda stored: stored.pop("digest")),
        spoiled(1, lambda stored: stored["overlays"][0]["rendered"][0].update(gpus="many")),
        spoiled(1, lambda stored: stored.update(overlays=None)),
    ],
)
def test_a_damaged_cache_is_ignored(cached: tuple[Repository, list[str]], damage: Callable[[bytes], bytes]) -> None:
    repo, rendered = cached
    (path,) = (repo.root / "cache").iterdir()
    path.write_bytes(damage(path.read_bytes()))
    report, code = repo.check(cache=repo.root / "cache")
    assert (code, report.findings, rendered) == (0, (), ["a", "b", "c"])


def test_a_cached_file_has_no_text(cached: tuple[Repository, list[str]]) -> None:
    repo, _ = cached
    (path,) = (repo.root / "cache").iterdir()
    content = path.read_text()
    assert "python train.py" in (repo.root / RUN).read_text()
    assert "python train.py" not in content


def test_a_cache_of_other_tools_does_not_count(
    cached: tuple[Repository, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, rendered = cached
    monkeypatch.setattr("sys.version", "another")
    repo.check(cache=repo.root / "cache")
    assert rendered == ["a", "b", "c"]


def test_a_narrowed_run_neither_uses_nor_changes_the_cache(cached: tuple[Repository, list[str]]) -> None:
    repo, rendered = cached
    (path,) = (repo.root / "cache").iterdir()
    before = path.read_bytes()
    repo.check("team/a", cache=repo.root / "cache")
    assert rendered == ["a"]
    assert path.read_bytes() == before


def test_a_cache_that_cannot_be_written_is_no_error(repo: Repository) -> None:
    repo.job(JOB, name="a")
    (repo.root / "cache").write_text("a file is in the way")
    assert repo.render(cache=repo.root / "cache")[1] == 0
    assert Cache.open(repo.root, repo.root / "cache", None).last is None


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "overlays/dev/weights.bin").write_bytes(b"y" * (2 << 20)),
        lambda root: (root / "overlays/dev/link").symlink_to("elsewhere"),
        lambda root: os.mkfifo(root / "overlays/dev/pipe"),
        lambda root: (root / "overlays/stray").mkdir(),
    ],
)
def test_all_files_of_the_overlays_folder_count(repo: Repository, change: Callable[[Path], object]) -> None:
    before = Cache.open(repo.root, repo.root / "cache", None).key
    change(repo.root)
    assert Cache.open(repo.root, repo.root / "cache", None).key != before


def test_large_files_of_the_overlays_folder_are_not_read(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = repo.write("overlays/dev/weights.bin", b"")
    os.truncate(weights, 1 << 40)
    real, sizes = os.read, list[int]()

    def counted(descriptor: int, size: int) -> bytes:
        sizes.append(size)
        return real(descriptor, size)

    monkeypatch.setattr(os, "read", counted)
    Cache.open(repo.root, repo.root / "cache", None)
    assert sum(sizes) < 1 << 20


def test_an_overlay_that_is_edited_during_a_run_is_read_again(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.job(JOB, name="a")

    def interrupted(inputs: Any, jobs: Any, done: Any) -> Any:
        repo.overlay(OVERLAY + "defaults: {cpu: 2}\n")
        return render_files(inputs, jobs, done)

    with monkeypatch.context() as patch:
        patch.setattr("gen.render.run.render_files", interrupted)
        assert repo.render(cache=repo.root / "cache")[1] == 0
    assert not (repo.root / "cache").exists()
    assert repo.check()[0].summary.endswith("3 unchanged, 1 run kept from an earlier platform")
    assert repo.render(cache=repo.root / "cache", restart=True)[0].summary.startswith(
        "1 job in 1 overlay: wrote 1, removed 0, 2 unchanged"
    )


def test_the_cache_is_in_the_absolute_folder_of_xdg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/cache/me")
    assert cache_folder() == Path("/var/cache/me/gen")
    for ignored in ("cache", "./cache", ""):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert cache_folder() == Path.home() / ".cache/gen"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache/gen"


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME")
    monkeypatch.setitem(sys.modules, "pwd", None)  # as where the user's number has no entry
    assert cache_folder() is None


def test_what_was_advised_about_a_job_is_remembered(cached: tuple[Repository, list[str]]) -> None:
    repo, rendered = cached
    repo.job(JOB.replace("train:1", "train"), name="c")
    for _ in range(3):
        report, code = repo.render(cache=repo.root / "cache")
        assert code == 0
        assert [(f.code, f.severity.value, f.place.line) for f in report.findings] == [("mutable-image", "warning", 2)]
    assert rendered == ["c"]
    repo.job(JOB.replace("train:1", "train:3"), name="a")
    report, _ = repo.render(cache=repo.root / "cache")
    assert [f.place.file for f in report.findings] == ["jobs/team/c.yaml"]
    assert rendered == ["c", "a"]


def test_each_file_of_gen_counts() -> None:
    stamped = {stamp[0] for stamp in _tools() if isinstance(stamp, tuple)}
    for file in ("render/emit.py", "kubernetes/schemas/data/common.json", "templates/pods/*.sh"):
        assert any(Path(path).match(f"gen/{file}") for path in stamped), file
    assert not any("__pycache__" in path for path in stamped)
