"""API versions that Kubernetes and the training operators gave up, with what took their place.

From Kubernetes' deprecation guide (`reference/using-api/deprecation-guide`) and the release notes of the operators.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Retired:
    """An API version of some kinds that is, or will be, gone."""

    instead: str
    """The API version to write, or a sentence where there is none."""
    deprecated: int
    """Minor version of Kubernetes; 0 for operators, whose versions are their own."""
    removed: int | None = None
    """Minor version without it; None when no end is set."""


def _all(kinds: str, retired: Retired, *versions: str) -> dict[tuple[str, str], Retired]:
    return {(version, kind): retired for version in versions for kind in kinds.split()}


_WORKLOADS = Retired("apps/v1", 8, 16)
_V1 = "v1"
_ADMISSION = "MutatingWebhookConfiguration ValidatingWebhookConfiguration"
_REVIEWS = "LocalSubjectAccessReview SelfSubjectAccessReview SubjectAccessReview SelfSubjectRulesReview"
_RBAC = "ClusterRole ClusterRoleBinding Role RoleBinding"
_FLOWS = "FlowSchema PriorityLevelConfiguration"
_QUEUES = "ClusterQueue LocalQueue ResourceFlavor Workload AdmissionCheck WorkloadPriorityClass Cohort Topology"

RETIRED: Final[dict[tuple[str, str], Retired]] = {
    **_all("Deployment DaemonSet ReplicaSet", _WORKLOADS, "extensions/v1beta1"),
    **_all("Deployment StatefulSet", _WORKLOADS, "apps/v1beta1"),
    **_all("Deployment DaemonSet ReplicaSet StatefulSet", _WORKLOADS, "apps/v1beta2"),
    **_all("NetworkPolicy", Retired("networking.k8s.io/v1", 8, 16), "extensions/v1beta1"),
    **_all("PodSecurityPolicy", Retired("Pod Security admission does this now", 11, 16), "extensions/v1beta1"),
    **_all(_ADMISSION, Retired("admissionregistration.k8s.io/v1", 16, 22), "admissionregistration.k8s.io/v1beta1"),
    **_all("CustomResourceDefinition", Retired("apiextensions.k8s.io/v1", 16, 22), "apiextensions.k8s.io/v1beta1"),
    **_all("APIService", Retired("apiregistration.k8s.io/v1", 19, 22), "apiregistration.k8s.io/v1beta1"),
    **_all("TokenReview", Retired("authentication.k8s.io/v1", 19, 22), "authentication.k8s.io/v1beta1"),
    **_all(_REVIEWS, Retired("authorization.k8s.io/v1", 19, 22), "authorization.k8s.io/v1beta1"),
    **_all("CertificateSigningRequest", Retired("certificates.k8s.io/v1", 19, 22), "certificates.k8s.io/v1beta1"),
    **_all("Lease", Retired("coordination.k8s.io/v1", 19, 22), "coordination.k8s.io/v1beta1"),
    **_all("Ingress", Retired("networking.k8s.io/v1", 14, 22), "extensions/v1beta1", "networking.k8s.io/v1beta1"),
    **_all("IngressClass", Retired("networking.k8s.io/v1", 19, 22), "networking.k8s.io/v1beta1"),
    **_all(_RBAC, Retired("rbac.authorization.k8s.io/v1", 17, 22), "rbac.authorization.k8s.io/v1beta1"),
    **_all("PriorityClass", Retired("scheduling.k8s.io/v1", 14, 22), "scheduling.k8s.io/v1beta1"),
    **_all(
        "CSIDriver CSINode StorageClass VolumeAttachment",
        Retired("storage.k8s.io/v1", 19, 22),
        "storage.k8s.io/v1beta1",
    ),
    **_all("CronJob", Retired("batch/v1", 21, 25), "batch/v1beta1"),
    **_all("CronJob", Retired("batch/v1", 8, 21), "batch/v2alpha1"),
    **_all("EndpointSlice", Retired("discovery.k8s.io/v1", 21, 25), "discovery.k8s.io/v1beta1"),
    **_all("Event", Retired("events.k8s.io/v1", 19, 25), "events.k8s.io/v1beta1"),
    **_all("HorizontalPodAutoscaler", Retired("autoscaling/v2", 23, 25), "autoscaling/v2beta1"),
    **_all("HorizontalPodAutoscaler", Retired("autoscaling/v2", 23, 26), "autoscaling/v2beta2"),
    **_all("PodDisruptionBudget", Retired("policy/v1", 21, 25), "policy/v1beta1"),
    **_all("PodSecurityPolicy", Retired("Pod Security admission does this now", 21, 25), "policy/v1beta1"),
    **_all("RuntimeClass", Retired("node.k8s.io/v1", 20, 25), "node.k8s.io/v1beta1"),
    **_all("CSIStorageCapacity", Retired("storage.k8s.io/v1", 24, 27), "storage.k8s.io/v1beta1"),
    **_all(_FLOWS, Retired("flowcontrol.apiserver.k8s.io/v1", 23, 26), "flowcontrol.apiserver.k8s.io/v1beta1"),
    **_all(_FLOWS, Retired("flowcontrol.apiserver.k8s.io/v1", 26, 29), "flowcontrol.apiserver.k8s.io/v1beta2"),
    **_all(_FLOWS, Retired("flowcontrol.apiserver.k8s.io/v1", 29, 32), "flowcontrol.apiserver.k8s.io/v1beta3"),
    **_all("ComponentStatus", Retired("ask the components themselves", 19), _V1),
    **_all("Endpoints", Retired("discovery.k8s.io/v1 EndpointSlice", 33), _V1),
    **_all(
        "TFJob",
        Retired("kubeflow.org/v1", 0, 0),
        *(f"kubeflow.org/{version}" for version in ("v1alpha1", "v1alpha2", "v1beta1", "v1beta2")),
    ),
    **_all(
        "PyTorchJob",
        Retired("kubeflow.org/v1", 0, 0),
        *(f"kubeflow.org/{version}" for version in ("v1alpha1", "v1alpha2", "v1beta1", "v1beta2")),
    ),
    **_all("MPIJob", Retired("kubeflow.org/v2beta1", 0, 0), "kubeflow.org/v1alpha1", "kubeflow.org/v1alpha2"),
    **_all("XGBoostJob", Retired("kubeflow.org/v1", 0, 0), "xgboostjob.kubeflow.org/v1alpha1"),
    **_all("JobSet", Retired("jobset.x-k8s.io/v1alpha2", 0, 0), "jobset.x-k8s.io/v1alpha1"),
    **_all("RayJob RayCluster RayService", Retired("ray.io/v1", 0), "ray.io/v1alpha1"),
    **_all(_QUEUES, Retired("kueue.x-k8s.io/v1beta2", 0), "kueue.x-k8s.io/v1beta1"),
    **_all(_QUEUES, Retired("kueue.x-k8s.io/v1beta2", 0, 0), "kueue.x-k8s.io/v1alpha1", "kueue.x-k8s.io/v1alpha2"),
    **_all("Experiment Trial Suggestion", Retired("kubeflow.org/v1beta1", 0, 0), "kubeflow.org/v1alpha3"),
}
