"""The job keeps the order of the script: options of the shell, `IFS`, folders, loops that stay, and images."""

from __future__ import annotations

from gen.base import Findings
from gen.importers import IMPORTERS, ImportInput
from tests.cases import for_each
from tests.importers.slurm.test_slurm import BASH, job, read, script

NODE = ("-N 1",)


def test_an_error_ends_the_job_as_it_ends_the_script() -> None:
    piped = job(script(*NODE, body="set -euo pipefail\na | b > c\nd c", interpreter=BASH)).fields["command"]
    assert piped == ["bash", "-c", "set -eo pipefail\na | b > c\nd c"]
    assert job(script(*NODE, body="a\nb", interpreter=f"{BASH} -eu")).fields["command"] == "set -e\na\nb"


@for_each(
    ("body", "expected"),
    [
        ("a | b || exit 4\nc", "a | b || exit 4\nc"),
        ("if ! a | b; then exit 4; fi\nc", "if ! a | b; then exit 4; fi\nc"),
        ("c\na | b", "c\na | b"),
        ("a | b > d && c d", "a | b > d &&\nc d"),
    ],
)
def test_a_job_has_pipefail_where_a_pipe_decides(body: str, expected: str) -> None:
    made = job(script(*NODE, body=f"set -o pipefail\n{body}", interpreter=BASH)).fields["command"]
    assert made == ["bash", "-c", f"set -o pipefail\n{expected}"]


def test_a_job_without_a_pipe_that_decides_has_no_pipefail() -> None:
    body = "set -o pipefail\na | b\nc 2>&1 | tee d || exit 1\ne"
    assert job(script(*NODE, body=body, interpreter=BASH)).fields["command"] == "a | b\nc || exit 1\ne"


