"""One question to a registry."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from gen.pins.http import RemoteError
from gen.pins.job_pins import ImageQuestion, ask
from tests.pins.servers import PASSWORD, USER

SECRETS = (PASSWORD, base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode())


def one(image: str, pin: str = "", seconds: float = 5) -> Any:
    """The only reply; an error is raised."""
    (found,) = ask([ImageQuestion(image=image, pin=pin)], seconds).values()
    if isinstance(found, RemoteError):
        raise found
    return found


def code_of(image: str, seconds: float = 5) -> str:
    with pytest.raises(RemoteError) as caught:
        one(image, seconds=seconds)
    text = f"{caught.value.message} {caught.value.hint}"
    assert not any(secret in text for secret in SECRETS)
    return caught.value.code.name
