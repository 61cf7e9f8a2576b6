"""Renders folders with the version of gen in `PYTHONPATH`, for `scripts.compare`.

    python -P scripts/render_worker.py WARM_UP_FOLDER

Prints the folder of gen. For each folder on standard input, renders it, writes the output to `<folder>.json`, and
prints the exit code. Each render is a fork of this process, which has imported everything by rendering the first
folder; no render changes another one. It only uses the command line of gen, which all versions have.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

ARGUMENTS = ["render", "--no-cache", "--parallel", "1", "--output", "json"]


def render(folder: str) -> None:
    """Run the command in this process, with its output in a file. It may end the process."""
    os.chdir(folder)
    output = os.open(f"{folder}.json", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.close(output)
    sys.argv = ["gen", *ARGUMENTS]
    from gen.__main__ import main

    main()


def warm_up(folder: str) -> None:
    """Render in this process, so that forks need not import anything. Forks work without it, too, only slower."""
    leave, stdout = os._exit, os.dup(1)
    os._exit = sys.exit  # type: ignore[assignment] # the program ends its process in this way
    with contextlib.suppress(SystemExit):
        render(folder)
    os._exit = leave
    sys.stdout.flush()
    os.dup2(stdout, 1)
    os.close(stdout)


def main() -> None:
    import gen

    warm_up(sys.argv[1])
    print(Path(str(gen.__file__)).parent, flush=True)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                render(line.removesuffix("\n"))
            finally:
                os._exit(99)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
