"""Taking images from a mirror."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gen.model.overlay import ImageRule

_DOCKER_HUB = "docker.io/"


def rewritten(image: str, rules: Sequence[ImageRule]) -> str:
    """The image by the rule with the longest match, or as it was written."""
    for spelling in (_full(image), image):
        matching = [rule for rule in rules if spelling.startswith(rule.from_)]
        if matching:
            rule = max(matching, key=lambda rule: len(rule.from_))
            return rule.to + spelling.removeprefix(rule.from_)
    return image


def _full(image: str) -> str:
    """The name that Docker makes of a short one: `python:3` is `docker.io/library/python:3`."""
    first, slash, _ = image.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return image
    return _DOCKER_HUB + (image if slash else f"library/{image}")
