"""The init container that waits until other pods of a run have addresses. It uses the image of the pod."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.kubernetes import Body, present
from gen.render.build.parts import resources

if TYPE_CHECKING:
    from gen.kinds.plan import PodPlan
    from gen.kinds.role import Hosts

NAME = "wait-for-pods"
SCRIPT = """\
command -v getent >/dev/null || exit 0
index=0
while [ "$index" -lt "$2" ]; do
  until getent hosts "$(printf "$1" "$index")" >/dev/null; do sleep 1; done
  index=$((index + 1))
done
"""
"""An image without `getent` does not wait."""


def wait_container(pod: PodPlan, hosts: Hosts) -> Body:
    return present(
        name=NAME,
        image=pod.image,
        imagePullPolicy=pod.pull_policy,
        command=["sh", "-c", SCRIPT, "sh", hosts.pattern, str(hosts.count)],
        # as much as the training container, so that the pod does not need more
        resources=resources(pod.resources),
    )
