"""A pipeline: steps of any kind, in a Workflow of Argo Workflows or in a pipeline of Kubeflow Pipelines.

Each step is two nodes: one creates the object of the step, as its kind builds it, and one waits for its end. A third
one reads the results of the step, if it has any: a script of gen in an image of the overlay. No pod of a step runs with
the service account of the workflow, which can create objects.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from gen.base import regex
from gen.base.placeholders import TRIAL
from gen.job.kinds.base import Job
from gen.job.kinds.role import Role
from gen.job.metric import MetricName
from gen.job.model import Model
from gen.job.names import JobName
from gen.job.plan import ExitPlan, Plan, ResultsPlan, StepPlan
from gen.job.scalars import ValueType, matching, refuse, schema
from gen.job.search import ParamName
from gen.job.synonyms import ORDER
from gen.kubernetes.facts.argo import NAME_OF_RUN, TASK_FIELDS, TEMPLATE_FIELDS, WORKFLOW, parameter
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.state import wait_for
from gen.kubernetes.objects import Body, present

MAX_STEPS = 64
"""Most steps of a pipeline."""
MAX_RESULTS = 16
"""Most results of a step."""

_RESULT = regex(r"[a-z][a-z0-9_]*")
ResultName = Annotated[
    str,
    matching(
        _RESULT,
        40,
        "a name of lower-case letters, digits and `_`",
        "start with a letter, such as `best_loss`",
        form=schema("name", "string", pattern=f"^{_RESULT.pattern}$", maxLength=40),
    ),
]

STEPS_HAVE = frozenset({"kind", "metrics", "params"})
"""Fields that both a pipeline and its steps can have."""


class Order(Model):
    """When a step of a pipeline starts."""

    main: ClassVar[str] = "needs"
    synonyms: ClassVar[Mapping[str, str]] = ORDER

    needs: tuple[JobName, ...] = ()
    """Steps that must have ended before. Without any, the step starts with the pipeline."""
    when: Literal["succeeded", "failed", "ended"] = "succeeded"
    """How the steps in `needs` must have ended: all `succeeded`, at least one `failed`, or all `ended` in any way."""
    results: Annotated[dict[ResultName, MetricName], Field(max_length=MAX_RESULTS)] = {}
    """Values for later steps, by name: the word that the program prints before the value, as `best=/data/3` or
    `best: /data/3`. A later step uses `{{ steps.<step>.results.<name> }}`. The value is the last one in the log of the
    first pod: a number if `metrics` has the word, else a text of letters, digits and `_./:@%+=-`."""


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict) or not value:
        raise refuse("the fields of a step", value, "write at least `kind`, in an indented line below the name")
    return value


StepFields = Annotated[dict[str, Any], ValueType(_mapping, schema("fields of a step", "object"))]
"""The fields of a step, which the model of its kind validates."""


# no postponed annotations here: pydantic would compile each annotation again when the program starts


class Definition(Model):
    """A definition for Kubeflow Pipelines, instead of a run."""

    main: ClassVar[str] = "params"

    params: tuple[ParamName, ...] = ()
    """Names of `params` that people can change when they start a run; their values are the defaults. Steps can use them
    in `command`, `args` and `env`. [default: none, so that all runs have the same values]"""


WAIT: Final = "-wait"
"""End of the names of nodes that wait for a step."""
RESULTS: Final = "-results"
"""End of the names of nodes that read the results of a step."""
FOLDER: Final = "/tmp/gen-results"  # noqa: S108 - in a pod of its own
"""Folder of that pod with a file for each result."""
MAIN: Final = "main"
"""Name of the template with the graph, which no step can have."""
_RETRIES: Final = {"limit": "20", "retryPolicy": "Always", "backoff": {"duration": "15s"}}
"""For nodes that wait: Kubernetes can evict them, and the JobSet of a TrainJob appears late. After a failure, a node
reads the object again for five minutes."""


_AGAIN: Final = {"limit": "5", "retryPolicy": "Always", "backoff": {"duration": "15s"}}
"""For nodes with scripts of gen: Kubernetes can evict them."""
_HELPER: Final = {"cpu": "100m", "memory": "256Mi"}
_ENDS: Final = ("Succeeded", "Failed", "Errored", "Omitted", "Skipped")


EXIT: Final = "main-exit"
"""Name of the template of the message at the end, which no step can have."""


class PipelineJob(Job):
    """Steps of any kind that wait for each other, as a Workflow of Argo Workflows. Other fields apply to all steps."""

    facts: ClassVar[Resource] = WORKFLOW
    called: ClassVar[tuple[str, ...]] = ("workflow", "argo", "dag", "kfp")
    own_fields: ClassVar[frozenset[str]] = frozenset(
        {"kind", "name", "clusters", "state", "attempt", "schedule", "params", "sweep", "tensorboard", "steps"}
        | {"labels", "annotations", "metrics", "search", "kfp"}
    )
    unsupported: ClassVar[Mapping[str, str]] = {"search": "Katib cannot read the metrics of steps"}
    example: ClassVar[Mapping[str, object]] = {
        "image": "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime",
        "command": "python main.py --stage {{ params.stage }}",
        "steps": {
            "prepare": {"kind": "batch", "params": {"stage": "prepare"}},
            "train": {"kind": "pytorch", "needs": ["prepare"], "params": {"stage": "train"}, "workers": 2, "gpus": 1},
        },
    }

    kind: Literal["pipeline"]
    """Kind of job."""
    steps: Annotated[dict[JobName, StepFields], Field(min_length=1, max_length=MAX_STEPS)]
    """Steps by name: the fields of a job of any kind, with `needs` and `when`. `docs/pipelines.md` describes them."""

    kfp: Definition | None = None
    """Define the pipeline for Kubeflow Pipelines, where people start its runs, instead of running it. `kfp: {}` is
    enough. `docs/pipelines.md` describes such pipelines."""

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        return ()

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        return workflow_spec(plan.steps, plan.service_account or "", plan.on_exit)


def workflow_spec(steps: tuple[StepPlan, ...], account: str, on_exit: ExitPlan | None) -> Body:
    """The `spec` of a workflow. Its executor has this ServiceAccount."""
    end = [_end(on_exit)] if on_exit is not None else []
    return present(
        entrypoint=MAIN,
        serviceAccountName=account,
        onExit=EXIT if end else None,
        podGC={"strategy": "OnWorkflowSuccess"},
        podMetadata={"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}},
        templates=[_whole(one, TEMPLATE_FIELDS) for one in (_graph(steps), *_all_templates(steps), *end)],
    )


def _all_templates(steps: tuple[StepPlan, ...]) -> Iterator[Body]:
    for step in steps:
        yield from _templates(step)


def _whole(part: Body, names: tuple[str, ...]) -> Body:
    """With the empty fields that the controller would write into its list, which engines compare as a whole."""
    return {**part, **{name: {} for name in names if name not in part}}


def _graph(steps: tuple[StepPlan, ...]) -> Body:
    """All last nodes are targets: a step that handles a failure does not make the pipeline succeed."""
    nodes = {step.name: _nodes(step) for step in steps}
    tasks = [_whole(task, TASK_FIELDS) for step in steps for task in _tasks(step, nodes)]
    targets = " ".join(names[-1] for names in nodes.values())
    return {"name": MAIN, "dag": {"failFast": False, "target": targets, "tasks": tasks}}


def _nodes(step: StepPlan) -> tuple[str, ...]:
    """Names of the nodes of a step, each after the one before it."""
    return (step.name, step.name + WAIT, *((step.name + RESULTS,) if step.results is not None else ()))


def _tasks(step: StepPlan, nodes: Mapping[str, tuple[str, ...]]) -> Iterator[Body]:
    create, *others = nodes[step.name]
    given = [{"name": parameter(*use), "value": _output(*use)} for use in step.uses]
    yield present(
        name=create,
        template=create,
        depends=depends(step, nodes) if step.needs else None,
        arguments=present(parameters=given),
    )
    for before, name in pairwise((create, *others)):
        yield {"name": name, "template": name, "depends": f"{before}.Succeeded"}


def _output(step: str, name: str) -> str:
    return f"{{{{tasks.{step}{RESULTS}.outputs.parameters.{name}}}}}"


def depends(step: StepPlan, nodes: Mapping[str, tuple[str, ...]]) -> str:
    """The condition under which a step starts. Argo evaluates it when all nodes in it have ended."""
    needed = [nodes[need] for need in step.needs]
    if step.when == "succeeded":
        return " && ".join(f"{names[-1]}.Succeeded" for names in needed)
    if step.when == "failed":
        return " || ".join(f"{name}.{end}" for names in needed for name in names for end in ("Failed", "Errored"))
    return " && ".join(f"({' || '.join(f'{names[-1]}.{end}' for end in _ENDS)})" for names in needed)


def _templates(step: StepPlan) -> Iterator[Body]:
    found, kind = wait_for(step.facts, step.plan.api_version)
    name = step.plan.run.replace(TRIAL, NAME_OF_RUN)
    yield present(
        name=step.name,
        inputs=present(parameters=[{"name": parameter(*use)} for use in step.uses]),
        resource={"action": "create", "setOwnerReference": True, "manifest": name},
    )
    yield {
        "name": step.name + WAIT,
        "retryStrategy": _RETRIES,
        "resource": {
            "action": "get",
            "flags": [kind, name],
            "successCondition": found.success,
            "failureCondition": found.failure,
        },
    }
    if step.results is not None:
        yield _reader(step.name + RESULTS, step.results)


def _reader(name: str, results: ResultsPlan) -> Body:
    files = [{"name": one, "valueFrom": {"path": f"{FOLDER}/{one}"}} for one in results.names]
    return {
        "name": name,
        "retryStrategy": _AGAIN,
        "container": _container(results.image, results.command, results.args),
        "outputs": {"parameters": files},
    }


def _end(on_exit: ExitPlan) -> Body:
    url = {"name": "GEN_URL", "valueFrom": {"secretKeyRef": {"name": on_exit.secret, "key": "url"}}}
    container = _container(on_exit.image, on_exit.command, on_exit.args)
    return {"name": EXIT, "retryStrategy": _AGAIN, "container": {**container, "env": [url]}}


def _container(image: str, command: tuple[str, ...], args: tuple[str, ...]) -> Body:
    return {
        "name": "main",
        "image": image,
        "command": list(command),
        "args": list(args),
        "resources": {"limits": _HELPER, "requests": _HELPER},
        "securityContext": {"allowPrivilegeEscalation": False},
    }
