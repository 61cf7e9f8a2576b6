"""Image mirrors and allowed registries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.findings.grants import NOT_GRANTED
from gen.findings.jobs import INVALID_IMAGE
from gen.model.names import is_image
from gen.model.scalars import shown
from gen.render.plan.pins import digest_of

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.overlay.grant import Grant
    from gen.render.plan.context import Context
    from gen.render.plan.pins import Part

_DOCKER_HUB = "docker.io/"


def of_platform(context: Context, image: str, *route: str) -> str:
    """The image to pull of a container that gen adds for a field of the job, with its pin."""
    pulled = _rewritten(context, image)
    return pulled + digest_of(context, image, pulled, route, "platform")


def _rewritten(context: Context, image: str) -> str:
    """The image rewritten by the rule with the longest match, or unchanged."""
    rules = context.overlay.fields.images
    if not rules:
        return image
    for spelling in (_full(image), image) if image else ():
        matching = [(len(rule.from_), -index) for index, rule in enumerate(rules) if spelling.startswith(rule.from_)]
        if matching:
            index = -max(matching)[1]
            return _checked(context, index, image, rules[index].to + spelling.removeprefix(rules[index].from_))
    return image


def granted(context: Context, image: str, route: Route, part: Part = "run") -> str:
    """The image to pull, with its pin. Report it at `route` if its registry is not granted to the namespace."""
    pulled = _rewritten(context, image)
    pulled += digest_of(context, image, pulled, route, part)
    starts = context.grant.registries or ()
    if pulled and not allowed(pulled, context.grant):
        namespace, known = context.given.namespace, ", ".join(f"`{start}`" for start in starts) or "none"
        message = f"namespace `{namespace}` may not use image {shown(pulled)} in overlay `{context.overlay.name}`"
        hint = f"use an image from {known}, or add the registry to `namespaces.{namespace}.registries` of the overlay"
        if "@" in pulled and allowed(pulled.partition("@")[0], context.grant):
            hint = f"a tag in `registries` does not include digests: add `{pulled}`, or the repository without a tag"
        context.error(NOT_GRANTED, route, message, hint)
    return pulled


def allowed(image: str, grant: Grant) -> bool:
    """Whether a namespace may use an image."""
    return grant.registries is None or any(_is_below(_full(image), start) for start in grant.registries)


def _is_below(image: str, start: str) -> bool:
    """Compares whole path segments: `registry.example.com` does not match `registry.example.com.evil.org/x`.

    A tag does not grant its digests: the author of a job would choose another image, because the digest decides.
    """
    start = start.rstrip("/")
    has_tag = ":" in start.rpartition("/")[2]
    return image == start or (image.startswith((f"{start}/", f"{start}:", f"{start}@")) and not has_tag)


def _checked(context: Context, index: int, image: str, result: str) -> str:
    """Report a rule whose result is not a valid image."""
    if not is_image(result):
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
