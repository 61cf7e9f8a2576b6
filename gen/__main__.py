"""The program: parse the command line, run a command, turn what happened into an exit code."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress

USAGE, BUG, INTERRUPTED = 2, 3, 130

# pydantic looks through every installed package for plugins otherwise, which takes a tenth of the start
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
# a run makes much and drops little before it ends; looking for garbage in between finds none
gc.disable()


def main() -> None:
    """Exit 0 clean, 1 violations or differences, 2 usage or configuration, 3 a bug of gen, 130 interrupted."""
    try:
        code = _run()
        if sys.stdout is not None:  # as it is where it was closed before
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


def _run() -> int:
    from gen.cli import app  # noqa: PLC0415 - `python -m gen` must be able to fail politely
    from gen.diagnostics import UsageError  # noqa: PLC0415

    try:
        app(prog_name="gen")
    except SystemExit as ended:
        if (interruption := _interruption(ended)) is not None:
            _say(str(interruption) or "interrupted")
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except UsageError as error:
        _say(str(error))
        return USAGE
    except OSError:  # not a bug; `main` reports it, where writing can also fail
        raise
    except Exception as error:  # noqa: BLE001 - whatever gets here is ours
        if _interruption(error) is not None:  # while a class was made
            raise KeyboardInterrupt from None
        import traceback  # noqa: PLC0415

        traceback.print_exc()
        _say(f"this is a bug of gen{_or_of_plugins()}, not of your files; nothing was written")
        return BUG
    return 0


def _or_of_plugins() -> str:
    """` or of a plugin (…)` if plugins were loaded: gen uses their values."""
    load = sys.modules.get("gen.plugins.load")
    names = load.loaded_plugins() if load is not None else ()
    return f" or of a plugin ({', '.join(f'`{name}`' for name in names)})" if names else ""


def _interruption(error: BaseException | None) -> KeyboardInterrupt | None:
    """The interruption that typer turned into an exit."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error


def _say(text: str) -> None:
    """Print it if standard error is open."""
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(f"gen: {text}\n")
            sys.stderr.flush()


if __name__ == "__main__":
    main()
