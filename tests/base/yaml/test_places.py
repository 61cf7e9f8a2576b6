"""Places of values: parsing a field alone gives the same ones as parsing the whole file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from gen.base.findings import Findings, Route
from gen.base.yaml.source import Source, source_of
from gen.base.yaml.strict import Data
from tests.cases import for_each

if TYPE_CHECKING:
    from collections.abc import Iterator


PLAIN = "# a job\nkind: mpi\n\ncode: {git: https://example.com/a.git,\n  ref: main}\nargs:\n- a\n- {b: c}\n# end\n"

UNUSUAL = {
    "text at the start of a line": 'a: "x\ncode: y"\ncode: {ref: main}\n',
    "as many lines as fields": '"code": "x\ncode: y"\nb: {ref: main}\n',
    "flow at the start of a line": "a: {b: c,\ncode: d}\ncode: {ref: main}\n",
    "all in braces": "{a: b,\ncode: {ref: main}}\n",
    "explicit key": "? code\n: {ref: main}\nb: c\n",
    "start of a document": "---\ncode: {ref: main}\n",
    "end of a document": "code: {ref: main}\n...\n",
    "indented": "  a: b\n  code: {ref: main}\n",
    "indented, with text at the start of a line": "  a: 'x\na: c'\n  b: 'y\nb: d'\n",
    "names like other characters": "{\"\": 1,\n'''': 2}\n",
    "other end of a line": "a: b\rcode: {ref: main}\nb: c\n",
    "rare end of a line": "a: 'x\u2028b: c'\ncode: {ref: main}\n",
    "CRLF": "a: b\r\ncode:\r\n  ref: main\r\n",
    "list": "- code: {ref: main}\n",
    "block": "a: |\n  code: b\n\n\ncode: {ref: main}\n",
    "empty name": '"": b\ncode: {ref: main}\n',
}


def sources(text: str) -> tuple[Source, Source] | None:
    """A file, and the same one that always parses the whole text; None if the text is invalid."""
    found = Findings()
    one, other = (source_of(text.encode("utf-8", "surrogatepass"), "job.yaml", found) for _ in range(2))
    if one is None or other is None:
        return None
    vars(other)["_spans"] = {}
    return one, other


def routes(data: Data) -> Iterator[Route]:
    """Routes of all values, each with one that does not exist below it."""
    yield ()
    yield ("missing",)
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from ((key, *route) for route in routes(value))


def test_only_the_field_is_parsed() -> None:
    both = sources(PLAIN)
    assert both is not None
    assert both[0].place(("code", "ref")).line == 5
    assert both[0].place(("args", 1, "b")).line == 8
    assert "_root" not in vars(both[0])


@for_each("text", [PLAIN, *UNUSUAL.values()], ids=["plain", *UNUSUAL])
def test_places_in_unusual_files(text: str) -> None:
    both = sources(text)
    assert both is not None
    assert [both[0].find(route) for route in routes(both[0].data)] == [
        both[1].find(route) for route in routes(both[0].data)
    ]


class Counted(str):
    """A text that knows in how many characters lines were counted."""

    __slots__ = ("counted",)
    counted: int

    def count(self, *given: Any) -> int:
        _, start, end = given
        self.counted += end - start
        return super().count(*given)


def test_lines_before_fields_are_counted_once() -> None:
    both = sources("\n# a\n" * 50 + "".join(f"a{number}: b\n" for number in range(200)))
    assert both is not None
    text = Counted(both[0].text)
    text.counted = 0
    own = replace(both[0], text=text)
    assert [own.place((f"a{number}",)).line for number in range(200)] == [*range(101, 301)]
    assert 0 < text.counted < len(text)


DATA = st.recursive(
    st.text("ab1:#-' \n\u2028", max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=3), inner, max_size=3),
    max_leaves=12,
)

ANY = st.text("ab:#-'\"{},[]|>? \n\r", max_size=40)


@given(
    text=st.builds("{0}a: {1}\n{0}b:\n  {0}a: b\n".format, st.sampled_from(["", "  "]), ANY)
    | st.builds(
        lambda data, style, width, flow: yaml.dump(data, default_style=style, width=width, default_flow_style=flow),
        DATA,
        st.sampled_from([None, '"', "'", "|"]),
        st.sampled_from([2, 80]),
        st.sampled_from([None, False, True]),
    )
)
@example(text="a: 'b\na: c'\nb:\n  a: b\n")
def test_places_in_any_file(text: str) -> None:
    if (both := sources(text)) is None:
        return
    for route in routes(both[0].data):
        assert both[0].find(route) == both[1].find(route)
