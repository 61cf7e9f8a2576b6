"""A run with a cache has the same output and files as one without."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gen.base import UsageError
from gen.base.repository.stamps import _tools
from gen.commands import check
from gen.render.cache import Cache, cache_folder
from gen.render.pipeline import render_files
from gen.report.findings.text import text
from tests.base.repository.test_stamps import tick
from tests.support import OVERLAY, Repository, opened

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.report.formats import Report

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
        "import sys; from pathlib import Path; from gen.commands import check, rendering\n"
        f"done = rendering.render_and_compare(check.Request(root=Path({root!r})), Path({cache!r}))\n"
        f"check.judge(check.Request(root=Path({root!r})), done)\n"
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
    (path,) = (repo.root / "cache").glob("*.json")
    path.write_bytes(damage(path.read_bytes()))
    path.with_suffix(".unchanged").unlink(missing_ok=True)  # which needs no results
    report, code = repo.check(cache=repo.root / "cache")
    assert (code, report.findings, rendered) == (0, (), ["a", "b", "c"])


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda _: b"{}",
        lambda _: b"\xff",
        lambda raw: raw[:-1],
        lambda raw: raw.replace(b'"jobs":3', b'"jobs":7'),
    ],
)
def test_a_damaged_report_of_a_run_is_ignored(
    cached: tuple[Repository, list[str]], damage: Callable[[bytes], bytes]
) -> None:
    repo, rendered = cached
    tick(repo.root)
    expected, _ = repo.check(cache=repo.root / "cache")
    (path,) = (repo.root / "cache").glob("*.unchanged")
    before = path.read_bytes()
    path.write_bytes(damage(before))
    assert path.read_bytes() != before
    report, code = repo.check(cache=repo.root / "cache")
    assert (code, report.summary, rendered) == (0, expected.summary, [])


def test_a_cached_file_has_no_text(cached: tuple[Repository, list[str]]) -> None:
    repo, _ = cached
    (path,) = (repo.root / "cache").glob("*.json")
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
    (path,) = (repo.root / "cache").glob("*.json")
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


def test_an_edit_of_large_definitions_counts(repo: Repository) -> None:
    """Also with the old size and time, as rsync can leave them."""
    path = repo.write("overlays/dev/crds/large.yaml", b"x" * (2 << 20))
    before, times = Cache.open(repo.root, repo.root / "cache", None).key, path.stat()
    path.write_bytes(b"y" * (2 << 20))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
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


def test_an_overlay_that_has_its_old_content_again_after_a_run_is_read_again(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a change of the branch and back, while definitions are still read."""
    repo.job(JOB, name="a")

    def interrupted(inputs: Any, jobs: Any, done: Any) -> Any:
        tick(repo.root)
        repo.overlay(OVERLAY + "defaults: {cpu: 2}\n")
        repo.overlay(OVERLAY)
        return render_files(inputs, jobs, done)

    with monkeypatch.context() as patch:
        patch.setattr("gen.render.run.render_files", interrupted)
        assert repo.render(cache=repo.root / "cache")[1] == 0
    assert not (repo.root / "cache").exists()
    assert repo.render(cache=repo.root / "cache")[1] == 0
    assert (repo.root / "cache").exists()


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


