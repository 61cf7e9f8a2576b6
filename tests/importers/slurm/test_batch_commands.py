"""Each program of a script has the variables, the folder and the words that bash gives it."""

from __future__ import annotations

from tests.cases import for_each
from tests.importers.slurm.test_slurm import BASH, job, read, script
from tests.importers.slurm.test_steps import command

IN_TEXT = "SUBMIT_DIR=$PWD\ncd ..\nif ask; then a $SUBMIT_DIR/b; fi"
IN_TRAP = 'SUBMIT_DIR=$PWD\ncd ..\ntrap "cd $SUBMIT_DIR && a b" EXIT\nc'
LISTS = "A=()\nfor f in $(ls b); do A+=($f); done\n"
NODE = ("-N 1",)
OPTIONS = "f() { while [ $# -gt 0 ]; do case $1 in -x) X=$2; shift 2;; *) break;; esac; done; a $X $@; }\nf -x 1 b c"
NODES = ("-N 2", "--gres=gpu:8", "--ntasks-per-node=1")


@for_each(
    ("body", "expected"),
    [
        ("for i in 1 2; do export LR=$i; srun a; done", "LR=1 a\na"),
        ("export A=1\nsrun a\nexport A=2\nsrun b", "A=1 a\nb"),
        ("export A=1\nsrun a\nunset A\nsrun b", "A=1 a\nb"),
        ("export A=1\ntrap b EXIT\na\nexport A=2\nsrun c", "trap b EXIT\nA=1 a\nc"),
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
        ("eval export A=1\nsrun a $A", "a 1"),
        ("A='a > b'\neval \"$A\"\nc b", "a > b\nc b"),
        ("A='srun a > b 2>&1'\neval \"$A\"\nc b", "a > b 2>&1\nc b"),
        ("A=\"a $B '$B c' < d &\"\neval $A\ne\nwait", 'a $B "$B c" < d &\ne\nwait'),
        ("A='a \"b;c\" && d; D=1 e'\neval $A", "a 'b;c' &&\nd\nD=1 e"),
        ("eval 'f() { a $1; }; B=2'\nf $B", "a 2"),
        ('A="a $(hostname) > b"\neval $A\nc b', "a $MASTER_ADDR > b\nc b"),
        ('srun bash -c "a \\\\$SLURMD_NODENAME: b"', "a $HOSTNAME: b"),
        (
            'if ask; then A="b c"; fi\nB="$A d"\nsrun $B "$B"',
            'if ask; then A="b c"; fi\n$A d "$A d"',
        ),
        ('if [ "$SLURM_RESTART_COUNT" -gt 0 ] 2>/dev/null; then A=-r; else A=; fi\nsrun a $A', "a"),
        ("srun a\nmv slurm-$SLURM_JOB_ID.out logs/", "a"),
        ("srun sbcast a /tmp/a\nsrun b", "cp a /tmp/a\nb"),
        ("sbcast -f /data/a.tar /tmp/a.tar\nsrun tar xf /tmp/a.tar", "cp /data/a.tar /tmp/a.tar\ntar xf /tmp/a.tar"),
        ("B=$(echo ${A:=1})\nsrun a $B ${A:-2}", "a 1 2"),
        ("A=$(date +%Y)\nread -ra B <<< $A\na ${B[0]}", "a {{ run.id }}"),
        ("export PYTHONPATH=/workspace/b:$PYTHONPATH\nsrun a", "export PYTHONPATH=/workspace/b:$PYTHONPATH\na"),
        ('export PYTHONPATH="b:${PYTHONPATH:-}"\nsrun a', "export PYTHONPATH=b:$PYTHONPATH\na"),
        (
            'export PYTHONPATH="b${PYTHONPATH:+:$PYTHONPATH}"\nsrun a',
            'export PYTHONPATH="b${PYTHONPATH:+:$PYTHONPATH}"\na',
        ),
        (
            'PYTHONPATH=b\nexport PYTHONPATH="c:${PYTHONPATH:-}"\nif [ -z "${LD_LIBRARY_PATH:-}" ]; then d; fi\nsrun a',
            "d\na",
        ),
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
        (
            "f() { ask $1; }\nif [ $(f b) = c ]; then a $(f b); fi",
            "f() { ask $1; }\nif [ $(f b) = c ]; then a $(f b); fi",
        ),
        ("A=$(b)\nsrun bash -c \"# don't stop\nc $A --d 'e f' # it's\n# it's done\"", "c $(b) --d 'e f'"),
        ("A=$(b)\nC=$(cat <<E\n# can't\nd \"$A\" 'e f'\n# don't\nE\n)\nsrun bash -c \"$C\"", "d \"$(b)\" 'e f'"),
        ("read -r -a A <<< b\na ${A[@]} ${#A[@]}", "a b 1"),
        ("B=c\nread -ra A <<< $B\na ${A[0]}", "a c"),
        ("mapfile -t A <<< b\na ${A[@]}", "a b"),
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
        ('U=0\nif [ $U = 1 ]; then A="gdb b"; fi\n$A a', "a"),
        ('U=0\nif [ $U = 1 ]; then A="gdb b"; fi\nsrun bash -c "${A} a"', "a"),
        (
            "S=$(scontrol show job $SLURM_JOB_ID | awk -F= '/Command=/{print $2}')\nN=$(basename \"$S\" .sh)\na $N",
            "a train",
        ),
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
        ("N=$(ls b | wc -l)\na --out b\nc --files $N", "N=$(ls b | wc -l)\na --out b\nc --files $N"),
        ("N=$(ls b | wc -l)\nmkdir d\nc --files $N", "N=$(ls b | wc -l)\nmkdir d\nc --files $N"),
        ("N=$(basename b | tr b c)\nmkdir d\ne $N", "mkdir d\ne $(basename b | tr b c)"),
        ("A=$(b)\ncd c\nsrun a x$A", "A=$(b)\ncd c\na x$A"),
        ("N=$(ls b | wc -l)\nc b\nd $((N + 1))", "N=$(ls b | wc -l)\nc b\nd $(($N + 1))"),
        ("A=(b/*)\na ${A[@]}", "a b/*"),
        ("set -e\nN=$(python b.py)\nc --n $N", "set -e\nN=$(python b.py)\nc --n $N"),
        ("N=$(b)\nM=$N\nN=1\na\nc $M $N", "N=$(b)\na\nc $N 1"),
        ("export P=$PWD/src:$P\nV=$(b)\na $V\nc $V", "export P=./src:$P\nV=$(b)\na $V\nc $V"),
        ("A=$(b)\nA=c$A\na ${A%x}", "A=$(b)\nA=c$A\na ${A%x}"),
        ("N=$(ls b) || exit 1\na\nc $N", "N=$(ls b) || exit 1\na\nc $N"),
        ("a\nN=$(ls b) || exit 1\nc", "a\nN=$(ls b) || exit 1\nc"),
        ("a\nN=$(ls b) && c $N", "a\nN=$(ls b) &&\nc $N"),
        ("V=$(b)\nexport P=$V:$P\na $V\nc $V", "V=$(b)\nexport P=$V:$P\na $V\nc $V"),
        ("O=r/$(hostname)\na $O\nb $(find $O)", "a r/$MASTER_ADDR\nO=r/$MASTER_ADDR\nb $(find $O)"),
        (
            "O=r/$(hostname)\nF=$(find $O)\nfor i in $F; do\n  a $i $O\ndone",
            "O=r/$MASTER_ADDR\nF=$(find $O)\nfor i in $F; do\n  a $i $O\ndone",
        ),
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
        ("i=0\nfor s in b c; do a $s $((i++)); done\na $i $((++i)) $((i--)) $i", "a b 0\na c 1\na 2 3 3 2"),
        ("i=5\na $((10 + i++ % 4)) $((--i - i)) $((2 - -i)) $((i+++1)) $i", "a 11 0 7 6 6"),
        ("i=1\na $((i += 2)) $i $((j = i * 2)) $j $((i == 3)) $((k++)) $k", "a 3 3 6 6 1 0 1"),
        ("i=1\n(( p = 9 + i++ ))\nlet q=i++ r=++i\na $p $q $r $i", "a 10 2 4 4"),
        ('i=0\nG=(d e)\nG[i++]=b\na ${G[i++]} ${G[--i]} ${G[0]} "${G[7]}"', "a e e b ''"),
        ("A=(b c)\nB=(1 0)\na ${A[${#B[@]} - 1]} ${A[$((${#A[@]} - 2))]} ${A[${B[0]}]} ${A[${B[1]}]:-d}", "a c b c b"),
        (
            "time (a; b)\nif true; then time -p { c; d; }; fi\ntime for i in e f; do a $i; done",
            "a\nb\nc\nd\na e\na f",
        ),
        ('i=4\n: $((i++))\necho "$((i++))" > b\na $i', "a 6"),
        ("i=0\nfor s in b c; do A=$((i++)) a $s $((9 + i)); done", "A=0 a b 9\nA=1 a c 10"),
        ("i=0\nfor s in b c; do a $((i++)) & done\nwait\na $i", "a 0 &\na 0 &\nwait\na 0"),
        (
            "A=(d e)\nB=abcd\na $((${#A[@]} - 1)) $((${#B} + 1)) $((${B:9}3 + ${C:-2}))",
            "a 1 5 5",
        ),
        ("((A = 2 ** 3))\nsrun a $A $((2#101))", "a 8 5"),
        ("declare -i A=1+2\nsrun a $A", "a 3"),
        ("A=b\nB=bcd\nsrun a ${A: -2}${B: -2}", "a cd"),
        ("printf -v A %02d-%s 3 b\nsrun a $A", "a 03-b"),
        ("for ((i = 0; i < 2; i++)); do srun a $i; done", "a 0\na 1"),
        ("A=()\nfor ((i = 1; i <= 2; i++)); do A+=(b$i); done\na ${A[@]}", "a b1 b2"),
        ("i=0\nwhile [ $i -lt 2 ]; do srun a $i; i=$((i + 1)); done", "a 0\na 1"),
        ("i=2\nuntil ((i == 0)); do srun a $i; ((i--)); done", "a 2\na 1"),
        ("A=1\nA=2 | cat\nsrun a $A", "a 1"),
        ('A=3\na $(( "A" * 8 )) $(( "$A" + "1" ))', "a 24 4"),
        ("A=(b 'c d')\na ${A:=e} ${F:=g} $F", "a b g g"),
        ("S=`date +%s`\na\nE=`date +%s`\nb $((E - S))", "S=$(date +%s)\na\nE=$(date +%s)\nb $(($E - $S))"),
        ("set -- b\nA='a $* \\ c'\neval $A", "a b ' c'"),
        ('read -r A < b\na ${A%%-*} "${A%%-*}"', 'read -r A < b\na ${A%%-*} "${A%%-*}"'),
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
        ("scontrol show hostnames > b\nreadarray -t N < b\nfor n in ${N[@]}; do ssh $n nvidia-smi; done\nsrun a", "a"),
        ('scontrol show hostnames > b\nfor n in $(cat b); do C="ssh $n rocm-smi"; $C; done\nsrun a', "a"),
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
        (
            "A=$(getent hosts b.example.com | awk '{print $1}')\nsrun a $A",
            "a $(getent hosts b.example.com | awk '{print $1}')",
        ),
        ("A=$(dig +short b.example.com)\nsrun a $A", "a $(dig +short b.example.com)"),
        ('A=$(getent hosts b | awk "{print \\$1}")\nsrun a $A', 'a $(getent hosts b | awk "{print \\$1}")'),
        ("A=$(getent hosts $(hostname) | awk '{print $1}')\nsrun a $A", "a $MASTER_ADDR"),
        ("A=$(hostname -I | awk '{print $1}')\nB=$(hostname -s)\nsrun a $A $B", "a $MASTER_ADDR $MASTER_ADDR"),
        ("A=$(hostname | cut -d. -f1)\nB=$(ssh localhost hostname -i)\nsrun a $A $B", "a $MASTER_ADDR $MASTER_ADDR"),
        ("A=$(ip addr show ib0 | grep inet | cut -d/ -f1)\nsrun a $A", "a $MASTER_ADDR"),
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
        ("A=$((SLURM_JOB_ID % 9))\nSEED=$(date +%s)\na $SEED", "a $(date +%s)"),
        (
            "A=/d/$SLURM_JOB_ID\na $(dirname $A) $(basename $A) $(cd $A; pwd) $(ls $A/* | wc -l)",
            "a /d {{ run.id }} /d/{{ run.id }} $(ls /d/{{ run.id }}/* | wc -l)",
        ),
        (
            'A=1\nwhile ask; do a "A=$A" "b,SLURM_NNODES=$SLURM_NNODES" $A; done',
            'while ask; do a "A=1" "b,SLURM_NNODES=2" 1; done',
        ),
        (
            "A=$(( $(b c.txt 'd $1') * 2 ))\nB=$(( $(c $(d)) ))\na $A $A $B $(( `c < d.txt` / $(echo 4) ))",
            "A=$(($(b c.txt 'd $1') * 2))\na $A $A $(($(c $(d)))) $(($(c < d.txt) / 4))",
        ),
        ("N=8\nA=$(b $((${N:-4}-1)) ${SLURM_NNODES:-1})\nsrun a $A", "a $(b 7 2)"),
        ("D=false\nif $D; then A=1; else A=2; fi\n$D && B=3 || B=4\nif ! $D; then c; fi\nd $A $B", "c\nd 2 4"),
        ("D=true\n$D && B=3 || B=4\n${D} && c\nd $B", "c\nd 3"),
        ("N=9\na $((N < 5 ? 1 : 2)) $(( (N < 5) ? 3 : N > 8 ? 4 : 5 )) $((N ? 6 : 7))", "a 2 4 6"),
        ("export A=b{c}\nif ask; then c $A; fi", "if ask; then c $A; fi"),
        ("N=4\na $(seq -s, 0 $((N-1))) $(seq -s : 2)", "a 0,1,2,3 1:2"),
        ("N=4\na $(b $((N-1)) $((M-1)))", "a $(b 3 $((M-1)))"),
        (
            "A=3\nf() { a $((${SLURM_NNODES:-4} * 2)) $((${SLURM_NNODES%%(*} + ${A:-$B})); }\nwhile ask; do f; done",
            "f() { a $((2 * 2)) $((2 + 3)); }\nwhile ask; do f; done",
        ),
        (
            "srun bash -c 'while ask; do a $((${SLURM_NODEID:-0} * 2)) ${SLURM_NODEID:-0}; done'",
            "while ask; do a $((${RANK:-0} * 2)) ${RANK:-0}; done",
        ),
        ('A=$(b)\nif [ -n "$A" ]; then c; fi\nd', 'A=$(b)\nif [ -n "$A" ]; then c; fi\nd'),
        ("while read -r A; do b $A; done << E\nc\nE", "while read -r A; do b $A; done << E\nc\nE"),
        ('[ ! $B = x ] || A=1\n[ ! $B ] && C=2\n[ ! -n $B -o "$B" ] || D=3\nsrun a $A $C $D', "a 1 2 3"),
        ("B='x -o y'\n[ -z $B ] && A=1\n[ $B = x ] && C=2\n[ \"$B\" != '*' ] && D=3\nsrun a $C $D", "a 2 3"),
        (
            "[ '(' = b ] || A=1\nif test \\( b = c \\); then B=1; fi\nsrun a $A $B",
            "if test \\( b = c \\); then B=1; fi\na 1 $B",
        ),
        ("A=b\nc ${A/d/{e}_f g", "c b_f g"),
        ("A=b\nc ${A/d/\\${e}_f g", "c b_f g"),
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
            'A=(b*)\nC=${A[$JOB_COMPLETION_INDEX]}\nif [ -z "$C" ]; then exit; fi\na $C ${C##*_}',
        ),
        ("A=($(ls b) d)\na ${A[0]} ${A[@]}", "A=($(ls b) d)\na $A ${A[@]}"),
        (
            "A=(b c d e)\nB=${A[$SLURM_ARRAY_TASK_ID]}\ncase $B in\n  b) C=1 ;;\nesac\na $C",
            "A=(b c d e)\ncase ${A[$JOB_COMPLETION_INDEX]} in\n  b) C=1 ;;\nesac\na $C",
        ),
        (
            'A=$(cat b)\nIFS=, read -ra B <<< "$A"\nfor i in "${B[@]}"; do a $i; done\nc ${B[1]}',
            'IFS=, read -ra B <<< $(cat b)\nfor i in "${B[@]}"; do a $i; done\nc ${B[1]}',
        ),
        ("A=($(ls b))\na ${A}", "A=($(ls b))\na $A"),
        ("A=($(ls b))\nc b\nd ${A[@]}", 'A=($(ls b))\nc b\nd "${A[@]}"'),
        ("A=(b/*)\nc b\nd ${A[@]}", 'A=(b/*)\nc b\nd "${A[@]}"'),
        ("A=()\nfor n in b c; do A+=($(ls $n)); done\nd\ne ${A[@]}", 'A=($(ls b) $(ls c))\nd\ne "${A[@]}"'),
        (
            'A=()\nfor n in $(ls d); do A+=($n); done\nsrun bash -c "a ${A[@]}"',
            "A=()\nfor n in $(ls d); do A+=($n); done\na ${A[@]}",
        ),
        (
            (
                "A=()\nfor n in $(ls d); do A+=($n); done\nB=($(echo ${A[@]} | sort))\nA=()\n"
                "for n in ${B[@]}; do A+=(x/$n); done\na ${A[@]}"
            ),
            (
                "A=()\nfor n in $(ls d); do A+=($n); done\nB=($(echo ${A[@]} | sort))\nA=()\n"
                "for n in ${B[@]}; do A+=(x/$n); done\na ${A[@]}"
            ),
        ),
        *(
            (f"{LISTS}a {used}", f"{LISTS}a {made or used}")
            for used, made in (
                ("${A[-1]}", ""),
                ("${A[1]} ${A[0]}", "${A[1]} $A"),
                ('"${A[2]}" ${A[$SLURM_ARRAY_TASK_ID]}', '"${A[2]}" ${A[$JOB_COMPLETION_INDEX]}'),
                ("${A[1]:-none} ${A[2]%.txt}", ""),
                ("${A[1]:-$SLURM_ARRAY_TASK_ID}", "${A[1]:-$JOB_COMPLETION_INDEX}"),
            )
        ),
        (f'{LISTS}srun bash -c "a ${{A[1]:-b}} ${{A[0]%.c}}"', f"{LISTS}a ${{A[1]:-b}} ${{A[0]%.c}}"),
        (f"{LISTS}B=${{A[-1]}}\na $B", f"{LISTS}a ${{A[-1]}}"),
        (f"{LISTS}B=z\nA+=($B)\nA[0]=y\na ${{A[1]}} ${{A[-1]}}", f"{LISTS}A+=(z)\nA[0]=y\na ${{A[1]}} ${{A[-1]}}"),
        ("mapfile -t A < b\na ${A[1]:-c} ${A[2]%.d}", "mapfile -t A < b\na ${A[1]:-c} ${A[2]%.d}"),
        (
            "A=()\nfor f in $(ls b); do A[${#A[@]}]=$f; done\na ${A[@]} ${#A[@]} ${A[1]}",
            'A=()\nfor f in $(ls b); do A[${#A[@]}]=$f; done\na ${A[@]} "${#A[@]}" ${A[1]}',
        ),
        (
            "A=()\nif b; then A[$((${#A[@]} + 1))]=d; fi\na ${A[@]}",
            "A=()\nif b; then A[$((${#A[@]} + 1))]=d; fi\na ${A[@]}",
        ),
        (
            "A=(x y)\nif b; then A=(u v w); fi\nc ${A[1]} ${A[-1]}",
            "A=(x y)\nif b; then A=(u v w); fi\nc ${A[1]} ${A[-1]}",
        ),
        (
            "declare -A M\nfor f in $(ls b); do M[$f]=1; done\nK=c\nM[d]=2\na ${M[$K]} ${M[d]}",
            "declare -A M=()\nfor f in $(ls b); do M[$f]=1; done\nM[d]=2\na ${M[c]} ${M[d]}",
        ),
    ],
)
def test_an_array_of_an_output_is_made_in_the_pod(body: str, expected: str) -> None:
    fields = job(script("-N 1", "--array=0-3", body=body, interpreter=BASH)).fields
    assert fields["command"] == ["bash", "-c", expected]


