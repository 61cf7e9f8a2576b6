"""Long texts that gen searches with regular expressions while it renders: `python -m tests.searched FILE`.

The file is a list of jobs as JSON. The output has a line of JSON for each search of a long text: pattern, flags,
method, text. This is a separate process, because `re` must be replaced before gen is imported.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

LONG = 4096
"""Characters of a long text."""
KEPT = 1000
"""Characters of the start and of the end of a long text that are printed."""
METHODS = ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")

_compile = re.compile
_seen: set[tuple[str, int, str, str]] = set()


class Recorded:
    """A compiled pattern that records long texts."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._pattern, name)
        return self._recording(name, found) if name in METHODS else found

    def _recording(self, name: str, search: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            text = arguments[name.startswith("sub")]
            limits = () if name.startswith("sub") or name == "split" else arguments[1:]
            text = text[slice(*limits)] if limits else text
            if len(text) > LONG and isinstance(text, str):
                _seen.add((self._pattern.pattern, self._pattern.flags, name, text[:KEPT] + text[-KEPT:]))
            return search(*arguments, **options)

        return call


def _is_called_by_gen() -> bool:
    return str(sys._getframe(2).f_globals.get("__name__")).startswith("gen.")  # noqa: SLF001


def _record() -> None:
    def compiled(pattern: Any, flags: int = 0) -> Any:
        return Recorded(_compile(pattern, flags)) if _is_called_by_gen() else _compile(pattern, flags)

    def function(name: str, real: Any) -> Any:
        def call(pattern: Any, *arguments: Any, **options: Any) -> Any:
            if options or not _is_called_by_gen():
                return real(pattern, *arguments, **options)
            return getattr(Recorded(_compile(pattern)), name)(*arguments)

        return call

    setattr(re, "compile", compiled)  # noqa: B010 - mypy refuses the plain form
    for name in METHODS:
        setattr(re, name, function(name, getattr(re, name)))


def main() -> None:
    _record()
    from tests.support import Repository

    with tempfile.TemporaryDirectory() as folder:
        repository = Repository.at(Path(folder) / "repo")
        for job in json.loads(Path(sys.argv[1]).read_text("utf-8")):
            repository.job(job)
            report, _ = repository.render()
            assert all(len(finding.message) < 700 for finding in report.findings)
    for one in sorted(_seen):
        print(json.dumps(one))


if __name__ == "__main__":
    main()
