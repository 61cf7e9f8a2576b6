"""Messages and prose follow `docs/style.md`, as far as a program can check it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cases import for_each
from tests.source_tree import modules, tree, walk
from tests.support import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator

REPORTING = frozenset(
    {
        "BugError",
        "Diagnostic",
        "Fault",
        "Problem",
        "UsageError",
        "_refuse",
        "conflict",
        "did_you_mean",
        "error",
        "matching",
        "note",
        "problem",
        "refuse",
        "told",
        "unusable",
        "warning",
    }
)
"""Functions and classes that take messages and hints."""
VARIABLES = frozenset({"hint", "message", "problem", "remedy"})
"""Names of local variables that hold messages and hints."""
NAMES = frozenset({"Argo", "Flux", "Git", "Jinja", "Kubernetes", "Kueue", "Kustomize", "Python", "Ray", "Volcano"})
"""Names that keep their capital at the start of a message. Acronyms and camel case need no entry."""
ODD_PHRASES = (
    r"(?<!here )\b(?:is|are) no (?!longer)[`\w]",
    r"\b(?:stands?|lies|lie|stood)\b",
    r"\b(?:told|tells?|says?|said)\b",
    r"\b(?:nobody|somebody|everybody|anew|alike|beside|had better|whatever|whose|for ever)\b",
    r"\bof which\b|\bsuch an? \w+ (?:is|are|has|can)\b",
    r"\b(?:given|made) twice\b",
    r"\bwhole number(?! of)\b|\btruth value\b",
    r", and (?:has|is|are) (?:\d|\{)",
)
"""Phrases that a native speaker would not use in a message."""
MAX_ODD_MESSAGES = 0
"""Messages with an odd phrase. Lower it whenever possible; never raise it."""
MAX_ODD_PROSE = {("gen", "docs", "README.md", "CONTRIBUTING.md"): 15.0, ("tests",): 15.0}
"""Odd phrases per 10,000 words. Lower it whenever possible; never raise it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message or hint in the source, with `{}` for each inserted value."""

    place: str
    text: str

    @property
    def ends_with_stop(self) -> bool:
        return self.text.endswith(".") and not self.text.endswith("..")

    @property
    def starts_with_capital(self) -> bool:
        word = re.split(r"[^\w]", self.text, maxsplit=1)[0]
        return word[:1].isupper() and word not in NAMES and not any(letter.isupper() for letter in word[1:])

    @property
    def odd_phrase(self) -> str:
        return next((match.group() for regex in ODD_PHRASES if (match := re.search(regex, self.text))), "")


def messages_in(module: ast.Module, file: str) -> Iterator[Message]:
    """Messages in calls of `REPORTING`, in `VARIABLES`, and in tuples of a route and a message that rules yield."""
    for node in walk(module):
        values: list[ast.expr] = []
        if isinstance(node, ast.Call) and name_of(node.func) in REPORTING:
            values = [*node.args, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, ast.Call):
            values = [keyword.value for keyword in node.keywords if keyword.arg in {"hint", "message"}]
        elif isinstance(node, ast.Assign) and any(name_of(target) in VARIABLES for target in node.targets):
            values = [node.value]
        elif isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple):
            values = node.value.elts
        for value in values:
            for text in texts(value):
                if " " in text:
                    yield Message(place=f"{file}:{value.lineno}", text=text)


def name_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def texts(value: ast.expr) -> Iterator[str]:
    """The strings that an expression can have, as far as its source shows them."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value
    elif isinstance(value, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in value.values)
    elif isinstance(value, ast.IfExp):
        yield from texts(value.body)
        yield from texts(value.orelse)
    elif isinstance(value, ast.BoolOp):
        for operand in value.values:
            yield from texts(operand)


@cache
def messages() -> list[Message]:
    """All messages of the program."""
    files = {module: str(path.relative_to(PROJECT)) for module, path in modules().items()}
    return [one for module, file in files.items() for one in messages_in(tree(module), file)]


def listed(found: list[Message]) -> str:
    return "\n".join(f"{message.place}: {message.text}" for message in found)


def test_messages_follow_the_style() -> None:
    """One test: each worker would read all modules again."""
    found = messages()
    assert len(found) > 500
    assert not (wrong := [message for message in found if message.ends_with_stop]), listed(wrong)
    assert not (wrong := [message for message in found if message.starts_with_capital]), listed(wrong)
    wrong = [message for message in found if message.odd_phrase]
    assert len(wrong) <= MAX_ODD_MESSAGES, listed(wrong)


@for_each(
    ("source", "check"),
    [
        ('found.error("code", place, "the field is wrong.", "")', "ends_with_stop"),
        ('raise UsageError(f"Unknown job {name}")', "starts_with_capital"),
        ('Fault(route=(), message="fine text", hint="Change it" if x else "keep it")', "starts_with_capital"),
        ('def rule():\n    yield route, f"`{x}` is no quantity"', "odd_phrase"),
        ('refuse("a whole number", value)', "odd_phrase"),
        ('message = f"`{key}` is given twice"', "odd_phrase"),
        ('anything(hint="Add `x`")', "starts_with_capital"),
    ],
)
def test_a_message_against_the_style_is_detected(source: str, check: str) -> None:
    assert any(getattr(message, check) for message in messages_in(ast.parse(source), "x.py"))


@for_each(
    "text",
    ["PyTorchJob has no role", "YAML 1.1 reads it as a boolean", "Kubernetes requires it", "wait …", "a ..", "`X` is"],
)
def test_names_and_ellipses_are_allowed(text: str) -> None:
    message = Message(place="", text=text)
    assert not message.ends_with_stop
    assert not message.starts_with_capital
    assert not message.odd_phrase


@pytest.mark.slow
@pytest.mark.parametrize("paths", MAX_ODD_PROSE, ids=lambda paths: paths[0])
def test_prose_has_few_odd_phrases(paths: tuple[str, ...]) -> None:
    tool = PROJECT.parent / "shared/tools/plain_english.py"
    if not tool.exists():
        pytest.skip("the tool is not part of the repository")
    command = [sys.executable, str(tool), *paths]
    output = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    odd = float(output.splitlines()[-1].split()[0])
    assert odd <= MAX_ODD_PROSE[paths], output


def test_the_table_of_the_style_guide_has_at_least_ten_examples() -> None:
    text = Path(PROJECT / "docs/style.md").read_text("utf-8")
    rows = text.split("| before | after |\n|---|---|\n")[1].strip().splitlines()
    assert len(rows) >= 10
