"""Strategies that write small valid bash scripts, one family per part of the language.

Every script ends, prints little and reads nothing from outside. The alphabets are tiny on purpose: few letters make
collisions between values, patterns and separators likely, which is where readings differ.
"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

NAMES = ("a", "b", "c")
WORD_TEXT = "ab1 *?/.:-_=,"
# Text for the inside of a default value: no quotes, braces or dollars, which are added on purpose elsewhere.
PLAIN = st.text("ab1 ./:-_,", max_size=4)
# A literal that stays one word with nothing special when it is not quoted. A `=` or `~` would ask for other rules.
BARE = st.text("ab1./:-_,", min_size=1, max_size=3)
VALUES = st.text(WORD_TEXT + "'\"\\$`\t\n", max_size=6)


def quote(text: str) -> str:
    """Writes `text` as one single-quoted word."""
    return "'" + text.replace("'", "'\\''") + "'"


def lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part) + "\n"


@st.composite
def assignments(draw: st.DrawFn) -> str:
    """Sets some of the names, leaves others unset."""
    values = draw(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=3))
    return "\n".join(f"{name}={quote(value)}" for name, value in values.items())


@st.composite
def separators(draw: st.DrawFn) -> str:
    return draw(st.sampled_from(["", "", "IFS=", "IFS=,", "IFS=:-", "IFS=' ,'", "IFS=$'\\n'", "unset IFS", "IFS=a"]))


@st.composite
def glob_patterns(draw: st.DrawFn, extended: bool = False) -> str:
    """A pattern as it is written in a script: bare special characters, quoted ones, variables."""
    bare = ["*", "?", "a", "b", "1", "-", "[ab]", "[!a]", "[a-b1]", "[[:digit:]]", "\\*", "'?'", '"*"', "[]a]", "\\\\"]
    if extended:
        # A `!( )` only as a whole pattern: next to others bash matches what its own manual excludes.
        if draw(st.integers(0, 9)) == 0:
            return draw(st.sampled_from(["!(a)", "!(ab|1)", "!(*a)", "!()"]))
        bare += ["@(a|b)", "+(a)", "*(ab)", "?(1)", "@(a*|[1b])"]
    return "".join(draw(st.lists(st.sampled_from(bare), min_size=1, max_size=4)))


@st.composite
def parameters(draw: st.DrawFn, quoted: bool, depth: int, many: bool = True) -> str:
    """`${...}` with one operator, or a plain reference; `many` allows those that stand for several words."""
    several = ["@", "*", "list[@]", "list[*]"] if many else []
    name = draw(st.sampled_from([*NAMES, "1", "2", "list[1]", *several]))
    kinds = ["plain", "braced", "length", "default", "trim", "replace", "case", "slice", "transform"]
    match draw(st.sampled_from(kinds)):
        case "plain" if "[" not in name:
            return f"${name}"
        case "length":
            return "${#" + name + "}"
        case "default":
            operator = draw(st.sampled_from([":-", "-", ":+", "+"]))
            return "${" + name + operator + draw(default_words(quoted, depth - 1, many)) + "}"
        case "trim":
            operator = draw(st.sampled_from(["#", "##", "%", "%%"]))
            return "${" + name + operator + draw(glob_patterns()) + "}"
        case "replace":
            operator = draw(st.sampled_from(["/", "//", "/#", "/%"]))
            replacement = draw(st.sampled_from(["", "X", "&", "\\&", '"&"', "/x", " y z", "$b", '"$b"']))
            return "${" + name + operator + draw(glob_patterns()) + "/" + replacement + "}"
        case "case":
            operator = draw(st.sampled_from(["^", "^^", ",", ",,", "^^[ab]"]))
            return "${" + name + operator + "}"
        case "slice":
            bounds = draw(st.sampled_from([":1", ":0:1", ": -1", ":1:2", ": -2:1", ":9", ":0:0"]))
            return "${" + name + bounds + "}"
        case "transform" if "@" not in name and "*" not in name:
            return "${" + name + draw(st.sampled_from(["@U", "@L", "@Q", "@u"])) + "}"
        case _:
            return "${" + name + "}"


@st.composite
def default_words(draw: st.DrawFn, quoted: bool, depth: int, many: bool) -> str:
    parts = [PLAIN, st.sampled_from(['"x  y"', '"$a"', "$b", '"${b}"', "\\$a", "$((1+1))", "$(printf %s 'p q')"])]
    if depth > 0:
        parts.append(parameters(quoted, depth, many))
    return "".join(draw(st.lists(st.one_of(parts), max_size=3)))


@st.composite
def words(draw: st.DrawFn, usual_ifs: bool, depth: int = 2) -> str:
    """One word of a command, glued from literals, quotes and expansions."""
    inside = st.lists(st.one_of(PLAIN, parameters(True, depth)), max_size=3).map("".join)
    # Not both in one string: bash then splits what `*` stands for as well.
    double = inside.filter(lambda text: not ("@" in text and "*" in text)).map(lambda text: f'"{text}"')
    # Without quotes and with an odd IFS, bash keeps or drops empty elements by chance and lets markers out.
    bare = parameters(False, depth, many=usual_ifs)
    parts = st.one_of(BARE, VALUES.map(quote), double, double, bare, st.just("$((2*3))"))
    return "".join(draw(st.lists(parts, min_size=1, max_size=3)))


@st.composite
def expansion_scripts(draw: st.DrawFn) -> str:
    """Values, positional parameters and an array, then commands whose words expand them. Globbing is off."""
    positional = " ".join(quote(value) for value in draw(st.lists(VALUES, max_size=3)))
    elements = " ".join(quote(value) for value in draw(st.lists(VALUES, max_size=3)))
    ifs = draw(separators())
    word = words(usual_ifs=ifs in ("", "unset IFS"))
    commands = draw(st.lists(st.lists(word, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=3))
    return lines(
        "set -f",
        draw(assignments()),
        f"set -- {positional}",
        f"list=({elements})",
        ifs,
        *(f"rec {command}" for command in commands),
        'x=$a"$b"$* ; rec "$x"',
    )


NUMBERS = st.one_of(
    st.integers(0, 20).map(str),
    st.sampled_from(
        ["9223372036854775807", "-9223372036854775808", "4294967296", "0x1f", "017", "2#101", "36#zz", "08"]
    ),
)


@st.composite
def arithmetic_expressions(draw: st.DrawFn, depth: int = 3) -> str:
    """An expression; shifts and powers have small right sides, whose result does not hang on the processor."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.one_of(NUMBERS, st.sampled_from(["a", "b", "c", "$a", "${b}", "v[1]", "v[a]", "u"])))
    left = draw(arithmetic_expressions(depth - 1))
    match draw(st.integers(0, 9)):
        case 0:
            return draw(st.sampled_from(["-", "+", "!", "~", "- "])) + "(" + left + ")"
        case 1:
            return "(" + left + ")"
        case 2:
            right, other = draw(arithmetic_expressions(depth - 1)), draw(arithmetic_expressions(depth - 1))
            return f"{left} ? {right} : {other}"
        case 3:
            name = draw(st.sampled_from(["a", "b", "v[0]", "v[2]"]))
            operator = draw(st.sampled_from(["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="]))
            return f"({name} {operator} {left})"
        case 4:
            return draw(st.sampled_from(["a++", "b--", "++a", "--c", "v[1]++", "--v[0]"]))
        case 5:
            return f"({left}) {draw(st.sampled_from(['<<', '>>', '**']))} {draw(st.integers(0, 40))}"
        case 6:
            return f"{left}, {draw(arithmetic_expressions(depth - 1))}"
        case _:
            operators = ["+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "&", "|", "^", "&&", "||"]
            # A blank on both sides: `a--b` and `a++b` would be other tokens.
            return f"{left} {draw(st.sampled_from(operators))} {draw(arithmetic_expressions(depth - 1))}"


@st.composite
def arithmetic_scripts(draw: st.DrawFn) -> str:
    a, b, c = draw(st.tuples(st.integers(-9, 9), st.integers(-3, 300), st.sampled_from(["", "7", "a+1", " 5 "])))
    parts = [f"a={a} b={b} c={quote(c)} v=(3 4)"]
    for expression in draw(st.lists(arithmetic_expressions(), min_size=1, max_size=4)):
        form = draw(
            st.sampled_from(
                ["( echo $(( {} )) ) 2>/dev/null", "(( {} )) 2>/dev/null", "[[ $(({})) -gt 3 ]] 2>/dev/null"]
            )
        )
        parts.append(form.format(expression))
        parts.append('echo "$? $a $b $c ${v[*]}"')
    return lines(*parts)


@st.composite
def commands(draw: st.DrawFn, depth: int, counter: str = "n") -> str:
    """A command of the control-flow family: what matters is which echo is reached and with which status."""
    leaf = [
        "true",
        "false",
        "(exit 3)",
        "echo m$?",
        "x=$(false)",
        "x=$(echo s; exit 2)",
        "f",
        "g",
        "! f",
        "local_=1",
        "((0))",
    ]
    if depth == 0 or draw(st.integers(0, 2)) == 0:
        return draw(st.sampled_from(leaf))
    inner = commands(depth - 1, counter)
    part = pipeline_part(depth - 1, counter)
    match draw(st.integers(0, 11)):
        case 0 | 1:
            return f"{draw(inner)} && {draw(inner)}"
        case 2 | 3:
            return f"{draw(inner)} || {draw(inner)}"
        case 4:
            return "{ " + draw(inner) + "; " + draw(inner) + "; }"
        case 5:
            return "( " + draw(inner) + "; " + draw(inner) + " )"
        case 6:
            return f"if {draw(inner)}; then {draw(inner)}; else {draw(inner)}; fi"
        case 7:
            return (
                f"for i in 1 2; do {draw(inner)}; {draw(st.sampled_from([':', 'break', 'continue', 'echo $i']))}; done"
            )
        case 8:
            # A counter for each depth: an inner loop that reset its outer one's would never end.
            name = f"{counter}{depth}"
            return f"{name}=0; while [ $(({name}++)) -lt 2 ] && {draw(part)}; do {draw(inner)}; done"
        case 9:
            return f"! {draw(part)}"
        case 10:
            return f"{draw(part)} | {draw(part)}"
        case _:
            return f"case $(echo k; {draw(inner)}) in k) {draw(inner)} ;; *) echo other ;; esac"


@st.composite
def pipeline_part(draw: st.DrawFn, depth: int, counter: str) -> str:
    """A command that may stand in a pipeline or after `!`. None reads its input, so that no writer is cut off."""
    return (
        draw(st.sampled_from(["true", "false", "f", "(exit 4)"]))
        if depth <= 0
        else "{ " + draw(commands(depth, counter)) + "; }"
    )


@st.composite
def control_scripts(draw: st.DrawFn) -> str:
    options = ["", "set -e", "set -e", "set -eo pipefail", "set -e; shopt -s inherit_errexit", "set -E", "set -eE"]
    traps = ["", "trap 'echo \"exit $?\"' EXIT", "trap 'echo \"err $?\"' ERR"]
    body = draw(st.lists(commands(3), min_size=1, max_size=4))
    function = draw(commands(1, "k"))
    return lines(
        "f() { "
        + draw(st.sampled_from(["false; echo f-on", "return 5", "echo f; false", "false && true", "! true"]))
        + "; }",
        "g() { " + (":" if function == "g" else function.replace("g", "f")) + "; }",
        draw(st.sampled_from(options)),
        draw(st.sampled_from(traps)),
        *body,
        'echo "end $?"',
    )


@st.composite
def array_scripts(draw: st.DrawFn) -> str:
    """A series of changes to one indexed array, looked at after each."""
    index = st.integers(0, 6)
    element = st.one_of(BARE, VALUES.map(quote), st.just('""'), st.just('"${v[@]}"'), st.just("${v[0]}"))
    change = st.one_of(
        st.tuples(index, element).map(lambda p: f"v[{p[0]}]={p[1]}"),
        st.tuples(index, element).map(lambda p: f"v[{p[0]}]+={p[1]}"),
        st.lists(element, max_size=3).map(lambda p: f"v+=({' '.join(p)})"),
        st.lists(st.one_of(element, st.tuples(index, element).map(lambda p: f"[{p[0]}]={p[1]}")), max_size=3).map(
            lambda p: f"v=({' '.join(p)})"
        ),
        index.map(lambda i: f"unset 'v[{i}]'"),
        st.just('v=("${v[@]:1}")'),
        st.tuples(index, index).map(lambda p: f'v=("${{v[@]:{p[0]}:{p[1]}}}")'),
        st.just("v[${#v[@]}]=z"),
        st.just("v[-1]=last 2>/dev/null"),
    )
    look = 'rec "${#v[@]}" "${!v[@]}" -- "${v[@]}"'
    parts = ["set -f", "v=()"]
    for step in draw(st.lists(change, min_size=1, max_size=5)):
        parts += [step, look]
    return lines(*parts, 'rec "${v[*]}" "${v[@]: -1}" "${v-unset}" "${v[2]-none}"', "declare -p v")


@st.composite
def pattern_scripts(draw: st.DrawFn) -> str:
    """The same patterns in `[[ ]]`, `case` and the trimming operators."""
    parts = ["shopt -s extglob"]
    for _ in range(draw(st.integers(1, 4))):
        text, pattern = draw(st.text("ab1-*?]\\", max_size=5)), draw(glob_patterns(extended=True))
        parts += [
            f"x={quote(text)}",
            f"[[ $x == {pattern} ]]; echo $?",
            f"case $x in {pattern}) echo in ;; *) echo out ;; esac",
            f'echo "${{x#{pattern}}}|${{x##{pattern}}}|${{x%{pattern}}}|${{x%%{pattern}}}"',
            f'echo "${{x/{pattern}/X}}|${{x//{pattern}/X}}"',
        ]
    return lines(*parts)


@st.composite
def regular_expressions(draw: st.DrawFn, depth: int = 2) -> str:
    atom = st.sampled_from(["a", "b", "1", ".", "[ab]", "[^a]", "[0-9]", "[[:alpha:]]", "\\."])
    if depth == 0:
        return draw(atom)
    piece = st.one_of(
        atom,
        st.tuples(atom, st.sampled_from(["*", "+", "?", "{2}", "{1,2}"])).map("".join),
        regular_expressions(depth - 1).map(lambda r: f"({r})"),
        st.tuples(regular_expressions(depth - 1), regular_expressions(depth - 1)).map(lambda r: f"({r[0]}|{r[1]})"),
    )
    body = "".join(draw(st.lists(piece, min_size=1, max_size=3)))
    return draw(st.sampled_from(["", "", "^"])) + body + draw(st.sampled_from(["", "", "$"])) if depth == 2 else body


@st.composite
def regex_scripts(draw: st.DrawFn) -> str:
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        parts += [
            f"x={quote(draw(st.text('ab1.', max_size=6)))} re={quote(draw(regular_expressions()))}",
            '[[ $x =~ $re ]]; echo "$? ${#BASH_REMATCH[@]} <${BASH_REMATCH[0]-}>"',
        ]
    return lines(*parts)


@st.composite
def read_scripts(draw: st.DrawFn) -> str:
    """The same line taken apart by `read`, by word splitting and by `mapfile`."""
    line = draw(st.text("ab ,:\t\\", max_size=10))
    ifs = draw(st.sampled_from([" ", ",", ":", " ,", ",:", "", "\\", ": "]))
    return lines(
        f"s={quote(line)}",
        f'IFS={quote(ifs)} read -r p q <<< "$s"; rec "$p" "$q"',
        f'IFS={quote(ifs)} read p q <<< "$s"; rec "$p" "$q"',
        f'IFS={quote(ifs)} read -ra v <<< "$s"; rec "${{v[@]}}"',
        f'IFS={quote(ifs)} read -r one <<< "$s"; rec "$one"',
        'read -r <<< "$s"; rec "$REPLY"',
        f'mapfile -t -d {quote(draw(st.sampled_from([",", ":", "a"])))} m <<< "$s"; rec "${{m[@]}}"',
        f'set -f; IFS={quote(ifs)}; rec $s; set -- $s; rec $# "$*"',
    )


@st.composite
def quoting_scripts(draw: st.DrawFn) -> str:
    """One text through every way of quoting and back."""
    text = draw(st.text("ab \t\n'\"\\$`!*{}~#;&|<>()=é", max_size=8))
    double = "".join("\\" + letter if letter in '"\\$`' else letter for letter in text)
    dollar = "".join({"\n": "\\n", "\t": "\\t", "'": "\\'", "\\": "\\\\"}.get(letter, letter) for letter in text)
    bare = "".join("'\n'" if letter == "\n" else letter if letter.isalnum() else "\\" + letter for letter in text)
    return lines(
        f"rec {quote(text)} \"{double}\" $'{dollar}' {bare or '-'}",
        f'x={quote(text)}; y="{double}"; [[ $x == "$y" ]] && echo same',
        'printf "%q|%s\\n" "$x" "${x@Q}"; eval "z=${x@Q}"; rec "$z"; eval "rec $(printf %q "$x")"',
        "cat <<'END_OF_TEXT'",
        text,
        "END_OF_TEXT",
        "cat <<END_OF_TEXT",
        "".join("\\" + letter if letter in "\\$`" else letter for letter in text),
        "END_OF_TEXT",
        'cat <<< "$x"; declare -p x',
    )


@st.composite
def printf_scripts(draw: st.DrawFn) -> str:
    """Formats with flags, widths and too few or too many arguments."""
    directive = st.one_of(
        st.tuples(st.sampled_from(["", "-", "0", "+", " "]), st.sampled_from(["", "3", "5"])).map(
            lambda p: f"%{p[0]}{p[1]}d"
        ),
        st.tuples(st.sampled_from(["", "-"]), st.sampled_from(["", "4"]), st.sampled_from(["", ".2", ".0"])).map(
            lambda p: f"%{''.join(p)}s"
        ),
        st.sampled_from(["%%", "%c", "%x", "%o", "%b", "%q", "\\t", "\\n", "\\x41", "-", " ", "é"]),
    )
    argument = st.one_of(
        st.integers(-99, 999).map(str), st.text("ab1\\n'", max_size=4), st.sampled_from(["", "0x1f", "010", "'A"])
    )
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        template = "".join(draw(st.lists(directive, min_size=1, max_size=4)))
        values = " ".join(quote(value) for value in draw(st.lists(argument, max_size=4)))
        parts.append(f'printf {quote(template)} {values} 2>/dev/null; echo "=$?"')
    return lines(*parts)


@st.composite
def scope_scripts(draw: st.DrawFn) -> str:
    """Locals, exports, unset and prefix assignments over three nested calls."""
    steps = ["local a=l", "local a", "a=set", "unset a", "a+=p", "local b=$a", "rec"]
    prefixes = [""]
    if draw(st.booleans()):
        prefixes += ["a=pre ", "a=pre b=pre "]
    else:
        # Not together: what these do to the variable of a call differs between versions of bash.
        steps += ["export a", "export a=x", "export -n a", "declare -g a=g"]
    show = 'echo "${a-unset} ${b-unset}"'

    def body(extra: str) -> str:
        return "; ".join([*draw(st.lists(st.sampled_from(steps), max_size=3)), show, *([extra] if extra else []), show])

    call = st.sampled_from(prefixes)
    return lines(
        "h() { " + body("") + "; }",
        "g() { " + body(draw(call) + "h") + "; }",
        "f() { " + body(draw(call) + "g") + "; }",
        draw(st.sampled_from(["", "a=top", "export a=top", "b=top; export b"])),
        draw(call) + "f",
        show,
        "rec end",
    )


@st.composite
def glob_scripts(draw: st.DrawFn) -> str:
    option = draw(st.sampled_from(["", "shopt -s nullglob", "shopt -s dotglob", "shopt -s extglob"]))
    names = ["a", "b", "ab", "a1", "b-1", "d/a", "d/b1", ".a"]
    pieces = ["*", "?", "a", "b", "1", "[ab]", "[!a]", "d/", "*/", "-", "'*'", "{a,b}", "$x", '"$x"', ".", "{1..2}"]
    patterns = draw(
        st.lists(st.lists(st.sampled_from(pieces), min_size=1, max_size=4).map("".join), min_size=1, max_size=4)
    )
    return lines(
        "mkdir d w; cd w; mkdir d; touch " + " ".join(draw(st.lists(st.sampled_from(names), min_size=1, max_size=5))),
        "x='*'",
        option,
        *(f"rec {pattern}" for pattern in patterns),
    )


@st.composite
def default_scripts(draw: st.DrawFn) -> str:
    """Defaults with braces, quotes and nested expansions in them, in and out of double quotes."""
    piece = st.one_of(
        PLAIN,
        st.sampled_from(
            ["{", "}", "{}", "\\}", "\\{", "'q r'", '"d  q"', '"{"', '"}"', "'}'", "\\\\", '\\"', "\\$a", "$a", "${b}"]
        ),
        st.sampled_from(
            ["${a:-x}", "${b:-{}", '${c:-"y z"}', "$(echo s)", "$(echo '}')", "$((1+1))", "`echo t`", ":", " "]
        ),
    )
    words = []
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(NAMES))
        operator = draw(st.sampled_from([":-", "-", ":+", "+", ":=", "="]))
        text = "${" + name + operator + "".join(draw(st.lists(piece, max_size=4))) + "}"
        words.append(f'"{text}"' if draw(st.booleans()) else text)
    return lines(
        "set -f", draw(assignments()), f"rec {' '.join(words)}", f"x={words[0]}", 'rec "$x" "$a" "$b" "$c"', "echo end"
    )


