"""Taking images from a mirror."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.model.names import is_image
from gen.model.scalars import shown

if TYPE_CHECKING:
    from gen.plan.context import Context

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
