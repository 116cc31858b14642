"""Hostile programs and large inputs end soon, with a result or as unknown; models never raise."""

from __future__ import annotations

import random

import pytest
from real_tools import check_commands
from timing import within

from botlint.shell.commands import MODELS, sed_in_place

LONG_LINE = "a" * 300_000
MANY_LINES = "ab cd ef\n" * 30_000


@pytest.mark.parametrize(
    ("name", "args", "stdin"),
    [
        ("sed", [":a;ba"], "x"),
        ("sed", [":a;s/^/a/;ta"], "x"),
        ("sed", [":a;s/.*/&&/;ta"], "x"),
        ("sed", ["G;G;G;h;G;G;h;G;G;h"], MANY_LINES),
        ("sed", ["-E", "s/(a+)+b/x/"], LONG_LINE),
        ("sed", ["s/a/" + "b" * 1_000 + "/g"], LONG_LINE),
        ("sed", ["s/a*a*a*a*a*b//"], LONG_LINE),
        ("sed", ["p;" * 5_000], "x\n"),
        ("sed", ["{" * 5_000], "x\n"),
        ("grep", ["-E", "(a|aa)+(a|aa)+b"], LONG_LINE),
        ("grep", ["-o", "a"], LONG_LINE),
        ("grep", ["-ow", "a*"], LONG_LINE),
        ("grep", ["-P", "(a+)+b"], LONG_LINE),
        ("grep", ["-P", "((a|b)*c)*d"], LONG_LINE),
        ("grep", ["-P", ".*.*.*.*b"], LONG_LINE),
        ("grep", [r"\(a*\)*\1b"], LONG_LINE),
        ("grep", ["-c", "z"], MANY_LINES),
        ("grep", ["-n", "-C", "5", "cd"], MANY_LINES),
        ("awk", ["BEGIN{while(1)x++}"], ""),
        ("awk", ["BEGIN{for(;;);}"], ""),
        ("awk", ['BEGIN{x="a";while(1)x=x x}'], ""),
        ("awk", ["BEGIN{" + "(" * 3_000 + "1" + ")" * 3_000 + "}"], ""),
        ("awk", ["BEGIN{print " + "-" * 3_000 + "1}"], ""),
        ("awk", ["BEGIN{while(1)print 1}"], ""),
        ("awk", ["{print $1000000}"], "x"),
        ("awk", ["{$1000000=1}"], "x"),
        ("awk", ['BEGIN{x=sprintf("%9999d",1); for(i=0;i<9;i++) x=x x x; print x}'], ""),
        ("awk", ['{gsub(/a*/,"xxxxxxxxxxxxxxxxxxxx")}1'], LONG_LINE),
        ("awk", ["-F", "(a*)*b", "{print $2}"], LONG_LINE),
        ("awk", ["/" + "[[:a:]" * 3_000], "x"),
        ("awk", ["{n+=$2} END{print n}"], "a 1\n" * 100_000),
        ("jq", ["def f: f; f"], "1"),
        ("jq", ["[range(1000000)]|length"], "1"),
        ("jq", ["[range(2000)]|map([range(2000)])"], "1"),
        ("jq", ['reduce range(100) as $i ("a"; .+.)'], "1"),
        ("jq", ["(" * 3_000], "1"),
        ("jq", ["[" * 3_000 + "]" * 3_000], "1"),
        ("jq", ["-" * 3_000 + "1"], "1"),
        ("jq", ["."], "[" * 50_000),
        ("jq", ["."], "[" * 50_000 + "]" * 50_000),
        ("jq", [".."], "[" * 900 + "]" * 900),
        ("jq", ["[..]"], "[" + "[1]," * 50_000 + "1]"),
        ("jq", ['"\\(' * 1_000], "1"),
        ("expr", ["("] * 5_000, ""),
        ("expr", [*(["9" * 200, "*"] * 50), "9"], ""),
        ("expr", ["a" * 300_000, ":", r"\(a*\)*b"], ""),
        ("test", ["("] * 5_000, ""),
        ("test", ["!"] * 5_000, ""),
        ("tr", ["[a*99999]", "b"], MANY_LINES),
        ("tr", ["-s", "a"], LONG_LINE),
        ("sort", ["-k2,2n", "-k1"], MANY_LINES),
        ("sort", ["-V"], "1.2.3-rc" + "9" * 50_000 + "\n" + "1.2.3-rc" + "8" * 50_000),
        ("sort", ["-n"], "9" * 50_000 + "\n8\n"),
        ("cut", ["-c1-2,4-"], LONG_LINE),
        ("cut", ["-d", "a", "-f", ",".join(str(number) for number in range(1, 9_000, 2))], LONG_LINE),
        ("seq", ["999999999"], ""),
        ("seq", ["1", "1e9"], ""),
        ("seq", ["-f", "%900g", "9000"], ""),
        ("xargs", ["-n1", "echo"], "a\n" * 100_000),
        ("xargs", ["-I", "a", "echo", "a" * 5_000], "b\n" * 2_000),
        ("paste", ["-s"], MANY_LINES),
        ("paste", ["-"] * 3_000, MANY_LINES),
        ("printf", ["%99999999s", "x"], ""),
        ("base64", ["-w1"], LONG_LINE),
        ("uniq", ["-c"], MANY_LINES),
        ("nl", [], MANY_LINES),
        ("head", ["-n", "9" * 30], MANY_LINES),
        ("numfmt", ["--to=iec", "9" * 30], ""),
    ],
)
def test_hostile_calls_end(name: str, args: list[str], stdin: str) -> None:
    with within(3):
        result = MODELS[name](args, stdin)
    assert result is None or len(result[1]) <= 1 << 20


