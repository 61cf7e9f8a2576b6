"""Fields of a role from its pod template, with its labels and annotations. Other values become a patch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from pydantic import ValidationError

from gen.base import Route, as_list, as_mapping, as_texts, at, follow, regex, replaced
from gen.base.engines import ENGINES
from gen.importers import Fields
from gen.importers.draft import JobDraft, label, literal, literals
from gen.importers.manifests.objects import Item, Template, container_route
from gen.importers.manifests.placeholders import START
from gen.job.kinds.base import Job
from gen.job.names import LABEL_KEY, LABEL_VALUE
from gen.job.profile import Effect
from gen.kubernetes import quantity
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.objects import INSTANCE_TYPE, OWN, PRIORITY_LABEL, QUEUE, QUEUE_LABEL, ZONE, Body, present
from gen.overlay.profiles.accelerators import ACCELERATORS, Request
from gen.overlay.profiles.queues.kueue import ELASTIC
from gen.render.parts.metadata import is_of_controllers, is_of_pods, is_reserved
from gen.render.parts.pods import LEAST_WITH_GPUS

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


def carry_metadata(draft: JobDraft, item: Item, body: Body, facts: Resource) -> None:
    """Set the labels and annotations of the object, and report those that no object of gen has."""
    for field in _FIELDS:
        for key, text in _entries(body["metadata"], field):
            if is_carried(field, key, text, of_pods=False) and not _is_dropped(key, body["metadata"][field]):
                draft.metadata(key, text, field, place=item.place("metadata", field, key))
    for route in dict.fromkeys((("metadata",), facts.run_metadata)):
        _report_dropped(draft, item, route, as_mapping(follow(body, route)), facts)


def _report_dropped(draft: JobDraft, item: Item, route: Route, metadata: Body, facts: Resource) -> None:
    """Report labels and annotations that no object of gen has, and no field of a job decides."""
    gone = [
        key
        for field in _FIELDS
        for key, _ in _entries(metadata, field)
        if _is_dropped(key, metadata[field]) and key not in _BY_FIELD and not key.startswith(OWN)
    ]
    queue = entries.get(QUEUE_LABEL) if isinstance(entries := metadata.get("labels"), dict) else None
    if queue is not None and queue != queue_of(item.body, facts):
        why = "only the queue of the run admits it"
        draft.drop(
            item.place(*route, "labels", QUEUE_LABEL), f"`{QUEUE_LABEL}: {queue}`", why, "set `queue` of the job"
        )
    if gone:
        which = ", ".join(f"`{key}`" for key in gone[:_SHOWN]) + (", …" if len(gone) > _SHOWN else "")
        why = "Helm, Arena or an engine sets it, and gen has its own"
        draft.drop(item.place(*route), which, why, "select the objects by labels of gen, such as `gen/job`")


def queue_of(body: Body, facts: Resource) -> str:
    """The queue of Kueue that the runs of an object have."""
    metadata = follow(body, facts.run_metadata)
    name = at(metadata, "labels", QUEUE_LABEL) or at(metadata, "annotations", QUEUE_LABEL)
    return name if isinstance(name, str) else ""


def _topology(every: Sequence[Template]) -> Fields:
    """The topology that all pod templates ask Kueue for, as a field of its queue."""
    asked = [as_mapping(at(one.metadata, "annotations")) for one in every]
    for name in ("required", "preferred", "unconstrained"):
        levels = [one.get(f"kueue.x-k8s.io/podset-{name}-topology") for one in asked]
        if levels and levels == levels[:1] * len(levels) and isinstance(level := levels[0], str):
            return {name: True if name == "unconstrained" else level}
    return {}


def set_queue(
    draft: JobDraft, item: Item, body: Body, model: type[Job], facts: Resource, every: Sequence[Template]
) -> None:
    """A queue of Kueue, by its label, or that of the only scheduler of the kind."""
    place = item.place(*facts.run_metadata)
    if name := queue_of(body, facts):
        priority = at(follow(body, facts.run_metadata), "labels", PRIORITY_LABEL)
        known = model.facts.kueue
        listed = {"frameworks": [known.framework]} if known is not None and not known.shipped else {}
        classes = {"priorityClass": priority} if isinstance(priority, str) else {}
        topology = _topology(every)
        level = "-".join(str(one).rpartition("/")[2] for pair in topology.items() for one in pair if one is not True)
        queue = label(f"{name}-{level}" if topology else name, "queue")  # other jobs have the queue without it
        asked: Fields = {"topology": topology} if topology else {}
        if facts.kueue is not None and facts.kueue.elastic and at(body, "metadata", "annotations", ELASTIC) == "true":
            queue, asked["elastic"] = label(f"{queue}-elastic", "queue"), True
        draft.join(queue, {"kueue": {"localQueue": name, **classes, **asked, **listed}}, place)
        return
    for group in facts.groups if facts.scheduler is not None else ():
        name = follow(body, group.settings["queue"])
        if isinstance(name, str) and name != "default":
            profile = {group.scheduler: {"queue": name}}
            draft.join(label(name, "queue"), profile, item.place(*group.settings["queue"]))


def pod_metadata(draft: JobDraft, item: Item, route: Route, metadata: Body, facts: Resource) -> Fields:
    """`podLabels` and `podAnnotations` of a role."""
    _report_dropped(draft, item, route, metadata, facts)
    fields: Fields = {}
    for field, name in _OF_PODS.items():
        for key, text in _entries(metadata, field):
            if is_carried(field, key, text, of_pods=True) and not _is_dropped(key, metadata[field]):
                fields.setdefault(name, {})[key] = literal(text)
                draft.grant("metadata", key) if "/" in key or field == "labels" else None
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
    return ((key, _plain(text)) for key, text in entries.items()) if isinstance(entries, dict) else iter(())


def _is_dropped(key: str, entries: Mapping[str, object]) -> bool:
    of_chart = key in _HELM and ("heritage" in entries or "createdBy" in entries)
    return of_chart or key in _BY_FIELD or key.startswith(_PREFIXES)


GPU: Final = "nvidia.com/gpu"
"""Resource of GPUs in an overlay that sets no other."""
_MACHINE: Final = {INSTANCE_TYPE: "instanceType", ZONE: "zone"}
_SAME: Final = ("image", "imagePullPolicy", "workingDir")
_SHELL: Final = ["sh", "-c"]
_SOURCES: Final = {"secretKeyRef": "secret", "configMapKeyRef": "configMap"}
_NOT_DEVICES: Final = ("kubernetes.io/", "hugepages-", "requests.")
_OF_NETWORK: Final = regex(r"rdma/.*|.*(?:/efa|rdma|sriov|/hca|roce|hostdev|infiniband|mlnx).*|.*/[\w.-]*nics?")
"""Devices for the network, which train nothing."""


def role_fields(draft: JobDraft, item: Item, one: Template, facts: Resource) -> Fields:
    """Fields of one role, as far as a job has them."""
    holder = one.container
    fields: Fields = {}
    fields |= {name: literal(holder[name]) for name in _SAME if isinstance(holder.get(name), str)}
    if has_default_policy(holder):
        fields.pop("imagePullPolicy", None)
    fields |= _program(holder)
    route = container_route(one, facts.container)
    if env := dict(_environment(draft, item, holder, (*route, "env"))):
        fields["env"] = env
    effect = Effect()
    fields |= _sizes(holder)
    if (device := _device(holder)) is not None:
        accelerator, effect = _accelerator(draft, *device, one, facts)
        fields |= {"gpus": device[1], **accelerator}
        _drop_small_memory(draft, item, fields, (*route, "resources", "requests", "memory"), holder)
    if placement := _placement(draft, one.spec, effect):
        fields["placement"] = literals(placement)
    fields |= pod_metadata(draft, item, (*one.route, "metadata"), one.metadata, facts)
    return fields


def has_default_policy(container: Body) -> bool:
    """Whether the policy is the one that the API server sets. That of a placeholder depends on what replaces it."""
    image = str(container.get("image", ""))
    if image.startswith(START):
        return False
    tag = image.rpartition("/")[2].rpartition(":")[2] if ":" in image.rpartition("/")[2] else "latest"
    return container.get("imagePullPolicy") == ("Always" if tag == "latest" and "@" not in image else "IfNotPresent")


def as_program(container: Body) -> Body:
    """The container with the script of a shell in its command, without `--`, `sh` for `/bin/sh`, and no blanks around
    the script, also one of Python: the same program.
    """
    command, args = as_texts(container.get("command")), as_texts(container.get("args"))
    whole = [*command, *args]
    if whole[1:3] == ["-c", "--"] and whole[0].endswith("sh"):
        whole.remove("--")
    if _has_script(whole) and command and command[0].endswith("sh"):
        command = whole
        container = {key: value for key, value in container.items() if key != "args"}
    if command[:2] == ["/bin/sh", "-c"]:
        command = [*_SHELL, *command[2:]]
    if _has_script(command) or ("python" in "".join(command[:1]) and command[-2:-1] == ["-c"]):
        command[-1] = _without_blanks(command[-1])
    return {**container, "command": command} if command else container


_BLANK_LINES: Final = regex(r"\A(?:[ \t]*\n)+")
_SHORT: Final = regex(r"-[a-zA-Z]*")
"""Options of a shell. The last one has `c` if a script follows, and `o` if its value does."""


def script_place(words: Sequence[str]) -> int | None:
    """Index of the script of a shell with options, such as `bash -xc SCRIPT`; None for other words."""
    place = 1 if words and words[0].endswith("sh") else len(words)
    while place < len(words) and _SHORT.fullmatch(option := words[place]):
        place += 1
        if option.endswith("o"):
            place += 1
        elif "c" in option:
            return place if place < len(words) else None
    return None


def _has_script(words: Sequence[str]) -> bool:
    """Whether the words end with the script of a shell, which has no arguments."""
    return script_place(words) == len(words) - 1


def _without_blanks(script: str) -> str:
    """A script without blanks around it, and with a last line feed if it has several lines."""
    text = script.rstrip(" \t\n")
    text = text.lstrip(" \t\n") if "\n" not in text.strip(" \t\n") else _BLANK_LINES.sub("", text)
    end = "\n" if "\n" in text else ""
    return f"{text}{end}" if text and not text.endswith("\\") else script


def _program(container: Body) -> Fields:
    container = as_program(container)
    command, args = as_texts(container.get("command")), as_texts(container.get("args"))
    fields: Fields = {}
    if command[:2] == _SHELL and len(command) == len(_SHELL) + 1 and not args:
        fields["command"] = literal(command[2])
    elif command:
        fields["command"] = [literal(text) for text in command]
    if args or not command:
        fields["args"] = [literal(text) for text in args]
    return fields


def _environment(
    draft: JobDraft, item: Item, container: Body, route: tuple[str | int, ...]
) -> Iterator[tuple[str, object]]:
    for number, entry in enumerate(as_list(container.get("env"))):
        name = at(entry, "name")
        if not isinstance(name, str):
            continue
        source = at(entry, "valueFrom")
        if source is None:
            text, place = _plain(entry.get("value", "")), item.place(*route, number, "value")
            draft.places[f"env.{name}"] = place
            yield name, draft.hidden(name, text, place, given=not text.startswith(START))
        elif (reference := _reference(source)) is not None:
            yield name, reference


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _reference(source: object) -> Fields | None:
    for name, field in _SOURCES.items():
        key = at(source, name)
        if isinstance(key, dict):
            optional = {"optional": key["optional"]} if "optional" in key else {}
            return {field: key.get("name", ""), "key": key.get("key", ""), **optional}
    if isinstance(path := at(source, "fieldRef", "fieldPath"), str):
        return {"field": path}
    resource = at(source, "resourceFieldRef")
    if isinstance(resource, dict) and resource.get("divisor") in (None, "0", 0):
        return {"resource": resource.get("resource", "")}
    return None


def _amounts(container: Body) -> Body:
    """The request, which schedulers count; the limit if there is no request."""
    parts = (as_mapping(at(container, "resources", part)) for part in ("limits", "requests"))
    return {name: amount for part in parts for name, amount in part.items()}


_DECIMAL: Final = regex(r"(?:0|[1-9]\d{0,3})\.\d{0,3}[1-9]")
_DISK: Final = "ephemeral-storage"


def _sizes(container: Body) -> Fields:
    amounts, limit = _amounts(container), at(container, "resources", "limits", _DISK)
    fields = {name: _amount(amounts[name]) for name in ("cpu", "memory") if name in amounts}
    return fields | ({"disk": str(limit)} if limit is not None and amounts[_DISK] == limit else {})


def _device(container: Body) -> tuple[str, str] | None:
    """The extended resource of the devices, and their number."""
    amounts = _amounts(container)
    names = [name for name in amounts if "/" in name and not name.startswith(_NOT_DEVICES)]
    names = [name for name in names if not _OF_NETWORK.fullmatch(name)]
    return (names[0], str(amounts[names[0]])) if names and str(amounts[names[0]]) != "0" else None


def _accelerator(draft: JobDraft, resource: str, count: str, one: Template, facts: Resource) -> tuple[Fields, Effect]:
    """The accelerator of devices, which the overlay declares, and what it changes in pods."""
    if resource == GPU:
        return {}, Effect()
    labels = {str(key): value for key, value in as_mapping(one.spec.get("nodeSelector")).items()}
    for short, profile in ACCELERATORS.items() if count.isdecimal() else ():
        fields = profile.of_pods(resource, labels, int(count))
        with suppress(ValidationError):
            known = profile.model_validate(fields) if fields is not None else None
            request = Request(int(count), one.replicas, numbers_hosts=facts.numbers_hosts, hosts=one.hosts)
            if known is not None and resource in known.units() and known.problem(request) is None:
                name = label("-".join(map(str, (fields or {}).values())), "device")
                draft.need({short: fields}, "accelerators", name)
                return {"accelerator": name}, known.effect(int(count))
    name = label(resource, "device")
    draft.need({"extended": {"resource": resource}}, "accelerators", name)
    return {"accelerator": name}, Effect()


def _drop_small_memory(draft: JobDraft, item: Item, fields: Fields, route: Route, container: Body) -> None:
    """Leave out a request without a limit that gen would refuse as a limit."""
    amount = quantity.server_amount(str(fields.get("memory", "")))
    if amount is None or amount >= LEAST_WITH_GPUS or at(container, "resources", "limits", "memory") is not None:
        return
    why = "as a limit, too, no program with a GPU could start with it"
    what = f"the request of `{fields.pop('memory')}` of memory"
    draft.drop(item.place(*route), what, why, "set `memory` to what the program needs")


def _amount(value: object) -> str | float:
    text = str(value)
    with suppress(ValueError):
        return (float(text) if _DECIMAL.fullmatch(text) else text) if quantity.amount(text) else "0"
    return text


def _placement(draft: JobDraft, spec: Body, effect: Effect) -> Fields:
    """Where pods run, without what their accelerator implies."""
    placement: Fields = {}
    wanted = spec.get("nodeSelector")
    labels: Fields = dict(wanted) if isinstance(wanted, dict) else {}
    affinity = _affinity(spec)
    labels |= affinity if all(len(values) > 1 for values in affinity.values()) else {}
    for key, values in labels.items():
        if effect.node_labels.get(key) == values:
            continue
        if key in _MACHINE:
            placement[_MACHINE[key]] = values
            continue
        placement.setdefault("nodeSelector", {})[key] = values
        for value in values if isinstance(values, list) else [values]:
            draft.grant("nodeLabels", f"{key}={value}")
    if taints := _tolerations(draft, spec, effect):
        placement["tolerations"] = taints
    return placement


_TERMS: Final = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")


def _affinity(spec: Body) -> dict[str, list[object]]:
    """Labels of a required affinity with one term of `In`; others become a patch."""
    terms = at(spec, *_TERMS)
    if not isinstance(terms, list) or len(terms) != 1 or set(as_mapping(terms[0])) != {"matchExpressions"}:
        return {}
    expressions = terms[0]["matchExpressions"]
    known = {"key", "operator", "values"}
    if not isinstance(expressions, list) or any(at(one, "operator") != "In" or set(one) - known for one in expressions):
        return {}
    values = {str(one.get("key")): as_list(one.get("values")) for one in expressions}
    return values if len(values) == len(expressions) and all(values.values()) else {}


_ACCOUNTS: Final = ("serviceAccount", "serviceAccountName")
"""The older and the current name of the field."""


def modern_pod(spec: Body) -> Body:
    """A pod with current names of its fields, and without defaults that have other values in a job."""
    older, current = (spec.get(name) for name in _ACCOUNTS)
    account = {_ACCOUNTS[1]: account} if (account := current or older) not in (None, "default") else {}
    changed: Body = {**{name: value for name, value in spec.items() if name not in _ACCOUNTS}, **account}
    for number, volume in enumerate(as_list(spec.get("volumes"))):
        if at(volume, "hostPath", "type") == "":
            changed = replaced(changed, ("volumes", number, "hostPath"), {"path": at(volume, "hostPath", "path")})
    for field, number in ((name, index) for name in _CONTAINERS for index, _ in enumerate(as_list(spec.get(name)))):
        route = (field, number, "resources")
        if isinstance(resources := follow(changed, route), dict):
            parts = {name: _without_zeros(amounts) for name, amounts in resources.items()}
            changed = replaced(changed, route, {name: amounts for name, amounts in parts.items() if amounts})
    return with_selector(changed)


_CONTAINERS: Final = ("containers", "initContainers")


def _without_zeros(amounts: object) -> object:
    """Amounts without devices that a container does not ask for."""
    if not isinstance(amounts, dict):
        return amounts
    return {name: amount for name, amount in amounts.items() if "/" not in str(name) or str(amount) != "0"}


def with_selector(spec: Body) -> Body:
    """A pod with the labels of its affinity that have one value in its node selector, which means the same."""
    labels = _affinity(spec)
    selector = as_mapping(spec.get("nodeSelector"))
    single = {key: values[0] for key, values in labels.items() if len(values) == 1 and key not in selector}
    if not single or len(as_mapping(at(spec, *_TERMS[:2]))) != 1:
        return spec
    rest = [{"key": key, "operator": "In", "values": values} for key, values in labels.items() if key not in single]
    affinity = {name: value for name, value in spec["affinity"].items() if name != _TERMS[1]}
    if rest:
        affinity[_TERMS[1]] = {_TERMS[2]: {_TERMS[3]: [{"matchExpressions": rest}]}}
    kept = {name: value for name, value in spec.items() if name != "affinity"}
    return {**kept, "nodeSelector": {**selector, **single}, **present(affinity=affinity)}


def _tolerations(draft: JobDraft, spec: Body, effect: Effect) -> list[Fields]:
    made = []
    for one in as_list(spec.get("tolerations")):
        if not isinstance(one, dict) or not one.get("key") or one.get("key") == GPU or one in effect.tolerations:
            continue  # gen tolerates the taint of GPUs; a job cannot tolerate every taint
        key, value = str(one["key"]), str(one.get("value") or "")
        made.append({name: inner for name, inner in one.items() if inner not in (None, "")})
        draft.grant("taints", f"{key}={value}" if value else key)
    return made
