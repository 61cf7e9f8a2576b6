"""Each program of a script has the variables, the folder and the words that bash gives it."""

from __future__ import annotations

from tests.cases import for_each
from tests.importers.slurm.test_slurm import BASH, job, read, script
from tests.importers.slurm.test_steps import command

NODE = ("-N 1",)
CHECKED = "if [ -d /a ]; then A=/a; elif [ -d /b ]; then A=/b; else exit 1; fi\nsrun a $A"
OPTIONS = "f() { while [ $# -gt 0 ]; do case $1 in -x) X=$2; shift 2;; *) break;; esac; done; a $X $@; }\nf -x 1 b c"
NODES = ("-N 2", "--gres=gpu:8", "--ntasks-per-node=1")


@for_each(
    ("body", "expected"),
    [
        ("for i in 1 2; do export LR=$i; srun a; done", "LR=1 a\na"),
        ("export A=1\nsrun a\nexport A=2\nsrun b", "A=1 a\nb"),
        ("export A=1\nsrun a\nunset A\nsrun b", "A=1 a\nb"),
        ("export A=1\nsrun a $A\nexport A='b c'\nsrun b", "A=1 a 1\nb"),
        ("for i in 1 2; do export i; srun bash -c 'a --lr $i'; done", "i=1 a --lr 1\na --lr 2"),
        ("srun bash -c 'export A=1; a'\nsrun b", "A=1 a\nb"),
        ("export A=1\nsrun --export=ALL,B=2 a\nsrun b", "B=2 a\nb"),
        ("export A=1\nsrun --export=A,B=$A,C= bash -c 'a $A$B'\nsrun b", "B=1 C='' a 11\nb"),
        ("A=2 bash -c 'a'\nB=3 srun bash -c b\nsrun c", "A=2 a\nB=3 b\nc"),
        ("export NCCL_IB_HCA=a\nsrun a\nexport NCCL_IB_HCA=b\nsrun b", "a\nb"),
        ("A=1\n(A=2; srun a $A)\nsrun b $A", "a 2\nb 1"),
        ("A=1\nA=2 srun a $A", "A=2 a 1"),
        ("export A=1\nwhile ask; do a; done\nexport A=2\nsrun b", "export A=1\nwhile ask; do a; done\nexport A=2\nb"),
        ("eval A=1\nsrun a $A", "a 1"),
        ('srun bash -c "a \\\\$SLURMD_NODENAME: b"', "a $HOSTNAME: b"),
        (
            'if ask; then A="b c"; fi\nB="$A d"\nsrun $B "$B"',
            'if ask; then A="b c"; fi\n$A d "$A d"',
        ),
        ('if [ "$SLURM_RESTART_COUNT" -gt 0 ] 2>/dev/null; then A=-r; else A=; fi\nsrun a $A', "a"),
        ("srun a\nmv slurm-$SLURM_JOB_ID.out logs/", "a"),
        ("sbcast -f /data/a.tar /tmp/a.tar\nsrun tar xf /tmp/a.tar", "cp /data/a.tar /tmp/a.tar\ntar xf /tmp/a.tar"),
        ("B=$(echo ${A:=1})\nsrun a $B ${A:-2}", "a 1 2"),
        ("A=$(date +%Y)\nread -ra B <<< $A\na ${B[0]}", "a {{ run.id }}"),
        ("export PYTHONPATH=/workspace/b:$PYTHONPATH\nsrun a", "export PYTHONPATH=/workspace/b:$PYTHONPATH\na"),
        ("srun bash -c 'export C=/tmp/$SLURM_NODEID; a'", "export C=/tmp/$RANK\na"),
        ("srun bash -c 'export C=/tmp/$SLURM_NODEID; a'\nsrun b", "C=/tmp/$RANK a\nb"),
        ("srun bash -c 'export C=/d/$(hostname); a; b'\nc", 'C="/d/$(hostname)" a\nC="/d/$(hostname)" b\nc'),
        ("srun bash -c 'D=$(hostname); mkdir $D; export C=$D; a'", "mkdir $(hostname)\nC=$(hostname) a"),
        ("(export C=$(mktemp -d)\na)\nb", "C=$(mktemp -d) a\nb"),
        ("T=$(mktemp -d)\n(export C=$T/c D=$T/d; a)\nb", "T=$(mktemp -d)\nC=$T/c D=$T/d a\nb"),
        ("T=$(mktemp -d)\nexport C=$T/c\nsrun a $T", "T=$(mktemp -d)\nexport C=$T/c\na $T"),
        ("/usr/bin/time srun a", "a"),
        ("cp $0 b\nsrun a", "a"),
        ("declare -A A=([b]=1 ['c d']=2)\nA[e]=3\nsrun a ${A[b]} ${A[c d]} ${A[e]}${A[f]}", "a 1 2 3"),
        ("A='b|c d'\nIFS='[|]' read -ra B <<< \"$A\"\na ${B[0]} \"${B[1]}\"", "a b 'c d'"),
        ('read -r A B < b\na "$A" $B', 'read -r A B < b\na "$A" $B'),
        ("L=$(sed 2p b)\nA=$(echo $L | cut -f1)\na $A", "L=$(sed 2p b)\na $(echo $L | cut -f1)"),
        ("A=(b/*.yaml)\na ${A[@]}", "a b/*.yaml"),
        ('[[ -n $X ]] && A="--b"\na $A ${A:-c} $((${#A} + 1)) "$A"', "a c $((${#A} + 1)) ''"),
        ('if [ -n "$X" ]; then A=" -b"; fi\nA="$A -c"\na $A', "a -c"),
        (
            '[ -n "$X" ] && export A=-b\nsrun bash -c "a $A; d \\$A"\nwhile ask; do c $A; done',
            "a\nd\nwhile ask; do c $A; done",
        ),
        ('U=0\nif [ $U = 1 ]; then A="--b"; fi\na $A', "a"),
        ("A=($(ls b))\na ${A[@]}", "a $(ls b)"),
        ('T=$(mktemp -d)\na "$T"/out --b=$T/c_$T', 'T=$(mktemp -d)\na "$T/out" --b=$T/c_$T'),
        ("export A=1\nwhile ask; do A=0 b; c $A; done\nd", "export A=1\nwhile ask; do A=0 b; c $A; done\nd"),
        ("A=$(b)\necho $A\nsrun bash -c \"a $A '$A'\"", 'A=$(b)\na $A "$A"'),
        ('if ask; then N=1; fi\nsrun bash -c "a \\"$N\\" $N"', 'if ask; then N=1; fi\na "$N" $N'),
        (
            'A=$(ls b | tail -1)\nB=-x\nif [ -n "$A" ]; then B="-r $A"; fi\nsrun a $B',
            'A=$(ls b | tail -1)\nB=-x\nif [ -n "$A" ]; then B="-r $A"; fi\na $B',
        ),
        ('A=$(ls)\nsrun a ${A:+-r $A} "${A:-b c}"', 'A=$(ls)\na ${A:+-r $A} "${A:-b c}"'),
        ("a /b/step-*/model", "a /b/step-*/model"),
        ("a $(scontrol show hostnames $SLURM_NODELIST | wc -l)", "a 2"),
        ("srun a\nseff $SLURM_JOB_ID", "a"),
    ],
)
def test_a_program_has_the_variables_of_its_line(body: str, expected: str) -> None:
    assert command(body) == expected


