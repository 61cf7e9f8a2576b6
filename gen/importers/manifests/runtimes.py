"""The runtime of a TrainJob: one that the Trainer installs, or whose definition is in the input, decides the number of
its nodes. That of another one is only in the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gen.base import at, follow, with_field
from gen.importers import Fields
from gen.importers.draft import JobDraft
from gen.importers.manifests.objects import Item
from gen.job.kinds.base import Job
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.runtimes import MPI, SHIPPED, Runtime, created_jobset, described, runtimes_in
from gen.kubernetes.facts.trainer import RUNTIME_KINDS
from gen.kubernetes.objects import NVIDIA_GPU, Body, present

_COPY: Final = "copy its definition into `overlays/<overlay>/runtimes/`"
RUNTIME_HINT: Final = f"keep it where it is applied today, and {_COPY}, too, so that gen knows its pods"


def with_nodes(draft: JobDraft, item: Item, body: Body, facts: Resource, every: Sequence[Item]) -> Body:
    """The object with the number of nodes that its runtime has, if the object has none. Declares a runtime of the input
    in the overlay, and reports one that gen does not know.
    """
    if facts.nodes is None or facts.is_schedule:
        return body
    kind, name = (at(body, "spec", "runtimeRef", part) for part in ("kind", "name"))
    given = dict(one for other in every for one in runtimes_in(other.body))
    key = (str(kind or RUNTIME_KINDS[0]), str(name))
    own = given.get(key)
    place = item.place("spec", "runtimeRef")
    if own is not None:
        draft.need(_declared(own), "runtimes", str(name))
        declared = described(own.policy, launcher_trains=own.launcher_trains)
        if set(own.training) != set(declared.training):
            why = "its jobs have other names than those that the overlay declares by `policy`"
            draft.drop(place, f"the runtime `{name}`", why, _COPY)
    runtime = own or (SHIPPED.get(key[1]) if key[0] == RUNTIME_KINDS[0] else None)
    if runtime is None:
        why = "its definition is not in the input, and gen takes it for one with `policy: torch` and a job `node`"
        hint = f"import it together with the object, or set its `policy` under `runtimes` of the overlay, or {_COPY}"
        draft.drop(place, f"the runtime `{name}`", why, hint)
        return body
    return body if follow(body, facts.nodes.count) is not None else _with_count(body, runtime, facts)


def _with_count(body: Body, runtime: Runtime, facts: Resource) -> Body:
    """The object with the number of nodes of its runtime, if that gives the same pods."""
    assert facts.nodes is not None  # the caller has tested it
    number = at(runtime.spec, "mlPolicy", "numNodes") or 1
    changed = with_field(body, tuple(map(str, facts.nodes.count)), number)
    release = next(iter(facts.served))
    return changed if created_jobset(changed, runtime, release) == created_jobset(body, runtime, release) else body


def _gpus(runtime: Runtime) -> int:
    number = str(runtime.resources.get(NVIDIA_GPU, "0"))
    return int(number) if number.isdecimal() else 0


def _declared(runtime: Runtime) -> Fields:
    """The fields of the overlay for a runtime."""
    fields: Mapping[str, object] = {
        "policy": runtime.policy,
        "gpus": _gpus(runtime) or None,
        "otherPods": len(runtime.jobs) - len(runtime.training) or None,
        "launcherTrains": None if runtime.policy != MPI or runtime.launcher_trains else False,
    }
    return present(**fields)


def set_runtime(draft: JobDraft, model: type[Job]) -> None:
    """Declare the runtime in the overlay, and use the short form of one of the cluster."""
    runtime = draft.fields.get("runtime")
    if not isinstance(runtime, dict):
        return
    name, kind = str(runtime.get("name")), runtime.get("kind")
    is_common = kind in (None, RUNTIME_KINDS[0])
    known = draft.overlay.get("runtimes", {}).get(name, {})
    draft.need({**({} if is_common else {"kind": kind}), **known}, "runtimes", name)
    if is_common:
        draft.fields["runtime"] = runtime["name"]
    if is_common and model.model_fields["runtime"].default == name:
        del draft.fields["runtime"]
