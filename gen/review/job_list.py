"""The list of jobs: one row for each job and overlay, from job files, overlays, CODEOWNERS and the history of Git."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, cast

import msgspec
import orjson
from msgspec import Struct, field
from msgspec.structs import asdict, replace

from gen.base import Diagnostic, Findings, Location, UsageError, contained, did_you_mean, names
from gen.base.engines import may_run
from gen.base.repository.codeowners import read_code_owners
from gen.base.repository.files import read_cache_file, save_cache_file
from gen.base.repository.git import Change, last_changes
from gen.base.repository.job_files import all_jobs, chosen_jobs
from gen.base.repository.layout import JOBS, JobFile
from gen.base.yaml.source import Source, read
from gen.base.yaml.strict import Data
from gen.job.fields import JobFields
from gen.job.kinds import ALL_KINDS
from gen.job.metric import KnownMetric, known_metrics
from gen.job.names import JOB_NAME
from gen.job.search import MAX_COMBINATIONS
from gen.kubernetes.facts.demand import Demand, joined
from gen.kubernetes.facts.graphs import widest
from gen.overlay.costs import RunCost
from gen.overlay.overlay import Overlay, selects
from gen.overlay.read import OverlayReader
from gen.render.cache import file_digest, settings_digest
from gen.render.emit import SWEEP
from gen.render.expand import without_values
from gen.render.job_run import ExpandedStep, JobInput, RunValues, WrittenJob
from gen.render.model import parse_run, read_job
from gen.render.parts.accelerator import device_name
from gen.render.parts.context import role_value
from gen.render.parts.grants import runtime_demand
from gen.render.starters import starter_of
from gen.render.starters.base import Starter
from gen.render.sweep import combinations, read_sweep

_TIMES: Final = frozenset({"timeout", "retries", "schedule"})
"""Fields of all kinds that affect costs only."""
_SHOWN: Final = names(
    "kind state attempt workers roles gpus accelerator queue timeout retries schedule sweep search metrics"
)
HIDDEN: Final = frozenset(str(one.alias) for one in JobFields.model_fields.values()) - _SHOWN
"""Fields of all kinds that the list does not show, and that decide nothing it shows."""

_INDEPENDENT: Final = frozenset({"state", "attempt", "queue", "timeout", "metrics"})
"""Fields without an effect on the number of pods or GPUs."""
_OTHERS: Final = _INDEPENDENT | _TIMES | HIDDEN


def _times(job: JobInput) -> frozenset[str]:
    """The fields of a job that affect costs only."""
    return _TIMES | {job.job.keeping}


def _is_counted(job: JobInput) -> bool:
    """Whether the fields without errors decide the number of pods and of GPUs."""
    return job.left_out <= _OTHERS | _times(job)


class Numbers(Struct, frozen=True, kw_only=True):
    """Values of a job. A value that an error hides is None."""

    state: str | None = None
    runs: int | None = None
    """Runs of a sweep; None for other jobs."""
    active_runs: int | None = None
    attempt: int | None = None
    workers: int | None = None
    """Training pods; the largest number, if an autoscaler changes it."""
    gpus: int | None = None
    """GPUs of all pods together, and other devices of accelerators."""
    accelerators: Mapping[str, int] = {}
    """GPUs by accelerator, for those with a name."""
    queue: str | None = None
    timeout: int | None = None
    """Limit of the run time in seconds; None for unlimited, too."""
    metrics: tuple[KnownMetric, ...] | None = None
    step_metrics: Mapping[str, tuple[KnownMetric, ...]] = {}
    """The metrics of a pipeline's steps that have any, by step."""
    costs: tuple[RunCost, ...] = ()
    """The cost of each run; none in an overlay without prices, or if they are unknown."""
    month: int = 0
    """Maximum monthly cost of active runs, in hundredths."""


Answer = tuple[Numbers, tuple[Diagnostic, ...]]
"""The values of a job, and the errors that hide some of them."""


