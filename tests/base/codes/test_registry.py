"""Finding codes are typed constants in one registry, with names that follow from each other."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from gen.base import codes
from gen.base.codes import Code
from gen.base.codes.grants import OVER_QUOTA
from gen.base.findings import Findings, Location
from gen.kubernetes.rules.catalogue import CODES, SECTIONS
from tests.cases import for_each

MODULES = [import_module(f"{codes.__name__}.{module.name}") for module in iter_modules(codes.__path__)]
CONSTANTS = [(name, value) for module in MODULES for name, value in vars(module).items() if isinstance(value, Code)]


def test_every_code_is_in_one_section() -> None:
    in_sections = [code.name for section in SECTIONS.values() for code in section]
    assert in_sections == list(CODES), "a name is used twice"
    assert sorted(in_sections) == sorted(code.name for _, code in CONSTANTS)


@for_each(("name", "code"), CONSTANTS)
def test_a_constant_is_named_after_its_code(name: str, code: Code) -> None:
    assert name == code.name.replace("-", "_").upper()


@for_each("code", [code for _, code in CONSTANTS], ids=str)
def test_an_explanation_consists_of_whole_sentences(code: Code) -> None:
    for text in (code.summary, code.reason, code.remedy):
        assert text.endswith("."), text
        assert text[0].isupper() or text.startswith(("`", "gen ")), text


def test_findings_take_codes() -> None:
    found = Findings()
    found.error(OVER_QUOTA, Location("a"), "message", "hint")
    found.warning(OVER_QUOTA, Location("b"), "message", "hint")
    assert [type(finding.code) for finding in found] == [str, str]
    assert {finding.code for finding in found} == {"over-quota"}