@for_each(
    ("body", "expected"),
    [
        ("A=1\nlet A=1+2 'B = A * 2'\nsrun a $A $B", "a 3 6"),
        ("A=1\n((A++))\n((A += 3, B = A))\nsrun a $A $B", "a 5 5"),
        (
            "A=(d e)\nB=abcd\na $((${#A[@]} - 1)) $((${#B} + 1)) $((${B:9}3 + ${C:-2}))",
            "a 1 5 5",
        ),
        ("((A = 2 ** 3))\nsrun a $A $((2#101))", "a 8 5"),
        ("declare -i A=1+2\nsrun a $A", "a 3"),
        ("A=b\nB=bcd\nsrun a ${A: -2}${B: -2}", "a cd"),
        ("printf -v A %02d-%s 3 b\nsrun a $A", "a 03-b"),
        ("for ((i = 0; i < 2; i++)); do srun a $i; done", "a 0\na 1"),
        ("i=0\nwhile [ $i -lt 2 ]; do srun a $i; i=$((i + 1)); done", "a 0\na 1"),
        ("i=2\nuntil ((i == 0)); do srun a $i; ((i--)); done", "a 2\na 1"),
        ("A=1\nA=2 | cat\nsrun a $A", "a 1"),
        ('A=(b c)\nA="${A[@]} d"\nsrun a "${A[@]}" $A', "a 'b c d' c b c d"),
        ("A=(b c)\nA+=d\nsrun a ${A[@]}", "a bd c"),
        ('A=(b c)\nA="$(d) e"\nsrun a $A ${A[1]}', 'A="$(d) e"\na $A c'),
        ("cd b\ncd c\ncd -\nsrun a", "cd b\na"),
        ("pushd b\nsrun a\npopd\nsrun c", "cd b\na\ncd ..\nc"),
        (
            "srun a {b,'c d'} {e,f{1..2}}g {x..z} {01..3} {2..6..2} '{h,i}' {j} ${K:-{l,m}}",
            "a b 'c d' eg f1g f2g x y z 01 02 03 2 4 6 '{h,i}' '{j}' '{l,m}'",
        ),
        ('D=$(cd -- "$(dirname -- "$0")/../.." >/dev/null 2>&1 && pwd)\nsrun a $D/b', "a ../../b"),
        ("cat > b.sh <<E\nc\nE\nchmod +x b.sh\nsrun ./b.sh d", "bash /etc/job/b.sh d"),
        ("A=(b)\nC=$(D=($A))\nsrun a $C $(E=1)c", "a c"),
        (
            "CUDA_VISIBLE_DEVICES=0 a &\nCUDA_VISIBLE_DEVICES=1 b",
            "CUDA_VISIBLE_DEVICES=0 a &\nCUDA_VISIBLE_DEVICES=1 b",
        ),
        ("srun bash -lc 'export A=1; a $A'", "a 1"),
        (
            "srun python -c 1 -m accelerate.commands.launch --num_processes 2",
            "python -c 1 -m accelerate.commands.launch --num_processes 2",
        ),
        (">> b a {1..3}", "a 1 2 3"),
        ("srun bash -c 'set -e; a; b'", "set -e\na\nb"),
        ("set -e\nb || true\nc || exit 3\nd", "set -e\nb || true\nc || exit 3\nd"),
        ("A=$(grep x y | awk '{print $2}')\nsrun a $A", "a $(grep x y | awk '{print $2}')"),
        ('set -- b "c d"\nsrun a "${@:2}" "${@:3}"\nset --\nsrun e "${@:2}" "${@}"', "a 'c d'\ne"),
        ("A=1\nN=($(scontrol show hostnames))\nfor n in ${!N[@]}; do echo $n $A; i=$n; done\nsrun a $A", "a 1"),
        ("for n in $(ask); do echo $n >> b; i=$n; done\nsrun a", "for n in $(ask); do echo $n >> b; i=$n; done\na"),
        ("A=b\nB=$(A=c; echo $A)\nsrun d $B $A", "d $(A=c; echo $A) b"),
        ("builtin cd b\njobs\ndisown\nsrun a", "cd b\na"),
        ("A=$\n\n# B the c\nsrun a $A", "a '$'"),
        ("srun a --b=$'x y\\'z' $\"c d\"", "a \"--b=x y'z\" 'c d'"),
        ("read -r A B <<E\n1 2 3\n4\nE\nread -d '' C <<E\n5\nE\nsrun a $A $B $C", "a 1 2 3 5"),
        ("A[0]=b\nA[1]='c d'\nA[0]=e\nsrun a \"${A[@]}\"", "a e 'c d'"),
        ('A=$(cat <<E\n"b"\nE\n)\nsrun a $A', "a '\"b\"'"),
        ("N=A\nexport $N=1 \"B=c d\" $(echo C=3)\nsrun bash -c 'a $A $B $C'", "a 1 c d 3"),
        ("A=$(srun -n 1 hostname)\nB=$(srun hostname | head -n 1)\nsrun a $A $B", "a $MASTER_ADDR $MASTER_ADDR"),
        ("A=$(cd ../../; pwd)\nsrun a $A/b $(dirname $C)", "a ../../b $(dirname $C)"),
        ("A='b c'\n[ -n $D ] && B=1\n[ $A = 'b c' ] || C=2\n[[ $A != c ]] && D=3\nsrun a $B $C $D", "a 1 2 3"),
        ("if [ -d $SLURM_SUBMIT_DIR ]; then A=1; else A=2; fi\nsrun a $A", "a 1"),
        ("unset SLURM_NNODES\nsrun a ${SLURM_NNODES:-b}", "a b"),
        ("set -a\nA=1\nset +a\nB=2\nsrun bash -c 'a $A'", "a 1"),
        ("A=$(b.py --seed $RANDOM)\nB=$(hostname | c)\nsrun a $A", "a $(b.py --seed {{ run.id }})"),
        ("A=$(echo b-$(hostname))\nsrun a $A", "a b-$MASTER_ADDR"),
        ("f() (A=2; b)\nA=1\nf\nsrun a $A", "b\na 1"),
        ("f() { A=2; echo 3; }\nA=1\nB=$(f)\nsrun a $A", "a 1"),
        ("f() { A=2; echo 3; }\nA=1\nB=$(f)\nsrun a $A $B", "f() { A=2; echo 3; }\na 1 $(f)"),
        ("case c in 'c') A=1;; *) A=2;; esac\ncase b* in b*) B=3;; esac\nsrun a $A $B", "a 1 3"),
        ("case b in 'b*') A=1;; *) A=2;; esac\nsrun a $A", "case b in 'b*') A=1;; *) A=2;; esac\na $A"),
        ("if [ $(hostname) = b ]; then exit 0; fi\nsrun a", "if [ $(hostname) = b ]; then exit 0; fi\na"),
        ("A=1\n[ $(hostname) = b ] && A=2\nsrun a $A", "A=1\n[ $(hostname) = b ] && A=2\na $A"),
        (
            'while read -r B; do A=$B; done <b\nif [ "$A" = 4 ]; then c; fi\nd',
            'while read -r B; do A=$B; done <b\nif [ "$A" = 4 ]; then c; fi\nd',
        ),
        ("A=$(b)\nB=$((A * 2))\nsrun c $A $B", "A=$(b)\nc $A $(($A * 2))"),
        ("A=$(b)\necho $A $A\nC=$(d)\nsrun e $C", "e $(d)"),
        ("srun a $(echo --b=$SLURM_JOB_ID) $(printf 'c-%s' $(hostname))", "a --b={{ run.id }} c-$MASTER_ADDR"),
        (
            "A=1\nwhile ask; do awk '{ print $A é }' \"$A '$A'\"; b <<'E'\n$A $SLURM_NNODES\nE\ndone\nc",
            "while ask; do awk '{ print $A é }' \"1 '1'\"; b <<'E'\n$A 2\nE\ndone\nc",
        ),
        ('A=(1 2)\nB=abc\nsrun a "${A[@]/#/x}" ${B/%c/d} ${B/#c/d}', "a x1 x2 abd abc"),
        (
            'a || A=1\nb && B=1\n[ "$A$B" ] && c\nd',
            'a || A=1\nb && B=1\n[ "$A$B" ] && c\nd',
        ),
        ("(\nA=$(b)\nc $A\n)\nsrun d ${A:-e}", "c $(b)\nd e"),
        ("A=0\na || { A=1; b; }\nc $A", "A=0\na || { A=1; b; }\nc $A"),
        ("printf -v A %s-%d b\nsrun a $A", "a b-0"),
        ('A=$(b)\nif [ -n "$A" ]; then c; fi\nd', 'A=$(b)\nif [ -n "$A" ]; then c; fi\nd'),
        ("while read -r A; do b $A; done << E\nc\nE", "while read -r A; do b $A; done << E\nc\nE"),
        ('[ ! $B = x ] || A=1\n[ ! $B ] && C=2\n[ ! -n $B -o "$B" ] || D=3\nsrun a $A $C $D', "a 1 2 3"),
        ("B='x -o y'\n[ -z $B ] && A=1\n[ $B = x ] && C=2\n[ \"$B\" != '*' ] && D=3\nsrun a $C $D", "a 2 3"),
        (
            "[ '(' = b ] || A=1\nif test \\( b = c \\); then B=1; fi\nsrun a $A $B",
            "if test \\( b = c \\); then B=1; fi\na 1 $B",
        ),
    ],
)
def test_values_are_those_of_bash(body: str, expected: str) -> None:
    made = command(body)
    assert made == expected


