"""The check stage: closed schemas, rules that schemas cannot express, and the admission policies of the overlay.

A fault that only the patched object has is reported at the patch. Any other fault is a bug of gen, because the models
accepted the input. Rules are evaluated for patched objects only: gen's own tests prove that the objects it builds
conform to them. Only best practices depend on the job, so they are checked in every run. Findings about them and about
policies are placed at the patch that set the value that decided, or at the field of the job.

The hash of the run covers the final content and is not known yet; `DUMMY` takes its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import (
    BugError,
    DefinitionError,
    Diagnostic,
    Findings,
    Location,
    Route,
    Severity,
    contained,
    dotted,
    message_text,
)
from gen.base.placeholders import with_hash
from gen.base.repository.layout import overlay_file
from gen.job.kinds.role import Role
from gen.kubernetes.check.silence import CheckResult, silenced
from gen.kubernetes.facts import RUNS
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import ObjectView, Problem, Rule
from gen.kubernetes.rules.gitops.runs import BEST_PRACTICES
from gen.kubernetes.schemas.lookup import Kinds
from gen.overlay.overlay import Overlay, report_invalid_definition
from gen.render.job_run import JobInput
from gen.render.patch import apply_patches
from gen.render.patch.provenance import Provenance, named_route
from gen.render.results import BuiltObjects, Manifest, PatchedObjects, ValidObjects
from gen.render.seal import DUMMY, fill_hash

_BY_NAME = {rule.name: rule for rule in BEST_PRACTICES}


def check_manifests(
    patched: PatchedObjects,
    kinds: Kinds,
    found: Findings,
    deciding_field: Callable[[Problem], DecidingField | None] = lambda _: None,
    *,
    proven: bool = True,
) -> ValidObjects | None:
    """The objects when they fit; None when an error was found. BugError when no user could have caused it.

    `deciding_field` finds the field of the job that decides about a problem. Unless the objects are `proven` to conform
    to their rules, they are checked without patches, too.
    """
    own = Findings()
    kinds.prepare((one.body["apiVersion"], one.body["kind"]) for one in patched.manifests)
    for built, manifest, provenance in zip(patched.built, patched.manifests, patched.provenance, strict=True):
        named = manifest.with_body(fill_hash(manifest.body, DUMMY)) if provenance else manifest
        checked = _checked(named.body, kinds, sound=proven and not provenance)
        if checked is None:
            continue
        if provenance:
            original = fill_hash(built.body, DUMMY)
            before = _checked(original, kinds, sound=proven)
            _blame(checked, named, original, before, provenance, own, deciding_field)
        else:
            named = manifest.with_body({**manifest.body, "metadata": _named(manifest.body["metadata"])})
            known = set()
            for problem in checked.problems:
                decided, place = _decided(problem, deciding_field(problem))
                same = place, decided.rule, decided.message, decided.hint
                if place is None or same not in known:  # one field of the job decides about several roles
                    _report(decided, place, named, own)
                known.add(same)
    found.extend(own.items)
    return None if own.failed() else ValidObjects(patched.manifests)


def _named(metadata: Body) -> Body:
    """The metadata with the only value with a hash that a message shows."""
    return {**metadata, "name": with_hash(metadata["name"])}


def _checked(body: Body, kinds: Kinds, *, sound: bool) -> CheckResult | None:
    """Problems of an object; None without any. A `sound` object that fits its schema can only break best practices."""
    # neither our schemas nor best practices depend on the hash
    if sound and not kinds.has_definitions and _fits(body, kinds):
        return check_best_practices(body)
    body = fill_hash(body, DUMMY)
    return check_best_practices(body) if sound and _fits(body, kinds) else _all(body, kinds)


def _fits(body: Body, kinds: Kinds) -> bool:
    """Whether an object conforms to its schema."""
    kind = kinds.get(body["apiVersion"], body["kind"])
    if kind is None:
        raise BugError(f"no schema found for {body['apiVersion']} {body['kind']}")
    return kind.validator.is_valid(body)


def _all(body: Body, kinds: Kinds) -> CheckResult | None:
    """Problems of all rules; None without any."""
    from gen.kubernetes.check.objects import check

    checked = check(body, kinds)
    return checked if checked.problems or checked.silenced else None


def check_best_practices(body: Body) -> CheckResult | None:
    """Problems of an object that gen built; None without problems, and for objects that are not runs."""
    pair = body["apiVersion"].rpartition("/")[0], body["kind"]
    if pair not in RUNS:
        return None
    view = ObjectView.built(body)
    problems = [
        Problem(rule.name, fault.route, fault.message, fault.hint)
        for rule in BEST_PRACTICES
        if rule.find is not None and rule.is_for(*pair)
        for fault in rule.find(view)
    ]
    return silenced(problems, body) if problems else None


def _blame(
    checked: CheckResult,
    manifest: Manifest,
    original: Body,
    before: CheckResult | None,
    provenance: Provenance,
    found: Findings,
    deciding_field: Callable[[Problem], DecidingField | None],
) -> None:
    """Report faults that patches introduced at the patch. `before` has those of the object before the patches."""
    ours = {(named_route(original, one.route), one.message) for one in (before.problems if before is not None else ())}
    for problem in checked.problems:
        known = (named_route(manifest.body, problem.route), problem.message) in ours
        if known:
            _report(*_decided(problem, deciding_field(problem)), manifest, found)
        else:
            _report(problem, provenance.blame(manifest.body, problem.route, key=problem.is_about_key), manifest, found)
    for problem, reason in checked.silenced:
        _report(problem, provenance.blame(manifest.body, problem.route), manifest, found, reason)


def _decided(problem: Problem, decided: DecidingField | None) -> tuple[Problem, Location | None]:
    """The problem with the remedy in the job, and its place there."""
    if decided is None:
        return problem, None
    return replace(problem, hint=decided.hint or problem.hint), decided.place


def _report(
    problem: Problem, place: Location | None, manifest: Manifest, found: Findings, silenced: str | None = None
) -> None:
    rule = rule_named(problem.rule)
    where = f"{manifest.identity}, {dotted(problem.route) or 'the object'}: {problem.message}"
    severity = Severity.NOTE if silenced is not None else rule.severity_of(manifest.body)
    if place is None:
        if severity is Severity.ERROR:
            raise BugError(f"{where} (from {manifest.source})")
        place = manifest.source
    message = where if silenced is None else f"silenced ({silenced}): {where}"
    found.items.append(
        Diagnostic(place, problem.rule, message_text(message), message_text(problem.hint or rule.hint), (), severity)
    )


def rule_named(name: str) -> Rule:
    """The rule with this name. The other rules are imported only when needed."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    from gen.kubernetes.rules.catalogue import RULES

    return RULES[name]


