"""The listed values of a job in an overlay. Jobs that differ only in other fields are read by the models once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import orjson
from msgspec import Struct, field
from msgspec.structs import replace

from gen.diagnostics import Findings
from gen.inventory.asked import TIMES, asked_by, sums
from gen.inventory.listing import Numbers
from gen.model.job import JobFields
from gen.model.metric import known_metrics
from gen.model.names import JOB_NAME
from gen.model.sweep import MAX_COMBINATIONS
from gen.render.combinations import combinations
from gen.render.expand import read_sweep, without_values
from gen.render.parse.job import parse_run, read_job
from gen.render.record import SWEEP
from gen.render.run_values import RunValues

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gen.diagnostics import Diagnostic
    from gen.load import Data, Source
    from gen.overlay.overlay import Overlay
    from gen.render.parse.job import JobInput, WrittenJob
    from gen.repository.layout import JobFile

_SHOWN: Final = frozenset(
    {
        "kind",
        "state",
        "attempt",
        "workers",
        "roles",
        "gpus",
        "accelerator",
        "queue",
        "timeout",
        "retries",
        "schedule",
        "sweep",
        "search",
        "metrics",
    }
)
HIDDEN: Final = frozenset(str(one.alias) for one in JobFields.model_fields.values()) - _SHOWN
"""Fields of all kinds that the list does not show, and that decide nothing it shows."""

_ALONE: Final = frozenset({"state", "attempt", "queue", "timeout", "metrics"})
"""Fields that no number of pods or GPUs depends on."""
_OTHERS: Final = _ALONE | TIMES | HIDDEN


class Answer(Struct, frozen=True, kw_only=True):
    """The values of a job, and the errors that hide some of them."""

    numbers: Numbers = Numbers()
    errors: tuple[Diagnostic, ...] = ()


class NumberReader(Struct):
    """Reads jobs, and keeps the values of those without errors."""

    _known: dict[tuple[str, bytes], Answer] = field(default_factory=dict)

    def numbers(
        self, job: JobFile, data: Mapping[str, Any] | None, overlay: Overlay | None, read: Callable[[], Source | None]
    ) -> Answer:
        """The values of a job. `data` is the content of its file, if no other text means the same; `read` parses it
        with places.
        """
        if data is None:
            return _read(read(), job.namespace, overlay)
        shown = {name: value for name, value in data.items() if name not in HIDDEN}
        key = overlay.name if overlay else "", _text(shown)
        usual = key[1] and b"{{" not in key[1] and JOB_NAME.fullmatch(str(data.get("name", job.stem))) is not None
        if usual and key in self._known:
            return self._known[key]
        answer = _read(read(), job.namespace, overlay)
        if usual and not answer.errors:
            self._known[key] = answer
        return answer


def _text(shown: Mapping[str, Any]) -> bytes:
    """The fields as JSON; empty if it has no form for them, such as for keys that are numbers."""
    try:
        return orjson.dumps(shown)
    except TypeError:
        return b""


def _read(source: Source | None, namespace: str, overlay: Overlay | None) -> Answer:
    found = Findings()
    if source is None:
        return Answer()
    written = read_job(_without_hidden(source), namespace, overlay, found)
    if written is not None and SWEEP in written.data:
        return _of_sweep(written, found)
    job = parse_run(written, found) if written is not None else None
    errors = tuple(item for item in found if item.is_error)
    if job is None or written is None:
        return Answer(errors=errors)
    known = _alone(job)
    if job.left_out <= _OTHERS:
        known |= sums([asked_by(written, job)])
    return Answer(numbers=Numbers(**known), errors=errors)


def _alone(job: JobInput) -> dict[str, Any]:
    """The values of fields that no number depends on."""
    known: dict[str, Any] = {name: getattr(job.job, name) for name in _ALONE if name not in job.left_out}
    return {**known, "metrics": known_metrics(known["metrics"])} if "metrics" in known else known


def _of_sweep(written: WrittenJob, found: Findings) -> Answer:
    """The values of the job, with the pods and GPUs of all runs in its state together."""
    sweep = read_sweep(written, found)
    known = combinations(sweep, written, MAX_COMBINATIONS, found) if sweep is not None else ()
    known = () if found.failed() else known
    state = written.data.get("state", JobFields.model_fields["state"].default)
    states = [one.fields.get("state", state) for one in known]
    if b"{{" not in orjson.dumps({name: value for name, value in written.data.items() if name != "params"}):
        jobs = [parse_run(written, found, without_values(written))]
        times = len(known)
    else:
        values = [RunValues(name=written.name, params=one.values) for one in known]
        jobs = [parse_run(written, found, own) for own in values or [without_values(written)]]
        times = 1
    errors = tuple(item for item in found if item.is_error)
    runs = [job for job in jobs if job is not None]
    if not runs:
        return Answer(errors=errors)
    alone = _alone(runs[0])
    if state not in states or len(runs) < len(jobs) or any(not job.left_out <= _OTHERS for job in runs):
        return Answer(numbers=Numbers(**alone), errors=errors)
    every = [asked_by(written, job) for job in runs] * times
    shown = [one for one, own in zip(every, states, strict=True) if own == state]
    months = [one for one, own in zip(every, states, strict=True) if one.counts(own)]
    return Answer(numbers=Numbers(**alone, **sums(shown, months)), errors=errors)


def _without_hidden(source: Source) -> Source:
    """The file without hidden fields. Parameters stay if an expression may need them."""
    if not isinstance(source.data, dict):
        return source
    shown = {name: value for name, value in source.data.items() if name not in HIDDEN or name == "name"}
    if b"{{" in orjson.dumps(shown) and "params" in source.data:
        shown["params"] = source.data["params"]
    return replace(source, data=cast("Data", shown))
