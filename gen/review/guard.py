"""Guards against removing more than was meant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gen.diagnostics import Location, UsageError
from gen.repository.layout import RENDERED, engine_of
from gen.review.types import Change

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gen.diagnostics import Findings
    from gen.review.types import ObjectChange


@dataclass(frozen=True, slots=True)
class Guard:
    """How many objects may be removed: so many, or such a share of those at the base."""

    most: float | None = None
    percent: bool = False

    @classmethod
    def parse(cls, text: str | None) -> Guard:
        """`20` or `5%`. UsageError when it is neither."""
        if text is None:
            return cls()
        match = re.fullmatch(r"([0-9]{1,9}|[0-9]{1,3}(?:\.[0-9]{1,3})?%)", text)
        percent = text.endswith("%")
        if match is None or (percent and float(text[:-1]) > 100):  # noqa: PLR2004 - more than all
            raise UsageError(f"--max-removed {text} is neither a number of objects nor a share such as 10%")
        return cls(float(text.removesuffix("%")), percent)

    def judge(self, removed: int, before: int, found: Findings) -> None:
        """Objects that follow others, such as those of a run that replaces one, do not count as removed."""
        if self.most is None:
            return
        share = 100 * removed / before if before else 0.0
        if (share if self.percent else removed) > self.most:
            said = f"{self.most:g}%" if self.percent else f"{self.most:g}"
            message = f"{removed} of {before} objects would be removed ({share:.1f}%), and at most {said} may be"
            hint = "look at what goes; when all of it should, raise --max-removed"
            found.error("too-many-removed", Location(RENDERED), message, hint)


def told_delivery(objects: Iterable[ObjectChange], found: Findings) -> None:
    """What engines are told is no training, but it takes training along."""
    for item in objects:
        key = item.pair.item.key
        if item.change is Change.REMOVED and engine_of(key.scope):
            message = f"{key.object} would be removed, and an engine may remove with it all that it has applied"
            hint = "see that it leaves its objects behind, before it goes or gets another name"
            found.warning("delivery-removed", Location(item.pair.item.path), message, hint)
