"""YAML for people, by ruamel.yaml: new texts, and additions to texts with comments, which stay as they are."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from gen.base.lazy import regex

_WIDE: Final = 1 << 30
"""Columns before a line is folded: never, because folded commands are hard to change."""
_END: Final = "...\n"
"""The end that the writer adds behind a block with empty last lines, which readers do without."""


def written(data: Mapping[str, object]) -> str:
    """A mapping of texts, numbers, lists and mappings. Texts of several lines are blocks."""
    stream = io.StringIO()
    round_trip().dump(_prepared(data), stream)
    text = stream.getvalue()
    return text.removesuffix(_END) if text.endswith(f"\n{_END}") else text


def with_additions(text: str, additions: Mapping[str, object]) -> str:
    """A YAML text with more entries in its mappings and lists. Indentation of lists is that of the text."""
    results = []
    for sequence, offset in ((4, 2), (2, 0)):
        yaml = round_trip(sequence, offset)
        data = yaml.load(text)
        data = data if isinstance(data, dict) else yaml.load("{}\n")
        _add(data, _prepared(additions))
        stream = io.StringIO()
        yaml.dump(data, stream)
        results.append(stream.getvalue())
    return min(results, key=lambda result: _removed(text, result))


def _removed(old: str, new: str) -> int:
    """The number of lines that the new text does not have; additions leave the others in their order."""
    return (Counter(old.splitlines()) - Counter(new.splitlines())).total()


def round_trip(sequence: int = 4, offset: int = 2) -> Any:
    """A reader and writer of YAML that keeps comments, quotes and order."""
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = _WIDE
    yaml.indent(mapping=2, sequence=sequence, offset=offset)
    return yaml


def _add(data: Any, additions: Mapping[str, object], *, nested: bool = False) -> None:
    for name, value in additions.items():
        if isinstance(value, dict) and isinstance(data.get(name), dict):
            _add(data[name], value, nested=True)
        elif isinstance(value, list) and isinstance(data.get(name), list):
            data[name].extend(value)
        elif nested:  # before the last entry: the comments behind that one may be about what follows
            data.insert(max(len(data) - 1, 0), name, value)
        else:
            data[name] = value


def verbatim(value: object) -> Any:
    """A value with its texts as texts, for a place where `5` and `"5"` differ."""
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    if isinstance(value, dict):
        return {name: verbatim(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [verbatim(inner) for inner in value]
    return DoubleQuotedScalarString(value) if isinstance(value, str) and not value.isidentifier() else value


def _prepared(value: object) -> Any:
    """Texts of several lines as blocks, and numbers without quotes, which read the same."""
    if isinstance(value, dict):
        return {name: _prepared(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_prepared(inner) for inner in value]
    return _prepared_text(value) if isinstance(value, str) else value


_TRUTH: Final = regex(r"(?i:y|n|yes|no|on|off)")
"""Texts that readers of YAML 1.1 take for truths."""
_DECIMAL: Final = regex(r"-?[0-9]{1,8}\.[0-9]{1,8}")
"""Numbers without exponents. Those that end in a zero keep their quotes, such as versions."""


def _prepared_text(value: str) -> Any:
    from ruamel.yaml.scalarstring import (
        DoubleQuotedScalarString,
        LiteralScalarString,
        ScalarString,
        SingleQuotedScalarString,
    )

    if isinstance(value, ScalarString):
        return value
    plain = value.replace("\n", "").replace("\t", "").isprintable()
    if "\n" in value.strip("\n") and plain:
        return LiteralScalarString(value)
    if _TRUTH.fullmatch(value):
        return SingleQuotedScalarString(value)
    if value.isascii() and value.isdecimal() and str(int(value[:18])) == value:
        return int(value)
    if _DECIMAL.fullmatch(value) and repr(float(value)) == value:
        return float(value)
    # readers take spaces of other forms without quotes for mistakes
    return str(value) if value.replace("\n", "").isprintable() else DoubleQuotedScalarString(value)
