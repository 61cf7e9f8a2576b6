"""Names of fields that are not identifiers, as rules of definitions must write them.

From Kubernetes' documentation of CustomResourceDefinitions ("Escaping of properties"), and
`apiserver/pkg/cel/escaping.go`.
"""

from __future__ import annotations

from typing import Final

from gen.regex import regex

_SIGNS: Final = {"__underscores__": "__", "__dot__": ".", "__dash__": "-", "__slash__": "/"}
RESERVED: Final = (
    *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package"),
    *("namespace", "return", "var", "void", "while"),
)
"""Names that no variable can have."""
_KEYWORDS: Final = ("true", "false", "null", "in", *RESERVED)
_ESCAPED = regex(f"__(?:(?P<sign>underscores|dot|dash|slash)|(?P<word>{'|'.join(_KEYWORDS)}))__")


def unescaped(name: str) -> str:
    """The name of a field as it is in objects."""
    if name.startswith("__") and name.endswith("__") and name[2:-2] in _KEYWORDS:
        return name[2:-2]
    return _ESCAPED.sub(lambda match: _SIGNS.get(match[0], match[0]), name)


def escaped(name: str) -> str:
    """The name of a field as it is in expressions."""
    if name in _KEYWORDS:
        return f"__{name}__"
    for sign, value in _SIGNS.items():
        name = name.replace(value, sign)
    return name
