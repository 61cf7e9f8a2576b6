"""Plugins of overlays: loading those that are named, and refusing entries of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from gen.diagnostics import Findings
from gen.findings.overlays import PLUGIN_NOT_NAMED
from gen.load import Layers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gen.diagnostics import Route
    from gen.load import Data
    from gen.overlay.fields import OverlayFields


def load_named(data: Mapping[str, Data], layers: Layers, found: Findings) -> bool:
    """Load the plugins of an overlay; False after an error. Values that are not strings are left to the model."""
    plugins = data.get("plugins")
    if isinstance(plugins, dict) and plugins:
        from gen.plugins.load import load_plugins  # noqa: PLC0415 - few overlays name plugins

        return load_plugins({name: str(versions) for name, versions in plugins.items() if versions}, layers, found)
    return True


def unnamed_plugin(group: str, name: str, plugins: Mapping[str, str]) -> str | None:
    """The plugin that provides an entry, if the overlay does not name it."""
    from gen.plugins.registries import provider_of  # noqa: PLC0415 - not needed without plugins

    provider = provider_of(group, name)
    return provider if provider is not None and provider not in plugins else None


class HasProfiles(Protocol):
    """A volume, network, accelerator or queue."""

    @property
    def given(self) -> Mapping[str, object]:
        """Its profiles by their keys."""


def check_providers(fields: OverlayFields, layers: Layers, found: Findings) -> None:
    """Report profiles and kinds from plugins that the overlay does not name."""
    for group, name, route in _used(fields):
        plugin = unnamed_plugin(group, name, fields.plugins)
        if plugin is not None:
            message = f"`{name}` comes from plugin `{plugin}`, which the overlay does not name"
            found.error(PLUGIN_NOT_NAMED, layers.place(route, key=True), message, f"add `{plugin}` to `plugins`")


def _used(fields: OverlayFields) -> Iterator[tuple[str, str, Route]]:
    from gen.plugins import registries  # noqa: PLC0415 - as above

    groups: dict[str, tuple[str, Mapping[str, HasProfiles]]] = {
        "volumes": (registries.STORAGE_GROUP, fields.volumes),
        "networks": (registries.NETWORK_GROUP, fields.networks),
        "accelerators": (registries.ACCELERATOR_GROUP, fields.accelerators),
        "queues": (registries.QUEUE_GROUP, fields.queues),
    }
    for field, (group, declared) in groups.items():
        for name, one in declared.items():
            yield from ((group, key, (field, name, key)) for key in one.given)
    for kind in fields.operators:
        yield registries.KIND_GROUP, kind, ("operators", kind)
