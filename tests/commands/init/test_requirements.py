"""The requirements of a new repository pin one content of gen."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement

from gen.base.findings import UsageError
from gen.commands import init as pinned_source
from tests.support import initialised

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow  # processes in repositories that `gen init` creates


COMMIT, DIGEST = "a" * 40, "b" * 64
HASHED = f"https://pypi.example.com/gitops_gen-1-py3-none-any.whl#sha256={DIGEST}"


@pytest.mark.parametrize(
    "source",
    [
        f"git+https://git.example.com/ml/gen.git@{COMMIT}",
        f"git+https://git.example.com:8443/ml/gen@{DIGEST}",
        f"git+ssh://git@git.example.com/ml/gen.git@{COMMIT}",
        HASHED,
        f"file:///srv/wheels/gitops_gen-1-py3-none-any.whl#sha256={DIGEST}",
    ],
)
def test_requirements_pin_the_given_source(tmp_path: Path, source: str) -> None:
    report, code = initialised(tmp_path / "new", source=source)
    assert code == 0
    assert _requirements(tmp_path / "new") == [f"gitops-gen @ {source}"]
    assert "CI fails until" not in report.summary


def test_pip_reads_the_requirement_of_a_local_repository(tmp_path: Path) -> None:
    initialised(tmp_path / "new", source=f"git+file:///srv/gen@{COMMIT}")
    (line,) = _requirements(tmp_path / "new")
    assert Requirement(line).url == f"git+file://localhost/srv/gen@{COMMIT}"


@pytest.mark.parametrize(
    "source",
    [
        "gitops-gen==1.0",
        "git+https://git.example.com/ml/gen.git",
        "git+https://git.example.com/ml/gen.git@main",
        "git+https://git.example.com/ml/gen.git@abc1234",
        f"git+http://git.example.com/ml/gen.git@{COMMIT}",
        f"git+ssh://-oProxyCommand/gen.git@{COMMIT}",
        f"git+ssh://git@-oProxyCommand/gen.git@{COMMIT}",
        f"git+https://user:token@git.example.com/ml/gen.git@{COMMIT}",
        "https://pypi.example.com/gitops_gen-1-py3-none-any.whl",
        f"http://pypi.example.com/gitops_gen-1-py3-none-any.whl#sha256={DIGEST}",
        f"{HASHED} --index-url=https://evil.example.com",
        f"{HASHED}\nevil",
        "",
    ],
)
def test_a_source_that_is_not_pinned_is_refused(tmp_path: Path, source: str) -> None:
    with pytest.raises(UsageError, match="invalid --source"):
        initialised(tmp_path / "new", source=source)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (None, []),
        ({"url": "file:///home/me/gen", "dir_info": {"editable": True}}, []),
        (
            {"url": "https://git.example.com/gen", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
            [f"gitops-gen @ git+https://git.example.com/gen@{COMMIT}"],
        ),
        ({"url": "https://x:y@git.example.com/gen", "vcs_info": {"vcs": "git", "commit_id": COMMIT}}, []),
        (
            {"url": HASHED.partition("#")[0], "archive_info": {"hash": f"sha256={DIGEST}"}},
            [f"gitops-gen @ {HASHED}"],
        ),
        ({"url": "file:///tmp/gen.whl", "archive_info": {"hash": f"sha256={DIGEST}"}}, []),
        ({"url": HASHED.partition("#")[0], "archive_info": {}}, []),
    ],
    ids=["index", "editable", "commit", "credentials", "file", "local file", "file without digest"],
)
def test_requirements_pin_the_source_of_the_running_gen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: object, expected: list[str]
) -> None:
    """A name and a version are never pinned: the reader may not own the name in their index."""

    class Installed:
        def read_text(self, name: str) -> str | None:
            return json.dumps(record) if record and name == "direct_url.json" else None

    monkeypatch.setattr(pinned_source, "distribution", lambda _: Installed())
    report, code = initialised(tmp_path / "new")
    assert (code, _requirements(tmp_path / "new")) == (0, expected)
    assert ("CI fails until" in report.summary) is not bool(expected)
    readme = (tmp_path / "new/README.md").read_text("utf-8")
    assert ("CI fails until you add one" in readme) is not bool(expected)


def _requirements(root: Path) -> list[str]:
    lines = (root / "requirements.txt").read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]
