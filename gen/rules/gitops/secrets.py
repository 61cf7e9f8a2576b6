"""Secret values in manifests. A finding shows the place and never the value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.rules.fault import Fault
from gen.rules.rule import gitops
from gen.secrets import known_secrets
from gen.secrets.names import is_harmless, names_secret

if TYPE_CHECKING:
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_KNOWN = (
    "Everyone with access to the repository, now or in the past, can read it. Rendered files are also in the caches of "
    "the engine."
)


@gitops(
    "secret-object",
    ("", "Secret"),
    reason=_KNOWN,
    remedy="Create the Secret in the cluster (External Secrets, Sealed Secrets, SOPS with Flux), and refer to "
    "its name.",
)
def secret_object(view: ObjectView) -> Faults:
    """A Secret contains its values."""
    for field in ("data", "stringData"):
        if view.body.get(field):
            yield Fault((field,), "secret values must not be in Git")


@gitops(
    "secret-value",
    reason=_KNOWN,
    remedy="Refer to a Secret (`valueFrom.secretKeyRef`, in a job `{secret: <name>, key: <entry>}`). Revoke the "
    "value if it was ever pushed.",
)
def secret_value(view: ObjectView) -> Faults:
    """A text looks like a known token or key, or a variable with the name of a secret has a literal value."""
    for route, container in view.containers:
        for index, entry in enumerate(container.get("env") or ()):
            name = str(entry.get("name", ""))
            if not names_secret(name):
                continue
            value = entry.get("value")
            if isinstance(value, str) and value and not is_harmless(name, value):
                yield Fault(
                    (*route, "env", index, "value"), f"`{name[:80]}` is the name of a secret, but its value is literal"
                )
    try:
        yield from (Fault(route, f"looks like {what}") for route, what, _ in known_secrets(view.body, view.json))
    except TypeError:  # a number that JSON does not support
        return
