"""Runs in Git, and their data: runs that an engine would start again, volumes that it would delete, literal secrets.

A finding about a secret shows the place and never the value. Best practices depend on optional fields of a job, so
every rendered run is checked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from gen.base import Route, Severity, at, follow
from gen.base.engines import annotations_of, protections
from gen.kubernetes.facts import RUNS, Having, resource_of
from gen.kubernetes.facts.builtin import DATA, PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM
from gen.kubernetes.facts.jobset import JOBSET
from gen.kubernetes.facts.ray import RAYJOB
from gen.kubernetes.facts.volcano import VOLCANO_JOB
from gen.kubernetes.objects import QUEUE_LABEL
from gen.kubernetes.rules import Fault, Faults, Find, ObjectView, Rule, gitops_rule
from gen.kubernetes.secrets import is_harmless, known_secrets, names_secret

GUARDED: Final = Having("kinds of runs, volumes and claims", lambda resource: resource.is_run or resource in DATA)


def having(field: str) -> Having:
    """The kinds of runs that have a field of `Resource`."""
    return Having(
        f"kinds of runs with a field for `{field}`",
        lambda resource: resource.is_run and getattr(resource, field) is not None,
    )


def route_of(group: str, kind: str, field: str) -> Route:
    """The route of a field that the kind has, by the facts of `gen.kubernetes.facts`."""
    route: Route = getattr(resource_of(group, kind), field)
    return route


_AGAIN = (
    "An engine creates the deleted object again, so a finished training starts again (argo-cd#8586, "
    "#13851, apache/airflow#37460)."
)


@gitops_rule(
    "self-deletion",
    having("ttl"),
    reason=f"{_AGAIN} The finished object is the record of the run. Two settings of the controller of Argo "
    "Workflows delete workflows, too: `retentionPolicy`, and a `ttlStrategy` in `workflowDefaults`. Do not set them.",
    remedy="Remove `ttlSecondsAfterFinished`. To end a run, set `state: finished` in the job, or remove its file.",
)
def self_deletion(view: ObjectView) -> Faults:
    """A run deletes itself some time after it has ended."""
    route = route_of(view.group, view.kind, "ttl")
    if at(view.body, *route) is not None:
        yield Fault(route, "the object would be deleted after the run, then created and run again")


@gitops_rule(
    "ray-deletes-self",
    str(RAYJOB),
    reason=f"{_AGAIN} `shutdownAfterJobFinishes` only removes the cluster and keeps the RayJob.",
    remedy="Use `DeleteCluster` or `DeleteWorkers` instead.",
)
def ray_deletes_self(view: ObjectView) -> Faults:
    """A RayJob has a `deletionStrategy` with the policy `DeleteSelf`."""
    strategy = view.spec.get("deletionStrategy") or {}
    holders: list[tuple[Route, Any]] = [((field,), strategy.get(field)) for field in ("onSuccess", "onFailure")]
    holders += [(("deletionRules", index), rule) for index, rule in enumerate(strategy.get("deletionRules") or ())]
    for route, holder in holders:
        if at(holder, "policy") == "DeleteSelf":
            yield Fault(
                ("spec", "deletionStrategy", *route, "policy"), "the RayJob would delete itself and then run again"
            )


@gitops_rule(
    "suspend-with-queue",
    having("suspend"),
    reason="Kueue suspends and resumes queued runs. `suspend: true` in Git evicts an admitted run at the next "
    "sync, and `suspend: false` starts one that was not admitted.",
    remedy="Remove `suspend`. Kueue's webhook sets it when the object is created.",
)
def suspend_with_queue(view: ObjectView) -> Faults:
    """A run in a queue sets `suspend`."""
    route = route_of(view.group, view.kind, "suspend")
    if QUEUE_LABEL in (view.metadata.get("labels") or {}) and at(view.body, *route) is not None:
        yield Fault(route, f"Kueue sets this field for runs with the label `{QUEUE_LABEL}`")


_PV, _PVC = str(PERSISTENT_VOLUME), str(PERSISTENT_VOLUME_CLAIM)
_PROTECTION = " and ".join(f"`{key}: {value}`" for key, value in annotations_of(protections()).items())


@gitops_rule(
    "unprotected-data",
    *map(str, DATA),
    reason="When its file is removed, an engine prunes the object, and with it the data. Pruning and deleting the "
    "Application are separate: one option does not cover the other (argo-cd#9853, #7124). Engines read both from the "
    "object in the cluster, so they must be applied first.",
    remedy=f"Annotate it with {_PROTECTION}.",
)
def unprotected_data(view: ObjectView) -> Faults:
    """A volume or claim lacks an annotation that keeps an engine from removing it."""
    missing = [f"`{mark}`" for mark in protections() if not mark.is_on(view.metadata)]
    if missing:
        are = "is" if len(missing) == 1 else "are"
        message = f"the data is not protected from removal: {', '.join(missing)} {are} missing"
        yield Fault(("metadata", "annotations"), message)


@gitops_rule(
    "reclaims-data",
    _PV,
    reason="When the claim is removed, the volume and its data are deleted.",
    remedy="Set `persistentVolumeReclaimPolicy: Retain`.",
)
def reclaims_data(view: ObjectView) -> Faults:
    """A volume is deleted together with its claim."""
    policy = view.spec.get("persistentVolumeReclaimPolicy", "Retain")
    if policy != "Retain":
        yield Fault(("spec", "persistentVolumeReclaimPolicy"), f"`{policy}` removes the data together with the claim")


@gitops_rule(
    "claim-by-uid",
    _PV,
    reason="The uid belongs to a former claim. The volume never binds to a new claim with the same name.",
    remedy="Keep only `namespace` and `name` in `claimRef`.",
)
def claim_by_uid(view: ObjectView) -> Faults:
    """A volume refers to its claim by uid."""
    claim = view.spec.get("claimRef") or {}
    for field in ("uid", "resourceVersion"):
        if claim.get(field):
            yield Fault(("spec", "claimRef", field), f"`{field}` is only valid for one claim in one cluster")


@gitops_rule(
    "no-storage-class",
    _PVC,
    reason="The cluster sets its default class: possibly the wrong volume, and always a difference in an "
    "immutable field (argo-cd#12569).",
    remedy='Name the class, or set `storageClassName: ""` for an existing volume.',
)
def no_storage_class(view: ObjectView) -> Faults:
    """A claim has no `storageClassName`."""
    if "storageClassName" not in view.spec:
        yield Fault(("spec", "storageClassName"), "`storageClassName` is missing, so the cluster chooses one")


@gitops_rule(
    "owned-claim",
    str(JOBSET),
    str(VOLCANO_JOB),
    reason="The operator makes the run the owner of the claim (Volcano), or deletes it with the run (JobSet). If "
    "JobSet retains it, the same set is rejected when it is created again (jobset#1307).",
    remedy="Mount a claim that is defined separately. Silence the rule for scratch data.",
)
def owned_claim(view: ObjectView) -> Faults:
    """A run creates its own claims, which are deleted with it."""
    for index, policy in enumerate(view.spec.get("volumeClaimPolicies") or ()):
        if policy.get("templates"):
            stay = at(policy, "retentionPolicy", "whenDeleted") == "Retain"
            end = "stay, and the run cannot be created again" if stay else "are deleted with the run"
            yield Fault(("spec", "volumeClaimPolicies", index), f"these claims {end}")
    for index, volume in enumerate(view.spec.get("volumes") or ()):
        if volume.get("volumeClaim") is not None:
            yield Fault(("spec", "volumes", index, "volumeClaim"), "this claim is deleted with the run")


_KNOWN = (
    "Everyone with access to the repository, now or in the past, can read it. Rendered files are also in the caches of "
    "the engine."
)


@gitops_rule(
    "secret-object",
    "Secret",
    reason=_KNOWN,
    remedy="Create the Secret in the cluster (External Secrets, Sealed Secrets, SOPS with Flux), and refer to "
    "its name.",
)
def secret_object(view: ObjectView) -> Faults:
    """A Secret contains its values."""
    for field in ("data", "stringData"):
        if view.body.get(field):
            yield Fault((field,), "secret values must not be in Git")


@gitops_rule(
    "literal-secret",
    reason=_KNOWN,
    remedy="Refer to a Secret (`valueFrom.secretKeyRef`, in a job `{secret: <name>, key: <entry>}`). Revoke the "
    "value if it was ever pushed.",
)
def literal_secret(view: ObjectView) -> Faults:
    """A text looks like a known token or key, or a variable with the name of a secret has a literal value."""
    for route, container in view.containers:
        for index, entry in enumerate(container.get("env") or ()):
            name = str(entry.get("name", ""))
            if not names_secret(name):
                continue
            value = entry.get("value")
            if isinstance(value, str) and value and not is_harmless(name, value):
                yield Fault(
                    (*route, "env", index, "value"), f"`{name[:80]}` is the name of a secret, but its value is literal"
                )
    try:
        yield from (Fault(route, f"looks like {what}") for route, what, _ in known_secrets(view.body, view.json))
    except TypeError:  # a number that JSON does not support
        return


def _advice(name: str, kinds: Having, *, reason: str, remedy: str) -> Callable[[Find], Rule]:
    """Make a rule for active runs. Finished runs must not be changed."""

    def make(find: Find) -> Rule:
        def of_active(view: ObjectView) -> Faults:
            if not view.finished:
                yield from find(view)

        return replace(
            gitops_rule(name, kinds, reason=reason, remedy=remedy, severity=Severity.WARNING)(find), find=of_active
        )

    return make


@_advice(
    "no-deadline",
    having("deadline"),
    reason="No other limit exists. A run that hangs holds its GPUs until someone notices, since nothing deletes "
    "the object.",
    remedy="Set `timeout` in the job or in the overlay's `defaults`; in a manifest, `activeDeadlineSeconds`.",
)
def no_deadline(view: ObjectView) -> Faults:
    """A run with GPUs or other devices has no deadline."""
    route = route_of(view.group, view.kind, "deadline")
    resources = (name for _, one in view.containers for name in at(one, "resources", "limits") or ())
    if at(view.body, *route) is None and any("/" in name for name in resources):  # extended ones have a prefix
        yield Fault(route, "nothing stops a run that hangs")


@_advice(
    "keeps-pods",
    having("cleanup"),
    reason="Pods that still run after the end of the run (parameter servers, MPI workers) keep their GPUs. The "
    "operators do this by default.",
    remedy="Set `cleanPodPolicy: Running` (`cleanup: Running` in a job), which keeps completed pods and their logs.",
)
def keeps_pods(view: ObjectView) -> Faults:
    """Pods of a run keep running after the run has ended."""
    route = route_of(view.group, view.kind, "cleanup")
    if at(view.body, *route) in (None, "None"):
        yield Fault(route, "running pods keep their GPUs after the run has ended")


@_advice(
    "no-limits",
    RUNS,
    reason="A pod without limits is evicted first, and takes resources from other pods of its node. If no "
    "container of a run has limits, a LimitRange of the cluster may set them.",
    remedy="Set `memory` and `cpu` in the job or in the overlay's `defaults`; in a manifest, `resources.limits`.",
)
def no_limits(view: ObjectView) -> Faults:
    """A container has no limits, but other containers of the run have some. Init containers are ignored."""
    found = [(route, container) for route, container in view.containers if "initContainers" not in route]
    without = [one for one in found if not at(one[1], "resources", "limits")]
    for route, container in without if len(without) < len(found) else ():
        message = f"container `{container.get('name')}` has no limits, but others of the run have"
        yield Fault((*route, "resources", "limits"), message)


@_advice(
    "mutable-image",
    RUNS,
    reason="The image behind the tag can change: pods that restart mix versions, and the run cannot be repeated. "
    "The name of a run depends on the tag, not on the image behind it.",
    remedy="Use a version tag, or better a digest (`image@sha256:…`).",
)
def mutable_image(view: ObjectView) -> Faults:
    """An image of a run has the tag `latest`, or neither a tag nor a digest."""
    for route, container in view.containers:
        image = container.get("image")
        if not isinstance(image, str) or not image or "@" in image:
            continue
        _, colon, tag = image.rpartition("/")[2].partition(":")
        if not colon or tag == "latest":
            tagged = "has the tag `latest`" if colon else "has no tag, which means `latest`"
            yield Fault((*route, "image"), f"the image {tagged}")


@_advice(
    "folder-of-root",
    RUNS,
    reason="Images give `/root` the mode 700, so a container of another user does not start, or does not find its "
    "code. A runtime makes a folder that an image does not have, and every user can enter it.",
    remedy="Set `workingDir` to a folder that every user can enter, such as `/workspace`.",
)
def folder_of_root(view: ObjectView) -> Faults:
    """A container works in `/root`, and its user is not root. Init containers are ignored."""
    for route, container in view.containers:
        folder = container.get("workingDir")
        if "initContainers" in route or not isinstance(folder, str) or not f"{folder}/".startswith(_OF_ROOT):
            continue
        contexts = (container.get("securityContext"), at(follow(view.body, route[:-2]), "securityContext"))
        user = next((one for one in (at(context, "runAsUser") for context in contexts) if one is not None), None)
        named = next((one for one in (at(context, "runAsNonRoot") for context in contexts) if one is not None), False)
        if user if user is not None else named:
            who = f"the user {user}" if user is not None else "a user that is not root"
            yield Fault((*route, "workingDir"), f"{who} cannot enter `{folder}`")


_OF_ROOT: Final = "/root/"
BEST_PRACTICES: Final[tuple[Rule, ...]] = (no_deadline, keeps_pods, no_limits, mutable_image, folder_of_root)
"""Rules that every rendered run is checked against, because they depend on optional fields of a job."""
