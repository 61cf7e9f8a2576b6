"""The record of a run, in the first line of its file. It decides whether `gen render` keeps a committed run.

It contains a digest of the fields of the job file, and none of the overlay or the version of gen: a run is kept
when only these change. The digest covers the text of the file's values, not what a model reads
from them, so that a new version of gen computes the same one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import orjson
from msgspec import Struct

from gen.base import regex
from gen.base.engines import RECORDS

if TYPE_CHECKING:
    from gen.base.yaml.strict import Data
    from gen.render.job_run import RunValues

SCHEDULE: Final = "schedule"
"""The field of jobs with runs that are named after their times."""
SWEEP: Final = "sweep"
"""The field that gives a job several runs. Only the values of a run are a part of it."""
SEARCH: Final = "search"
"""The field of jobs with values that Katib chooses, by their metrics."""
KFP: Final = "kfp"
"""The field of pipelines for Kubeflow Pipelines."""
METRICS: Final = "metrics"
NOT_PART_OF_RUN: Final = frozenset({"state", "labels", "annotations", METRICS, "tensorboard", "name"})
"""Fields of a job that never start a new run, and the name, which counts as the name of the run."""
_JOB_DIGITS: Final = 32
"""Authors choose the content of a job, so its digest must withstand a search for collisions."""
_RESTART_DIGITS: Final = 12
_ORDERED: Final = "env"
"""Variables can refer to earlier ones, so their order counts. The order of all other mappings has no meaning."""
RECORD: Final = r"job (?P<job>[0-9a-f]{32})(?:, pins (?P<pins>[0-9a-f]{32}))?(?:, restart (?P<restart>[0-9a-f]{12}))?"
"""Form of a record in a first line."""
_TEXT: Final = regex(RECORD)


class Record(Struct, frozen=True, kw_only=True):
    """The job, pins and restart that a run was rendered for."""

    job: str
    """Digest of the job."""
    pins: str = ""
    """Digest of the pins of the images and the code that the job names; empty without any."""
    restart: str = ""
    """Digest of `runs.restartedFor` of the overlay; empty if it is not set."""

    def __str__(self) -> str:
        pins = f", pins {self.pins}" if self.pins else ""
        return f"job {self.job}{pins}" + (f", restart {self.restart}" if self.restart else "")

    @classmethod
    def parse(cls, text: str | None) -> Record | None:
        """The record in a first line; None if there is none."""
        match = _TEXT.fullmatch(text or "")
        if match is None:
            return None
        return cls(job=match["job"], pins=match["pins"] or "", restart=match["restart"] or "")

    def keeps(self, committed: Record, state: str) -> bool:
        """Whether a committed run is still the one that the job describes.

        A pin that moved is another run. The first pins are not: they name the content that it got by its tags.
        `restartedFor` and pins do not count for a record: nothing can replace what it says about what ran.
        """
        same = committed.pins in ("", self.pins) and self.restart == committed.restart
        return self.job == committed.job and (same or state in RECORDS)


def run_record(
    run: str,
    data: Data,
    restarted_for: str | None,
    own: RunValues | None = None,
    pins: Mapping[str, str] | None = None,
    decisive: frozenset[str] = frozenset(),
) -> Record:
    """The record of the run with this name, of a job file with these values.

    `own` are those of a run of a sweep. `decisive` are fields that start a new run only with some starters.
    """
    fields = data if isinstance(data, dict) else {}
    if own is not None:
        params = fields.get("params")
        swept = {name: value for name, value in own.params.items() if value is not None}
        values: Data = {**(params if isinstance(params, dict) else {}), **swept}
        fields = {**{name: value for name, value in fields.items() if name != SWEEP}, **own.fields, "params": values}
    left_out = NOT_PART_OF_RUN - decisive
    content = {name: _ordered(value, name) for name, value in fields.items() if name not in left_out}
    text = orjson.dumps([run, content], option=orjson.OPT_SORT_KEYS)
    restart = hashlib.sha256(restarted_for.encode()).hexdigest() if restarted_for is not None else ""
    pinned = hashlib.sha256(orjson.dumps(pins, option=orjson.OPT_SORT_KEYS)).hexdigest() if pins else ""
    return Record(
        job=hashlib.sha256(text).hexdigest()[:_JOB_DIGITS], pins=pinned[:_JOB_DIGITS], restart=restart[:_RESTART_DIGITS]
    )


def _ordered(value: Data, name: str = "") -> object:
    """The value with a list of pairs instead of each mapping with an order that counts."""
    if isinstance(value, dict):
        inner = {key: _ordered(item, key) for key, item in value.items()}
        return list(inner.items()) if name == _ORDERED else inner
    return [_ordered(item) for item in value] if isinstance(value, list) else value
