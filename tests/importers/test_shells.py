"""gen reads the same words as the shells of this machine, or reports that it cannot."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Final

import pytest

from gen.base.shell_script import assigned_in, nodes_below, syntax_tree
from gen.importers.slurm.bash_text import integer
from gen.importers.slurm.shells import needs_bash
from tests.cases import for_each
from tests.importers.test_script import read

if TYPE_CHECKING:
    from pathlib import Path

ORDINARY: Final = r"""
==2.3 ==$X =$X =2.3 = == =~ === =a =a=b a=b a==b a=$X a==$X --a=b --a==b torch==2.3 "torch>=2" torch~=2 torch!=2 !=
!=2 ~=2 ! !a % %a 100% + +a - -a @ a@b a@b:/c , a,b : a:b ^a ~/a . .. ... / a/b *.txt a* a?b [ ] [a-z] [!a] {} {a} {{a}}
a{b}c a=b=c a.b=c a-b=c a+=1 +=1 -=1 *= /=b _=1 1=2 A=B if then do done esac in select time function 1 1.5 -1 1e-4 10#2
a#b \#a \=a a\=b "a"\=b $X\=a \== \$ \$X "a"\$b a\ b \ a a\  "a"\ b \* \\ \' \" \; "$X"=b 'a b'c"d e"f '' "" a""
''a $ a$ =$ $X$ $X.0 ==$X.0 "$X"==2 ==${X}.0 'a'==$X é é=1 =é 训练=1 a=~/b =~/b --a=~ http://a/b?c=d%20e s/a/b/ a:=b
-=a =/ =- =. =@ =% =+ ={a}
"""
PARTS: Final = r"""
= == =~ a 1 . , : / @ % + - -- _ ! != ^ ~ { } [ ] $X ${X} "$X" 'q' "q r" \= \$ \  $ * é += if "" '' \\ b= "$Y" $Y
"""
INTEGERS: Final = """
1+2 2*(3-5) -7/2 7/-2 -7%3 7%-3 8/2 7%7 1<2 2>=3 3==3 3!=3 -(4) 9223372036854775807*2 4611686018427387904 1/0 5%0 7//2
2**3 1_000 1<<3 --1 010 08 00 0 10#010 10#08+1 10#0 -010 10 1010 0x10 16#10 2#010 110#1 10#10#1 10# 7/010
"""


def test_integers_are_those_of_bash() -> None:
    for text in INTEGERS.split():
        done = subprocess.run(["bash", "-c", f"echo $(({text}))"], capture_output=True, text=True, check=False)
        known = integer(text)
        assert known is None or str(known) == done.stdout.strip(), text
    assert [integer(text) for text in ("-7/2", "-7%3", "1/0", "9223372036854775807*2")] == [-3, -1, None, None]
    assert [integer(text) for text in ("010", "08", "10#010", "10#08+1")] == [8, None, 10, 9]


START: Final = "X=v\nY='m n'\n"
ARGUMENT: Final = "arena a {} b"
LINE: Final = "arena a \\\n  {} \\\n  b"
VALUE: Final = 'Z=a{}\narena a "$Z" b'
ARRAY: Final = 'Z=()\nZ=(a {} b)\narena "${{Z[@]}}"'


def in_a_shell(shell: str, text: str, folder: Path) -> list[list[str]]:
    """The words of each command `arena` that a shell runs."""
    program = "arena() { printf '%s\\0' \"$@\"; printf '\\n\\0'; }\n"
    done = subprocess.run(
        [shutil.which(shell) or shell],
        input=(program + text).encode(),
        capture_output=True,
        cwd=folder,
        env={"HOME": "~", "LC_ALL": "C.UTF-8"},
        check=False,
    )
    commands: list[list[str]] = [[]]
    for word in done.stdout.decode().split("\0")[:-1]:
        if word == "\n":
            commands.append([])
        else:
            commands[-1].append(word)
    return commands[:-1]


def split(line: str) -> list[str]:
    """The words of a line: spaces in quotes and behind a backslash do not end them."""
    return re.findall(r"(?:\\.|'[^']*'|\"[^\"]*\"|\S)+", line)


@pytest.mark.parametrize(("shell", "form"), [("sh", ARGUMENT), ("sh", LINE), ("bash", ARGUMENT), ("bash", ARRAY)])
def test_ordinary_words_are_those_of_a_shell(shell: str, form: str, tmp_path: Path) -> None:
    given = [word for word in split(ORDINARY) if not (form == ARRAY and word[0] in "[$")]  # such as an index
    text = START + "".join(form.format(word) + "\n" for word in given)
    wanted = in_a_shell(shell, text, tmp_path)
    done, messages = read(text)
    assert dict(zip(given, done, strict=True)) == dict(zip(given, wanted, strict=True))
    assert messages == []


@pytest.mark.slow
@for_each("form", [ARGUMENT, VALUE, ARRAY])
@for_each("seed", range(4))
def test_other_words_are_those_of_a_shell_or_refused(seed: int, form: str, tmp_path: Path) -> None:
    chance = random.Random(seed)  # noqa: S311 - cases of a test
    parts = split(PARTS)
    right = 0
    for _ in range(60):
        word = "".join(chance.choice(parts) for _ in range(chance.randint(1, 4)))
        text = START + form.format(word) + "\n"
        done, messages = read(text)
        wanted = in_a_shell("bash", text, tmp_path)
        if wanted and not messages and not any(one.startswith("?") for command in done for one in command):
            assert done == wanted, word
            right += 1
    assert right > 40


@for_each(
    ("text", "names"),
    [
        ("a=1 b+=2\nc[1]=3", ["a", "b", "c"]),
        ("if x; then a=1 python t.py; fi", ["a"]),
        ("export a=1 b=2; let c=3; ((d=4))", ["a", "b", "c", "d"]),
        ("for a in 1; do read -r b c; done", ["a", "b", "c"]),
        ("for a in 1; do python t.py a=$a lr=0.1 -- c=1; done", ["a"]),
        ("env a=1 torchrun \\\n  b=$(c=1; echo $c) | tee d=1", ["c"]),
        ("echo 'é' a=1; b=2", ["b"]),
    ],
)
def test_arguments_assign_nothing(text: str, names: list[str]) -> None:
    assert assigned_in(text) == names


@for_each(
    ("text", "env"),
    [
        ("A=1 B=2\nC=3\npython a.py", 0),
        ('A="x y"\tB=2\n\n# c\nC=3 D=4 python a.py', 2),
        ("A=1 \\\n  B=2 python a.py", 2),
        ("A=1\nB=2 C=3 python a.py", 2),
    ],
)
def test_assignments_of_a_line_are_not_those_of_a_later_program(text: str, env: int) -> None:
    (command,) = nodes_below(syntax_tree(text.encode()), "command")
    assert [one.type for one in command.children].count("variable_assignment") == env


@for_each(
    ("text", "programs"),
    [
        ("a | b -c | d\ne f\n[ -d g ] || h\ni", "abdehi"),
        ("A=1 B=2\nC=3\nif [ -d g ]; then h; fi\ni", "hi"),
        ("a | b | c # d\ne\n[ -d g ] && h\n# j\ni", "abcehi"),
        ("a \\\n  b\nc", "ac"),
    ],
)
def test_each_line_is_a_command_of_its_own(text: str, programs: str) -> None:
    found = [one.text for one in nodes_below(syntax_tree(text.encode()), "command_name")]
    assert b"".join(one or b"" for one in found).decode() == programs


OF_BASH: Final = r"""
[ a == a ] && echo y
if [ "$X" == "" ]; then echo y; fi
test a == a && echo y
[ -v HOME ] && echo y
[ ! -v NONE ] && echo y
echo $(<f)
echo "$( < f)"
echo `<f`
echo $'a\tb'
x=$'a\tb'; echo $x
echo $"a"
echo $[1+2]
echo >&f2 hi; cat f2
echo a >& f3; cat f3
n=f; echo a >& $n; cat f
echo a &> f5; sleep 0.1; wc -c f5
echo a > >(cat); sleep 0.1
exec 10>f4; echo a >&10; cat f4
exec {fd}>f4; echo a >&$fd; cat f4
echo -e "a\tb"
echo -ne "a\tb"
x=1; echo "a\tb" > f7; cat f7
echo 'a\\b'
printf -v x %03d 3; echo $x
printf "%q" "a b"
printf '%(%Y)T' 0
printf "\x41"
sleep 0.1 & wait -n; echo $?
trap 'echo E' ERR; false
trap 'echo E' SIGTERM; echo $?
sleep 1 & kill -SIGTERM $!; echo $?
sleep 1 & kill -s SIGTERM $!; echo $?
ulimit -u > f; echo $?
type -t ls; echo $?
set -o pipefail; echo $?
set -euo pipefail; echo $?
set -T; echo $?
set +H; echo $?
set -o errtrace; echo $?
exec -a x echo y
export -n HOME; echo $?
typeset x=1; echo $x
declare -i x=1; echo $x
f() { local -r x=1; echo $x; }; f
case b in [^a]) echo y;; esac
echo {1..3}
echo {a,b}
echo $((2**3))
x=1; echo $((x++))
echo $((1,2))
echo $((16#ff))
echo ${HOME:1}
set -- a b c; echo ${@:2}
set -- a b c; echo "${@: -1}"
x=abc; n=1; echo ${x:n}
x=abc; n=1; echo ${x:$n:1}
x=abc; echo ${x^} ${x@Q}
x=abc; echo ${x/a/b}
x=abc; echo ${x//a}
x=abc; y=x; echo ${!y}
a=(1 2); echo ${a[1]} ${#a[@]}
a[0]=1; echo $?
echo ${#RANDOM}
echo ${SECONDS}y
echo ${EUID}y
echo ${OSTYPE:+y}
echo ${LINENO}
echo ${BASH_VERSION:+y}
. f.sh q
source ./f.sh
function f { echo y; }; f
f-x() { echo y; }; f-x
for ((i=0;i<2;i++)); do echo $i; done
((1)) && echo y
case a in a) echo y;& b) echo z;; esac
echo a |& cat
cat <<< a
cat <(echo a)
read < f; echo $REPLY
read -a x < f; echo $x
read -d '' x < f; echo $x
while read -r -n 1 x; do echo $x; done < f
read -t 1 x < f; echo $x
IFS=$'\n'; x="a b"; for i in $x; do echo $i; done; echo "$IFS"
let x=1; echo $x
x=a; x+=b; echo $x
[[ a ]] && echo y
shopt -s nullglob; echo $?
pushd / > f; pwd
dirs
builtin echo a
sleep 0 & disown; echo $?
mapfile -t x < f; echo $x
compgen -A function; echo $?
set -e; trap "rm -f x; echo y" EXIT ERR; echo a
while true; do time sleep 0; break; done 2> f; grep -c real f
"""
"""Lines that `sh` of Debian and Ubuntu does not run as bash does."""
OF_BOTH: Final = r"""
[ a = a ] && echo y
[ -n a -a 1 -eq 1 ] && echo y
[ ! a = b -o c = d ] && echo y
[ a \< b ] && echo y
[ f -nt /etc/passwd ] && echo y
n=2; echo a >&$n
echo a >&2
echo a > f 2>&1; cat f
exec 3>f4; echo a >&3; cat f4
exec 3>&-; echo a
echo -n a
echo "a b" c; grep "\bb" f
x=2; echo $((x*2)),$((x*2+1))
echo "a \"b\" \$c"
printf "%b" "a\tb"
printf '%s\n' 'a\nb' "-e"
printf "%5.2f %d%%\n" 3 4
trap 'echo E' EXIT TERM INT
trap 'SIGTERM=1; echo ERR' EXIT
sleep 1 & kill -TERM $!; echo $?
ulimit -n 64; ulimit -c 0; ulimit -Sn; echo $?
command -v ls
set -eu; echo $?
set -- -T -H; echo $1
export -p > f; echo $?
f() { local x=1 y=2; echo $x$y; }; f
B="x y"; export A=$B; echo "$A"
case b in [!a]) echo y;; esac
case a.b in a|*.b) echo y;; esac
x=1; echo $((x+=1)) $x $((010 + 0x1f)) $((1 ? 2 : 3))
echo $(( (1+1)*2 )) $((1<<3)) $((1>0))
x=a/b,c; echo ${x#*/} ${x%,*} ${#x} ${x:+1} ${y:-/d,e} ${y:=3@} ${y:?a} ${z-/a^b}
true && echo ${PPID:+y} $# "$*" $- | cut -c1
! false && echo y
. ./f.sh
f() ( echo y ); f
f_1() if true; then echo y; fi; f_1
case a in (a) echo y;; esac
echo a >| f5; cat f5
read -r x < f; echo $x
while IFS=, read -r a b; do echo "$a"; done < f
wait; echo $?
cd -P /; pwd
cat <<E
cd ~; umask 022; hash -r; echo $?
x=1 y=2; echo "$x$y" 'a == b' '[ a == b ]' 'a+=b' "a[0]"
echo a # [[ x ]]; source y, if a == b
if true; then # it is [[
cat ./time; echo --time; x=time; echo time-out; echo $x
for x in --test == --read -a; do echo $x; done
awk 'BEGIN { x = "a"; if (x == "a") print ++i, $1 ** 2 }'
grep -v "^a$" f
wc -c < f
"""


@for_each("line", [*OF_BASH.strip().split("\n")])
def test_a_command_has_bash_where_sh_does_something_else(line: str, tmp_path: Path) -> None:
    assert needs_bash(line, ())
    assert _is_read_alike(line, tmp_path) is not True


@for_each("line", [*OF_BOTH.strip().split("\n")])
def test_a_command_has_sh_where_it_does_the_same(line: str, tmp_path: Path) -> None:
    assert not needs_bash(line, ())
    assert _is_read_alike(line, tmp_path) is not False


def _is_read_alike(line: str, folder: Path) -> bool | None:
    """Whether `dash` and bash show the same; None if one is not installed."""
    shown = []
    for shell in ("dash", "bash"):
        here = folder / shell
        here.mkdir()
        (here / "f").write_text("a b\n")
        (here / "f.sh").write_text('echo "src $1"\n')
        try:
            done = subprocess.run(
                [shell, "-c", line], cwd=here, capture_output=True, stdin=subprocess.DEVNULL, check=False
            )
        except FileNotFoundError:
            return None
        shown.append(done.stdout)
    return shown[0] == shown[1]
