"""Common parts of MPIJob and the kinds of the training operator: replica maps and `runPolicy`.

`ttlSecondsAfterFinished` is never set: the operator would delete the object, and a GitOps engine would start it again.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Iterable, Mapping
from typing import ClassVar

from gen.base import as_mapping, at, follow, replaced
from gen.job.kinds.base import Job, Problem
from gen.job.kinds.role import Target, counted_restarts
from gen.job.plan import Plan
from gen.kubernetes.facts.kubeflow import POLICY, POLICY_FIELDS, V1, CleanupPolicy
from gen.kubernetes.facts.pods import KEPT
from gen.kubernetes.objects import Body, present

EXAMPLE: Mapping[str, object] = {
    "command": "python code/project/train.py",
    "code": {"git": "https://example.com/team/project.git"},
    "workers": 2,
    "gpus": 1,
}
UNBUFFERED = {"PYTHONUNBUFFERED": "1"}
"""Appended to the environment by all controllers of the training operator but those of TFJob and MPIJob."""
_NOT_COUNTED = ("Never", "ExitCode")
"""`Never` fails the job at once. With `ExitCode`, the operator replaces a failed pod by one that has no restarts."""


_TYPE_FIELDS = ("replicaType", "tfReplicaType")


def _of_pods(replicas: Body) -> Body:
    """A role of `v1alpha1`, with the restart policy of its pods."""
    policy = at(replicas, "template", "spec", "restartPolicy")
    kept = {name: value for name, value in replicas.items() if name not in _TYPE_FIELDS}
    return kept if policy is None else {"restartPolicy": policy, **kept}


class KubeflowJob(Job):
    """A job that leaves the deletion of its pods to the operator."""

    keeping: ClassVar[str] = "cleanup"

    cleanup: CleanupPolicy = "Running"
    """Pods to delete when the job ends. `Running` frees the GPUs and keeps the logs of completed pods."""

    @classmethod
    def modern(cls, body: Body) -> Body:
        """Before `v1`, the fields of `runPolicy` were those of `spec`. In `v1alpha1`, roles were a list, and pods had a
        restart policy; later, the operator gives one to each role.
        """
        spec = dict(body["spec"])
        moved = {name: spec.pop(name) for name in POLICY_FIELDS if name in spec}
        if moved:
            spec[POLICY] = {**moved, **as_mapping(spec.get(POLICY))}
        listed = spec.get("replicaSpecs")
        if isinstance(listed, list) and all(isinstance(one, dict) for one in listed):
            del spec["replicaSpecs"]
            spec[cls.facts.pods[0].role_map] = {cls._role_of(one): _of_pods(one) for one in listed}
        return cls.with_restarts({**body, "spec": spec})

    @classmethod
    def with_restarts(cls, body: Body) -> Body:
        """The object with the policies of the operator for roles without one."""
        known = cls.facts.default_restarts
        defaults = known.get(str(body["apiVersion"]), next(iter(known.values())))
        for role, policy in defaults.items():
            route = ("spec", cls.facts.pods[0].role_map, role)
            if isinstance(fields := follow(body, route), dict):
                body = replaced(body, route, {"restartPolicy": policy, **fields})
        return body

    @classmethod
    def _role_of(cls, replicas: Body) -> str:
        wanted = str(next((replicas[name] for name in _TYPE_FIELDS if name in replicas), "Master")).lower()
        return next((role for role in cls.facts.pods[0].roles if role.lower() == wanted), wanted)

    @property
    def kept_time(self) -> int | None:
        return None if self.cleanup == KEPT else 0

    @property
    def deleting(self) -> str:
        return "cleanup: All" if self.cleanup == "All" else ""

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        policy = present(
            cleanPodPolicy=self.cleanup, activeDeadlineSeconds=plan.timeout, backoffLimit=self.backoff_limit(plan)
        )
        replicas = {
            pod.role.replica_type: {
                "replicas": pod.role.replicas,
                "restartPolicy": pod.role.restart,
                "template": pods[pod.role.name],
            }
            for pod in plan.pods
        }
        return {**self.own_spec(plan), POLICY: policy, self.facts.pods[0].role_map: replicas}

    def own_spec(self, plan: Plan) -> Body:
        """Fields of the `spec` that other kinds of the operator do not have."""
        return {}

    def backoff_limit(self, plan: Plan) -> int | None:
        """The training operator counts restarts of containers in place, in the pods that run."""
        return counted_restarts(plan.retries, sum(pod.role.most for pod in plan.pods))

    def problems(self, target: Target) -> Iterable[Problem]:
        if target.api_version == V1 and self.retries is not None and self.restart in _NOT_COUNTED:
            hint = "remove `retries`, or use `restart: OnFailure`"
            message = f"`retries` has no effect with `restart: {self.restart}`: the operator counts restarts in place"
            yield Problem(("retries",), message, hint, no_effect=True)
