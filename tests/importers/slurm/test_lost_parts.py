"""Parts of a script that the job lacks are named at their line."""

from __future__ import annotations

from gen.base.findings import Findings
from gen.importers import IMPORTERS, ImportInput
from tests.cases import for_each
from tests.importers.slurm.test_slurm import BASH, read, script

OF_JOB = "scontrol show job $SLURM_JOB_ID | awk -F= '/Command=/{print $2}'"
PAIR = ("-N 2", "-n 2")
NODE = ("-N 1",)
ALWAYS = "the job runs the commands of this case always"
FSX = ("site.yaml", b"paths: {/fsx: fsx}\n")
CHECKED = "if [ -d /a ]; then A=/a; elif [ -d /b ]; then A=/b; else exit 1; fi\nsrun a $A"
RESTARTED = 'the other case of `[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ]` is not carried: no pod has the number of'
NODES = ("-N 2", "--gres=gpu:8", "--ntasks-per-node=1")
NAMES = "scontrol show hostnames $SLURM_JOB_NODELIST"
UNCLEAR = "the address `"


@for_each(
    ("options", "body", "hint"),
    [
        (NODE, "srun --ntasks-per-node=$A b", "give it with `--define A=VALUE`, or set it in the script"),
        (NODE, "A=$A\nsrun --container-image=$A b", "give it with `--define A=VALUE`, or set it in the script"),
        (NODE, "if ask; then C=1; fi\nsrun -c $C a", "set it in the script, or remove the option"),
        (("-N 1", "-C v100-32g"), "a", "map it with `constraints` of a site file, or set `placement`"),
        (("-N 1", "-n 2"), "srun python -m a", "as that of Lightning does, start it with `torchrun`"),
        (("-N 1", "-p $PARTITION"), "a", "give it with `--define PARTITION=VALUE`, or set `queue` of the job"),
        (NODE, "export HF_TOKEN='<your-token-here>'\na", "with the key `HF_TOKEN` in the namespace"),
        (NODE, "export HF_TOKEN='<Your Token>'\na", "with the key `HF_TOKEN` in the namespace"),
        (NODE, "export HF_TOKEN=$(cat ~/.token)\na", "with the key `HF_TOKEN` in the namespace"),
        (NODE, "export WANDB_API_KEY=YOUR_WANDB_API_KEY_HERE\na", "with the key `WANDB_API_KEY` in the namespace"),
        (
            NODE,
            "export HF_TOKEN=hf_0123456789\na",
            "with the key `HF_TOKEN` in the namespace, and revoke the old value",
        ),
        (NODES, "export H=$(hostname):1\nsrun torchrun a --b $H", "read that in the program, if it needs it"),
        (
            NODES,
            f"export H=$({NAMES})\nsrun a",
            "use `$MASTER_ADDR`, or a launcher that gen gives the hosts, such as `mpirun`",
        ),
    ],
)
def test_a_remedy_helps(options: tuple[str, ...], body: str, hint: str) -> None:
    _, found = read(script(*options, body=body, interpreter=BASH))
    hints = [one.hint for one in found]
    assert any(one.endswith(hint) for one in hints), hints


