"""Compares the output of this version of gen with that of another revision.

    python -m scripts.compare REVISION

Renders the example and the inputs of all cases in `tests/golden` and `tests/errors` with both, and compares rendered
files byte by byte, exit codes, and code and place of each finding. Words of messages may differ. Exits with 1 if
anything else does.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PROJECT = Path(__file__).parent.parent
INPUTS = ("jobs", "overlays")


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Output of one version for one case."""

    files: Mapping[str, bytes]
    exit_code: int
    findings: tuple[tuple[str, str], ...]
    """Code and place."""

    def differences(self, other: Output) -> Iterator[str]:
        for path in sorted(self.files.keys() | other.files.keys()):
            if self.files.get(path) != other.files.get(path):
                yield f"rendered/{path}"
        if self.exit_code != other.exit_code:
            yield f"exit code {self.exit_code} → {other.exit_code}"
        for finding in sorted(set(self.findings) ^ set(other.findings)):
            yield f"{'-' if finding in self.findings else '+'} {': '.join(finding)}"


def cases() -> Iterator[tuple[str, Path]]:
    """Name and folder of the example and of each case."""
    yield "example", PROJECT
    for group in ("golden", "errors"):
        for folder in sorted((PROJECT / "tests" / group).iterdir()):
            if folder.is_dir():
                yield f"{group}/{folder.name}", folder


def prepare(case: Path, root: Path, overlay: str) -> None:
    """Copy the inputs of a case. A case without overlays gets the one that tests use."""
    for name in INPUTS:
        (root / name).mkdir(parents=True)
        if (case / name).is_dir():
            shutil.copytree(case / name, root / name, dirs_exist_ok=True)
    if not (case / "overlays").is_dir():
        (root / "overlays/dev").mkdir()
        (root / "overlays/dev/overlay.yaml").write_text(overlay, "utf-8")


def render(source: Path, root: Path) -> Output:
    """Render with the version of gen in a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, "-m", "gen", "render", "--no-cache", "--output", "json"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, check=False)  # noqa: S603 - ourselves
    found = json.loads(done.stdout)["findings"] if done.stdout.startswith(b"{") else []
    written = [path for path in (root / "rendered").rglob("*") if path.is_file()]
    return Output(
        files={path.relative_to(root / "rendered").as_posix(): path.read_bytes() for path in written},
        exit_code=done.returncode,
        findings=tuple((one["code"], f"{one['file']}:{one['line']}:{one['column']}") for one in found),
    )


def main(revision: str) -> int:
    from tests.support import OVERLAY  # noqa: PLC0415 - tests are not installed

    count = different = 0
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "other"
        git = ["git", "-C", str(PROJECT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(other), revision], check=True)  # noqa: S603 - a revision
        try:
            for name, case in cases():
                outputs = []
                for source in (other, PROJECT):
                    root = Path(folder) / f"{source.name}-{count}"
                    prepare(case, root, OVERLAY)
                    outputs.append(render(source, root))
                differences = list(outputs[0].differences(outputs[1]))
                different += bool(differences)
                count += 1
                for difference in differences:
                    print(f"{name}: {difference}")
        finally:
            subprocess.run([*git, "remove", "--force", str(other)], check=True)  # noqa: S603 - as above
    print(f"{count} cases compared with {revision}: {different} differ")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
