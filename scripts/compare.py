"""Compares the output of this version of gen with that of another revision.

    python -m scripts.compare REVISION [PREFIX…]

Renders the example, the inputs of all cases in `tests/golden` and `tests/errors`, and generated repositories with
both, and compares rendered files byte by byte, exit codes, and code, severity and place of each finding. Messages may
be worded differently. Exits with 1 if anything else differs. With prefixes, compares only cases such as
`golden/volumes`, `errors` or `generated/17`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

from gen.kubernetes.rules import RENAMED

PROJECT = Path(__file__).parent.parent
WORKER = PROJECT / "scripts/render_worker.py"
GENERATED = 300
RENAMED_CODES: Mapping[str, str] = RENAMED
"""New name of each rule that was renamed. Codes of job files still have some of the former names, so both are equal."""
Finding = tuple[str, str, str]
"""Code, severity and place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Output of one version for one case."""

    files: Mapping[str, bytes]
    exit_code: int
    findings: Counter[Finding]

    @classmethod
    def read(cls, root: Path, exit_code: int) -> Self:
        """The output of a render in a folder, which the worker ended with this code."""
        printed = Path(f"{root}.json").read_bytes()
        items = json.loads(printed)["findings"] if printed.startswith(b"{") else []
        paths = [path for path in (root / "rendered").rglob("*") if path.is_file()]
        return cls(
            files={path.relative_to(root / "rendered").as_posix(): path.read_bytes() for path in paths},
            exit_code=exit_code,
            findings=Counter(_finding(item) for item in items),
        )

    def differences(self, other: Output) -> Iterator[str]:
        for path in sorted(self.files.keys() | other.files.keys()):
            if self.files.get(path) != other.files.get(path):
                yield f"rendered/{path}"
        if self.exit_code != other.exit_code:
            yield f"exit code {self.exit_code} → {other.exit_code}"
        for sign, items in ("-", self.findings - other.findings), ("+", other.findings - self.findings):
            for finding in sorted(items.elements()):
                yield f"{sign} {': '.join(finding)}"


def _finding(item: Mapping[str, str]) -> Finding:
    code = RENAMED_CODES.get(item["code"], item["code"])
    return code, item["severity"], f"{item['file']}:{item['line']}:{item['column']}"


def cases() -> Iterator[tuple[str, Callable[[Path], object]]]:
    """Name of the example and of each case, and the function that writes its inputs to a folder."""
    from tests.error_cases import error_cases, write
    from tests.generated import generated
    from tests.support import cases, copy_case

    yield "example", partial(copy_case, PROJECT)
    for folder in cases("golden"):
        yield f"golden/{folder.name}", partial(copy_case, folder)
    for case in error_cases():
        yield f"errors/{case.name}", case.copy
    for seed in range(GENERATED):
        yield f"generated/{seed}", partial(write, generated(seed))


@dataclass(frozen=True, slots=True)
class Version:
    """A process that renders with one version of gen."""

    process: subprocess.Popen[str]
    requests: IO[str]
    answers: IO[str]
    folder: Path

    @classmethod
    def start(cls, source: Path, folder: Path) -> Self:
        from tests.support import copy_case

        copy_case(PROJECT, folder / "warm-up")
        command = [sys.executable, "-P", str(WORKER), str(folder / "warm-up")]
        environment = {**os.environ, "PYTHONPATH": str(source)}
        process = subprocess.Popen(  # noqa: S603 - ourselves
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("pipes are missing")
        version = cls(process, process.stdin, process.stdout, folder)
        used = version._answer()
        if Path(used) != source / "gen":
            raise RuntimeError(f"expected {source}/gen, got {used}")
        return version

    def begin(self, name: str, copy: Callable[[Path], object]) -> None:
        """Start rendering a case."""
        root = self.folder / name
        root.parent.mkdir(parents=True, exist_ok=True)
        copy(root)
        print(root, file=self.requests, flush=True)

    def output(self, name: str) -> Output:
        """The output of the case that was started last."""
        return Output.read(self.folder / name, int(self._answer()))

    def _answer(self) -> str:
        return self.answers.readline().removesuffix("\n")


@contextmanager
def checkout(revision: str, folder: Path) -> Iterator[Path]:
    """A work tree of a revision."""
    git = ["git", "-C", str(PROJECT), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(folder), revision], check=True)  # noqa: S603 - a revision
    try:
        yield folder
    finally:
        subprocess.run([*git, "remove", "--force", str(folder)], check=True)  # noqa: S603 - as above


def main(revision: str, *prefixes: str) -> int:
    different = 0
    codes: Counter[int] = Counter()
    with tempfile.TemporaryDirectory() as name, checkout(revision, Path(name) / "checkout") as other:
        versions = [Version.start(source, Path(name) / label) for label, source in (("old", other), ("new", PROJECT))]
        for case, copy in cases():
            if prefixes and not case.startswith(prefixes):
                continue
            for version in versions:
                version.begin(case, copy)
            old, new = (version.output(case) for version in versions)
            differences = list(old.differences(new))
            different += bool(differences)
            codes[new.exit_code] += 1
            for difference in differences:
                print(f"{case}: {difference}")
        for version in versions:
            version.process.communicate()
    exits = ", ".join(f"{count} with exit code {code}" for code, count in sorted(codes.items()))
    print(f"{codes.total()} cases compared with {revision} ({exits}): {different} differ")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
