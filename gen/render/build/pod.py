"""Pod templates of training pods. Nothing else writes one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.kubernetes import COMPONENT, HOSTNAME, ZONE, Body, present
from gen.render.build.claims import container_claims, pod_claims
from gen.render.build.code import code_container
from gen.render.build.metadata import own_labels, run_labels
from gen.render.build.parts import pod_volumes, resources, volume_mounts
from gen.render.build.transfer import copy_container, started
from gen.render.build.wait import wait_container

if TYPE_CHECKING:
    from gen.kinds.plan import NodePlan, Plan, PodPlan, Spread
    from gen.resources.base import Resource


def pod_template(plan: Plan, pod: PodPlan, facts: Resource) -> Body:
    """Pod template of one role."""
    labels = {**pod.labels, **run_labels(plan, pod.role.name)}
    metadata = present(labels=dict(sorted(labels.items())), annotations=dict(sorted(pod.annotations.items())))
    return {"metadata": metadata, "spec": _pod_spec(plan, pod, facts)}


def _pod_spec(plan: Plan, pod: PodPlan, facts: Resource) -> Body:
    host = pod.effect.host_network or None
    single, several = _split(pod.nodes)
    ssh = pod.code is not None and pod.code.ssh and pod.code.credentials is not None
    return present(
        subdomain=pod.role.subdomain,
        terminationGracePeriodSeconds=pod.transfer.grace if pod.transfer and pod.transfer.wraps else None,
        restartPolicy=None if facts.restarts_by_role else pod.role.restart,
        hostNetwork=host,
        # the default does not resolve service names on the host network
        dnsPolicy="ClusterFirstWithHostNet" if host else None,
        schedulerName=pod.effect.scheduler,
        serviceAccountName=plan.service_account,
        priorityClassName=plan.priority,
        preemptionPolicy=plan.preemption_policy,
        imagePullSecrets=[{"name": name} for name in plan.pull_secrets],
        nodeSelector=single,
        affinity=present(nodeAffinity=_node_affinity(several), podAntiAffinity=_apart(plan, pod)),
        tolerations=[dict(toleration) for toleration in pod.nodes.tolerations],
        topologySpreadConstraints=_constraints(plan, pod.nodes.spread),
        # the group of git-sync; `OnRootMismatch` avoids a walk through large volumes
        securityContext={"fsGroup": 65533, "fsGroupChangePolicy": "OnRootMismatch"} if ssh else None,
        initContainers=[
            *([code_container(pod.code)] if pod.code else ()),
            *([copy_container(pod.transfer)] if pod.transfer else ()),
            *([wait_container(pod, pod.role.wait_for)] if pod.role.wait_for else ()),
            *(dict(sidecar) for sidecar in pod.effect.sidecars),
        ],
        containers=[_container(plan, pod)],
        resourceClaims=pod_claims(plan, pod),
        volumes=pod_volumes(pod.volumes),
    )


def _container(plan: Plan, pod: PodPlan) -> Body:
    capabilities = pod.effect.capabilities
    return present(
        name=plan.container,
        image=pod.image,
        imagePullPolicy=pod.pull_policy,
        **started(pod),
        workingDir=pod.working_dir,
        env=[dict(entry) for entry in (*pod.env, *(pod.transfer.env if pod.transfer else ()))],
        ports=[dict(port) for port in pod.role.ports],
        resources={**resources(pod.resources), **container_claims(pod)},
        securityContext={"capabilities": {"add": list(capabilities)}} if capabilities else None,
        volumeMounts=volume_mounts(pod.mounts),
    )


def _split(nodes: NodePlan) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Labels with one value, for the node selector, and labels with several values, for the node affinity."""
    single = {label: values[0] for label, values in sorted(nodes.labels.items()) if len(values) == 1}
    return single, {label: values for label, values in sorted(nodes.labels.items()) if len(values) > 1}


def _node_affinity(labels: dict[str, tuple[str, ...]]) -> Body:
    if not labels:
        return {}
    expressions = [{"key": key, "operator": "In", "values": list(values)} for key, values in labels.items()]
    terms = [{"matchExpressions": expressions}]
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}


def _apart(plan: Plan, pod: PodPlan) -> Body:
    """Two pods of a role on one node would need the same ports; a job can keep its pods on different nodes, too."""
    spread = pod.nodes.spread
    if spread is not None and spread.level == "node":
        selector = _of_run(plan, spread)
    elif pod.effect.spread and pod.role.most > 1:
        selector = {"matchLabels": {**own_labels(plan), COMPONENT: pod.role.name}}
    else:
        return {}
    term = {"labelSelector": selector, "topologyKey": HOSTNAME}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def _constraints(plan: Plan, spread: Spread | None) -> list[Body]:
    if spread is None or spread.level != "zone":
        return []
    apart = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": _of_run(plan, spread),
    }
    return [apart]


def _of_run(plan: Plan, spread: Spread) -> Body:
    if len(spread.roles) == 1:
        return {"matchLabels": {**own_labels(plan), COMPONENT: spread.roles[0]}}
    roles = {"key": COMPONENT, "operator": "In", "values": list(spread.roles)}
    return {"matchLabels": own_labels(plan), "matchExpressions": [roles]}
