"""`gen import slurm --prove` runs the script and its job with a real bash; recorders are the programs."""

from __future__ import annotations

import resource
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from gen.base import Findings, UsageError
from gen.importers import ImportInput, overlay_needs, proof, renders, sandbox
from gen.importers.sandbox import Process, recorded
from gen.importers.slurm.importer import SlurmImporter
from gen.importers.slurm.site import SILENT
from tests.cases import for_each
from tests.commands.imports import errors
from tests.importers.slurm.test_slurm import script
from tests.importers.support import run_import

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import Repository

REFUSAL = sandbox.refusal()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(REFUSAL is not None, reason=str(REFUSAL))]
WITH_MPI = """
export MASTER_ADDR=$(hostname) MASTER_PORT=$((10000 + SLURM_JOB_ID % 9))
mpirun -np 4 -x MASTER_ADDR=$MASTER_ADDR -x MASTER_PORT=$MASTER_PORT python a.py
srun b --at $MASTER_ADDR
"""
LOOP = """
H=($(scontrol show hostnames $SLURM_JOB_NODELIST))
for i in ${!H[@]}; do
  srun -N1 -n1 -w ${H[$i]} torchrun --nnodes ${#H[@]} --node_rank $i --master_addr ${H[0]} a.py &
done
wait
"""
NODES = ("-N 2", "--gres=gpu:8", "--ntasks-per-node=1")


def compared(root: Path, text: str, changed: dict[str, Any] | None = None, **given: Any) -> tuple[str, bool, list[Any]]:
    """The result of the proof for a script, and its findings; of a job with other fields, if there are some."""
    found = Findings()
    source = ImportInput(file="train.sh", text=text, namespace="team", image="a/b:1", **given)
    job = SlurmImporter().read(source, found)[0]
    job = replace(job, fields={**job.fields, **(changed or {})})
    runs = renders.run_objects(root, job, "imported", proof.overlay_text(overlay_needs.fragment([job])))
    before = len(found.items)
    line, same = SlurmImporter().compare_tasks(source, job, runs, found)
    return line, same, found.items[before:]


