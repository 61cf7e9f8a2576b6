"""Kubeflow Trainer 2 (`trainer.kubeflow.org/v1alpha1`).

From `pkg/runtime/framework/plugins` and `pkg/webhooks` of kubeflow/trainer 2.3. Checks that depend on the runtime of a
job are not possible, because it is in the cluster.
"""

from __future__ import annotations

from typing import Any

from gen.base import Route, Severity, as_list, at, regex
from gen.kubernetes.facts import trainer
from gen.kubernetes.facts.runtimes import STEP
from gen.kubernetes.rules import Fault, Faults, ObjectView, operator_rule, placed
from gen.kubernetes.rules.field_checks import duplicates, find
from gen.kubernetes.rules.operators.common import derived_names, managed_by, name_fault
from gen.kubernetes.rules.value_checks import text_check

_JOB = str(trainer.TRAINJOB)
_DEFINITION = "The definition rejects the object."
_URI = regex(r"[A-Za-z][A-Za-z0-9+.-]*://.+")
_RUNTIMES = (str(trainer.TRAINING_RUNTIME), str(trainer.CLUSTER_TRAINING_RUNTIME))
_WEBHOOK = "The Trainer webhook rejects the object."
_INJECTED = {"node", "dataset-initializer", "model-initializer"}
_STEPS = {"trainer": "node", "dataset-initializer": "dataset-initializer", "model-initializer": "model-initializer"}
_DISABLED = "trainer.kubeflow.org/webhook-validation"
_manager = text_check(
    r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)+/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+",
    317,
    "domain-prefixed path",
    "a domain, `/` and a path, such as `example.com/gen`",
)


@operator_rule(
    "trainjob-env",
    _JOB,
    reason=f"{_WEBHOOK} The Trainer sets these variables itself.",
    remedy="Remove the variable, and use `numNodes` and `numProcPerNode` for the counts.",
)
def trainjob_env(view: ObjectView) -> Faults:
    """The trainer sets a variable that is reserved for its runtime."""
    runtime = (view.spec.get("runtimeRef") or {}).get("name", "")
    reserved = {
        name for framework in trainer.frameworks_of(runtime) for name in trainer.RESERVED_ENV.get(framework, ())
    }
    for index, variable in enumerate((view.spec.get("trainer") or {}).get("env") or ()):
        if variable.get("name") in reserved:
            yield Fault(("spec", "trainer", "env", index, "name"), f"`{variable['name']}` is set by the Trainer")


trainjob_managed_by = managed_by(
    "trainjob-managed-by",
    "the Trainer",
    trainer.CONTROLLER,
    _JOB,
    fields=["spec.managedBy"],
    reason=_DEFINITION,
)


@operator_rule(
    "trainjob-storage-uri", _JOB, reason=_DEFINITION, remedy="Use a URI such as `hf://team/dataset`, or remove it."
)
def trainjob_storage_uri(view: ObjectView) -> Faults:
    """The storage URI of an initializer has no scheme."""
    for step, initializer in (view.spec.get("initializer") or {}).items():
        uri = (initializer or {}).get("storageUri", "")
        if uri and not _URI.fullmatch(uri):
            yield Fault(("spec", "initializer", step, "storageUri"), f"`{uri[:80]}` is not a URI with a scheme")


@operator_rule(
    "trainjob-duplicates",
    _JOB,
    reason=_DEFINITION,
    remedy="Keep one entry of each name. A volume can be mounted only once.",
)
def trainjob_duplicates(view: ObjectView) -> Faults:
    """A list has two entries with the same name: patches, variables, or mounts of one volume in a patch."""
    yield from _twice(view.spec, ("spec",), ("runtimePatches",), "manager")
    yield from _twice(view.spec, ("spec",), ("trainer", "env"), "name")
    patched = ("trainingRuntimeSpec", "template", "spec", "replicatedJobs", "*", "template", "spec", "template", "spec")
    for route, pod in find(view.spec, ("spec",), ("runtimePatches", "*", *patched)):
        for steps in (("volumes",), ("containers",), ("imagePullSecrets",)):
            yield from _twice(pod, route, steps, "name")
        for here, container in find(pod, route, ("containers", "*")):
            yield from _twice(container, here, ("volumeMounts",), "name")


