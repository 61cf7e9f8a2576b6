"""Parts of pods that training pods, init containers and TensorBoard share, also scripts from `gen/templates/pods/`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from gen.base import regex
from gen.job.plan import MountPlan, VolumePlan
from gen.kubernetes.objects import Body, present


def resources(amounts: Mapping[str, str]) -> Body:
    """Requests equal to limits: extended resources require it, and such pods are evicted last."""
    return {"limits": dict(amounts), "requests": dict(amounts)} if amounts else {}


def pod_volumes(volumes: Sequence[VolumePlan]) -> list[Body]:
    return [{"name": volume.name, **volume.source} for volume in volumes]


def volume_mounts(mounts: Sequence[MountPlan]) -> list[Body]:
    return [
        present(name=mount.volume, mountPath=mount.path, subPath=mount.sub_path, readOnly=mount.read_only or None)
        for mount in mounts
    ]


_FOLDER = Path(__file__).parents[2] / "templates/pods"  # `importlib.resources` takes a millisecond to import


@cache
def script(name: str) -> str:
    """The script as an argument of a container, without its comments."""
    return literal(source(name))


def source(name: str) -> str:
    """The script as a shell reads it, without its comments."""
    text = (_FOLDER / name).read_text("utf-8")
    return "".join(line for line in text.splitlines(keepends=True) if not line.lstrip().startswith("#"))


_MEANT_BY_KUBELET = regex(r"\$(?=[$(])")


def literal(text: str) -> str:
    """A text that the kubelet does not take for references to variables
    (`third_party/forked/golang/expansion/expand.go` of Kubernetes).
    """
    return _MEANT_BY_KUBELET.sub("$$", text)