@st.composite
def here_scripts(draw: st.DrawFn) -> str:
    """Here-documents with expansions and backslashes, at several places of a command."""
    piece = st.one_of(
        st.text("ab \"'\\$`{}#", max_size=4).filter(lambda text: "`" not in text and "$" not in text),
        st.sampled_from(["$a", "${b:-d e}", "$((1+2))", "$(echo s)", "\\$a", "\\`", "$ ", "\\\\", "\t", '${c:-"q"}']),
    )

    def body() -> str:
        # Nothing that ends in a backslash: it would join the line with the delimiter.
        rows = ["".join(draw(st.lists(piece, max_size=4))).rstrip("\\") for _ in range(draw(st.integers(0, 3)))]
        return "".join(row + "\n" for row in rows)

    delimiter = draw(st.sampled_from(["E", "'E'", '"E"', "\\E"]))
    strip = draw(st.sampled_from(["<<", "<<-"]))
    form = draw(
        st.sampled_from(
            [
                "cat {0}\n{1}E\n",
                "cat {0} | sed 's/^/>/'\n{1}E\n",
                'x=$(cat {0}\n{1}E\n)\nrec "$x"\n',
                'while IFS= read -r l; do rec "$l"; done {0}\n{1}E\n',
                "f() {{ cat {0}\n{1}E\n}}\nf; f\n",
                "if true; then cat {0}; fi && echo and\n{1}E\n",
                "rec a {0} b 'c d'\n{1}E\n",
                "cat {0}; cat <<F\n{1}E\nsecond $a\nF\n",
                '{{ read -r p; read -r q; }} {0}\n{1}E\nrec "$p" "$q"\n',
            ]
        )
    )
    return lines(draw(assignments())) + form.format(f"{strip} {delimiter}", body()) + 'echo "end $?"\n'