@for_each(
    ("options", "body", "line", "message"),
    [
        (
            ("-N 2", "--ntasks-per-node=2"),
            'B=2\nA="\n torchrun \\\\\n  a $B"\nsrun bash -c "$A"',
            9,
            "2 starts of `torchrun` on each node is not carried",
        ),
        (("-N 2", "--ntasks-per-node=2"), "srun torchrun a", 5, "2 starts of `torchrun` on each node is not carried"),
        (
            NODE,
            'A=(b c)\nbash -c "a ${A[@]} d"',
            5,
            "`'c d'` is not carried: the text of `bash -c` in front of it reads no",
        ),
        (NODE, "export 2> b A=1\na", 4, "gen does not follow `export A=1`"),
        (NODE, "A=$PWD/b\na ${A#*/}", 5, "`$A` has no value in a pod"),
        (NODE, '"$SLURM_JOB_ID,$(hostname)"\na', 4, "bash finds no program with the name"),
        (NODES, "N=$(cat b)\nsrun torchrun --nnodes $N a.py", 7, "the number of nodes `$(cat b)` is not carried"),
        (NODE, "a &\nB$!\nc", 5, "`B$!` is not a program"),
        (NODE, "srun a || srun b", 4, "the program behind `||` is not carried"),
        (
            NODE,
            "f() { squeue -h -j $SLURM_JOB_ID -o %L; }\nA=$(f)\nsrun a $A",
            4,
            "`squeue` has no answer in a pod, and only a shell decides this part",
        ),
        (
            NODE,
            "f() {\n  local A=$(sinfo -h); echo $A\n}\nif [ $(f) -gt 2 ]; then a; else b; fi",
            4,
            "`sinfo` has no answer in a pod, and only a shell decides this part",
        ),
        (
            NODE,
            "set -e\na | tee b\nc",
            5,
            "the file of `tee` is not carried: the cluster keeps the logs, and the status is that of the",
        ),
        (NODE, "srun bash b/c.sh", 4, "the rank of `c.sh` in `$SLURM_PROCID` and `$SLURM_LOCALID` is not carried"),
        (NODE, "(set -e; a; b) && c\nd", 4, "the shell around programs that end it is not carried"),
        (
            NODE,
            "python -c 'import os; print(os.environ[\"SLURM_NODELIST\"])'",
            4,
            "only Slurm sets `SLURM_NODELIST`, which the program of `python -c` needs",
        ),
        (
            NODE,
            "python3 - <<E\nimport os; os.getenv('SLURM_JOB_ID')\nE",
            4,
            "`SLURM_JOB_ID` for the program of `python3 <<` is not carried: only Slurm sets it",
        ),
        (NODE, "srun perl -e '$ENV{SLURM_JOB_ID}'", 4, "`SLURM_JOB_ID` for the program of `perl -e` is not carried"),
        (
            NODE,
            "perl -e 'qx[scontrol show hostnames]'",
            4,
            "`scontrol` in the program of `perl -e` is not carried: no pod has the programs of Slurm",
        ),
        (NODE, "A=$(ssh login01 hostname -i)\na $A", 5, "`ssh` has no answer in a pod"),
        (NODE, "A=$(hostname | cut -c1-4)\na $A", 4, "a part of the name of the host is not carried"),
        (NODE, "A=$(hostname -d)\na $A", 4, "the domain of the host is not carried: a pod has its own"),
        (NODE, "A=$(getent passwd b | cut -d: -f6)\na $A", 4, "the answer of `getent` is not carried"),
        (NODE, "A=$(ip addr show | grep ib)\na $A", 4, "the interface of the network is not carried"),
        (NODE, "unset NCCL_SOCKET_IFNAME\na", 4, "`unset NCCL_SOCKET_IFNAME` is not carried: the image or the overlay"),
        (NODE, "srun bash -c 'unset NCCL_IB_DISABLE; a'", 4, "`unset NCCL_IB_DISABLE` is not carried"),
        (NODES, "mpirun -N 1 a\nsrun --time=10 b", 7, "`--time` is not carried: it is that of one program"),
        (NODES, "mpirun -N 1 a\nsrun --new=1 b", 7, "`--new` is not carried: gen does not know this option"),
        (NODES, "srun -n1 --cpu-bind=none a\nsrun torchrun b.py", 6, "`--cpu-bind` is not carried"),
        (
            NODE,
            "export MASTER_PORT=6379\npython a",
            4,
            "the value `6379` of `MASTER_PORT` is not carried: a pod has",
        ),
        (NODE, "export A=1 RANK=4\npython a", 4, "the value `4` of `RANK` is not carried"),
        (("-J <job-name>",), "a", 2, "the name `<job-name>` is not carried: it is a placeholder"),
        (NODE, "unset HF_HOME\na", 4, "`unset HF_HOME` is not carried: the image of the job may set it"),
        (NODE, "srun bash -c 'unset A LD_PRELOAD; a'", 4, "`unset LD_PRELOAD` is not carried"),
        (NODE, "pushd $A/b\nc\npopd", 4, "the folder of `pushd` is not carried"),
        (NODE, "srun \\\n  --container-workdir=$A b", 4, "the folder of `--container-workdir` is not carried"),
        (
            PAIR,
            "for ((i=0; i<$N; i++)); do a $i; done\nsrun b",
            5,
            "the single run of `for ((` is not carried: each pod",
        ),
        (PAIR, "until a; do b; done\nsrun c", 5, "the single run of `until` is not carried: each pod runs it"),
        (("-N 3",), "python a.py", 4, "the use of 2 of 3 nodes is not carried"),
        (NODE, f"a /x/{'y' * 90}", 4, f"no pod has the folder `/x/{'y' * 76}…`"),
        (NODE, "python /x/a.py", 4, "no pod has the file `/x/a.py`"),
        (NODE, "a /x/v1.5", 4, "no pod has the folder `/x/v1.5`"),
        (
            NODE,
            "read -ra A <<< $B\nC=${A[${SLURM_ARRAY_TASK_ID}]}\na $C",
            6,
            "`$A` has no value in a pod: the script reads it from `$B`, which it gets from outside",
        ),
        (NODE, "srun -o $OUT a", 4, "the value `$OUT` of `--output` is not carried: the script gets it from outside"),
        (
            ("-N 2", "--ntasks-per-node=2"),
            "srun a <<E\nb\nE",
            5,
            "only a shell in each task decides this part, and `mpirun` starts programs only",
        ),
        (NODE, "conda activate a <<E\nb\nE\nsrun a", 4, "`conda activate a` is not carried"),
        (NODE, '[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] && A=-r\na $A', 4, RESTARTED),
        (NODE, "if [ ${SLURM_RESTART_COUNT:=0} -eq 0 ]; then a; fi\nb", 4, "the other case of `[ ${SLURM_RESTART_"),
        (NODE, "a --n ${SLURM_RESTART_COUNT:-0}", 4, "the number of restarts is not carried: it counts as 0"),
        (NODE, "a ${SLURM_RESTART_COUNT:+-r}", 4, "the number of restarts is not carried: it counts as 0"),
        (
            NODE,
            "trap 'rm -rf w' EXIT\na",
            4,
            "`trap rm -rf w` is not carried: the programs and files of a pod end with",
        ),
        (NODE, "f() { srun a; }\ntrap f EXIT\nb", 5, "`trap f` is not carried: it starts `srun`, which does not"),
        (NODE, "f() { cp $W r; }\ntrap f EXIT\nW=w\na", 5, "`trap f` is not carried: it reads `$W`, which the script"),
        (NODE, "export A=$PWD\ncd ..\na", 4, "the variable `A` is not carried: its value is known only on the"),
        (NODE, "trap 'touch b' USR1\na", 4, "`trap touch b` is not carried: a pod gets SIGTERM at its end"),
        (NODE, "[ -f x ] || exit 1\na", 4, "the check `[ -f x ]` is not carried: gen does not see files"),
        (NODE, "b\n[ -s x ] || exit\na", 5, "the check `[ -s x ]` is not carried: gen does not see files"),
        (NODE, "if [ -f x ]; then exit 0; fi\na", 4, "the other case of `[ -f x ]` is not carried: gen does not see"),
        (NODE, "[ -d x ] && exit\na", 4, "the other case of `[ -d x ]` is not carried: gen does not see files"),
        (NODE, "for i in 1 2; do [ -e $i ] && continue; a $i; done", 4, "the other case of `[ -e $i ]` is not carried"),
        (NODE, "b\nif [ ! -f x ]; then c; exit; fi\na", 5, "the other case of `[ ! -f x ]` is not carried: gen does"),
        (NODE, 'b\n[ -z "$X" ] && exit 0\na', 5, 'the other case of `[ -z "$X" ]` is not carried: the script gets'),
        (NODE, CHECKED, 4, "the check `[ -d /a ]` is not carried: gen does not see files"),
        (NODE, CHECKED, 5, "`$A` has no value in a pod: the script sets it only in a case that gen does not take"),
        (NODE, '[ -n "$B" ] && A=$B\na $A', 5, "`$A` has no value in a pod: the script sets it only in a case"),
        (NODE, 'A="$A -b"\na $A', 5, "`$A` has no value in a pod: the script gets it from outside"),
        (NODE, "A=$A\nsrun a $A", 5, "`$A` has no value in a pod: the script gets it from outside"),
        (NODE, "P=.\nif [ -e x ]; then\nP=./x\nfi\n$P -u", 5, "the script starts no program, because gen does not see"),
        (NODE, "rm -rf a\nif [ -f b ]; then\nc a\nfi", 5, "the script starts no program, because gen does not see"),
        (NODE, "for i in {1..64}; do srun a; srun b; srun c; srun d; done", 4, "the script starts too many programs"),
        (NODE, "A=${&B:-1}\na", 4, "gen cannot read the syntax of the shell here"),
        (
            NODES,
            "srun torchrun --master_port=$MASTER_PORT a",
            6,
            "`$MASTER_PORT` from outside is not carried: the script sets",
        ),
        (NODES, "srun bash -c 'a $MASTER_ADDR'", 6, "`$MASTER_ADDR` from outside is not carried: the script sets"),
        (
            NODES,
            "MASTER_PORT=1\nsrun bash -c 'a $MASTER_PORT'",
            7,
            "`$MASTER_PORT` is not carried: the script does not export it",
        ),
        (NODES, "srun bash -c 'while b; do a $RANK; done'", 6, "`$RANK` from outside is not carried: the script sets"),
        (
            NODE,
            ': "$SLURM_JOB_ID"\n: "${A:?not set}"\nsrun a',
            5,
            "the check of `$A` is not carried: the script gets it from outside",
        ),
        (NODES, "srun torchrun --nproc_per_node $N a", 6, "`$N` from outside is not carried: the script sets no value"),
        (NODE, "f() { shift $N; a $1; }; f 2", 4, "`shift $N` is not carried: gen cannot compute its number"),
        (
            NODE,
            "f() { while getopts b o; do a $o; done; }\nf -b\na",
            4,
            "the loop `while getopts b o; do a $o; done`",
        ),
        (
            NODE,
            "readonly A=1\nreadonly A=2\nsrun a $A",
            5,
            "the change of `A` is not carried: the variable is",
        ),
        (NODE, "declare -r A=1\nA=2\nsrun a $A", 5, "bash ends this command, because it changes the readonly `A`"),
        (NODE, "set -e\nreadonly A=1\nexport A=2\na", 6, "bash ends this command, because it changes the readonly"),
        (NODE, "readonly i=1\nfor i in 2; do a $i; done\nb", 5, "bash ends this command, because it changes the"),
        (NODE, "readonly A=1\nif ask; then A=2; fi\nb", 5, "bash ends this command, because it changes the"),
        (NODE, "for i in 1 2; do export S=$((RANDOM + i)); a; done", 4, "the other random numbers of `S` is not"),
        (PAIR, "for i in 1 2; do if ask; then break; fi; srun a; done", 5, "only a shell decides this part, and it"),
        (NODE, "f() { if ask; then return; fi; srun a; }\nf", 4, "only a shell decides this part, and it sets"),
        (
            NODE,
            "f() { a || return 1; b; }\nf",
            4,
            "`return 1` behind `||` is not carried: the pod goes on after an error",
        ),
        (NODE, "for i in 1 2; do a || break; done", 4, "`break` behind `||` is not carried: the pod goes on after"),
        (NODE, "(set -- 1; a $1)\nb $1", 5, "`$1` has no value in a pod: the script gets it from outside"),
        (NODE, "set\nb $1", 5, "`$1` has no value in a pod: the script gets it from outside"),
        (NODES, "A=$(b c)\nsrun torchrun d $A", 7, "the single start of `$(b c)` is not carried: each pod computes it"),
        (
            NODES,
            "A=$(b)\nexport C=$A/c\nexport D=$A/d\nsrun torchrun e",
            6,
            "the single start of `$(b)` is not carried",
        ),
        (
            NODE,
            "(export C=$(mktemp -d); a; b)\nc",
            4,
            "the variable `C` is not carried: its value is known only on the",
        ),
        (NODE, "srun bash -c 'export NCCL_A=b; a'\nc", 4, "the variable `NCCL_A` is not carried: it belongs to the"),
        (NODE, '[ -z "$X" ] && A=1 || A=2\na $A', 4, 'the other case of `[ -z "$X" ] && A=1` is not carried: the'),
        (NODE, '[ -n "$X" ] && A=1 || A=2\na $A', 4, 'the other case of `[ -n "$X" ] && A=1` is not carried: the'),
        (NODE, "a\nif [ -f b ]; then rm -f b; touch c; fi", 5, "the other case of `[ -f b ]` is not carried: gen does"),
        (NODE, "umask 002\na", 4, "`umask 002` is not carried: a pod has that of its image"),
        (
            NODE,
            "ulimit -a\nulimit -n\nulimit -n 65536\na",
            6,
            "`ulimit -n 65536` is not carried: a pod has those of its",
        ),
        (NODE, "srun bash -c 'ulimit -s unlimited; a'", 4, "`ulimit -s unlimited` is not carried: a pod has those of"),
        (NODE, "python -m venv b\n. c/bin/activate\na", 5, "`. c/bin/activate` is not carried: a container has"),
        (NODE, "srun bash -c 'umask 002; a'", 4, "`umask 002` is not carried: a pod has that of its image"),
        (NODE, "nvidia-smi dmon > b &\na\nkill $!", 4, "`nvidia-smi dmon` is not carried: it only shows the state"),
        (
            ("-N 1", "-o l/%x-%j.out", "-e e.log"),
            "ln -sf train-$SLURM_JOB_ID.out l/a\nb",
            6,
            "`ln -sf train-{{ run.id }}.out l/a` is not carried: no pod has the log of Slurm",
        ),
        (("-N 1", "-e e.log"), "b\ncp ./e.log c", 6, "`cp ./e.log c` is not carried: no pod has the log of Slurm"),
        (PAIR, "R=0\na || R=$?\nsrun b $R", 6, "the single run of `||`, which sets `$R`, is not carried"),
        (NODES, "trap 'a' EXIT\nsrun torchrun b", 6, "the single start of `trap` is not carried: each pod runs the"),
        (NODE, "cat > b.$SLURM_JOB_ID <<E\nc\nE\na '*' ./b*", 7, "the match of `./b*` is not carried: a file of the"),
        (NODE, "declare -a A=(b c)=\na ${A[@]}", 4, "gen cannot read the syntax of the shell here"),
        (NODE, "B=2\na ${A$B}", 5, "gen cannot read the syntax of the shell here"),
        (
            NODES,
            "srun a $(scontrol show host>b $SLURM_JOB_NODELIST)",
            6,
            "`$SLURM_JOB_NODELIST` has no value in a pod: it",
        ),
        (NODE, "set -- 1\nif ask; then shift; fi; a $@", 5, "only a shell decides this part, and it sets arguments"),
        (NODE, 'export A=" -b "c<d" e"\nsrun a $A', 4, "bash reads the file `d e` here, and does not run this line"),
        (NODE, "A<B=c\nsrun a", 4, "bash reads the file `B=c` here, and does not run this line without it"),
        (NODE, "A=:-x4\nB=$((2 * A))\nsrun a $B", 5, "gen cannot read the syntax of the shell here"),
        (NODE, "A=1.5\nsrun a $((A * 2))", 5, "gen cannot read the syntax of the shell here"),
        (NODES, f"H=$({NAMES} | head -n 4)\nsrun torchrun --master-addr $H a", 7, UNCLEAR),
        (
            NODES,
            f"export MASTER_ADDR=$({NAMES} >b | head -n 1)\nsrun torchrun --master_addr=$MASTER_ADDR a",
            7,
            UNCLEAR,
        ),
        (NODE, "A=\\$B\na $((A - 1))", 5, "gen cannot read the syntax of the shell here"),
        (NODE, "cat > a.sh <<E\nsrun b\nE\nsrun bash a.sh", 4, "`srun` in `a.sh` does not work in a pod"),
        (NODE, "A=3e-4\na $((A))", 5, "gen cannot read the syntax of the shell here"),
        (("-N 2", "--ntasks-per-node=2"), "srun bash -c 'srun a'", 5, "`srun` behind `srun` does not work in a pod"),
        (NODE, "(A=b)\nsrun -J ${!A} c", 5, "gen cannot read the syntax of the shell here"),
        (NODE, "PATH=$(date)\na", 4, "the variable `PATH` is not carried: it belongs to the machines"),
        (
            ("-N 2", "-n 1", "--gres=gpu:8"),
            "srun torchrun --nnodes 2 a.py",
            6,
            "the single start of `torchrun` is not carried: each pod runs the whole command",
        ),
        (NODES, "srun -n1 --ntasks-per-node=4 a\nsrun b", 6, "the single start of `a` is not carried"),
        (NODE, "a\nif [[ $? -eq 124 ]]; then sbatch $0; fi", 5, "the `sbatch` of the script itself is not carried"),
        (NODE, "a\nR=$?\nif [ $R -eq 3 ]; then\necho b\nsbatch c.sh\nfi", 8, "`sbatch c.sh` is not carried"),
        (NODE, f"S=$({OF_JOB})\na $(dirname $S)/../b", 4, "the folder of the script is not carried: it counts as"),
        (NODE, f"a $(dirname $({OF_JOB}))/../b", 4, "the folder of the script is not carried: it counts as"),
        (NODE, "a\n[ $? -eq 0 ] && sbatch c.sh", 5, "`sbatch c.sh` is not carried"),
        (NODE, "a\nR=$?\nif [[ $R == 124 ]]; then scontrol requeue 1; fi", 6, "the meaning of `[[ $R == 124 ]]`"),
        (NODE, "trap 'srun a' EXIT\nb", 4, "`srun` does not work in a pod"),
        (NODE, "srun --multi-prog a.conf", 4, "a file of `srun` names its programs"),
        (NODE, "NCCL_P2P_DISABLE=1 a", 4, "the variable `NCCL_P2P_DISABLE` is not carried: it belongs to the machines"),
        (NODE, "mpirun -mca btl tcp -x NCCL_DEBUG=INFO a", 4, "`-mca btl tcp` is not carried: it belongs"),
        (NODE, "mpirun -x NCCL_TESTS_SPLIT_MASK=1 -x FI_PROVIDER=b a", 4, "`-x FI_PROVIDER=b` is not carried: it bel"),
        (NODE, "mpirun -x LD_LIBRARY_PATH -genv FI_PROVIDER b a", 4, "`-genv FI_PROVIDER b` is not carried: it bel"),
        (NODE, "a $(scontrol show job $SLURM_JOB_ID | grep -o Time.*)", 4, "`scontrol` has no answer in a pod"),
        (NODE, "a $(squeue -h | grep b)", 4, "`squeue` has no answer in a pod"),
        (NODE, "a $(scontrol show hostnames | paste -sd,)", 4, "`$SLURM_JOB_NODELIST` has no value in a pod"),
        (NODE, "a\nA=$(sbatch -N 1 b.sh)", 5, "`sbatch b.sh` is not carried: it starts another job"),
        (NODE, 'a\necho "$(sbatch --parsable b.sh)"', 5, "`sbatch b.sh` is not carried: it starts another job"),
        (NODE, "a\nexport S='sbatch b.sh'\nA=$($S | tail -n 1)", 6, "`sbatch b.sh` is not carried: it starts another"),
        (NODE, "a\nsbatch b.sh c", 5, "`sbatch b.sh` is not carried: it starts another job"),
        (NODE, "a || sbatch b.sh", 4, "`sbatch b.sh` is not carried: it starts another job"),
        (NODE, "a\nif [ -f c ]; then sbatch b.sh; fi", 5, "the other case of `[ -f c ]` is not carried: gen does not"),
        (NODE, "a\nfor i in *.sh; do sbatch $i; done", 5, "`sbatch $i` is not carried: it starts another job"),
        (NODE, "a\nsbatch $0", 5, "the `sbatch` of the script itself is not carried: a job does not start"),
        (NODE, "a\nsbatch <<E\nb\nE", 5, "`sbatch` is not carried: it starts another job"),
        (NODE, "A=$(sbatch b.sh)\nsbatch -d $A c.sh", 4, "the script only starts other jobs: `b.sh`, `c.sh`"),
        (
            NODE,
            'for i in *; do N+=($i); done\nS="sbatch --export=N=$(cat c) --array=${#N[@]} b.sh"\nA=$($S)',
            6,
            "the script only starts other jobs: `b.sh`",
        ),
        (NODE, 'a\nS="sbatch -J $(b) c.sh"\necho $S\n$S', 7, "`sbatch c.sh` is not carried: it starts another job"),
        (NODE, "sbatch b.sh\nexit", 4, "the script only starts other jobs: `b.sh`"),
        (NODE, "A=$(sbatch b.sh)\na $A", 5, "`sbatch` has no answer in a pod, and only a shell decides this value"),
        (NODE, "a\nexit 1\nb", 5, "the script ends here with an error"),
        (NODE, "a\nexit -1\nb", 5, "the script ends here with an error"),
        (NODE, "a\nexit $1\nb", 5, "the error at the end of the script is not carried: the job succeeds"),
        (NODE, "chmod +x a\nexit 1", 5, "the script ends here without a program"),
        (NODE, "mkdir a\n>&2 echo 'Error: b'\nexit 1", 6, "the script ends here without a program: Error: b"),
        (
            NODE,
            'if [[ -z "${A:-}" ]]; then\n  echo "ERROR: set A"\n  echo "  export A=b"\n  exit 1\nfi\nc $A',
            7,
            "the script ends here without a program: ERROR: set A",
        ),
        (NODE, "mkdir a\na ${B \\\n  --c", 5, "gen cannot read the syntax of the shell here"),
        (("-N 1", "-n 2"), "srun c <<< b", 5, "`srun` does not work in a pod, and only its shell decides"),
        (NODE, "if (( ${A:-0} )); then B=2; fi\na $B", 4, "the other case of `(( ${A:-0} ))` is not carried"),
        (
            NODE,
            "case ${MODE:-none} in\n  b) c ;;\n  d | e) f ;;\nesac",
            4,
            "the script starts no program, because `$MODE` has no value: it has one for `b`, `d`, `e`",
        ),
        (
            NODE,
            'if [ "${A:-0}" -eq 1 ]; then B=2; fi\na $B',
            4,
            'the other case of `[ "${A:-0}" -eq 1 ]` is not carried',
        ),
        (
            ("-N 1", "-n 2"),
            "if ask; then srun a; else b; fi",
            5,
            "`srun` does not work in a pod, and only its shell decides",
        ),
        (
            NODE,
            'echo "d: $(date) $(/usr/bin/id -u)"\nA=$(python b.py c)\necho $A\nd',
            6,
            "`python b.py c` is not carried: the script only shows its output",
        ),
        (NODE, 'A=$(srun b --c)\necho "$A"\nd', 5, "`srun b --c` is not carried: the script only shows its output"),
        (NODE, "c() { enroot list | xargs enroot remove; }\ntrap c EXIT\na", 5, "`trap c` is not carried: no pod has"),
        (NODE, 'A=" \\\n  --c <PATH TO data> \\\n  --d"\nb $A', 5, "`<PATH TO data>` is a placeholder"),
        (NODE, "timeout -k 5 9 docker run --rm b c", 4, "`docker run` does not work in a pod, which has no container"),
        (NODE, 'e() { echo "[$(date)] $1"; exit 1; }\ne b', 4, "the script ends here without a program: […] b"),
        (NODE, "a $*", 4, "`$*` is not carried: the arguments of the script are those of `sbatch`"),
        (("-N 1", "--deadline=now+4hours"), "a", 3, "`--deadline` is not carried: Kubernetes has no time by which"),
        (PAIR, "for h in $(ask); do srun -w $h ray start --block & done\na", 5, "`ray start` on several nodes makes"),
        (NODE, "eval 'a (b'", 4, "gen cannot read the text of `eval`: `a (b`"),
        (NODE, "eval 'a > b'", 4, "the redirection of the output is not carried: the cluster keeps the logs"),
        (NODE, "python a $(nproc)", 4, "the output of `nproc` is not carried: a pod has its own"),
        (NODE, "select x in a b; do c $x; done\nd", 4, "the loop of `select` is not carried: a pod has no terminal"),
        (NODE, "a > $B && c", 4, "bash does not run this line, because a variable behind `>` has no value"),
        (NODE, "A=${B:-$(srun b)}\na $A", 5, "`srun` does not work in a pod, and only its shell decides this"),
        (NODE, "A=$B/c\nexport B=d\nsrun a $A", 6, "`$B` has no value in a pod: the script sets it only in a later"),
        (NODES, 'A="--nproc_per_node $B"\nB=8\nsrun torchrun $A c', 8, "`$B` is not carried: the script sets it only"),
        (NODES, "srun deepspeed a", 6, "2 starts of `deepspeed` is not carried: one start reaches the processes"),
        (NODES, "export SLURM_NNODES=1\nsrun a", 7, "the change of `SLURM_NNODES` is not carried: a job has the"),
        (NODE, "A=(b\n -$-c)\nsrun a ${A[@]}", 4, "the value of `$-` is not carried: a pod has its own"),
        (NODE, "mkdir l\nsrun shifter -V l:/l bash -c ls", 1, "the script starts no program"),
        (NODE, "if ask; then O=c; fi\nsrun -o $O a", 5, "the value `$O` of `--output` is not carried: only a shell"),
        (NODE, "A= - <<E\nx\nE\nb", 4, "gen cannot read the syntax of the shell here"),
        (NODE, "srun trap a EXIT\nsrun b", 4, "`trap` behind `srun` is not carried: it is not a program"),
        (NODE, 'srun bash -c "f() { a "$1"; }; f 2"', 4, "the empty value of `$1` is not carried"),
        (NODE, "srun -o $OUT a\nOUT=b", 4, "the value `$OUT` of `--output` is not carried: the script sets it only in"),
        (NODE, "srun $ARGS a\nARGS=-l", 4, "`$ARGS` is not carried: the script sets it only in a later line"),
        (NODE, "enroot import -o a docker://b\nsrun a", 4, "`enroot import -o a docker://b` is not carried: no node"),
        (NODE, "sbcast a /tmp/b\nsrun a", 4, "`sbcast a /tmp/b` is not carried: each pod copies"),
        (NODE, "srun --pty bash -i", 4, "`bash -i` reads its commands from a terminal"),
        (NODE, 'A="--b $SLURM_JOB_ID"\nsrun ${A%%/*} c', 5, "only a shell knows the options `${A%%/*}` of `srun`"),
        (NODE, "cd /a\n$0 b\nc", 5, "the script starts itself, and no pod has it"),
        (NODE, "bash $0 b\nc", 4, "the script starts itself, and no pod has it"),
        (NODE, "srun -O a", 4, "`--overcommit` is not carried: Kubernetes has no field for it"),
        (NODE, "srun -n 4 bash", 4, "`bash` reads its commands from a terminal"),
        (
            NODE,
            "mkdir a\nif [[ $1 == b ]]; then c; elif [[ $1 == 'd' ]]; then e; fi",
            5,
            "the script starts no program, because `$1` has no value: it has one for `b`, `d`",
        ),
        (
            NODE,
            "module load a\nsource b/c.sh",
            5,
            "the script starts no program, apart from those of the file `b/c.sh`, which",
        ),
        (NODES, "srun torchrun --nproc_per_node $(ask) a", 6, "the number of processes `$(ask)` is not carried"),
        (NODE, 'srun bash -c "A=1; a $A"', 4, "the empty value of `$A` is not carried"),
        (NODE, "if [ $A ]; then\nfi\na", 4, "gen cannot read the syntax of the shell here"),
        (NODE, "{\na", 4, "gen cannot read the syntax of the shell here"),
        (NODE, "srun bash -c 'a (b'", 4, "gen cannot read the syntax of the shell here"),
        (NODE, "a\nelse\nb", 5, "gen cannot read the syntax of the shell here"),
        (NODE, "srun a $A\nA=1", 4, "`$A` has no value in a pod: the script sets it only in a later line"),
        (NODE, "A=1\nsrun bash -c 'a $A'", 5, "`$A` has no value in a pod: the script does not export it, or gen"),
        (NODE, "A=b\na \\\n --b ${C \\\n --d", 6, "gen cannot read the syntax of the shell here"),
        (
            NODE,
            'export A="e $(b)"\ncd c\nsrun a $A',
            6,
            "the folder of `$(b)` is not carried: the script computes it in another",
        ),
        (NODE, "[ -d b ] && cd b\nrm -rf c\nd", 4, "the other case of `[ -d b ]` is not carried: gen does not see"),
        (NODE, "if [ -d b ]; then c; fi\nsrun a", 4, "the other case of `[ -d b ]` is not carried: gen does not see"),
        (NODE, "A=1\ncommand -v b || A=2\nsrun a $A", 5, "the other case of `command -v b` is not carried"),
        (
            NODE,
            'for c in d e; do if ! command -v "$c" &> /dev/null; then M+=(1); fi; done\n[ ${#M[@]} -eq 0 ] || exit\na',
            4,
            'the check `! command -v "$c" &> /dev/null` is not carried: the image of the job has the programs',
        ),
        (NODE, "A=1\nif ! which b; then A=0; fi\na $A", 5, "the check `! which b` is not carried"),
        (NODE, "if ! command -v b; then echo c; exit 1; fi\nsrun a", 4, "the check `! command -v b` is not carried"),
        (NODE, "grep -q b /c || exit 1\nsrun a", 4, "the check `grep -q b /c` is not carried: gen does not see"),
        (
            NODES,
            "srun a > b\ngrep c b || exit 1",
            7,
            "the single check `grep c b` is not carried: each pod checks what",
        ),
        (("-N 1", "--wait-all-nodes=1"), "a", 3, "`--wait-all-nodes` is not carried: only a gang scheduler starts all"),
        (NODE, "srun --container-env=A,B c", 4, "`--container-env` is not carried: a variable of the job precedes"),
        (NODE, "srun --no-container-remap-root c", 4, "`--no-container-remap-root` is not carried: a container has"),
        (
            NODES,
            "cat > b/c_$SLURM_JOB_ID.d <<E\n$(hostname)\nE\nsrun a b/c_$SLURM_JOB_ID.d",
            6,
            "the script writes `b/c_{{ run.id }}.d` with values that are known only on the machines",
        ),
        (NODE, "readonly* A=1\nsrun a", 4, "`readonly*` is not a program"),
        (
            NODE,
            "cat > b.sh <<'E'\nmodule load c\nd\nE\nsrun sh b.sh",
            5,
            "`module load c` is not carried: a container has",
        ),
        (
            NODE,
            "cat > b.sh <<'E'\nc $SLURM_PROCID\nE\nsh b.sh",
            5,
            "only Slurm sets `SLURM_PROCID`, which `b.sh` reads",
        ),
        (NODE, "A=1\nbash -c 'a $A'", 5, "`$A` has no value in a pod: the script does not export it"),
        (NODE, "A=log\nbash -c 'srun a &> $A'", 5, "bash does not run this line, because a variable behind `>` has no"),
        (NODE, "SLURM_NNODES=2\nsrun a", 5, "the change of `SLURM_NNODES` is not carried"),
        (NODE, 'srun bash -c "a\nb" | c', 5, "the pipe to `c` is not carried"),
        (
            NODE,
            "N=$(ask)\ntorchrun --nproc-per-node=${N^^} a.py",
            5,
            "the number of processes `${N^^}` is not carried",
        ),
        (NODE, "srun a | tee b | c", 4, "the pipe to `c` is not carried"),
        (NODES, f"A=$({NAMES} head -n1)\nsrun a $A", 7, "`$SLURM_JOB_NODELIST` has no value in a pod: it is a list"),
        (NODE, "srun bash -c 'srun a $SLURM_PROCID'", 4, "`srun` behind `srun` does not work in a pod"),
        (NODE, "local A=1\nsrun a $A", 4, "bash accepts `local` in functions only"),
        (
            NODE,
            'if [ "${A:-0}" -eq 1 ]; then B=c; fi\n$B d',
            4,
            'the other case of `[ "${A:-0}" -eq 1 ]` is not carried',
        ),
        (
            NODE,
            "if ((${A:-0})); then B=c; fi\n$B d",
            4,
            "the other case of `((${A:-0}))` is not carried: the script gets",
        ),
        (
            NODE,
            "export CUDA_VISIBLE_DEVICES=3\na",
            4,
            "the variable `CUDA_VISIBLE_DEVICES` is not carried: it has numbers",
        ),
        (NODE, "cd\nsrun a", 4, "the folder of `cd` is not carried"),
        (NODES, "A=$(srun hostname)\nsrun a $A", 7, "`$SLURM_JOB_NODELIST` has no value in a pod: it is a list of"),
        (NODE, "export $(ask .env)\nsrun a", 4, "the declaration of `$(ask .env)` is not carried: only a shell knows"),
        (NODE, "shopt -s nullglob\nsrun a *.b", 5, "the meaning of patterns with `nullglob` is not carried"),
        (NODE, "set -f\nsrun a *.b", 5, "the meaning of patterns with `noglob` is not carried"),
        (NODE, "A=$(basename $PWD)\nsrun a $A", 4, "the name of the folder is not carried: a pod has its own"),
        (NODE, "A='\"b c\"'\nsrun $A", 5, 'bash finds no program with the name `"b`'),
        (NODE, "srun '' a", 4, "bash finds no program with the name ``"),
        (NODE, "$(date +%s)\nsrun a", 4, "`$GEN_RUN_ID` is not a program"),
        (NODE, "T=$(date +%s) $(date +%s)\n((T = 2))\nsrun a", 4, "`$GEN_RUN_ID` is not a program"),
        (NODE, "((A = B = 1, A <<= 2))\nsrun a $A", 4, "gen cannot read the syntax of the shell here"),
        (NODE, 'export A="e $(b)"\npushd c\nsrun bash -c "a $A"', 6, "the folder of `$(b)` is not carried: the script"),
        (NODE, "srun a ${!SLURM_JOBID}", 4, "gen cannot read the syntax of the shell here"),
        (PAIR, "if ask; then A=1; B=2; fi\nsrun a $A", 5, "the single run of `if`, which sets `$A`, is not"),
        (NODE, "apptainer run $A b", 4, "the value `$A` of the image is not carried: the script gets it from"),
        (
            ("-N 2", "--ntasks-per-node=2"),
            "srun bash -c 'if [ $SLURM_PROCID = 0 ]; then a; fi; b'",
            5,
            "only a shell in each task decides this part, and `mpirun` starts programs only",
        ),
        (NODE, "srun torchrun --rdzv_id ${!RANDOM} a", 4, "gen cannot read the syntax of the shell here"),
        (NODE, "read -rd $(echo '') A <<E\nb\nE\nsrun a $A", 7, "`$A` has no value in a pod"),
        (NODE, "srun a --seed $SLURM_JOB_ID", 4, "the id of a run is not a number"),
        (("-N 1", "--array=0-3"), "a $((SLURM_JOB_ID + SLURM_ARRAY_TASK_ID))", 5, "the id of a run is not a number"),
        (("-N 2",), "A=$((RANDOM % 9))\nsrun a $A", 5, "the single value of `$((RANDOM % 9))`"),
        (NODE, "A=$(date +%Y)\nsrun a $((64 / A))", 5, "the id of a run is not a number"),
        (NODE, "srun a : b", 4, "`srun` starts several components behind `:`"),
        (NODE, "declare -u A=b\nsrun a $A", 4, "gen does not follow `declare -u`"),
        (NODE, "declare -n A=B\nB=c\nsrun a $A", 4, "gen does not follow `declare -n`"),
        (NODE, "set -n\nsrun a", 4, "gen does not follow the option `n` of the shell"),
        (
            NODE,
            "shopt -s expand_aliases\nalias a=b\nsrun a",
            4,
            "gen does not follow the option `expand_aliases` of the shell",
        ),
        (
            NODE,
            "for f in *; do\nconda activate a\ndone\nsrun a",
            5,
            "`conda activate a` is not carried: a container",
        ),
        (NODE, "f() { a; }\nexport -f f\nsrun bash -c f", 5, "gen does not follow `export -f`"),
        (NODE, "numactl -N 0 srun a", 4, "`numactl` starts `srun`, which does not work in a pod"),
        (NODE, "parallel 'srun -n1 a {}' ::: 1 2", 4, "`parallel` starts `srun`, which does not work in a pod"),
        (NODE, 'S="srun -n1"\nparallel "$S a {}" ::: 1 2', 5, "`parallel` starts `srun`, which does not work in a pod"),
        (NODE, "cat a | xargs -P 4 srun -n1 b", 4, "`xargs` starts `srun`, which does not work in a pod"),
        (NODE, "ls | xargs -n1 sh -c 'srun a $0'", 4, "`xargs` starts `srun`, which does not work in a pod"),
        (NODE, "cp $0 b\nsrun a", 4, "`cp ./.slurm_script b` is not carried: no pod has the file of the script"),
        (
            NODE,
            'if [ "$X" = b ]; then export Y=1; fi\na',
            4,
            'the other case of `[ "$X" = b ]` is not carried: the script',
        ),
        (NODE, '[ "${X:-0}" -eq 1 ] && b\na', 4, 'the other case of `[ "${X:-0}" -eq 1 ]` is not carried: the script'),
        (
            NODE,
            'if [[ -n "${X-}" ]]; then b; fi\na',
            4,
            'the other case of `[[ -n "${X-}" ]]` is not carried: the script',
        ),
        (NODE, '[ -n "$X" ] && A=1\na $A', 4, 'the other case of `[ -n "$X" ]` is not carried: the script gets'),
        (NODE, 'if [ -z "$X" ]; then A=1; else A=2; fi\na $A', 4, 'the other case of `[ -z "$X" ]` is not carried'),
        (NODE, "declare -A A=([b]=1)\na ${A[@]}", 5, "gen cannot read the syntax of the shell here"),
        (NODE, "module load x &\nsrun a", 4, "`module load x` is not carried: a container has no modules"),
        (NODE, "a\nmv slurm-*.out b", 5, "`mv slurm-*.out b` is not carried: no pod has the log of Slurm"),
        (NODE, "echo a > b$SLURM_JOB_ID\nc", 4, "the file `b{{ run.id }}` is not carried"),
        (NODES, "for n in $(scontrol show hostnames); do ssh $n free; done\nc", 6, "`ssh $MASTER_ADDR free` is not"),
        (NODE, "for n in $(cat b); do\nssh $n 'free -g'\ndone\nc", 5, "`ssh $n 'free -g'` is not carried: it only"),
        (NODE, "sbcast a b\nc", 4, "`sbcast a b` is not carried: each pod copies the file itself"),
        (NODE, "if ask; then C=1; fi\nsrun -c $C a", 5, "the value `$C` of `--cpus-per-task` is not carried: only"),
        (NODE, "A=$(cat b)\nsrun $A --wait=0 c", 5, "only a shell knows the options `$(cat b)` of `srun`"),
        (NODE, "if [ ! -f a ]; then b; exit 1; fi\nc", 4, "`b` is not carried: it belongs to a check of files"),
        (NODE, "! module load x\nsrun a", 4, "`module load x` is not carried: a container has no modules"),
        (NODE, "env A=1 export B=2\nsrun a", 4, "`env A=1 export B=2` is not carried: `export` is not a program, but"),
        (NODE, "A=$((1 / 0))\nsrun a $A", 4, "gen cannot read the syntax of the shell here"),
        (NODE, "export A=1\nexport -n A\nsrun bash -c 'a $A'", 6, "`$A` has no value in a pod: the script does not"),
        (NODE, "A=(b c)\nunset 'A[0]'\nsrun a $A", 6, "`$A` has no value in a pod: the script reads it from a file"),
        (NODE, "A=$(b)\nc $A $A\nsrun bash -c 'if [ -z $A ]; then e; fi'", 6, "the empty value of `$A` is not carried"),
        (NODE, "a ${A:+--b $A}", 4, "`$A` from outside is not carried: it counts as not set"),
        (NODE, "[ -e /b ] && . /b\na", 4, "the other case of `[ -e /b ]` is not carried"),
        (NODE, "A='srun -n 1'\nfor i in $(ls); do $(eval echo $A) a $i; done", 5, "`srun` does not work in a pod"),
        (NODES, "N=($(scontrol show hostnames))\na ${N[@]}", 7, "`$SLURM_JOB_NODELIST` has no value in a pod: it is a"),
        (NODE, "# the data\nD=/lustre/x\n\nsrun a --data $D/y", 5, "no pod has the folder `/lustre/x/y`"),
        (
            NODES,
            "read -r -d '' C <<'E'\nexport NCCL_SOCKET_IFNAME=eth0\ntorchrun a\nE\nsrun bash -c \"$C\"",
            7,
            "the variable `NCCL_SOCKET_IFNAME` is not carried",
        ),
        (
            NODE,
            "export D=/results/b\nsrun --container-image=a/b:1 --container-mounts=$PWD/r:/results a --data /results/c",
            5,
            "no pod has the folder `/results`",
        ),
        (("<OPTIONS>",), "a", 2, "`<OPTIONS>` is a placeholder, and not an option"),
        ((), "sbatch <<E\n#SBATCH -N 1\nE", 1, "no `#SBATCH` line found before the first command"),
        (
            NODE,
            'if [ -z "$1" ]; then printf "\\e[1musage\\n"; exit 1; fi',
            4,
            "the script ends here without a program: us",
        ),
    ],
)
def test_what_is_lost_has_its_line(options: tuple[str, ...], body: str, line: int, message: str) -> None:
    _, found = read(script(*options, body=body, interpreter=BASH))
    assert [one.message for one in found if one.place.line == line and one.message.startswith(message)], found