@pytest.mark.parametrize("name", sorted(MODELS))
def test_models_never_raise(name: str) -> None:
    chance = random.Random(name)
    pieces = [
        "-n",
        "-e",
        "s/a/b/",
        "{",
        "}",
        "(",
        ")",
        "[",
        "\\",
        "'",
        '"',
        "1",
        "-1",
        "$",
        "/",
        "*",
        "^",
        "",
        "-",
        "--",
        "a,b",
        "%",
        "%d",
        "@",
        "|",
        ".",
        "..",
        "-k",
        "-F",
        "=",
        "é",
        "\udcff",
        "\n",
        "-x",
        "--long",
        "-d",
        "-f",
        "-c",
        "1-",
        ":",
        "!",
    ]
    for _ in range(1_500):
        args = ["".join(chance.choices(pieces, k=chance.randint(1, 3))) for _ in range(chance.randint(0, 4))]
        stdin = "".join(
            chance.choices(["a", "b ", "\n", "1", ",", "é", "\udcff", "\\", '"', "{", "["], k=chance.randint(0, 9))
        )
        MODELS[name](args, stdin)
        MODELS[name](args, None)


def test_unknown_input_matters_only_when_it_is_read() -> None:
    assert MODELS["awk"](["BEGIN{print 1+1}"], None) == (0, "2\n")
    assert MODELS["basename"](["a/b"], None) == (0, "b\n")
    assert MODELS["jq"](["-n", "1"], None) == (0, "1\n")
    assert MODELS["awk"](["{print}"], None) is None
    assert MODELS["cat"]([], None) is None
    assert MODELS["grep"](["x"], None) is None


def test_known_files_are_read() -> None:
    files = {"list": "b\na\n", "data.json": '{"n": 3}'}
    assert MODELS["sort"](["list"], "", files.get) == (0, "a\nb\n")
    assert MODELS["cat"](["list", "-"], "c\n", files.get) == (0, "b\na\nc\n")
    assert MODELS["jq"]([".n", "data.json"], "", files.get) == (0, "3\n")
    assert MODELS["grep"](["-c", "a", "list"], "", files.get) == (0, "1\n")
    assert MODELS["sed"](["-n", "2p", "list"], "", files.get) == (0, "a\n")
    assert MODELS["wc"](["-l", "list"], "", files.get) == (0, "2 list\n")
    assert MODELS["cat"](["other"], "", files.get) is None