@for_each(
    "body",
    [
        "while ask; do jq --arg a 1 '{b: $a}' c; done\nsrun d",  # a variable of another language
        "mpirun -N 1 bash -c 'a; echo \"b | $C\"'",  # which is only shown
    ],
)
def test_a_variable_that_no_program_gets_needs_no_value(body: str) -> None:
    _, found = read(script(*NODE, body=body, interpreter=BASH))
    assert [one.message for one in found if "has no value in a pod" in one.message] == []


def test_a_loop_over_options_of_shifter_takes_no_arguments() -> None:
    body = "i=0\nwhile [ $i -lt 2 ]; do srun shifter -V b:/c a $i; i=$((i + 1)); done"
    assert command(body) == "a 0\na 1"


@for_each(
    ("body", "expected"),
    [
        ("n=0\nwhile [ $((n++)) -lt 2 ]; do a $n; done", "n=0\nwhile [ $((n++)) -lt 2 ]; do a $n; done"),
        ("if [ $(( $(df --output=b c) / 9 )) -lt 9 ]; then a; fi\nb", None),
        ("n=0\nif (( n++ > 1 )); then a; fi\nb $n", "n=0\nif (( n++ > 1 )); then a; fi\nb $n"),
        ("read k < b\na $((k++)) $((k++ * 2)) $k", "read k < b\na $(($k)) $((($k + 1) * 2)) $((($k + 1) + 1))"),
        ("F=(b*)\nread i < b\na ${F[i++]} $i", "F=(b*)\nread i < b\na ${F[$i]} $(($i + 1))"),
        ("F=(b*)\nread i < b\na ${F[$((($i + 1) % 2))]}", "F=(b*)\nread i < b\na ${F[($i + 1) % 2]}"),
    ],
)
def test_the_shell_of_a_pod_counts_what_only_it_knows(body: str, expected: str | None) -> None:
    text = job(script("-N 1", body=body, interpreter=BASH)).fields["command"]
    assert (text if isinstance(text, str) else text[-1]) == (expected or body)