def test_a_script_that_starts_other_jobs_only_has_one_finding() -> None:
    body = "module load a\nfor i in b c; do if test -f d/$i; then echo $i; fi; done\nC='sbatch -N 1 e.sh'\nA=$($C)"
    _, found = read(script("-N 1", body=body, interpreter=BASH))
    (one,) = found
    assert (one.place.line, one.message) == (7, "the script only starts other jobs: `e.sh`")
    assert one.hint == "import their scripts instead"


@for_each(
    ("body", "said"),
    [
        ("a | tee b\nif ! grep -q c b; then echo d; exit 1; fi", []),
        (
            "if ! which b; then echo c; exit 1; fi\na",
            ["the check `! which b` is not carried: gen does not see files of machines"],
        ),
        (
            "conda activate b || { echo c; exit 1; }\na",
            ["`conda activate b` is not carried: a container has an environment of its own"],
        ),
        (
            '[ -d /b ] && c || true\ntest -f /d && E=--e || :\n[ -n "$F" ] && E=--f || echo g\npython a.py $E',
            [
                "the other case of `[ -d /b ]` is not carried: gen does not see files of machines",
                "the other case of `test -f /d` is not carried: gen does not see files of machines",
                'the other case of `[ -n "$F" ]` is not carried: the script gets `$F` from outside',
            ],
        ),
        (
            "srun bash -c 'ls \"b $SLURM_PROCID of $SLURM_JOB_ID\"; echo b; ./a $SLURM_PROCID'",
            ["`ls 'b 0 of …'` is not carried: it only shows the state of a node"],
        ),
    ],
)
def test_what_is_lost_is_named_once_as_the_script_has_it(body: str, said: list[str]) -> None:
    _, found = read(script(*NODE, body=body, interpreter=BASH))
    assert [one.message for one in found] == said


