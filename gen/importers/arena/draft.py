"""A job in the making from one `arena submit` command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.findings.imports import NEEDS_SECRET
from gen.importers.draft import JobDraft, literal

if TYPE_CHECKING:
    from gen.diagnostics import Findings
    from gen.importers.arena.submission import Submission


class Draft(JobDraft):
    """Collects values from the flags of one submission."""

    def __init__(self, given: Submission, namespace: str, found: Findings) -> None:
        super().__init__(given.text("name"), given.type.kind, namespace, given.place, found)
        self.given = given

    def carry(self, flag: str, *route: str) -> None:
        """Set a field to the value of a flag, if that is given."""
        value = self.given.last(flag)
        if value is not None:
            self.set(literal(value.text), *route, place=value.place)

    def lose(self, flag: str, why: str, hint: str) -> None:
        """Report that a flag, if it is given, has no field."""
        if self.given.every(flag):
            self.drop(self.given.place_of(flag), f"`--{flag}`", why, hint)

    def secret(self, flag: str, what: str, hint: str) -> None:
        """Report that the job reads a value from a Secret."""
        self.found.warning(NEEDS_SECRET, self.given.place_of(flag), f"{what} is a secret", hint)
