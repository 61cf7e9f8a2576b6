"""The status of a program: short checks become `||` behind it, and the command keeps it for others that read it."""

from __future__ import annotations

from tests.cases import for_each
from tests.importers.slurm.test_slurm import BASH, job, read, script

NODE = ("-N 1",)
TASKS = ("-N 1", "--ntasks-per-node=2")
DIE = 'die() { python say.py "$1"; exit ${2:-1}; }'
CASE = "case $rc in 0) ;; 3) exit 0;; *) exit $rc;; esac"
THREE = "case $rc in 0) python ok.py;; 124) python again.py;; *) python bad.py; exit $rc;; esac"
STARTED = "P=()\nfor i in 1 2; do python a.py $i & P+=($!); done"
IDS = "python a.py 1 &\nP_0=$!\npython a.py 2 &\nP_1=$!"
COUNTED = 'for p in "${P[@]}"; do wait $p || bad=$((bad+1)); done'
TRAP = "trap 'rc=$?; [ $rc -eq 0 ] && python ok.py || python bad.py --rc $rc' EXIT"


def command(body: str, *options: str) -> str:
    """The text of a job that is ready."""
    made = job(script(*(options or NODE), body=body, interpreter=BASH))
    assert made.obstacles == ()
    text = made.fields["command"]
    return text if isinstance(text, str) else str(text[-1])


@for_each(
    "body",
    [
        f"python b.py\nrc=$?\n{CASE}\npython c.py",
        f"python b.py\nrc=$?\n{DIE}\ncase $rc in 0) ;; *) die no $rc;; esac\npython c.py",
        f"python b.py\nrc=$?\n{THREE}",
        "python a.py\nrc=$?\n[ $rc -eq 0 ] && touch ok || { touch failed; exit $rc; }",
        "python a.py\nrc=$?\nif [ $rc -eq 0 ]; then python up.py --ok; else python up.py --failed; fi\nexit $rc",
        'python a.py\nrc=$?\nif [ $rc -ne 0 ] && [ $rc -ne 2 ]; then exit $rc; fi\npython b.py --rc "$rc"',
        "bash <<'E'\npython a.py\nE\nrc=$?\nif [ $rc -ne 0 ]; then touch no; exit $rc; fi\ntouch ok",
        "python a.py\nif [ $? -ne 0 ]; then python c.py; exit 1; fi\npython b.py",
        "python a.py\nif [ $? -eq 0 ]; then echo b; else python c.py; fi",
        "python a.py\necho $? > status\npython b.py status",
        "python a.py | python b.py\nif [ ${PIPESTATUS[0]} -ne 0 ]; then exit 1; fi\npython c.py",
        "python a.py 2>&1 | tee b.log\nif [ ${PIPESTATUS[0]} -ne 0 ]; then exit 1; fi\npython c.py b.log",
        "python a.py\nrc=$?\npython b.py --rc $rc",
        f"{TRAP}\npython a.py",
        "trap 'echo failed; exit 2' ERR\npython a.py\npython b.py",
        "a &\nb &\nfor p in $! $!; do wait $p || exit 1; done",
        "a &\nb &\nwait -n\nc",
    ],
)
def test_the_command_keeps_a_status_that_it_reads(body: str) -> None:
    assert command(body) == body


