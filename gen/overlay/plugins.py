"""Plugins: Python packages that add kinds, profiles, importers and report formats through entry points.

An overlay names the packages that it uses under `plugins`; entries of others are refused. Each is loaded once per
process. `docs/extending.md` describes how to write one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import Distribution, PackageNotFoundError, distribution, entry_points
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from gen.base import Findings, Route
from gen.base.codes.overlays import INVALID_PLUGIN, MISSING_PLUGIN, PLUGIN_NOT_NAMED, PLUGIN_VERSION
from gen.base.yaml.layers import Layers
from gen.job.kinds.base import Job
from gen.kubernetes.facts import RESOURCES
from gen.kubernetes.schemas.registry import add_schema_folder, has_schema, schema_file

if TYPE_CHECKING:
    from gen.base.yaml.strict import Data
    from gen.overlay.fields import OverlayFields


KIND_GROUP: Final = "gitops_gen.kinds"
STORAGE_GROUP: Final = "gitops_gen.storage"
NETWORK_GROUP: Final = "gitops_gen.networks"
ACCELERATOR_GROUP: Final = "gitops_gen.accelerators"
QUEUE_GROUP: Final = "gitops_gen.queues"
IMPORTER_GROUP: Final = "gitops_gen.importers"
REPORT_GROUP: Final = "gitops_gen.reports"
"""Its entry points name functions from a `gen.report.formats.Report` to a text: formats of `--output`."""
SCHEMA_GROUP: Final = "gitops_gen.schemas"
"""Its entry points name packages with `<group>_<version>_<kind>.json`, the closed schemas of rendered objects."""

REPORTS: Final[dict[str, Any]] = {}
"""Output formats of plugins by name. gen's own are in `gen.report.formats`."""

_GROUPS: Final[Mapping[str, tuple[str, str]]] = {
    KIND_GROUP: ("gen.job.kinds:KINDS", "gen.job.kinds.base:Job"),
    STORAGE_GROUP: ("gen.overlay.profiles.storage:STORAGE", "gen.overlay.profiles.storage:StorageProfile"),
    NETWORK_GROUP: ("gen.overlay.profiles.networks:NETWORKS", "gen.overlay.profiles.networks:NetworkProfile"),
    ACCELERATOR_GROUP: (
        "gen.overlay.profiles.accelerators:ACCELERATORS",
        "gen.overlay.profiles.accelerators:AcceleratorProfile",
    ),
    QUEUE_GROUP: ("gen.overlay.profiles.queues:QUEUES", "gen.job.queue:QueueProfile"),
    IMPORTER_GROUP: ("gen.importers:IMPORTERS", "gen.importers:Importer"),
    REPORT_GROUP: ("gen.overlay.plugins:REPORTS", "types:FunctionType"),
}
"""Registry by entry point group, with the base class of its entries, or the type of functions. They are imported when
a plugin extends them: most repositories have no plugins."""
GROUPS: Final = tuple(_GROUPS)
_OF_FIELDS: Final = {
    "volumes": STORAGE_GROUP,
    "networks": NETWORK_GROUP,
    "accelerators": ACCELERATOR_GROUP,
    "queues": QUEUE_GROUP,
}
"""Groups of the profiles in the entries of fields of an overlay."""

PROVIDERS: Final[dict[tuple[str, str], str]] = {}
"""Distribution by group and name. Entries of gen itself are absent."""
_loaded: Final[dict[str, str | None]] = {}
"""Error by distribution; None if it was loaded."""


def register(group: str, name: str, entry: object, distribution: str) -> None:
    """Add an entry. TypeError if it is of another type, ValueError if another package has the name."""
    registry, base = map(_imported, _GROUPS[group])
    if not (isinstance(entry, base) if base is FunctionType else isinstance(entry, type) and issubclass(entry, base)):
        raise TypeError(f"`{name}` of `{group}` is not a `{base.__name__}`")
    if name in registry and PROVIDERS.get((group, name)) != distribution:
        owner = PROVIDERS.get((group, name), "gen")
        raise ValueError(f"`{name}` of `{group}` is already provided by `{owner}`")
    registry[name] = entry
    PROVIDERS[group, name] = distribution
    if isinstance(entry, type) and issubclass(entry, Job):
        RESOURCES.setdefault(entry.facts.key, entry.facts)


