"""The emit stage: objects as canonical YAML that every reader reads back with the same meaning. The only YAML writer.

YAML 1.1 and 1.2 readers disagree on the types of `1e-3`, `08`, `0o17`, `y`, `on`, `1_000`, `12:30:45` and `~`. A string
is written without quotes only if every reader takes it for a string: it starts with a letter or `/`, contains only
harmless characters, and is not a word with another meaning in any YAML version. Other strings are quoted, or written as
literal blocks if they have several lines.

PyYAML's dumper leaves about fifteen such strings bare that Go's reader misreads, and takes ten times as long
(`docs/performance.md`). `tests/render/test_emit.py` compares this writer with three readers.

The first line of a file of a run has the record of the run, which decides whether `gen render` keeps a committed run.
It contains a digest of the fields of the job file, and none of the overlay or the version of gen: a run is kept when
only these change. The digest covers the text of the values in the file, not what a model reads from them, so that a new
version of gen computes the same one.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import orjson
from msgspec import Struct

from gen.base import BugError, Location, regex
from gen.base.engines import RECORDS, stopped_metadata
from gen.base.placeholders import HASH_LENGTH, RUN, TRIAL
from gen.base.repository.layout import object_file
from gen.kubernetes.objects import Body, identity_of
from gen.render.results import File, Manifest, SealedObjects

if TYPE_CHECKING:
    import re

    from gen.base.yaml.strict import Data
    from gen.render.job_run import RunValues


SCHEDULE: Final = "schedule"
"""The field of jobs with runs that are named after their times."""
SWEEP: Final = "sweep"
"""The field that gives a job several runs. Only the values of a run are a part of it."""
SEARCH: Final = "search"
"""The field of jobs with values that Katib chooses, by their metrics."""
KFP: Final = "kfp"
"""The field of pipelines for Kubeflow Pipelines."""
METRICS: Final = "metrics"
NOT_PART_OF_RUN: Final = frozenset({"state", "labels", "annotations", METRICS, "tensorboard", "name"})
"""Fields of a job that never start a new run, and the name, which counts as the name of the run."""
_JOB_DIGITS: Final = 32
"""Authors choose the content of a job, so its digest must withstand a search for collisions."""
_RESTART_DIGITS: Final = 12
_ORDERED: Final = "env"
"""Variables can refer to earlier ones, so their order counts. The order of all other mappings has no meaning."""
RECORD: Final = r"job (?P<job>[0-9a-f]{32})(?:, pins (?P<pins>[0-9a-f]{32}))?(?:, restart (?P<restart>[0-9a-f]{12}))?"
"""Form of a record in a first line."""
_TEXT: Final = regex(RECORD)


class Record(Struct, frozen=True, kw_only=True):
    """The job, pins and restart that a run was rendered for."""

    job: str
    """Digest of the job."""
    pins: str = ""
    """Digest of the pins of the images and the code that the job names; empty without any."""
    restart: str = ""
    """Digest of `runs.restartedFor` of the overlay; empty if it is not set."""

    def __str__(self) -> str:
        pins = f", pins {self.pins}" if self.pins else ""
        return f"job {self.job}{pins}" + (f", restart {self.restart}" if self.restart else "")

    @classmethod
    def parse(cls, text: str | None) -> Record | None:
        """The record in a first line; None if there is none."""
        match = _TEXT.fullmatch(text or "")
        if match is None:
            return None
        return cls(job=match["job"], pins=match["pins"] or "", restart=match["restart"] or "")

    def keeps(self, committed: Record, state: str) -> bool:
        """Whether a committed run is still the one that the job describes.

        A pin that moved is another run. The first pins are not: they name the content that it got by its tags.
        `restartedFor` and pins do not count for a record: nothing can replace what it says about what ran.
        """
        same = committed.pins in ("", self.pins) and self.restart == committed.restart
        return self.job == committed.job and (same or state in RECORDS)


def run_record(
    run: str,
    data: Data,
    restarted_for: str | None,
    own: RunValues | None = None,
    pins: Mapping[str, str] | None = None,
    decisive: frozenset[str] = frozenset(),
) -> Record:
    """The record of the run with this name, of a job file with these values.

    `own` are those of a run of a sweep. `decisive` are fields that start a new run only with some starters.
    """
    fields = data if isinstance(data, dict) else {}
    if own is not None:
        params = fields.get("params")
        swept = {name: value for name, value in own.params.items() if value is not None}
        values: Data = {**(params if isinstance(params, dict) else {}), **swept}
        fields = {**{name: value for name, value in fields.items() if name != SWEEP}, **own.fields, "params": values}
    left_out = NOT_PART_OF_RUN - decisive
    content = {name: _ordered(value, name) for name, value in fields.items() if name not in left_out}
    text = orjson.dumps([run, content], option=orjson.OPT_SORT_KEYS)
    restart = hashlib.sha256(restarted_for.encode()).hexdigest() if restarted_for is not None else ""
    pinned = hashlib.sha256(orjson.dumps(pins, option=orjson.OPT_SORT_KEYS)).hexdigest() if pins else ""
    return Record(
        job=hashlib.sha256(text).hexdigest()[:_JOB_DIGITS], pins=pinned[:_JOB_DIGITS], restart=restart[:_RESTART_DIGITS]
    )


def _ordered(value: Data, name: str = "") -> object:
    """The value with a list of pairs instead of each mapping with an order that counts."""
    if isinstance(value, dict):
        inner = {key: _ordered(item, key) for key, item in value.items()}
        return list(inner.items()) if name == _ORDERED else inner
    return [_ordered(item) for item in value] if isinstance(value, list) else value


HARMLESS = r"[A-Za-z0-9/_.@%+=,()~-]"
BARE = regex(rf"(?=[A-Za-z/]){HARMLESS}+(?::{HARMLESS}+)*(?: {HARMLESS}+(?::{HARMLESS}+)*)*")
WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"})
_UNSEEN = (
    r"\x7f-\xa0\xad\u0600-\u0605\u2000-\u200f\u2028-\u202f\u205f-\u2069\ud800-\udfff\ufeff\ufff0-\uffff"
    r"\U0001fffe-\U0010ffff"
)
"""Characters that a reader could drop, reject or take for the end of a line, or that are invisible to a reviewer."""
_UNFIT = regex(rf"[\x00-\x08\x0b-\x1f{_UNSEEN}]")
"""Characters that a literal block, which has no escapes, cannot contain."""
_ESCAPED = regex(rf"[\x00-\x1f\"\\{_UNSEEN}]")
_SHORT = {"\0": "\\0", "\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}

_QUOTE = "\ufdd7"
"""Placeholder of a quote around a text that begins with the hash of the run. It becomes a quote if the hash begins
with a digit."""

_FIRST = ("apiVersion", "kind", "metadata")
_SHOWN = 12


def emit(sealed: SealedObjects, overlay: str, record: str = "", *, stopped: bool = False) -> list[File]:
    """One file per object. File names do not contain the hash of the run, so that a new run is a small diff.

    `record` is in the first line of a run (see `gen.render.emit`). The objects of a `stopped` run are records.
    """
    run = sealed.digest
    manifests = [_stopped(manifest) if stopped and manifest.of_run else manifest for manifest in sealed.manifests]
    return [_file(manifest, overlay, record if manifest.is_workload else "", run) for manifest in manifests]


def _stopped(manifest: Manifest) -> Manifest:
    return manifest.with_body({**manifest.body, "metadata": stopped_metadata(manifest.body["metadata"])})


def _file(manifest: Manifest, overlay: str, record: str, run: str) -> File:
    body, storage = manifest.body, manifest.tree == "storage"
    path = f"{manifest.folder_in(overlay)}/{manifest.file or object_file(body['kind'], manifest.name)}"
    identity = _of_run(identity_of(body), run)
    return emit_file(path, body, manifest.source, identity, storage=storage, record=record, run=run)


def emit_file(
    path: str, body: Body, source: Location, identity: str, *, storage: bool = False, record: str = "", run: str = ""
) -> File:
    """A file with its header. `identity` is that of the object, or names the change that the file makes.

    `run` is the hash that replaces `RUN`; empty if the object does not have it.
    """
    text = to_yaml(body, run)
    digest = digest_of(text)
    return File(
        path=path,
        text=header(source.file, digest, record) + text,
        digest=digest,
        identity=identity,
        source=source,
        storage=storage,
        record=record,
    )


def digest_of(text: str) -> str:
    """SHA-256 of the text, which may contain surrogates if it was read from a file that is not UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def header(source: str, digest: str, record: str = "") -> str:
    """The first line: the source file, how to regenerate, a digest that reveals edits by hand, and a run's record."""
    digests = f"{digest[:_SHOWN]}, {record}" if record else digest[:_SHOWN]
    return f"# Generated by gen from {source}, do not edit: change that file and run `gen render`. [{digests}]\n"


