"""A job file as an overlay sees it: defaults laid under it, expressions replaced, every field checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from gen.diagnostics import Findings, did_you_mean
from gen.expression import Evaluation
from gen.kinds import KINDS, Job
from gen.kubernetes import RUN
from gen.load import Data, Layer, Layers, Source, lay_over
from gen.model.explain import explain
from gen.secrets import report_secrets

if TYPE_CHECKING:
    from gen.diagnostics import Location, Route
    from gen.overlay import Overlay


@dataclass(frozen=True)
class JobInput:
    """A job as it was written for one overlay, and the places of everything it says."""

    job: Job
    name: str
    namespace: str
    source: Source
    layers: Layers
    complete: bool
    """False when fields were left out because they are wrong, which has been reported."""

    def place(self, *route: str | int, key: bool = False) -> Location:
        return self.layers.place(route, key=key)


def parse_job(source: Source, namespace: str, overlay: Overlay | None, found: Findings) -> JobInput | None:
    """Check one job file; without an overlay only what can be judged alone. None when no job can be made of it."""
    kind = _kind(source, found)
    if kind is None:
        return None
    written = cast("dict[str, Data]", source.data)
    layers = Layers((Layer(source), *(overlay.layers_of(kind) if overlay else ())))
    data = lay_over(overlay.defaults_of(kind), written) if overlay else written
    data = _evaluated(data, source, namespace, overlay, layers, found)
    report_secrets(data, layers, found)
    job, complete = _validated(KINDS[kind], data, layers, found)
    if job is None:
        return None
    return JobInput(job, job.name or _stem(source), namespace, source, layers, complete)


def job_name(source: Source) -> tuple[str, str]:
    """Name and kind of the job in a file, as far as they can be told when the rest is wrong."""
    data = source.data if isinstance(source.data, dict) else {}
    name, kind = data.get("name"), data.get("kind")
    return name if isinstance(name, str) and name else _stem(source), kind if isinstance(kind, str) else ""


def _stem(source: Source) -> str:
    return source.file.rsplit("/", 1)[-1].removesuffix(".yaml")


def _kind(source: Source, found: Findings) -> str | None:
    if not isinstance(source.data, dict):
        found.error("invalid-value", source.place(()), "a job is a mapping of fields", "write `field: value`")
        return None
    kind = source.data.get("kind")
    if kind is None:
        hint = "add `kind`: " + ", ".join(f"`{name}`" for name in KINDS)
        found.error("missing-field", source.place((), key=True), "`kind` is missing", hint)
    elif not isinstance(kind, str) or kind not in KINDS:
        shown = kind if isinstance(kind, str) else "…"
        found.error(
            "unknown-kind",
            source.place(("kind",)),
            f"there is no kind of job `{shown}`",
            did_you_mean(shown, KINDS),
        )
    else:
        return kind
    return None


def _evaluated(
    data: dict[str, Data],
    source: Source,
    namespace: str,
    overlay: Overlay | None,
    layers: Layers,
    found: Findings,
) -> dict[str, Data]:
    """The data with its expressions replaced. Parameters come first, and cannot refer to each other."""
    name, kind = job_name(source)
    run = name if overlay and overlay.fields.runs.naming == "stable" else f"{name}-{RUN}"
    values = {
        "job": {"name": name, "namespace": namespace, "kind": kind},
        "run": {"name": run, "hash": RUN},
        "overlay": {"name": overlay.name if overlay else ""},
    }
    own = {"params": data.get("params", {})}
    values["params"] = _texts(Evaluation(values, layers, found)(own)["params"])
    if overlay is not None:
        given = cast("dict[str, Data]", {"params": overlay.fields.params})
        values["params"] |= _texts(Evaluation(values, overlay.layers, found)(given)["params"])
    if overlay is None:
        return data  # an overlay may define what is missing here
    return Evaluation(values, layers, found, skip=frozenset({"params", "name", "kind"}))(data)


def _texts(data: Data) -> dict[str, str]:
    return {key: value for key, value in data.items() if isinstance(value, str)} if isinstance(data, dict) else {}


def _validated(model: type[Job], data: dict[str, Data], layers: Layers, found: Findings) -> tuple[Job | None, bool]:
    """The job, and whether all of the data is in it: wrong fields are reported and then left out."""
    try:
        return model.model_validate(data), True
    except ValidationError as error:
        wrong = explain(error, model, layers, found)
    try:
        return model.model_validate(_without(data, wrong)), False
    except ValidationError:
        return None, False


def _without(data: dict[str, Data], routes: list[Route]) -> dict[str, Data]:
    """The data without what lies at the routes, or without the entry around it: half an entry means nothing."""
    pruned: dict[str, Any] = dict(data)
    for route in routes:
        field = route[0]
        if len(route) > 1 and isinstance(pruned.get(str(field)), dict):
            pruned[str(field)] = {key: value for key, value in pruned[str(field)].items() if key != route[1]}
        else:
            pruned.pop(str(field), None)
    return pruned
