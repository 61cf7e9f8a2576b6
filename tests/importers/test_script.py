"""Scripts are read as a shell would, and never run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.base.findings import Findings
from gen.importers.shell_script import commands
from tests.cases import for_each

if TYPE_CHECKING:
    from pathlib import Path


def read(text: str) -> tuple[list[list[str]], list[str]]:
    """Words of the commands after the program, and messages."""
    found = Findings()
    done = commands(text, "a.sh", "arena", found)
    words = [
        [word.text if word.unknown is None else f"?{word.unknown.reason}" for word in one.words[1:]] for one in done
    ]
    return words, [item.message for item in found]


@for_each(
    ("text", "words"),
    [
        ("arena a 'b c' \"d e\" f\\ g", ["a", "b c", "d e", "f g"]),
        ("arena a \\\n   b\\\nc", ["a", "bc"]),
        ('arena "a \\"b\\" \\$c \\\\ \\n"', ['a "b" $c \\ \\n']),
        ("arena 'a $b `c` \\n'", ["a $b `c` \\n"]),
        ("arena $'a\\nb'", ["a\nb"]),
        ('arena "a\nb"', ["a\nb"]),
        ("X=1\narena a-$X ${X}b \"$X c\" '$X'", ["a-1", "1b", "1 c", "$X"]),
        ("X=1 Y=$X$X\narena $Y", ["11"]),
        ("export X=1; readonly Y=2\narena $X $Y", ["1", "2"]),
        ("X='a  b'\narena $X \"$X\" c$X", ["a", "b", "a  b", "ca", "b"]),
        ('X=\narena a$X "$X" $X', ["a", ""]),
        ("X=(a 'b c')\nX+=(d)\narena \"${X[@]}\"", ["a", "b c", "d"]),
        ("X=a; X+=b\narena $X", ["ab"]),
        ("X=a Y=b\narena $X/$Y.c --d=$X-$Y/$X 'e'$X/$Y.f", ["a/b.c", "--d=a-b/a", "ea/b.f"]),
        ("X=a\narena $X/$Z.c", ["?`Z` is not set in the script, and gen does not read the environment"]),
        ("arena ${X:-y} ${X-z}", ["y", "z"]),
        ("X=1\narena ${X:-y}", ["1"]),
        ("arena a # b\n# arena c", ["a"]),
        ("sudo -E arena a", ["a"]),
        ("/usr/local/bin/arena a", ["a"]),
        ("A=1 arena a", ["a"]),
        ("set -e\ncd x\nARENA=arena\n$ARENA a", ["a"]),
        ("cat <<EOF\narena b\nEOF\narena a", ["a"]),
        ("#!/bin/bash\r\narena a", ["a"]),
        ('arena "训练 $X"\nX=1', ["?`X` is not set in the script, and gen does not read the environment"]),
        ("arena ~/a *.txt", ["~/a", "*.txt"]),
        ("arena a <<< x\\ y b", ["a", "b"]),
        ("$ arena a \\\n    b\nconfigmap/a created", ["a", "b"]),
        ("    $ arena a 'b c'", ["a", "b c"]),
        ('X=(a # the first\n b)\narena "${X[@]}"', ["a", "b"]),
    ],
)
def test_words_are_those_of_a_shell(text: str, words: list[str]) -> None:
    done, messages = read(text)
    assert done == [words]
    assert messages == []


@for_each(
    ("text", "reason"),
    [
        ("arena $(touch {marker})", "gen runs nothing, so the output of a command is not known"),
        ("arena `touch {marker}`", "gen runs nothing, so the output of a command is not known"),
        ("X=$(touch {marker})\narena a$X", "`X` is not known: gen runs nothing"),
        ("arena $((1 + 1))", "the value of this arithmetic expansion is not known without a shell"),
        ("arena $HOME", "`HOME` is not set in the script, and gen does not read the environment"),
        ("arena $1 $@", "`$1` is not known without a shell"),
        ("X=ab\narena ${{X%b}}", "`${{X%b}}` is not known without a shell"),
        ("for X in 1 2; do arena $X; done", "`X` is not known: a loop sets it"),
        ("if a; then X=1; fi; arena $X", "`X` is not known: a condition sets it"),
        ("f() {{ X=1; }}; arena $X", "`X` is not known: a function sets it"),
        ("a && X=1; arena $X", "`X` is not known: a condition sets it"),
        ("X=1; read X; arena $X", "`X` is not known: `read` sets it"),
        ("X=(a b); X[0]=c\narena ${{X[@]}}", "`X` is not known: an index sets a part of it"),
        ("X=([1]=a)\narena ${{X[@]}}", "`X` is not known: its words have an index"),
        ("X=(a $HOME)\narena ${{X[@]}}", "`X` is not known: `HOME` is not set in the script"),
        ("X=a; X+='b c'\\=d\narena $X", "`X` is not known: gen cannot read its value"),
        ("arena [ [ a", "gen cannot find the end of this word"),
        ("X=1\narena ==$X\narena b ]]", "gen cannot find the end of this word"),
        ("arena a ==\nb", "gen cannot find the end of this word"),
        ("arena a =~ # c\nb", "gen cannot find the end of this word"),
        ("arena a \\ #b c", "gen cannot find the end of this word"),
        ('arena "a"\\ #b', "gen cannot find the end of this word"),
        ("X=(a \\ #b\n c)\narena ${{X[@]}}", "`X` is not known: gen cannot find the end of this word"),
        ("arena a$=b", "gen cannot find the end of this word"),
        ("arena a-{{b,c}}", "braces expand to several words"),
        ("arena <(touch {marker})", "the value of this process substitution is not known without a shell"),
    ],
)
def test_a_value_that_only_running_gives_is_not_known(text: str, reason: str, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    (words,) = read(text.format(marker=marker))[0]
    assert f"?{reason.format()}" in next(word for word in words if word.startswith("?"))
    assert not marker.exists()


@pytest.mark.parametrize("text", ["arena a > log \\ ", "arena a > log \\ b", "arena a > log \\ \\\n#x"])
def test_an_escaped_space_behind_a_redirection_is_refused(text: str) -> None:
    done, messages = read(text)
    assert done == []
    assert "gen cannot read the escaped space behind the redirection of this command" in messages


@for_each(
    ("text", "construct"),
    [
        ("arena a | tee log", "a pipe"),
        ("arena a > log 2>&1", "a redirection"),
        ("arena a < input", "a redirection"),
        ("arena a && echo done", "a condition"),
        ("while true; do arena a; done", "a loop"),
        ("if x; then arena a; fi", "a condition"),
        ("case x in y) arena a;; esac", "a condition"),
        ("f() { arena a; }", "a function"),
        ("(arena a)", "a subshell"),
        ("X=$(arena a)", "a substitution"),
    ],
)
def test_a_construct_around_a_command_is_reported(text: str, construct: str) -> None:
    done, messages = read(text)
    assert done == [["a"]]
    assert f"the command is in {construct}, which gen ignores: it is imported once" in messages


def test_a_line_that_is_cut_off_is_an_error() -> None:
    done, messages = read("arena a\n  --image=b/c:1 \\\n  --gpus=1")
    assert done == [["a"]]
    assert messages == ["`--image=b/c:1` is not a program, and the line before it ends without `\\`"]
    assert read("-x\narena a")[1] == []


@for_each(
    ("text", "placeholder", "column"),
    [
        ("arena a --token=<TOKEN> b", "<TOKEN>", 17),
        ("arena a --token=<YOUR TOKEN> \\\n  --name=<NAME>", "<YOUR TOKEN>", 17),
        ("arena a --image <IMAGE>:1", "<IMAGE>", 17),
        ("arena a --token='<TOKEN>'", "", 0),
        ("arena a <in >out", "", 0),
        ("arena a <in>out", "", 0),
    ],
)
def test_an_unquoted_placeholder_is_named(text: str, placeholder: str, column: int) -> None:
    found = Findings()
    done = commands(text, "a.sh", "arena", found)
    errors = [one for one in found if one.is_error]
    expected = [f"`{placeholder}` is a placeholder, which a shell reads as redirections"] if placeholder else []
    assert ([one.message for one in errors], [one.place.column for one in errors]) == (
        expected,
        [column] * len(expected),
    )
    assert len(done) == (0 if placeholder else 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("arena a > log b 2>&1 c 2>&- 'd e' &>>log", ["a", "b", "c", "d e"]),
        ("true | arena a > 'x y' b", ["a", "b"]),
        ("arena a <<EOF b\ntext\nEOF\n", ["a", "b"]),
    ],
)
def test_words_behind_a_redirection_are_kept(text: str, words: list[str]) -> None:
    done, messages = read(text)
    assert done == [words]
    assert "the command is in a redirection, which gen ignores: it is imported once" in messages


@pytest.mark.parametrize("text", ["eval 'arena submit x'", "bash -c 'arena submit x'", "echo x | xargs arena submit x"])
def test_a_command_in_a_text_is_reported(text: str) -> None:
    done, messages = read(text)
    assert done == []
    assert any("runs a text as a command" in message for message in messages)


def test_a_file_that_is_read_in_is_reported() -> None:
    assert read("source common.sh\n. other.sh\narena a") == (
        [["a"]],
        [f"gen does not read `{name}.sh`, so the variables that it sets are not known" for name in ("common", "other")],
    )


def test_places_are_lines_and_columns_of_characters() -> None:
    found = Findings()
    (one,) = commands("# ü\necho ü; arena a 'ü' b\n", "a.sh", "arena", found)
    assert [(word.text, str(word.place)) for word in one.words[1:]] == [
        ("a", "a.sh:2:15"),
        ("ü", "a.sh:2:17"),
        ("b", "a.sh:2:21"),
    ]


@pytest.mark.parametrize("text", ["arena a 'b\n", "arena submit (", "if arena a"])
def test_invalid_syntax_is_an_error(text: str) -> None:
    assert "invalid shell syntax" in read(text)[1]


def test_a_command_that_the_grammar_takes_for_a_value_is_reported() -> None:
    assert read("X=\\ \narena b") == ([], ["gen cannot find the end of this value"])
    assert read("X=\\ \\\nb\narena $X") == ([["b"]], [])


@for_each("word", ["$=", "$=$X", "a$=b", "$,", '"a"$=$X', "$/a"])
def test_a_dollar_that_the_grammar_cannot_read_is_not_called_invalid(word: str) -> None:
    found = Findings()
    commands(f"arena {word} b\n", "a.sh", "arena", found)
    (finding,) = found
    assert finding.is_error
    assert (finding.message, finding.hint) == (
        "gen cannot read a `$` before this character",
        "quote the word, or write `\\$`",
    )


def test_a_long_list_of_commands_is_read() -> None:
    done, _ = read(" && ".join(["echo a", "A=a", "arena a 'ü'"] * 400))
    assert len(done) == 400


def test_a_script_may_be_nested_deeply() -> None:
    depth = 400
    done, _ = read("( " * depth + "arena a" + " )" * depth)
    assert done == [["a"]]


@pytest.mark.slow  # up to the limit of a text
@pytest.mark.parametrize(
    "doubled", ["X=abcdefgh\n" + "X=$X$X\n" * 60, "X=(a b)\n" + 'X=("${X[@]}" "${X[@]}")\n' * 60], ids=["text", "array"]
)
def test_variables_that_double_end_in_a_finding(doubled: str) -> None:
    ((word,),), _ = read(f"{doubled}arena $X")
    assert word.startswith("?`X` is not known: ")


def test_an_open_brace_with_many_commas_takes_linear_time() -> None:
    """In quadratic time, the test would take hours."""
    ((word,),), _ = read("X=1\narena a$X{" + "," * 1_000_000)
    assert word.startswith("a1{")
