"""Generate the references, rules and tables in `docs/` from the code: `python -m scripts.reference`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gen.job.fields import JobFields
from gen.job.kinds import KINDS
from gen.kubernetes.facts import Having
from gen.kubernetes.rules import SILENCE, Rule, RuleSource
from gen.kubernetes.rules.catalogue import RULES, SECTIONS
from gen.overlay.profiles.accelerators import ACCELERATORS
from gen.overlay.profiles.networks import NETWORKS
from gen.overlay.profiles.queues import QUEUES
from gen.overlay.profiles.storage import STORAGE
from gen.overlay.profiles.stores import STORES
from gen.report.explain import default_text, type_name
from gen.report.schemas import job_schema, overlay_schema
from scripts.support import support

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from gen.job.profile import Profile

_PROFILES: Mapping[str, Mapping[str, type[Profile]]] = {
    "Storage profiles": STORAGE,
    "Network profiles": NETWORKS,
    "Accelerator profiles": ACCELERATORS,
    "Schedulers of queues": QUEUES,
    "Services of object stores": STORES,
}
_PAGE = re.compile(r"(`docs/([a-z-]+\.md)`)")
_LINK = re.compile(r"\[(\w+)\]\(#(\w+)\)")
DOCS = Path(__file__).parent.parent / "docs"

_JOB = """\
# The job file

<!-- Generated from the models by `just docs`; edit the docstrings there. -->

Each job has its own file: `jobs/<namespace>/<job>.yaml`. Only `kind`, `image` and `command` are required; an overlay
may set the last two in `defaults`. Scalars are kept exactly as written: `LR: 1e-3`, `DEBUG: on`, `SEED: 010`.

Strings may contain `{{ params.<name> }}`, `{{ job.name }}`, `{{ job.namespace }}`, `{{ run.id }}`, `{{ run.hash }}` and
`{{ overlay.name }}`, and use the filters `basename`, `lower`, `replace`, `trim` and `upper`, except on `run`. Write
`{{ '{{' }}` for a literal `{{`. `run.id` is `<job>-<hash>`. Use it in output paths: two runs of a job may overlap while
one replaces the other, and then write to different directories.

## Fields of every kind
"""
_OVERLAY = """\
# The overlay

<!-- Generated from the models by `just docs`; edit the docstrings there. -->

An overlay describes a cluster or environment: `overlays/<overlay>/overlay.yaml`, with patch files in the same folder.

## Fields
"""


_RULES = f"""\
# Rules

<!-- Generated from the rules by `just docs`; edit the texts there. -->

Rules that `gen validate` and the validate stage of `gen render` check. `gen explain NAME` prints the same for one rule.
The annotation `{SILENCE}<rule>: "<reason>"` silences a rule for one object; the report lists silenced rules with their
reasons. [Validation](validation.md) documents how far the rules agree with a real API server. [Findings](findings.md)
has the other codes.
"""
_FINDINGS = """\
# Findings

<!-- Generated from the finding codes by `just docs`; edit the texts there. -->

