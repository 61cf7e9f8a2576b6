"""Errors of requests to a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gen.findings.code import Code


class ClusterError(Exception):
    """No answer, as a finding: its code, message and hint. No message contains a credential."""

    def __init__(self, code: Code, message: str, hint: str) -> None:
        super().__init__(message)
        self.code, self.message, self.hint = code, message, hint


class NotFoundError(Exception):
    """The server has no such object, resource or API version."""


class ExpiredError(Exception):
    """The server has forgotten the version of a list that a page or a watch continues."""

    def __init__(self, fresh: str = "") -> None:
        super().__init__(fresh)
        self.fresh = fresh
        """A token that continues with the present version; empty without one."""
