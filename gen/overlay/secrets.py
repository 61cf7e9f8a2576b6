"""Secrets that an overlay declares, with their owners: only the grant for an owner includes its Secret."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain

from msgspec import Struct

from gen.base import as_mapping
from gen.base.yaml.strict import Data
from gen.kubernetes.facts.permissions import SECRET, permissions
from gen.overlay.fields import OverlayFields
from gen.overlay.grant import Grant
from gen.overlay.profiles.storage import Volume

ENV, CODE, PULL = "env", "code.credentials", "imagePullSecrets"
"""Fields of a job that name a Secret."""


class Owner(Struct, frozen=True):
    """The object store, volume or field that an overlay declares a Secret for."""

    what: str
    """As messages name it."""
    grants: str = ""
    """The field of `namespaces` that grants it; empty if no job may name the Secret for it."""
    name: str = ""
    uses: tuple[str, ...] = ()
    """Fields of a job that may name the Secret without a grant."""

    def permits(self, grant: Grant, use: str) -> bool:
        """Whether a job of the namespace may name the Secret in a field."""
        return self._granted(grant) if self.grants else use in self.uses

    def includes(self, grant: Grant, *, platform: bool) -> bool:
        """Whether an object in the namespace may have the Secret: one of a job, or one that gen adds."""
        return self._granted(grant) if self.grants else bool(self.uses) or platform

    def _granted(self, grant: Grant) -> bool:
        granted = getattr(grant, self.grants)
        return granted is None or self.name in granted


def owners(fields: OverlayFields, defaults: Mapping[str, Data]) -> Mapping[str, tuple[Owner, ...]]:
    """The owners of each Secret."""
    found: dict[str, list[Owner]] = defaultdict(list)
    levels = [defaults, *map(as_mapping, as_mapping(defaults.get("kinds")).values())]
    for secret, owner in chain(_owners(fields), *map(_of_defaults, levels)):
        if owner not in found[secret]:
            found[secret].append(owner)
    return {secret: tuple(owned) for secret, owned in found.items()}


def _owners(fields: OverlayFields) -> Iterator[tuple[str, Owner]]:
    for name, store in fields.stores.items():
        if store.secret is not None:
            yield store.secret, Owner(f"object store `{name}`", "stores", name)
    for name, volume in fields.volumes.items():
        example = Volume(
            name=name, namespace="x", size="1", access_modes=("ReadWriteMany",), mount_options=(), read_only=False
        )
        bodies = (*volume.profile.objects(example), {"spec": {"volumes": [volume.profile.pod_source(example)]}})
        for one in frozenset().union(*map(permissions, bodies)):
            if one[0] == SECRET:
                yield one[1], Owner(f"volume `{name}`", "volumes", name)
    argo = fields.pipelines.argo if fields.pipelines is not None else None
    if argo is not None and argo.notify is not None:
        yield argo.notify.secret, Owner("`pipelines.argo.notify`")
    ingress = fields.tensorboard.ingress
    if ingress is not None and ingress.tls_secret is not None:
        yield ingress.tls_secret, Owner("`tensorboard.ingress`")


def _of_defaults(defaults: Mapping[str, Data]) -> Iterator[tuple[str, Owner]]:
    pulled, code, variables = defaults.get(PULL), defaults.get("code"), defaults.get(ENV)
    for name in pulled if isinstance(pulled, list) else ():
        yield str(name), Owner(f"`defaults.{PULL}`", uses=(PULL,))
    if isinstance(code, dict) and "credentials" in code:
        yield str(code["credentials"]), Owner(f"`defaults.{CODE}`", uses=(CODE,))
    for value in variables.values() if isinstance(variables, dict) else ():
        if isinstance(value, dict) and "secret" in value:
            yield str(value["secret"]), Owner(f"`defaults.{ENV}`", uses=(ENV,))