def _twice(holder: object, route: Route, steps: tuple[str, ...], key: str) -> Faults:
    for here, (name,) in duplicates(as_list(at(holder, *steps)), (*route, *steps), key):
        yield Fault((*here, key), f"duplicate `{key}` `{name}`")


@operator_rule(
    "trainjob-trainer",
    _JOB,
    reason="Without the block, the plugins for torch, JAX and XGBoost set no address and no rank.",
    remedy="Add at least `trainer: {}`, or `trainer: {numNodes: …}`.",
    severity=Severity.WARNING,
)
def trainjob_trainer(view: ObjectView) -> Faults:
    """A job has no `trainer` block."""
    if "spec" in view.body and "trainer" not in view.spec:
        yield Fault(("spec",), "`trainer` is missing, so no rendezvous variables are set")


@operator_rule(
    "trainjob-patch-manager", _JOB, reason=_WEBHOOK, remedy="Use a domain and a path, such as `example.com/gen`."
)
def trainjob_patch_manager(view: ObjectView) -> Faults:
    """The manager of a runtime patch is not a domain-prefixed path."""
    for index, patch in enumerate(view.spec.get("runtimePatches") or ()):
        yield from placed(_manager(patch.get("manager", "")), ("spec", "runtimePatches", index, "manager"))


@operator_rule(
    "trainjob-patch-env",
    _JOB,
    reason=f"{_WEBHOOK} The variables of these containers are set in `spec.trainer` and `spec.initializer`.",
    remedy="Move the variables to `spec.trainer.env` or `spec.initializer`.",
)
def trainjob_patch_env(view: ObjectView) -> Faults:
    """A runtime patch sets variables of the containers that train or load data."""
    for index, patch in enumerate(view.spec.get("runtimePatches") or ()):
        template = ((patch.get("trainingRuntimeSpec") or {}).get("template") or {}).get("spec") or {}
        for number, job in enumerate(template.get("replicatedJobs") or ()):
            pod: Any = job
            for step in ("template", "spec", "template", "spec"):
                pod = (pod or {}).get(step) or {}
            at = ("trainingRuntimeSpec", "template", "spec", "replicatedJobs", number)
            inner = ("template", "spec", "template", "spec", "containers")
            for position, container in enumerate(pod.get("containers") or ()):
                if container.get("env") and container.get("name") in _INJECTED:
                    here = ("spec", "runtimePatches", index, *at, *inner, position, "env")
                    yield Fault(here, f"variables of container `{container['name']}` cannot be patched")


@operator_rule(
    "trainjob-name",
    _JOB,
    reason="The job set creates pods named `<job>-node-0-<index>-xxxxx`, and their names are host names.",
    remedy="Shorten the name to 48 characters for up to 10 nodes, 33 with initializers.",
)
def trainjob_name(view: ObjectView) -> Faults:
    """A name that is derived for pods is longer than 63 characters."""
    names = list(derived_names(view))
    if names and "mpi" in trainer.frameworks_of((view.spec.get("runtimeRef") or {}).get("name", ""))[:1]:
        names.append(f"{view.metadata['name']}-launcher-0-0-xxxxx")
    yield from name_fault(names)


@operator_rule(
    "runtime-jobs",
    *_RUNTIMES,
    reason=_WEBHOOK,
    remedy="Set `replicas: 1`, and name the container after the step: `node` for the trainer.",
)
def runtime_jobs(view: ObjectView) -> Faults:
    """A replicated job for a step of a training has several replicas, or no container with the name of the step."""
    if (view.metadata.get("labels") or {}).get(_DISABLED) == "disabled":
        return
    jobs = ((view.spec.get("template") or {}).get("spec") or {}).get("replicatedJobs") or ()
    for index, job in enumerate(jobs):
        template, at = job.get("template") or {}, ("spec", "template", "spec", "replicatedJobs", index)
        step = ((template.get("metadata") or {}).get("labels") or {}).get(STEP)
        if step not in _STEPS:
            continue
        if job.get("replicas", 1) != 1:
            yield Fault((*at, "replicas"), f"step `{step}` has {job['replicas']} replicas; expected 1")
        pod = ((template.get("spec") or {}).get("template") or {}).get("spec") or {}
        if all(container.get("name") != _STEPS[step] for container in pod.get("containers") or ()):
            yield Fault((*at, "template"), f"step `{step}` has no container `{_STEPS[step]}`")
