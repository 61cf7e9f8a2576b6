"""Variables of files that the batch part exports are named at the line of the file."""

from __future__ import annotations

from tests.cases import for_each
from tests.importers.slurm.test_slurm import BASH, read, script

LOOP = 'while IFS="=" read -r k v; do\n  [[ $k == \\#* ]] && continue\n  export "$k=$v"\ndone < "$P/.env"'


@for_each(
    ("body", "line"),
    [
        ("export $(grep -v '^#|x' $P/.env | xargs)", 5),
        ("if [[ -f $P/.env ]]; then\n  export $(xargs < $P/.env)\nfi", 6),
        ("[ -f $P/.env ] && export $(cat $P/.env | xargs)", 5),
        (f"if [ -f $P/.env ]; then\n  {LOOP}\nfi", 6),
        ('if [ -f "$P/.env" ]; then set -a; source "$P/.env"; set +a; fi', 5),
        ("set -a\n. $P/.env", 6),
        ("set -a\n. $P/prod.env", 6),
        ('F="$P/.env"\nif [ -f "$F" ]; then source "$F"; fi', 6),
    ],
)
def test_a_file_with_variables_is_named(body: str, line: int) -> None:
    jobs, found = read(script("-N 1", body=f"P=/a\n{body}\nb", interpreter=BASH))
    assert jobs[0].fields["command"] == "b"
    ((place, message, hint),) = [(one.place, one.message, one.hint) for one in found]
    assert getattr(place, "line", 0) == line
    assert message.startswith("each variable of the file `/a/")
    assert "{secret: NAME, key: KEY}" in str(hint)


@for_each(
    ("body", "message"),
    [
        ("if [ -f x ]; then export $(ask x); fi", "the other case of `[ -f x ]` is not carried"),
        ("export $(ask x)", "the declaration of `$(ask x)` is not carried"),
    ],
)
def test_variables_with_names_that_a_program_prints_are_reported(body: str, message: str) -> None:
    _, found = read(script("-N 1", body=f"{body}\nb", interpreter=BASH))
    assert any(one.message.startswith(message) for one in found), [one.message for one in found]