class NumberReader(Struct):
    """Reads jobs, and caches the values of valid ones."""

    _known: dict[tuple[str, bytes], Answer] = field(default_factory=dict)

    def numbers(self, job: JobFile, source: Source | None, overlay: Overlay | None) -> Answer:
        """The values of a job. Files that differ only in hidden fields are validated once."""
        data = source.data if source is not None else None
        if not isinstance(data, dict):
            return _read(source, job.namespace, overlay)
        shown = orjson.dumps(
            {name: value for name, value in data.items() if name not in HIDDEN},
            default=_plain,
            option=orjson.OPT_PASSTHROUGH_SUBCLASS,
        )
        key = overlay.name if overlay else "", shown
        usual = b"{{" not in shown and JOB_NAME.fullmatch(str(data.get("name", job.stem))) is not None
        if usual and key in self._known:
            return self._known[key]
        answer = _read(source, job.namespace, overlay)
        if usual and not answer[1]:
            self._known[key] = answer
        return answer


def _plain(text: str) -> orjson.Fragment:
    """A string without quotes, which equals no JSON string: `1` and `"1"` are different values."""
    return orjson.Fragment(b"=" + orjson.dumps(str(text)))


def _read(source: Source | None, namespace: str, overlay: Overlay | None) -> Answer:
    found = Findings()
    if source is None:
        return Numbers(), ()
    written = read_job(_without_hidden(source), namespace, overlay, found)
    if written is not None and SWEEP in written.data:
        return _of_sweep(written, found)
    job = parse_run(written, found) if written is not None else None
    errors = tuple(item for item in found if item.is_error)
    if job is None or written is None:
        return Numbers(), errors
    known = _field_values(job)
    if _is_counted(job):
        request = run_request(written, job)
        known = _with_sums(known, [request], [request] if request.counts(job.job.state) else [])
    return known, errors


def _field_values(job: JobInput) -> Numbers:
    """The values of fields that no number depends on."""
    fields, known = job.job, _INDEPENDENT - job.left_out
    return Numbers(
        state=fields.state if "state" in known else None,
        attempt=fields.attempt if "attempt" in known else None,
        queue=fields.queue if "queue" in known else None,
        timeout=fields.timeout if "timeout" in known else None,
        metrics=known_metrics(fields.metrics) if "metrics" in known else None,
    )


def _with_sums(known: Numbers, runs: Sequence[RunRequest], active: Sequence[RunRequest]) -> Numbers:
    """The sums over `runs`, and the monthly cost of `active`, the runs whose pods may run."""
    named = sum((Counter(one.demand.accelerators) for one in runs), Counter[str]())
    return replace(
        known,
        workers=sum(one.workers for one in runs),
        gpus=sum(one.demand.gpus for one in runs),
        accelerators={name: count for name, count in named.items() if count},
        costs=tuple(one.cost for one in runs if one.cost is not None),
        step_metrics=runs[0].step_metrics if runs else {},
        month=sum(one.cost.month for one in active if one.cost is not None),
    )


def _of_sweep(written: WrittenJob, found: Findings) -> Answer:
    """The values of a sweep, with the sums over all runs in the state of the job."""
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
        return Numbers(), errors
    fields = _field_values(runs[0])
    if state not in states or len(runs) < len(jobs) or not all(map(_is_counted, runs)):
        return fields, errors
    every = [run_request(written, job) for job in runs] * times
    shown = [one for one, own in zip(every, states, strict=True) if own == state]
    active = [one for one, own in zip(every, states, strict=True) if one.counts(own)]
    counts = replace(fields, runs=len(every), active_runs=sum(own == "active" for own in states))
    return _with_sums(counts, shown, active), errors


def _without_hidden(source: Source) -> Source:
    """The file without hidden fields. Keeps parameters if an expression may use them."""
    if not isinstance(source.data, dict):
        return source
    shown = {name: value for name, value in source.data.items() if name not in HIDDEN or name == "name"}
    if b"{{" in orjson.dumps(shown) and "params" in source.data:
        shown["params"] = source.data["params"]
    return replace(source, data=cast("Data", shown))


class RunRequest(Struct, frozen=True):
    job: JobInput
    starter: type[Starter]
    workers: int
    demand: Demand
    cost: RunCost | None
    """None in an overlay without prices."""
    step_metrics: Mapping[str, tuple[KnownMetric, ...]] = {}
    """The metrics of a pipeline's steps that have any."""

    def counts(self, state: object) -> bool:
        """Whether its pods may run in this state."""
        return may_run(str(state), suspend_stops=self.starter.resource(self.job.job.facts).suspend_stops)