@for_each(
    ("options", "body"),
    [
        (
            NODES,
            "srun torchrun --nnodes 2 --nproc_per_node 8 --rdzv_id $RANDOM --rdzv_endpoint $(hostname):29500 a.py 1",
        ),
        (
            NODES,
            "M=$(scontrol show hostnames $SLURM_NODELIST | head -n 1)\nsrun python a.py -m $M -r $SLURM_PROCID",
        ),
        (
            NODES,
            "A=$(grep b c)\nsrun accelerate launch --gradient_clipping $A --num_machines 2 --rdzv_backend c10d a.py",
        ),
        (("-N 2", "--ntasks-per-node=4"), "srun -l python a.py 'b c'"),
        (("-N 2", "--ntasks-per-node=1"), "mpirun -N 1 bash -c 'strings a'\nsrun --mpi=pmix ./put"),
        (("-N 2", "--ntasks-per-node=2"), "srun --ntasks-per-node=1 prepare\nsrun python a.py\nmpirun -np 2 b"),
        (("-N 1",), "set -e 2> a.log\npython a.py\nA=$(find missing -name b)\npython d.py $A"),
        (("-N 1",), "N=$(nvidia-smi -L | wc -l)\ntorchrun --nproc-per-node 8 a.py $N"),
        (("-N 1", "-n 2"), "while ask; do\nmpirun -np 2 python a.py\nbreak\ndone"),
        (("-N 1",), "set -euo pipefail\nsource ~/missing\nprintenv | grep -i slurm\npython a.py"),
        (("-N 1",), 'A="pip3 install b \\\nset -eux\n c"\nsrun bash -c "$A; d"'),
        (("-N 1", "--array=0-2"), "A=(x 'y z' u)\npython a.py ${A[$SLURM_ARRAY_TASK_ID]}"),
        (("-N 1", "--array=0-24:8"), "python a.py $SLURM_ARRAY_TASK_ID"),
        (("-N 1", "--array=1-2"), 'A=(x y,1 u,2)\nIFS=, read b c <<< "${A[$SLURM_ARRAY_TASK_ID]}"\npython $b $c'),
        (("-N 2", "--ntasks-per-node=2"), WITH_MPI),
        (("-N 1",), "srun --no-container-entrypoint --container-image a/b:2 bash ./scripts/train.sh 1"),
        (("-N 1",), "srun sh /workspace/train.sh"),
        (("-N 1",), "export HF_TOKEN='<your-token-here>' B='<b>'\nC_TOKEN='<c d>'\npython a.py $HF_TOKEN $B $C_TOKEN"),
        (("-N 1",), "export API_KEY=abcdef0123\npython a.py $API_KEY"),
        (("-N 1",), "srun bash -c 'ls; cd /workspace/a; ./run b'"),
        (("-N 1",), 'cat > c.json <<END\n{"a": 1}\nEND\ncd sub\npython a.py --out /tmp/$SLURM_JOB_ID ../c.json'),
        (("-N 1", "--array=1-3"), "python a.py --task $SLURM_ARRAY_TASK_ID"),
        (("-N 1", "--array=1,5"), "python a.py --task $SLURM_ARRAY_TASK_ID"),
        (("-N 1", "--array=1-9%1"), "python a.py"),
        (("-N 1", "-n 2", "--array=1-2"), "export A=$SLURM_ARRAY_TASK_ID\nsrun python a.py $A $SLURM_ARRAY_TASK_COUNT"),
        (("-N 1",), "export OUT=/tmp/x MODE=b\nfor i in 1 2; do python a.py $i; done"),
        (("-N 1",), "python a.py &\n./b"),
        (("-N 1",), "srun --new-option --label python a.py"),
        (("-N 1",), "srun -K --wait 60 --new-option bash a.sh 1"),
        (("-N 1",), "python a.py &\nwhile true; do curl x; sleep 60; done"),
        (("-N 1",), "set -x -e\nF=$(find missing)\nfor f in $F; do python b.py $f; done\npython a.py $F"),
        (("-N 1",), "A=(--a=1 \\ # b\n --c)\nROOT=$(pwd)\ncd sub\npython $ROOT/x.py $PWD/y ${A[@]}"),
        (("-N 2", "--ntasks-per-node=2"), "A=2 srun python y.py *.txt\n(cd x && python z.py)\nsrun python w.py"),
        (
            ("-N 1",),
            "for i in 1 2; do export R=$i; python a; done\ntrap 'python b' EXIT\npython c && python d",
        ),
        (("-N 1",), 'python a.py\n[ -s x ] || exit\nif [ ! -d y ]; then echo "exit 0"; exit 0; fi\npython b.py'),
        (("-N 1",), "[[ -f x.sqsh ]] || { echo missing; exit 1; }\nif [ ! -d y ]; then\nexit -1\nfi\npython a.py"),
        (("-N 1",), "die() {\necho no\nexit 1\n}\na || die x\n[ -f x ] || die x\npython a.py"),
        (
            ("-N 1",),
            "f() { local n=$1; shift; python a $n \"$@\"; }\nf 1 x 'y z'\nset -- u v\nshift\npython b $*",
        ),
        (("-N 1",), "for i in 1 2 3; do if ask; then break; fi; python a $i; done\nf() { return; b; }; f; python c"),
        (("-N 1",), "trap 'python a.py' EXIT\nsrun bash -c 'cd /opt/b; ./c'"),
        (("-N 2", "--ntasks-per-node=2"), "srun A=$SLURM_JOB_ID\nsrun python a.py"),
        (("-N 1",), "A=$PWD/b\ncd c\npython a.py --out=$A"),
        (("-N 1",), 'python a.py --pid $$ --name b-$$\nsrun bash -c "python b --pid \\$\\$"'),
        (("-N 1",), "srun bash -c 'cd /workspace/b; ./c/d' 2>&1 | grep loss"),
        (NODES, "H=$(hostname)\nif ask; then H=${H%.*}; fi\nsrun python a $H"),
        (
            ("-N 1",),
            'D=$(cd "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)\npython $D/a $(dirname $(readlink -f $0))/b',
        ),
        (
            ("-N 1",),
            "D=$(dirname $(scontrol show job $SLURM_JOB_ID | awk -F= '/Command=/{print $2}'))\npython $D/../a",
        ),
        (NODES, "f() { comm <(seq 9) <(ss -H) | head -n 1; }\nP=$(f)\nsrun torchrun --master_port $P a.py"),
        (("-N 1",), "python a {b,'c d'}e {1..3}"),
        (("-N 1",), "srun -n 4 python a"),
        (("-N 2", "--ntasks-per-node=2"), "srun -n 1 --ntasks-per-node=2 python a\nsrun python b"),
        (("-N 1",), "srun -J $X python b\npython c"),
        (("-N 1",), "set -e\ncat > b.sh <<E\npython a\nE\nchmod +x b.sh\nsrun ./b.sh"),
        (("-N 2", "--ntasks-per-node=2"), "cat > b.sh <<E\npython a\nE\nchmod +x b.sh\nsrun ./b.sh"),
        (NODES, "cat > b.py <<E\n#!/usr/bin/env python3\nE\nchmod +x b.py\nsrun ./b.py c"),
        (("-N 1",), "for f in *; do python a $f; done"),
        (("-N 1",), "cat b > c.txt\npython a < c.txt"),
        (NODES, "srun -n1 ./a\nsrun python b"),
        (("-N 1",), "A=(x y)\npython a ${A[0]} $((2 ** 3))"),
        (NODES, 'A=(srun --container-image ${IMAGE} --label python a)\n"${A[@]}"'),
        (("-N 1",), "export A=1 B=2\nsrun --export=B=3,C=4 python a\nsrun --export=ALL,C=5 bash -c 'python b $C'"),
        (NODES, "apptainer run --nv $SIF python a\nsrun apptainer exec $SIF python b"),
        (("-N 1",), "A=$(b)\nC=$((A * 2))\nwhile ask; do python c $C; break; done\npython d $A"),
        (NODES, "mpirun /opt/a b > out.log 2>&1"),
        (("-N 1",), "if [ -n $HOME ]; then python a; else python b; fi"),
        (NODES, 'if [ -n "$IMAGE" ]; then A=b; fi\nsrun --container-image $IMAGE python a $A'),
        (("-N 1",), "A=(--b c)\nB=()\npython a ${A-x} ${A/b/d} ${B:-e} ${#A} ${A[@]:1} ${A[@]/c/f}"),
        (("-N 1",), "env A=b [ -d / ] && python c"),
        (("-N 1",), "python a {--b,./c.$SLURM_JOB_ID.json} --c=$PWD/d.$SLURM_JOB_ID"),
        (NODES, "srun python a | sh -c 'sleep 1; python b'"),
        (("-N 2", "--ntasks-per-node=2"), 'if ask; then N=1; else N=2; fi\nsrun bash -c "python a $N \\$SLURM_PROCID"'),
        (("-N 1",), "./a\nsrun --container-workdir=/w ./b\n./c\nsrun -D d ./e"),
        (("-N 1",), "srun -D /w python a\npython b"),
        (("-N 2", "--ntasks-per-node=2"), "nohup time srun python a &\nwait"),
        (("-N 1",), "/usr/bin/time -v a < b.txt > c\npython d < e.txt"),
        (NODES, "M=$(hostname)\nsrun bash -c \"python a.py '$M:1' --rank \\$SLURM_PROCID\""),
        (("-N 1",), "rm -rf b\ngit clone https://example.com/b.git\nsrun sh -c 'cd b; python c'"),
        (NODES, "export OWN_PORT=29400\nsrun torchrun --rdzv_endpoint $(hostname):$OWN_PORT a.py"),
        (("-N 1", "--array=0-9%2"), "python a.py --task $SLURM_ARRAY_TASK_ID"),
        (NODES, "srun -n1 torchrun --nnodes 2 a.py"),
        (
            NODES,
            "read -r -d '' T <<'E'\ngit clone https://example.com/a.git\ntorchrun a.py\nE\nsrun -n1 bash -c \"$T\"",
        ),
        (NODES, LOOP),
        (NODES, "for h in $(scontrol show hostnames); do srun -N 1 -n 1 -w $h torchrun a.py & done\nwait"),
        (NODES, 'A=(--lr 1)\nif [ $SLURM_NNODES -gt 1 ]; then A+=(--many); fi\nsrun bash -c "torchrun a.py ${A[*]}"'),
    ],
)
def test_the_job_starts_what_the_script_starts(tmp_path: Path, options: list[str], body: str) -> None:
    line, same, found = compared(tmp_path, script(*options, body=body, interpreter="/bin/bash"))
    assert ([one.message for one in found], same) == ([], True), line
    assert "starts the same programs with the same arguments as the script in" in line


