"""A pull request of a stranger is refused with a place, and touches nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gen.report.findings.text import text
from tests.adversary.attacks import ATTACKS, WALLS, Attack
from tests.adversary.watch import watched
from tests.cases import for_each
from tests.support import PROJECT, Repository
from tests.work import lines_run

OVERLAY = """\
kubernetes: "1.34"
namespaces:
  team: {gpus: 16, queues: [research], volumes: [data], registries: [registry.example.com]}
volumes:
  data: {claim: data}
  secret-data: {claim: secret-data}
networks:
  host: {hostNetwork: true}
"""
SOUND = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\ndata: {data: /data}\n"
MAX_LINES = 1_000_000
"""Executed lines of Python that the files of an attack may cost."""


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A rendered job, which attacks come to."""
    repo = Repository.at(tmp_path_factory.mktemp("sound") / "repo")
    repo.overlay(OVERLAY)
    repo.job(SOUND, name="sound")
    assert repo.render()[1] == 0
    return repo


@for_each("attack", ATTACKS, ids=lambda attack: attack.id)
def test_an_attack_is_refused_with_a_place(attack: Attack, rendered: Repository, tmp_path: Path) -> None:
    repo = Repository(shutil.copytree(rendered.root, tmp_path / "repo"))
    _commit(attack, repo)
    before = _contents(tmp_path)
    results = []
    with watched() as heard:
        lines = lines_run(lambda: results.append(repo.render()), "yaml", "jinja2")
    assert lines < MAX_LINES
    ((report, code),) = results
    assert code == 1, text(report)
    wanted = [finding for finding in report.findings if finding.code in attack.codes.split()]
    assert wanted, text(report)
    assert any(finding.place.file == attack.place for finding in wanted), text(report)
    assert all(finding.message and finding.hint for finding in report.findings)
    assert heard == [], "nothing was written, begun or asked for"
    assert _contents(tmp_path) == before


def test_what_is_printed_of_them_cannot_steer_a_terminal(tmp_path: Path) -> None:
    repo = Repository.at(tmp_path / "repo")
    repo.overlay(OVERLAY)
    repo.job('kind: "\\e[2J::error::x"\nimage: "a\\nb"\n')
    said = text(repo.render()[0])
    assert all(character.isprintable() or character == "\n" for character in said)
    assert not any(line.startswith("::") for line in said.splitlines())


def test_the_watch_sees_what_a_render_writes(tmp_path: Path) -> None:
    """Or the tests above would say nothing."""
    repo = Repository.at(tmp_path / "repo")
    repo.overlay(OVERLAY)
    repo.job(SOUND)
    with watched() as heard:
        assert repo.render()[1] == 0
    written = [Path(path) for path in heard]
    assert written
    assert [path for path in written if not path.is_relative_to(repo.root / "rendered")] == []


def test_the_watch_hears_other_commands_of_git(tmp_path: Path) -> None:
    command = ["git", "--no-optional-locks", "-C", str(tmp_path), "status"]
    with watched() as heard:
        subprocess.run(command, capture_output=True, check=False)
    assert len(heard) == 1


def test_each_attack_names_its_wall() -> None:
    page = (PROJECT / "docs/security.md").read_text("utf-8")
    rows = {match[1]: match[0] for match in re.finditer(r"(?m)^\| \*\*([A-Z][\w ]+)\*\*: .*$", page)}
    assert list(WALLS) == list(rows)
    for wall, attacks in WALLS.items():
        assert f"`{attacks[0].id}` and {len(attacks) - 1} more" in rows[wall], wall


def test_each_test_of_the_page_exists() -> None:
    """A wall without a test is a hope."""
    page = (PROJECT / "docs/security.md").read_text("utf-8")
    walls = page[page.index("\n## Walls") : page.index("\n## Required settings")]
    named = re.findall(r"`((?:tests|editors)/[\w/]+(?:\.[\w.]+)?)(?:::(\w+))?`", walls)
    assert len(named) > 60
    for file, test in named:
        assert (PROJECT / file).exists(), file
        assert not test or f"def {test}(" in (PROJECT / file).read_text("utf-8"), test
    rows = [line for line in walls.splitlines() if line.startswith("| ") and not line.startswith("| wall |")]
    assert [row for row in rows if not re.search("`(tests|editors)/", row) and "pyproject.toml" not in row] == []


def test_there_are_at_least_sixty() -> None:
    assert len({attack.id for attack in ATTACKS}) == len(ATTACKS) >= 60


def _contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def _commit(attack: Attack, repo: Repository) -> None:
    for path, raw in attack.files.items():
        repo.write(path, raw)
    for path, target in attack.links.items():
        link = repo.root / path
        if link.is_dir():
            link.rename(link.with_name("moved"))
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)
    if attack.overlay:
        repo.overlay(OVERLAY + attack.overlay)
