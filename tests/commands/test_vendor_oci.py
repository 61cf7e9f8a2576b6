"""`gen vendor` with artifacts of a real registry, as `flux push artifact` and `oras push` make them."""

from __future__ import annotations

import gzip
import io
import subprocess
import tarfile
from typing import TYPE_CHECKING, Any

import pytest

from tests.commands.vendoring import FILES, JOB, vendored
from tests.go_programs import go_program
from tests.history import History, branch
from tests.pins.servers import MANIFEST, Registry, digest_of
from tests.support import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gen.report.formats import Report

pytestmark = pytest.mark.slow
NAME = "org/platform"
FLUX = "application/vnd.cncf.flux.content.v1.tar+gzip"
TITLE = "org.opencontainers.image.title"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """The registry of go-containerregistry."""
    program = go_program("ociref", tmp_path_factory.mktemp("registry"))
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        host = running.stdout.readline().strip()
        yield Registry(host, f"http://{host}")
        running.kill()


def archive(files: dict[str, str], *odd: tarfile.TarInfo) -> bytes:
    """A compressed archive."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
        for member in odd:
            tar.addfile(member)
    return gzip.compress(out.getvalue())


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


def push(server: Registry, tag: str, *layers: tuple[bytes, str, dict[str, str]], name: str = NAME) -> str:
    """Push an artifact. Its digest."""
    described = [
        {"mediaType": kind, "digest": server.blob(name, raw), "size": len(raw), "annotations": annotations}
        for raw, kind, annotations in layers
    ]
    config = {"mediaType": "application/vnd.cncf.flux.config.v1+json", "digest": server.blob(name, b"{}"), "size": 2}
    body = {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": described}
    return server.put(name, tag, body)


def push_files(server: Registry, tag: str, files: dict[str, str], *odd: tarfile.TarInfo, name: str = NAME) -> str:
    return push(server, tag, (archive(files, *odd), FLUX, {}), name=name)


def team_at(root: Path, server: Registry, ref: str = "v1.0", name: str = NAME) -> History:
    repo = History.at(root)
    repo.overlay(f"extends: {{oci: '{server.host}/{name}', ref: {ref}, path: overlays/a100}}\n")
    repo.job(JOB)
    return repo


def codes(result: tuple[Report, int]) -> list[str]:
    return [one.code for one in result[0].findings]


def test_an_artifact_is_vendored_updated_and_restarts_nothing(server: Registry, tmp_path: Path) -> None:
    name = "org/updated"
    first = push_files(server, "v1.0", FILES, name=name)
    history = team_at(tmp_path / "repo", server, name=name)
    history.git("init", "--quiet", "--initial-branch=main")
    report, code = vendored(history)
    assert (code, [*report.findings]) == (0, [])
    lock = (history.root / "overlays/dev/vendor.lock").read_text("utf-8")
    assert f"oci: {server.host}/{name}\nref: v1.0\npath: overlays/a100\ndigest: {first}\n" in lock
    branch(history)
    run = history.file("dev/jobs/team/demo/pytorchjob")
    assert "example.com/owner: platform" in run.read_text("utf-8")
    assert vendored(history, check=True)[1] == 0

    push_files(
        server, "v1.1", {**FILES, "overlays/base/patches/owner.yaml": "metadata: {annotations: {a/b: c}}\n"}, name=name
    )
    assert codes(vendored(history, check=True)) == ["newer-version"]
    report, code = vendored(history, update=True)
    assert code == 0, report
    assert "v1.0" in report.summary
    assert "ref: v1.1" in (history.root / "overlays/dev/overlay.yaml").read_text("utf-8")
    history.rendering()
    plan = history.plan()
    assert (plan.starting, plan.stopping, plan.refused) == ((), (), False)
    assert "a/b: c" in run.read_text("utf-8")  # annotations change in place


def test_a_team_can_extend_a_digest(server: Registry, tmp_path: Path) -> None:
    digest = push_files(server, "v2.0", FILES, name="org/pinned")
    repo = team_at(tmp_path / "repo", server, ref=digest, name="org/pinned")
    assert vendored(repo)[1] == 0
    assert vendored(repo, check=True)[1] == 0
    assert repo.render()[1] == 0


def test_files_with_titles_are_layers_of_their_own(server: Registry, tmp_path: Path) -> None:
    layers = [(text.encode(), "text/yaml", {TITLE: path}) for path, text in FILES.items()]
    push(server, "v1.0", *layers, name="org/oras")
    repo = team_at(tmp_path / "repo", server, name="org/oras")
    assert vendored(repo)[1] == 0
    assert repo.render()[1] == 0
    copied = repo.root / "overlays/dev/vendor"
    assert (copied / "overlays/base/overlay.yaml").read_text("utf-8") == FILES["overlays/base/overlay.yaml"]


def test_a_tag_that_moved_is_refused(server: Registry, tmp_path: Path) -> None:
    push_files(server, "v1.0", FILES, name="org/moved")
    repo = team_at(tmp_path / "repo", server, name="org/moved")
    assert vendored(repo)[1] == 0
    push_files(server, "v1.0", {**FILES, "overlays/a100/overlay.yaml": "extends: base\n"}, name="org/moved")
    assert codes(vendored(repo, check=True)) == ["moved-tag"]
    assert codes(vendored(repo, update=True)) == ["moved-tag"]


def test_an_edited_copy_and_another_origin_are_refused(server: Registry, tmp_path: Path) -> None:
    push_files(server, "v1.0", FILES, name="org/edited")
    repo = team_at(tmp_path / "repo", server, name="org/edited")
    assert vendored(repo)[1] == 0
    copied = repo.root / "overlays/dev/vendor/overlays/base/overlay.yaml"
    copied.write_text(copied.read_text("utf-8") + "pins: off\n", "utf-8")
    report, code = repo.render()
    assert (code, [one.code for one in report.findings]) == (1, ["edited-vendored"])
    assert vendored(repo)[1] == 0
    assert repo.render()[1] == 0
    repo.overlay("extends: {git: 'https://git.example.com/a.git', ref: v1.0, path: overlays/a100}\n")
    report, code = repo.render()
    assert code == 1
    assert {one.code for one in report.findings} == {"other-origin"}


BOMB = gzip.compress(bytes(65 << 20))
SPARSE = tarfile.TarInfo("overlays/a100/huge.yaml")
SPARSE.size = 1 << 40
ATTACKS: dict[str, Any] = {
    "a link": archive(FILES, link("overlays/a100/patches", "/etc")),
    "a hard link": archive(FILES, link("overlays/base/crds", "../../../a", tarfile.LNKTYPE)),
    "a path outside": archive({**FILES, "../outside.yaml": "a: b\n"}),
    "an absolute path": archive({**FILES, "/etc/outside.yaml": "a: b\n"}),
    "a decompression bomb": BOMB,
    "a huge file": archive({**FILES, "overlays/a100/crds/a.yaml": "#" * (5 << 20)}),
    "a size that is not true": gzip.compress(SPARSE.tobuf() + bytes(1024)),
    "too many files": archive({**FILES, **{f"overlays/a100/crds/{number}.yaml": "a" for number in range(2100)}}),
    "no archive": b"nothing",
    "a broken archive": archive(FILES)[:200],
    "a strange name": archive({**FILES, "overlays/a100/crds/a b.yaml": "a"}),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_artifact_that_no_repository_should_have_is_refused(
    server: Registry, tmp_path: Path, attack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"org/attack{[*ATTACKS].index(attack)}"
    push(server, "v1.0", (ATTACKS[attack], FLUX, {}), name=name)
    repo = team_at(tmp_path / "repo", server, name=name)
    monkeypatch.chdir(tmp_path)
    before = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert codes(vendored(repo)) == ["refused-tree"]
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == before


def test_a_layer_that_is_too_large_is_not_fetched(server: Registry, tmp_path: Path) -> None:
    raw = archive(FILES)
    described = {"mediaType": FLUX, "digest": server.blob("org/large", raw), "size": 9 << 20}
    config = {"mediaType": FLUX, "digest": described["digest"], "size": 2}
    server.put(
        "org/large", "v1.0", {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [described]}
    )
    assert codes(vendored(team_at(tmp_path / "repo", server, name="org/large"))) == ["refused-tree"]


def test_names_that_do_not_exist(server: Registry, tmp_path: Path) -> None:
    push_files(server, "v1.0", FILES, name="org/exists")
    assert codes(vendored(team_at(tmp_path / "a", server, ref="v9", name="org/exists"))) == ["missing-image"]
    missing = digest_of(b"nothing")
    assert codes(vendored(team_at(tmp_path / "b", server, ref=missing, name="org/exists"))) == ["missing-image"]


def test_an_origin_is_git_or_oci(repo: Repository) -> None:
    repo.overlay("extends: {git: 'https://a.example.com/a.git', oci: a.example.com/a, ref: v1, path: a}\n")
    report, _ = repo.render()
    assert "expected either `git` or `oci`" in report.findings[0].message
