"""The batch part of a script happens once, and `srun` in each task."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from gen.base import Findings
from gen.importers import ImportInput
from gen.importers.draft import text_of
from gen.importers.slurm.importer import SlurmImporter
from tests.cases import for_each
from tests.importers.slurm.test_slurm import BASH, job, read, script

OF_ITEM = "A=(x y z)\ncd b/${A[JOB_COMPLETION_INDEX + 1]}\na"
HEAD = """
nodes=( $( scontrol show hostnames $SLURM_JOB_NODELIST ) )
nodes_array=($nodes)
head_node=${nodes_array[0]}
head_node_ip=$(srun --nodes=1 --ntasks=1 -w "$head_node" hostname --ip-address)
echo Node IP: $head_node_ip
"""
LISTED = """
readarray -t a < nodes
ip=$(ssh ${a[0]} hostname -I)
read -ra a <<< ${ip}
export MASTER_ADDR=${a[0]}
IFS=: read -ra b <<< x:y
srun python train.py --address=$MASTER_ADDR ${b[1]}
"""


def command(body: str, *options: str) -> str:
    made = job(
        script(*(options or ("-N 2", "--gres=gpu:8", "--ntasks-per-node=1")), body=body, interpreter="/bin/bash")
    )
    text = made.fields["command"]
    assert isinstance(text, str)
    return text


@for_each(
    ("body", "expected"),
    [
        (
            'read L < x\nO=/b/${L}_c\nmkdir -p "$(dirname "$O")"\na --out $O --log "$O.log"',
            'read L < x\nO=/b/${L}_c\nmkdir -p "$(dirname "$O")"\na --out $O --log "$O.log"',
        ),
        (
            'H=$(git c)\nP="  b.py \\\n  --at $H \\\n"\nif [ -n "$Q" ]; then P="${P} -q $Q"; fi\na $P',
            "a b.py --at $(git c)",
        ),
        ('H=$(git c)\nP=" --at $H"\nP="${P}  --b"\na $P\nb $P', 'P=" --at $(git c)"\na $P --b\nb $P --b'),
    ],
)
def test_a_value_is_in_the_line_of_its_variable_or_in_that_of_the_program(body: str, expected: str) -> None:
    assert command(body, "-N 1") == expected


@for_each(
    ("body", "expected"),
    [
        ('ARGS=(-l --export=ALL)\nsrun "${ARGS[@]}" torchrun train.py', "torchrun train.py"),
        ("srun $SRUN_ARGS torchrun train.py", "torchrun train.py"),
        ("N=3\nsrun torchrun train.py $[N * 2] 'a $[N] time (s)'", "torchrun train.py 6 'a $[N] time (s)'"),
        (
            LISTED,
            "python train.py --address=$MASTER_ADDR y",
        ),
        ('N=1\nexport C=" \\\n a.py -o "n=$N,m=$N" \\\n -p "\nsrun torchrun $C', "torchrun a.py -o n=1,m=1 -p"),
        (
            'A=()\nif [ -d /opt/x ]; then B=(-a); fi\nsrun -l "${A[@]}" "${B[@]}" torchrun "$@" train.py',
            "torchrun train.py",
        ),
        ("read -r -d '' CMD <<EOF\ntorchrun train.py\nEOF\nsrun bash -c \"$CMD\"", "torchrun train.py"),
        ("CMD=$(cat <<'EOF'\npython a.py $RANK\nEOF\n)\nsrun bash -c \"$CMD\"", "python a.py $RANK"),
        ("export CMD='a.py --lr 1'\nsrun apptainer exec x.sif bash -c 'python $CMD'", "python a.py --lr 1"),
        (
            (
                f"{HEAD}srun torchrun --nnodes 2 --nproc_per_node 8 --rdzv_id $RANDOM --rdzv_backend c10d "
                "--rdzv_endpoint $head_node_ip:29500 train.py 50 10"
            ),
            "torchrun train.py 50 10",
        ),
        ("srun torchrun --rdzv_endpoint=$(hostname):29500 --nnodes=$SLURM_NNODES train.py", "torchrun train.py"),
        (
            (
                "export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)\n"
                "srun python train.py --host $MASTER_ADDR"
            ),
            "python train.py --host $MASTER_ADDR",
        ),
        (
            "MASTER_PORT=$((RANDOM % 10000 + 20000))\nsrun python train.py --port $MASTER_PORT --rank $SLURM_PROCID",
            "python train.py --port $MASTER_PORT --rank 0",
        ),
        ("srun bash -c 'python train.py --rank $SLURM_PROCID'", "python train.py --rank $RANK"),
        (
            (
                "LAUNCHER=\"torchrun --nnodes 2 --node_rank \\$SLURM_PROCID\"\nCMD='train.py --lr 1e-3'\n"
                'srun bash -c "$LAUNCHER $CMD"'
            ),
            "torchrun train.py --lr 1e-3",
        ),
        (
            (
                "srun accelerate launch --num_machines 2 --num_processes 16 --machine_rank $SLURM_PROCID "
                "--main_process_ip $MASTER_ADDR --mixed_precision bf16 train.py"
            ),
            "accelerate launch --mixed_precision bf16 train.py",
        ),
        (
            "srun python -u -m torch.distributed.run --nproc_per_node=8 train.py",
            "python -u -m torch.distributed.run train.py",
        ),
        ("srun torchrun --nproc_per_node=4 train.py", "torchrun --nproc_per_node=4 train.py"),
        (
            "srun torchrun train.py --name \"a b\" --out 'runs/$x' --id $SLURM_JOB_ID",
            "torchrun train.py --name 'a b' --out 'runs/$x' --id {{ run.id }}",
        ),
        (
            "for lr in 1 2; do srun torchrun train.py --lr $lr; done",
            "torchrun train.py --lr 1\ntorchrun train.py --lr 2",
        ),
        ("run() { srun torchrun train.py $1; }\nrun a", "torchrun train.py a"),
        (
            "if [ $SLURM_NNODES -gt 1 ]; then A=many; else A=one; fi\nsrun torchrun train.py $A",
            "torchrun train.py many",
        ),
        ("case $SLURM_JOB_NAME in train) A=1;; *) A=2;; esac\nsrun torchrun train.py $A", "torchrun train.py 1"),
        ('A=(--lr 1)\nA+=(--x)\nsrun bash -c "torchrun train.py ${A[*]}"', "torchrun train.py --lr 1 --x"),
        ("P=/$R/m/$S/\n\n\nC=b\nsrun torchrun train.py -p $P$C", "torchrun train.py -p /$R/m/$S/b"),
        ("pushd sub\ncd in\nsrun torchrun train.py", "cd sub/in\ntorchrun train.py"),
        ("srun python - <<E\nimport a\nE", "python - <<E\nimport a\nE"),
        ("L=1\nA=2 srun b --lr $L <<E\n$L \\$L $(hostname)\nE", "b --lr 1 <<E\n1 \\$L $MASTER_ADDR\nE"),
        ("srun a - <<-'E'\n\t$B `c`\n\tE", "a - <<'E'\n$B `c`\nE"),
        ("srun bash -s a b <<'E'\npython t.py $1 $SLURM_PROCID\nE", "python t.py a $RANK"),
        ('srun torchrun "$(dirname "$PWD")/train.py"', "torchrun ../train.py"),
        ("srun torchrun train.py --out ~/out '~/in'", "torchrun train.py --out $HOME/out '~/in'"),
        ("module load a\nsource env/bin/activate\nulimit -n 9\nsrun torchrun train.py\nwait", "torchrun train.py"),
    ],
)
def test_the_command_is_what_a_person_would_write(body: str, expected: str) -> None:
    assert command(body, "-J train", "-N 2", "--gres=gpu:8", "--ntasks-per-node=1") == expected


def test_values_of_the_batch_part_are_no_variables_of_pods() -> None:
    made = job(script("-N 2", "--gres=gpu:8", body=f"{HEAD}export MASTER_ADDR=$head_node_ip\nsrun torchrun train.py"))
    assert {"kind": "pytorch", "workers": 2, "gpus": 8}.items() <= made.fields.items()
    assert "env" not in made.fields


@pytest.mark.slow  # up to the limit of a text
@for_each(
    ("options", "body", "fields"),
    [
        (["-N 2", "--exclusive"], "srun torchrun --nproc_per_node 8 train.py", {"gpus": 8}),
        (
            ["-N 2", "--gres=gpu:8"],
            "srun deepspeed --hostfile h --num_nodes 2 train.py",
            {"kind": "mpi", "command": "deepspeed --hostfile /etc/mpi/hostfile train.py"},
        ),
        (
            ["-N 2", "--ntasks-per-node=8"],
            "mpirun -np 16 --hostfile h --bind-to none ./app",
            {"kind": "mpi", "workers": 2, "slotsPerWorker": 8, "command": "mpirun --bind-to none ./app"},
        ),
        (["-N 1", "--array=1-10%1"], "srun torchrun train.py", {"command": "torchrun train.py"}),
        (
            ["-N 2", "--ntasks-per-node=4"],
            "srun bash -c 'python a.py --rank $SLURM_PROCID --id $SLURM_JOB_ID'",
            {"command": "mpirun sh -c 'python a.py --rank $OMPI_COMM_WORLD_RANK --id {{ run.id }}'"},
        ),
        (["-N 1"], "cd /workspace/app\nsrun python train.py", {"workingDir": "/workspace/app"}),
        (
            ["-N 1"],
            'cat > conf.json <<END\n{"lr": 1}\nEND\npython a.py ./conf.json',
            {
                "files": {"/etc/job/conf.json": '{"lr": 1}\n'},
                "command": "python a.py /etc/job/conf.json",
            },
        ),
        (
            ["-N 1"],
            "singularity exec --nv -B /a docker://a/c:2 python train.py",
            {"image": "a/c:2", "command": "python train.py"},
        ),
        (
            ["-N 1"],
            "export HF_HOME=/workspace/hf OMP_NUM_THREADS=8\npython a.py",
            {"env": {"HF_HOME": "/workspace/hf", "OMP_NUM_THREADS": "8"}},
        ),
    ],
)
def test_fields_of_the_job(options: list[str], body: str, fields: dict[str, Any]) -> None:
    made = job(script(*options, body=body)).fields
    assert fields.items() <= made.items()
    if "%1" in str(options):
        assert not {"array", "sweep", "workers"} & made.keys()


@pytest.mark.parametrize(
    "body",
    [
        "srun torchrun train.py $OUT",
        "srun torchrun train.py /lustre/data",
        "cat > $OUT.json <<E\n$A\nE\npython a.py $OUT.json",
    ],
)
def test_what_a_pod_cannot_know_is_an_obstacle(body: str) -> None:
    jobs, _ = read(script("-N 1", body=body))
    assert next(one.code for one in jobs[0].obstacles) == "cannot-run"


@for_each(
    ("body", "expected"),
    [
        ("mpirun -N 1 bash -c 'echo $X'\nsrun --mpi=pmix ./put", "mpirun bash -c 'echo $X'\nmpirun ./put"),
        ("mpirun ./a\nsrun --ntasks-per-node=4 ./b", "mpirun ./a\nmpirun -npernode 4 --oversubscribe ./b"),
        ("mpirun -np 1 ./a\nsrun -N1 -n1 ./b", "mpirun -np 1 ./a\nmpirun -np 1 ./b"),
        ("mpirun -np 2 ./a", "mpirun ./a"),
        ("mpirun ./a\nsrun bash -c './b $SLURM_PROCID'", "mpirun ./a\nmpirun sh -c './b $OMPI_COMM_WORLD_RANK'"),
    ],
)
def test_programs_together_with_mpi_start_in_as_many_processes(body: str, expected: str) -> None:
    made = job(script("-N 2", "--ntasks-per-node=1", body=body, interpreter="/bin/bash"))
    assert (made.fields["kind"], made.fields["slotsPerWorker"], made.fields["command"]) == ("mpi", 1, expected)


@for_each(
    ("body", "expected"),
    [
        (
            "export MASTER_ADDR=$(hostname) MASTER_PORT=$((10000 + SLURM_JOBID % 9))\nsrun python a.py",
            " MASTER_PORT=29500\nmpirun -x MASTER_ADDR -x MASTER_PORT python a.py",
        ),
        (
            "export MASTER_ADDR=$(hostname) MASTER_PORT=6000\nmpirun -x MASTER_ADDR=$MASTER_ADDR a",
            " MASTER_PORT=6000\nmpirun -x MASTER_ADDR=$MASTER_ADDR a",
        ),
        (
            "srun bash -c 'a $MASTER_ADDR $SLURM_PROCID'",
            "\nmpirun -x MASTER_ADDR sh -c 'a $MASTER_ADDR $OMPI_COMM_WORLD_RANK'",
        ),
    ],
)
def test_the_address_of_the_first_worker_is_that_of_the_hosts_of_mpi(body: str, expected: str) -> None:
    made = job(script("-N 2", "--ntasks-per-node=4", body=body, interpreter="/bin/bash"))
    first = "export MASTER_ADDR=$(head -n 1 /etc/mpi/hostfile | cut -d ' ' -f 1)"
    assert (made.fields["command"], made.obstacles) == (first + expected, ())


@for_each(
    ("options", "body", "expected"),
    [
        (
            ["--array=0-2"],
            "A=(x y z)\npython a.py ${A[$SLURM_ARRAY_TASK_ID]}",
            "A=(x y z)\npython a.py ${A[$JOB_COMPLETION_INDEX]}",
        ),
        (
            ["--array=1-3"],
            "A=(x 'y z' u v)\ni=$((SLURM_ARRAY_TASK_ID - 1))\npython a.py ${A[$SLURM_ARRAY_TASK_ID]} \"${A[$i]}\"",
            "A=(x 'y z' u v)\npython a.py ${A[JOB_COMPLETION_INDEX + 1]} \"${A[(JOB_COMPLETION_INDEX + 1) - 1]}\"",
        ),
        (
            ["--array=1,5"],
            "A=(x y z u v w)\nB=${A[$SLURM_ARRAY_TASK_ID]}\npython a.py $B",
            "A=(x y z u v w)\npython a.py ${A[{{ params.task }}]}",
        ),
        (
            ["--array=0-1"],
            "A=(x,1 y,2)\nIFS=',' read m n <<< \"${A[$SLURM_ARRAY_TASK_ID]}\"\npython a.py $m $n",
            "A=(x,1 y,2)\nIFS=, read -r m n <<< ${A[$JOB_COMPLETION_INDEX]}\npython a.py $m $n",
        ),
        (["--array=0-1"], "python $((SLURM_ARRAY_TASK_ID * 2))", "python $(($JOB_COMPLETION_INDEX * 2))"),
        (
            ["--array=0-1"],
            'A=(\'x y,1\' u,2)\nIFS=, read m n <<< "${A[$SLURM_ARRAY_TASK_ID]}"\npython a.py "$m" $n --a="$m"',
            'A=(\'x y,1\' u,2)\nIFS=, read -r m n <<< "${A[$JOB_COMPLETION_INDEX]}"\npython a.py "$m" $n --a="$m"',
        ),
        (["-N 1"], 'IFS=: read -r m n <<< "a:b:c"\npython a.py $m $n', "python a.py a b:c"),
        (
            ["--array=0-3"],
            "A=(x y)\nB=(1 2)\npython a.py ${A[$((SLURM_ARRAY_TASK_ID / ${#B[@]}))]}",
            "A=(x y)\npython a.py ${A[$JOB_COMPLETION_INDEX / 2]}",
        ),
    ],
)
def test_items_of_arrays_are_those_of_the_task(options: list[str], body: str, expected: str) -> None:
    made = job(script("-N 1", *options, body=body, interpreter="/bin/bash"))
    command = made.fields["command"]
    assert (command[-1] if isinstance(command, list) else command) == expected
    assert made.obstacles == ()


def test_numbers_of_items_are_numbers() -> None:
    made = job(script("-N 1", body="A=(x y)\npython a.py ${#A[@]}", interpreter="/bin/bash"))
    assert made.fields["command"] == "python a.py 2"


def test_an_image_from_outside_is_given_with_define() -> None:
    text = script("-N 1", body="srun --container-image ${CONTAINER_IMAGE} python a.py")
    source = ImportInput(file="train.sh", text=text, namespace="team", define={"CONTAINER_IMAGE": "c/d:2"})
    (made,) = SlurmImporter().read(source, Findings())
    assert (made.fields["image"], made.obstacles) == ("c/d:2", ())


def test_a_folder_inside_of_a_task_stays() -> None:
    one = job(script("-N 1", body='srun bash -c "cd /workspace/a && ./run b"', interpreter="/bin/bash"))
    assert (one.fields["workingDir"], one.fields["command"]) == ("/workspace/a", "./run b")
    two = job(script("-N 1", body='srun bash -c "ls; cd /workspace/a; ./run b"', interpreter="/bin/bash"))
    assert two.fields["command"] == "./run b"


def test_a_program_has_the_given_value_of_a_variable_before_the_script_sets_it() -> None:
    text = script("-N 1", body="a\nexport B=256\nb", interpreter="/bin/bash")
    source = ImportInput(file="train.sh", text=text, namespace="team", image="a/b:1", define={"B": "8"})
    (made,) = SlurmImporter().read(source, Findings())
    assert made.fields["command"] == "B=8 a\nb"
    assert made.fields["env"] == {"B": "256"}


def test_a_value_from_outside_keeps_its_quotes() -> None:
    assert command('a --b "$C" --d=$C', "-N 1") == 'a --b "$C" --d=$C'


def test_the_folder_that_slurm_gives_programs_is_a_variable_of_the_job() -> None:
    text = script("-N 1", body="cp a $SLURM_TMPDIR/a\npython b.py")
    given = ImportInput(file="a.sh", text=text, otherwise="t", image="a/b:1", define={"SLURM_TMPDIR": "/t"})
    (made,) = SlurmImporter().read(given, Findings())
    assert (made.fields["command"], made.fields["env"]) == ("cp a /t/a\npython b.py", {"SLURM_TMPDIR": "/t"})


def test_arguments_are_values_from_outside() -> None:
    text = script("-N 1", body='shift\na $1 "$@" $#', interpreter="/bin/bash")
    source = ImportInput(file="train.sh", text=text, namespace="team", image="a/b:1", define={"1": "x", "2": "y"})
    (made,) = SlurmImporter().read(source, Findings())
    assert made.fields["command"] == "a y y 1"


def test_a_placeholder_ends_the_script_unless_it_has_a_value() -> None:
    text = script("-N 1", body="# export A=<B>\nexport OUT=<your folder> # a\nsrun python a.py $OUT")
    jobs, _ = read(text)
    (obstacle,) = jobs[0].obstacles
    assert (obstacle.place.line, obstacle.message) == (5, "bash ends the script at the placeholder `<your folder>`")
    source = ImportInput(file="train.sh", text=text, namespace="team", image="a/b:1", define={"OUT": "a b"})
    (made,) = SlurmImporter().read(source, Findings())
    assert (made.fields["command"], made.obstacles) == ("python a.py a b", ())


def test_each_placeholder_is_reported() -> None:
    body = 'A="<KEY>"\nB=<PATH> # c\nD=<PATH>\nE=<DATA>\nsrun --container-mounts=$B bash -c "export F=$A; a $B/b $E"'
    (made,), found = read(script("-N 1", body=body))
    assert [(one.place.line, one.message) for one in made.obstacles] == [
        (4, "`<KEY>` is a placeholder"),
        (5, "bash ends the script at the placeholder `<PATH>`"),
        (7, "`<DATA>` is a placeholder"),
    ]
    assert made.fields["command"] == "a '<PATH>/b' '<DATA>'"
    assert "the mount `<PATH>` is not carried: its folder is a placeholder" in [one.message for one in found]


@for_each(
    ("body", "said", "expected"),
    [
        ('A="<MY_PATH>"\npython a.py $A', "`<MY_PATH>` is a placeholder", "python a.py b c"),
        ("A='<MY PATH>/d'\npython a.py \"$A\"", "`<MY PATH>` is a placeholder", "python a.py 'b c/d'"),
        ('export A="<MY-PATH>"\npython a.py', "`<MY-PATH>` is a placeholder", "python a.py"),
        ('python a.py --out "<MY OUT>"', "`<MY OUT>` is a placeholder", "python a.py --out '<MY OUT>'"),
        ('A="<html>"\npython a.py $A --eos-token "<EOS>"', "", "python a.py '<html>' --eos-token '<EOS>'"),
        ('[ "$B" = "<MY_PATH>" ] && A=1\nsed "s/<A>/b/" c\npython a.py', "", "sed 's/<A>/b/' c\npython a.py"),
        ('A="<UNUSED>"\npython a.py', "", "python a.py"),
    ],
)
def test_a_placeholder_in_quotes_is_one(body: str, said: str, expected: str) -> None:
    text = script("-N 1", body=body, interpreter="/bin/bash")
    jobs, _ = read(text)
    assert [one.message for one in jobs[0].obstacles] == ([said] if said else [])
    source = ImportInput(file="train.sh", text=text, namespace="team", image="a/b:1", define={"A": "b c"})
    (made,) = SlurmImporter().read(source, Findings())
    assert made.fields["command"] == expected


def test_lines_begin_with_options_of_the_program() -> None:
    long = f"--name {'a' * 80}"
    body = f"srun --ntasks-per-node=9 -- b.sh --cpu {long} -- python -u a.py -n -1\nsrun a"
    text = job(script("-N 2", "--ntasks-per-node=8", "--gres=gpu:8", body=body))
    assert text.fields["command"] == (
        f"mpirun -npernode 9 --oversubscribe b.sh \\\n  --cpu \\\n  {long} \\\n  -- python -u a.py -n -1\nmpirun a"
    )
    plain = job(script("-N 2", "--ntasks-per-node=8", "--gres=gpu:8", body="srun a"))
    assert (plain.fields["kind"], "slotsPerWorker" in plain.fields) == ("mpi", False)


def test_long_commands_have_a_line_for_each_option() -> None:
    options = " ".join(f"--option-{number}={'a' * 20}" for number in range(5))
    text = command(f"srun torchrun train.py {options}")
    assert text.split(" \\\n  ")[0] == "torchrun train.py"
    assert len(text.splitlines()) == 6


@pytest.mark.parametrize(
    "body",
    [
        "a=a\n" + "a=$a$a\n" * 60 + "srun x $a",
        "f() { f; f; }\nf",
        "x=$(" * 300,
        "for i in {1..99999999}; do srun x; done",
        "A=(a b)\n" + "A=(${A[@]} ${A[@]})\n" * 40 + "srun x ${A[@]}",
        "srun bash -c " * 50,
        "eval 'eval x'",
        'A=\'eval "$A"; eval "$A"\'\neval "$A"',
        'A=\'eval "$A$A"\'\neval "$A"',
        "${A:=${A}}",
        "((x=9**9**9))",
        "A+=b srun x",
        "cat <<E > a\n\\",
        'x "a\\',
        "srun bash -c 'srun x'\nmpirun y",
        "srun x |",
        "srun x | \\",
        "srun x &&",
    ],
)
def test_hostile_scripts_end(body: str) -> None:
    jobs, found = read(script("-N 1", body=body))
    assert len(text_of(jobs[0], "") if jobs else str(found)) < 2_000_000


@for_each(
    ("options", "body", "reason"),
    [
        (["-N 2"], "A=1\nsrun torchrun train.py {{ MODEL }}", "the script is a template: `{{ MODEL }}` has no value"),
        (["-N 2"], "{% if x %}\nsrun torchrun train.py", "the script is a template: `{% if x %}` has no value"),
        (["-N 2"], "mpirun ./a\nsrun torchrun a.py", "`torchrun` starts in one pod only"),
        (
            ["-N 2", "--ntasks-per-node=2", "--array=0-1"],
            "A=(a b)\nsrun x ${A[$SLURM_ARRAY_TASK_ID]}",
            "the tasks of a job of kind `mpi` cannot take different items of an array",
        ),
    ],
)
def test_what_certainly_cannot_run(options: list[str], body: str, reason: str) -> None:
    made = job(script(*options, body=body, interpreter="/bin/bash"))
    assert reason in "; ".join(one.message for one in made.obstacles)


ONE = ("-N 1",)
COUNTED = """
R=0
A=(b "c d")
for i in $(find .); do
  work $R "${A[@]}"
  R=$((R + 1))