@for_each(
    ("body", "expected"),
    [
        ("for f in *.c; do cat > b <<E\na \\$1 $f \\${WHO}_c\nE\nbash b 0; done", None),
        ("for f in *.c; do cat > b <<E\na \\$SLURM_ARRAY_TASK_ID\nE\nbash b 0; done", None),
        ("for f in *.c; do cat > b <<E\na \\$SLURM_NNODES\nE\nbash b; done", "a 1"),
        ("for f in *.c; do cat > b <<E\na \\$SLURM_JOB_ID\nE\nbash b; done", "a {{ run.id }}"),
        ("X=5\nfor f in *.c; do cat > b <<E\na \\$X $X\nE\nX=6 bash b; done", "a \\$X $X\nE"),
        ('for f in *.c; do printf -v X "%03d" 3; a $X; done', None),
    ],
)
def test_a_loop_has_what_it_escapes_and_prints(body: str, expected: str | None) -> None:
    made = job(script("-N 1", body=body, interpreter=BASH))
    text = made.fields["command"] if isinstance(made.fields["command"], str) else made.fields["command"][-1]
    assert (expected or body) in text
    assert made.obstacles == ()


ENDPOINT = "--nnodes 2 --rdzv_endpoint $(hostname):$(($SLURM_JOB_ID % 10000 + 20000))"


