"""Programs in the background: a pod waits for those that the script waits for, and ends those that it ends."""

from __future__ import annotations

from tests.cases import for_each
from tests.importers.slurm.test_slurm import BASH, read, script
from tests.importers.slurm.test_steps import command

NODE = ("-N 1",)
SERVED = "a &\nS=$!\nb &\nT=$!"
WAITS = (
    "while [ ! -f p ]; do sleep 1; done",
    "until [ -e p ]; do sleep 1; done",
    "while [ -f lock ]; do sleep 1; done",
    "until grep -q ready a.log; do sleep 1; done",
    "for i in $(seq 60); do\n  curl -s b && break\n  sleep 5\ndone",
    "while true; do\n  if [ -f p ]; then break; fi\n  sleep 5\ndone",
)


@for_each(
    ("body", "expected"),
    [
        ("a &\nP=$!\n(sleep 60; kill $P) &\nwait $P", "a"),
        ("a &\nb &\nwait", "a &\nb &\nwait"),
        ("srun bash -c 'a; b' &\nc", "(a; b) &\nc"),
        ("f() { a; b && c; }\nf &\n(d; e) &\nwait", "(a; b && c) &\n(d; e) &\nwait"),
        ("(a; (b; c) & d || exit 1; e)\ng", "(a; (b; c) & d || exit 1; e)\ng"),
        (f"(a; b {'b' * 110}) &\nc", f"(\n  a\n  b {'b' * 110}\n) &\nc"),
        ("a &\nP=$!\nb\nkill $P\nwait $P\nc", "a &\nP=$!\nb\nkill $P\nwait\nc"),
        ("P=()\nfor i in 1 2; do a $i & P+=($!); done\nfor p in ${P[@]}; do wait $p; done\nb", "a 1 &\na 2 &\nwait\nb"),
        ("P=()\nfor i in 1 2; do a $i & P+=($!); done\nwait ${P[@]}\nb", "a 1 &\na 2 &\nwait\nb"),
        ("for i in *.c; do a $i & done\nwait\nb", "for i in *.c; do a $i & done\nwait\nb"),
        ("for i in *.c; do a $i > d 2>&1; done\nwait\nb", "for i in *.c; do a $i > d 2>&1; done\nb"),
        ("a &\nb &\nwait $!", 'a &\nb &\nwait "$!"'),
        (f"{SERVED}\nwait $T\nrc=$?\nkill $S\nexit $rc", f"{SERVED}\nwait $T\nrc=$?\nkill $S\nexit $rc"),
        (f"{SERVED}\nwait $T || exit 1\nwait $S && c\nd", f"{SERVED}\nwait $T || exit 1\nwait $S &&\nc\nd"),
        (f"set -e\n{SERVED}\nwait $S\nwait $T\nc", f"set -e\n{SERVED}\nwait $S\nwait $T\nc"),
        (f"nvidia-smi -l 1 > log &\nM=$!\n{SERVED}\nkill $M\nwait $M $T\nc", "a &\nb &\nT=$!\nwait $T\nc"),
        (f"nvidia-smi -l 1 > log &\nM=$!\n{SERVED}\nkill $S $M\nwait $M\nc", "a &\nS=$!\nb &\nkill $S\nc"),
        (f"{SERVED}\nwait $S $T\nc", "a &\nb &\nwait\nc"),
        ('P=""\nfor i in 1 2; do a $i & P="$P $!"; done\nwait $P\nb', "a 1 &\na 2 &\nwait\nb"),
        (f"{SERVED}\ndeclare -A P\nP[x]=$T\nwait ${{P[x]}}\nc", "a &\nb &\nT=$!\nwait $T\nc"),
        ("a &\nb &\nfor p in $(jobs -p); do wait $p; done", "a &\nb &\nfor p in $(jobs -p); do wait $p; done"),
        ("declare -A P\na & P[x-1]=$!\nb & P[x.1]=$!\nwait ${P[x-1]}\nc", "a &\nP_x_1=$!\nb &\nwait $P_x_1\nc"),
        ("declare -A P\na & P[x-1]=$!\nb & P[x.1]=$!\nkill ${P[x.1]}\nc", "a &\nb &\nP_x_1_0=$!\nkill $P_x_1_0\nc"),
        ('declare -A P\na & P["x"]=$!\nb &\nwait "${P[x]}"\nc', 'a &\nP_x=$!\nb &\nwait "$P_x"\nc'),
        (
            "for i in $(seq 0 1); do a $i & P[$i]=$!; done\nfor p in ${P[*]}; do wait $p; done",
            "a 0 &\nP_0=$!\na 1 &\nP_1=$!\nwait $P_0 $P_1",
        ),
        ("a &\nP=$!\nb\nS=$?\nkill $P\nexit $S", "a &\nP=$!\nb\nS=$?\nkill $P\nexit $S"),
        ("b\nS=$?\necho $S\nexit $S", "b"),
        ("S=0\nwhile ask; do a || S=$?; done\nexit ${S}", "S=0\nwhile ask; do a || S=$?; done\nexit $S"),
    ],
)
def test_a_pod_waits_as_the_script_does(body: str, expected: str) -> None:
    assert command(body) == expected


@for_each("loop", WAITS)
def test_a_wait_for_a_program_in_the_background_stays(loop: str) -> None:
    jobs, found = read(script(*NODE, body=f"a &\n{loop}\nc"))
    assert (jobs[0].fields["command"], found) == (f"a &\n{loop}\nc", [])


@for_each(
    ("body", "line", "message"),
    [
        (
            "while [ ! -f x ]; do sleep 1; done\na",
            4,
            "the wait of `while` is not carried: no program in the background",
        ),
        ("for i in 1 2; do a && break; done\nb", 4, "the rest of the loop is not carried: it starts the program again"),
        ("{ conda create -n a; } &\nwait\nb", 4, "`conda create -n a` is not carried: a container has an"),
        ("a &\nb &\nkill %1\nc", 6, "`kill %1` is not carried: gen does not know which program"),
        ("a &\nb &\nc\nwait %1", 7, "`wait %1` is not carried: the pod waits for all programs"),
        ("a &\npkill -f a\nc", 5, "`pkill -f a` is not carried: gen does not know which program"),
    ],
)
def test_a_program_that_gen_does_not_know_is_named(body: str, line: int, message: str) -> None:
    _, found = read(script(*NODE, body=body, interpreter=BASH))
    assert [one for one in found if one.place.line == line and one.message.startswith(message)], found


def test_launchers_that_run_at_the_same_time_in_a_pod_keep_their_ports() -> None:
    body = "torchrun --nproc_per_node=2 --master_port=2 a &\ntorchrun --nproc_per_node=2 --master_port=3 b"
    assert command(body, "-N 1", "--gres=gpu:2") == body.replace("--nproc_per_node=2 ", "")
    assert command(body.replace(" &", ""), "-N 1", "--gres=gpu:2") == "torchrun a\ntorchrun b"


def test_the_programs_of_a_step_share_its_gpus() -> None:
    body = "srun -n1 --gpus=1 bash -c 'a; b' &\nsrun -n1 --gpus=1 bash -c 'c; d' &\nwait"
    own = "(CUDA_VISIBLE_DEVICES={0} {1}; CUDA_VISIBLE_DEVICES={0} {2}) &"
    assert command(body, "-N 1", "--gres=gpu:2") == f"{own.format(0, 'a', 'b')}\n{own.format(1, 'c', 'd')}\nwait"