done
python a.py $R
"""


def test_a_construct_has_the_variables_that_it_reads() -> None:
    made = job(script(*ONE, body=COUNTED, interpreter="/bin/bash"))
    assert made.fields["command"][-1].startswith("R=0\nA=(b 'c d')\nfor i in $(find .); do\n  work $R ")
    assert made.obstacles == ()


def test_a_construct_has_the_numbers_of_its_calculations() -> None:
    body = "START_TIME=$(date +%s)\nwhile true; do echo $(($(date +%s) - START_TIME)); curl x; sleep 9; done"
    text = job(script(*ONE, body=f"python a.py\n{body}", interpreter="/bin/bash")).fields["command"]
    assert "\nSTART_TIME=$(date +%s)\nwhile true; do echo $(($(date +%s) - START_TIME)); curl x" in text


def test_a_value_of_the_pod_in_single_quotes_is_expanded() -> None:
    body = "H=$(scontrol show hostnames | head -n 1)\nsrun bash -c \"python a.py '$H:1' 'b c' \\$SLURM_PROCID\""
    assert command(body) == "python a.py $MASTER_ADDR:1 'b c' $RANK"


def test_a_text_as_input_stays() -> None:
    made = job(script(*ONE, body='python a.py <<< "text"', interpreter="/bin/bash"))
    assert made.fields["command"] == ["bash", "-c", 'python a.py <<< "text"']


def test_a_loop_over_the_nodes_cannot_run() -> None:
    body = "for n in $(scontrol show hostnames $SLURM_JOB_NODELIST); do ssh $n work; done"
    assert job(script("-N 2", body=body)).obstacles
    body = "H=$(scontrol show hostnames $SLURM_JOB_NODELIST)\nfor n in $H; do ssh $n work; done"
    assert job(script("-N 2", body=body)).obstacles


@for_each(
    ("start", "fields"),
    [
        ("shifter -V /fsx/a:/data --module gpu", {"host-data": "/data"}),
        ("apptainer exec --bind=/fsx/a:/data,/b:/c x.sif", {"host-data": "/data", "host-c": "/c"}),
        ("singularity run -B /fsx/a:/data x.sif", {"host-data": "/data"}),
    ],
)
def test_the_mounts_of_a_container_are_carried(start: str, fields: dict[str, str]) -> None:
    made = job(script(*ONE, body=f"srun {start} bash -c 'python a.py'"))
    assert (made.fields["command"], made.fields["data"]) == ("python a.py", fields)


def test_one_node_of_mpi_has_no_number() -> None:
    made = job(script("-N 1", "--ntasks-per-node=8", "--gres=gpu:8", body="srun python a.py"))
    assert (made.fields["kind"], "workers" in made.fields) == ("mpi", False)


def test_a_program_behind_a_value_has_its_line() -> None:
    text = command(f"srun torchrun --max_restarts 0 --tee 3 train.py --name {'a' * 90}")
    assert text.split(" \\\n  ") == ["torchrun", "--max_restarts 0", "--tee 3", "train.py", f"--name {'a' * 90}"]


@for_each(
    ("body", "expected"),
    [
        ("time python a.py", "python a.py"),
        ("time -p srun torchrun a.py", "torchrun a.py"),
        ("time for a in b c\ndo\npython $a.py\ndone", "python b.py\npython c.py"),
        ("nohup timeout 9 srun torchrun a.py", "torchrun a.py"),
        ("i=lost\nfor i in $(find .); do work $i ${i}_a; done", "for i in $(find .); do work $i ${i}_a; done"),
        ("while read l; do work $l; done < list", "while read l; do work $l; done < list"),
        ("f() { work $1; }\nfor k in *.x; do f $k; done", "f() { work $1; }\nfor k in *.x; do f $k; done"),
        ("F=$(find .)\npython a.py $F", "python a.py $(find .)"),
        ('F=$(find .)\npython a.py "$F"', 'python a.py "$(find .)"'),
        ("find a | xargs rm", "find a | xargs rm"),
        ("python a.py | tee log", "python a.py"),
        ("python a.py < in.txt", "python a.py < in.txt"),
        ("sed s/a/b/ x > y\npython a.py", "sed s/a/b/ x > y\npython a.py"),
        ("python a.py {1..3} x{b,c} '{1,2}'", "python a.py 1 2 3 xb xc '{1,2}'"),
        ("python a.py || python b.py", "python a.py || python b.py"),
        ("python a.py || exit 1", "python a.py"),
        ("python a.py || { echo b; exit 3; }\necho c", "python a.py || exit 3"),
        ("srun bash -c 'set -e; b; python a.py || { echo c; exit 3; }; echo d'", "set -e\nb\npython a.py || exit 3"),
        ("! python a.py", "! python a.py"),
        ("until python a.py; do sleep 1; done", "until python a.py; do sleep 1; done"),
        ("exec python a.py\npython never.py", "python a.py"),
        ("env A=1 python a.py", "A=1 python a.py"),
        ("command python a.py", "python a.py"),
        ("env -i python a.py", "env -i python a.py"),
        ("python - <<E\nprint(1)\nE", "python - <<E\nprint(1)\nE"),
        ('eval "$(conda shell.bash hook)"\npython a.py', "python a.py"),
        ('eval "$(make-env)"\npython a.py', 'eval "$(make-env)"\npython a.py'),
        ("server &\npython a.py\nwait", "server &\npython a.py\nwait"),
        ("srun server &\nsrun torchrun a.py &\necho x &\nwait", "server &\ntorchrun a.py &\nwait"),
        ("srun torchrun a.py &\nwait", "torchrun a.py"),
        ("coproc server\npython a.py", "server &\npython a.py"),
        ("set -eux\npython a.py\npython b.py", "set -e\npython a.py\npython b.py"),
        ("set -e\ncd x || echo no\npython a.py", "set -e\ncd x || true\npython a.py"),
        ("set -e\nmkdir -p x\npython a.py", "set -e\nmkdir -p x\npython a.py"),
        ("python a.py\nset -e\npython b.py\npython c.py", "python a.py\nset -e\npython b.py\npython c.py"),
        ("python a.py\nset -e\npython b.py", "python a.py\npython b.py"),
        ("B=0\npython a.py $((B + 10#$B))", "python a.py 0"),
        ("<<com\nNotes of (people\ncom\npython a.py", "python a.py"),
        (": <<'END'\npython b.py\nEND\npython a.py", "python a.py"),
    ],
)
def test_constructs_of_the_shell_keep_their_meaning(body: str, expected: str) -> None:
    assert command(body, *ONE) == expected


@for_each(
    ("body", "message"),
    [
        ("echo a > hosts\npython a.py", "the file `hosts` is not carried: gen writes no files of the batch part"),
        ("trap 'save a' USR1\npython a.py", "`trap save a` is not carried: a pod gets SIGTERM at its end"),
        ("timeout 9 srun torchrun a.py", "`timeout` around `srun` is not carried: each pod starts the program itself"),
    ],
)
def test_what_a_job_lacks_is_named(body: str, message: str) -> None:
    _, found = read(script(*ONE, body=body, interpreter="/bin/bash"))
    assert message in [one.message for one in found]


@for_each(
    "body",
    [
        "python a.py (\n",
        "A=(\n  a\n  f() { b; }\n)\npython a.py",
        'python "a.py',
        "if a; then\n# b\nfi",
        "if a; then b; else\nfi",
        "if true; then b; else<\nc; fi",
        "if true; then b; elif c; then\nfi",
        "if true; then b; else c; done; fi",
        "while a; do\ndone",
        "for i in 1; do\ndone\na",
        "f() {\n}\na",
        "a >\nb",
        "a <<<\nb",
        "a;; b",
        "a ( b )",
    ],
)
def test_a_script_with_invalid_syntax_cannot_run(body: str) -> None:
    text = body.encode()
    assert subprocess.run(["bash", "-n"], input=text, capture_output=True, check=False).returncode != 0
    made = job(script(*ONE, body=body, interpreter="/bin/bash"))
    assert "gen cannot read the syntax of the shell here" in [one.message for one in made.obstacles]


def test_a_line_that_is_cut_off_is_named() -> None:
    (obstacle,) = job(script(*ONE, body="python a.py\n  --lr 1 \\\n  --x=$(b)")).obstacles
    assert obstacle.place.line == 5
    assert obstacle.message == "`--lr` is not a program, and the line before it ends without `\\`"


@for_each(
    "body",
    [
        "python a.py \\",
        "<<com\n(\ncom\npython a.py",
        "case $x in\n  a) ;;\n  b) c ;;\nesac\npython a.py",
        "f() { a; }\nif [ $A ]; then\n  A=1\nelse\n  # b\n  A=2\nfi\npython a.py > \\\n  b",
        "A=$((10#08 + 10#$SLURM_NNODES))\n((A++))\npython $A",
        'echo else\nA="${B:-}" python a.py',
        "A=$(((SLURM_NODEID)) && echo 0 || echo 1)\npython a.py $A $(((1 + 2) * 3)) '$((1) + 2)'",
        "python a.py $(awk '{ print $((1) - 2) }' b)",
        "A=3 B=0\npython a.py $((A > 2 ? 1 : 0)) $((A & 1)) $((A && B)) $((0x1f)) $((-010 + ~A)) $((!B)) $((B++))",
        "sleep $((RANDOM % 20))\npython a.py",
        "case $- in *i*) echo a;; esac\n[[ $- == *i* ]] && exit 1\npython a.py",
        "python a.py <<END\nENDS\n'\nEND\npython b.py",
        "for ((i = 0; i < 2; i++)); do python a.py $i $SECONDS | awk '/has address/'; done",
    ],
)
def test_what_bash_reads_is_valid(body: str) -> None:
    assert job(script(*ONE, body=body)).obstacles == ()


SERVER = """
set -euo pipefail
PORT=8000
conda activate "$SERVE" || { echo "no $SERVE"; exit 1; }
FIRST=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n1)
IP=$(srun --nodes=1 --ntasks=1 -w "$FIRST" hostname --ip-address)
srun --nodes=2 --ntasks=2 --ntasks-per-node=1 \\
  bash -c "python -m server --dist '$IP:45000' --node-rank \\$SLURM_PROCID --port '$PORT'" &