@for_each(
    ("body", "expected"),
    [
        ("a\ntest $? -eq 0 || exit 3\nb", "a || exit 3\nb"),
        ("a\nif test $? -ne 0; then exit 3; fi\nb", "a || exit 3\nb"),
        ("a\n(( $? )) && exit 3\nb", "a || exit 3\nb"),
        ("a\nS=$?\n(( S == 0 )) || exit $S\nb", "a || exit\nb"),
        ("a\nS=$?\n(( S )) && exit $S\nb", "a || exit\nb"),
        ("a\nS=$?\nE=$(date +%s)\nD=$((E - 1))\nif [ $S -ne 0 ]; then exit $S; fi\nb", "a || exit\nb"),
        ("a\nS=$?\nE=$(date)\nif [ $S -ne 0 ]; then echo c; kill $P 2>/dev/null; exit $S; fi\nb", "a || exit\nb"),
        ('c=$("/x/conda" shell.bash hook)\nif [ $? -eq 0 ]; then eval "$c"; else . /x/conda.sh; fi\na', "a"),
        ("srun a\nX=$?\nif [ $X -ne 0 ]; then exit $X; fi\nb $X", "a || exit\nb 0"),
        ("a\nr=$?\nf() { [ $1 -ne 0 ] && exit $1; }\nf $r\nb", "a\nr=$?\n[ $r -ne 0 ] && exit $r\nb"),
        (
            "die() { exit 1; }\na | tee l || die\nS=${PIPESTATUS[0]}\nb\nexit $S",
            "a || exit 1\nS=$?\nb\nexit $S",
        ),
        ("a\nA=$?\nb\nB=$?\nexit $((A + B))", "a\nA=$?\nb\nB=$?\nexit $(($A + $B))"),
        ('a\nst=$?\nmsg="rc=$st"\nb "$msg"', 'a\nst=$?\nmsg=rc=$st\nb "$msg"'),
        ("a\nst=$?\nexport ST=$st\nb\n[ $ST = 0 ] || exit $ST", "a\nst=$?\nexport ST=$st\nb\n[ $ST = 0 ] || exit $ST"),
        (
            "f() { a; return $?; }\nf\nr=$?\nif [ $r -gt 1 ]; then b; fi\nexit $r",
            "a\nr=$?\nif [ $r -gt 1 ]; then b; fi\nexit $r",
        ),
        ("a\nb --rc $?", "a\nstatus=$?\nb --rc $status"),
        ("status=4\na\nb --rc $? $status", "a\nstatus_before=$?\nb --rc $status_before 4"),
        ("a\nA=4\nb --rc $? $A", "a\nb --rc 0 4"),
        ("a\necho c\nrc=$?\nif [ $rc -eq 0 ]; then b --rc $rc; fi", "a\nb --rc 0"),
        ("a &\nrc=$?\nb --rc $rc", "a &\nb --rc 0"),
        (
            "t=0\na\nt=$((t + $?))\nb\nrc=$?\n((t += rc))\nexit $t",
            "a\nt_0=$?\nt=$((0 + $t_0))\nb\nrc=$?\nt=$(($t + ( $rc)))\nexit $t",
        ),
        (
            "R=()\na; R+=($?)\nb; R+=($?)\nfor r in ${R[@]}; do [ $r -ne 0 ] && exit $r; done\nc",
            "a\nR_0=$?\nb\nR_1=$?\nR=($R_0 $R_1)\nfor r in ${R[@]}; do [ $r -ne 0 ] && exit $r; done\nc",
        ),
        (
            "bad=0\nfor i in 1 2; do a $i; rc=$?; [ $rc -ne 0 ] && bad=1; done\nexit $bad",
            "a 1\nrc=$?\nbad=0\n[ $rc -ne 0 ] && bad=1\na 2\nrc=$?\n[ $rc -ne 0 ] && bad=1\nexit $bad",
        ),
        (
            "A=(x y)\na\nif [ $? -eq 3 ]; then for i in $(b); do c ${A[$i]}; done; fi",
            "a\nstatus=$?\nA=(x y)\nif [ $status -eq 3 ]; then for i in $(b); do c ${A[$i]}; done; fi",
        ),
        (f"srun bash -c 'b; rc=$?; {CASE}'\nc", f"(b; rc=$?; {CASE})\nc"),
        (
            f"{STARTED}\nbad=0\n{COUNTED}\n(( bad > 1 )) && exit 9\nb --bad $bad",
            f"{IDS}\nbad=0\nP=($P_0 $P_1)\n{COUNTED}\n(( bad > 1 )) && exit 9\nb --bad $bad",
        ),
        (
            f"{STARTED}\nbad=0\n{COUNTED}\nif (( bad > 1 )); then exit 1; fi\nb",
            f"{IDS}\nbad=0\nP=($P_0 $P_1)\n{COUNTED}\nif (( bad > 1 )); then exit 1; fi\nb",
        ),
        (f"{STARTED}\nfor p in ${{P[@]}}; do wait $p || echo no; done", "python a.py 1 &\npython a.py 2 &\nwait"),
        ("a &\nb &\nwait -n || { kill $(jobs -p); exit 1; }\nwait\nc", "a &\nb &\nwait -n || exit 1\nwait\nc"),
        ("a &\nb\nkill %1\nwait", 'a &\nb\nkill "$!"\nwait'),
    ],
)
def test_a_status_is_a_variable_of_the_command_where_it_must_be(body: str, expected: str) -> None:
    assert command(body) == expected


def test_a_wait_for_the_next_program_needs_bash() -> None:
    made = job(script(*NODE, body="a &\nb &\nwait -n\nc", interpreter=BASH))
    assert made.fields["command"] == ["bash", "-c", "a &\nb &\nwait -n\nc"]


@for_each(
    ("options", "body", "line", "message"),
    [
        (NODE, "while [ ${rc:-1} -ne 0 ]; do srun a; rc=$?; done\nb", 4, "the status of a program is not carried"),
        (TASKS, f"srun bash -c 'a; rc=$?; {THREE}'", 5, "the status of a program is not carried: it counts as 0"),
        (TASKS, "srun bash -c 'a; b $?'", 5, "a program has the status of another one among its arguments"),
        (NODE, 'trap "echo no" ERR\na', 4, "`trap echo no` is not carried: it only says that a program has failed"),
        (NODE, "f() { a; }\ntrap 'exit 3' ERR\nf\nb", 5, "`trap exit 3` is not carried: after a program that fails"),
    ],
)
def test_a_status_that_counts_as_0_is_named(options: tuple[str, ...], body: str, line: int, message: str) -> None:
    found = read(script(*options, body=body, interpreter=BASH))[1]
    assert [one for one in found if one.place.line == line and one.message.startswith(message)], found


@for_each(
    ("body", "expected"),
    [
        ("a\nb || true", "a\nb || true"),
        ("a && echo b || echo c", "a || true"),
        ("a || echo b", "a || true"),
        ("a || true\nb", "a\nb"),
        ("set -e\na || true\nb", "set -e\na || true\nb"),
    ],
)
def test_a_failure_that_the_script_ignores_at_its_end_is_none_of_the_job(body: str, expected: str) -> None:
    assert job(script("-N 1", body=body, interpreter=BASH)).fields["command"] == expected