@for_each(
    ("body", "changed", "message"),
    [
        ("srun torchrun a.py 1", {"command": "torchrun a.py 2"}, "with `1` in the script, and with `2` in the job"),
        (
            "srun torchrun a.py $SLURM_JOB_ID",
            {"command": "torchrun a.py 7"},
            "with `31313` in the script, and with `7`",
        ),
        ("srun torchrun a.py 7", {"command": "torchrun a.py $HOSTNAME"}, "with `7` in the script, and with `train"),
        ("srun torchrun a.py", {"command": "torchrun b.py"}, "starts `torchrun` with `a.py` in the script"),
        (
            "srun torchrun a.py\nsrun torchrun b.py",
            {"command": "torchrun a.py"},
            "starts `torchrun b.py` in the script, and not",
        ),
        ("srun torchrun a.py", {"command": "torchrun a.py\npython b.py"}, "starts `python b.py` in the job only"),
        (
            "srun torchrun --nproc_per_node 8 a.py",
            {"gpus": 4},
            "with `8 processes` in the script, and with `4 processes`",
        ),
        ("export A=1\nsrun torchrun a.py", {"env": {"A": "2"}}, "with `A=1` in the script, and with `A=2` in the job"),
    ],
)
def test_each_difference_has_its_line(tmp_path: Path, body: str, changed: dict[str, Any], message: str) -> None:
    text = script(*NODES, body=body, interpreter="/bin/bash")
    line, same, found = compared(tmp_path, text, changed)
    assert not same
    assert "does not start the same programs" in line
    assert message in found[0].message
    assert found[0].code == "differs"


