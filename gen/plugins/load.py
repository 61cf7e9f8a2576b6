"""Loads the plugins that overlays name, each once per process."""

from __future__ import annotations

from importlib.metadata import Distribution, PackageNotFoundError, distribution, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gen.findings.overlays import INVALID_PLUGIN, MISSING_PLUGIN, PLUGIN_VERSION
from gen.kinds.base import Job
from gen.plugins.registries import REGISTRIES, SCHEMA_GROUP, register
from gen.schemas.registry import add_schema_folder, has_schema, schema_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gen.diagnostics import Findings
    from gen.load import Layers

_loaded: Final[dict[str, str | None]] = {}
"""Error by distribution; None if it was loaded."""


def load_plugins(wanted: Mapping[str, str], layers: Layers, found: Findings) -> bool:
    """Load plugins by distribution name and version range; False after an error.

    `layers` has the places of the field `plugins`.
    """
    before = len(found.items)
    for name, versions in wanted.items():
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
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415 - few overlays name plugins

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
        if entry.group in REGISTRIES:
            entries.append(entry.load())
            register(entry.group, entry.name, entries[-1], name)
        elif entry.group == SCHEMA_GROUP:
            add_schema_folder(Path(next(iter(entry.load().__path__))))
    if not entries:
        raise ValueError(f"it has no entry point in {', '.join(f'`{group}`' for group in REGISTRIES)}")
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


def plugin_stamps() -> Iterator[tuple[str, str, int]]:
    """Name, version and time of the last change of each file of the installed plugins, for the cache."""
    entries = [entry for group in REGISTRIES for entry in entry_points(group=group)]
    packages = {entry.dist.name: entry.dist for entry in entries if entry.dist is not None}
    for name, package in sorted(packages.items()):
        for module in sorted({entry.module.split(".")[0] for entry in package.entry_points}):
            yield from _files(name, package.version, module)


def _files(name: str, version: str, module: str) -> Iterator[tuple[str, str, int]]:
    from importlib.util import find_spec  # noqa: PLC0415 - few overlays name plugins

    spec = find_spec(module)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        for path in sorted(Path(folder).rglob("*")):
            if path.suffix in {".py", ".json"}:
                yield name, f"{version} {path}", path.stat().st_mtime_ns
