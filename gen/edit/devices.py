"""Accelerators of jobs that are imported together: as soon as one names one, those with GPUs must."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gen.importers.base import Fields, ImportedJob

_NAME: Final = "gpu"
_FIELD: Final = "accelerators"
_PLAIN: Final[dict[str, Any]] = {_NAME: {"nvidia": {}}}
"""What `gpus` means in an overlay without accelerators."""


def with_accelerators(jobs: Sequence[ImportedJob]) -> list[ImportedJob]:
    """The jobs. If one needs an accelerator in the overlay, all others with GPUs get one, too.

    A job without `accelerator` uses the only one of an overlay, with any devices.
    """
    mixed = any(_FIELD in job.overlay for job in jobs)
    return [_named(job) if mixed else job for job in jobs]


def new_accelerators(needed: Mapping[str, Any], overlay: Mapping[str, Any]) -> list[str]:
    """The accelerators for an overlay without any. Its own jobs with `gpus` would use the only one."""
    return [] if overlay.get(_FIELD) else [*needed.get(_FIELD, ())]


def _named(job: ImportedJob) -> ImportedJob:
    fields = _with_name(job.fields)
    if fields == job.fields:
        return job
    return replace(job, fields=fields, overlay={**job.overlay, _FIELD: {**job.overlay.get(_FIELD, {}), **_PLAIN}})


def _with_name(fields: Fields) -> Fields:
    """The fields of a job, a role or a step, with an accelerator for GPUs without one."""
    if "accelerator" in fields:
        return fields
    inner = {
        part: {name: _with_name(one) if isinstance(one, dict) else one for name, one in fields[part].items()}
        for part in ("roles", "steps")
        if isinstance(fields.get(part), dict)
    }
    own = {"accelerator": _NAME} if str(fields.get("gpus", "0")) != "0" else {}
    return {**fields, **inner, **own}
