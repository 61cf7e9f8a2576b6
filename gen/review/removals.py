"""Checks of removed objects: a limit on their number, and Applications and Kustomizations among them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gen.diagnostics import Location, UsageError
from gen.findings.rendered import DELIVERY_REMOVED, KIND_NO_LONGER_PERMITTED, TOO_MANY_REMOVED
from gen.gitops import ENGINES as CLASSES
from gen.repository.layout import RENDERED, engine_of
from gen.resources import resource_of
from gen.resources.engines import ENGINES
from gen.review.review import ObjectAction

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gen.diagnostics import Findings
    from gen.review.review import ObjectChange


@dataclass(frozen=True, slots=True)
class RemovalLimit:
    """Maximum number of removed objects, or their maximum share of the objects at the base."""

    maximum: float | None = None
    """None for no limit."""
    percent: bool = False

    @classmethod
    def parse(cls, text: str | None) -> RemovalLimit:
        """`20` or `5%`. UsageError for anything else."""
        if text is None:
            return cls()
        match = re.fullmatch(r"([0-9]{1,9}|[0-9]{1,3}(?:\.[0-9]{1,3})?%)", text)
        percent = text.endswith("%")
        if match is None or (percent and float(text[:-1]) > 100):  # noqa: PLR2004 - percent
            raise UsageError(f"invalid --max-removed `{text}`; expected a number of objects or a share such as 10%")
        return cls(float(text.removesuffix("%")), percent)

    def check(self, removed: int, before: int, found: Findings) -> None:
        """`removed` does not count replaced objects, such as those of a new run of the same job."""
        if self.maximum is None:
            return
        share = 100 * removed / before if before else 0.0
        if (share if self.percent else removed) > self.maximum:
            limit = f"{self.maximum:g}%" if self.percent else f"{self.maximum:g}"
            message = f"{removed} of {before} objects ({share:.1f}%) would be removed; the limit is {limit}"
            hint = "review the removed objects; raise --max-removed if the removal is intended"
            found.error(TOO_MANY_REMOVED, Location(RENDERED), message, hint)


def warn_delivery_removed(objects: Iterable[ObjectChange], found: Findings) -> None:
    """Warn about removed Applications and Kustomizations, because engines may delete their objects with them."""
    for change in objects:
        removed = change.pair.object
        if change.action is ObjectAction.REMOVED and engine_of(removed.key.scope):
            message = f"`{removed.key}` would be removed; the GitOps engine may delete every object that it applied"
            hint = "make sure that its objects are kept before you remove or rename it"
            found.warning(DELIVERY_REMOVED, Location(removed.path), message, hint)


def warn_kind_no_longer_permitted(objects: Iterable[ObjectChange], found: Findings) -> None:
    """Warn about kinds that an engine stops permitting, because it does not prune their last runs."""
    for change in objects:
        before, after = change.pair.before, change.pair.after
        if before is None or after is None or (engine := engine_of(after.key.scope)) == "":
            continue
        permitted = CLASSES[engine].permitted
        for group, kind in sorted(permitted(before.body) - permitted(after.body)):
            resource = resource_of(group, kind)
            if resource is not None and resource.is_workload:
                keeper = ENGINES[engine].title
                message = f"`{after.key}` no longer permits {kind}; {keeper} would keep the last runs of this kind"
                hint = f"list the kind of job that renders {kind} under `operators` until its runs are gone"
                found.warning(KIND_NO_LONGER_PERMITTED, Location(after.path), message, hint)
