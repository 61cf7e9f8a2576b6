"""The program: parse the command line, run a command, turn what happened into an exit code."""

from __future__ import annotations

import gc
import os
import sys

USAGE, BUG, INTERRUPTED = 2, 3, 130

# pydantic looks through every installed package for plugins otherwise, which takes a tenth of the start
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
# a run makes much and drops little before it ends; looking for garbage in between finds none
gc.disable()


def main() -> None:
    """Exit 0 clean, 1 violations or differences, 2 usage or configuration, 3 a bug of gen, 130 interrupted."""
    from gen.cli import app  # noqa: PLC0415 - `python -m gen` must be able to fail politely
    from gen.diagnostics import UsageError  # noqa: PLC0415

    try:
        app()
    except UsageError as error:
        sys.stderr.write(f"gen: {error}\n")
        sys.exit(USAGE)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        at = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"gen: {at}{error.strerror or error}; check permissions and free space, and run it again\n")
        sys.exit(USAGE)
    except Exception:  # noqa: BLE001 - whatever gets here is ours
        import traceback  # noqa: PLC0415

        traceback.print_exc()
        sys.stderr.write("gen: this is a bug of gen, not of your files; nothing was written\n")
        sys.exit(BUG)


if __name__ == "__main__":
    main()
