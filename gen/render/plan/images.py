"""Taking images from a mirror."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.model.names import is_image
from gen.model.scalars import shown

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.render.plan.context import Context

_DOCKER_HUB = "docker.io/"


def rewritten(context: Context, image: str) -> str:
    """The image by the rule with the longest match, or as it was written."""
    rules = context.overlay.fields.images
    for spelling in (_full(image), image) if image else ():
        matching = [(len(rule.from_), -index) for index, rule in enumerate(rules) if spelling.startswith(rule.from_)]
        if matching:
            index = -max(matching)[1]
            return _checked(context, index, image, rules[index].to + spelling.removeprefix(rules[index].from_))
    return image


def granted(context: Context, image: str, route: Route) -> str:
    """The image as it will be pulled; a finding at `route` when its registry is not for the namespace."""
    pulled = rewritten(context, image)
    starts = context.grant.registries
    if pulled and starts is not None and not any(_is_below(_full(pulled), start) for start in starts):
        namespace, allowed = context.given.namespace, ", ".join(f"`{start}`" for start in starts) or "none"
        message = f"`{namespace}` may not use images from {shown(pulled)} in `{context.overlay.name}`"
        hint = f"use one from {allowed}, or ask for it in `namespaces.{namespace}.registries` of the overlay"
        context.error("not-granted", route, message, hint)
    return pulled


def _is_below(image: str, start: str) -> bool:
    """By whole steps: `registry.example.com` is not where `registry.example.com.evil.org/x` comes from."""
    start = start.rstrip("/")
    return image == start or image.startswith((f"{start}/", f"{start}:", f"{start}@"))


def _checked(context: Context, index: int, image: str, result: str) -> str:
    """What the overlay's rule makes of an image must be one."""
    if not is_image(result):
        message = f"this rule makes {shown(result)} of {shown(image)}, which is no image reference"
        hint = "`from` and `to` end alike, both with `/` or both without"
        context.found.error("invalid-image", context.overlay.place("images", index, "to"), message, hint)
    return result


def _full(image: str) -> str:
    """The name that Docker makes of a short one: `python:3` is `docker.io/library/python:3`."""
    first, slash, _ = image.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return image
    return _DOCKER_HUB + (image if slash else f"library/{image}")