@for_each(
    "body",
    [
        f'T="{ENDPOINT}"\nsrun bash -c "torchrun $T a.py"',
        f'srun bash -c "torchrun {ENDPOINT} a.py"',
        f'export T="torchrun {ENDPOINT}"\nsrun bash -c "$T a.py"',
    ],
)
def test_a_text_of_bash_has_a_port_of_the_id(body: str) -> None:
    made = job(script("-N 2", "--gres=gpu:8", "--ntasks-per-node=1", body=body, interpreter=BASH))
    assert (made.fields["command"], made.obstacles) == ("torchrun a.py", ())


@for_each(
    ("body", "is_of_bash"),
    [
        ("srun a $((A ** 2)) ${B:0:2}", True),
        ("srun a $((-2 ** 2))", True),
        ("srun a ${B^^}", True),
        ("srun a $(bc <<< 1)", True),
        ("srun a $([[ $A ]] && b)", True),
        ("srun a ${B:-c}", False),
        ("srun a ${B:-/c,d} ${B##*/}", False),
        ("srun a $(<b) c+=d", True),
        ("srun bash -c 'if [ $(date +%H) == 0 ]; then a; fi; b'", True),
        ("srun a c+=d '[ a == b ]'", False),
        ("srun python - <<E\na.main()\nif [x == y]: echo = ['\\n']\nread -a\nE", False),
        ("for i in *.c; do a $i >& d; done", True),
        ("for i in *.c; do time a $i; done", True),
        ("for i in *.c; do a $i 2> >(b); done", True),
        ("for ((i = 0; i < $(b); i++)); do B[$i]=$i; done\nsrun a ${B[@]}", True),
        ("C=()\nfor ((i = 0; i < 99; i++)); do C+=($i); done\nsrun a ${C[@]}", True),
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
        ('srun bash -c "a \\$SLURM_PROCID ${N^^}"', "mpirun -x N=\"$N\" bash -c 'a $OMPI_COMM_WORLD_RANK ${N^^}'"),
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
        ("A=$((RANDOM % 9))\na $A --seed $RANDOM --id $RANDOM", "a $((RANDOM % 9)) --seed $RANDOM --id {{ run.id }}"),
        ("SEED=${SEED-$RANDOM}\na $SEED\nb $((SEED + 1))", "SEED=$RANDOM\na $SEED\nb $(($SEED + 1))"),
        ("export A=$((RANDOM % 9))\na $A\nb", "export A=$((RANDOM % 9))\na $A\nb"),
        ("while ask; do a --seed $RANDOM; done", "while ask; do a --seed $RANDOM; done"),
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
        ("cd x && a &\nb\nwait", "(cd x && a) &\nb\nwait", None),
        ("(cd data && a)\nb", "(cd data && a)\nb", None),
        ("(cd x; a)\nb", "cd x\na\ncd ..\nb", None),
        ("a\ncd x || exit 1\nb\n(c; d)\ncd ..\ne", "a\ncd x || exit 1\nb\nc\nd\ncd ..\ne", None),
        ("a\ncd x || { echo y; exit 2; }\nb", "a\ncd x || exit 2\nb", None),
        ("a\ncd x || exit $?\nb", "a\ncd x || exit $?\nb", None),
        ("a\n(cd x || exit 1; b)\nc", "a\n(cd x || exit 1; b)\nc", None),
        ("A=1:$A\na\ncd x && export A && b", "a\ncd x &&\nexport A=1:$A &&\nb", None),
        ("mkdir -p x && cd x && a\nb", "mkdir -p x &&\ncd x &&\na\nb", None),
        ("for i in x y; do srun bash -c 'cd d && a'; done\nb", "(cd d && a)\n(cd d && a)\nb", None),
        ("for i in x y; do cd $i && a && cd ..; done\nb", "cd x &&\na &&\ncd ../y &&\na &&\ncd ..\nb", None),
        ("a\ngit clone b/c && cd c\nd", "a\ngit clone b/c &&\ncd c\nd", None),
        ("a\npushd x && b && popd\nc", "a\ncd x &&\nb &&\ncd ..\nc", None),
        ("a\ncd x && srun b && srun c\nd", "a\ncd x &&\nb &&\nc\nd", None),
        ("srun bash -c 'cd x && a; b'", "cd x &&\na\nb", None),
        ("srun bash -c 'cd x && export C=1 && a'\nsrun b", "(cd x && C=1 a)\nb", None),
        ("a\ncd x && { b; c; }\nd", "a\ncd x &&\n(b; c)\nd", None),
        ("a\ncd x && srun bash -c 'b; c'\nd", "a\ncd x &&\n(b; c)\nd", None),
        ("a && bash -c 'b; c'\nd", "a &&\n(b; c)\nd", None),
        ("cd x\na\ncd ../y\nb", "cd x\na\ncd ../y\nb", None),
        ("cd /workspace/x\na\ncd y\nb", "a\ncd /workspace/x/y\nb", "/workspace/x"),
        ("srun bash -c 'cd x; a'\nsrun b", "cd x\na\ncd ..\nb", None),
        ("a\n(cd /workspace/x; b)\nc", "a\ncd /workspace/x\nb\ncd $OLDPWD\nc", None),
        ("a\n(cd /workspace/x && b)\nc", "a\n(cd /workspace/x && b)\nc", None),
        ("R=$(pwd)\ncd sub\na $R/x $PWD/y", "cd sub\na ../x ./y", None),
        ("cd sub\nR=$(pwd)\na $R/x\ncd ..\nb $R/x", "cd sub\na ./x\ncd ..\nb ./sub/x", None),
        ("a $(realpath x) $(dirname b/c) $(cd d && pwd)", "a ./x b ./d", None),
        ("mkdir -p logs\ncd /workspace\na", "mkdir -p logs\na", "/workspace"),
        ("cd /workspace\nmkdir -p x\na", "mkdir -p x\na", "/workspace"),
        ("cd x\nmkdir -p y\na", "cd x\nmkdir -p y\na", None),
        ("cd x\na\ncd ..\nmkdir -p y\nb", "cd x\na\ncd ..\nmkdir -p y\nb", None),
        ("cd $SCRATCH\na", "a", None),
        ("cd run_$SLURM_JOB_ID\na ../b\ncd ..\nc", "cd run_{{ run.id }}\na ../b\ncd ..\nc", None),
        ("cd ..\na $SLURM_SUBMIT_DIR/b", "SUBMIT_DIR=$PWD\ncd ..\na $SUBMIT_DIR/b", None),
        ("cd ..\na $SLURM_SUBMIT_DIR/../b", "cd ..\na ./b", None),
        ("R=$PWD\ncd ../x\na\ncd $R\nb", "cd ../x\na\ncd $OLDPWD\nb", None),
        ("cd ..\nif ask; then a $SLURM_SUBMIT_DIR/b; fi", IN_TEXT, None),
        ("n=$(a)\n(cd p/$n; b $n)\nc $n", "n=$(a)\ncd p/$n\nb $n\ncd $OLDPWD\nc $n", None),
        ("read -r n m < f\ncd p/$n\na\ncd ../..\nb $n", "read -r n m < f\ncd p/$n\na\ncd ../..\nb $n", None),
        ("cd $X/y\na\ncd ..\nb\ncd $SLURM_SUBMIT_DIR/z\nc", "a\nb\ncd z\nc", None),
        ("cd ..\ntrap 'a b' EXIT\nc\ncd $SLURM_SUBMIT_DIR", IN_TRAP, None),
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
        ("cd x && a", "cd x &&\na"),
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
        ("set -x -ou pipefail x y\na $@\nset -- -e z\na $1 $2\nset -\na $#\nset - u\na $1", "a x y\na -e z\na 2\na u"),
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
        ('bash -c \'b; exec "$0" "$@"\' python a.py 1', "b\npython a.py 1"),
        ('f() { if ask; then a "$@"; fi; }\nf $(which b) +k=v', 'set -- b +k=v\nif ask; then a "$@"; fi'),
        ('set -- 1 2\na $(b "$@" ${2:-3})\nc $(b $#)', 'set -- 1 2\na $(b "$@" ${2:-3})\nc $(b $#)'),
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


@for_each(
    ("body", "expected"),
    [
        ("W=/w\ntrap 'cp -r $W/o r' EXIT\na $W", "trap 'cp -r /w/o r' EXIT\na /w"),
        ("W=w_$SLURM_JOB_ID\ntrap 'b $W; rm $W' EXIT\na", "W=w_{{ run.id }}\ntrap 'b $W; rm $W' EXIT\na"),
        ("W=w\nf() { cp $W/o r; }\ntrap f EXIT\na", "f() { cp w/o r; }\ntrap f EXIT\na"),
        ("f() { rm -rf w; }\ntrap f EXIT\na", "a"),
    ],
)
def test_a_pod_ends_with_the_commands_of_a_trap(body: str, expected: str) -> None:
    assert command(body, "-N 1") == expected


def test_a_trap_is_not_a_program_of_mpirun() -> None:
    body = "srun bash -c 'trap a EXIT; b'"
    fields = job(script("-N 2", "--ntasks-per-node=2", body=body, interpreter=BASH)).fields
    assert fields["command"] == "trap a EXIT\nmpirun b"


def test_the_status_of_tasks_is_that_of_mpirun() -> None:
    made = job(script("-N 2", "--ntasks-per-node=2", body="srun bash -c 'a; S=$?; b; exit $S'", interpreter=BASH))
    assert (made.fields["command"], made.obstacles) == ("mpirun a\nS=$?\nmpirun b\nexit $S", ())


def test_a_name_with_a_sign_is_a_program_of_mpirun() -> None:
    fields = job(script("-N 2", "--ntasks-per-node=2", body="srun A=$SLURM_JOB_ID a", interpreter=BASH)).fields
    assert fields["command"] == "mpirun A={{ run.id }} a"


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
        (
            "a &\nb --pid $$ --port $((2000 + $$ % 100)) &\npkill -P $$",
            'a &\nb --pid "$$" --port $((2000 + $$ % 100)) &\npkill -P "$$"',
        ),
        ("a --name b-$$ --ppid=$$ /tmp/$$", 'a --name b-{{ run.id }} "--ppid=$$" /tmp/{{ run.id }}'),
        ("srun bash -c 'renice 5 $$; a --name $$'", 'renice 5 "$$"\na --name {{ run.id }}'),
        ("pkill -P $$\na", "a"),
    ],
)
def test_a_pause_and_an_end_behind_a_program_in_the_background_stay(body: str, expected: str) -> None:
    assert command(body, "-N 1") == expected


