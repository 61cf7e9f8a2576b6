"""The program: parse the command line, run a command, turn the result into an exit code."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
from contextlib import suppress

USAGE, BUG, INTERRUPTED = 2, 3, 130

# a run is short and leaves few cycles; collecting garbage in between would find none
gc.disable()
# a plugin of pydantic that happens to be installed must not change what a file means; looking for one takes time, too
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def main() -> None:
    """Exit 0 clean, 1 violations or differences, 2 usage or configuration, 3 a bug of gen, 130 interrupted."""
    interrupts = _Interrupts()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # characters that the encoding of the terminal does not have
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _run(interrupts)
        if sys.stdout is not None and not sys.stdout.closed:  # as it was before, or by a language server
            sys.stdout.flush()
    except KeyboardInterrupt as interrupted:
        _say(str(interrupted) or "interrupted")
        code = INTERRUPTED
    except BrokenPipeError:
        code = 1
    except OSError as error:
        _say(_explained(error))
        code = USAGE
    _end_processes()
    # nothing is left to do, and to take apart all that was read would be a twentieth of a long run
    os._exit(code)


class _Interrupts:
    """SIGTERM, which ends a job of CI, interrupts a run as SIGINT does, so that it removes its temporary files."""

    def __init__(self) -> None:
        self.received = False
        """An exception that follows has this cause, whatever a library makes of it."""
        self._process = os.getpid()
        signal.signal(signal.SIGTERM, self._interrupt)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a shell ignores it in the background
            signal.signal(signal.SIGINT, self._interrupt)

    def _interrupt(self, *_: object) -> None:
        if os.getpid() != self._process:  # a copy that has not begun its work
            os._exit(INTERRUPTED)
        self.received = True
        raise KeyboardInterrupt


def _end_processes() -> None:
    """End processes that an interrupt left behind, between their start and the block that ends them."""
    if (loaded := sys.modules.get("multiprocessing")) is not None:
        for child in loaded.active_children():
            child.terminate()


def _explained(error: OSError) -> str:
    try:
        os.getcwd()  # noqa: PTH109 - nothing else needs a Path here
    except FileNotFoundError:
        return "the working directory was removed; change to another one"
    at = f"{error.filename}: " if error.filename else ""
    return f"{at}{error.strerror or error}; check permissions and free space, and run it again"


def _run(interrupts: _Interrupts) -> int:
    from gen.base import UsageError
    from gen.cli import run

    try:
        return run()
    except SystemExit as ended:  # of a shell that asks for completions
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except UsageError as error:
        _say(str(error))
        return USAGE
    except OSError:  # not a bug; `main` reports it, where writing can also fail
        raise
    except Exception as error:  # noqa: BLE001 - whatever gets here is ours
        import traceback

        from gen.base import interruption, or_of_plugins

        if (interrupt := interruption(error)) is not None:
            raise KeyboardInterrupt(*interrupt.args) from None
        if interrupts.received:
            raise KeyboardInterrupt from None
        traceback.print_exc()
        _say(f"this is a bug of gen{or_of_plugins()}, not of your files; nothing was written")
        return BUG


def _say(text: str) -> None:
    """Print it if standard error is open."""
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(f"gen: {text}\n")
            sys.stderr.flush()


if __name__ == "__main__":
    main()
