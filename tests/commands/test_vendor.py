"""`gen vendor` with a real Git server: a platform's repository, and two teams that extend its overlays."""

from __future__ import annotations

import os
import shutil
from secrets import token_bytes
from typing import TYPE_CHECKING

import pytest

from gen.base.findings import UsageError
from gen.commands import new
from gen.overlay.vendored import digest_of
from gen.report.findings.text import text
from tests.adversary.watch import watched
from tests.commands.vendoring import BASE, TEMPLATE, Platform, extends, platform_at, team_at, vendored
from tests.pins.servers import git
from tests.support import Repository, tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

VENDOR = "overlays/dev/vendor"


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    with platform_at(tmp_path) as one:
        yield one


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of a team, vendored and rendered; its server is away."""
    folder = tmp_path_factory.mktemp("vendored")
    with platform_at(folder) as platform:
        repo = team_at(folder / "team", platform)
        assert vendored(repo)[1] == 0
        assert repo.render()[1] == 0
    return repo.root


@pytest.fixture
def repo(tmp_path: Path, made: Path) -> Repository:
    shutil.copytree(made, tmp_path / "repo")
    return Repository(tmp_path / "repo")


def findings(repo: Repository) -> list[tuple[str, str]]:
    return [(one.code, one.place.file) for one in repo.check()[0].findings]


@pytest.mark.slow
def test_two_teams_render_what_the_platform_has(platform: Platform, tmp_path: Path) -> None:
    for name in ("vision", "language"):
        repo = team_at(tmp_path / name, platform, name)
        assert [code for code, _ in findings(repo)] == ["not-vendored"]
        report, code = vendored(repo)
        assert code == 0, text(report)
        commit = git("rev-parse", "v1.0^{}", folder=platform.work)
        assert report.summary == f"Vendor platform\n\n- dev: platform v1.0 ({commit[:12]})"
        assert sorted(tree(repo.root / VENDOR)) == [
            "overlays/a100/overlay.yaml",
            "overlays/base/overlay.yaml",
            "overlays/base/patches/owner.yaml",
            "overlays/base/policies/no-latest.yaml",
            "templates/llm-finetune.yaml",
        ]
        with watched() as heard:
            (run,) = [body for body in repo.objects() if body["kind"] == "PyTorchJob"]
            assert repo.check()[1] == 0
        assert [one for one in heard if one.startswith(("network", "process"))] == []
        assert run["metadata"]["annotations"]["example.com/owner"] == "platform"
        repo.job("kind: pytorch\nimage: train:latest\ncommand: a\n", "late", name)
        assert findings(repo)[0] == ("policy-denied", f"jobs/{name}/late.yaml")
        assert vendored(repo)[0].summary == "all files are up to date"
        assert vendored(repo, check=True)[1] == 0


@pytest.mark.slow
def test_a_newer_version_is_news_and_restarts_nothing(platform: Platform, tmp_path: Path) -> None:
    repo = team_at(tmp_path / "team", platform)
    assert vendored(repo)[1] == 0
    before = [body for body in repo.objects() if body["kind"] == "PyTorchJob"]
    mirror = "images: [{from: registry.example.com/, to: mirror.example.com/}]\n"
    platform.push("v1.9", {"overlays/base/overlay.yaml": BASE + mirror})
    (platform.work / "overlays/base/policies/no-latest.yaml").unlink()
    platform.push("v1.10", {"overlays/base/policies/README.md": "none\n"})
    platform.push("v2.0-rc1", {})
    report, code = vendored(repo, check=True)
    assert code == 1
    assert [one.code for one in report.findings] == ["newer-version"]
    assert "`v1.10`, newer than `v1.0`" in text(report)
    assert vendored(repo)[0].summary == "all files are up to date", "without --update, versions stay"
    report, code = vendored(repo, update=True, message=tmp_path / "message")
    assert code == 0, text(report)
    assert report.summary.startswith("Vendor platform\n\n- dev: platform v1.0 (")
    assert (tmp_path / "message").read_text() == report.summary + "\n"
    assert (repo.root / "overlays/dev/overlay.yaml").read_text() == extends(platform, "v1.10")
    assert not (repo.root / VENDOR / "overlays/base/policies/no-latest.yaml").exists()
    assert [body for body in repo.objects() if body["kind"] == "PyTorchJob"] == before, "runs keep their platform"
    repo.job("kind: pytorch\nimage: registry.example.com/train:latest\ncommand: a\n", "new")
    assert repo.render()[1] == 0
    assert any("image: mirror.example.com/train:latest" in one for one in repo.rendered().values())
    assert vendored(repo, check=True)[1] == 0


@pytest.mark.slow
def test_a_branch_moves_with_update_only(platform: Platform, tmp_path: Path) -> None:
    repo = team_at(tmp_path / "team", platform, ref="main")
    assert vendored(repo)[1] == 0
    lock = (repo.root / "overlays/dev/vendor.lock").read_text()
    new = platform.push("v1.1", {"overlays/a100/overlay.yaml": "extends: base\nlabels: {gpu: h100}\n"})
    assert vendored(repo)[1] == 0
    assert (repo.root / "overlays/dev/vendor.lock").read_text() == lock
    assert [one.code for one in vendored(repo, check=True)[0].findings] == ["newer-version"]
    assert vendored(repo, update=True)[1] == 0
    assert f"commit: {new}\n" in (repo.root / "overlays/dev/vendor.lock").read_text()
    assert "ref: main\n" in (repo.root / "overlays/dev/vendor.lock").read_text()


@pytest.mark.slow
def test_a_tag_that_moved_is_refused_until_the_lock_is_removed(platform: Platform, tmp_path: Path) -> None:
    repo = team_at(tmp_path / "team", platform)
    assert vendored(repo)[1] == 0
    before = tree(repo.root)
    platform.push("v1.0", {"overlays/a100/overlay.yaml": "extends: base\nlabels: {gpu: h100}\n"}, force=True)
    for options in ({"check": True}, {"update": True}):
        report, code = vendored(repo, **options)
        assert code == 1
        assert [one.code for one in report.findings] == ["moved-tag"]
    assert vendored(repo)[1] == 0
    assert tree(repo.root) == before, "the old commit is fetched"
    (repo.root / "overlays/dev/vendor.lock").unlink()
    assert vendored(repo)[1] == 0
    assert "h100" in (repo.root / VENDOR / "overlays/a100/overlay.yaml").read_text()


@pytest.mark.slow
def test_a_tag_that_moved_is_reported_beside_a_newer_version(platform: Platform, tmp_path: Path) -> None:
    repo = team_at(tmp_path / "team", platform)
    assert vendored(repo)[1] == 0
    platform.push("v1.0", {"overlays/a100/overlay.yaml": "extends: base\nlabels: {gpu: h100}\n"}, force=True)
    platform.push("v1.1", {"overlays/a100/overlay.yaml": "extends: base\nlabels: {gpu: b200}\n"})
    report, code = vendored(repo, update=True)
    (finding,) = report.findings
    assert (finding.code, finding.severity.value, code) == ("moved-tag", "warning", 0)
    assert "the tag `v1.0` moved from" in finding.message
    assert "ref: v1.1\n" in (repo.root / "overlays/dev/vendor.lock").read_text()


EDITED = f"{VENDOR}/overlays/base/overlay.yaml"


def _edit(repo: Repository) -> None:
    repo.write(EDITED, (repo.root / EDITED).read_text().replace('"*": {}', '"*": {allow: [raw]}'))


def _add(repo: Repository) -> None:
    repo.write(f"{VENDOR}/overlays/base/policies/more.yaml", "")


def _remove(repo: Repository) -> None:
    (repo.root / VENDOR / "overlays/base/policies/no-latest.yaml").unlink()


def _link(repo: Repository) -> None:
    (repo.root / "elsewhere.yaml").write_bytes((repo.root / EDITED).read_bytes())
    (repo.root / EDITED).unlink()
    (repo.root / EDITED).symlink_to("../../../../../elsewhere.yaml")


def _link_folder(repo: Repository) -> None:
    (repo.root / VENDOR).rename(repo.root / "elsewhere")
    (repo.root / VENDOR).symlink_to("../../elsewhere")


def _fill(repo: Repository) -> None:
    for number in range(2001):
        (repo.root / VENDOR / f"templates/{number}.yaml").touch()


@pytest.mark.parametrize(
    ("attack", "file"),
    [
        (_edit, EDITED),
        (_add, f"{VENDOR}/overlays/base/policies/more.yaml"),
        (_remove, f"{VENDOR}/overlays/base/policies/no-latest.yaml"),
        (_link, EDITED),
        (_link_folder, VENDOR),
        (_fill, f"{VENDOR}/templates/0.yaml"),
    ],
)
def test_a_copy_that_was_changed_is_refused(repo: Repository, attack: Callable[[Repository], None], file: str) -> None:
    before = repo.rendered()
    attack(repo)
    found = findings(repo)
    assert found[0] == ("edited-vendored", file)
    assert {code for code, _ in found} == {"edited-vendored"}
    assert len(found) <= 20
    assert repo.render()[1] == 1
    assert repo.rendered() == before, "nothing is written"


@pytest.mark.parametrize(
    ("old", "new"), [("ref: v1.0", "ref: v1.1"), ("platform.git", "other.git"), ("overlays/a100", "overlays/base")]
)
def test_a_lock_of_another_origin_is_refused(repo: Repository, old: str, new: str) -> None:
    file = repo.root / "overlays/dev/overlay.yaml"
    file.write_text(file.read_text().replace(old, new))
    assert findings(repo) == [("other-origin", "overlays/dev/vendor.lock")]


@pytest.mark.parametrize(
    "lock", ["", "a: b", "[", "git: a\nref: b\npath: ../..\ncommit: c\nfiles: {}", "files: {a: b}"]
)
def test_a_lock_that_is_none_is_refused(repo: Repository, lock: str) -> None:
    repo.write("overlays/dev/vendor.lock", lock)
    assert findings(repo) == [("not-vendored", "overlays/dev/vendor.lock")]


def test_files_that_nothing_extends_any_more_are_reported(repo: Repository) -> None:
    repo.overlay("kubernetes: '1.34'\nnamespaces: {team: {}}\n")
    report, _ = repo.check()
    (found,) = (one for one in report.findings if one.code == "unused-vendored")
    assert not found.is_error
    assert (found.place.file, found.hint) == (VENDOR, f"run `git rm -r {VENDOR} overlays/dev/vendor.lock`")
    git("init", "--quiet", folder=repo.root)
    git("add", "--all", folder=repo.root)
    git("commit", "--quiet", "--message", "Extend nothing", folder=repo.root)
    git(*found.hint.removeprefix("run `git ").removesuffix("`").split(), "--quiet", folder=repo.root)
    assert "unused-vendored" not in repo.codes()


def test_a_path_out_of_the_folder_is_refused(repo: Repository) -> None:
    file = repo.root / "overlays/dev/overlay.yaml"
    file.write_text(file.read_text().replace("overlays/a100", "../../../etc"))
    report, code = repo.check()
    assert code == 1
    assert [one.code for one in report.findings] == ["invalid-value"]
    assert "the path of an overlay's folder" in text(report)


def _tree(platform: Platform, change: Callable[[Path], None]) -> None:
    change(platform.work / "overlays/base")
    platform.push("v1.1", {})


def _big(folder: Path) -> None:
    (folder / "crds").mkdir()
    (folder / "crds/a.yaml").write_bytes(os.urandom(5 << 20))


def _many(folder: Path) -> None:
    for number in range(2001):
        (folder / f"{number}.yaml").touch()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            lambda folder: (folder / "patches/a.yaml").symlink_to("/etc/passwd"),
            "overlays/base/patches/a.yaml is a link",
        ),
        (lambda folder: (folder / "a b.yaml").touch(), "has a name with other characters"),
        (lambda folder: [(folder / name).touch() for name in ("a.yaml", "A.yaml")], "upper and lower case"),
        (_big, "has more than 4 MiB"),
        (_many, "more than 2000 files"),
        (shutil.rmtree, "has no overlays/base/overlay.yaml"),
    ],
)
def test_a_tree_that_no_repository_should_have_is_refused(
    platform: Platform, tmp_path: Path, change: Callable[[Path], None], why: str
) -> None:
    repo = team_at(tmp_path / "team", platform)
    assert vendored(repo)[1] == 0
    before = tree(repo.root)
    _tree(platform, change)
    report, code = vendored(repo, update=True)
    assert code == 1
    assert why in text(report)
    assert tree(repo.root) == before


@pytest.mark.slow
def test_a_repository_that_is_too_large_is_not_fetched(
    platform: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (platform.work / "weights.bin").write_bytes(token_bytes(3 << 20))
    platform.push("v1.1", {})
    repo = team_at(tmp_path / "repo", platform, ref="v1.1")
    monkeypatch.setattr("gen.pins.git.MOST_FETCHED", 2 << 20)
    report, _ = vendored(repo)
    assert [one.code for one in report.findings] == ["refused-tree"]
    assert "more than 2 MiB" in report.findings[0].message
    monkeypatch.undo()
    assert vendored(repo)[1] == 0, "the file is in no folder of the overlay"


@pytest.mark.slow
def test_what_was_changed_is_restored(platform: Platform, tmp_path: Path) -> None:
    repo = team_at(tmp_path / "team", platform)
    assert vendored(repo)[1] == 0
    before = tree(repo.root)
    for attack in (_edit, _add, _remove, _link, _fill):
        attack(repo)
        assert repo.check()[1] == 1
        assert vendored(repo)[1] == 0
        (repo.root / "elsewhere.yaml").unlink(missing_ok=True)
        assert tree(repo.root) == before
    _edit(repo)
    lock = repo.root / "overlays/dev/vendor.lock"
    old, new = (digest_of(raw.encode()) for raw in (before[EDITED], (repo.root / EDITED).read_text()))
    lock.write_text(lock.read_text().replace(old, new))
    assert "edited-vendored" not in [code for code, _ in findings(repo)], "without a network, a forged lock deceives"
    report, code = vendored(repo, check=True)
    assert code == 1
    assert [(one.code, one.place.file) for one in report.findings] == [("edited-vendored", EDITED)]
    assert vendored(repo)[1] == 0
    assert tree(repo.root) == before


@pytest.mark.slow
def test_a_platform_can_extend_another(platform: Platform, tmp_path: Path) -> None:
    bare = tmp_path / "git/regional.git"
    git("init", "--quiet", "--bare", "--initial-branch=main", bare)
    git("clone", "--quiet", bare, tmp_path / "regional")
    git("checkout", "--quiet", "-B", "main", folder=tmp_path / "regional")
    regional = Repository(tmp_path / "regional")
    regional.write("jobs/.keep", "")
    regional.overlay(extends(platform) + "abstract: true\nparams: {region: eu}\n", "eu")
    assert vendored(regional)[1] == 0
    other = Platform(regional.root, platform.url.replace("platform", "regional"))
    other.push("v1", {})
    repo = team_at(tmp_path / "team", other, path="overlays/eu", ref="v1")
    assert vendored(repo)[1] == 0
    (run,) = [body for body in repo.objects() if body["kind"] == "PyTorchJob"]
    assert run["metadata"]["annotations"]["example.com/owner"] == "platform"
    nested = f"{VENDOR}/overlays/eu/vendor/overlays/base/overlay.yaml"
    repo.write(nested, "abstract: true\n")
    assert ("edited-vendored", nested) in findings(repo)


@pytest.mark.slow
@pytest.mark.parametrize("ref", ["v9", "1234567"])
def test_a_ref_that_does_not_exist(platform: Platform, tmp_path: Path, ref: str) -> None:
    repo = team_at(tmp_path / "team", platform, ref=ref)
    report, code = vendored(repo)
    assert code == 1
    assert [(one.code, one.place.file) for one in report.findings] == [("missing-commit", "overlays/dev/overlay.yaml")]
    assert "correct `extends.ref`" in text(report)


def _new(repo: Repository, *words: str, **options: str) -> str:
    kind, name = (*words, None)[:2]
    return str(new.run(new.Request(root=repo.root, kind=str(kind), name=name, **options)).output)


def test_a_job_from_a_template_of_the_platform(repo: Repository) -> None:
    for number, template in enumerate(("platform/llm-finetune", "dev/llm-finetune")):
        said = _new(repo, f"tune-{number}", template=template)
        assert said == f"wrote jobs/team/tune-{number}.yaml; edit it, then run `gen render`\n"
        assert (repo.root / f"jobs/team/tune-{number}.yaml").read_text() == TEMPLATE
    assert repo.render()[1] == 0
    with pytest.raises(UsageError, match="did you mean `platform/llm-finetune`"):
        _new(repo, "tune", template="platform/llm-fintune")
    with pytest.raises(UsageError, match="a template has a kind; use `gen new --from platform/llm-finetune NAME`"):
        _new(repo, "pytorch", "tune", template="platform/llm-finetune")
    with pytest.raises(UsageError, match="missing a name"):
        _new(repo, "pytorch")
    with pytest.raises(UsageError, match="`Tune` is not a valid job name"):
        _new(repo, "Tune", template="platform/llm-finetune")


def test_a_template_of_the_repository_itself(repo: Repository) -> None:
    repo.write("templates/mine.yaml", TEMPLATE)
    _new(repo, "a", template="mine")
    assert (repo.root / "jobs/team/a.yaml").read_text() == TEMPLATE
    repo.write("templates/mine.yaml", "kind: none\n")
    with pytest.raises(UsageError, match=r"templates/mine\.yaml is not a job file"):
        _new(repo, "b", template="mine")


def test_templates_of_an_edited_copy_are_not_offered(repo: Repository) -> None:
    repo.write(f"{VENDOR}/templates/llm-finetune.yaml", TEMPLATE.replace("2.1", "evil"))
    with pytest.raises(UsageError, match="unknown template"):
        _new(repo, "a", template="platform/llm-finetune")
