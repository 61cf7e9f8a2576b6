"""What a program prints: checks of it, variables with it, and files that later programs read."""

from __future__ import annotations

from tests.cases import for_each
from tests.importers.slurm.test_slurm import BASH, job, read, script

CAUGHT = "OUT=$(python a.py)\n"


@for_each(
    "body",
    [
        f'{CAUGHT}echo "$OUT" | grep -q OK || exit 5\npython b.py',
        f'{CAUGHT}echo "$OUT" | tail -1 | grep OK >/dev/null || {{ echo bad; exit 4; }}\npython b.py',
        f'{CAUGHT}echo "$OUT" | grep -q OK && python b.py\npython c.py',
        f'{CAUGHT}test "$OUT" = OK || exit 5\npython b.py',
        f'{CAUGHT}grep -q OK <<< "$OUT" || exit 5\npython b.py',
        f'{CAUGHT}if grep -q OK <<< "$OUT"; then python b.py; fi',
        "python a.py | grep -q OK || exit 5\npython b.py",
    ],
)
def test_a_program_starts_whose_output_decides(body: str) -> None:
    made = job(script("-N 1", body=body, interpreter=BASH)).fields["command"]
    assert (made if isinstance(made, str) else made[-1]) == body


@for_each(
    ("body", "message"),
    [
        (f"{CAUGHT}python b.py", "`python a.py` is not carried: no program reads its output"),
        (f'{CAUGHT}echo "$OUT"\npython b.py', "`python a.py` is not carried: the script only shows its output"),
        ('X=$(./a)\necho "$X"\npython b.py', "`./a` is not carried: the script only shows its output"),
    ],
)
def test_a_program_whose_output_nothing_reads_is_named(body: str, message: str) -> None:
    _, found = read(script("-N 1", body=body, interpreter=BASH))
    assert [one.message for one in found] == [message]


@for_each(
    ("body", "expected"),
    [
        ("for i in 1 2; do a $i; done > /tmp/o\nc /tmp/o", "a 1 > /tmp/o\na 2 >> /tmp/o\nc /tmp/o"),
        ("f() { a; b; }\nf > /tmp/o\nc /tmp/o", "a > /tmp/o\nb >> /tmp/o\nc /tmp/o"),
        ("{ a; b; } >> /tmp/o\nc /tmp/o", "a >> /tmp/o\nb >> /tmp/o\nc /tmp/o"),
        ("(a; b) > /tmp/o 2>&1 &\nwait\nc /tmp/o", "a > /tmp/o 2>&1\nb >> /tmp/o 2>&1\nc /tmp/o"),
        ("srun bash -c 'a; b' > /tmp/o\nc /tmp/o", "a > /tmp/o\nb >> /tmp/o\nc /tmp/o"),
        ("(a && b) | tee /tmp/o\nc /tmp/o", "(a && b) | tee /tmp/o\nc /tmp/o"),
        ("{ a; b || c; } > /tmp/o\nc /tmp/o", "{ a; b || c; } > /tmp/o\nc /tmp/o"),
        ("for i in 1 2; do a $i; done > out.log", "a 1\na 2"),
        (
            "for i in 1 2; do a $i & done > /tmp/o\nwait\nc /tmp/o",
            "for i in 1 2; do a $i & done > /tmp/o\nwait\nc /tmp/o",
        ),
    ],
)
def test_the_file_of_a_construct_has_the_outputs_of_all_its_programs(body: str, expected: str) -> None:
    assert job(script("-N 1", body=body, interpreter=BASH)).fields["command"] == expected