def test_a_condition_about_the_number_of_a_task_is_that_of_its_shell() -> None:
    text = "if [ $SLURM_ARRAY_TASK_ID -eq 0 ]; then a; fi"
    made = job(script("-N 1", "--array=0-3", body=f"{text}\nb", interpreter=BASH)).fields["command"]
    assert made == "if [ $JOB_COMPLETION_INDEX -eq 0 ]; then a; fi\nb"


@for_each(
    ("body", "expected"),
    [
        ("A=($(ls b))\nC=${A[$SLURM_ARRAY_TASK_ID]}\na $C", "A=($(ls b))\na ${A[$JOB_COMPLETION_INDEX]}"),
        ("c\nA=($(ls b))\nN=${#A[@]}\na ${A[1]} $N", 'c\nA=($(ls b))\na ${A[1]} "${#A[@]}"'),
        (
            'A=(b*)\nC=${A[$SLURM_ARRAY_TASK_ID]}\nif [ -z "$C" ]; then exit; fi\na $C ${C##*_}',
            'A=(b*)\nC=${A[$JOB_COMPLETION_INDEX]}\nif [ -z "$C" ]; then exit; fi\na $C "${C##*_}"',
        ),
        ("A=($(ls b) d)\na ${A[0]} ${A[@]}", "A=($(ls b) d)\na $A ${A[@]}"),
    ],
)
def test_an_array_of_an_output_is_made_in_the_pod(body: str, expected: str) -> None:
    fields = job(script("-N 1", "--array=0-3", body=body, interpreter=BASH)).fields
    assert fields["command"] == ["bash", "-c", expected]


def test_a_variable_of_another_language_in_single_quotes_needs_no_value() -> None:
    body = "while ask; do jq --arg a 1 '{b: $a}' c; done\nsrun d"
    _, found = read(script(*NODE, body=body, interpreter=BASH))
    assert [one.message for one in found if "has no value in a pod" in one.message] == []


def test_a_loop_over_options_of_shifter_takes_no_arguments() -> None:
    body = "i=0\nwhile [ $i -lt 2 ]; do srun shifter -V b:/c a $i; i=$((i + 1)); done"
    assert command(body) == "a 0\na 1"