@for_each(
    ("options", "hint"),
    [
        ("", "set `retries` of the job, or start it again with `gen rerun --resume`"),
        ("--begin=now+3hours ", "set `schedule` of the job, if it runs at set times"),
    ],
)
def test_a_script_that_starts_itself_has_a_remedy(options: str, hint: str) -> None:
    _, found = read(script(*NODE, body=f"sbatch {options}train.sh\na", interpreter=BASH))
    assert [one.hint for one in found if "sbatch" in one.message] == [hint]


@for_each(
    ("body", "env", "lines"),
    [
        (
            "export D=/x\nexport M=$PWD:$D\nif [ -n $I ]; then A=(--container-mounts $M); fi\nsrun ${A[@]} python a.py",
            {},
            [4, 5],
        ),
        ("export M=/x:/y\nif [ ! -z $I ]; then A=(--container-mounts=$M --b); fi\nsrun $A a $M", {"M": "/x:/y"}, []),
        ("export M=/x:/y\nsrun a", {"M": "/x:/y"}, []),
    ],
)
def test_a_variable_for_a_mount_that_the_job_lacks_is_left_out(
    body: str, env: dict[str, str], lines: list[int]
) -> None:
    jobs, found = read(script(*NODE, body=body, interpreter=BASH))
    assert jobs[0].fields.get("env", {}) == env
    assert [one.place.line for one in found if "only for a mount that the job lacks" in one.message] == lines