def with_valid_policies(overlays: list[Overlay], found: Findings) -> list[Overlay]:
    """Check the files of policies of some overlays. Overlays with an error there have no policies."""
    return [overlay if _are_valid(overlay, found) else replace(overlay, policy_folders=()) for overlay in overlays]


def _are_valid(overlay: Overlay, found: Findings) -> bool:
    if overlay.policies is None:
        return True
    from gen.kubernetes.check.policies import check_policy_files

    own = Findings()
    with contained(own, Location(overlay_file(overlay.name)), "check the policies of the overlay"):
        check_policy_files(overlay.policies, overlay.kinds, own)
    found.extend(own.items)
    return not own.failed()


def apply_policies(
    patched: PatchedObjects, overlay: Overlay, found: Findings, deciding: Callable[[Route], Location | None]
) -> None:
    """Report the verdicts of the policies of an overlay; `deciding` finds the field of the job."""
    if overlay.policies is None or not overlay.policies.bound:
        return
    from gen.kubernetes.check.policies import policy_findings

    for manifest, provenance in zip(patched.manifests, patched.provenance, strict=True):
        body = fill_hash(manifest.body, DUMMY)
        place = _placed(manifest.with_body(body), provenance, deciding)
        found.extend(policy_findings(overlay.policies, body, place))


def _placed(
    manifest: Manifest, provenance: Provenance, deciding: Callable[[Route], Location | None]
) -> Callable[[Route], Location]:
    def place(route: Route) -> Location:
        return provenance.setting(manifest.body, route) or deciding(route) or manifest.source

    return place


