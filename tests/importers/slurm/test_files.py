"""Files that a script writes are those that the programs of its job read; others are logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.base.findings import Findings
from gen.importers import IMPORTERS, ImportedJob, ImportInput
from tests.cases import for_each
from tests.importers.slurm.test_slurm import BASH, job, read, script
from tests.importers.slurm.test_steps import command

if TYPE_CHECKING:
    from collections.abc import Sequence

NODE = ("-N 1", "--gres=gpu:1")
OF_TEE = "the cluster keeps the logs, and the status is that of the program instead of `tee`"
HOSTS = "H=.hosts-$SLURM_JOB_ID\nsrun hostname > $H\nsed s/a/b/ $H > hosts.txt\npython a.py"


@for_each(
    ("body", "command", "files"),
    [
        ("echo '{\"a\": 1}' > b.json\npython a.py b.json", "python a.py /etc/job/b.json", {"b.json": '{"a": 1}\n'}),
        (
            "echo a > b\necho c >> b\nprintf '%s\\n' d >> ./b\npython a.py b",
            "python a.py /etc/job/b",
            {"b": "a\nc\nd\n"},
        ),
        ("cat > b <<E\na\nE\necho c >> b\npython a.py b", "python a.py /etc/job/b", {"b": "a\nc\n"}),
        ("python b.py > c.json\npython a.py c.json > log", "python b.py > c.json\npython a.py c.json", {}),
        ("echo $(curl x) > b\npython a.py b", "echo $(curl x) > b\npython a.py b", {}),
        ("srun python b.py >> d/c 2>&1\npython a.py --in=d/c", "python b.py >> d/c 2>&1\npython a.py --in=d/c", {}),
        ("cat b* > all\npython a.py all", "cat b* > all\npython a.py all", {}),
        ("sed s/a/b/ c > d\npython a.py", "sed s/a/b/ c > d\npython a.py", {}),
        ("echo start > a.log\npython a.py > a.log", "python a.py", {}),
        (HOSTS, "python a.py", {}),
        ("for h in $(scontrol show hostnames); do echo $h >> b; done\nmpirun --hostfile b a\nrm -f b", "mpirun a", {}),
        ("mkdir -p l\npython a.py > l/b", "python a.py", {}),
        ("mkdir -p l && a >> ./l/b && b", "a &&\nb", {}),
        ("a && mkdir -p l && b > l/c", "a &&\nb", {}),
        ("mkdir -p l\ncd l\npython a.py > b", "mkdir -p l\ncd l\npython a.py", {}),
        ("mkdir -p l /d\npython a.py > l/b", "mkdir -p l /d\npython a.py", {}),
        ("mkdir -p l\npython a.py --out l/o > l/b", "mkdir -p l\npython a.py --out l/o", {}),
        ("mkdir -p o/l\npython a.py --out o > o/l/b", "mkdir -p o/l\npython a.py --out o", {}),
        ("mkdir -p l\nexport L=l\npython a.py > l/b", "mkdir -p l\npython a.py", {}),
        ("mkdir -p l\ncd c\npython a.py > l/b", "mkdir -p l\ncd c\npython a.py", {}),
    ],
)
def test_programs_have_the_files_that_they_read(body: str, command: str, files: dict[str, Any]) -> None:
    made = job(script(*NODE, body=body, interpreter=BASH)).fields
    assert made["command"] == command
    assert made.get("files", {}) == {f"/etc/job/{name}": text for name, text in files.items()}


@for_each(
    ("written", "text"),
    [
        ("cat > b <<E\n    a:\n      c: 1\n  d: 2\nE", "    a:\n      c: 1\n  d: 2\n"),
        ("cat <<'E' > b\n\n  a\nc\n\nE", "\n  a\nc\n\n"),
        ("cat > b <<E\n\n \n  a\n\n\nE", "\n \n  a\n\n\n"),
        ("cat > b <<E\n\nE", "\n"),
        ("cat > b <<-E\n\t  a\n\t\tc\n\t \td\n\tE", "  a\nc\n \td\n"),
        ("cat > b <<- E\n    a\n  c\nE", "    a\n  c\n"),
        ("cat > c <<E\n  c\nE\ncat > b <<E\n  $HOME_OF\nE", "  /h\n"),
    ],
)
def test_files_have_the_texts_of_here_documents(written: str, text: str) -> None:
    body = f"HOME_OF=/h\n{written}\npython a.py b"
    assert job(script(*NODE, body=body, interpreter=BASH)).fields["files"]["/etc/job/b"] == text


def on_data(text: str) -> tuple[Sequence[ImportedJob], Sequence[Any]]:
    """The job of a script for a site with the volume `/data`, and the findings."""
    site, found = ("site.yaml", b"paths: {/data: data}\n"), Findings()
    given = ImportInput(file="a.sh", text=text, otherwise="team", image="a/b:1", site=site)
    return IMPORTERS["slurm"]().read(given, found), found.items


@for_each(
    ("body", "expected"),
    [
        ("echo x >> /data/t\npython a.py /data/t", None),
        ("echo x > /data/t\npython a.py /data/t", None),
        ('V=$(cat /data/m)\necho "$V" > /data/t\npython a.py /data/t', None),
        ('V=$(cat /data/m)\nprintf "%s-\\n" "$V" > t\npython a.py t', None),
        ("F=/data/t\necho $(hostname) >> $F\npython a.py $F", "echo $(hostname) >> /data/t\npython a.py /data/t"),
        ("echo x >> /data/t\npython a.py", "python a.py"),
        ("exec > /data/log 2>&1\npython a.py\npython b.py /data/log", None),
        ("exec > /data/log 2>&1\npython a.py", "python a.py"),
    ],
)
def test_the_only_pod_writes_what_a_later_program_reads_on_a_volume(body: str, expected: str | None) -> None:
    (made,), _ = on_data(script(*NODE, body=body, interpreter=BASH))
    fields = made.fields
    assert (fields["command"], fields.get("files")) == (expected or body, None)


def test_the_only_pod_redirects_all_outputs_to_a_file_that_a_program_reads() -> None:
    body = "exec > >(tee /data/log) 2>&1\npython a.py\npython b.py /data/log"
    assert job(script(*NODE, body=body, interpreter=BASH)).fields["command"] == ["bash", "-c", body]


@for_each(
    ("options", "body", "message"),
    [
        (
            NODE,
            "exec &> a.log\npython a.py",
            "the redirection of the output is not carried: the cluster keeps the logs",
        ),
        (("-N 2",), "echo x >> /data/t\nsrun python a.py /data/t", "no pod has the file `/data/t`, which the"),
        (NODE, "echo $(date) >> /data/t\npython a.py", "the file `/data/t` is not carried: gen writes no files of the"),
    ],
)
def test_an_output_that_no_pod_writes_is_reported(options: tuple[str, ...], body: str, message: str) -> None:
    _, found = on_data(script(*options, body=body, interpreter=BASH))
    assert any(one.message.startswith(message) for one in found), found


@for_each("written", ["cat > b <<-E\n    a\n    E", "cat > b <<E\n\ta\n\tE"])
def test_a_here_document_without_an_end_is_refused(written: str) -> None:
    _, found = read(script(*NODE, body=f"{written}\npython a.py b", interpreter=BASH))
    why = "bash reads the here-document up to the end of the script, because no line has its last word alone"
    assert any(why in one.message for one in found), found


@for_each(
    ("body", "command", "env"),
    [
        ("cat > c.env <<E\nA=1\nexport B=3\nE\n. ./c.env\na --b $A", "a --b 1", {"B": "3"}),
        ("cat > c.env <<E\nA=1\nE\nset -a\nsource c.env\na --b $A", "a --b 1", {"A": "1"}),
        ("echo A=2 > /d/c\nsource /d/c\na --b $A", "a --b 2", {}),
        (
            "cat > c.env <<E\nA=$(cat /d/x)\nE\n. ./c.env\na $A",
            "cat > c.env <<E\nA=$(cat /d/x)\nE\n. ./c.env\na $A",
            {},
        ),
    ],
)
def test_a_file_of_variables_that_the_script_writes_has_their_values(
    body: str, command: str, env: dict[str, Any]
) -> None:
    made = job(script(*NODE, body=body, interpreter=BASH)).fields
    assert (made["command"], made.get("env", {})) == (command, env)


@for_each(
    ("reads", "expected"),
    [
        (
            'while IFS="=" read -r k v; do export "$k=$v"; done < b\na',
            'while IFS="=" read -r k v; do export "$k=$v"; done < /etc/job/b\na',
        ),
        ("a < b", "a < /etc/job/b"),
        ("B=b a", "B=/etc/job/b a"),
        ("for f in *.txt; do ./b $f; done", "for f in *.txt; do bash /etc/job/b $f; done"),
        ("if a; then c b; fi", "if a; then c /etc/job/b; fi"),
    ],
)
def test_each_part_of_the_command_has_the_path_of_the_job(reads: str, expected: str) -> None:
    assert job(script(*NODE, body=f"cat > b <<E\nx=1\nE\n{reads}", interpreter=BASH)).fields["command"] == expected


def test_a_variable_has_the_path_of_the_job() -> None:
    assert job(script(*NODE, body="cat > b <<E\nx\nE\nexport C=b\na")).fields["env"] == {"C": "/etc/job/b"}


@for_each("writes", ["c >> b", "if a; then echo x >> b; fi"])
def test_a_file_of_the_job_that_a_program_changes_cannot_run(writes: str) -> None:
    _, found = read(script(*NODE, body=f"cat > b <<E\nx\nE\n{writes}\na b", interpreter=BASH))
    assert any(one.message == "`b` is a file of the job, which no program can change" for one in found), found


def test_a_carried_file_has_the_variables_of_the_script() -> None:
    body = "export A='--b c'\ncat > d.sh <<'E'\ntorchrun e.py $A\nE\nbash d.sh"
    assert job(script(*NODE, body=body, interpreter=BASH)).fields["env"] == {"A": "--b c"}


@for_each(
    ("body", "expected"),
    [
        ("a > b.log 2>&1\nc b.log", "a > b.log 2>&1\nc b.log"),
        ("a &> b.log\nc b.log", "a > b.log 2>&1\nc b.log"),
        ("a &>> b.log\nc b.log", "a >> b.log 2>&1\nc b.log"),
        ("a 2>&1 > b.log\nc b.log", "a > b.log\nc b.log"),
        ("for i in 1 2; do a > l/s_$i.log; done\nc l/s_*.log", "a > l/s_1.log\na > l/s_2.log\nc l/s_*.log"),
        ("a > l/b.log\nc l/*", "a > l/b.log\nc l/*"),
        ("a > b.log\nc *.log", "a > b.log\nc *.log"),
        ("a > b.log\nc *.txt", "a\nc *.txt"),
        ("srun bash -c 'a > b.log'\nc b.log", "a > b.log\nc b.log"),
        ("srun sh -c 'a < b > c'\nd c", "a < b > c\nd c"),
        ("a | sort -u > b\nc b", "a | sort -u > b\nc b"),
        ("a 2>&1 | grep b > c.log\nd c.log", "a 2>&1 | grep b > c.log\nd c.log"),
        ("a 2>&1 | tee b.log\nc b.log", "a 2>&1 | tee b.log\nc b.log"),
        ("srun a |& tee -a $PWD/b.log\nc $PWD/b.log", "a 2>&1 | tee -a b.log\nc ./b.log"),
        ("a | tee b.log\nc d.log", "a\nc d.log"),
        ("a | tee b\ngrep -q c b || exit 1", "a | tee b\ngrep -q c b || exit 1"),
        (
            "srun a &> $PWD/b\nif ! egrep -q c b; then echo d; exit 1; fi\ne",
            "a > b 2>&1\nif ! egrep -q c b; then echo d; exit 1; fi\ne",
        ),
        ("a --out b\ngrep c b && exit 1", "a --out b\ngrep c b && exit 1"),
        ("a --out b\ngrep c d || exit 1\ne", "a --out b\ne"),
    ],
)
def test_a_log_that_a_later_program_reads_is_written(body: str, expected: str) -> None:
    assert command(body, "-N 1") == expected


@for_each(
    ("body", "line", "message"),
    [
        ("echo a > b\npython a.py", 5, "the file `b` is not carried: gen writes no files of the batch part"),
        ("srun hostname > b\npython a.py b", 5, "no pod has the file `b`, which the script writes here"),
        ("python a.py 2>&1 | tee b\npython c.py", 5, "the file of `tee` is not carried: the cluster keeps the logs"),
        (
            "python a.py 2>&1 | tee b",
            5,
            f"the file of `tee` is not carried: {OF_TEE}",
        ),
        ("python a.py > b", 5, "the redirection of the output is not carried: the cluster keeps the logs"),
        (HOSTS, 7, "the file `hosts.txt` is not carried: it is made of one that no pod has"),
    ],
)
def test_a_file_that_is_not_carried_has_its_line(body: str, line: int, message: str) -> None:
    _, found = read(script(*NODE, body=body, interpreter=BASH))
    assert [one.message for one in found if one.place.line == line and one.message == message], found


@for_each("body", ["python a.py 2>&1", "set -o pipefail\npython a.py 2>&1 | tee b\npython c.py b"])
def test_errors_that_go_to_the_output_have_no_finding(body: str) -> None:
    _, found = read(script(*NODE, body=body, interpreter=BASH))
    assert [one.message for one in found] == []


@for_each(
    ("name", "text", "env", "named"),
    [
        ("run.sh", "a $LR", {"LR": "0.1"}, []),
        ("run.sh", "LR=1; a $LR $HOME $1", {}, []),
        ("run.sh", "a $OTHER", {}, ["`$OTHER` from outside is not carried"]),
        ("run", "#!/bin/bash\na $LR", {"LR": "0.1"}, []),
        ("run.json", "$LR", {}, []),
    ],
)  # fmt: skip
def test_a_script_in_a_file_has_the_values_from_outside(
    name: str, text: str, env: dict[str, str], named: list[str]
) -> None:
    found = Findings()
    body = script("-N 1", body=f"cat > {name} <<'EOF'\n{text}\nEOF\nbash {name}", interpreter="/bin/bash")
    given = ImportInput(file="a.sh", text=body, otherwise="team", image="a/b:1", define={"LR": "0.1"})
    (made,) = IMPORTERS["slurm"]().read(given, found)
    assert made.fields.get("env", {}) == env
    assert [one.message.partition(":")[0] for one in found] == named


@for_each(
    ("options", "text", "expected"),
    [
        (("--ntasks-per-node=4",), "exec a $SLURM_LOCALID", "exec a $OMPI_COMM_WORLD_LOCAL_RANK"),
        ((), "RANK=${SLURM_PROCID:-0} a $SLURM_NNODES", "RANK=$RANK a 2"),
        ((), r'a "\$A" $SLURM_NODELIST', r'a "\$A" $SLURM_NODELIST'),
    ],
)
def test_a_script_of_tasks_has_the_rank_of_its_pod_or_process(
    options: tuple[str, ...], text: str, expected: str
) -> None:
    body = f"cat > b.sh <<'E'\n{text}\nE\nchmod +x b.sh\nsrun ./b.sh python c.py"
    jobs, found = read(script("-N 2", *options, body=body, interpreter=BASH))
    assert jobs[0].fields["files"] == {"/etc/job/b.sh": f"{expected}\n"}
    assert any(one.message.startswith("only Slurm sets") for one in found) == ("SLURM" in expected)


def test_a_file_that_two_srun_read_has_the_values_on_which_they_agree() -> None:
    text = "a $SLURM_NNODES $SLURM_NTASKS"
    body = f"cat > b.sh <<'E'\n{text}\nE\nsrun -N 2 -n 4 bash b.sh\nsrun -N 2 -n 2 bash b.sh c"
    jobs, found = read(script("-N 2", "--ntasks-per-node=2", body=body, interpreter=BASH))
    assert jobs[0].fields["files"] == {"/etc/job/b.sh": "a 2 $SLURM_NTASKS\n"}
    assert any(one.message == "only Slurm sets `SLURM_NTASKS`, which `b.sh` reads" for one in found)


def test_a_value_that_a_text_sets_is_that_of_its_program() -> None:
    made = job(script(*NODE, body="cat > b.sh <<E\na ${A:=c}\nE\nsh b.sh\nd ${A:-e}", interpreter=BASH))
    assert made.fields["files"] == {"/etc/job/b.sh": "a c\n"}
    assert made.fields["command"] == "sh /etc/job/b.sh\nd e"


@for_each(
    ("body", "expected"),
    [
        ("python a.py\ncat result.json", "python a.py\ncat result.json"),
        ("python a.py --log /tmp/b\ntail -n 5 /tmp/b", "python a.py --log /tmp/b\ntail -n 5 /tmp/b"),
        ("python a.py > out.log\ntail out.log", "python a.py"),
        ("srun a --log /tmp/b\ncat /tmp/b", "a --log /tmp/b\ncat /tmp/b"),
        ("cat conf.yaml\npython a.py", "python a.py"),
        ("python a.py\ncat /proc/cpuinfo", "python a.py"),
        ("python a.py\ncat slurm-$SLURM_JOB_ID.out", "python a.py"),
        ("echo 1 > hosts\npython a.py\ncat hosts", "python a.py"),
        ("python a.py\ncat b | sort", "python a.py"),
        ("python a.py\nR=$?\ncat b\nexit $R", "python a.py"),
    ],
)
def test_files_that_the_end_of_a_script_shows_are_the_result_of_the_run(body: str, expected: str) -> None:
    assert job(script("-N 1", body=body)).fields["command"] == expected


def test_pods_show_no_files_that_only_one_of_them_has() -> None:
    made = job(script("-N 2", body="srun python a.py\ncat result.json")).fields
    assert made["command"] == "python a.py"


@for_each(
    "body",
    [
        "cat > b <<E\n$(date)\nE\na b",
        "cat > b <<E\n$(date)\nE\ncat >> b <<E\nc\nE\necho d >> b\na b",
        "mkdir -p b\ncat <<E > b/c\n{{ run.id }} $(hostname)\nE\na b/c",
    ],
)
def test_the_only_pod_writes_what_only_it_knows(body: str) -> None:
    made = job(script("-N 1", body=body.replace("{{ run.id }}", "$SLURM_JOB_ID"), interpreter="/bin/bash"))
    assert (made.fields["command"], made.obstacles, made.fields.get("files")) == (body, (), None)


def test_a_file_of_the_launcher_is_not_one_of_its_workers() -> None:
    _, found = read(script("-N 1", body="cat > b <<E\n$(date)\nE\nmpirun -n 2 a b"))
    assert [one.message for one in found] == ["only the pod of the launcher writes `b`, and its workers read it"]


@for_each(
    ("options", "body", "expected"),
    [
        (("-o logs/%x-%A.out",), "mkdir -p logs\na", "a"),
        (("-o logs/%a.out",), "mkdir logs\na", "a"),
        ((), "mkdir -p logs/b\nsrun --output=logs/b/%t.out a", "a"),
        (("-o logs/%j.out",), "mkdir -p logs\na --log logs/b", "mkdir -p logs\na --log logs/b"),
        (("-o logs/%j.out",), "mkdir -p logs b\na", "mkdir -p logs b\na"),
        (("-o logs/%j.out",), "rm -f logs/latest\nln -s $SLURM_JOB_ID.out logs/latest\na", "a"),
        (("-o logs/%j.out",), "rm -f logs/other\nln -s $SLURM_JOB_ID.out logs/latest\na", "rm -f logs/other\na"),
    ],
)
def test_folders_and_links_of_logs_are_not_in_the_command(options: tuple[str, ...], body: str, expected: str) -> None:
    assert job(script("-N 1", *options, body=body)).fields["command"] == expected


def test_a_variable_in_a_name_that_the_script_does_not_set_is_empty() -> None:
    text = "cat > a.properties <<END\nb.C$innerClass=$N\nb.D$Other=1\nEND\nOther=x\npython a.py --conf a.properties"
    made, found = read(script("-N 1", body=f"N=2\n{text}"))
    (one,) = made
    assert one.obstacles != ()  # of `Other`, which the script sets later
    made, found = read(script("-N 1", body=f"N=2\n{text.replace('D$Other', 'D')}"))
    (one,) = made
    assert one.fields["files"] == {"/etc/job/a.properties": "b.C=2\nb.D=1\n"}
    assert [one.message.partition(" is not")[0] for one in found] == ["the empty value of `$innerClass`"]


@for_each(
    ("reads", "expected"),
    [("", "python a.py"), (" --hosts h", "perl -e 'print qx[scontrol show hostnames]' > h\npython a.py --hosts h")],
)
def test_a_list_of_nodes_that_nothing_reads_is_not_written(reads: str, expected: str) -> None:
    lines = f"perl -e 'print qx[scontrol show hostnames]' > h\npython a.py{reads}"
    assert job(script("-N 1", body=lines)).fields["command"] == expected