@for_each(
    ("text", "hint"),
    [
        ("python a.py\n", "name a script with `#SBATCH` lines before its first command"),
        (
            "sbatch <<E\n#SBATCH -N 1\na\nE\n",
            "write the script behind `sbatch <<` into a file of its own, and import that",
        ),
        (
            'sbatch -N1 \\\n  --wrap="a"\n',
            "write the command of `--wrap` into a script, with the options of `sbatch` as `#SBATCH` lines",
        ),
    ],
)
def test_a_file_without_options_has_its_remedy(text: str, hint: str) -> None:
    _, found = read(text)
    assert [one.hint for one in found] == [hint]


@for_each(
    ("body", "hint"),
    [
        ("module load a\nb", "install it in the image"),
        ("module purge\nb", "remove it"),
        ("ml -q list && b", "remove it"),
        ("conda deactivate\nb", "remove it"),
        (
            "srun --container-image=a --container-mounts=$(pwd)/b:/b c",
            "give the folder of `sbatch` with `--define PWD=",
        ),
        ("srun --container-image=a --container-mounts=./b:/b c", "mount a volume of the overlay with `data`, if"),
    ],
)
def test_the_remedy_of_a_lost_part(body: str, hint: str) -> None:
    found = read(script(*NODE, body=body, interpreter=BASH))[1]
    assert any(one.hint.startswith(hint) for one in found)


