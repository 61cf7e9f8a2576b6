"""Addresses of pages in the documentation, which `mkdocs build` makes from `docs/`."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

RULES: Final = "rules.html"
FINDINGS: Final = "findings.html"
DOCUMENTS: Final = {"job": "reference-job.html", "overlay": "reference-overlay.html"}
"""The page of each document whose fields `gen explain` describes."""


class Documentation(Struct, frozen=True):
    """A published site of the documentation."""

    site: str = ""
    """Address of its folder, without `/` at the end; empty if none is known."""

    def start(self) -> str:
        """The first page, as a file for sites on a disk, too. Empty without a site."""
        return f"{self.site}/index.html" if self.site else ""

    def finding(self, name: str, file: str) -> str:
        """The explanation of a code or rule, for a finding in a file. Empty without a site, or for another name."""
        if not self.site:
            return ""
        from gen.report.explanation import explanation  # noqa: PLC0415 - all rules, and not every message has a link
        from gen.repository.layout import is_input  # noqa: PLC0415 - as above
        from gen.rules.rule import Rule  # noqa: PLC0415 - as above

        found = explanation(name, in_input=is_input(file))
        return self.entry(found.name, rule=isinstance(found, Rule)) if found is not None else ""

    def entry(self, name: str, *, rule: bool) -> str:
        """The explanation of a rule or of a code. Empty without a site."""
        return f"{self.site}/{RULES if rule else FINDINGS}#{name}" if self.site else ""

    def document(self, name: str) -> str:
        """The reference of the fields of jobs or overlays. Empty without a site."""
        return f"{self.site}/{DOCUMENTS[name]}" if self.site and name in DOCUMENTS else ""
