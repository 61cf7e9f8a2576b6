"""The name of an object where its program looks for it or for its Service: a run has another one, with a hash.

Host names of pods are renamed before, as every importer does it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from gen.base import as_texts, with_texts
from gen.importers import Fields
from gen.importers.draft import JobDraft, object_words, texts_in
from gen.importers.manifests.objects import Item
from gen.job.kinds.base import Job

_RUN: Final = "{{ run.id }}"
_PROGRAM: Final = ("command", "args")
_OF_SERVICE: Final = r"(?i:.*(?:subdomain|service|svc).*)"
_OF_OBJECT: Final = r"(?i:(?:.*_)?(?:job|jobset|rayjob|tfjob|pytorchjob|mpijob|trainjob)_?(?:name|id))"
_OPTION: Final = r"(?<![\w-])--?(?:[\w-]+[-_])?(?:job|jobset|subdomain|service|svc)(?:[-_]?name)?[= ]"
_HINT: Final = f"write `{_RUN}` if the program looks for the object or its pods by this name"


def rename_object(draft: JobDraft, item: Item, job: Job, services: Sequence[str]) -> None:
    """Rename the object in commands of `kubectl`, and its Service, one of `services` or with its name, in variables.
    Other variables and options with its name are reported.
    """
    words = of_kubectl(item.name, job)
    for fields in _holders(draft.fields):
        for field in (*_PROGRAM, "files"):
            if field in fields:
                fields[field] = _renamed(fields[field], words, item.name)
        text = "\n".join(_programs(draft.fields, fields))
        for name, value in fields.get("env", {}).items():
            if value in (item.name, *services):
                _variable(draft, fields["env"], name, text, has_service=bool(services))
        option = re.search(rf"{_OPTION}{re.escape(item.name)}(?![\w./-])", " ".join(_programs({}, fields)))
        if option is not None:
            place = next((draft.places[field] for field in reversed(_PROGRAM) if field in draft.places), draft.place)
            draft.drop(place, f"the name of the object in `{option[0]}`", "a run has another one", _HINT)


def _holders(fields: Fields) -> Iterator[Fields]:
    yield fields
    yield from fields.get("roles", {}).values()


def _programs(job: Fields, role: Fields) -> Iterator[str]:
    """The texts of programs, a list of words as one."""
    for holder in (job, role):
        for field in _PROGRAM:
            value = holder.get(field)
            yield value if isinstance(value, str) else " ".join(as_texts(value))
        yield from (text for _, text in texts_in(holder.get("files", {})))


def of_kubectl(name: str, job: Job) -> re.Pattern[str]:
    """The name behind the kind in a command of `kubectl`."""
    kinds = "|".join(map(re.escape, object_words(job)[1]))
    return re.compile(rf"(\bkubectl\s[^;&|\n]*?(?<=\s)(?:{kinds})\s+){re.escape(name)}(?![\w./-])")


def _renamed(value: Any, form: re.Pattern[str], name: str) -> Any:
    """A program or files with the name of the run. In a list of words, the name is one of them."""
    value = with_texts(value, lambda text: form.sub(lambda found: f"{found[1]}{_RUN}", text))
    found = form.search(" ".join(map(str, value))) if isinstance(value, list) and "kubectl" in value else None
    if found is None:
        return value
    kind = found[1].split()[-1]
    return [_RUN if words == (kind, name) else words[1] for words in zip(["", *value], value, strict=False)]


def _variable(draft: JobDraft, env: Fields, name: str, text: str, *, has_service: bool) -> None:
    """Rename or report a variable with the name of the object or its Service."""
    value, place = env[name], draft.places.get(f"env.{name}", draft.places.get("env", draft.place))
    in_host = re.search(rf"\w[)}}]*\.\$(?:\{{{name}\}}|\({name}\)|{name}(?!\w))", text) is not None
    if in_host or (has_service and re.fullmatch(_OF_SERVICE, name)):
        env[name] = _RUN
        hint = f"check that the program uses it for nothing else: the job has `{_RUN}`"
        draft.drop(
            place, f"`{name}: {value}`", "it is the Service of the pods, and that of a run has another name", hint
        )
    elif re.fullmatch(_OF_OBJECT, name):
        draft.drop(place, f"the name of the object in `{name}: {value}`", "a run has another one", _HINT)
