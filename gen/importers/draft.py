"""A job in the making, for all importers: its fields and text, those of the overlay, and places of values. Commands
that start a container on a machine are opened, because their image and inner command belong to the pod.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace
from pydantic import ValidationError

from gen.base import BugError, Diagnostic, Findings, Location, Route, as_texts, entries, regex, set_value, with_texts
from gen.base.codes.imports import CANNOT_RUN, NEEDS_SECRET, NOT_CARRIED
from gen.base.codes.jobs import SECRET_VALUE
from gen.base.repository.layout import JobFile
from gen.base.yaml.source import source_of
from gen.base.yaml.user_text import written
from gen.importers import Fields, ImportedJob, Original
from gen.job.kinds import ALL_KINDS
from gen.job.kinds.base import Job
from gen.job.kinds.pipeline import PipelineJob
from gen.job.kinds.role import Target
from gen.job.names import name_meant
from gen.kubernetes.objects import Body
from gen.kubernetes.secrets import is_harmless, known_secrets, names_secret
from gen.overlay.profiles.storage import RESERVED_VOLUMES
from gen.render.model import parse_job

_EXPRESSION: Final = regex(r"\$+(?=\{[{%])|\{[{%]|(?<!\$)\{#(?=[^\n#]*#\})")
"""Syntax of gen itself, and not `${#A[@]}` of shells."""
_MAX_LABEL: Final = 63
_TO_REPLACE: Final = regex(r"<[^<>]*>|(?:your|change|insert|todo)[\W_].*|.*[\W_]here\W*|[*.xX]{3,}", re.IGNORECASE)
_IN_PLACE: Final = regex(r"(?i)<(?:[^<>]*[\W_])?(?:your|insert|token|key|secret|password)(?:[\W_][^<>]*)?>")
"""Values that people replace with a secret, and those with the form of a token of a model, such as `<pad>`."""


class JobDraft:
    """Collects the values of one job."""

    def __init__(self, name: str, kind: str, namespace: str, place: Location, found: Findings) -> None:
        self.name, self.namespace, self.place, self.found = name, namespace, place, found
        if name[:1].isdecimal():
            self.name = f"job-{name}"
            why = f"names of jobs start with a letter, so it is `{self.name}`"
            self.drop(place, f"the name `{name}`", why, "rename the file of the job, if you like")
        self.fields, self.overlay, self.grants = Fields(kind=kind), Fields(), Fields()
        self.places: dict[str, Location] = {}
        self.obstacles, self._secrets = list[Diagnostic](), dict[str, str]()

    def set(self, value: object, *route: str, place: Location | None = None) -> None:
        """Set a field of the job."""
        set_value(self.fields, route, value)
        if place is not None:
            self.places.setdefault(route[0], place)

    def place_lines(self, field: str, text: str, places: Iterable[Location]) -> None:
        """Set the places of the lines of a text in a field."""
        lines = [*zip(text.split("\n"), places, strict=False)]
        self.places = {f"{field}.{line.strip()}": place for line, place in reversed(lines)} | self.places

    def need(self, value: object, *route: str) -> None:
        """Set a field of the overlay."""
        set_value(self.overlay, route, value)

    def grant(self, field: str, value: str) -> None:
        """Add to a list of `namespaces.<namespace>` of the overlay."""
        known: list[str] = self.grants.setdefault(field, [])
        if value not in known:
            known.append(value)

    def drop(self, place: Location, what: str, why: str, hint: str) -> None:
        """Report that a value has no field."""
        self.found.warning(NOT_CARRIED, place, f"{what} is not carried: {why}", hint)

    def cannot_run(self, place: Location, message: str, hint: str) -> None:
        """Report that the program of the job cannot run in a pod."""
        self.found.warning(CANNOT_RUN, place, message, hint)
        self.obstacles.append(self.found.items[-1])

    def variable(self, name: str, text: str, place: Location) -> None:
        """Set a variable of the job."""
        self.set(self.hidden(name, text, place), "env", name, place=place)

    def hidden(self, name: str, text: str, place: Location, *, given: bool = True) -> str | Fields:
        """The value of a variable, or a reference in place of a secret. `given` is whether the text has the secret."""
        if not is_secret(name, text):
            return literal(text)
        self._secrets |= {name: text} if given else {}
        given = given and _TO_REPLACE.fullmatch(text) is None
        secret = f"{self.name}-env"
        hint = f"create a Secret `{secret}` with the key `{name}` in the namespace"
        hint = f"{hint}, and revoke the old value" if given else hint
        self.found.warning(NEEDS_SECRET, place, f"the value of `{name}` is a secret", hint)
        return {"secret": secret, "key": name}

    def metadata(self, key: str, text: str, *fields: str, place: Location | None = None) -> None:
        """Set a label or an annotation in these fields, with the grant that a key with a prefix, or of pods, needs."""
        for field in fields:
            self.set(literal(text), *field.split("."), key, place=place)
        if "/" in key or any(field.endswith("podLabels") for field in fields):
            self.grant("metadata", key)

    def volume(self, wanted: str, profile: Fields) -> str:
        """The name of a volume of the overlay with this profile, after `wanted`. Names can give the same label."""
        known: Fields = self.overlay.setdefault("volumes", {})
        name = label(wanted, "data")
        name = f"volume-{name}" if name in RESERVED_VOLUMES else name
        numbered = (f"{name[:59]}-{number}" for number in count(2))
        free = next(one for one in chain([name], numbered) if known.get(one, profile) == profile)
        known[free] = profile
        return free

    def join(self, queue: str, profile: Fields, place: Location) -> None:
        """Put the job into a queue of the overlay."""
        self.set(queue, "queue", place=place)
        self.need(profile, "queues", queue)
        self.grant("queues", queue)

    def rename_hosts(self, name: str, body: Body, namespace: str = "", services: Sequence[str] = ()) -> OwnHosts | None:
        """Replace the host names of the pods of an object with this name in programs, variables and files by those of
        the pods of a run. Returns them; None for an invalid job.
        """
        model = ALL_KINDS[self.fields["kind"]]
        job = validated(model, self.fields)
        if job is None:
            return None
        version = str(body.get("apiVersion", next(iter(model.facts.versions))))
        target = Target(api_version=version, served=version, namespace=self.namespace, name=self.name, run=self.name)
        roles = job.adapted(job.replica_roles(self.name), target)
        form = own_hosts(name, job, body, {self.namespace, namespace} - {""}, *services)
        hosts = OwnHosts(form, any(role.wait_for is not None for role in roles))
        routes = {field.partition(".")[0] for field in model.copied} | {"command", "args", "env", "files", "roles"}
        fields = {field: value for field, value in self.fields.items() if field in routes}
        self.fields |= with_hosts(fields, hosts, "{{ run.id }}", self.namespace)
        for role in ({}, *self.fields.get("roles", {}).values()):
            self._rename_parts(form, (name, *services), role)
        return hosts

    def _rename_parts(self, form: re.Pattern[str], names: Sequence[str], role: Fields) -> None:
        """Replace the names of an object in variables that programs of a role make host names of."""
        env = {**self.fields.get("env", {}), **role.get("env", {})}
        plain = {name: one for name, one in env.items() if isinstance(one, str) and "{{" not in one}
        parts = texts_in([one.get(field) for one in (self.fields, role) for field in (*_PROGRAM, "env", "files")])
        text = "\n".join(one for _, one in parts)

        def made(values: Fields) -> list[str]:
            known = _VARIABLE.sub(lambda found: values.get(found[1] or found[2] or found[3], found[0]), text)
            return [found[0] for found in form.finditer(known)]

        for name, value in plain.items():
            if value in names and made(plain) != made({key: one for key, one in plain.items() if key != name}):
                (role if name in role.get("env", {}) else self.fields)["env"][name] = "{{ run.id }}"
                why = "it is a part of the host name of a pod, and those of a run have another one"
                hint = "check that the program uses it for nothing else: the job has `{{ run.id }}`"
                self.drop(self.places.get("env", self.place), f"`{name}: {value}`", why, hint)

    def finished(self, comment: str, originals: tuple[Original, ...] = ()) -> ImportedJob | None:
        """The job; None if it has a secret, judging by its form. Values of `env` have been replaced before."""
        if self._has_secrets():
            return None
        self._report_absent()
        return ImportedJob(
            name=self.name,
            namespace=self.namespace,
            fields=self.fields,
            overlay={key: value for key, value in self.overlay.items() if value},
            grants=self.grants,
            comment=comment,
            place=self.place,
            places=self.places,
            originals=originals,
            obstacles=tuple(self.obstacles),
            secrets=self._secrets,
        )

    def _report_absent(self) -> None:
        """Report the first file that the program uses, and the pods do not have."""
        model = ALL_KINDS[self.fields["kind"]]
        version = self.overlay.get("operators", {}).get(self.fields["kind"], next(iter(model.facts.versions), ""))
        for file, hint in model.absent_files(version).items():
            texts = texts_in({name: self.fields.get(name) for name in (*_PROGRAM, "env", "roles")})
            for route, _ in [one for one in texts if file in one[1]][:1]:
                why = f"`{file}` is a file that pods of {version} do not have"
                self.cannot_run(self.places.get(str(route[0]), self.place), why, hint)

    def _has_secrets(self) -> bool:
        known = [*known_secrets({"job": self.fields, "overlay": self.overlay, "grants": self.grants})]
        for route, what, _ in known:
            field = str(route[1])
            hint = "move it to a Secret, and read it with `env` of the job; revoke it if it was ever pushed"
            message = f"`{field}` has what looks like {what}"
            self.found.error(SECRET_VALUE, self.places.get(field, self.place), message, hint)
        return bool(known)


def is_secret(name: str, text: str) -> bool:
    by_name = names_secret(name) and (not is_harmless(name, text) or _IN_PLACE.fullmatch(text) is not None)
    return by_name or next(known_secrets({"value": text}), None) is not None


def literals(value: object) -> Any:
    """A value of any type with all its texts as `literal` writes them."""
    return with_texts(value, literal)


def literal(text: str) -> str:
    """A text without expressions for gen."""
    return _EXPRESSION.sub(_quoted, text)


def _quoted(found: re.Match[str]) -> str:
    """An expression with the text as its value. gen refuses `{#` and `{%`, also in expressions."""
    shown = found[0]
    if shown.endswith(("%", "#")):
        return f"{{{{ '{{' }}}}{shown[1:]}"
    return f"{{{{ '{shown}' }}}}"


def label(text: str, otherwise: str) -> str:
    """A name of a volume or an accelerator from any text."""
    return (name_meant(re.sub(r"[^A-Za-z0-9]+", "-", text[:256])) or otherwise)[:_MAX_LABEL].strip("-") or otherwise


def as_read(value: object) -> object:
    """Values as the reader of job files returns them."""
    if isinstance(value, dict):
        return {name: as_read(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_read(inner) for inner in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


ORDER: Final = (
    *("kind", "needs", "when", "name", "params", "image", "imagePullPolicy", "command", "args", "workingDir", "env"),
    *("workers", "gpus", "accelerator", "cpu", "memory", "disk", "sharedMemory", "roles"),
    *("code", "data", "files", "tensorboard", "network", "placement", "queue", "priority"),
)
"""Fields of imported jobs, in the order of the documentation; others follow."""


def text_of(job: ImportedJob, schema: str) -> str:
    """The text of a job file. `schema` is the path of the JSON Schema for editors; it may be empty."""
    fields = _ordered(job.fields)
    if isinstance(steps := fields.get("steps"), dict):
        fields["steps"] = {name: _ordered(step) for name, step in steps.items()}
    first = f"# yaml-language-server: $schema={schema}\n" if schema else ""
    return f"{first}# {job.comment}\n{written(fields)}"


def _ordered(fields: Fields) -> Fields:
    return {name: fields[name] for name in dict.fromkeys((*ORDER, *fields)) if name in fields}


def check_text(job: ImportedJob, text: str, found: Findings) -> None:
    """Report invalid values, at the flag that set them."""
    own, file = Findings(), JobFile(job.namespace, job.name).file
    source = source_of(text.encode("utf-8", "surrogateescape"), file, own)
    if source is not None:
        parse_job(source, job.namespace, own)
    for item in own:
        if item.is_error:
            found.extend([replace(item, place=place_of(job, text, item.place.line))])
    for name, step in _steps_of(job):
        place = job.places.get(f"steps.{name}", job.place)
        check_text(replace(job, fields=step, place=place, places={}), text_of(replace(job, fields=step), ""), found)
    if source is not None and not own.failed() and source.data != as_read(job.fields):
        raise BugError(f"{file} does not read as it was written")


def _steps_of(job: ImportedJob) -> Iterator[tuple[str, Fields]]:
    """The steps of a pipeline as jobs of their own, to check their fields."""
    steps = job.fields.get("steps")
    common = {name: value for name, value in job.fields.items() if name not in PipelineJob.own_fields}
    common |= {"params": params} if (params := job.fields.get("params")) is not None else {}
    for name, fields in steps.items() if isinstance(steps, dict) else ():
        yield name, {**common, **{key: value for key, value in fields.items() if key not in ("needs", "when")}}


def place_of(job: ImportedJob, text: str, line: int) -> Location:
    """The origin of a line of a job file."""
    above = text.split("\n")[:line]
    field = _key_at(above, 0)
    known = (f"{field}.{above[-1].strip()}", f"{field}.{_key_at(above, 2)}", field)
    return next((job.places[one] for one in known if one in job.places), job.place)


def _key_at(above: list[str], indent: int) -> str:
    """The last key with this indentation."""
    start = re.compile(f" {{{indent}}}[^ #-]")
    return next((one.strip().partition(":")[0].strip("'\"") for one in reversed(above) if start.match(one)), "")


_INDEX: Final = r"(?:\d+|%[ds]|\{\d+\.\.\d+\}|\$\w+|\$\{\w+\}|\$\(+[^()\n]*\)+)"
"""A number of a pod, also one that a shell computes."""


def validated(model: type[Job], fields: Fields) -> Job | None:
    """The job with these fields; None if one is invalid."""
    try:
        return model.model_validate(as_read(fields))
    except ValidationError:
        return None


def object_words(job: Job) -> tuple[list[str], list[str]]:
    """What programs write before the name of an object: a label of its pods, and its kind for `kubectl`."""
    kind = job.facts.kind.lower()
    labels = [f"{label.rpartition('/')[2]}=" for label, more in job.facts.run_labels.items() if not more]
    return labels, [kind, f"{kind}s", f"{kind}s.{job.facts.group}"]


def own_hosts(name: str, job: Job, body: Body, namespaces: set[str], *services: str) -> re.Pattern[str]:
    """Names that a run of `job` has with its own name, for an object with this name: host names of its pods, and its
    name in labels and behind its kind. `services` are other names of the Service of the pods.
    """
    service = "|".join(map(re.escape, dict.fromkeys((name, *services))))
    ends = set()
    for pods in job.facts.of_pods.pods:
        for role in job.replica_roles(name):
            known = pods.pod_name if isinstance(pods.pod_name, str) else pods.pod_name(body, role.replica_type)
            host = known.removesuffix("-{random}")
            if host.startswith("{run}-"):
                end = host.removeprefix("{run}").format(_INDEX, _INDEX, role=re.escape(role.replica_type.lower()))
                ends.add(end if "{role}" in host else rf"{end}(?=\.(?:{service}))")  # a number alone is no host name
    labels, kinds = object_words(job)
    of_kinds = [rf"(?<![\w/.-]){re.escape(kind)}/" for kind in kinds]
    # the whole name, behind a kind or a label
    ends |= {rf"(?<={before}{re.escape(name)})" for before in (*of_kinds, *labels)}
    start = rf"(?<![\w.-])(?:(?P<url>(?<=//))|(?<!/)|{'|'.join(rf'(?<={before})' for before in of_kinds)})"
    start = rf"{start}{re.escape(name)}(?P<pod>{'|'.join(sorted(ends, reverse=True))})"
    known = "|".join(map(re.escape, sorted(namespaces)))
    domain = (
        rf"(?P<namespace>\.(?:(?:{known})(?![\w-])|[a-z0-9-]+(?=\.svc(?![\w-]))))?(?P<domain>\.svc(?:\.[a-z0-9-]+)*)?"
    )
    return re.compile(rf"{start}(?P<service>\.(?:{service})(?![\w-]))?{domain}(?![\w-]|\.\w|(?(url)(?!)|/))")


class OwnHosts(Struct, frozen=True):
    """Names of an object and of the hosts of its pods."""

    form: re.Pattern[str]
    needs_service: bool
    """Whether only names with that of the Service resolve."""


def with_hosts(value: Any, hosts: OwnHosts, run: str, namespace: str) -> Any:
    """A value with the host names of the pods of a run."""

    def renamed(found: re.Match[str]) -> str:
        service = f".{run}" if found["pod"] and (found["service"] or hosts.needs_service) else ""
        return f"{run}{found['pod']}{service}{f'.{namespace}' if found['namespace'] else ''}{found['domain'] or ''}"

    return with_texts(value, lambda text: hosts.form.sub(renamed, text) if hosts.form.search(text) else text)


def texts_in(value: object, route: Route = ()) -> Iterator[tuple[Route, str]]:
    """All texts in a value, with their routes."""
    if isinstance(value, str):
        yield route, value
    for key, inner in entries(value):
        yield from texts_in(inner, (*route, key))


def with_object(job: ImportedJob, other: ImportedJob, run: str) -> tuple[ImportedJob, str]:
    """A step with `run` in place of the name of the object of another step; and the first of its words that keep the
    name: two of `kubectl`, one with a parameter, or one of a container that only a patch has.
    """
    known = validated(ALL_KINDS[other.fields["kind"]], other.fields)
    if known is None:
        return job, ""
    body = next((one.body for one in other.originals), {})
    hosts = OwnHosts(own_hosts(other.name, known, body, {other.namespace}), needs_service=False)
    fields: Fields = with_hosts(job.fields, hosts, run, job.namespace)
    kinds = "|".join(map(re.escape, object_words(known)[1]))
    form = re.compile(rf"\bkubectl\s[^;&|\n]*?\b(?P<words>(?:{kinds})\s+{re.escape(other.name)})(?![\w.-])")
    every = [*(text for _, text in texts_in(fields)), *(" ".join(as_texts(fields.get(name))) for name in _PROGRAM)]
    left = [found["words"] for text in every for found in form.finditer(text)]
    originals = []
    for one in job.originals:
        of_proof = run.replace("{{ run.id }}", str(one.body["metadata"].get("name", job.name)))
        spec = with_hosts(one.body["spec"], hosts, of_proof, job.namespace)
        originals.append(replace(one, body={**one.body, "spec": spec}))
        ours, theirs = (
            [found[0] for _, text in texts_in(value) for found in hosts.form.finditer(text)]
            for value in (job.fields, one.body["spec"])
        )
        left += theirs if len(theirs) > len(ours) else []
    return replace(job, fields=fields, originals=job.originals if left else tuple(originals)), next(iter(left), "")


_PROGRAM: Final = ("command", "args")
_VARIABLE: Final = regex(r"\$(?:\{(\w+)\}|\((\w+)\)|(\w+))")
_RUN: Final = regex(r"(?:sudo\s+)?(?:nvidia-)?(?:docker|podman)\s+run\b")
_DAEMON: Final = regex(
    r"(?:sudo\s+)?(?:(?:service|systemctl)\b.*\bdocker\b|docker\s+(?:pull|login|load)\b).*|set\s+[-+]x"
)
_SWITCHES: Final = frozenset(
    ["-t", "-i", "-it", "-ti", "-d", "--rm", "--tty", "--interactive", "--init", "--detach", "--privileged"]
)
"""Options of `docker run` without a value."""


def opened_container(draft: JobDraft, command: str, place: Location, gpus: str = "") -> tuple[str, str]:
    """The command inside of the only `docker run` of a command on the machine, and its image. Another command stays as
    it is, without an image. `gpus` is the number of GPUs for one that takes all.
    """
    parts = [one.strip() for one in re.split(r"&&|;|\n", command)]
    outer = [one for one in parts if _RUN.match(one)]
    if len(outer) != 1 or any(not _DAEMON.fullmatch(one) for one in parts if one and one not in outer):
        return command, ""
    text = _RUN.sub("", outer[0], count=1)
    words = text.split()
    if text.count("'") % 2 or text.count('"') % 2:
        return command, ""  # a quote that is not closed
    lost = [one for one in parts if one and one not in outer]
    while words and words[0].startswith("-"):
        word = words.pop(0)
        value = "" if word in _SWITCHES or "=" in word or not words else words.pop(0)
        if gpus and (word, value) in (("--gpus", "all"), ("--gpus=all", "")):
            word, value = "--gpus", gpus
        _carry(draft, word, value, lost, place)
    if not words:
        return command, ""
    for one in lost:
        hint = "the pod is the container, and the overlay decides about its network and devices"
        if one.startswith("--gpus"):
            hint = "set `gpus` of the job to the number of a pod, or import it again with `--define GPUS=NUMBER`"
            message = f"`{one}` takes GPUs of a machine, and a pod has only those that it asks for"
            draft.cannot_run(place, message, hint)
            continue
        draft.drop(place, f"`{one}`", "it starts or configures the container", hint)
    return " ".join(words[1:]), words[0]


def _carry(draft: JobDraft, word: str, value: str, lost: list[str], place: Location) -> None:
    """Set a field to an option of `docker run`, or note it."""
    name, equals, inline = word.partition("=")
    value = inline if equals else value
    if name in ("-e", "--env") and "=" in value:
        draft.variable(value.partition("=")[0], value.partition("=")[2], place)
    elif name in ("-w", "--workdir") and value.startswith("/"):
        draft.set(literal(value), "workingDir", place=place)
    elif name == "--gpus" and value.isdecimal():
        draft.set(int(value[:4]), "gpus", place=place)
    elif name not in _SWITCHES or name == "--privileged":
        lost.append(f"{word} {value}".strip() if not equals else word)
