"""Which combinations gen supports, and why it rejects the others: a part of `docs/reference-job.md`.

A column is a function of a kind and an API version. Add one to `SECTIONS`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from gen.job.kinds import KINDS
from gen.kubernetes.facts.katib import TRIAL_RESOURCES, trial_resource
from gen.overlay.profiles.queues import QUEUES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gen.job.kinds.base import Job

    Column = Callable[[type[Job], str], tuple[str, str]]
    """The cell for a kind in an API version, and its note; the note is empty for a plain cell."""

_TEXT: Final = """\
## Supported combinations

Each row is a kind of job in an API version. A number refers to the notes below its table: a setting that the
cluster needs, or the reason why gen rejects the combination.
"""
_QUEUES: Final = """\
### Queues

The schedulers of `queues` in an overlay. Schedulers other than Kueue start all pods of a run together, or none.
[Queues and gangs](queues.md) describes them.
"""


def _queue(name: str, kind: type[Job], api_version: str) -> tuple[str, str]:
    scheduler = QUEUES[name]
    refused = scheduler.unable(kind.facts, api_version)
    if refused is not None:
        return "no", f"Rejected: {refused.reason}."
    needed = scheduler.needs(kind.facts, api_version)
    return "yes", _needed(needed, api_version) if needed else ""


def _needed(needed: str, api_version: str) -> str:
    if needed.startswith("--"):
        return f"The operator of `{api_version}` must run with `{needed}`."
    return f"Kueue's configuration and `frameworks` of the queue must list `{needed}`."


_NETWORKS: Final = """\
### Networks

What kinds of `networks` a job can use: further interfaces and devices of its pods, the network of the nodes
(`hostNetwork`), and profiles that add a container to the pods, such as `gkeTcpxo`.
"""


def _devices(kind: type[Job], api_version: str) -> tuple[str, str]:  # noqa: ARG001 - releases differ, see the note
    older = [release for release in kind.facts.releases if "network" in kind.unsupported_before.get(release, ())]
    return "yes", f"Not with the releases {' and '.join(older)} of the operator." if older else ""


def _nodes(kind: type[Job], api_version: str) -> tuple[str, str]:  # noqa: ARG001 - the same in every version
    return ("yes", "") if kind.uses_host_network else ("no", "Rejected: only the runtime in the cluster sets it.")


def _sidecars(kind: type[Job], api_version: str) -> tuple[str, str]:  # noqa: ARG001 - as above
    return ("yes", "") if kind.adds_containers else ("no", "Rejected: its runtime in the cluster has the containers.")


_LIFECYCLE: Final = """\
### Life of a run

Fields of a job that control its run.
"""


def _suspended(kind: type[Job], api_version: str) -> tuple[str, str]:  # noqa: ARG001 - as above
    return ("yes", "") if kind.facts.suspend is not None else ("no", "Rejected: no field suspends the object.")


def _field(name: str, kind: type[Job], api_version: str) -> tuple[str, str]:  # noqa: ARG001 - as above
    reason = kind.unsupported_fields().get(name)
    return ("yes", "") if reason is None else ("no", f"Rejected: {reason}.")


def _search(kind: type[Job], api_version: str) -> tuple[str, str]:
    cell, note = _field("search", kind, api_version)
    name = trial_resource(kind.facts.kind, api_version)
    listed = note or name in TRIAL_RESOURCES
    return cell, note if listed else f"The KatibConfig and `katib.trialResources` of the overlay must list `{name}`."


_FIELDS: Final = ("timeout", "retries", "cleanup", "restart", "schedule", "sweep", "code", "tensorboard")
SECTIONS: Final[Mapping[str, Mapping[str, Column]]] = {
    _QUEUES: {name: partial(_queue, name) for name in QUEUES},
    _NETWORKS: {"interfaces and devices": _devices, "hostNetwork": _nodes, "more containers": _sidecars},
    _LIFECYCLE: {
        "state: suspended": _suspended,
        **{name: partial(_field, name) for name in _FIELDS},
        "search": _search,
    },
}
"""Columns by their titles, for each introduction."""


def support() -> str:
    parts = [_TEXT]
    for about, columns in SECTIONS.items():
        notes: dict[str, int] = {}
        rows = [_row(f"`{name}`", kind, version, columns, notes) for name, kind, version in _kinds()]
        header = f"| kind | {' | '.join(f'`{title}`' for title in columns)} |"
        parts += [about, "\n".join([header, "|---" * (len(columns) + 1) + "|", *rows]) + "\n"]
        parts += ["\n".join(f"{number}. {note}" for note, number in notes.items()) + "\n"]
    return "\n".join(parts)


def _kinds() -> Iterator[tuple[str, type[Job], str]]:
    for name, kind in KINDS.items():
        for version in kind.facts.versions:
            yield name, kind, version


def _row(name: str, kind: type[Job], version: str, columns: Mapping[str, Column], notes: dict[str, int]) -> str:
    several = len(kind.facts.versions) > 1
    cells = [f"{name} of `{version}`" if several else name]
    for column in columns.values():
        cell, note = column(kind, version)
        number = f" ({notes.setdefault(note, len(notes) + 1)})" if note else ""
        cells.append(f"{cell}{number}")
    return f"| {' | '.join(cells)} |"