Findings of gen about job files, overlays, `rendered/`, changes and clusters. Only warnings about commands can be
silenced, by `annotations: {gen/ignore-NAME: reason}` in the job. `gen explain NAME` prints the same for one finding.
A finding with the name of a [rule](rules.md) reports the same mistake in another place.
"""
_TITLES = {
    RuleSource.SERVER: "Rejected by an API server",
    RuleSource.OPERATOR: "Rejected or ignored by an operator",
    RuleSource.GITOPS: "Loss of runs or data under Argo CD and Flux",
    RuleSource.GEN: "Checks of gen",
}


def job_reference() -> str:
    definitions = job_schema()["definitions"]
    common = {str(field.alias) for field in JobFields.model_fields.values()} - {"kind"}
    first = definitions[next(iter(KINDS.values())).__name__]
    parts = [_JOB, _table(first, [name for name in first["properties"] if name in common])]
    for name, model in KINDS.items():
        definition = definitions.pop(model.__name__)
        own = [field for field in definition["properties"] if field not in common and field != "kind"]
        versions = " or ".join(f"`{version}`" for version in model.facts.versions)
        about = f"{definition['description']} Rendered as {model.facts.kind} of {versions}."
        parts += [f"## `kind: {name}`\n", f"{about}\n", _table(definition, own)]
    return "\n".join([*parts, support(), *_sections(definitions)])


def overlay_reference() -> str:
    schema = overlay_schema()
    definitions = schema["definitions"]
    fields = {**schema, "properties": {**schema["properties"], "defaults": _described(schema, "defaults")}}
    profiles = {profile.__name__ for registry in _PROFILES.values() for profile in registry.values()}
    of_jobs = job_schema()["definitions"].keys()
    elsewhere = profiles | of_jobs
    own = {name: definition for name, definition in definitions.items() if name not in elsewhere}
    parts = [_OVERLAY, _table(fields), *_sections(own)]
    for title, registry in _PROFILES.items():
        parts.append(f"## {title}\n")
        for key, profile in registry.items():
            definition = definitions[profile.__name__]
            short = (
                f" `{key}: <{profile.short}>` is short for `{key}: {{{profile.short}: …}}`." if profile.short else ""
            )
            grant = f" Requires `allow: [{profile.grant}]` for the namespace in `namespaces`." if profile.grant else ""
            full = definition["anyOf"][1] if "anyOf" in definition else definition
            parts += [f"### {profile.__name__}\n", f"`{key}`: {full['description']}{short}{grant}\n", _table(full)]
    return _LINK.sub(lambda link: _of_jobs(link, of_jobs), "\n".join(parts))


def _of_jobs(link: re.Match[str], definitions: Collection[str]) -> str:
    """A link to a type of job files leads to their reference."""
    name, target = link.groups()
    return f"[{name}](reference-job.md#{target})" if name in definitions else link[0]


def _described(schema: Mapping[str, Any], field: str) -> dict[str, Any]:
    link = "[job fields](reference-job.md)"
    return {"title": f"{link} and `kinds`", "description": schema["properties"][field]["description"]}


def _sections(definitions: Mapping[str, Any]) -> Iterable[str]:
    for name, definition in definitions.items():
        yield f"## {name}\n\n{definition['description']}\n\n{_table(definition)}"


def _table(definition: Mapping[str, Any], only: Iterable[str] | None = None) -> str:
    rows = ["| field | value | default | |", "|---|---|---|---|"]
    properties: dict[str, Any] = definition["properties"]
    for name in properties if only is None else only:
        field = properties[name]
        default = "required" if name in definition.get("required", ()) else _default(field)
        rows.append(
            f"| `{name}` | {type_name(field, _linked)} | {default} | {_pages(field['description']).replace('|', '/')} |"
        )
    return "\n".join(rows) + "\n"


def _pages(text: str) -> str:
    """A text with links to the pages of `docs/` that it names."""
    return _PAGE.sub(r"[\1](\2)", text)


def _default(field: Mapping[str, Any]) -> str:
    default = default_text(field)
    return f"`{default}`" if "default" in field else ""


def _linked(name: str) -> str:
    return f"[{name}](#{name.lower()})"


def rules() -> str:
    """The explanations of all rules, grouped by the system that enforces them."""
    parts = [_RULES]
    for source in RuleSource:
        parts.append(f"## {_TITLES[source]}\n")
        for rule in (rule for rule in RULES.values() if rule.source is source):
            parts.append(f"### {rule.name}\n")
            about = f"{rule.severity.value.capitalize()}{_kinds_of(rule)}."
            lines = [about, rule.summary, f"*Why:* {rule.reason}", f"*Remedy:* {rule.remedy}"]
            parts += [f"{' '.join(line.split())}\n" for line in lines]
    return "\n".join(parts)


def _kinds_of(rule: Rule) -> str:
    if isinstance(rule.kinds, Having):
        return f", for {rule.kinds.name}"
    kinds = sorted(f"`{group}/{kind}`" for group, kind in rule.kinds or ())
    return f", for {', '.join(kinds)}" if kinds else ""


def findings() -> str:
    """The explanations of all finding codes by subject. The anchor of each is its name."""
    parts = [_FINDINGS]
    for title, codes in SECTIONS.items():
        parts.append(f"## {title}\n")
        for code in codes:
            lines = [code.summary, f"*Why:* {code.reason}", f"*Remedy:* {code.remedy}"]
            parts += [f"### {code.name}\n", *(f"{' '.join(line.split())}\n" for line in lines)]
    return "\n".join(parts)


def main() -> None:
    (DOCS / "rules.md").write_text(rules(), "utf-8")
    (DOCS / "findings.md").write_text(findings(), "utf-8")
    (DOCS / "reference-job.md").write_text(job_reference(), "utf-8")
    (DOCS / "reference-overlay.md").write_text(overlay_reference(), "utf-8")


if __name__ == "__main__":
    main()