@st.composite
def condition_scripts(draw: st.DrawFn) -> str:
    """`[ ]` with right and wrong arguments, and `[[ ]]` with nested logic, by their statuses."""
    operand = st.sampled_from(
        ["a", "b", "''", "3", "04", "-1", "'a b'", "$x", '"$x"', "$u", '"$u"', "=", "-n", "'!'", "'('"]
    )
    unary = st.sampled_from(["-n", "-z", "-e", "-f", "-d", "!", "-v"])
    binary = st.sampled_from(["=", "==", "!=", "-eq", "-ne", "-lt", "-gt", "-le", "-ge", "'<'", "-a", "-o", "-ef"])
    plain = st.one_of(
        operand,
        st.tuples(unary, operand).map(" ".join),
        st.tuples(operand, binary, operand).map(" ".join),
        st.tuples(st.just("!"), operand, binary, operand).map(" ".join),
        st.tuples(st.just("\\("), operand, st.just("\\)")).map(" ".join),
        st.tuples(unary, operand, st.sampled_from(["-a", "-o"]), unary, operand).map(" ".join),
        st.tuples(operand, st.just("="), operand, st.sampled_from(["-a", "-o"]), operand, st.just("!="), operand).map(
            " ".join
        ),
    )
    safe = st.sampled_from(["a", "b", "''", "3", "'a b'", "$x", '"$x"', "$u"])
    leaf = st.one_of(
        st.tuples(st.sampled_from(["-n", "-z"]), safe).map(" ".join),
        st.tuples(safe, st.sampled_from(["==", "!=", "=", "<", ">"]), safe).map(" ".join),
        st.tuples(st.sampled_from(["1", "3", "$n", "n+1"]), st.sampled_from(["-eq", "-lt", "-ge"]), st.just("3")).map(
            " ".join
        ),
        safe,
    )
    nested = st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from([" && ", " || "]), inner).map("".join),
            inner.map(lambda text: f"( {text} )"),
            inner.map(lambda text: f"! {text}"),
        ),
        max_leaves=5,
    )
    parts = [f"x={quote(draw(st.sampled_from(['', 'a', 'a b', '3', 'a*', '-n'])))} n={draw(st.integers(0, 4))}"]
    for _ in range(draw(st.integers(2, 5))):
        if draw(st.booleans()):
            parts.append(f"[ {draw(plain)} ] 2>/dev/null; echo $?")
        else:
            parts.append(f"[[ {draw(nested)} ]]; echo $?")
    return lines(*parts)