@for_each(
    ("body", "is_of_bash"),
    [
        ("srun a $((A ** 2)) ${B:0:2}", True),
        ("srun a $((-2 ** 2))", True),
        ("srun a ${B^^}", True),
        ("srun a $(bc <<< 1)", True),
        ("srun a $([[ $A ]] && b)", True),
        ("srun a ${B:-c}", False),
        ("for ((i = 0; i < 2; i++)); do B[$i]=$i; done\nsrun a ${B[@]}", True),
        ("if ask; then mapfile -t A; fi\nsrun a", True),
        ("if ask; then echo; fi\nsrun a", False),
    ],
)
def test_a_command_has_the_shell_of_its_syntax(body: str, is_of_bash: bool) -> None:
    fields = job(script(*NODE, body=f"read A B\n{body}", interpreter=BASH)).fields
    assert (fields["command"][:2] == ["bash", "-c"]) is is_of_bash


@for_each(
    ("body", "expected"),
    [
        ("srun a $N", "mpirun a $N"),
        (
            'N=$(b)\nsrun bash -c "a $N ${N}c \\$((SLURM_PROCID))"',
            "mpirun -x N=\"$N\" sh -c 'a $N ${N}c $(($OMPI_COMM_WORLD_RANK))'",
        ),
        ('srun bash -c "a \\$SLURM_PROCID ${N^^}"', 'mpirun -x N="$N" bash -c \'a $OMPI_COMM_WORLD_RANK "${N^^}"\''),
        ('srun bash -c "a $N \\$SLURM_PROCID"', "mpirun -x N=\"$N\" sh -c 'a $N $OMPI_COMM_WORLD_RANK'"),
    ],
)
def test_variables_of_the_launcher_reach_the_tasks_of_mpi(body: str, expected: str) -> None:
    text = f"if ask; then N=1; else N=2; fi\n{body}"
    made = job(script("-N 2", "--ntasks-per-node=4", body=text, interpreter=BASH)).fields["command"]
    assert made.splitlines()[-1] == expected


def test_the_address_of_mpi_is_set_in_the_folder_of_its_program() -> None:
    body = "export MASTER_ADDR=$(hostname)\ncd /workspace/a\nsrun a"
    fields = job(script("-N 2", "--ntasks-per-node=2", body=body, interpreter=BASH)).fields
    assert fields["workingDir"] == "/workspace/a"
    assert "cd " not in fields["command"]


def test_a_task_has_the_ranks_of_its_own_step() -> None:
    body = "srun --ntasks-per-node=8 bash -c 'a --rank $SLURM_LOCALID'"
    fields = job(script("-N 2", "--gres=gpu:8", body=body, interpreter=BASH)).fields
    assert fields["command"] == "mpirun sh -c 'a --rank $OMPI_COMM_WORLD_LOCAL_RANK'"


@for_each(
    ("body", "expected"),
    [
        ("a --b <(echo c: 1)", "a --b <(echo c: 1)"),
        (
            "declare -A A=([b]=1)\nfor i in ${!A[@]}; do c $i; done",
            "declare -A A=([b]=1)\nfor i in ${!A[@]}; do c $i; done",
        ),
        ("readarray -t A < b\nsrun c ${A[0]} ${A[1]} ${#A[@]}", 'readarray -t A < b\nc $A ${A[1]} "${#A[@]}"'),
        ('IFS=, read -r A B < <(sed 1p c)\na "$A" $B', 'IFS=, read -r A B < <(sed 1p c)\na "$A" $B'),
    ],
)
def test_values_that_only_bash_reads_need_bash(body: str, expected: str) -> None:
    assert job(script("-N 1", body=body, interpreter=BASH)).fields["command"] == ["bash", "-c", expected]


@for_each(
    ("body", "expected"),
    [
        ("mapfile -t A < b\na ${A[$SLURM_ARRAY_TASK_ID]}", "mapfile -t A < b\na ${A[$JOB_COMPLETION_INDEX]}"),
        (
            "declare -A A=([x]=1 [y]=2)\nB=(x y)\nm=${B[$SLURM_ARRAY_TASK_ID]}\na ${A[$m]}",
            'B=(x y)\ndeclare -A A=([x]=1 [y]=2)\na "${A[${B[$JOB_COMPLETION_INDEX]}]}"',
        ),
        ('A=(b/*)\na "${A[SLURM_ARRAY_TASK_ID]}"', 'A=(b/*)\na "${A[$JOB_COMPLETION_INDEX]}"'),
        ('a $(ls b | sed -n "$((SLURM_ARRAY_TASK_ID+1))p")', 'a $(ls b | sed -n "$((JOB_COMPLETION_INDEX+1))p")'),
    ],
)
def test_the_task_of_an_array_chooses_an_item(body: str, expected: str) -> None:
    made = job(script("-N 1", "--array=0-1", body=body, interpreter=BASH)).fields
    assert expected in (made["command"], made["command"][-1])
    assert made["array"] is True


def test_a_case_without_commands_keeps_its_end() -> None:
    made = job(script("-N 1", "--array=1-2", body='case $SLURM_ARRAY_TASK_ID in 1) C=a;; *) ;;\nesac\na "$C"'))
    assert made.fields["command"] == 'case $((JOB_COMPLETION_INDEX + 1)) in 1) C=a;; *) ;;\nesac\na "$C"'


def test_a_task_computes_the_number_of_its_node() -> None:
    body = "srun bash -c 'a --node $SLURM_NODEID --gpu $((SLURM_NODEID * 2))'"
    fields = job(script("-N 2", "--ntasks-per-node=4", body=body, interpreter=BASH)).fields
    of_node = "(OMPI_COMM_WORLD_RANK / 4)"
    assert fields["command"] == f"mpirun sh -c 'a --node $({of_node}) --gpu $(({of_node} * 2))'"


def test_the_environment_of_the_job_is_that_of_the_last_program() -> None:
    body = "export A=1 B=1\nsrun a\nexport A=2\nsrun b\nexport A=3 C=1"
    assert job(script(*NODE, body=body, interpreter=BASH)).fields["env"] == {"A": "2", "B": "1"}


