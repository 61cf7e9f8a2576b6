"""At least ten mistakes of each group of profiles are findings with a place and a remedy.

`tests/test_errors.py` runs every case in `errors/`; this is the list of those that a platform engineer makes with
the profiles of an overlay, so that no group is without them.
"""

from __future__ import annotations

import re

from tests.cases import for_each
from tests.error_cases import error_cases

LEAST = 10
MISTAKES = {
    "queues": """
        gang-by-an-annotation patch-of-the-scheduler-of-a-queue priority-by-its-class priority-that-is-not-granted
        queue-misspelled-in-a-grant queue-of-another-scheduler queue-of-mpi-jobs-of-v1 queue-that-is-not-granted
        queue-that-kueue-ignores queue-with-an-unknown-framework queue-with-two-schedulers queue-with-two-topologies
        roles-in-order-in-a-gang schedule-in-a-queue-with-gangs size-of-a-gang-of-ray spread-in-a-queue-of-one-node
        suspended-in-a-queue
    """,
    "accelerators": """
        accelerator-and-network-differ accelerator-missing accelerator-not-granted accelerator-of-another-scheduler
        accelerator-over-its-quota accelerator-unknown accelerator-without-gpus ascend-more-than-a-node
        ascend-odd-number devices-of-others mig-with-two-gpus mig-with-two-pods more-gpus-than-a-node
        overlay-accelerator-of-a-newer-kubernetes overlay-accelerator-with-two-profiles tpu-half-a-host
        tpu-slice-not-filled tpu-topology-in-words tpu-topology-of-broken-hosts
    """,
    "networks": """
        annotation-of-the-network efa-for-more-gpus-than-a-node efa-for-one-gpu efa-without-gpus efa-without-memory
        gpudirect-for-some-gpus gpudirect-in-a-train-job gpudirect-not-granted host-network-not-granted
        host-network-on-the-node-of-a-volume
        network-default-replaced network-switched-off overlay-gpudirect-of-old-kubernetes
        overlay-lingjun-without-host-network overlay-network-of-two-clouds overlay-network-with-one-interface-twice
        overlay-network-with-two-values unknown-network
    """,
    "storage": """
        copy-to-a-read-only-volume local-volume-for-more-gpus-than-its-node local-volume-not-granted
        local-volumes-of-two-nodes logs-on-scratch overlay-local-volume-with-a-zone overlay-local-volume-without-a-node
        overlay-volume-of-a-network overlay-volume-read-only-twice overlay-volume-without-profile
        two-mounts-in-one-place unknown-volume volume-in-memory-takes-all volume-not-granted volume-of-one-node
        volume-that-the-host-network-cannot-mount volumes-of-a-pod volumes-of-two-zones writing-to-a-read-only-volume
    """,
    "placement": """
        cluster-that-no-overlay-is-called gpu-model-beside-the-accelerator job-without-the-name-of-its-cluster
        node-label-of-the-network node-labels-of-others spot-beside-other-nodes spot-without-spot-nodes
        spread-from-a-local-volume spread-in-one-zone spread-in-the-zone-of-a-volume spread-of-a-train-job
        spread-of-one-pod spread-over-a-named-node volume-in-another-zone
    """,
    "kinds": """
        array-that-restarts-in-place chief-and-master data-of-a-role declared-kind-with-a-field-of-the-owner
        declared-kind-with-the-number-of-pods devices-of-the-launcher failure-policy-with-restarts
        launcher-without-limits restart-that-the-operator-lacks role-of-the-other-workers role-without-pods
        roles-in-order-in-a-gang ssh-port-of-another-mpi success-policy-beside-chief variable-of-the-operator
        workers-beside-replicas
    """,
}
"""By group, the names of its cases."""
FINDING = re.compile(r"^[^\s:]+\.yaml:\d+:\d+: (?:error|warning): .+ \[[a-z-]+\]\n    \S", re.MULTILINE)
"""A place in a file, a problem with its code, and a remedy."""


@for_each("group", MISTAKES)
def test_ten_mistakes_of_each_group_are_findings_with_a_place_and_a_remedy(group: str) -> None:
    texts = {case.name: case.expected for case in error_cases()}
    wanted = MISTAKES[group].split()
    assert len(set(wanted)) == len(wanted) >= LEAST
    assert [name for name in wanted if name not in texts] == [], "no file in tests/errors"
    assert [name for name in wanted if not FINDING.search(texts[name])] == []


def test_few_mistakes_are_in_two_groups() -> None:
    names = [name for text in MISTAKES.values() for name in text.split()]
    assert len(names) - len(set(names)) <= 1