@st.composite
def option_scripts(draw: st.DrawFn) -> str:
    """Command lines taken apart by a `case` loop and by `getopts`."""
    option = st.sampled_from(
        ["-a", "-b", "-ab", "-c", "--tp", "--tp=8", "--name", "--", "-", "x", "'p q'", "''", "-n5", "-n", "5", "-an7"]
    )
    given = " ".join(draw(st.lists(option, max_size=6)))
    return lines(
        "parse() {",
        "  while [[ $# -gt 0 ]]; do",
        '    case "$1" in',
        '      --tp=*) tp="${1#*=}"; shift ;;',
        '      --tp|--name) eval "${1#--}=\\${2-}"; shift; shift || return 3 ;;',
        "      -[ab]) flags+=${1#-}; shift ;;",
        "      --) shift; break ;;",
        '      -?*) echo "bad $1"; return 2 ;;',
        '      *) rest+=("$1"); shift ;;',
        "    esac",
        "  done",
        '  rest+=("$@")',
        "}",
        f'parse {given}; rec $? "$tp" "$name" "$flags" "${{rest[@]}}"',
        f"set -- {given}",
        'while getopts ":abn:" o; do echo "$o ${OPTARG-unset} $OPTIND"; done',
        'shift $((OPTIND - 1)); rec "$@"',
    )