@for_each(
    "check",
    [
        "if [[ ! -f x ]]; then\necho none\nexit\nfi",
        "if [ ! -e x ] || [ ! -e y ]; then exit 0; fi",
        "[ -s x ] || exit",
        "test -f x || { echo none; exit 0; }",
        "if [ -f x ]; then A=1; else exit; fi",
        "if [ ! -f x ]; then echo none && exit 1; fi",
    ],
)
def test_a_check_of_files_does_not_end_the_script(check: str) -> None:
    made = command(f"a\n{check}\nb", "-N 1")
    assert made == "a\nb"


DIE = 'die() { echo "$*" >&2; exit 1; }\n'
CLEAN = "die() { rm -rf b; exit 2; }\n"


@for_each(
    ("body", "expected"),
    [
        (f"{DIE}a || die no\n[ ! -f x ] && die x\nb", "a || exit 1\nb"),
        (f"{DIE}srun a || die 'no; a'\ncd c || die c\nb", "a || exit 1\ncd c || exit 1\nb"),
        (f"{DIE}a\nif [ $? -ne 0 ]; then die no; fi\nb", "a || exit 1\nb"),
        (f"{DIE}module purge || die no\nsource x || die x\nb", "b"),
        (f"{DIE}fail() {{ die $1; }}\na || fail no\nb", "a || exit 1\nb"),
        (f"{DIE}for f in $(ls); do a $f || die x; done\nif [ ! -f x ]; then die x; fi\nb", "for f; do\nb"),
        (f"{DIE}for f in $(ls); do a $f || die x; done\n[ -f x ] || die x\nb", "for f; do\nb"),
        (f"{CLEAN}a || die no\nmodule purge || die\n[ -f x ] || {{ echo x; die x; }}\nb", f"{CLEAN}a || die no\nb"),
        (f"{CLEAN}a && die no\nb", f"{CLEAN}a &&\ndie no\nb"),
        ("a && exit 0\nb", "a &&\nexit 0\nb"),
        ("a && { echo b; exit 3; }\nb", "a &&\n{ echo b; exit 3; }\nb"),
    ],
)
def test_a_function_that_ends_the_script_ends_the_pod_where_the_script_says_so(body: str, expected: str) -> None:
    of_loop = f"{DIE}for f in $(ls); do a $f || die x; done"
    assert command(body, "-N 1") == expected.replace("for f; do", of_loop)