def has_text_of(file: File, text: str) -> bool:
    """Whether a text is that of a file, which has only its digest if it comes from the cache."""
    if file.text is not None:
        return text == file.text
    first = header(file.source.file, file.digest, file.record)
    return text.startswith(first) and digest_of(text[len(first) :]) == file.digest


def content_of(file: File) -> str:
    """The content of a file, short: equal ones have equal texts."""
    return f"{file.source.file} {file.digest} {file.record}"


HEADER = regex(
    r"\ufeff?# Generated by gen from (?P<source>[^,\n]+), do not edit: [^\r\n]* \[(?P<digest>[0-9a-f]{12})"
    rf"(?:, (?P<record>{RECORD}))?\]"
    r"\r?(?:\n|\Z)"
)
"""The first line of a file that gen wrote, even if an editor or Git added a byte order mark or CRLF."""


def untouched(text: str, match: re.Match[str] | None = None) -> bool:
    """Whether a text that starts with a header of gen, which `match` is, if it was searched for, is unchanged."""
    match = match or HEADER.match(text)
    as_written = match is not None and match[0].startswith("#") and match[0].endswith("]\n")
    return match is not None and as_written and digest_of(text[match.end() :]).startswith(match["digest"])


def to_yaml(body: Body, run: str = "") -> str:
    """Block YAML with LF line ends: `apiVersion`, `kind` and `metadata`, then the other fields in their own order.

    `run` is the hash that replaces `RUN`. That is faster here than in the object.
    """
    lines: list[str] = []
    ordered = {key: body[key] for key in _FIRST if key in body}
    ordered.update(body)
    _mapping(lines, ordered, "", "")
    lines.append("")
    return _of_run("\n".join(lines), run)


