"""Names that a namespace needs a grant for: queue, priority, service account, images with their mirrors, and runtimes
of the Kubeflow Trainer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from gen.base import Route, did_you_mean
from gen.base.codes.grants import NOT_GRANTED, UNKNOWN_PRIORITY, UNKNOWN_QUEUE, UNKNOWN_RUNTIME, UNKNOWN_SERVICE_ACCOUNT
from gen.base.codes.jobs import INVALID_IMAGE
from gen.base.repository.layout import RUNTIMES, overlays_path
from gen.job.fields import JobFields
from gen.job.kinds.base import Job
from gen.job.model import alias_of
from gen.job.names import is_image
from gen.job.scalars import shown
from gen.kubernetes.facts.demand import Demand, demand
from gen.kubernetes.facts.runtimes import NO_RUNTIMES, SHIPPED, Runtime
from gen.kubernetes.facts.trainer import RUNTIME_KINDS
from gen.overlay.grant import Grant
from gen.overlay.overlay import Overlay
from gen.overlay.secrets import ENV, PULL
from gen.render.parts.context import Context
from gen.render.parts.pins import Part, digest_of

_GRANTED = (
    ("queue", "queues", UNKNOWN_QUEUE),
    ("priority", "priorities", UNKNOWN_PRIORITY),
    ("service_account", "service_accounts", UNKNOWN_SERVICE_ACCOUNT),
)
"""Attribute of the job, attribute of grants with the names that it can have, finding code."""


def check_grants(context: Context) -> None:
    """Check the names that the overlay must grant."""
    namespace, overlay = context.given.namespace, context.overlay.name
    for attribute, list_attribute, code in _GRANTED:
        wanted, granted = getattr(context.job, attribute), getattr(context.grant, list_attribute)
        if wanted is not None and wanted not in granted:
            field = alias_of(JobFields, attribute)
            remedy = f"add it to `namespaces.{namespace}.{alias_of(Grant, list_attribute)}` of the overlay"
            declared = wanted in getattr(context.overlay.fields, list_attribute, ())
            hint = remedy if declared else did_you_mean(wanted, granted, otherwise=remedy)
            message = f"namespace `{namespace}` has no {field} `{wanted}` in overlay `{overlay}`"
            context.error(code, (field,), message, hint)
    for index, secret in enumerate(context.job.image_pull_secrets):
        check_secret(context, secret, (PULL, index), PULL)
    for route, secret in context.job.secrets():
        check_secret(context, secret, route, ENV)


def check_listed(
    context: Context, route: Route, noun: str, name: str, granted: Collection[str] | None, *, key: bool = False
) -> bool:
    """Whether the namespace may use a network, a volume or the like. Reports one that it may not; None grants all."""
    if granted is None or name in granted:
        return True
    namespace, overlay = context.given.namespace, context.overlay.name
    message = f"namespace `{namespace}` may not use {noun} `{name}` in overlay `{overlay}`"
    remedy = f"add it to `namespaces.{namespace}.{noun.rsplit(maxsplit=1)[-1]}s` of the overlay"
    context.error(NOT_GRANTED, route, message, did_you_mean(name, granted, besides=remedy), key=key)
    return False


def check_allowed(context: Context, route: Route, permission: str, *, key: bool = False) -> bool:
    """Whether the namespace has a permission that a profile needs, which may be empty. Reports one that it lacks."""
    if not permission or permission in context.grant.allow:
        return True
    namespace, overlay = context.given.namespace, context.overlay.name
    message = f"namespace `{namespace}` may not use `{permission}` in overlay `{overlay}`"
    hint = f"add `{permission}` to `namespaces.{namespace}.allow` of the overlay"
    context.error(NOT_GRANTED, route, message, hint, key=key)
    return False


def check_secret(context: Context, name: str, route: Route, use: str) -> None:
    """Report a Secret that the overlay declares for something that the namespace may not use.

    `use` is the field of a job that names it. Other Secrets of the namespace are free.
    """
    declared = context.overlay.secrets.get(name, ())
    if not declared or not context.set_by_job(route) or any(one.permits(context.grant, use) for one in declared):
        return
    namespace, overlay = context.given.namespace, context.overlay.name
    listed = " and ".join(one.what for one in declared)
    message = f"namespace `{namespace}` may not use Secret `{name}` here: overlay `{overlay}` declares it for {listed}"
    grants = [
        f"add `{one.name}` to `namespaces.{namespace}.{one.grants}` of the overlay" for one in declared if one.grants
    ]
    context.error(NOT_GRANTED, route, message, ", or ".join(["use another Secret", *grants[:1]]))


_DOCKER_HUB = "docker.io/"


def of_platform(context: Context, image: str, *route: str) -> str:
    """The image to pull of a container that gen adds for a field of the job, with its pin."""
    pulled = _checked(context, image)
    return pulled + digest_of(context, image, pulled, route, "platform")


def rewritten(overlay: Overlay, image: str) -> str:
    """The image after the rules of the overlay."""
    return _rewritten(overlay, image)[0]


def _rewritten(overlay: Overlay, image: str) -> tuple[str, int | None]:
    """The image, and the index of the rule with the longest match."""
    rules = overlay.fields.images
    for spelling in (_full(image), image) if image and rules else ():
        matching = [(len(rule.from_), -index) for index, rule in enumerate(rules) if spelling.startswith(rule.from_)]
        if matching:
            index = -max(matching)[1]
            return rules[index].to + spelling.removeprefix(rules[index].from_), index
    return image, None


def granted_image(context: Context, image: str, route: Route, part: Part = "run") -> str:
    """The image to pull, with its pin. Report it at `route` if its registry is not granted to the namespace."""
    pulled = _checked(context, image)
    pulled += digest_of(context, image, pulled, route, part)
    starts = context.grant.registries or ()
    if pulled and not is_granted_image(pulled, context.grant):
        namespace, known = context.given.namespace, ", ".join(f"`{start}`" for start in starts) or "none"
        message = f"namespace `{namespace}` may not use image {shown(pulled)} in overlay `{context.overlay.name}`"
        hint = f"use an image from {known}, or add the registry to `namespaces.{namespace}.registries` of the overlay"
        if "@" in pulled and is_granted_image(pulled.partition("@")[0], context.grant):
            hint = f"a tag in `registries` does not include digests: add `{pulled}`, or the repository without a tag"
        context.error(NOT_GRANTED, route, message, hint)
    return pulled


def is_granted_image(image: str, grant: Grant) -> bool:
    """Whether a namespace may use an image."""
    return grant.registries is None or any(_is_below(_full(image), start) for start in grant.registries)


def _is_below(image: str, start: str) -> bool:
    """Compares whole path segments: `registry.example.com` does not match `registry.example.com.evil.org/x`.

    A tag does not grant its digests: the author of a job would choose another image, because the digest decides.
    """
    start = start.rstrip("/")
    has_tag = ":" in start.rpartition("/")[2]
    return image == start or (image.startswith((f"{start}/", f"{start}:", f"{start}@")) and not has_tag)


def _checked(context: Context, image: str) -> str:
    """The rewritten image. Report a rule that gives an invalid one."""
    result, index = _rewritten(context.overlay, image)
    if index is not None and not is_image(result):
        message = f"this rule rewrites {shown(image)} to {shown(result)}, which is not a valid image reference"
        hint = "end both `from` and `to` with `/`, or neither"
        context.found.error(INVALID_IMAGE, context.overlay.place("images", index, "to"), message, hint)
    return result


def _full(image: str) -> str:
    """The full name of a short image name: `python:3` is `docker.io/library/python:3`."""
    first, slash, _ = image.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost" or first != first.lower()):
        return image
    return _DOCKER_HUB + (image if slash else f"library/{image}")


def plan_runtime(context: Context) -> Runtime | None:
    """The runtime of a job; None without one, or if the overlay does not declare it, which is reported."""
    key, overlay = context.job.runtime_key, context.overlay
    if key is None:
        return None
    kind, name = key
    known = overlay.runtimes.known
    if key not in known:
        fields = "{}" if name in SHIPPED else "{policy: torch}"
        fields = fields if kind == RUNTIME_KINDS[0] else f"{{kind: {kind}, policy: torch}}"
        folder = overlays_path(overlay.name, RUNTIMES)
        remedy = f"add `runtimes: {{{name}: {fields}}}` to the overlay, or copy its definition into `{folder}`"
        hint = did_you_mean(name, [other for of, other in known if of == kind], besides=remedy)
        context.error(UNKNOWN_RUNTIME, ("runtime",), f"overlay `{overlay.name}` has no {kind} `{name}`", hint)
        return None
    check_listed(context, ("runtime",), "runtime", name, context.grant.runtimes)
    return known[key]


def runtime_demand(job: Job, overlay: Overlay | None, resources: Mapping[str, str], accelerator: str) -> Demand:
    """Pods and devices of a job with a runtime. Its nodes get the resources."""
    runtimes = overlay.runtimes if overlay is not None else NO_RUNTIMES
    kind, name = job.runtime_key or ("", "")
    reference = {"runtimeRef": {"kind": kind, "name": name}}
    outline = job.outline(runtimes.of({"spec": reference}), resources, accelerator)
    units = overlay.device_units if overlay is not None else {}
    return demand({"spec": {**reference, **outline["spec"]}}, job.facts, units, runtimes)


def check_devices(context: Context, asked: Demand | None, named: str) -> None:
    """Report accelerators that a runtime requests by itself and the namespace may not use."""
    for name in asked.accelerators if asked is not None else {}:
        if name != named and asked is not None and asked.accelerators[name]:
            check_listed(context, ("runtime",), "accelerator", name, context.grant.accelerators)
