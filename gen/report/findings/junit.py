"""Findings as JUnit XML for CI servers: one test case for each finding and each file that differs."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from gen.base import regex
from gen.report.escaping import sanitize

if TYPE_CHECKING:
    from gen.report.formats import Report

_INVALID_IN_XML = regex("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: Report) -> str:
    suite = ET.Element("testsuite", name="gen")
    for finding in report.findings:
        case = _case(suite, finding.place.file, finding.code)
        failed = finding.is_error
        element = (
            ET.SubElement(case, "failure", message=_replace_invalid(finding.message))
            if failed
            else ET.SubElement(case, "system-out")
        )
        element.text = _replace_invalid(f"{sanitize(str(finding.place))}: {finding.message}. {finding.hint}")
    for change in () if report.done else report.changes:
        failure = ET.SubElement(_case(suite, change.path, change.status.value), "failure", message=change.status.value)
        failure.text = "run `gen render` and commit the result"
    if not len(suite):
        ET.SubElement(suite, "testcase", name=_replace_invalid(report.summary))
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("*/failure"))))
    suite.set("errors", "0")
    ET.indent(suite)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suite, encoding="unicode")}\n'


def _case(suite: ET.Element, file: str, name: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", classname=_replace_invalid(file), name=_replace_invalid(name))


def _replace_invalid(text: str) -> str:
    return "\n".join(sanitize(_INVALID_IN_XML.sub("\N{REPLACEMENT CHARACTER}", line)) for line in text.split("\n"))