def test_a_script_ends_at_a_function_of_the_command() -> None:
    made = job(script("-N 1", body=f"{CLEAN}a || die no\n[ 1 = 1 ] && die 'no B'\nc", interpreter=BASH))
    assert [one.message for one in made.obstacles] == ["the script ends here with an error: no B"]


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


RUN = "run() { python a.py --f $1 --m $M; }\n"


@for_each(
    ("body", "expected"),
    [
        (
            f"{RUN}M=a\nfor F in $(ls); do run $F; done\nM=b\nfor F in $(ls x); do run $F; done",
            f"{RUN}M=a\nfor F in $(ls); do run $F; done\nM=b\nfor F in $(ls x); do run $F; done",
        ),
        (
            "run() { a $R; }\nfor ((R=1; R<3; R++)); do\nrun &\ndone\nR=0\nrun\nwait",
            "run() { a $R; }\nfor ((R=1; R<3; R++)); do\nrun &\ndone\nR=0\nrun\nwait",
        ),
        ("run() { a $M; }\nb && { M=c; run; }\nM=d\nrun", "run() { a $M; }\nb && { M=c; run; }\nM=d\nrun"),
        (
            f"{RUN}for M in a b; do for F in $(ls); do run $F; done; done",
            f"{RUN}M=a\nfor F in $(ls); do run $F; done\nM=b\nfor F in $(ls); do run $F; done",
        ),
        (
            f"{RUN}out() {{ run x; }}\nM=a\nb && {{ out; C=1; }}\nM=b\nout &\nc\nwait\n(M=c; run; d)\nout || exit 1",
            f"{RUN}out() {{ run x; }}\nM=a\nb && {{ out; C=1; }}\nM=b\nout &\nc\nwait\nM=c\nrun\nd\nM=b\nout",
        ),
        (
            "N=0\nrun() { a $N; N=$((N+1)); }\nfor F in $(ls); do run; done\nN=7\nrun\nb $N\nN=7\nrun",
            "run() { a $N; N=$((N+1)); }\nN=0\nfor F in $(ls); do run; done\nN=7\nrun\nb $N\nN=7\nrun",
        ),
        (
            "A=(b c)\nrun() { a ${A[@]}; }\nfor F in $(ls); do run; done\nA=(d)\nrun",
            "run() { a ${A[@]}; }\nA=(b c)\nfor F in $(ls); do run; done\nA=(d)\nrun",
        ),
        (
            "val() { curl $M; }\nM=a\nX=$(val)\nb $X $X\nM=c\nX=$(val)\nb $X $X",
            "val() { curl $M; }\nM=a\nX=$(val)\nb $X $X\nM=c\nX=$(val)\nb $X $X",
        ),
        (
            "run() { a $1; }\nfor F in $(ls); do run $F; done\nrun() { b $1; }\nfor F in $(ls); do run $F; done",
            "run() { a $1; }\nfor F in $(ls); do run $F; done\nrun() { b $1; }\nfor F in $(ls); do run $F; done",
        ),
        (  # values that no line changes
            f"M=a\n{RUN}for F in $(ls); do run $F; done",
            "run() { python a.py --f $1 --m a; }\nfor F in $(ls); do run $F; done",
        ),
        (
            "M=5\nrun() { local M=$1; a $M; }\nfor F in $(ls); do run $F; done\nb $M",
            "run() { local M=$1; a $M; }\nfor F in $(ls); do run $F; done\nb 5",
        ),
        (
            'run() { a "$@"; }\nmain() { for F in $(ls); do run $F $1; done; run "$@"; }\nmain x y',
            'run() { a "$@"; }\nfor F in $(ls); do run $F x; done\nrun x y',
        ),
    ],
)
def test_a_function_of_the_command_has_the_values_of_its_calls(body: str, expected: str) -> None:
    text = job(script("-N 1", body=body, interpreter="/bin/bash")).fields["command"]
    assert (text if isinstance(text, str) else text[-1]) == expected