@for_each(
    ("body", "expected"),
    [
        ("set -e\na\nset +e\nb\nR=$?\nset -e\nc\nexit $R", "set -e\na\nset +e\nb\nR=$?\nset -e\nc\nexit $R"),
        ("set -e\nset +e\na\nb", "a\nb"),
        ("a\nif [ $? -ne 0 ]; then\n  echo c\n  exit 2\nfi\nb", "a || exit 2\nb"),
        ("a\n[[ $? -ne 0 ]] && exit 1\nb", "a || exit 1\nb"),
        ("a\n[ $? -eq 0 ] || { echo c; exit 3; }\nb", "a || exit 3\nb"),
        ("a\nR=$?\n[ $R -ne 0 ] && exit $R\nb", "a || exit\nb"),
        ("a\n(( $? != 0 )) && exit 1\nb", "a || exit 1\nb"),
        ("a\n# c\nR=$?\necho $R\nif [ $R -ne 0 ]; then\n  echo c; exit $R\nfi\nb", "a || exit\nb"),
        ("a\nR=$?\nif (( R != 0 )); then echo c >&2; exit 2; fi\nb", "a || exit 2\nb"),
        ("a 2>&1 | tee c\nR=${PIPESTATUS[0]}\nif [ $R -ne 0 ]; then exit $R; fi\nb", "a || exit\nb"),
        ("a | tee c\nif [ ${PIPESTATUS[0]} -ne 0 ]; then exit 1; fi\nb", "a || exit 1\nb"),
        ("a | tee c\nR=${PIPESTATUS[0]}\nb\nexit $R", "a\nR=$?\nb\nexit $R"),
        ("srun bash -c 'b; S=$?; c; exit $S'\nd", "(b; S=$?; c; exit $S)\nd"),
        ("(S=0; b || S=$?; exit $S) || exit 3\nd", "(S=0; b || S=$?; exit $S) || exit 3\nd"),
        (
            "srun bash -c 'E=0; b || E=$?; echo $E; exit ${E}'\nR=$?\nd\nexit $R",
            "(E=0; b || E=$?; exit $E)\nR=$?\nd\nexit $R",
        ),
        ("a | b\nR=${PIPESTATUS[0]}\nd\nexit $R", "a | b\nR=${PIPESTATUS[0]}\nd\nexit $R"),
        ("a | tee c\nexit ${PIPESTATUS[0]}", "a"),
        ("cat > b.sh <<E\na\nE\nbash b.sh\nrm b.sh", "bash /etc/job/b.sh"),
        ("if ask; then RESUME=b; fi\nsrun a c $RESUME d", "if ask; then RESUME=b; fi\na c $RESUME d"),
        ("set -e\nsrun bash -c 'a; b'\nc", "a\nset -e\nb\nc"),
        ("set -e\nsrun bash -c 'a && b'\nc", "set -e\n(a && b)\nc"),
        ("set -e\n(a && b && c)\nd", "set -e\n(a && b && c)\nd"),
        ("set -e\n(a && b) && c\nd", "set -e\na &&\nb &&\nc\nd"),
        ("set -e\nsrun bash -c 'a && b'", "a &&\nb"),
        ("srun bash -ec 'a; b'\nc", "(set -e; a; b)\nc"),
        ("(set -e; a; b)\nc", "(set -e; a; b)\nc"),
        ("(set -e; a; b)", "set -e\na\nb"),
        ("set -e\n(a; b) &\nc", "set -e\n(a; b) &\nc"),
        ("srun bash -c 'a || exit 1; b'\nc", "(a || exit 1; b)\nc"),
        ("srun bash -c 'a || exit 1; b'", "a || exit 1\nb"),
        ("(a || exit 1)\nb", "a\nb"),
        (
            "set -e\nsrun bash -c 'a || true'\n(b || exit 0)\nsrun bash -c 'c || exit 1'\nd",
            "set -e\na || true\nb || true\nc\nd",
        ),
        ("srun bash -c 'a || true'\n(b || exit 0)\nc", "a\nb\nc"),
        ("set -e\na\nset +e\n(set -e; b; c)\nd", "set -e\na\nset +e\n(set -e; b; c)\nd"),
        ("(cd c; a || exit 1; b)\nd", "(cd c; a || exit 1; b)\nd"),
        ("srun bash -c 'if a; then exit 3; fi'\nb", "(if a; then exit 3; fi)\nb"),
        ("srun bash -c 'if a; then exit 3; fi'", "if a; then exit 3; fi"),
        ("IFS=,\nfor x in $(cat a); do b $x; done\nunset IFS\nc", "IFS=,\nfor x in $(cat a); do b $x; done\nc"),
        ("A=a,b\nIFS=,\nfor x in $A; do c $x; done", "c a\nc b"),
        ('A=(a b)\nc $(IFS=,; echo "${A[*]}")', "c a,b"),
        ("cd /a\nb\ncd $SLURM_SUBMIT_DIR/c\nd", "cd /a\nb\ncd $OLDPWD/c\nd"),
        ("cd /a\nb\ncd /c\nd\ncd $SLURM_SUBMIT_DIR\ne", "SUBMIT_DIR=$PWD\ncd /a\nb\ncd /c\nd\ncd $SUBMIT_DIR\ne"),
        ("A=$(wc -l < b)\ncd /c\nd $A", "A=$(wc -l < b)\ncd /c\nd $A"),
        ("A=$(grep -v x b.txt | head -1)\ncd /c\nd $A", "A=$(grep -v x b.txt | head -1)\ncd /c\nd $A"),
        ("set -e\nmkdir b\ncd /c\nd", "set -e\nmkdir b\ncd /c\nd"),
        ("A=$(pwd)\ncd /c\nd $A/e", "SUBMIT_DIR=$PWD\ncd /c\nd $SUBMIT_DIR/e"),
        ("export A=$(b c)\ncd d\ne $A", "export A=$(b c)\ncd d\ne $A"),
        ("A=$(b c)\nexport A\ncd d\ne $A", "export A=$(b c)\ncd d\ne $A"),
        ("export A=$(cat b)\nc", "export A=$(cat b)\nc"),
    ],
)
def test_options_separators_and_folders_change_where_the_script_changes_them(body: str, expected: str) -> None:
    made = job(script("-N 1", "--gres=gpu:8", body=body, interpreter=BASH)).fields["command"]
    assert made in (expected, ["bash", "-c", expected])


def test_each_process_gets_what_the_launcher_computes() -> None:
    made = job(script("-N 2", "--ntasks-per-node=4", body="export A=$(b c)\nmpirun -np 8 d $A")).fields
    assert made["command"] == "export A=$(b c)\nmpirun -x A d $A"


def test_a_loop_that_stays_leaves_no_trace_of_its_turns() -> None:
    loop = "for v in {0..63}; do\n  cd r$v\n  echo $v > c\n  a c; b c; c c; d c\n  cd /e\ndone"
    fields = job(script(*NODE, body=loop, interpreter=BASH)).fields
    assert fields["command"] == ["bash", "-c", loop]
    assert not {"files", "workingDir", "env"} & fields.keys()


@for_each(
    ("body", "why"),
    [
        ("cd /a\nb\ncd $C\nd", "the job is in `/a`"),
        ("cd $C && rm -rf *\nd", "the job would remove files of its own folder"),
        ("cd $C\nrm -rf ./*\nd", "the job would remove files of its own folder"),
        ("cd $C\nrm -f core.*\nd", ""),
    ],
)
def test_a_program_behind_an_unknown_folder_cannot_run(body: str, why: str) -> None:
    _, found = read(script(*NODE, body=body, interpreter=BASH))
    expected = f"the folder of `cd` is known only on the machines, and {why}"
    assert (expected in [one.message for one in found]) == (why != "")