def _imported(path: str) -> Any:
    """The object that `module:name` refers to."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def load_plugins(ranges: Mapping[str, str], layers: Layers, found: Findings) -> bool:
    """Load plugins by distribution name and version range; False after an error.

    `layers` has the places of the field `plugins`.
    """
    before = len(found.items)
    for name, versions in ranges.items():
        place = layers.place(("plugins", name))
        hint = f"run `pip install '{name}{versions}'`"
        try:
            package = distribution(name)
        except PackageNotFoundError:
            found.error(MISSING_PLUGIN, place, f"plugin `{name}` is not installed", hint)
            continue
        if not _allows(versions, package.version):
            message = f"plugin `{name}` has version {package.version}; expected `{versions}`"
            found.error(PLUGIN_VERSION, place, message, hint)
        elif (error := _load(package, name)) is not None:
            hint = "remove the plugin, or use another version"
            found.error(INVALID_PLUGIN, place, f"cannot load plugin `{name}`: {error}", hint)
    return len(found.items) == before


def _allows(versions: str, version: str) -> bool:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return SpecifierSet(versions).contains(version, prereleases=True)
    except InvalidSpecifier:
        return False


def _load(package: Distribution, name: str) -> str | None:
    """The error, if any. Code of a plugin can raise anything, at import or in its classes."""
    if name not in _loaded:
        try:
            _register(package, name)
        except Exception as error:  # noqa: BLE001 - reported at the place that names the plugin
            _loaded[name] = f"{type(error).__name__}: {error}"
        else:
            _loaded[name] = None
    return _loaded[name]


def _register(package: Distribution, name: str) -> None:
    entries = []
    for entry in package.entry_points:
        if entry.group in GROUPS:
            entries.append(entry.load())
            register(entry.group, entry.name, entries[-1], name)
        elif entry.group == SCHEMA_GROUP:
            add_schema_folder(Path(next(iter(entry.load().__path__))))
    if not entries:
        raise ValueError(f"it has no entry point in {', '.join(f'`{group}`' for group in GROUPS)}")
    for kind in entries:
        if isinstance(kind, type) and issubclass(kind, Job):
            _check_schemas(kind)


def _check_schemas(kind: type[Job]) -> None:
    for version in kind.facts.versions:
        if not has_schema(version, kind.facts.kind):
            file = schema_file(version, kind.facts.kind)
            raise ValueError(f"no package of its `{SCHEMA_GROUP}` has the schema `{file}`")


def loaded_plugins() -> list[str]:
    """Distributions with code that may have run in this process."""
    return sorted(_loaded)


def plugin_stamps() -> Iterator[tuple[object, ...]]:
    """Name, version and entry points of the installed plugins, and their files with time and size, for the cache."""
    entries = [entry for group in GROUPS for entry in entry_points(group=group)]
    packages = {entry.dist.name: entry.dist for entry in entries if entry.dist is not None}
    for name, package in sorted(packages.items()):
        provided = sorted((entry.group, entry.name, entry.value) for entry in package.entry_points)
        yield name, package.version, provided
        for module in sorted({entry.module.split(".")[0] for entry in package.entry_points}):
            yield from _files(module)


def _files(module: str) -> Iterator[tuple[str, int, int]]:
    """Those of a package, or the file of a module without one."""
    from importlib.util import find_spec

    if (spec := find_spec(module)) is None:
        return
    folders = spec.submodule_search_locations
    below = (path for folder in folders or () for path in sorted(Path(folder).rglob("*.*")))
    for path in below if folders is not None else [Path(spec.origin or "")]:
        if "__pycache__" not in path.parts and path.is_file():
            status = path.stat()
            yield str(path), status.st_mtime_ns, status.st_size


def load_named(data: Mapping[str, Data], layers: Layers, found: Findings) -> bool:
    """Load the plugins of an overlay; False after an error. Values that are not strings are left to the model."""
    plugins = data.get("plugins")
    if isinstance(plugins, dict) and plugins:
        return load_plugins({name: str(versions) for name, versions in plugins.items() if versions}, layers, found)
    return True


def unnamed_plugin(group: str, name: str, plugins: Mapping[str, str]) -> str | None:
    """The plugin that provides an entry, if the overlay does not name it."""
    provider = PROVIDERS.get((group, name))
    return provider if provider is not None and provider not in plugins else None


def check_providers(fields: OverlayFields, layers: Layers, found: Findings) -> None:
    """Report profiles and kinds from plugins that the overlay does not name."""
    for group, name, route in _used(fields):
        plugin = unnamed_plugin(group, name, fields.plugins)
        if plugin is not None:
            message = f"`{name}` comes from plugin `{plugin}`, which the overlay does not name"
            found.error(PLUGIN_NOT_NAMED, layers.place(route, key=True), message, f"add `{plugin}` to `plugins`")


def _used(fields: OverlayFields) -> Iterator[tuple[str, str, Route]]:
    for field, group in _OF_FIELDS.items():
        for name, one in getattr(fields, field).items():
            yield from ((group, key, (field, name, key)) for key in one.given)
    for kind in fields.operators:
        yield KIND_GROUP, kind, ("operators", kind)
