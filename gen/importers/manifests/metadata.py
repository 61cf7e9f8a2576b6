"""Labels and annotations: those of people are carried, and those of Helm, Kueue and engines are not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.importers.draft import literal
from gen.kubernetes import OWN, PRIORITY_LABEL, QUEUE, QUEUE_LABEL
from gen.model.names import LABEL_KEY, LABEL_VALUE
from gen.queues.metadata import is_of_controllers, is_of_pods, is_reserved
from gen.regex import regex
from gen.resources.engines import ENGINES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gen.importers.base import Fields
    from gen.importers.draft import JobDraft
    from gen.importers.manifests.objects import Item
    from gen.kubernetes import Body

_HELM: Final = frozenset({"app", "chart", "release", "heritage", "createdBy"})
"""Labels of charts of Helm 2, and of Arena's."""
_PREFIXES: Final = (
    *("app.kubernetes.io/", "helm.sh/", "meta.helm.sh/", "arena.kubeflow.org/", OWN),
    *(prefix for engine in ENGINES.values() for prefix in engine.prefixes),
)
_BY_FIELD: Final = frozenset({QUEUE, QUEUE_LABEL, PRIORITY_LABEL})
"""Labels that a field of the job decides."""
_FIELDS: Final = ("labels", "annotations")
_OF_PODS: Final = {"labels": "podLabels", "annotations": "podAnnotations"}
_SHOWN: Final = 5
_KEY: Final = regex(LABEL_KEY)
_VALUE: Final = regex(LABEL_VALUE)


def carry_metadata(draft: JobDraft, item: Item, body: Body) -> None:
    """Set the labels and annotations of the object, and report those that no object of gen has."""
    gone = []
    for field in _FIELDS:
        for key, text in _entries(body["metadata"], field):
            if is_carried(field, key, text, of_pods=False) and not _is_dropped(key, body["metadata"][field]):
                draft.metadata(key, text, field, place=item.place("metadata", field, key))
            elif _is_dropped(key, body["metadata"][field]) and key not in _BY_FIELD and not key.startswith(OWN):
                gone.append(key)
    if gone:
        which = ", ".join(f"`{key}`" for key in gone[:_SHOWN]) + (", …" if len(gone) > _SHOWN else "")
        why = "Helm, Arena or an engine sets it, and gen has its own"
        draft.drop(item.place("metadata"), which, why, "select the objects by labels of gen, such as `gen/job`")


def pod_metadata(draft: JobDraft, metadata: Body) -> Fields:
    """`podLabels` and `podAnnotations` of a role."""
    fields: Fields = {}
    for field, name in _OF_PODS.items():
        for key, text in _entries(metadata, field):
            if is_carried(field, key, text, of_pods=True) and not _is_dropped(key, metadata[field]):
                fields.setdefault(name, {})[key] = literal(text)
                draft.grant("metadata", key) if "/" in key else None
    return fields


def without_metadata(metadata: Body) -> Body:
    """Metadata without the labels and annotations that no object of gen has."""
    changed = dict(metadata)
    for field in _FIELDS:
        if isinstance(entries := metadata.get(field), dict):
            kept = {key: text for key, text in entries.items() if not _is_dropped(key, entries)}
            changed[field] = kept
            if not kept:
                del changed[field]
    return changed


def is_carried(field: str, key: str, text: str, *, of_pods: bool) -> bool:
    """Whether a job can set the key. Others become a patch."""
    if is_reserved(key) or is_of_controllers(key) or (is_of_pods(key) and not of_pods) or not _KEY.fullmatch(key):
        return False
    return field != "labels" or _VALUE.fullmatch(text) is not None


def _entries(metadata: Body, field: str) -> Iterator[tuple[str, str]]:
    entries = metadata.get(field)
    return ((key, str(text)) for key, text in entries.items()) if isinstance(entries, dict) else iter(())


def _is_dropped(key: str, entries: Mapping[str, object]) -> bool:
    of_chart = key in _HELM and ("heritage" in entries or "createdBy" in entries)
    return of_chart or key in _BY_FIELD or key.startswith(_PREFIXES)
