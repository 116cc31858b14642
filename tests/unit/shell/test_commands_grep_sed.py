"""Models of grep and sed compared with the real tools."""

from __future__ import annotations

from real_tools import check_commands, check_unknown, with_input

MODELLED = [
    ("grep -oP 'Job \\K[0-9]+'", "Granted Job 123 now Job 45\n"),
    ("grep -c x", ""),
    ("grep -w 'a'", "a-b\nab\n_a\n a \n"),
    ("grep -o .", "ab"),
    ("grep -o 'a*'", "baaac"),
    ("grep -E '192\\.168'", "192.168.1.1\n192x168\n"),
    ("grep '^192\\.168\\.'", "192.168.1.1\n"),
    ("grep '*a'", "*a\na"),
    ("grep 'a\\|b'", "a\nc\nb"),
    ("grep -wo 'fo*'", "foo fo f foox"),
    ("grep -E '[]x]'", "]\ny\n"),
    ("sed 's/o/0/2g'", "ooooo"),
    ("sed 's/[\\/:@#]/_/g'", "a/b:c@d#e"),
    ("sed 's/\\./-/g'", "1.2.3"),
    ("sed 's,nvcr.io/,nvcr.io#,'", "nvcr.io/x"),
    ("sed 's/ *$//'", "a  \nb \n"),
    ("sed '/^$/d'", "a\n\nb\n"),
    ("sed 'y/abc/xyz/'", "aabbcc"),
    ("sed 's/a/b/;ta;s/$/!/;:a'", "a\nc\n"),
    ("sed 's/.*/\\L&/'", "ABC"),
    ("sed 's/\\w\\+/\\u&/g'", "foo bar"),
    ("sed 's/\\(f\\)\\(o*\\)/\\U\\1\\E\\2/'", "foo"),
    ("sed -E 's/--backend[[:space:]]+[^[:space:]]+//g'", "a --backend nixl b"),
    ("sed -n 's/results_concurrency_\\([0-9]*\\)_gpus_.*/\\1/p'", "results_concurrency_12_gpus_8\n"),
    ("sed -n 's/.*_gen_\\([0-9]*\\)\\.json/\\1/p'", "x_ctx_1_gen_22.json"),
    ("sed -n p", "a\nb"),
    ("sed 's/[]]/X/'", "a]"),
    ("sed 's/a\\{2\\}/X/'", "aaa"),
    ("sed 's/\\s\\+/ /g'", "a   b \t c"),
    ("sed -e 's/^[ \\t]*//' -e 's/[ \\t]*$//'", " \ta b \t"),
    ("sed 's/[[:space:]]*#.*$//'", "a # b\n#c\n"),
    ("sed '/^#/d;/^$/d'", "#a\n\nb\n"),
    ("sed 's/\"//g'", '"a"'),
    ('sed "s/\'//g"', "'a'"),
    ("sed 's/&/and/'", "a&b"),
    ("sed s/x/a/g", "xx\nx"),
    ("sed 's|a\\|b|X|'", "a|b"),
    ("sed 's/a+/X/'", "a+"),
    ("sed -nE 's/^job ([0-9]+)$/\\1/p'", "job 12\nx\n"),
    ("sed 's/o/x/3'", "foo boo"),
    ("sed 's/o/x/gp' -n", "foo\nbar\n"),
    ("sed 's/\\\\/\\//g'", "a\\b"),
    ("sed 's/\\(a\\)\\?b/[\\1]/'", "b"),
    ("sed 's/^\\s*//'", "  a"),
]
MODELLED += with_input(
    "foo bar\nFoo baz\nbar\nfoobar 123\n\na.b*c\n--tp 8\nx=1,y=22\n",
    r"""
grep foo
grep -v foo
grep -c foo
grep -i foo
grep -n bar
grep -o '[0-9]*'
grep -oE '[0-9]+'
grep -q foo
grep -q nope
grep nope
grep -w foo
grep -wo 'foo\|bar'
grep -x bar
grep -m1 foo
grep -e foo -e bar
grep -F a.b*
grep 'a.b*'
grep -q -- --tp
grep -qxF -- '--tp 8'
grep -E 'fo{2}|baz$'
grep '^$'
grep -c ''
grep -no 'o'
grep -vc foo
grep -E '^(foo|bar)'
grep 'fo\{2\}'
grep 'fo\+'
grep '\(o\)\1'
grep -E '(o)\1'
grep '\bbar'
grep '\<bar\>'
grep -iE 'FOO|BAZ'
grep -A1 baz
grep -B1 '123'
grep -C1 -n bar
grep -oP '\d+'
grep -oP 'y=\K\d+'
grep -P '(?<=x=)1'
grep -oP '(?<=x=)\d'
grep -o '[^,]*'
grep -E 'a|b|'
grep -E '\.b\*'
grep '[a-c]*z'
grep -wE 'x|1'
grep -3 123
grep --color=never foo
egrep 'foo|x'
fgrep '*'
grep -io 'FO'
grep -on '[a-z]*=[0-9]*'
grep -hs foo
grep -m 2 -c o
grep -vx bar
grep -E 'x=[0-9]+,?'
grep '[.]b'
grep -E '^-'
sed 's/o/0/'
sed 's/o/0/g'
sed 's/o/0/2'
sed -n 's/foo/X/p'
sed 's/FOO/x/I'
sed 's/\(foo\) \(bar\)/\2 \1/'
sed -E 's/(foo) (bar)/\2 \1/'
sed -r 's/[0-9]+/<&>/g'
sed 's/[0-9]/\&/g'
""",
)
MODELLED += with_input(
    "#a\nb\n #c\n",
    r"""
grep -v '^#'
grep -E '^[[:space:]]*#'
""",
)
MODELLED += with_input(
    "abcd",
    r"""
grep -E '(a|ab)(c|bcd)$' -o
sed -E 's/(a|ab)(c|bcd)/[\1|\2]/'
""",
)
MODELLED += with_input(
    "a/b/c",
    r"""
sed 's|/|_|g'
sed 's/\//-/g'
""",
)
MODELLED += with_input(
    "abc",
    r"""
sed 's/b*/X/g'
sed 's/x*/-/g'
sed 's/a//'
sed 's/a\|b/X/g'
sed -E 's/a|b/X/g'
sed 's/.$//'
sed 's/^.//'
sed 's/^\(.\)\(.*\)$/\2\1/'
""",
)
MODELLED += with_input(
    "a b",
    r"""
sed -e 's/a/b/' -e 's/b/c/'
sed 's/a/b/;s/b/c/'
""",
)
MODELLED += with_input(
    "xay",
    r"""
sed 's/a/\n/'
sed 's/a/\t/'
""",
)
MODELLED += with_input(
    "one\ntwo\nthree\nfour\nfive\nsix\n",
    r"""
sed 's/^/> /'
sed 's/$/;/'
sed -n '2p'
sed -n '2,4p'
sed '2d'
sed '2,4d'
sed '/two/d'
sed '/two/,/four/d'
sed '$d'
sed -n '$p'
sed -n '/t/p'
sed '/t/!d'
sed '1~2d'
sed '2,+1d'
sed '2,~4d'
sed '0,/o/d'
sed '1,/o/d'
sed '/two/,+1d'
sed '2q'
sed -n '2{p;q}'
sed '2q5'
sed 3Q
sed '2a foo'
sed '2i foo'
sed '2c foo'
sed '2,3c foo'
sed '$a end'
sed '/two/a\  indented'
sed '/two/a\\tx'
sed '/two/a x\ty'
sed '/two/a x\ny: z'
sed '/two/a   x'
sed =
sed -n '$='
sed N
sed 'N;s/\n/+/'
sed '$!N;P;D'
sed ':a;N;$!ba;s/\n/,/g'
sed -e ':a' -e 'N' -e '$!ba' -e 's/\n/,/g'
sed G
sed -n '1!G;h;$p'
sed 'n;d'
sed x
sed -n 'H;${x;s/\n/,/g;p}'
sed 's/\(.*\)/\U\1/'
sed 's/\(.\)/\u\1/'
sed '2,1p' -n
sed -n '/two/,/t/p'
sed -n '/one/,2p'
sed -n '3,/o/p'
sed '/two/s//2/'
sed --quiet 2p
sed '2{s/t/T/;s/w/W/}'
sed '2!{s/o/0/}'
sed '1d;n;d'
sed -n '/two/{n;p}'
sed -n '/two/{=;p}'
sed '2s/w/W/'
sed '/three/,$d'
sed '1,3!d'
sed z
sed 's/o/0/ # c'
sed -n '2,3!p'
sed '$!d'
sed '$!N;s/\n/ /'
sed -s 1d
sed '5,2d'
sed '2,2d'
sed '1!s/^/  /'
sed -e '1s/^/x/' -e '$s/$/y/'
sed '1b;s/o/0/'
sed 's/one/1/;T;s/$/!/'
sed '/two/{h;d};/five/G'
sed -n 'x;p;x'
sed '/^[^#]/s/o/0/'
""",
)
MODELLED += with_input(
    "a=b=c",
    r"""
sed 's/.*=//'
sed 's/=.*//'
""",
)
MODELLED += with_input(
    "a/b",
    r"""
sed 'y/\//|/'
sed 's#/#\\/#g'
""",
)
MODELLED += with_input(
    "name: x\nhealth:\n  max: 3\n  min: 1\nother: y\n  sub: z\n",
    r"""
sed 's/^name:.*/name: "foo"/'
sed '/^health/,/^[^ ]/{ /^health/d; /^  /d; }'
sed '/^name:.*/a sbatch:\n  exclude: "n"'
sed '/^  max:/a\  dist: 1800'
sed 's/^  max: [0-9]*/  max: 720/'
""",
)
MODELLED += with_input(
    "a",
    r"""
sed p
sed s/a/b/ -
sed --expression='s/a/b/'
""",
)
MODELLED += with_input(
    "a,b,c",
    r"""
sed 's/[^,]*,//'
sed 's/,[^,]*$//'
""",
)
MODELLED += with_input(
    "aa+",
    r"""
sed -E 's/a+/X/'
sed -E 's/a\+/X/'
""",
)
MODELLED += [
    ("sed '1i\\\nfoo'", "one\ntwo\nthree\nfour\nfive\nsix\n"),
    ("sed '/two/a x\\\ny'", "one\ntwo\nthree\nfour\nfive\nsix\n"),
    ("sed '/two/a\\\n  x'", "one\ntwo\nthree\nfour\nfive\nsix\n"),
    ("sed '# comment\ns/o/0/'", "one\ntwo\nthree\nfour\nfive\nsix\n"),
    ("sed '#n\np'", "one\ntwo\nthree\nfour\nfive\nsix\n"),
    ("sed 's/a/x\\\ny/'", "bab"),
    ("sed 'c\\\nX\\\nY'", "a\n"),
]
UNKNOWN = [
    ("sed 's/\\x5e/b/'", "A"),
]
UNKNOWN += with_input(
    "one\ntwo\nthree\nfour\nfive\nsix\n",
    r"""
sed '//d'
sed 's/o/0/w /dev/null'
sed 'a\'
sed 'i\'
""",
)


MODELLED += with_input(
    "a\\b/c]d[e#f g|h=i\n",
    r"""
sed 's#[/:@#]#_#g'
sed 's/[/]/_/g'
sed 's/[^/]*$/x/'
sed 's/[]/]/x/g'
sed 's/[^]]/x/g'
sed 's/\[/x/'
sed 's/[[:space:]/]/x/g'
sed 's/[\]/x/'
sed 's/[[/]/x/g'
sed 's|[|]|x|'
sed '/[/]/d'
sed 's/[\n]/x/'
sed 's/\x61/\x62/'
sed 's/d[=/=]*/[/'
""",
)


def test_as_the_real_tools() -> None:
    check_commands(MODELLED)


def test_what_is_not_modelled_is_unknown() -> None:
    check_unknown(UNKNOWN)
