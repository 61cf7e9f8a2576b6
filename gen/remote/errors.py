"""Why an image or a ref has no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gen.findings.code import Code


class RemoteError(Exception):
    """A finding about an image or a ref. Its texts contain nothing that a server, a helper or Git printed."""

    def __init__(self, code: Code, message: str, hint: str, *, silent: bool = False) -> None:
        super().__init__(message)
        self.code, self.message, self.hint = code, message, hint
        self.silent = silent
        """Whether the server does not answer at all, so that it need not be asked again."""
