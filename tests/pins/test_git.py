"""A real Git server: refs, commits, passwords, hostile URLs."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import pytest

from gen.pins.git import commit_of, require_commit
from gen.pins.http import RemoteError
from tests.pins.servers import PASSWORD, USER, git, git_server, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a branch, a tag with a message, and a branch with the same ending as another."""
    folder = tmp_path / "git/team/train.git"
    folder.mkdir(parents=True)
    git("init", "--quiet", "--bare", "--initial-branch=main", folder)
    work = tmp_path / "work"
    git("clone", "--quiet", folder, work)
    git("checkout", "--quiet", "-B", "main", folder=work)
    commit(work, "one")
    git("tag", "-a", "v1", "-m", "one", folder=work)
    git("push", "--quiet", "origin", "main", "v1", "main:refs/heads/feature/main", folder=work)
    return work


def commit(work: Path, text: str) -> str:
    (work / "file").write_text(text, "utf-8")
    git("add", "file", folder=work)
    git("commit", "--quiet", "-m", text, folder=work)
    return git("rev-parse", "HEAD", folder=work)


@pytest.fixture
def url(repository: Path) -> Iterator[str]:
    with git_server(repository.parent / "git") as address:
        yield f"{address}/team/train.git"


def code_of(url: str, ref: str = "main", seconds: float = 10) -> str:
    with pytest.raises(RemoteError) as caught:
        commit_of(url, ref, seconds)
    assert PASSWORD not in f"{caught.value.message} {caught.value.hint}"
    return caught.value.code.name


@pytest.mark.slow
def test_a_ref_is_the_commit_that_git_sync_fetches(url: str, repository: Path) -> None:
    first = git("rev-parse", "HEAD", folder=repository)
    assert {commit_of(url, ref, 10) for ref in ("HEAD", "main", "refs/heads/main", "v1", "heads/main")} == {first}
    second = commit(repository, "two")
    git("push", "--quiet", "origin", "main", "HEAD:refs/tags/main", folder=repository)
    third = commit(repository, "three")
    git("push", "--quiet", "origin", "HEAD:refs/heads/main", folder=repository)
    assert commit_of(url, "main", 10) == second, "a tag comes before a branch with its name"
    assert commit_of(url, "refs/heads/main", 10) == third
    assert commit_of(url, "feature/main", 10) == first


@pytest.mark.parametrize("ref", ["gone", "mai", "ma*", "main^", "--upload-pack=touch pwned", "feature"])
def test_a_ref_that_does_not_exist(ref: str, url: str) -> None:
    assert code_of(url, ref) == "missing-commit"


def test_commits_that_exist_and_one_that_does_not(url: str, repository: Path) -> None:
    old = git("rev-parse", "HEAD", folder=repository)
    commit(repository, "two")
    git("push", "--quiet", "origin", "main", folder=repository)
    require_commit(url, old, 10)
    with pytest.raises(RemoteError) as caught:
        require_commit(url, "0123456789abcdef0123456789abcdef01234567", 10)
    assert caught.value.code.name == "missing-commit"


def test_a_repository_that_vanished(url: str) -> None:
    assert code_of(url.replace("train", "gone")) == "missing-commit"


def test_the_credentials_of_the_user(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with git_server(tmp_path / "git", PASSWORD) as address:
        url = f"{address}/team/train.git"
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        assert code_of(url) == "remote-login"
        settings = tmp_path / "gitconfig"
        helper = f"!f() {{ echo username={USER}; echo password={PASSWORD}; }}; f"
        settings.write_text(f'[credential]\n\thelper = "{helper}"\n', "utf-8")
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
        assert commit_of(url, "main", 10) == git("rev-parse", "HEAD", folder=repository)


def test_an_address_with_a_password_from_the_configuration_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "gitconfig"
    settings.write_text(f'[url "http://{USER}:{PASSWORD}@127.0.0.1:9/"]\n\tinsteadOf = https://git.test/\n', "utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    assert code_of("https://git.test/a.git") == "remote-unreachable"


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c touch% pwned",
        "-oProxyCommand=touch pwned",
        "--upload-pack=touch pwned",
        "file:///etc",
        "/etc",
        "git://127.0.0.1/a.git",
        "ssh://-oProxyCommand=touch/a",
        "fd::0",
        "https://a.example.com/a b",
    ],
)
def test_a_hostile_url_is_refused_before_git_starts(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert code_of(url) == "missing-commit"


def void(_: object) -> None:
    """Nothing."""


@pytest.mark.slow
def test_a_server_that_hangs_is_given_up() -> None:
    release = threading.Event()
    with served(lambda _: void(release.wait(20))) as host:
        assert code_of(f"http://{host}/a.git", seconds=0.5) == "remote-unreachable"
        release.set()


def test_a_transport_of_the_configuration_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`insteadOf` cannot lead to a program or to a file of this machine."""
    settings = tmp_path / "gitconfig"
    settings.write_text(f'[url "ext::sh -c touch% {tmp_path}/pwned% "]\n\tinsteadOf = https://git.test/\n', "utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    assert code_of("https://git.test/a.git") == "remote-unreachable"
    assert not (tmp_path / "pwned").exists()
