"""Changes of bundles that no engine applies: what an engine may do, and its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import Location
from gen.findings.rendered import APPLY_BY_HAND
from gen.gitops import ENGINES
from gen.repository.layout import engine_of, settings_name
from gen.review.review import ObjectAction

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gen.diagnostics import Findings
    from gen.review.review import ObjectChange

_APPLIED = {ObjectAction.ADDED, ObjectAction.CHANGED, ObjectAction.REPLACED}


def warn_apply_by_hand(objects: Iterable[ObjectChange], settings: Iterable[str], found: Findings) -> None:
    """Warn about objects and settings to apply by hand after the merge. `settings` are changed files."""
    for change in objects:
        after = change.pair.after
        if after is None or change.action not in _APPLIED or not (engine := engine_of(after.key.scope)):
            continue
        permits = ENGINES[engine].permissions(after.body)
        if permits is not None:
            before = change.pair.before
            permitted = ENGINES[engine].permissions(before.body) if before is not None else None
            what = _difference(permitted or frozenset(), permits)
            folder = after.path.rpartition("/")[0]
            hint = f"after the merge, run `kubectl apply --server-side -f {folder}/`"
            found.warning(APPLY_BY_HAND, Location(after.path), f"`{after.key}` {what}", hint)
    for path in settings:
        name = settings_name(path)
        command = f"kubectl patch configmap {name} --type=merge --patch-file={path}"
        hint = f"after the merge, run `{command}` in the namespace of the engine"
        found.warning(APPLY_BY_HAND, Location(path), f"`{name}` gets settings that are not applied from Git", hint)


def _difference(before: frozenset[str], after: frozenset[str]) -> str:
    """What an object permits in addition, and what no longer."""
    more, less = sorted(after - before), sorted(before - after)
    parts = [f"permits {_listed(more)}"] if more else []
    parts += [f"no longer permits {_listed(less)}"] if less else []
    return " and ".join(parts) or "changes, and is not applied from Git"


def _listed(words: list[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)