@for_each(
    ("body", "expected"),
    [
        ("run() { a $1; }\nD=0 run b &\nD=1 run c &\nwait", "D=0 a b &\nD=1 a c &\nwait"),
        (
            "run() { mkdir -p x; a $M; D=3 b; }\nM=c\nD=1 M=d run\nrun",
            "mkdir -p x\nD=1 M=d a d\nM=d D=3 b\nmkdir -p x\na c\nD=3 b",
        ),
        (
            "run() { for F in $(ls); do a $F $N; done; b; }\nN=2 run\nN=3 run",
            "run() { for F in $(ls); do a $F $N; done; b; }\nN=2 run\nN=3 run",
        ),
    ],
)
def test_a_function_gets_the_variables_in_front_of_it(body: str, expected: str) -> None:
    assert command(body, "-N 1") == expected


@for_each(
    ("body", "expected"),
    [
        ("srun torchrun $(which b) c", "torchrun $(which b) c"),
        ('A="$(which b) c"\nsrun bash -c "torchrun --d $A"', "torchrun --d $(which b) c"),
        (
            "A=$(which b)\nfor i in *; do python $A $(which b); done",
            "for i in *; do python $(which b) $(which b); done",
        ),
        ("$(which sh) b\ntorchrun --no_python $(which sh) b", "sh b\ntorchrun --no_python $(which sh) b"),
        ("A=python\nB=$(which $A)\nmpirun $B a.py", "mpirun python a.py"),
        ("a $(which b)", "a b"),
    ],
)
def test_python_gets_the_path_of_a_program(body: str, expected: str) -> None:
    assert command(body, "-N 1") == expected


