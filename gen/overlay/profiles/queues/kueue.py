"""Kueue: a LocalQueue admits a run, which is suspended until then.

Labels of the object and annotations of pod templates from `pkg/controller/constants` and `apis/kueue/v1beta2` of
kubernetes-sigs/kueue 0.19.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Self

from pydantic import AfterValidator, model_validator

from gen.base import did_you_mean, regex
from gen.job.model import Model
from gen.job.names import LabelKey, QueueName
from gen.job.queue import Member, PodChanges, PriorityClassName, QueueProfile, Refusal, Run
from gen.job.scalars import Text, Truth, conflict
from gen.kubernetes.facts import RESOURCES
from gen.kubernetes.facts.base import Path, Resource
from gen.kubernetes.objects import PRIORITY_LABEL, QUEUE_LABEL

_GROUP = 2
_PREFIX = "kueue.x-k8s.io/"
ELASTIC: Final = f"{_PREFIX}elastic-job"
_EXTERNAL = regex(r"[A-Z][A-Za-z0-9]*\.v[a-z0-9]+\.[a-z0-9.-]+")
"""A kind in `integrations.externalFrameworks`, which a controller of its own admits: `Kind.version.group`."""


_SHIPPED = (
    *("deployment", "leaderworkerset.x-k8s.io/leaderworkerset", "pod", "ray.io/rayservice", "statefulset"),
    *("sparkoperator.k8s.io/sparkapplication", "workload.codeflare.dev/appwrapper"),
)
"""Frameworks of Kueue for kinds other than gen's runs (`config/components/manager/controller_manager_config.yaml`)."""


def _framework(name: str) -> str:
    known = sorted({*_SHIPPED, *(one.kueue.framework for one in RESOURCES.values() if one.kueue)})
    if name not in known and not _EXTERNAL.fullmatch(name):
        raise conflict(f"Kueue has no framework `{name}`", did_you_mean(name, known))
    return name


Framework = Annotated[Text, AfterValidator(_framework)]


class Topology(Model):
    """How close the pods of each role must be. The level is a node label that the Topology of the flavor lists. Kueue
    places each role by itself, and two roles together if one has a single pod, such as a master and its workers.
    """

    required: LabelKey | None = None
    """Level of one domain that must hold all pods of a role, such as `cloud.provider.com/topology-block`."""
    preferred: LabelKey | None = None
    """Level of one domain that should hold them. Otherwise Kueue uses several domains."""
    unconstrained: Truth = False
    """Place the pods by the topology of free resources only."""

    @property
    def annotations(self) -> Mapping[str, str]:
        unconstrained = "true" if self.unconstrained else None
        levels = {"required": self.required, "preferred": self.preferred, "unconstrained": unconstrained}
        return {f"{_PREFIX}podset-{name}-topology": level for name, level in levels.items() if level is not None}

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if len(self.annotations) != 1:
            problem = "expected exactly one of `required`, `preferred` and `unconstrained`"
            raise conflict(problem, "set one of them, such as `required: cloud.provider.com/topology-block`")
        return self


class Kueue(QueueProfile):
    """LocalQueue of Kueue. Its runs are suspended until Kueue admits them."""

    short: ClassVar[str] = "localQueue"
    suspends: ClassVar[bool] = True
    keys: ClassVar[tuple[str, ...]] = (_PREFIX,)

    local_queue: QueueName
    """Name of the LocalQueue in the namespace of the job."""
    priority_class: PriorityClassName | None = None
    """WorkloadPriorityClass of the runs. It orders them in the queue, and does not change the priority of pods."""
    topology: Topology | None = None
    """Topology-aware placement of the pods. The flavors of the queue must have a `topologyName`."""
    elastic: Truth = False
    """Admit Ray clusters with `autoscaler`, and count their pods as they change. Kueue needs the feature gate
    `ElasticJobsViaWorkloadSlices`, which is on by default since 0.18."""
    frameworks: tuple[Framework, ...] = ()
    """Frameworks that `integrations.frameworks` of Kueue's configuration lists in addition to those that it ships,
    such as `kubeflow.org/pytorchjob`, and declared kinds in `integrations.externalFrameworks`, such as
    `SparkApplication.v1beta2.sparkoperator.k8s.io`. Without its framework, Kueue ignores a job, which starts
    immediately."""

    @classmethod
    def unable(cls, facts: Resource, api_version: str) -> Refusal | None:
        if facts.kueue is None:
            return Refusal("Kueue does not admit this kind", "use a queue of another scheduler, or another kind")
        if facts.kueue.versions and api_version not in facts.kueue.versions:
            served = " or ".join(f"`{version}`" for version in facts.kueue.versions)
            hint = f"use {served} in `operators` of the overlay, or a queue of another scheduler"
            return Refusal(f"Kueue ignores {api_version}, so the run would start at once", hint)
        return None

    @classmethod
    def needs(cls, facts: Resource, api_version: str) -> str:
        return "" if facts.kueue is None or facts.kueue.shipped else facts.kueue.framework

    def refusal(self, facts: Resource, api_version: str) -> Refusal | None:
        needed = self.needs(facts, api_version)
        if needed and needed not in self.frameworks:
            return Refusal(
                f"Kueue ignores it unless its configuration lists `{needed}`, so the run would start at once",
                f"add `frameworks: [{needed}]` to the queue if Kueue is configured so, or use another queue",
            )
        return self.unable(facts, api_version)

    @property
    def resizes(self) -> bool:
        return self.elastic

    def values(self, run: Run) -> Mapping[Path, object]:
        elastic = self.elastic and run.autoscaled and run.facts.kueue is not None and run.facts.kueue.elastic
        return {("metadata", "annotations", ELASTIC): "true"} if elastic else {}

    @property
    def one_domain(self) -> str | None:
        return self.topology.required if self.topology is not None else None

    @property
    def labels(self) -> Mapping[str, str]:
        labels = {QUEUE_LABEL: self.local_queue, PRIORITY_LABEL: self.priority_class}
        return {key: value for key, value in labels.items() if value is not None}

    def changes(self, run: Run, member: Member) -> PodChanges:
        if self.topology is None:
            return PodChanges()
        # `pkg/controller/jobframework/tas_validation.go`: a group has two sets of pods, of which one has one pod
        together = len(run.members) == _GROUP and min(one.least for one in run.members) == 1
        group = {f"{_PREFIX}podset-group-name": "run"} if together and not self.topology.unconstrained else {}
        return PodChanges(annotations={**self.topology.annotations, **group})