@for_each(
    "body",
    [
        "while read -r b; do a $b; done < c",
        "case $(ask) in b) C=1 ;; *) C=2 ;; esac\na $C",
        "a || B=$?\nsrun c $B",
        "srun bash -c 'for i in $(b); do a $i; done'",
        'A=$1\nsrun bash -c "a ${A}"',
    ],
)
def test_a_part_that_the_shell_of_the_only_pod_runs_is_not_lost(body: str) -> None:
    messages = [one.message for one in read(script(*NODE, body=body, interpreter=BASH))[1]]
    assert [one for one in messages if not one.startswith("`$1` has no value in a pod")] == []


@for_each(
    ("body", "said"),
    [
        ("a; E=$?; if [[ $E -ne 0 ]]; then echo b; fi\necho c", ["write `|| true` behind the program"]),
        ("a; if [ $? -eq 0 ]; then echo b; fi\nc", ["write `|| exit 1` behind the program"]),
        ("a; E=$?; if [[ $E -eq 0 ]]; then echo b; fi\nexit $E", []),
        ("a; if [ $? -eq 0 ]; then echo b; else exit 1; fi", []),
        ("set -e\na; E=$?; if [[ $E -ne 0 ]]; then echo b; fi\nc", []),
        ("set -e\na || b\nif [ $? -ne 0 ]; then echo c; fi\nd", []),
    ],
)
def test_a_check_of_a_status_is_named_if_the_pod_ends_in_another_way(body: str, said: list[str]) -> None:
    hints = [one.hint.partition(",")[0] for one in read(script(*NODE, body=body, interpreter=BASH))[1]]
    assert hints == said