@for_each(
    "body",
    [
        "a --out b\nif [ -f b/c ]; then d; fi",
        "a --out=b\n[ -f ./b/c ] || exit 1\nd",
        "a b/c\n[ -s b/c ] && d",
        "mkdir -p b/c\na --out b/c\nD=x\nif [ ! -f b/c/d ]; then D=y; fi\ne $D",
    ],
)
def test_a_condition_about_a_file_of_an_earlier_program_stays(body: str) -> None:
    assert command(body, "-N 1") == body


@for_each(
    ("body", "expected"),
    [
        ("O='--b $n.yml'\nfor n in c d; do a $(eval echo $O); done", "a --b c.yml\na --b d.yml"),
        ("O='--b $n'\nn=$(cat /d/x)\na $(eval \"echo $O\")", "a --b $(cat /d/x)"),
        ("SECONDS=0\na\nb $SECONDS", "SECONDS=0\na\nb $SECONDS"),
        ("T=$SECONDS\na\nb $((SECONDS - T))", "T=$SECONDS\na\nb $(($SECONDS - $T))"),
        ("SECONDS=0\na\necho $SECONDS", "a"),
        (
            "B=$RANDOM\nfor i in 1 2; do export S=$((B + i)); srun a; done",
            "B=$RANDOM\nexport S=$(($B + 2))\nS=$(($B + 1)) a\na",
        ),
        ("B=$RANDOM\na run-$B", "a run-{{ run.id }}"),
    ],
)
def test_texts_that_a_shell_expands_twice_and_numbers_that_it_counts(body: str, expected: str) -> None:
    made = job(script("-N 1", body=body, interpreter=BASH)).fields["command"]
    assert made == (["bash", "-c", expected] if "SECONDS" in expected or "RANDOM" in expected else expected)


@for_each(
    ("options", "body"),
    [
        ("-N 1", "for i in 1 2; do a $i > /d/l.$i; grep -q c /d/l.$i && break; done\nb"),
        ("-N 1", "for i in 1 2; do a $i > l; if grep -q c l; then break; fi; done\nb"),
        ("-N 2", "for i in 1 2; do mpirun a $i > l; grep -q c l && break; done\nb"),
        ("-N 1", "a > l\nif grep -q c l; then b; else d; fi"),
        ("-N 1", "a > l\ngrep -q c l && b"),
    ],
)
def test_a_search_in_the_output_of_an_earlier_program_stays(options: str, body: str) -> None:
    made = job(script(options, body=body, interpreter=BASH)).fields
    assert (made["kind"], made["command"]) == ("mpi" if "mpirun" in body else "batch", body)


def test_a_loop_that_only_a_shell_ends_has_no_srun_for_one_task() -> None:
    body = "for i in 1 2; do srun a $i > l; grep -q c l && break; done"
    assert command(body, "-N 1") == body.replace("srun ", "")


def test_a_condition_about_a_file_before_its_program_is_decided() -> None:
    assert command("mkdir -p b\nif [ -f b/c ]; then D=--resume; fi\na --out b $D", "-N 1") == "mkdir -p b\na --out b"


@for_each(
    ("text", "expected"),
    [
        ("\n       c /a && d ||\n       make &&\n       make b\n", "c /a && d ||\nmake &&\nmake b"),
        ("\n  if c; then\n    make\n  fi", "if c; then\n  make\nfi"),
        ('\n  if c; then\n    echo "a\n    b" | d\n  fi', 'if c; then\n    echo "a\n    b" | d\n  fi'),
    ],
)
def test_constructs_of_a_shell_keep_no_indentation_of_its_text(text: str, expected: str) -> None:
    made = job(script("-N 1", body=f"srun bash -c '{text}'", interpreter=BASH)).fields
    assert made["command"] == expected


@for_each(
    ("lines", "expected"),
    [
        ("S=$(date +%s)\ncat <<EOF\n$S $(basename $0)\nEOF\na", "a"),
        ("cat <<'EOF'\n$S $(b)\nEOF\na", "a"),
        ("S=$(date +%s)\na\nE=$(date +%s)\ncat <<EOF\n$((E-S)) s\nEOF", "a"),
        ("cat <<EOF\n$(b)\nEOF\na", "cat <<EOF\n$(b)\nEOF\na"),
        ('A=x\na b > c | d "$A"_e "$A"', 'a b > c | d x_e "x"'),
        ('A=x\na \'"b"c\' | d "$A"_e', 'a \'"b"c\' | d "x"_e'),
        ("cat <<EOF | b\n$(date)\nEOF", "cat <<EOF | b\n$(date)\nEOF"),
    ],
)
def test_constructs_have_no_texts_and_quotes_that_do_nothing(lines: str, expected: str) -> None:
    assert job(script("-N 1", body=lines, interpreter=BASH)).fields["command"] == expected
