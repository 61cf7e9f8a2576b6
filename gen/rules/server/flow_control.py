"""Priority and fairness of requests: flow schemas and priority levels.

From `pkg/apis/flowcontrol/validation/validation.go`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from gen.rules.fault import Fault, not_one_of
from gen.rules.field_checks import FieldChecks
from gen.rules.name_checks import dns_label, dns_name
from gen.rules.rule import server
from gen.rules.value_checks import at_least, between, both, if_set, not_empty, one_of

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_GROUP = "flowcontrol.apiserver.k8s.io"
_ALL = "*"
_MAX_QUEUES = 10_000_000
_MAX_ENTROPY = 60
"""Bits of the shuffle sharding of queues."""
_SUBJECTS: Final = {"User": "user", "Group": "group", "ServiceAccount": "serviceAccount"}
_VERBS: Final = (*("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "proxy", _ALL),)
_HTTP_VERBS: Final = ("get", "head", "post", "put", "patch", "delete", "options", _ALL)


def _account(value: Any) -> Fault | None:
    return None if value == _ALL else dns_name(value)


def _url(value: Any) -> Fault | None:
    inner = value.removesuffix(_ALL)
    wild_at_end = value in {inner, _ALL} or inner.endswith("/")
    if value == _ALL or (
        value.startswith("/") and "//" not in value and " " not in value and _ALL not in inner and wild_at_end
    ):
        return None
    return Fault((), f"`{value}` is not a valid path", "begin it with `/`; `*` may only follow the last `/`")


_SCHEMA = FieldChecks(
    {
        "matchingPrecedence": if_set(between(1, 10000)),
        "priorityLevelConfiguration.name": both(not_empty, dns_name),
        "distinguisherMethod.type": one_of("ByNamespace", "ByUser"),
        "rules.*.subjects.*.user.name": not_empty,
        "rules.*.subjects.*.group.name": not_empty,
        "rules.*.subjects.*.serviceAccount.name": both(not_empty, _account),
        "rules.*.subjects.*.serviceAccount.namespace": both(not_empty, dns_label),
        "rules.*.nonResourceRules.*.nonResourceURLs.*": _url,
    }
)
_LEVEL = FieldChecks(
    {
        **{f"{kind}.lendablePercent": between(0, 100) for kind in ("limited", "exempt")},
        **{f"{kind}.nominalConcurrencyShares": at_least(0) for kind in ("limited", "exempt")},
        "limited.borrowingLimitPercent": at_least(0),
        "limited.limitResponse.type": one_of("Queue", "Reject"),
        "limited.limitResponse.queuing.queues": between(0, _MAX_QUEUES),
        "limited.limitResponse.queuing.handSize": at_least(0),
        "limited.limitResponse.queuing.queueLengthLimit": at_least(0),
    }
)


@server("flow-schemas", f"{_GROUP}/FlowSchema", remedy="Add subjects, and resources or URLs, to each rule.")
def flow_schemas(view: ObjectView) -> Faults:
    """A flow schema has a rule without subjects, resources or URLs, or an invalid precedence."""
    spec, at = view.spec, ("spec",)
    yield from _SCHEMA.faults(spec, at)
    if spec.get("matchingPrecedence") == 1 and view.metadata.get("name") != "exempt":
        yield Fault((*at, "matchingPrecedence"), "1 is reserved for the flow schema `exempt`", "use 2 or more")
    for index, rule in enumerate(spec.get("rules") or ()):
        yield from _rule(rule, (*at, "rules", index))


def _rule(rule: Body, at: Route) -> Faults:
    if not rule.get("subjects"):
        yield Fault((*at, "subjects"), "at least one subject is required", "add a `User`, `Group` or `ServiceAccount`")
    if not rule.get("resourceRules") and not rule.get("nonResourceRules"):
        hint = "add the requests that the rule matches"
        yield Fault(at, "`resourceRules` or `nonResourceRules` is required", hint)
    for index, subject in enumerate(rule.get("subjects") or ()):
        yield from _subject(subject, (*at, "subjects", index))
    for index, found in enumerate(rule.get("resourceRules") or ()):
        here = (*at, "resourceRules", index)
        yield from _lists(found, here, "verbs", "apiGroups", "resources")
        yield from _verbs(found, here, _VERBS)
        yield from _namespaces(found, here)
    for index, found in enumerate(rule.get("nonResourceRules") or ()):
        here = (*at, "nonResourceRules", index)
        yield from _lists(found, here, "verbs", "nonResourceURLs")
        yield from _verbs(found, here, _HTTP_VERBS)


def _subject(subject: Body, at: Route) -> Faults:
    kind = subject.get("kind", "")
    if kind not in _SUBJECTS:
        yield not_one_of(kind, _SUBJECTS).at((*at, "kind"))
        return
    for other, field in _SUBJECTS.items():
        if other == kind and field not in subject:
            yield Fault((*at, field), f"a `{kind}` requires `{field}`", f"add `{field}`")
        elif other != kind and field in subject:
            yield Fault((*at, field), f"not allowed for a `{kind}`", "remove it, or change `kind`")


def _lists(found: Body, at: Route, *fields: str) -> Faults:
    for field in fields:
        values = found.get(field) or []
        if not values:
            yield Fault((*at, field), f"at least one of `{field}` is required", f"add one to `{field}`, or `*` for all")
        if _ALL in values and len(values) > 1:
            yield Fault((*at, field), "`*` already includes all others", "keep only `*`, or remove it")


def _verbs(found: Body, at: Route, known: tuple[str, ...]) -> Faults:
    for index, verb in enumerate(found.get("verbs") or ()):
        if verb not in known:
            yield not_one_of(verb, known).at((*at, "verbs", index))


def _namespaces(found: Body, at: Route) -> Faults:
    names = found.get("namespaces") or []
    if not names and not found.get("clusterScope"):
        hint = "add namespaces, `*` for all, or `clusterScope: true`"
        yield Fault((*at, "namespaces"), "a namespace is required", hint)
    if _ALL in names and len(names) > 1:
        yield Fault((*at, "namespaces"), "`*` already includes all others", "keep only `*`, or remove it")
    for index, name in enumerate(names):
        if name != _ALL and (fault := dns_label(name)) is not None:
            yield fault.at((*at, "namespaces", index))


@server(
    "priority-levels",
    f"{_GROUP}/PriorityLevelConfiguration",
    remedy="Set `limited` for the type `Limited`, and `queuing` for the response `Queue`.",
)
def priority_levels(view: ObjectView) -> Faults:
    """A priority level has settings of another type, or more queues than its hand size allows."""
    spec, at = view.spec, ("spec",)
    if "spec" not in view.body:
        return
    yield from _LEVEL.faults(spec, at)
    kind, name = spec.get("type", ""), view.metadata.get("name")
    if kind not in {"Exempt", "Limited"}:
        yield not_one_of(kind, ("Exempt", "Limited")).at((*at, "type"))
        return
    if (kind == "Exempt") != (name == "exempt"):
        yield Fault((*at, "type"), f"not allowed for the priority level `{name}`", "use the type `Limited`")
    if kind == "Limited" and "limited" not in spec:
        yield Fault((*at, "limited"), "`limited` is missing", "add `limited` with `limitResponse`")
    for field, other in (("limited", "Exempt"), ("exempt", "Limited")):
        if field in spec and kind == other:
            yield Fault((*at, field), f"not allowed for the type `{kind}`", "remove it")
    response = (spec.get("limited") or {}).get("limitResponse")
    if "limited" in spec:
        yield from _response(response or {}, (*at, "limited", "limitResponse"))


def _response(response: Body, at: Route) -> Faults:
    kind, queuing = response.get("type", ""), response.get("queuing")
    if not kind:
        yield Fault((*at, "type"), "`type` is missing", "add `type: Reject`, or `Queue` with `queuing`")
    elif (kind == "Queue") != (queuing is not None):
        hint = "add `queuing`" if kind == "Queue" else "remove it"
        yield Fault((*at, "queuing"), "`queuing` is for the type `Queue`, which requires it", hint)
    if queuing is not None:
        queues, hand = queuing.get("queues") or 64, queuing.get("handSize") or 8
        if 0 < queues < hand:
            yield Fault((*at, "queuing", "handSize"), f"{hand} is more than the {queues} queues", "lower it")
        elif 0 < hand <= queues <= _MAX_QUEUES and _entropy(queues, hand) > _MAX_ENTROPY:
            yield Fault((*at, "queuing", "handSize"), "too large for the number of queues", "lower it")


def _entropy(queues: int, hand: int) -> int:
    """Bits that choosing a hand of queues needs."""
    return math.ceil(sum(math.log2(queues - index) for index in range(min(hand, 100))))
