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
