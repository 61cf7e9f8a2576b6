"""The text of a lock. ruamel.yaml writes it, so that comments of people stay."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from gen.edit.yaml_text import round_trip, written
from gen.pins.lock import CODE, IMAGES, UPDATES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.pins.lock import CodeKey


def lock_text(job: str, images: Mapping[str, str], commits: Mapping[CodeKey, str], old: str, *, updates: bool) -> str:
    """The lock of a job with these pins; `old` is its text before, or empty. Empty without any pin and any comment."""
    code: dict[str, dict[str, str]] = {}
    for (url, ref), commit in sorted(commits.items()):
        code.setdefault(url, {})[ref] = commit
    pins = {image: f"{image}@{digest}" for image, digest in sorted(images.items())}
    wanted: dict[str, Any] = {name: value for name, value in ((IMAGES, pins), (CODE, code)) if value}
    data = _read(old) if old else None
    if data is None:
        header = f"# Written by `gen pin {job}`. Each image and ref has the content that is named here.\n"
        return header + (f"{UPDATES}: true\n" if updates else "") + written(wanted) if wanted else ""
    for name in (IMAGES, CODE):
        _update(data, name, wanted.get(name, {}))
    stream = io.StringIO()
    round_trip().dump(data, stream)
    return stream.getvalue()


def _read(text: str) -> Any:
    """The text with its comments; None if this reader refuses a text that gen accepts, such as a tab in a name."""
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415 - as in `round_trip`

    try:
        return round_trip().load(text)
    except YAMLError:
        return None


def _update(data: Any, name: str, wanted: Mapping[str, Any]) -> None:
    """Set an entry of a mapping. Equal values keep their comments."""
    if not wanted:
        data.pop(name, None)
        return
    known: Any = data.get(name)
    if known is None:
        data[name] = dict(wanted)
        return
    for key in [key for key in known if key not in wanted]:
        del known[key]
    for place, (key, value) in enumerate(wanted.items()):
        if key not in known:
            known.insert(place, key, value)
        elif isinstance(value, dict):
            _update(known, key, value)
        elif known[key] != value:
            known[key] = value