@for_each(
    ("body", "expected", "folder"),
    [
        ("cd x && a &\nb\nwait", "cd x\na &\ncd ..\nb\nwait", None),
        ("(cd data && a)\nb", "cd data\na\ncd ..\nb", None),
        ("cd x\na\ncd ../y\nb", "cd x\na\ncd ../y\nb", None),
        ("cd /workspace/x\na\ncd y\nb", "a\ncd /workspace/x/y\nb", "/workspace/x"),
        ("srun bash -c 'cd x; a'\nsrun b", "cd x\na\ncd ..\nb", None),
        ("a\n(cd /workspace/x && b)\nc", "a\ncd /workspace/x\nb\ncd $OLDPWD\nc", None),
        ("R=$(pwd)\ncd sub\na $R/x $PWD/y", "cd sub\na ../x ./y", None),
        ("cd sub\nR=$(pwd)\na $R/x\ncd ..\nb $R/x", "cd sub\na ./x\ncd ..\nb ./sub/x", None),
        ("a $(realpath x) $(dirname b/c) $(cd d && pwd)", "a ./x b ./d", None),
        ("mkdir -p logs\ncd /workspace\na", "mkdir -p logs\na", "/workspace"),
        ("cd $SCRATCH\na", "a", None),
    ],
)
def test_a_program_has_the_folder_of_its_line(body: str, expected: str, folder: str | None) -> None:
    fields = read(script(*NODE, body=body, interpreter=BASH))[0][0].fields
    assert (fields["command"], fields.get("workingDir")) == (expected, folder)


@for_each(
    ("body", "expected"),
    [
        ("python *.py 'a*' b?", "python *.py 'a*' b?"),
        ("./train*.sh a", "./train*.sh a"),
        ("P=./t*\n$P a", "./t* a"),
        ("A=(*.txt 'x y')\npython \"${A[@]}\"", "python *.txt 'x y'"),
        ("python a={b,c} $((2 * 3))", "python a=b a=c 6"),
        ("python 'a={b,c}'", "python 'a={b,c}'"),
        ("X=abc\npython ${X:1:1} ${X:1} ${X:0:-1} ${X/b/-}", "python b bc ab a-c"),
        ("X=a/b\npython ${X//\\//_}", "python a_b"),
        ("srun A=3 python a", "'A=3' python a"),
        ("srun A=$SLURM_JOB_ID python a", '"A={{ run.id }}" python a'),
        ('H=$(hostname)\nsrun bash -c "a --to ${H}x"', "a --to ${MASTER_ADDR}x"),
        ("a && b && srun c", "a &&\nb &&\nc"),
        ("cd x && a", "cd x\na"),
        ("srun a < in.txt", "a < in.txt"),
        ("<in.txt a", "<in.txt a"),
        ("srun a b > log c 2>&1 d", "a b c d"),
        ("trap 'python a' EXIT\nsrun b", "trap 'python a' EXIT\nb"),
        ("trap 'rm -f x' EXIT\nsrun b", "b"),
        ('if export A=1 && [ -n "$A" ]; then a; fi\nsrun b', 'if export A=1 && [ -n "$A" ]; then a; fi\nb'),
        ("R=2\nif [ $R = 1 ]; then A=1 B=1\nelif [ $R = 2 ]; then A=2\nelse A=3\nfi\nsrun a $A", "a 2"),
        ("if ask; then A=1\nelse A='b c'\nfi\nsrun a $A", "if ask; then A=1\nelse A='b c'\nfi\na $A"),
        ("if x=1; [ $x = 1 ]; then a; fi\nsrun b", "if x=1; [ $x = 1 ]; then a; fi\nb"),
        (
            "A=$(b)\nwhile read -r C; do d $C; done <<< $A\nwhile read -r E; do d $E; done < <(f)",
            "A=$(b)\nwhile read -r C; do d $C; done <<< $A\nwhile read -r E; do d $E; done < <(f)",
        ),
        ("S=\nfor i in $(seq $N); do a --seed ${S:-$i}; done", "S=''\nfor i in $(seq $N); do a --seed ${S:-$i}; done"),
        ("[[ -f x.sqsh ]] || { echo missing; exit 1; }\nsrun a", "a"),
        ("if [ ! -d x ]; then echo missing; exit 1; fi\nsrun a", "a"),
    ],
)
def test_words_are_those_of_bash(body: str, expected: str) -> None:
    fields = read(script(*NODES, body=body, interpreter=BASH))[0][0].fields
    text = fields["command"]
    assert (text if isinstance(text, str) else text[-1]) == expected


def test_braces_in_a_loop_need_bash() -> None:
    body = "for i in 1 2; do for j in {1..99}; do a $i $j; done; done"
    text = job(script(*NODE, body=body, interpreter=BASH)).fields["command"]
    assert text[:2] == ["bash", "-c"]


def test_a_file_is_continued() -> None:
    body = "cat <<A > f.cfg\na\nA\ncat <<A >> f.cfg\nb\nA\nsrun python f.cfg"
    assert job(script(*NODE, body=body, interpreter=BASH)).fields["files"] == {"/etc/job/f.cfg": "a\nb\n"}


