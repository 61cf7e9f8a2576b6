"""Time the language server with a real client: `python -m bench.editor [JOBS] [--edits EDITS]`.

CPU times are those of the server alone, with what it does in the background in that time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.measure import family, proportional
from bench.repository import FIRST_JOB, make_repository
from tests.editor.client import Editor

LAST_JOB = FIRST_JOB.replace("job-0", "job-20")
OVERLAY = "overlays/cluster/overlay.yaml"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="?", type=int, default=1000)
    parser.add_argument("--edits", type=int, default=2000, help="edits before the memory is measured")
    parser.add_argument("--folder", type=Path, help="working directory; use a tmpfs to exclude the disk")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        root = Path(folder) / "repository"
        make_repository(root, arguments.jobs)
        for name in ("second", "third"):
            path = root / OVERLAY.replace("cluster", name)
            path.parent.mkdir()
            path.write_text((root / OVERLAY).read_text("utf-8"), "utf-8")
        asyncio.run(session(root, arguments.edits))


class Times:
    """Wall and CPU times of edits until their finding is shown."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.found: dict[str, list[tuple[float, float]]] = {}

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        start, used = time.perf_counter(), _cpu()
        yield
        self.found.setdefault(name, []).append((time.perf_counter() - start, _cpu() - used))

    def lines(self) -> Iterator[str]:
        yield "| | edits | median | slowest | CPU, median | CPU, most |"
        yield "|---|---|---|---|---|---|"
        for name, times in self.found.items():
            walls, cpus = zip(*times, strict=True)
            numbers = statistics.median(walls), max(walls), statistics.median(cpus), max(cpus)
            yield f"| {name} | {len(times)} | {' | '.join(map(_ms, numbers))} |"


async def session(root: Path, edits: int) -> None:
    job, overlay = ((root / path).read_text("utf-8") for path in (FIRST_JOB, OVERLAY))
    editor = Editor(root)
    times = Times(editor)

    async def shows(path: str, word: str) -> None:
        def shown() -> bool:
            return any(word in one.message for one in editor.shown.get(path, []))

        await editor.until(shown)

    with times.of("start"):
        await editor.start()
        editor.open(FIRST_JOB, f"{job}wrong: 1\n")
        await shows(FIRST_JOB, "wrong")
    editor.open(OVERLAY)
    await editor.until(lambda: editor.refreshed > 1)
    await _rest()
    print(f"memory after the start: {_memory() >> 20} MiB")
    for number in range(edits):
        if number % 20 == 19:
            with times.of("overlay"):
                editor.change(OVERLAY, f"{overlay}wrong{number}: 1\n")
                await shows(OVERLAY, f"wrong{number}")
            editor.change(OVERLAY, overlay)
            if number % 200 == 199:
                print(f"memory after {number + 1} edits: {_memory() >> 20} MiB", flush=True)
                await _rest()
                with times.of("job broken by an overlay"):
                    editor.change(OVERLAY, overlay.replace("training-data:", f"gone-{number}:"))
                    await shows(FIRST_JOB, "training-data")
                with times.of("all jobs broken by an overlay"):
                    await shows(LAST_JOB, "training-data")
                editor.change(OVERLAY, overlay)
        with times.of("job"):
            editor.change(FIRST_JOB, f"{job}wrong{number}: 1\n")
            await shows(FIRST_JOB, f"wrong{number}")
    await _rest()
    for line in times.lines():
        print(line)
    print(f"memory after {edits} edits: {_memory() >> 20} MiB")
    await editor.end()


async def _rest() -> None:
    """Wait until the server has nothing to do."""
    before = -1.0
    while (now := _cpu()) - before > 0.02:
        before = now
        await asyncio.sleep(1)


def _servers() -> list[int]:
    return family(os.getpid())[1:]


def _memory() -> int:
    return sum(map(proportional, _servers()))


def _cpu() -> float:
    """CPU seconds of the server."""
    ticks = 0
    for pid in _servers():
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms"


if __name__ == "__main__":
    main()