def run_request(written: WrittenJob, job: JobInput) -> RunRequest:
    starter = starter_of(type(job.job), job.data)
    steps = _steps(written, job)
    workers, demand = _widest(steps, written.overlay) if steps else _counts(job, written.overlay)
    metrics = {step.name: known_metrics(of.job.metrics) for step, of in steps if of.job.metrics}
    prices = written.overlay.prices if written.overlay is not None and not job.left_out & _times(job) else None
    if prices is None:
        return RunRequest(job, starter, workers, demand, None, metrics)
    return RunRequest(job, starter, workers, demand, starter.cost(job.job, demand, prices), metrics)


def _steps(written: WrittenJob, job: JobInput) -> list[tuple[ExpandedStep, JobInput]]:
    """The readable steps of a pipeline."""
    if not job.job.own_fields:
        return []
    from gen.render.expand_steps import step_runs

    steps = step_runs(written, job, job.name, Findings())
    return [(step, step.run.given) for step in steps if step.run is not None]


def _widest(steps: Sequence[tuple[ExpandedStep, JobInput]], overlay: Overlay | None) -> tuple[int, Demand]:
    """Maximum of concurrent training pods of a pipeline, and its demand."""
    counts = {step.name: _counts(given, overlay) for step, given in steps}
    needs = {step.name: frozenset(step.order.needs) for step, _ in steps}
    workers = widest(needs, {step: most for step, (most, _) in counts.items()})
    return workers, joined(needs, {step: demand for step, (_, demand) in counts.items()})


