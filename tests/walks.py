"""Pages with commands to type in order: run them in a real shell, and compare the screens of the page.

A block of `sh` is run in the shell of the page, so a `cd` or a variable lasts. A block of `text` right below it is its
output, where a line `…` stands for any lines. `<!-- exit: 1 -->` above a block is the exit code of the last of its
commands that fails. `<!-- after: PAGE -->` is the page in whose folder this one begins. With the variable
`UPDATE_SCREENS`, the page gets the output instead of being compared with it.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

UPDATE = "UPDATE_SCREENS"
_BLOCK = re.compile(
    r"(?m)(?:^<!-- exit: (?P<exit>\d+) -->\n)?"
    r"^```sh\n(?P<commands>(?s:.*?))^```\n"
    r"(?:\n```text\n(?P<shown>(?s:.*?))^```\n)?"
)
_AFTER = re.compile(r"^<!-- after: (\S+) -->$", re.MULTILINE)
_CHANGING = re.compile(r"\b(?=[0-9a-f]*[0-9])[0-9a-f]{7,64}\b|\b\d{4}-\d\d-\d\d\b")
"""Commits, hashes of runs and dates, which are not compared."""
_OF_RUN = re.compile(r"(?<=-)[0-9a-f]{8}\b|(?<=\[)[0-9a-f]{12}(?=, job )|(?<=, job )[0-9a-f]{32}\b")
"""Hashes of runs and of their files, which differ only after a change of what gen renders."""
_MARK: Final = "\x1e"
_RUN = """\
{{ status=0; set -E; trap 'status=$?' ERR; . {file}; trap - ERR; }} 2>&1
printf '{mark}%d{mark}' "$status"
"""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A block of commands and what happened."""

    commands: str
    expected: int
    status: int
    shown: str | None
    output: str

    @property
    def as_shown(self) -> bool:
        return self.shown is None or matches(self.shown, self.output)


def steps(page: Path, folder: Path) -> list[Step]:
    """Run the blocks of a page in a folder, in one shell."""
    blocks = list(_BLOCK.finditer(page.read_text("utf-8")))
    scripts = folder.parent / f"{folder.name}.blocks"
    scripts.mkdir()
    for number, block in enumerate(blocks):
        (scripts / str(number)).write_text(block["commands"], "utf-8")
    lines = [_RUN.format(file=shlex.quote(str(scripts / str(n))), mark=_MARK) for n in range(len(blocks))]
    (scripts / "all").write_text("".join(lines), "utf-8")
    done = subprocess.run(
        ["bash", scripts / "all"],
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    parts = done.stdout.split(_MARK)
    assert len(parts) == 2 * len(blocks) + 1, done.stdout + done.stderr
    return [
        Step(
            commands=block["commands"],
            expected=int(block["exit"] or 0),
            status=int(parts[2 * n + 1]),
            shown=block["shown"],
            output=parts[2 * n],
        )
        for n, block in enumerate(blocks)
    ]


def environment(folder: Path) -> dict[str, str]:
    """The environment of a newcomer: gen on the path, a name for Git, nothing else that changes output."""
    kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    person = {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**kept, **person, "PATH": path, "HOME": str(home), "COLUMNS": "120", "NO_COLOR": "1"}


def start_of(page: Path) -> Path | None:
    """The page that leaves the folder for this one."""
    found = _AFTER.search(page.read_text("utf-8"))
    return (page.parent / found[1]).resolve() if found else None


def matches(shown: str, output: str) -> bool:
    """Whether a screen is that of an output: lines `…` are any lines, and the width of columns does not count."""
    parts = [re.escape(_words(part)) for part in re.split(r"(?m)^ *…\n", shown)]
    return re.fullmatch(r"(?:.*\n)?".join(parts), _words(output), re.DOTALL) is not None


def _hashes(step: Step) -> list[tuple[str, str]]:
    """The hashes of runs in the output, each with that on the screen; none for a screen of a part."""
    new, old = _OF_RUN.findall(step.output), _OF_RUN.findall(step.shown or "")
    return list(zip(new, old, strict=True)) if len(new) == len(old) else []


def _with_hashes_of_today(step: Step) -> str:
    today = iter(_hashes(step))
    return _OF_RUN.sub(lambda old: next(today, (old[0], ""))[0], step.shown or "")


def hashes_of_several_times(run: list[Step]) -> dict[str, set[str]]:
    """Hashes of runs that the page shows in several forms: its screens are of different times."""
    forms: dict[str, set[str]] = {}
    for new, old in (pair for step in run for pair in _hashes(step)):
        forms.setdefault(new, set()).add(old)
    return {new: several for new, several in forms.items() if len(several) > 1}


def _words(text: str) -> str:
    return "".join(" ".join(_CHANGING.sub("#", line).split()) + "\n" for line in text.splitlines())


def updated(page: Path, run: list[Step]) -> str:
    """The text of a page with the output of its commands, except where it shows a part of it already."""
    left = iter(run)

    def screen(block: re.Match[str]) -> str:
        step = next(left)
        if step.shown is None:
            return block[0]
        at = block.start("shown") - block.start()
        new = _with_hashes_of_today(step) if step.as_shown else step.output
        return block[0][:at] + new + block[0][at + len(step.shown) :]

    return _BLOCK.sub(screen, page.read_text("utf-8"))