def test_a_finding_about_an_option_does_not_explain_an_argument(tmp_path: Path) -> None:
    text = script(*NODES, body="srun --label torchrun a.py 1 > log", interpreter="/bin/bash")
    _, same, found = compared(tmp_path, text, {"command": "torchrun a.py 2"})
    assert not same
    assert "with `1` in the script, and with `2` in the job" in found[0].message


def test_a_finding_about_another_case_explains_no_argument_of_this_one(tmp_path: Path) -> None:
    body = 'P="a.py --b c"\nif [ ! -z "$N" ]; then P="$P -n $N"; fi\npython $P'
    line, same, _ = compared(tmp_path, script("-N 1", body=body), {"command": "python a.py --b"})
    assert not same, line


@for_each(
    ("body", "lost"),
    [
        ("run() { a $R; }\nfor ((R=1; R<3; R++)); do\nrun &\ndone\nR=0\nrun", "R=0\n"),
        ("run() { a $M; }\npython b && { M=c; run; }\nM=d\nrun", "M=d\n"),
    ],
)
def test_a_loop_does_not_explain_a_value_behind_it(tmp_path: Path, body: str, lost: str) -> None:
    text = script("-N 1", body=body, interpreter="/bin/bash")
    line, same, _ = compared(tmp_path, text)
    assert same, line
    _, same, found = compared(tmp_path, text, {"command": ["bash", "-c", body.replace(lost, "")]})
    assert (same, [one.place.line for one in found]) == (False, [4])


def test_programs_of_one_folder_have_one_folder(tmp_path: Path) -> None:
    text = script("-N 1", body="cd a\npython x\ncd ../b\npython y", interpreter="/bin/bash")
    _, same, found = compared(tmp_path, text, {"command": "cd a\npython x\npython y"})
    assert (same, [one.message for one in found]) == (False, ["task 0 starts `python y` in another folder"])
    text = script("-N 1", body="X=abc\ncd $((X))/b\nc/d.py 1", interpreter="/bin/bash")
    line, same, found = compared(tmp_path, text)
    assert (same, [one.message for one in found]) == (True, []), line


def test_a_program_that_another_one_replaces_has_its_line(tmp_path: Path) -> None:
    body = "set -e\nwhile read a; do b $a; done < missing\nsrun -o $OUT -e log python a.py"
    line, same, found = compared(tmp_path, script("-N 1", body=body, interpreter="/bin/bash"))
    assert (same, found) == (True, []), line
    assert "apart from what findings name, or each pod does, at line 6" in line


@for_each(
    ("body", "line", "message"),
    [
        ("read -rd '' A <<E\npython a\nE\nif [ $? -ne 0 ]; then\nexit 2\nfi\npython b", 8, "it ends with the status 2"),
        ("A=x\nbash -c 'B=c; python a ${B:1:-5}'\npython b", 5, "`-5: substring expression < 0`"),
        ("A=x\nB=${A[@]:?}${A:1:-5}\npython a $B", 5, "`-5: substring expression < 0`"),
    ],
)
def test_a_script_that_fails_in_the_sandbox_is_not_proven(tmp_path: Path, body: str, line: int, message: str) -> None:
    result, same, found = compared(tmp_path, script("-N 1", body=body, interpreter="/bin/bash"))
    assert [(one.place.line, one.message) for one in found] == [(line, f"the script fails here: {message}")]
    assert f"is not proven: the script fails at line {line} in the sandbox" in result
    assert not same