@for_each(
    ("body", "message"),
    [
        ("python3 -m venv env\nsource env/bin/activate\npip3 install torch", "what the installation makes"),
        ("git clone https://example.com/a.git\ncd a\npip install -e .", "what the installation makes"),
        ("pip install -e .\npython a.py", ""),
        ("python -m venv /fsx/env", ""),
        ("mkdir -p ./data\npython a.py --output_dir ./data --resume", "the folder `./data` after the run"),
        ("python a.py --save=out/b", "the folder `out/b` after the run"),
        ("python a.py --default_root_dir ../b", "the folder `../b` after the run"),
        ("python a.py --save_ckpt_path ../b/ckpt", "the folder `../b/ckpt` after the run"),
        ("python a.py --output-dir /tmp/b", ""),
        ("python a.py --output_dir out --data /fsx/a", ""),
        ("python a.py --save-interval 5 --output-format json", ""),
        ("python a.py --output_dir out\naws s3 cp out s3://a", ""),
    ],
)
def test_results_that_end_with_the_pod_are_named(body: str, message: str) -> None:
    found = Findings()
    given = ImportInput(file="a.sh", text=script("-N 1", body=body), otherwise="team", image="a/b:1", site=FSX)
    list(IMPORTERS["slurm"]().read(given, found))
    named = [one.message for one in found if "ends with the pod" in one.message or "end with the pod" in one.message]
    assert [one.partition(" is not carried")[0] for one in named] == ([message] if message else [])


