"""Labels and annotations that jobs cannot set, because gen, operators or schedulers act on them."""

from __future__ import annotations

from gen.base.codes.commands import SILENCEABLE
from gen.base.engines import ENGINES
from gen.kubernetes.rules.rule import SILENCE
from gen.overlay.profiles.queues import QUEUES

_RESERVED = (
    "app.kubernetes.io/",
    "config.kubernetes.io/",
    "gen/",
    "helm.sh/",
    "internal.config.kubernetes.io/",
    "kubectl.kubernetes.io/",
    "kueue.x-k8s.io/",
    "meta.helm.sh/",
    "training.kubeflow.org/",
    "workflows.argoproj.io/",  # such as `completed`, after which the controller ignores a workflow
    *(prefix for engine in ENGINES.values() for prefix in engine.prefixes),
)
"""Metadata of gen and of tools that act on its objects. It is set by fields, and cannot be granted."""
_OPERATORS = frozenset({"controller-uid", "group-name", "job-name", "job-role", "replica-index", "replica-type"})
"""Labels without a prefix that operators and the Job controller use to find their pods."""
_CONTROLLERS = frozenset(
    {"aadpodidbinding"}  # AAD Pod Identity: gives the pod an identity of the cloud
    | {"applicationId", "disableStateAware", "placeholder", "queue", "task-group-name"}  # Apache YuniKorn
    | {"spark-app-selector", "spark-role"}  # Spark, and YuniKorn, which takes the first for an application
    | {"pod-group.scheduling.sigs.k8s.io"}  # the coscheduling plugin, which is out of the tree of Kubernetes
    | {"eci"}  # virtual nodes of Alibaba Cloud
    | {"controller-revision-hash", "pod-template-generation", "pod-template-hash"}  # controllers of Kubernetes
)
"""Labels without a prefix that schedulers and controllers act on. Only defaults of the overlay may set them."""


_OF_PODS = (
    "azure.workload.identity/use",
    "cluster-autoscaler.kubernetes.io/safe-to-evict",
    "container.apparmor.security.beta.kubernetes.io/",
    "iam.amazonaws.com/role",
    "k8s.aliyun.com/",  # Terway and ECI
    "k8s.v1.cni.cncf.io/",
    "karpenter.sh/do-not-disrupt",
    "kubernetes.io/egress-bandwidth",
    "kubernetes.io/ingress-bandwidth",
    "linkerd.io/inject",
    "sidecar.istio.io/",
    "tke.cloud.tencent.com/networks",
    "vault.hashicorp.com/",
)
"""Starts of keys that controllers only read on pods."""


def is_reserved(key: str) -> bool:
    """Whether gen or an operator sets the key itself."""
    return key.startswith(_RESERVED) or key in _OPERATORS


def is_silence(key: str) -> bool:
    """Whether the key silences a warning about a command."""
    return key.startswith(SILENCE) and key.removeprefix(SILENCE) in SILENCEABLE


def is_of_controllers(key: str) -> bool:
    """Whether schedulers or controllers act on the key, so that only defaults of the overlay can set it."""
    return key in _CONTROLLERS or any(model.acts_on(key) for model in QUEUES.values())


def is_of_pods(key: str) -> bool:
    """Whether controllers only read the key on pods."""
    return key.startswith(_OF_PODS)
