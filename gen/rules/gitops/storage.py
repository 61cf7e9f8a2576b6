"""Persistent volumes and claims must outlive jobs, files and Applications."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.resources.core import DATA, PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM
from gen.resources.engines import annotations_of, protections
from gen.resources.jobset import JOBSET
from gen.resources.volcano import VOLCANO_JOB
from gen.rules.fault import Fault
from gen.rules.rule import gitops

if TYPE_CHECKING:
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_PV, _PVC = PERSISTENT_VOLUME.key, PERSISTENT_VOLUME_CLAIM.key
_PROTECTION = " and ".join(f"`{key}: {value}`" for key, value in annotations_of(protections()).items())


@gitops(
    "unprotected-data",
    *(resource.key for resource in DATA),
    reason="When its file is removed, an engine prunes the object, and with it the data. Pruning and deleting the "
    "Application are separate: one option does not cover the other (argo-cd#9853, #7124). Engines read both from the "
    "object in the cluster, so they must be applied first.",
    remedy=f"Annotate it with {_PROTECTION}.",
)
def unprotected_data(view: ObjectView) -> Faults:
    """A volume or claim lacks an annotation that keeps an engine from removing it."""
    missing = [f"`{mark}`" for mark in protections() if not mark.is_on(view.metadata)]
    if missing:
        yield Fault(
            ("metadata", "annotations"), f"the data is not protected from removal: {', '.join(missing)} is missing"
        )


@gitops(
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


@gitops(
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


@gitops(
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


@gitops(
    "owned-claim",
    JOBSET.key,
    VOLCANO_JOB.key,
    reason="The operator makes the run the owner of the claim (Volcano), or deletes it with the run (JobSet). If "
    "JobSet retains it, the same set is rejected when it is created again (jobset#1307).",
    remedy="Mount a claim that is defined separately. Silence the rule for scratch data.",
)
def owned_claim(view: ObjectView) -> Faults:
    """A run creates its own claims, which are deleted with it."""
    for index, policy in enumerate(view.spec.get("volumeClaimPolicies") or ()):
        if policy.get("templates"):
            yield Fault(("spec", "volumeClaimPolicies", index), "these claims are deleted with the run")
    for index, volume in enumerate(view.spec.get("volumes") or ()):
        if volume.get("volumeClaim") is not None:
            yield Fault(("spec", "volumes", index, "volumeClaim"), "this claim is deleted with the run")