def _of_run(text: str, run: str) -> str:
    """The text with the hash of its run in place of the placeholders; those of quotes never stay."""
    if text.isascii():
        return text
    if _QUOTE in text:
        text = text.replace(_QUOTE, "" if run[:1].isalpha() else '"')
    return text.replace(RUN, run).replace(TRIAL, f"trial-{run}") if run else text


def _mapping(lines: list[str], body: Body, indent: str, lead: str) -> None:
    """The entries of a mapping; `lead` is before the first key."""
    for key, value in body.items():
        kind = value.__class__
        if kind is str and "\n" not in value:  # most values
            lines.append(f"{lead}{scalar(key)}: {scalar(value)}")
        elif kind is dict and value:
            lines.append(f"{lead}{scalar(key)}:")
            _mapping(lines, value, inner := indent + "  ", inner)
        elif kind is list and value:
            lines.append(f"{lead}{scalar(key)}:")
            _sequence(lines, value, indent)
        else:
            _entry(lines, f"{lead}{scalar(key)}:", value, indent)
        lead = indent


def _sequence(lines: list[str], values: list[object], indent: str) -> None:
    inner = indent + "  "
    for value in values:
        if value.__class__ is dict and value:
            _mapping(lines, value, inner, f"{indent}- ")
        else:
            _entry(lines, f"{indent}-", value, inner if value.__class__ is list else indent)


def _entry(lines: list[str], head: str, value: Any, indent: str) -> None:
    """One value after its key or dash, which is `head`."""
    kind = value.__class__
    if kind is list and value:
        lines.append(head)
        _sequence(lines, value, indent)
    elif kind is str and "\n" in value and _fits_block(value):
        _block(lines, head, value, indent)
    else:
        lines.append(f"{head} {_inline(value)}")


def _inline(value: Any) -> str:
    """A value on the rest of a line."""
    kind = value.__class__
    if kind is str:
        return scalar(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is int or kind is float:
        return _number(value)
    if kind is dict:
        return "{}"
    if kind is list:
        return "[]"
    raise BugError(f"cannot write {kind.__name__}: {value!r}")


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise BugError(f"cannot write {value}: JSON has no such number")
    text = repr(value)
    return text if "e" not in text else text.replace("e", ".0e") if "." not in text else text


@lru_cache(maxsize=65536)
def scalar(text: str) -> str:
    """A string on one line, bare if that is safe for every reader."""
    if BARE.fullmatch(text) and text.lower() not in WORDS:
        return text
    if RUN in text or TRIAL in text:
        bare = [BARE.fullmatch(_of_run(text, first * HASH_LENGTH)) is not None for first in "0a"]
        if any(bare):
            return text if all(bare) else f"{_QUOTE}{text}{_QUOTE}"
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if 0xD800 <= code <= 0xDFFF:  # noqa: PLR2004 - the surrogates
        raise BugError("cannot write a lone surrogate: it has no UTF-8")
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004


def _fits_block(text: str) -> bool:
    """Whether all readers agree on the text as a literal block. Unusual white space at the ends is safer in quotes."""
    lines = text.removesuffix("\n").split("\n")
    return (
        lines[0] != ""
        and not lines[0].startswith((" ", "\t"))
        and lines[-1].strip() != ""
        and all(line.strip() or not line for line in lines)
        and (_is_plain(text) or _UNFIT.search(text) is None)
    )


def _is_plain(text: str) -> bool:
    """Whether a text has printable characters of ASCII, tabs, line ends and names of runs only, as nearly all."""
    text = text.replace("\n", "").replace("\t", "").replace(RUN, "").replace(TRIAL, "")
    return text.isascii() and text.isprintable()


def _block(lines: list[str], head: str, text: str, indent: str) -> None:
    """`|` keeps the final line break, `|-` has none. Lines are never folded."""
    lines.append(f"{head} |" if text.endswith("\n") else f"{head} |-")
    inner = indent + "  "
    lines.extend(f"{inner}{line}" if line else "" for line in text.removesuffix("\n").split("\n"))