def test_the_checks_of_a_script_are_not_proven(tmp_path: Path) -> None:
    body = ': "${OUT:?not set}"\n: "${N:=1}"\nsrun --container-mounts $OUT:/out python a.py $N'
    line, same, found = compared(tmp_path, script("-N 1", body=body, interpreter="/bin/bash"))
    assert (same, found) == (True, []), line


@for_each(
    ("body", "lines"),
    [
        ("trap 'conda activate b' EXIT\npython a.py", "1"),
        ("PATH=/opt/a/bin:$B\nmodule load a\nsrun python a.py", "5"),
        ("M=$(A=$(hostname))\nmodule load a\npython a.py $M", "5"),
        ('A=(b\nset -e\nc)\nmodule load a\npython "${A[@]}"', "7"),
        ("module load a\nconda activate b\npython a.py", "4, 5"),
        ("srun bash -c '\nmodule load a\npython a.py'", "4"),
        ("module load a\npython a.py &\nwhile true; do if b > /dev/null 2>&1; then break; fi; done\nb c", "4"),
        ("T=$(cat <<'E'\nmodule load a\npython a.py\nE\n)\nsrun bash -c \"$T\"", "9"),
    ],
)
def test_what_another_finding_names_is_no_difference(tmp_path: Path, body: str, lines: str) -> None:
    line, same, found = compared(tmp_path, script("-N 1", body=body, interpreter="/bin/bash"))
    assert (same, found) == (True, [])
    assert f"apart from what findings name, or each pod does, at line {lines}" in line


@for_each(
    "body",
    [
        "case $(hostname) in alpha0) A=1;; *) A=2;; esac\nB=--at=$A\nsrun python a $B",
        "A=$(nproc)\nsrun python a $A",
        "A=b\n(\nC=$($A --from x --to y)\n)\nsrun python a",
        "false\nA=$?\npython b $A\nsrun python c",
        'A=\'python a\'\nB="$A b"\nsrun -o $OUT -e $B bash -c "$B"',
    ],
)
def test_a_finding_about_a_variable_explains_what_reads_it(tmp_path: Path, body: str) -> None:
    line, same, found = compared(tmp_path, script(*NODES, body=body, interpreter="/bin/bash"))
    assert (same, found) == (True, []), line
    assert "apart from what findings name" in line


def test_what_each_pod_computes_is_named(tmp_path: Path) -> None:
    body = "srun torchrun a.py $(perl -e 'print 2')"
    line, same, found = compared(tmp_path, script(*NODES, body=body, interpreter="/bin/bash"))
    assert (same, found) == (True, [])
    assert "or each pod does, at line 6" in line


def test_a_script_cannot_end_the_process_that_proves_it() -> None:
    process = Process(words=("bash", "/script"), env={})
    assert recorded([process], files={"/script": "first\nkill -9 0\nlast\n"}).ended


