"""What can be wrong with an expression, before and while it is evaluated."""

from __future__ import annotations


class CelError(Exception):
    """The evaluation of an expression failed. The text is that of an API server."""

    cost: float = 0
    """That of the evaluation up to the failure."""


class CompileError(Exception):
    """An expression that an API server refuses: wrong syntax, an unknown name or a wrong type."""

    def __init__(self, message: str, at: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


class UnavailableError(CompileError):
    """An expression with a function or a macro that API servers do not have, or not yet.

    `since` is the first minor version of Kubernetes with it; None if there is none.
    """

    def __init__(self, name: str, since: int | None, at: int) -> None:
        super().__init__(f"undeclared reference to '{name}' (in container '')", at)
        self.name = name
        self.since = since


class NotEvaluatedError(BaseException):
    """The expression needs more work than its limit, or something that is only known in a cluster.

    Not an Exception, so that no operator of CEL absorbs it.
    """


class CostError(CelError):
    """The expression costs more than an API server allows."""