@for_each(
    ("body", "expected"),
    [
        ("f() { local n=$1; shift; a -n $n \"$@\"; }\nf 2 x 'y z'\nf 3", "a -n 2 x 'y z'\na -n 3"),
        ("f() { shift 3; a $1; shift 2; b $*; }\nf 1 2", "a 1\nb"),
        ("f() { a ${@:2} \"${@: -1}\" ${@:1:1}; }\nf 1 '2 3'", "a 2 3 '2 3' 1"),
        ("f() { for i; do a $i; done; }\nf 1 2", "a 1\na 2"),
        ("f() { a $2 ${2:-3}; }\nf 1", "a 3"),
        ("f() { g x; a $1; }\ng() { b $1; }\nf 1 2", "b x\na 1"),
        ('set -- x y\na $1 $#\nshift\na "$*" $2', "a x 2\na y"),
        ("bash -c 'a \"$@\" $2' b c d", "a c d d"),
        ("A=(1 '2 3' 4)\na \"${A[@]:1}\" ${A[@]:0:1}", "a '2 3' 4 1"),
        ("A=1\nf() { local A=2; a $A; }\nf\nb $A", "a 2\nb 1"),
        (OPTIONS, "a 1 b c"),
        ("for i in 1 2 3 4; do [ $i = 2 ] && continue; [ $i = 4 ] && break; a $i; done", "a 1\na 3"),
        ("for i in 1 2; do for j in 1 2; do [ $j = 2 ] && continue 2; a $i$j; done; b; done", "a 11\na 21"),
        ("for i in 1 2; do for j in 1 2; do break 2; done; a; done\nb", "b"),
        ("f() { if [ $# = 0 ]; then return; fi; a $1; }\nf\nf 2\nbreak\nb", "a 2\nb"),
        ("f() { if ask; then return 0; fi; a $1; }\nf 2", "f() { if ask; then return 0; fi; a $1; }\nf 2"),
        ("for i in 1 2; do if ask; then break; fi; b; done", "for i in 1 2; do if ask; then break; fi; b; done"),
        ("readonly A=1\n(readonly B=1)\nB=2\nunset A\nf() { declare -r C=1; }\nf\nC=2\na $A$B$C", "a 122"),
        ("trap 'a \"b\"' EXIT\nsrun bash -c 'cd /opt; c'", 'trap "cd $PWD && a \\"b\\"" EXIT\ncd /opt\nc'),
        ("cd b\ntrap a EXIT\nc\ncd ../d", 'cd b\ntrap "cd $PWD/../d && a" EXIT\nc'),
        ("a || exit 1\nb < c || { echo d; exit  2; }\ne || exit", "a || exit 1\nb < c || exit 2\ne"),
        ("srun a || exit 1\nb", "a || exit 1\nb"),
        ("A=({1..2} '{3..4}')\na ${A[@]}", "a 1 2 '{3..4}'"),
        ("f() { echo $@; }\nA=$(f 1)\na $A", "f() { echo $@; }\na $(f 1)"),
        ("f() { return 3; }\nf && a", "f() { return 3; }\nf && a"),
        ("f() { echo $1; }\nf 1 && a", "a"),
        ("f() { while (( $# )); do a $(( $1 + ${1} * 2 )); shift; done; }\nf 1 2", "a 3\na 6"),
        ("f() { until [ $# = 0 ]; do a $1; shift; done; }\nf 1 2", "a 1\na 2"),
        ("set -- 1 '2 3'\nif ask; then a \"$@\" $1; fi", "set -- 1 '2 3'\nif ask; then a \"$@\" 1; fi"),
        ("f() { if ask; then a \"$1\"; fi; }\nf '<b>'", "set -- '<b>'\nif ask; then a \"$1\"; fi"),
        ("f() { if ask; then a; shift; fi; b $1; }\nf 1", "f() { if ask; then a; shift; fi; b $1; }\nf 1"),
        ('IFS=,; set -- 1,2; a $1 "$1" x,y', "a 1 2 1,2 x,y"),
        ("X='a b:c'\nIFS=:\na $X\nset -- 1 2\nb \"$*\"\nunset IFS\nc $X", "a 'a b' c\nb 1:2\nc a b:c"),
        ("X='(a b)'\nIFS=\na $X", "a '(a b)'"),
        ("trap a EXIT\ncd b\nc", "trap a EXIT\ncd b\nc"),
    ],
)
def test_words_of_the_shell_do_what_they_do_in_bash(body: str, expected: str) -> None:
    assert command(body, *NODE) == expected


def test_the_task_of_an_array_chooses_a_line() -> None:
    body = 'srun a $(sed -n "${SLURM_ARRAY_TASK_ID}p" b)'
    fields = job(script("-N 1", "--array=1-9", body=body, interpreter=BASH)).fields
    assert (fields["array"], fields["workers"]) == (True, 9)
    assert fields["command"] == 'a $(sed -n "$((JOB_COMPLETION_INDEX + 1))p" b)'


def test_a_trap_is_not_a_program_of_mpirun() -> None:
    body = "srun bash -c 'trap a EXIT; b'"
    fields = job(script("-N 2", "--ntasks-per-node=2", body=body, interpreter=BASH)).fields
    assert fields["command"] == "trap a EXIT\nmpirun b"


def test_a_name_with_a_sign_is_a_program_of_mpirun() -> None:
    fields = job(script("-N 2", "--ntasks-per-node=2", body="srun A=$SLURM_JOB_ID a", interpreter=BASH)).fields
    assert fields["command"] == "mpirun A={{ run.id }} a"


NAMES = "scontrol show hostnames $SLURM_JOB_NODELIST"
UNCLEAR = "the address `"


