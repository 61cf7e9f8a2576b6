"""What ends the reading of a file: control flow between a builder and the reader around it, never seen outside."""

from __future__ import annotations

from typing import Any


class Refused(Exception):  # noqa: N818 - it is a finding to be, and no error of the program
    """At an event of the parser, with the code, the message and the hint of the finding that it becomes."""

    def __init__(self, event: Any, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.mark, self.code, self.message, self.hint = event.start_mark, code, message, hint