@st.composite
def filter_scripts(draw: st.DrawFn) -> str:
    """Small known texts through the external programs that recipes use on them."""
    text = draw(st.text("ab1:, \n", max_size=12))
    filters = [
        "cut -d: -f1", "cut -d: -f2-", "cut -d, -f1,3", "cut -c2-3", "tr a-z A-Z", "tr -d ' '", "tr ',' '\\n'",
        "tr -s ' '", "sed 's/a/X/'", "sed 's/[a-b]/<&>/g'", "sed -n '1p'", "sed '$d'",
        "sed -e 's/^/> /' -e 's/1$//'", "sed -E 's/(a)(b)?/\\2\\1/'", "head -n 1", "head -n -1", "tail -n 1",
        "tail -n +2", "sort", "sort -u", "sort -r", "uniq", "wc -l", "wc -w", "wc -c", "grep a", "grep -v a",
        "grep -c ''", "grep -o '[0-9]'", "grep -E '^(a|b)'", "awk '{print $1}'", "awk -F: '{print $NF}'", "cat",
    ]  # fmt: skip
    chains = [
        " | ".join(draw(st.lists(st.sampled_from(filters), min_size=1, max_size=3)))
        for _ in range(draw(st.integers(1, 3)))
    ]
    parts = [f"s={quote(text)}"]
    for chain in chains:
        source = draw(st.sampled_from(['printf %s "$s"', 'echo "$s"']))
        parts += [f'{source} | {chain}; echo "=$?"', f'x=$({source} | {chain}); rec "$x"']
    return lines(*parts)


FAMILIES: dict[str, Callable[[], SearchStrategy[str]]] = {
    "expansion": expansion_scripts,
    "arithmetic": arithmetic_scripts,
    "control": control_scripts,
    "arrays": array_scripts,
    "patterns": pattern_scripts,
    "regex": regex_scripts,
    "read": read_scripts,
    "quoting": quoting_scripts,
    "printf": printf_scripts,
    "scope": scope_scripts,
    "globs": glob_scripts,
    "defaults": default_scripts,
    "here-documents": here_scripts,
    "conditions": condition_scripts,
    "options": option_scripts,
    "filters": filter_scripts,
}

# The same scripts in every run, and no shared folder between runs: a failure is reproduced by running the test again.
SETTINGS = settings(derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