LIMIT=3600
SINCE=$(date +%s)
while true; do
  if curl -s "http://$IP:$PORT/health"; then break; fi
  NOW=$(date +%s)
  if [ $((NOW - SINCE)) -gt $LIMIT ]; then
    exit 1
  fi
  sleep 60
done
curl -d "{
  \\"n\\": 1
}" "http://$IP:$PORT/v1"
"""
SERVED = """
python -m server --dist $MASTER_ADDR:45000 --node-rank $RANK --port 8000 &
SINCE=$(date +%s)
while true; do
  if curl -s "http://$MASTER_ADDR:8000/health"; then break; fi
  NOW=$(date +%s)
  if [ $((NOW - SINCE)) -gt 3600 ]; then
    exit 1
  fi
  sleep 60
done
curl -d '{
  "n": 1
}' http://$MASTER_ADDR:8000/v1
"""


@for_each(
    ("body", "expected"),
    [
        ("cd run_$SLURM_ARRAY_TASK_ID\na ../b", 'cd "run_$((JOB_COMPLETION_INDEX + 1))"\na ../b'),
        ("cd r/$SLURM_ARRAY_TASK_ID\na\ncd ../..\nb", 'cd "r/$((JOB_COMPLETION_INDEX + 1))"\na\ncd ../..\nb'),
        ("A=(x y z)\ncd ${A[$SLURM_ARRAY_TASK_ID]}/b\na", OF_ITEM.replace("b/$", "$").replace("}", "}/b")),
        ("A=(x y z)\ncd b/${A[$SLURM_ARRAY_TASK_ID]}\na", OF_ITEM),
        ("export A=$SLURM_ARRAY_TASK_ID\nb", "export A=$((JOB_COMPLETION_INDEX + 1))\nb"),
    ],
)
def test_a_task_of_an_array_has_its_folder_and_variables(body: str, expected: str) -> None:
    fields = read(script("-N 1", "--array=1-3", body=body, interpreter=BASH))[0][0].fields
    assert fields["command"] in (expected, ["bash", "-c", expected])


@for_each(
    ("options", "words", "expected"),
    [
        ("--array=0-7", "$SLURM_ARRAY_TASK_MIN $((SLURM_ARRAY_TASK_MAX + 1))", "0 8"),
        ("--array=1-4", "$SLURM_ARRAY_TASK_COUNT $SLURM_ARRAY_TASK_MAX", "$TASK_COUNT 4"),
        ("--array=2-8:3", "$SLURM_ARRAY_TASK_MIN $SLURM_ARRAY_TASK_MAX", "2 8"),
        ("--array=3", "$SLURM_ARRAY_TASK_MIN $SLURM_ARRAY_TASK_MAX $SLURM_ARRAY_TASK_COUNT", "3 3 1"),
        ("-c 8", "$SLURM_CPUS_ON_NODE $SLURM_JOB_CPUS_PER_NODE", "8 8"),
        ("-c 8 -N 2", "$SLURM_CPUS_ON_NODE '$SLURM_JOB_CPUS_PER_NODE'", "8 '8(x2)'"),
        ("--ntasks-per-node=2 -c 4", "$SLURM_CPUS_ON_NODE", "8"),
        ("-c 8 --exclusive", "$SLURM_CPUS_ON_NODE", None),
        ("--mem=0", "$SLURM_MEM_PER_NODE", None),
        ("--mem=64G", "$SLURM_MEM_PER_NODE", "65536"),
        ("--mem-per-cpu=512M", "$SLURM_MEM_PER_CPU", "512"),
        ("--mem-per-gpu=40G --gres=gpu:1", "$SLURM_MEM_PER_GPU", "40960"),
        ("--cpus-per-gpu=4 --gres=gpu:1", "$SLURM_CPUS_PER_GPU", "4"),
        ("--gpus-per-task=a:2", "$SLURM_GPUS_PER_TASK", "a:2"),
        ("--ntasks-per-gpu=1 --gres=gpu:1", "$SLURM_NTASKS_PER_GPU", "1"),
        ("--threads-per-core=1", "$SLURM_NTASKS_PER_CORE", None),
        ("--threads-per-core=1", "$SLURM_THREADS_PER_CORE", "1"),
        ("--array=2-8:2", "$SLURM_ARRAY_TASK_STEP", "2"),
        ("--array=0-3%2", "$SLURM_ARRAY_TASK_STEP", "1"),
        ("-N 1 --ntasks-per-node=2", "$SLURM_TASKS_PER_NODE", "2"),
        ("-N 2 --ntasks-per-node=2", "'$SLURM_TASKS_PER_NODE'", "'2(x2)'"),
        ("-N 3 -n 7", "'$SLURM_TASKS_PER_NODE'", "'3,2(x2)'"),
    ],
)
def test_variables_of_slurm_follow_from_options(options: str, words: str, expected: str | None) -> None:
    made = job(script(options, body=f"a {words}".replace("'", '"'), interpreter=BASH))
    assert made.fields["command"] == f"a {expected or words}"
    assert (made.obstacles != ()) is (expected is None)


@for_each(
    ("line", "expected"),
    [
        ("S=$(grep b c)", "--define S=VALUE"),
        ("S=$(\n  grep b c\n)", "--define S=VALUE"),
        ("export S=`grep b c` T=2", "--define S=VALUE"),
        ("while read -r S; do d; done < b", None),
    ],
)
def test_a_value_that_a_program_computes_can_be_given(line: str, expected: str | None) -> None:
    body = f'{line}\ncase "$S" in\n  x) srun a ;;\n  *) srun b ;;\nesac'
    text, lines = script("-N 2", body=body, interpreter=BASH), line.count("\n")
    (made,), _ = read(text)
    assert ((expected or "--define") in made.obstacles[0].hint) is (expected is not None)
    values, found = {"S": "x"}, Findings()
    (given,) = SlurmImporter().read(
        ImportInput(file="a.sh", text=text, namespace="team", image="a/b:1", define=values), found
    )
    assert (given.fields["command"] == "a") is (expected is not None)
    assert (given.obstacles == ()) is (expected is not None)
    assert {one.place.line for one in found} <= {5 + lines, *(() if expected else (4,))}


def test_given_arguments_that_a_loop_takes_are_carried() -> None:
    body = "while [[ $# -gt 0 ]]; do case $1 in --lr) LR=$2; shift 2 ;; *) exit 1 ;; esac; done\na --lr $LR"
    text, given = script("-N 1", body=body, interpreter=BASH), {"1": "--lr", "2": "0.1"}
    found = Findings()
    (one,) = SlurmImporter().read(
        ImportInput(file="a.sh", text=text, namespace="team", image="a/b:1", define=given), found
    )
    assert (one.fields["command"], list(found)) == ("a --lr 0.1", [])


def test_a_server_in_the_background_is_awaited_in_each_pod() -> None:
    made = job(script("-N 2", "--gpus-per-node=8", "--ntasks-per-node=1", body=SERVER, interpreter="/bin/bash"))
    assert made.obstacles == ()
    assert made.fields["command"] == f"set -e{SERVED}".rstrip()


def test_numbers_have_the_base_of_bash() -> None:
    assert command("A=010\nsrun a $((A + 1)) $((10#$A + 1)) {1,00..3}", "-N 1") == "a 9 11 1 00..3"


CONTAINER = "--container-image a/b:2 --container-mounts .:/src,./out:/results"


@for_each(
    ("body", "expected"),
    [
        (f"mkdir -p $PWD/out\nsrun {CONTAINER} a", "a"),
        (f"mkdir -p out/x $PWD/out/y\nsrun {CONTAINER} a", "mkdir -p /results/x /results/y\na"),
        (f"mkdir -p $PWD/logs/x\nsrun {CONTAINER} a", "mkdir -p /src/logs/x\na"),
        ("srun mkdir -p /out\nsrun a", "mkdir -p /out\na"),
        ("M=Org/Model-3B.pt\nsrun a $(basename $M) $(basename $M .pt)", "a Model-3B.pt Model-3B"),
        ("for i in {1..9}; do a $i; done", "for i in {1..9}; do a $i; done"),
        ("for i in {1..2}; do a $i; done", "a 1\na 2"),
        ("mpirun -np 4 -npernode 4 python a", "mpirun python a"),
        ("export MASTER_ADDR=$(/usr/sbin/ip a show | grep inet | head -1)\na $MASTER_ADDR", "a $MASTER_ADDR"),
    ],
)
def test_commands_are_as_a_person_writes_them_in_a_container(body: str, expected: str) -> None:
    fields = job(script(*ONE, body=body, interpreter="/bin/bash")).fields
    text = fields["command"]
    assert (text if isinstance(text, str) else text[-1]) == expected


def test_a_path_below_the_start_of_the_script_is_named_for_a_program_in_a_container() -> None:
    body = "export A=$(pwd)/a B=./b\nsrun python a.py\nsrun --container-workdir=/app python b.py"
    made, found = read(script("-N 1", body=body, interpreter="/bin/bash"))
    assert made[0].fields["env"] == {"B": "./b"}
    assert [one.place.line for one in found if "the variable `A`" in one.message] == [4]


def test_an_option_in_quotes_has_a_line_of_its_own() -> None:
    options = (
        "--save-frequency 1 --train-data='pipe:aws s3 cp s3://bucket/{0..9}.tar -' --epochs 10 --rate 1e-4 --name 'a b'"
    )
    lines = command(f"python train.py {options}", "-N 1").split("\n")
    assert [one.strip().strip("'").split("=")[0].split()[0] for one in lines] == [
        *("python", "--save-frequency", "--train-data", "--epochs", "--rate", "--name"),
    ]


@for_each(
    ("body", "expected"),
    [
        ('mpirun -N 1 bash -c \'T=$(cat /a); echo "$T" | awk "{print \\$3}"; b $T\'', ""),
        ("mpirun -N 1 bash -c 'b $U'", "`$U` has no value in a pod: the script gets it from outside"),
        ("mpirun -x LD_LIBRARY_PATH=/a:$LD_LIBRARY_PATH b", ""),
        ('N=$(jq -n "[$CUDA_VISIBLE_DEVICES] | length")\nsrun b $N', ""),
    ],
)
def test_a_value_that_a_pod_has_is_not_from_outside(body: str, expected: str) -> None:
    _, found = read(script("-N 1", "--ntasks-per-node=2", "--gres=gpu:2", body=body, interpreter=BASH))
    assert [one.message for one in found if "has no value" in one.message] == ([expected] if expected else [])


@for_each(
    ("body", "expected"),
    [
        ("a --o $X/logs/$Y.log --b=$X/$Y/$X.txt", "a --o x/logs/y.log --b=x/y/x.txt"),
        ("a > $X/logs/$Y.log 2>&1\nb", "a\nb"),
        ("a > logs/$X-$Y.log\nb logs/x-y.log", "a > logs/x-y.log\nb logs/x-y.log"),
        ("if [ $X/$Y.a = x/y.a ]; then a; fi", "a"),
        ("for f in $X/$Y.txt $Y/$X.txt; do a $f; done", "a x/y.txt\na y/x.txt"),
        ("f() { a $X/$1.txt; }\nf $Y", "a x/y.txt"),
        ("cd $X/runs/$Y.d\na", "cd x/runs/y.d\na"),
        ('C=(export X="a b")\n"${C[@]}"\n$X', "a b"),
        ("! A=$(hostname)\nB=1 C=2\n! D=3\na $B $D", "a 1 3"),
        ("R=$(builtin cd $X/..; pwd)\na $R $R/b", "a . ./b"),
        ("N=$(expr $SLURM_NNODES \\* 4)\na $N `expr 9 - 2 - 1`", "a 4 6"),
        ("srun apptainer_wrapper exec bash -c 'a \\$SLURM_PROCID; b'", "a '$SLURM_PROCID'\nb"),
    ],
)
def test_words_with_several_variables_and_sums(body: str, expected: str) -> None:
    assert job(script("-N 1", body=f"X=x\nY=y\n{body}", interpreter=BASH)).fields["command"] == expected


@for_each(
    ("makes", "file", "expected"),
    [
        ("python3 -m venv --clear /e", "/e/bin/activate", "source /e/bin/activate"),
        ("E=$PWD/e\nvirtualenv $E", "$E/bin/activate", "source ./e/bin/activate"),
        ("cd b\nuv venv", ".venv/bin/activate", "source .venv/bin/activate"),
        ("if ask; then python -m venv e; fi", "e/bin/activate", "source e/bin/activate"),
        ("python -m venv f", "e/bin/activate", ""),
        ("python -m pip install e", "e/bin/activate", ""),
    ],
)
def test_an_environment_that_the_script_makes_is_that_of_its_programs(makes: str, file: str, expected: str) -> None:
    made, found = read(script("-N 1", body=f"{makes}\nsource {file}\npip install x", interpreter=BASH))
    command = made[0].fields["command"]
    lines = command if isinstance(command, str) else command[-1]
    assert lines.endswith(f"{expected}\npip install x".lstrip())
    assert [one.message for one in found if "environment" in one.message] == (
        [] if expected else ["`source e/bin/activate` is not carried: a container has an environment of its own"]
    )


@for_each(
    ("nodes", "value", "said"),
    [
        (1, "$SLURM_NODEID", []),
        (2, "$SLURM_NODEID", []),
        (2, "7", ["the variable `JOB_COMPLETION_INDEX` is not carried: a pod has one of its own"]),
    ],
)
def test_the_index_of_a_pod_is_that_of_its_kind(nodes: int, value: str, said: list[str]) -> None:
    body = f"srun bash -c 'export JOB_COMPLETION_INDEX={value}; ./a.sh'"
    made, found = read(script(f"-N {nodes}", "--gres=gpu:8", body=body))
    assert made[0].fields["command"] == "./a.sh"
    assert "env" not in made[0].fields
    assert [one.message for one in found if "INDEX" in one.message] == said
    assert any("SLURM_PROCID" in one.message for one in found) == bool(said)


def test_an_output_that_begins_with_two_brackets_is_no_number() -> None:
    made = command("srun torchrun --rdzv_conf=is_host=$(((SLURM_NODEID)) && echo 0 || echo 1) a $(((1 + 2) * 3))")
    assert made == "torchrun a 9"
    made = job(script("-N 1", body="A=2\npython a $(((A)) && echo 0)", interpreter=BASH)).fields["command"]
    assert made == ["bash", "-c", "A=2\npython a $( ((A)) && echo 0)"]


@for_each(
    ("body", "expected"),
    [
        ('N=$(scontrol show hostnames)\nmapfile -t A <<< "$N"\na ${A[0]} ${#A[@]}', "a $MASTER_ADDR 2"),
        ("readarray -t A < <(scontrol show hostnames $SLURM_JOB_NODELIST)\na $A", "a $MASTER_ADDR"),
        ("mapfile -t A < <(scontrol show hostnames | head -n 1)\na ${A[0]} ${#A[@]}", "a $MASTER_ADDR 1"),
        ("read -r A < <(scontrol show hostnames)\na $A", "a $MASTER_ADDR"),
    ],
)
def test_the_lines_of_the_list_of_nodes_are_its_items(body: str, expected: str) -> None:
    assert command(f"{body}\nsrun b", "-N 2", "--ntasks-per-node=1").startswith(f"{expected}\n")