@for_each(
    ("options", "body", "message", "hint"),
    [
        (
            NODE,
            "srun --exclusive -n 1 a",
            "`--exclusive` of `srun` is not carried: it concerns the client",
            "remove it",
        ),
        (
            ("-N 1", "--segment=1"),
            "a",
            "`--segment` is not carried",
            "set `queue` to one of the overlay with a `topology`",
        ),
        (NODE, "[ ! -d b ] && c\na", "the other case of `[ ! -d b ]`", ALWAYS),
        (NODE, "if [ ! -d b ]; then c; fi\na", "the other case of `[ ! -d b ]`", ALWAYS),
        (NODE, "if [ ! -d b ]; then c; else d; fi\na", "the other case of `[ ! -d b ]`", "write the commands of this"),
        (NODE, "[ -d b ] && c || d\na", "the other case of `[ -d b ] && c`", "write the commands of this"),
    ],
)
def test_findings_have_the_reason_and_the_remedy_of_their_place(
    options: tuple[str, ...], body: str, message: str, hint: str
) -> None:
    _, found = read(script(*options, body=body))
    (one,) = (one for one in found if one.message.startswith(message))
    assert one.hint.startswith(hint)


@for_each(
    ("line", "named"),
    [
        ("srun --mpi=pmix /fsx/a", False),
        ("srun /fsx/a", True),
        ("srun --mpi=pmix python a.py", True),
        ("srun --mpi=pmix /fsx/a.sh", True),
    ],
)
def test_a_program_that_a_compiler_made_reads_no_rank_of_slurm(line: str, named: bool) -> None:
    _, found = read(script("-N 2", "--ntasks-per-node=4", body=line))
    assert any("the rank in `$SLURM_PROCID`" in one.message for one in found) == named


@for_each(
    "body",
    [
        'if [ -z "${X:-}" ]; then X=3; fi\na $X',
        'if [ "$X" = b ]; then export NCCL_SOCKET_IFNAME=ib0; fi\na',
        'if [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then b; else c; fi',
        'if [ "${X:-0}" = 1 ]; then echo b; fi\na',
    ],
)
def test_another_case_that_changes_nothing_is_not_named(body: str) -> None:
    assert read(script("-N 1", body=body, interpreter=BASH))[1] == []


@for_each("start", ["torchrun --standalone", "torchrun --nnodes=1", "bash -c 'torchrun --standalone"])
def test_trainings_of_one_node_each_stay_alone(start: str) -> None:
    end = "'" * start.startswith("bash")
    body = f"srun {start} --nproc_per_node=8 a.py{end}"
    (made,), _ = read(script(*NODES, body=body, interpreter=BASH))
    own = start.removeprefix("bash -c '")
    assert (made.fields["kind"], made.fields["command"]) == ("batch", f"{own} --nproc_per_node=8 a.py")