def checked_objects(
    built: BuiltObjects,
    overlay: Overlay,
    found: Findings,
    deciding: Callable[[Problem], DecidingField | None],
    *,
    proven: bool = True,
) -> tuple[PatchedObjects, ValidObjects] | None:
    """The objects after the patches, and after the checks; None if there is an error."""
    try:
        patched = apply_patches(built, overlay, found)
        valid = None if found.failed() else check_manifests(patched, overlay.kinds, found, deciding, proven=proven)
    except DefinitionError as error:
        report_invalid_definition(error, overlay, found)
        return None
    return (patched, valid) if valid is not None else None


_FIELDS: Final = {
    "no-deadline": "timeout",
    "keeps-pods": "cleanup",
    "no-limits": "memory",
    "mutable-image": "image",
    "folder-of-root": "workingDir",
}
"""By rule."""


class DecidingField(Struct, frozen=True):
    """The place of the field in the job or in the overlay's defaults."""

    place: Location
    hint: str = ""
    """The remedy, if it is not the one of the rule."""


def deciding_field(given: JobInput, problem: Problem) -> DecidingField | None:
    """None if no field of a job decides."""
    field = _FIELDS.get(problem.rule)
    if field is None:
        origin = given.job.origin(problem.route)
        return DecidingField(given.place(*origin)) if origin is not None else None
    if "initContainers" in problem.route:
        return None
    for role in given.job.replica_roles(given.name):
        if (role.holder or role.replica_type) not in problem.route:
            continue
        hint = _of_role_alone(role) if problem.rule == "no-limits" else ""
        own = role.fields is not None and field in role.fields.model_fields_set
        if hint or own or (role.fields is not None and field not in given.job.model_fields_set):
            return DecidingField(given.place("roles", role.name, field), hint)
    return DecidingField(given.place(field))


_OF_ROUTES: Final = {
    **{name: name for name in ("image", "command", "args", "env", "labels", "annotations", "tolerations")},
    **dict.fromkeys(("replicas", "parallelism", "completions", "numNodes", "minAvailable"), "workers"),
    **dict.fromkeys(("cpu", "memory"), ""),
    **dict.fromkeys(("activeDeadlineSeconds", "cleanPodPolicy", "runPolicy"), "timeout"),
    **dict.fromkeys(("nodeSelector", "affinity", "tolerations"), "placement"),
    **dict.fromkeys(("volumes", "volumeMounts"), "data"),
    **dict.fromkeys(("hostNetwork", "hostPID", "hostIPC"), "network"),
    "preemptionPolicy": "priority",
    "priorityClassName": "priority",
    "serviceAccountName": "serviceAccount",
    "imagePullSecrets": "imagePullSecrets",
    "suspend": "state",
    "backoffLimit": "retries",
    "namespace": "kind",
    "name": "name",
}
"""The fields of jobs that fields of objects come from."""


def field_of_route(given: JobInput, route: Route) -> Location:
    """The place in a job or in the overlay's defaults that probably decides about a route; the kind of the job else."""
    origin = given.job.origin(route)
    if origin is not None:
        return given.place(*origin)
    for step in reversed(route):
        field = _OF_ROUTES.get(str(step)) if isinstance(step, str) else None
        name = field if field is not None else "gpus" if "/gpu" in str(step) else None
        name = str(step) if name == "" else name
        if name is None:
            continue
        for role in given.job.replica_roles(given.name):
            if (role.holder or role.replica_type) in route and _sets(given, role, name):
                return given.place("roles", role.name, name)
        if name in given.data:
            return given.place(name)
    return given.place("kind")


def _sets(given: JobInput, role: Role, name: str) -> bool:
    roles = given.data.get("roles")
    own = roles.get(role.name) if isinstance(roles, dict) else None
    return isinstance(own, dict) and name in own


def _of_role_alone(role: Role) -> str:
    """The remedy for a role that does not get `cpu` and `memory` of the job; empty for other roles."""
    if role.trains:
        return ""
    return f"set `cpu` and `memory` of the role: `roles: {{{role.name}: {{cpu: 1, memory: 2Gi}}}}`"
