"""The TensorBoard of a run: a Deployment with the command `tensorboard`, and its Service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.importers.draft import literal
from gen.kubernetes import at
from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.importers.draft import JobDraft
    from gen.importers.manifests.objects import Item
    from gen.kubernetes import Body

_LOGDIR = regex(r"--logdir(?:[= ]+)([^\s'\"]+)")


def boards(every: list[Item], run: Item) -> Iterator[tuple[Item, list[Item]]]:
    """Deployments of TensorBoard with the name of the run as the start of theirs, each with its Services."""
    for item in every:
        spec = at(item.body, "spec", "template", "spec")
        if item.body["kind"] != "Deployment" or _logdir(spec) is None or not item.name.startswith(run.name):
            continue
        labels = at(item.body, "spec", "template", "metadata", "labels")
        services = [
            one for one in every if one.body["kind"] == "Service" and _selects(at(one.body, "spec", "selector"), labels)
        ]
        yield item, services


def set_board(draft: JobDraft, board: tuple[Item, list[Item]]) -> set[int]:
    """Set `tensorboard`; returns the objects that it stands for."""
    item, services = board
    container = _container(at(item.body, "spec", "template", "spec"))
    fields: dict[str, Any] = {"logdir": literal(_logdir(at(item.body, "spec", "template", "spec")) or "")}
    if isinstance(image := container.get("image"), str):
        fields["image"] = literal(image)
    mounts = [one["path"] if isinstance(one, dict) else one for one in draft.fields.get("data", {}).values()]
    if not any(f"{fields['logdir']}/".startswith(f"{str(mount).rstrip('/')}/") for mount in mounts):
        hint = "write the logs to a volume of the job, and set `tensorboard: {logdir: <a folder on it>}`"
        draft.drop(item.place(), f"TensorBoard `{item.name}`", "its logs are not on a volume of the job", hint)
        return {id(one) for one in (item, *services)}
    draft.set(fields, "tensorboard", place=item.place())
    for service in services:
        if (kind := at(service.body, "spec", "type")) not in (None, "ClusterIP"):
            hint = "use `kubectl port-forward`, or `tensorboard: {ingress: true}` if the overlay has an ingress"
            why = "TensorBoard has no users, so gen does not open it to the network"
            draft.drop(service.place("spec", "type"), f"`type: {kind}` of Service `{service.name}`", why, hint)
    return {id(one) for one in (item, *services)}


def _container(spec: Any) -> Body:
    containers = at(spec, "containers")
    first = containers[0] if isinstance(containers, list) and containers else {}
    return first if isinstance(first, dict) else {}


def _logdir(spec: Any) -> str | None:
    container = _container(spec)
    words = [str(one) for name in ("command", "args") for one in container.get(name) or ()]
    text = " ".join(words)
    found = _LOGDIR.search(text) if "tensorboard" in text else None
    return found[1] if found is not None else None


def _selects(selector: Any, labels: Any) -> bool:
    if not isinstance(selector, dict) or not isinstance(labels, dict):
        return False
    return bool(selector) and selector.items() <= labels.items()