def test_editing_in_place_splits_the_call() -> None:
    assert sed_in_place(["-i", "s/a/b/", "x", "y"]) == (("-e", "s/a/b/"), ("x", "y"))
    assert sed_in_place(["-i.bak", "-E", "-e", "s/a/b/", "x"]) == (("-E", "-e", "s/a/b/"), ("x",))
    assert sed_in_place(["-Ei", "s/a/b/", "x"]) == (("-E", "-e", "s/a/b/"), ("x",))
    assert sed_in_place(["--in-place", "-n", "--expression=p", "x"]) == (("-n", "-e", "p"), ("x",))
    assert sed_in_place(["-ne", "p", "-i", "--", "x"]) == (("-n", "-e", "p"), ("x",))
    assert sed_in_place(["s/a/b/", "x"]) is None


def _random_commands(seed: int, count: int) -> list[tuple[str, str]]:
    chance = random.Random(seed)
    expressions = [
        "a",
        "b*",
        "[ab]",
        "^a",
        "b$",
        ".",
        "a\\|b",
        "\\(a\\)",
        "a\\{1,2\\}",
        "[^a]",
        "ab",
        "^$",
        "\\(a*\\)b",
    ]
    replacements = ["x", "&&", "[&]", "", "\\n", "\\t"]
    cases = []
    for _ in range(count):
        text = "".join(chance.choices(["a", "b", "ab", " ", "c,", "\n", "10", "2"], k=chance.randint(0, 14)))
        one, other = chance.choice(expressions), chance.choice(expressions)
        number, flag = chance.randint(1, 3), chance.choice(["", "g", "2", "p", "2g", "I"])
        command = chance.choice(
            [
                f"sed 's/{one}/{chance.choice(replacements)}/{flag}'",
                f"sed -n '/{one}/p'",
                f"sed '{number},/{one}/d'",
                f"sed '/{one}/,{number}s/{other}/-/'",
                f"sed '/{one}/!s/{other}/-/g'",
                f"sed -n '/{one}/,/{other}/p'",
                f"sed '{number}!d;s/{one}/x/'",
                f"sed '/{one}/{{s/{other}/y/;n;d}}'",
                "sed '$!N;s/\\n/+/;P;D'",
                f"grep -{chance.choice(['o', 'c', 'v', 'n', 'w', 'x', 'on', 'i', 'm1'])} '{one}'",
                f"cut -{chance.choice(['c1', 'c2-3', 'd, -f2', 'd, -f1 -s', 'c-2', 'd, -f2-'])}",
                f"sort {chance.choice(['', '-n', '-r', '-u', '-nr', '-k2', '-t, -k2', '-V', '-f', '-b', '-k1,1n'])}",
                f"tr {chance.choice(['a b', '-d a', '-s ab', '-cd a-z', 'ab xy', '-s a-b x', '-c ab -'])}",
                f"head -{chance.choice(['n1', 'n -1', 'c3', '2'])}",
                f"tail -{chance.choice(['n1', 'n +2', 'c3', '2'])}",
                f"uniq {chance.choice(['', '-c', '-d', '-u'])}",
                f"awk '{{print ${number}, NF, NR}}'",
                f"awk -F, '{{print ${number}; n+=$1}} END{{print n}}'",
                f"awk '/{one.replace(chr(92), '')}/{{c++}} END{{print c+0}}'" if "{" not in one else "awk 1",
                "paste -sd,",
                "wc -lw",
                "rev",
                "tac",
            ]
        )
        cases.append((command, text))
    return cases


def test_random_commands_as_the_real_tools() -> None:
    check_commands(_random_commands(1, 700))