def _counts(job: JobInput, overlay: Overlay | None) -> tuple[int, Demand]:
    """Training pods, and the demand."""
    fields = job.job
    roles = fields.replica_roles(job.name)
    named: Counter[str] = Counter()
    gpus = 0
    for role in roles:
        requested = (role_value(fields, role, "gpus") or 0) * role.most
        gpus += requested
        if requested and (name := device_name(fields, role, overlay)):
            named[name] += requested
    one = Demand(sum(role.most for role in roles), gpus, fields.longest_time, dict(named))
    if fields.runtime_key is not None:
        name = next(iter(named), "")
        chosen = overlay.accelerators.get(name) if overlay is not None and gpus else None
        resources = chosen.effect(gpus // max(one.pods, 1)).resources if chosen is not None else {}
        asked = runtime_demand(fields, overlay, resources, name)
        one = Demand(asked.pods, asked.gpus, one.seconds, asked.accelerators)
    workers = sum(role.most for role in roles if role.trains)
    return starter_of(type(fields), job.data).counted(fields, workers, one)


class JobRow(Numbers, frozen=True, kw_only=True):
    """A job in one overlay."""

    namespace: str
    job: str
    file: str
    overlay: str | None
    """None if no overlay selects the job."""
    kind: str | None = None
    owners: tuple[str, ...] = ()
    changed: Change | None = None
    errors: tuple[str, ...] = ()
    """Codes of the errors in the fields above."""


class Listing(Struct, frozen=True, kw_only=True):
    """All rows that the filters accept, and the findings about them."""

    rows: tuple[JobRow, ...]
    findings: tuple[Diagnostic, ...]
    with_metrics: bool = False
    """Whether tables show the metrics."""

    @property
    def jobs(self) -> int:
        return len({row.file for row in self.rows})


class Filters(Struct, frozen=True, kw_only=True):
    """Accepted values; all if empty."""

    namespaces: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    states: tuple[str, ...] = ()

    def accept(self, row: JobRow) -> bool:
        return (not self.kinds or row.kind in self.kinds) and (not self.states or row.state in self.states)


class KnownJob(Struct, frozen=True):
    """A job without findings, as an earlier list showed it."""

    digest: str
    """SHA-256 of its file."""
    rows: tuple[JobRow, ...]
    """Without owners and last changes, which other files decide."""


class KnownJobs(Struct):
    """The jobs of an earlier list. They are in the user's cache folder, where no branch can forge them."""

    settings: str = ""
    """Digest of the tools and the overlays."""
    jobs: dict[str, KnownJob] = {}
    """By file."""

    @classmethod
    def read(cls, path: Path, root: Path) -> KnownJobs:
        """No jobs if the file is damaged, or if the tools or the overlays changed since."""
        settings = settings_digest(root)
        with suppress(OSError, ValueError, msgspec.MsgspecError):
            known = msgspec.json.decode(read_cache_file(path), type=cls)
            if known.settings == settings:
                return known
        return cls(settings)

    def rows(self, root: Path, job: JobFile) -> tuple[JobRow, ...] | None:
        """None if the file changed."""
        with suppress(OSError):
            if (known := self.jobs.get(job.file)) is not None and known.digest == file_digest(f"{root}/{job.file}"):
                return known.rows
        return None


def list_jobs(
    root: Path, patterns: Sequence[str], overlays: Collection[str], filters: Filters, cache: Path | None = None
) -> Listing:
    """The jobs that match `patterns`, or all, in the named overlays, or all. UsageError for unknown names.

    `cache` is the file with the rows of earlier lists; it is used for a list with all overlays.
    """
    known = KnownJobs.read(cache, root) if cache is not None and not overlays else KnownJobs()
    found = Findings()
    chosen = _overlays(root, overlays, found)
    jobs = chosen_jobs(root, patterns, found) if patterns else all_jobs(root, found)
    namespaces = {job.namespace for job in jobs}
    for name in filters.namespaces:
        if name not in namespaces:
            raise UsageError(f"unknown namespace `{name}`: {did_you_mean(name, namespaces, otherwise='no jobs exist')}")
    jobs = [job for job in jobs if not filters.namespaces or job.namespace in filters.namespaces]
    rows = _Rows(root, chosen, known, named=bool(overlays), found=found)
    listed: list[JobRow] = []
    for job in jobs:
        with contained(found, Location(job.file), "list the job"):
            listed += (row for row in rows.of(job) if filters.accept(row))
    if cache is not None and rows.new and settings_digest(root) == known.settings:
        whole = not patterns and not filters.namespaces
        kept = {job.file for job in jobs} if whole else known.jobs.keys()
        jobs_known = {file: one for file, one in known.jobs.items() if file in kept} | rows.new
        with suppress(OSError):
            save_cache_file(cache, [msgspec.json.encode(KnownJobs(known.settings, jobs_known))])
    return Listing(rows=tuple(listed), findings=tuple(found))


def _overlays(root: Path, names: Collection[str], found: Findings) -> list[Overlay]:
    reader = OverlayReader(root, found)
    if names:
        return reader.read(names)
    try:
        return reader.read()
    except UsageError:  # there is none yet
        return []


class _Rows:
    """Builds the rows of jobs and collects the findings."""

    def __init__(
        self, root: Path, overlays: Sequence[Overlay], known: KnownJobs, *, named: bool, found: Findings
    ) -> None:
        self.root, self.overlays, self.known, self.named, self.found = root, overlays, known, named, found
        self.reader = NumberReader()
        self.changes = last_changes(root, JOBS)
        self.owners = read_code_owners(root)
        self.new: dict[str, KnownJob] = {}
        """Jobs without findings that `known` does not have."""

    def of(self, job: JobFile) -> Iterator[JobRow]:
        """One row for each overlay that selects the job; one without an overlay if none does."""
        rows = self.known.rows(self.root, job)
        for row in rows if rows is not None else self._read(job):
            yield replace(row, owners=self.owners.owners(job.file), changed=self.changes.get(job.file))

    def _read(self, job: JobFile) -> tuple[JobRow, ...]:
        found = Findings()
        source = read(self.root, job.file, found)
        selected: list[Overlay | None] = [one for one in self.overlays if selects(one, job.key, _fields(source))]
        if not selected and self.named:
            return ()
        rows = tuple(self._row(job, source, overlay, found) for overlay in selected or [None])
        self.found.extend(found.items)
        if source is not None and not found.items:
            self.new[job.file] = KnownJob(source.digest, rows)
        return rows

    def _row(self, job: JobFile, source: Source | None, overlay: Overlay | None, found: Findings) -> JobRow:
        data = _fields(source)
        numbers, problems = self.reader.numbers(job, source, overlay)
        found.extend(problems)
        kind, name = data.get("kind"), data.get("name")
        errors = dict.fromkeys(item.code for item in (problems if data else found.items))
        return JobRow(
            namespace=job.namespace,
            job=name if isinstance(name, str) and name else job.stem,
            file=job.file,
            overlay=overlay.name if overlay is not None else None,
            kind=str(kind) if isinstance(kind, str) and kind in ALL_KINDS else None,
            **asdict(numbers),
            errors=tuple(errors),
        )


def _fields(source: Source | None) -> Mapping[str, Data]:
    """The fields of a job file; empty if it cannot be read."""
    return source.data if source is not None and isinstance(source.data, dict) else {}