@for_each(
    ("options", "body", "line", "message"),
    [
        (("-N 2", "--ntasks-per-node=2"), "srun torchrun a", 5, "2 starts of `torchrun` on each node is not carried"),
        (NODE, "srun a || srun b", 4, "the program behind `||` is not carried"),
        (NODE, "(a; b) &\nsrun c", 4, "the background of all but the last program is not carried"),
        (NODE, "srun -o $OUT a", 4, "the value `$OUT` of `--output` is not carried: the script gets it from outside"),
        (NODE, "srun a <<E\nb\nE", 4, "the input behind `<<` is not carried"),
        (NODE, "conda activate a <<E\nb\nE\nsrun a", 4, "`conda activate a` is not carried"),
        (NODE, "[ -f x ] || exit 1\na", 4, "the check `[ -f x ]` is not carried: gen does not see files"),
        (NODE, "b\n[ -s x ] || exit\na", 5, "the check `[ -s x ]` is not carried: gen does not see files"),
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
        (NODE, "for i in 1 2; do if ask; then break; fi; srun a; done", 4, "only a shell decides this part, and it"),
        (NODE, "f() { if ask; then return; fi; srun a; }\nf", 4, "only a shell decides this part, and it sets"),
        (
            NODE,
            "f() { a || return 1; b; }\nf",
            4,
            "`return 1` behind `||` is not carried: the pod goes on after an error",
        ),
        (NODE, "for i in 1 2; do a || break; done", 4, "`break` behind `||` is not carried: the pod goes on after"),
        (NODE, "a\nif [ $? -ne 0 ]; then exit 1; fi\nb", 5, "the meaning of `[ $? -ne 0 ]` is not carried: the pod"),
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
        (NODE, "srun bash -c 'umask 002; a'", 4, "`umask 002` is not carried: a pod has that of its image"),
        (NODE, "nvidia-smi dmon > b &\na\nkill $!", 4, "`nvidia-smi dmon` is not carried: it only shows the state"),
        (
            ("-N 1", "-o l/%x-%j.out", "-e e.log"),
            "ln -sf train-$SLURM_JOB_ID.out l/a\nb",
            6,
            "`ln -sf train-{{ run.id }}.out l/a` is not carried: no pod has the log of Slurm",
        ),
        (("-N 1", "-e e.log"), "b\ncp ./e.log c", 6, "`cp ./e.log c` is not carried: no pod has the log of Slurm"),
        (NODE, "R=0\na || R=$?\nb $R", 5, "the meaning of `||`, which sets `$R`, is not carried: only a shell"),
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
        (NODES, "srun -n1 --ntasks-per-node=4 a\nsrun b", 6, "the single start of `a` is not carried"),
        (NODE, "a\nR=$?\nif [[ $R == 124 ]]; then scontrol requeue 1; fi", 6, "the meaning of `[[ $R == 124 ]]`"),
        (NODE, "a\n[ $? -ne 0 ] && exit 1\nb", 5, "the meaning of `[ $? -ne 0 ]` is not carried: the pod goes on"),
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
        (NODE, "A=$(sbatch b.sh)\nsbatch -d $A c.sh", 1, "the script only starts other jobs: `b.sh`, `c.sh`"),
        (
            NODE,
            'for i in *; do N+=($i); done\nS="sbatch --export=N=$(cat c) --array=${#N[@]} b.sh"\nA=$($S)',
            1,
            "the script only starts other jobs: `b.sh`",
        ),
        (NODE, 'a\nS="sbatch -J $(b) c.sh"\necho $S\n$S', 7, "`sbatch c.sh` is not carried: it starts another job"),
        (NODE, "sbatch b.sh\nexit", 5, "the script only starts other jobs: `b.sh`"),
        (NODE, "A=$(sbatch b.sh)\na $A", 5, "`sbatch` has no answer in a pod, and only a shell decides this value"),
        (NODE, "a\nexit 1\nb", 5, "the script ends here with an error"),
        (NODE, "a\nexit -1\nb", 5, "the script ends here with an error"),
        (NODE, "a\nexit $1\nb", 5, "the error at the end of the script is not carried: the job succeeds"),
        (NODE, "chmod +x a\nexit 1", 1, "the script starts no program"),
        (NODE, "if ask; then srun a; else b; fi", 4, "`srun` does not work in a pod, and only its shell decides"),
        (NODE, "eval 'a &\nwait'", 4, "gen does not follow several commands of `eval`"),
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
        (NODE, "mkdir a\nif [[ $1 == b ]]; then c; fi", 1, "the script starts no program"),
        (NODES, "srun torchrun --nproc_per_node $(ask) a", 6, "the number of processes `$(ask)` is not carried"),
        (NODE, 'srun bash -c "A=1; a $A"', 4, "the empty value of `$A` is not carried"),
        (NODE, "if [ $A ]; then\nfi\na", 4, "gen cannot read the syntax of the shell here"),
        (NODE, "{\na", 4, "gen cannot read the syntax of the shell here"),
        (NODE, "srun bash -c 'a (b'", 4, "gen cannot read the syntax of the shell here"),
        (NODE, "a\nelse\nb", 5, "gen cannot read the syntax of the shell here"),
        (NODE, "srun a $A\nA=1", 4, "`$A` has no value in a pod: the script sets it only in a later line"),
        (NODE, "A=1\nsrun bash -c 'a $A'", 5, "`$A` has no value in a pod: the script does not export it, or gen"),
        (NODE, "A=b\na \\\n --b ${C \\\n --d", 6, "gen cannot read the syntax of the shell here"),
        (NODE, "A=$(b)\ncd c\nsrun a $A", 6, "the folder of `$(b)` is not carried: the script computes it in another"),
        (NODE, "if [ -d b ]; then c; fi\nsrun a", 4, "the other case of `[ -d b ]` is not carried: gen does not see"),
        (NODE, "A=1\ncommand -v b || A=2\nsrun a $A", 5, "the other case of `command -v b` is not carried"),
        (NODE, "readonly* A=1\nsrun a", 4, "`readonly*` is not a program"),
        (
            NODE,
            "cat > b.sh <<'E'\nmodule load c\nd\nE\nsrun sh b.sh",
            5,
            "`module load c` is not carried: a container has",
        ),
        (
            NODE,
            "cat > b.sh <<'E'\nc $SLURM_PROCID\nE\nsrun sh b.sh",
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
            'the number of processes `"${N^^}"` is not carried',
        ),
        (
            NODE,
            "srun a\nX=$?\nif [ $X -ne 0 ]; then exit $X; fi\nb $X",
            7,
            "the status of a program is not carried: it",
        ),
        (NODE, "srun a | tee b | c", 4, "the pipe to `c` is not carried"),
        (NODES, f"A=$({NAMES} head -n1)\nsrun a $A", 7, "`$SLURM_JOB_NODELIST` has no value in a pod: it is a list"),
        (NODE, "srun bash -c 'srun a $SLURM_PROCID'", 4, "`srun` behind `srun` does not work in a pod"),
        (NODE, "local A=1\nsrun a $A", 4, "bash accepts `local` in functions only"),
        (NODE, "cd\nsrun a", 4, "the folder of `cd` is not carried"),
        (NODES, "A=$(srun hostname)\nsrun a $A", 7, "`$SLURM_JOB_NODELIST` has no value in a pod: it is a list of"),
        (NODE, "export $(cat .env)\nsrun a", 4, "the declaration of `$(cat .env)` is not carried: only a shell knows"),
        (NODE, "shopt -s nullglob\nsrun a *.b", 5, "the meaning of patterns with `nullglob` is not carried"),
        (NODE, "set -f\nsrun a *.b", 5, "the meaning of patterns with `noglob` is not carried"),
        (NODE, "A=$(basename $PWD)\nsrun a $A", 4, "the name of the folder is not carried: a pod has its own"),
        (NODE, "A='\"b c\"'\nsrun $A", 5, 'bash finds no program with the name `"b`'),
        (NODE, "srun '' a", 4, "bash finds no program with the name ``"),
        (NODE, "$(date +%s)\nsrun a", 4, "`$GEN_RUN_ID` is not a program"),
        (NODE, "T=$(date +%s) $(date +%s)\n((T = 2))\nsrun a", 4, "`$GEN_RUN_ID` is not a program"),
        (NODE, "((A = B = 1, A <<= 2))\nsrun a $A", 4, "gen cannot read the syntax of the shell here"),
        (NODE, 'A=$(b)\npushd c\nsrun bash -c "a $A"', 6, "the folder of `$(b)` is not carried: the script"),
        (NODE, "srun a ${!SLURM_JOBID}", 4, "gen cannot read the syntax of the shell here"),
        (NODE, "if ask; then A=1; B=2; fi\nsrun a $A", 4, "the meaning of `if`, which sets `$A`, is not carried"),
        (NODE, "apptainer run $A b", 4, "the value `$A` of the image is not carried: the script gets it from"),
        (
            ("-N 2", "--ntasks-per-node=2"),
            "srun bash -c 'if [ $SLURM_PROCID = 0 ]; then a; fi; b'",
            5,
            "only a shell in each task decides this part, and `mpirun` starts programs only",
        ),
        (NODE, "srun torchrun --rdzv_id ${!RANDOM} a", 4, "gen cannot read the syntax of the shell here"),
        (NODE, "read -rd $(echo '') A <<E\nb\nE\nsrun a $A", 7, "`$A` has no value in a pod"),
        (NODE, "A=$(date +%Y)\nsrun a $((64 / A))", 5, "gen cannot read the syntax of the shell here"),
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
        (NODE, "cp $0 b\nsrun a", 4, "`cp ./.slurm_script b` is not carried: no pod has the file of the script"),
        (NODE, '[ -n "$X" ] && A=1\na $A', 4, 'the other case of `[ -n "$X" ]` is not carried: the script gets'),
        (NODE, 'if [ -z "$X" ]; then A=1; else A=2; fi\na $A', 4, 'the other case of `[ -z "$X" ]` is not carried'),
        (NODE, "declare -A A=([b]=1)\na ${A[@]}", 5, "gen cannot read the syntax of the shell here"),
        (NODE, "module load x &\nsrun a", 4, "`module load x` is not carried: a container has no modules"),
        (NODE, "a\nmv slurm-*.out b", 5, "`mv slurm-*.out b` is not carried: no pod has the log of Slurm"),
        (NODE, "sbcast a b\nc", 4, "`sbcast a b` is not carried: each pod copies the file itself"),
        (NODE, "if ask; then C=1; fi\nsrun -c $C a", 5, "the value `$C` of `--cpus-per-task` is not carried: only"),
        (NODE, "A=$(cat b)\nsrun $A --wait=0 c", 5, "only a shell knows the options `$(cat b)` of `srun`"),
        (NODE, "if [ ! -f a ]; then b; exit 1; fi\nc", 4, "`b` is not carried: it belongs to a check of files"),
        (NODE, "! module load x\nsrun a", 4, "`module load x` is not carried: a container has no modules"),
        (NODE, "env A=1 export B=2\nsrun a", 4, "`env A=1 export B=2` is not carried: `export` is not a program, but"),
        (NODE, "eval export A=1\nsrun a", 4, "gen does not follow `eval export A=1`"),
        (NODE, "A=$((1 / 0))\nsrun a $A", 4, "gen cannot read the syntax of the shell here"),
        (NODE, "export A=1\nexport -n A\nsrun bash -c 'a $A'", 6, "`$A` has no value in a pod: the script does not"),
        (NODE, "A=(b c)\nunset 'A[0]'\nsrun a $A", 6, "`$A` has no value in a pod: the script reads it from a file"),
        (NODE, "A=$(curl b)\nsrun a ${A:1}", 5, "`$A` has no value in a pod: the script reads it from a file or a"),
        (NODES, "N=($(scontrol show hostnames))\na ${N[@]}", 7, "`$SLURM_JOB_NODELIST` has no value in a pod: it is a"),
        (NODE, "# the data\nD=/lustre/x\n\nsrun a --data $D/y", 5, "no pod has the folder `/lustre/x/y`"),
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


@for_each(
    ("body", "expected"),
    [
        ("T=$(mktemp -d)\npython a.py --cache $T", "python a.py --cache $(mktemp -d)"),
        (
            "T=$(mktemp -d)\npython a.py --cache $T/x\nrm -rf $T",
            "T=$(mktemp -d)\npython a.py --cache $T/x\nrm -rf $T",
        ),
        (
            "T=$(mktemp -d)\nexport A=$T/a\nexport B=$T/b\npython a.py",
            "T=$(mktemp -d)\nexport A=$T/a\nexport B=$T/b\npython a.py",
        ),
        (
            "python b.py\nP=$(pick)\nT=$(mktemp -p $P)\nexport A=$T/a$P B=$T/b\npython a.py",
            "python b.py\nP=$(pick)\nT=$(mktemp -p $P)\nexport A=$T/a$P\nexport B=$T/b\npython a.py",
        ),
        ("F=`mktemp /tmp/a.XXXX`\npython a.py $F", "python a.py $(mktemp /tmp/a.XXXX)"),
        ("python a.py --cache $(mktemp -d)", "python a.py --cache $(mktemp -d)"),
    ],
)
def test_a_temporary_folder_is_made_in_the_pod(body: str, expected: str) -> None:
    assert command(body, "-N 1") == expected


@for_each(
    ("body", "expected"),
    [
        ("ray start --head &\nsleep 10\npython a.py", "ray start --head &\nsleep 10\npython a.py"),
        ("sleep 10\nserve &\npython a.py\nsleep 5", "serve &\npython a.py\nsleep 5"),
        (
            "serve &\nfor i in 1 2; do\nwork $i &\nsleep 5\ndone\nwait",
            "serve &\nwork 1 &\nsleep 5\nwork 2 &\nsleep 5\nwait",
        ),
        ("python a.py\nsleep 10\npython b.py", "python a.py\npython b.py"),
    ],
)
def test_a_pause_behind_a_program_in_the_background_stays(body: str, expected: str) -> None:
    assert command(body, "-N 1") == expected


@for_each(
    "check",
    [
        "if [[ ! -f x ]]; then\necho none\nexit\nfi",
        "if [ ! -e x ] || [ ! -e y ]; then exit 0; fi",
        "[ -s x ] || exit",
        "test -f x || { echo none; exit 0; }",
        "if [ -f x ]; then A=1; else exit; fi",
    ],
)
def test_a_check_of_files_does_not_end_the_script(check: str) -> None:
    made = command(f"a\n{check}\nb", "-N 1")
    assert made == "a\nb"


def test_a_pause_is_no_program_that_starts_once() -> None:
    _, found = read(script("-N 2", body="srun serve &\nsleep 10\nsrun train"))
    assert [one.message for one in found] == []


def test_the_functions_of_an_output_are_in_the_order_of_their_calls() -> None:
    names = [f"f{number}" for number in range(12)]
    functions = "\n".join(f"{name}() {{ curl {name}; }}" for name in sorted(names, reverse=True))
    text = command(f"{functions}\nA=$({'; '.join(names)})\npython a.py $A", "-N 1")
    assert [line.partition("()")[0] for line in text.split("\n") if "()" in line] == names


def test_a_condition_about_values_is_not_one_about_a_status() -> None:
    _, found = read(script("-N 1", body="a\nif [ -z $SLURM_JOB_ID ]; then b; fi\n[ 1 = 2 ] && b\nc", interpreter=BASH))
    assert found == []
