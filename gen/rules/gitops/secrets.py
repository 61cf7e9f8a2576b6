"""Secret values in manifests, which must never get into Git. A finding shows the place and never the value."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from gen.rules.fault import Fault
from gen.rules.rule import gitops
from gen.secrets import known_secrets
from gen.secrets.names import is_harmless, names_secret

if TYPE_CHECKING:
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_KNOWN = "Who can read the repository, or once could, has it; a rendered file is also in the caches of the engine."


@gitops(
    "secret-object",
    ("", "Secret"),
    reason=_KNOWN,
    remedy="Let the cluster make the Secret (External Secrets, Sealed Secrets, SOPS with Flux), and name it.",
)
def secret_object(view: ObjectView) -> Faults:
    """A Secret with its values is not in Git."""
    for field in ("data", "stringData"):
        if view.body.get(field):
            yield Fault((field,), "these values would be in Git")


@gitops(
    "secret-value",
    reason=_KNOWN,
    remedy="Take it from a Secret (`valueFrom.secretKeyRef`, in a job `{secret: <name>, key: <entry>}`); if it was "
    "ever pushed, revoke it.",
)
def secret_value(view: ObjectView) -> Faults:
    """No text has the form of a known token or key, and no variable that is a secret by its name has its value here."""
    for route, container in view.containers:
        for index, entry in enumerate(container.get("env") or ()):
            name, value = str(entry.get("name", "")), entry.get("value")
            if isinstance(value, str) and value and names_secret(name) and not is_harmless(name, value):
                yield Fault(
                    (*route, "env", index, "value"), f"`{name[:80]}` is a secret by its name, with its value here"
                )
    with suppress(TypeError):  # a number that JSON does not know
        yield from (Fault(route, f"this looks like {what}") for route, what, _ in known_secrets(view.body, view.json))