def test_a_script_cannot_reach_files_or_the_network(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    text = (
        f'[ -n "$(cat {secret} /etc/passwd)" ] && leaked\n'
        f"echo changed > {secret}\n"
        "echo x > /usr/lib/changed && wrote\n"
        "(echo > /dev/tcp/127.0.0.1/22) 2>/dev/null && connected\n"
        "/usr/bin/python3 -c 'print(1)'\n"
        "mount -t tmpfs none /tmp && mounted\n"
        "kill -9 1; ps\n"
        "echo broken > /gen/record\n"
        "last\n"
    )
    process = Process(words=("bash", "/script"), env={})
    found = [one.words for one in recorded([process], files={"/script": text}).records]
    names = [words[0] for words in found]
    assert secret.read_text() == "hidden"
    assert not {"leaked", "wrote", "connected"} & set(names)
    assert ("/usr/bin/python3", "-c", "print(1)") in found
    assert ("mount", "-t", "tmpfs", "none", "/tmp") in found  # noqa: S108 - a word
    assert names[-1] == "last"


def test_a_script_that_does_not_end_is_not_proven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_SECONDS", 5)
    text = script("-N 1", body="python a.py\nwhile true; do :; done", interpreter="/bin/bash")
    line, same, _ = compared(tmp_path, text)
    assert (line, same) == ("team/train is not proven: the script does not end in the sandbox", False)


def test_a_script_is_compared_up_to_its_end_in_the_sandbox(tmp_path: Path) -> None:
    text = script("-N 1", body="python a.py > b.log\ngrep -q c b.log || exit 3\npython d.py", interpreter="/bin/bash")
    line, same, _ = compared(tmp_path, text)
    assert (line.partition("; ")[2], same) == (
        "it ends with the status 3 at line 5, and no later line is compared",
        True,
    )


def test_the_command_proves_on_request_only(repo: Repository) -> None:
    file = repo.root.parent / "train.sh"
    file.write_text(script(*NODES, body="srun torchrun a.py", interpreter="/bin/bash"))
    repo.overlay('kubernetes: "1.34"\n')
    options: dict[str, Any] = {"importer": "slurm", "namespace": "team", "image": "a/b:1"}
    report, code = run_import(repo.root, str(file), prove=True, name="one", **options)
    assert (errors(report), code) == ([], 0)
    assert "team/one starts the same programs with the same arguments as the script in 2 tasks" in report.summary
    report, _ = run_import(repo.root, str(file), name="two", **options)
    assert "same programs" not in report.summary


def test_a_machine_without_namespaces_refuses(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_UNSHARE", ("false",))
    with pytest.raises(UsageError, match="`--prove` needs a sandbox, which is not possible here: the system allows no"):
        run_import(repo.root, "a.sh", importer="slurm", prove=True)


def test_a_pod_has_the_shell_of_most_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name, **given: which("bash" if name == "sh" else name, **given))
    text = script("-N 1", "--gres=gpu:1", body="if [ $SLURM_JOB_NUM_NODES == 1 ]; then a; fi")
    made = [compared(tmp_path / name, text, {"command": f"if [ 1 {name} 1 ]; then a; fi"})[1] for name in ("=", "==")]
    assert made == [True, which("dash") is None]


def test_other_tools_have_no_proof(repo: Repository) -> None:
    with pytest.raises(UsageError, match="`--prove` is not an option of `gen import arena`"):
        run_import(repo.root, "a.sh", importer="arena", prove=True)


def test_a_file_cannot_leave_the_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    recorded([Process(words=("true",), env={})], files={"/../../../outside": "a"})
    assert list(tmp_path.iterdir()) == []


def test_a_script_cannot_fill_disk_or_memory() -> None:
    text = (
        "i=0; while ((i < 30)) && head -c 10000000 /dev/zero > /gen/out/$i; do i=$((i + 1)); done\n"
        "j=0; while ((j < 30)) && head -c 10000000 /dev/zero > /usr/bin/$j; do j=$((j + 1)); done\n"
        "rm -f /gen/out/? /gen/out/??\n"
        "stored $i $j\n"
        "head -c 400000000 /dev/zero >&2\n"
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    words = recorded([Process(words=("bash", "/script"), env={})], files={"/script": text}).records[-1].words
    assert words[0] == "stored"
    assert max(map(int, words[1:])) < 8, "in units of 10 MB"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000, "in KiB"


def test_records_that_a_script_breaks_are_ignored() -> None:
    for text in (
        "one; rm -r /gen/out/records; ln -s /dev/zero /gen/out/records",
        "one; ln -s /dev/zero /gen/out/records/0",
        "one; ln -s /dev/zero /gen/out/records/9",
        "one; printf 'a\\0b' > /gen/out/records/0",
        "one; printf 'a\\0b' > /gen/out/records/9",
    ):
        found = recorded([Process(words=("bash", "/script"), env={})], files={"/script": text})
        assert len(found.records) <= 1


def test_a_script_sees_no_path_of_the_user() -> None:
    text = "grep -q . /etc/mounts && shown\none\n"
    found = recorded([Process(words=("bash", "/script"), env={})], files={"/script": text})
    assert [one.words for one in found.records if one.words[0] in ("one", "shown")] == [("one",)]


def test_an_option_that_may_have_a_value_is_not_proven(repo: Repository) -> None:
    line, same, _ = compared(repo.root, script("-N 1", body="srun --new-option a b", interpreter="/bin/bash"))
    assert not same
    assert line.endswith("is not proven: gen does not know whether `--new-option` of `srun` has a value")


def test_no_program_that_an_import_leaves_out_is_a_difference(tmp_path: Path) -> None:
    shell = subprocess.run(["bash", "-c", "compgen -b; compgen -k"], capture_output=True, text=True, check=True)
    programs = sorted(SILENT - {*shell.stdout.split(), "getopt"})
    assert "seff" in programs
    body = "\n".join([*(f"{name} a" for name in programs), "python a.py"])
    line, same, found = compared(tmp_path, script("-N 1", body=body, interpreter="/bin/bash"))
    assert ([one.message for one in found], same) == ([], True), line
