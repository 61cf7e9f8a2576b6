"""Objects of generated files: every reader finds the same content."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from gen.base.findings import Findings
from gen.base.yaml.strict import parse, typed
from gen.kubernetes.manifests.read import read_manifests
from gen.render import rendered_object
from gen.render.rendered_object import generated_object
from tests.cases import for_each
from tests.support import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

GOLDEN = sorted((PROJECT / "tests/golden").glob("*/"))


@for_each("case", GOLDEN, ids=[path.name for path in GOLDEN])
def test_all_readers_find_the_same_content(case: Path) -> None:
    files = sorted(case.rglob("rendered/**/*.yaml"))
    objects = [generated_object(path.read_bytes(), path.relative_to(case).as_posix()) for path in files]
    found = [one for one in objects if one is not None]
    assert found
    for one in found:
        manifests = read_manifests(one.text.encode(), one.path, Findings())
        assert manifests is not None
        assert manifests.documents == (one.body,)


def test_text_in_the_form_of_gen_is_read_as_yaml() -> None:
    """The short way to the content of a generated file: for each text, that of the parser, or none."""
    texts = [path.read_text("utf-8") for case in GOLDEN for path in case.rglob("rendered/**/*.yaml")]
    known = [rendered_object.as_emitted(text) for text in texts]
    assert known.count(None) < len(texts) / 100
    for text, body in zip(texts, known, strict=True):
        assert body is None or _same(body, _parsed(text))


_PIECES = (
    *" -:|#\"\\\n\t,&*!%@`'{}[]?<>=~.0189xaynN/", "- ", ": ", "\n\n", "\n  ", "|-", "\\n", "\\x41", "null", "true",
    "on", "1e3", "-0", "007", "---\n", "\n...", "<<: ", "\r", "\x01", "\x85", "\ufeff", "{}", "[]", '"a": ', "? ",
)  # fmt: skip
"""Changes of texts."""


@pytest.mark.parametrize("seed", range(4))
def test_changed_text_is_read_as_yaml_or_not_at_all(seed: int) -> None:
    chosen = random.Random(seed)  # noqa: S311 - a test
    texts = sorted({path.read_text("utf-8") for case in GOLDEN for path in case.rglob("rendered/**/*.yaml")}, key=len)
    read = 0
    for _ in range(1500):
        lines = chosen.choice(texts[: len(texts) // 2]).splitlines(keepends=True)
        for _ in range(chosen.randint(1, 3)):
            match chosen.randrange(4):
                case 0:
                    del lines[chosen.randrange(len(lines))]
                case 1:
                    lines.insert(chosen.randrange(len(lines)), chosen.choice(lines))
                case 2:
                    at = chosen.randrange(len(lines))
                    lines[at] = chosen.choice(("", " ", "  ", "    ")) + lines[at].lstrip(" ")
                case _:
                    at = chosen.randrange(len(lines))
                    start = chosen.randint(0, len(lines[at]))
                    cut = chosen.choice((0, 0, 1, 2))
                    lines[at] = lines[at][:start] + chosen.choice(_PIECES) + lines[at][start + cut :]
            lines = lines or ["# "]
        text = "".join(lines)
        body = rendered_object.as_emitted(text)
        if body is not None:
            read += 1
            assert _same(body, _parsed(text)), text
    assert read > 100


def _parsed(text: str) -> Any:
    """As the parser reads it; None for what has a finding."""
    data = parse(text, "", found := Findings())
    return None if found.items else typed(data or {})


def _same(one: Any, other: Any) -> bool:
    """Whether values and their types are equal, with the order of keys."""
    return repr(one) == repr(other)