def test_an_array_of_one_task_is_no_sweep() -> None:
    made = job(script(*NODE, "--array=3-3", body="a --task $SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_COUNT")).fields
    assert made["command"] == "a --task 3 1"
    assert not {"array", "sweep", "workers"} & made.keys()


def test_the_image_may_set_what_only_its_shell_reads() -> None:
    made, found = read(script("-N 1", body="srun singularity exec a.sif bash -c '$B && python c.py'", interpreter=BASH))
    assert made[0].fields["command"] == ["bash", "-c", "$B &&\npython c.py"]  # it may be `source FILE`
    assert [one.message for one in found if "$B" in one.message] == [
        "`$B` of the container is not carried: the image of the script may set it"
    ]


@for_each(
    ("options", "body", "expected"),
    [
        (NODE, "for i in *; do\n  srun -u --exclusive -n1 a $i\ndone", "for i in *; do\n  a $i\ndone"),
        (NODE, "if ! srun a; then exit 1; fi\nb", "if ! a; then exit 1; fi\nb"),
        (NODE, "for i in *; do srun -n 1 a $i & done; wait", "for i in *; do a $i & done\nwait"),
        (NODE, "for i in *; do srun --gres=gpu:1 a & done", "for i in *; do srun --gres=gpu:1 a & done"),
        (NODE, "for i in *; do srun -n 2 a $i; done", "for i in *; do srun -n 2 a $i; done"),
        (NODE, "for i in *; do srun --chdir=/b a $i; done", "for i in *; do srun --chdir=/b a $i; done"),
        (("-N 1", "-n 2"), "for i in *; do srun a $i; done", "for i in *; do srun a $i; done"),
    ],
)
def test_a_construct_of_a_job_with_one_task_starts_its_programs_without_srun(
    options: tuple[str, ...], body: str, expected: str
) -> None:
    jobs, found = read(script(*options, body=body, interpreter=BASH))
    assert jobs[0].fields["command"] == expected
    assert any(one.message.startswith("`srun` does not work in a pod") for one in found) == ("srun" in expected)


def test_a_construct_that_stays_has_the_home_of_the_site() -> None:
    text = script("-N 1", body="! python ~/a.py '~/b' \"~/c\" --d=~/d\nif ask; then e ~; fi", interpreter=BASH)
    found = Findings()
    given = ImportInput(file="a.sh", text=text, otherwise="team", image="a/b:1", define={"HOME": "/home/me"})
    (made,) = IMPORTERS["slurm"]().read(given, found)
    assert made.fields["command"] == "! python /home/me/a.py '~/b' \"~/c\" --d=~/d\nif ask; then e /home/me; fi"


def test_a_text_that_changes_its_folder_has_a_shell_of_its_own() -> None:
    made = job(script(*NODE, body='srun bash -c "cd /n && g && cd /n/c && A=1 make" && python e', interpreter=BASH))
    assert made.fields["command"] == "(cd /n && g && cd /n/c && A=1 make) &&\npython e"


@for_each(
    ("line", "expected"),
    [
        ("srun -D sub python a x=$PWD/b ./c", "cd sub\npython a x=../b ./c"),
        ("srun --chdir=$PWD/sub python a $PWD/sub/b", "cd sub\npython a ./b"),
        ("srun -D /w python a $PWD/b", "SUBMIT_DIR=$PWD\ncd /w\npython a $SUBMIT_DIR/b"),
    ],
)
def test_paths_of_a_program_are_from_the_folder_of_its_srun(line: str, expected: str) -> None:
    assert job(script(*NODE, body=line, interpreter=BASH)).fields["command"] == expected


@for_each(
    "line",
    ["if [ ! -d b ]; then mkdir b; fi", "[ -d b ] || mkdir b", "[ ! -e b ] && mkdir b"],
)
def test_a_folder_that_may_exist_is_made_with_its_parents(line: str) -> None:
    body = f"set -e\n{line}\npython a.py --out b"
    assert (
        job(script(*NODE, body=body, interpreter=BASH)).fields["command"] == "set -e\nmkdir -p b\npython a.py --out b"
    )


def test_a_program_in_the_background_of_a_task_stays_there() -> None:
    made = job(script(*NODE, body='srun bash -c "a &"\nsrun b', interpreter=BASH)).fields["command"]
    assert made == "a &\nb"