def test_the_packages_of_gen_count_with_their_versions() -> None:
    """In an image, all files can have one time, and the first file of a package is often the same in two versions."""
    found = [*_tools()]
    stamped = {Path(stamp[0]).parent.name for stamp in found if isinstance(stamp, tuple)}
    assert {"msgspec", "tree_sitter", "tree_sitter_bash", "yaml"} <= stamped
    assert {"msgspec", "tree_sitter_bash", "pyyaml"} <= {
        text.partition("-")[0].lower() for text in found if isinstance(text, str) and text.endswith(".dist-info")
    }


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with an installed plugin that is one module."""
    about = tmp_path / "site/solo-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: solo\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[gitops_gen.networks]\nmesh = solo:Mesh\n")
    (tmp_path / "site/solo.py").write_text("class Mesh: ...\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    return tmp_path / "site"


def test_any_change_of_a_plugin_without_a_package_counts(plugin: Path, repo: Repository) -> None:
    repo.overlay(OVERLAY + "plugins: {solo: '*'}\n")

    def key() -> str:
        return Cache.open(repo.root, repo.root / "cache", None).key

    keys = [key()]
    for file, old, new in (
        ("solo.py", "...", "pass"),
        ("solo-1.0.dist-info/METADATA", "Version: 1.0", "Version: 1.1"),
        ("solo-1.0.dist-info/entry_points.txt", "mesh", "net"),
    ):
        path = plugin / file
        path.write_text(path.read_text().replace(old, new))
        keys.append(key())
    (plugin / "solo-1.0.dist-info/entry_points.txt").unlink()
    keys.append(key())
    assert len({*keys}) == len(keys)


SHARDS = 3


def sharded(repo: Repository, **options: Any) -> tuple[Report, int]:
    return opened(check.run(check.Request(root=repo.root, parallel=1, no_cache=True, **options)))


def check_shards(repo: Repository, folder: Path) -> list[str]:
    """The results of all shards in a folder, and the findings of each."""
    folder.mkdir(exist_ok=True)
    reports = [
        sharded(repo, shard=f"{part}/{SHARDS}", save=folder / f"{part}.json")[0] for part in range(1, SHARDS + 1)
    ]
    return [one.code for report in reports for one in report.findings]


def test_the_result_of_shards_is_that_of_one_check(cached: tuple[Repository, list[str]], tmp_path: Path) -> None:
    """Also what no shard sees: two jobs with one name, and a patch without a match."""
    repo, rendered = cached
    repo.overlay(OVERLAY + "patches: [{target: {kind: MPIJob}, patch: {metadata: {labels: {a: b}}}}]\n")
    for name, extra in (("c", "gpus: 1\n"), ("d", "name: b\n"), ("e", "")):
        repo.job(JOB + extra, name=name)
    (repo.root / RUN).unlink()
    whole, code = repo.check()
    codes = check_shards(repo, tmp_path / "shards")
    assert "duplicate-job" not in codes
    rendered.clear()
    assert sharded(repo, shards=tmp_path / "shards") == (whole, code)
    assert {"duplicate-job", "unmatched-patch"} <= {one.code for one in whole.findings}
    assert rendered == []
    (repo.root / "jobs/team/d.yaml").unlink()
    assert sharded(repo, shards=tmp_path / "shards") == repo.check()
    assert {change.status for change in repo.check()[0].changes} == {"stale", "missing"}


def test_files_that_differ_cost_a_render_of_their_jobs(cached: tuple[Repository, list[str]], tmp_path: Path) -> None:
    """Also with the cache: an edited file must not cost a render of all jobs."""
    repo, rendered = cached
    check_shards(repo, tmp_path / "shards")
    (repo.root / RUN).write_text("edited", "utf-8")
    rendered.clear()
    assert sharded(repo, shards=tmp_path / "shards")[1] == 1
    assert rendered == ["a"]
    assert repo.check(cache=repo.root / "cache")[1] == 1
    assert rendered == ["a", "a"]


def test_findings_of_a_shard_are_in_the_result_of_all(cached: tuple[Repository, list[str]], tmp_path: Path) -> None:
    repo, rendered = cached
    repo.job(JOB + "wrokers: 2\n", name="b")
    assert check_shards(repo, tmp_path) == ["unknown-field"]
    rendered.clear()
    report, code = sharded(repo, shards=tmp_path)
    assert ([one.code for one in report.findings], code, rendered) == (["unknown-field"], 1, [])
    (tmp_path / "2.json").unlink()
    assert sharded(repo, shards=tmp_path) == (report, code)
    assert rendered == ["b"], "the jobs of a missing shard are rendered"


def test_results_of_shards_are_of_the_same_files(cached: tuple[Repository, list[str]], tmp_path: Path) -> None:
    repo, _ = cached
    check_shards(repo, tmp_path)
    repo.overlay(OVERLAY + "# another\n")
    with pytest.raises(UsageError, match="for other overlays or another version of gen"):
        sharded(repo, shards=tmp_path)
    (tmp_path / "1.json").write_text("{}", "utf-8")
    with pytest.raises(UsageError, match=r"1\.json is damaged"):
        sharded(repo, shards=tmp_path)
    with pytest.raises(UsageError, match=r"has no `\.json` file"):
        sharded(repo, shards=tmp_path / "none")


def test_results_of_shards_fit_on_another_machine(tmp_path: Path) -> None:
    """Times and folders of an installation and of the repository, and the umask, are not a part of the key."""
    keys = set()
    for number, name in enumerate(("one", "two")):
        repo = Repository.at(tmp_path / name)
        repo.overlay(OVERLAY + "plugins: []\n")
        for large in ("crds/large.yaml", "weights.bin"):
            path = repo.write(f"overlays/dev/{large}", b"x" * (2 << 20))
            os.utime(path, (number, number))
        os.truncate(path, 1 << 40)
        (repo.root / "overlays/dev").chmod((0o755, 0o775)[number])
        keys.add(Cache.for_shard(repo.root, tmp_path / "1.json", None).key)
    assert len(keys) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shard": "4/3"}, "expected one of N parts, such as 3/8"),
        ({"shard": "0/3"}, "expected one of N parts"),
        ({"shard": "1"}, "expected one of N parts"),
        ({"shard": "1/2", "jobs": ("a",)}, "cannot be combined"),
        ({"shard": "1/2", "staged": True}, "cannot be combined"),
        ({"shard": "1/2", "save": Path("part.txt")}, "must end with `.json`"),
        ({"shard": "1/2", "save": Path("/proc/none/part.json")}, "cannot write /proc/none/part.json"),
        ({"save": Path("part.json")}, "set `--shard K/N`, too"),
    ],
)
def test_invalid_shards_are_refused(repo: Repository, options: dict[str, Any], message: str) -> None:
    repo.job(JOB, name="a")
    with pytest.raises(UsageError, match=re.escape(message)):
        sharded(repo, **options)


def test_a_shard_without_jobs_is_clean(repo: Repository, tmp_path: Path) -> None:
    repo.job(JOB, name="a")
    assert repo.render()[1] == 0
    report, code = sharded(repo, shard="2/2", save=tmp_path / "2.json")
    assert (report.summary, code) == ("no job is in part 2/2", 0)
    assert sharded(repo, shard="1/2", save=tmp_path / "1.json")[1] == 0
    assert sharded(repo, shards=tmp_path)[1] == 0
