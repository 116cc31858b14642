"""Models of the small text tools and sort compared with the real tools."""

from __future__ import annotations

from real_tools import check_commands, check_unknown, with_input

MODELLED = [
    ("cut -f1", "a\tb\nc"),
    ("cut -d' ' -f3", "a b c d"),
    ("cut -d: -f2-3,5-", "a:b:c:d:e:f\n"),
    ("cut -c1-2,3-4 --output-delimiter=:", "abcdef"),
    ("tr -s a", "baanaa"),
    ("tr -s ' ' _", "a   b c"),
    ("tr -cd '0-9\\n'", "a1b2\nc3"),
    ("tr -c 'A-Za-z0-9_.-' -", "a/b:c d"),
    ("tr -cs 'A-Za-z0-9_.-' '-'", "a//b::c  d"),
    ("tr x '\\n'", "4x8x16"),
    ("tr -ds a n", "baannaa"),
    ("tr abc 'x-z'", "aabbcc"),
    ("tr a-z A-M", "hello"),
    ("tr '[a*2]b' 'xyz'", "aab"),
    ("tr '\\101' b", "AB"),
    ("tr -d '[:space:]'", " a b\t\n"),
    ("tr / _", "a/b/c"),
    ("tr -d '\"'", '"a"'),
    ("tr -s '[:space:]'", "a  b\n\nc"),
    ("tr -d '\\r'", "a\r\n"),
    ("tr '\\\\' /", "a\\b"),
    ("tr é e", "café"),
    ("tr [a-z] [A-Z]", "abc[]"),
    ("tr ._ -", "a.b_c"),
    ("wc -l", "a"),
    ("sort -h", "1K\n1M\n2\n1G\n0\n-1K\n1.5K\n"),
    ("sort -b", "  b\n a\nc\n"),
    ("sort", "b\na"),
    ("sort -n -u", "1\n01\n1.0\n2\n"),
    ("sort -n", "1.5\n1.25\n-2.5\n-2.25\n.5\nx\n1e3\n"),
    ("sort -t, -k3nr -k1", "a,b,3\nc,d,10\nb,q,3\n"),
    ("sort -k2b,2", "a  z\nb y\n"),
    ("sort -V", "a10\na9\na\n.b\n.a\n..\n.\nb-1.0.tar.gz\nb-1.0.1.tar.gz\n"),
    ("sort -fu", "a\nA\nb\n"),
    ("sort -k1,1 -k2,2", "b a\na  b\na b\n"),
    ("sort -t: -k1,1n", "10:a\n9:b\n"),
    ("uniq -i", "a\nA\nb"),
    ("uniq -cd", "a\na\nb\n"),
    ("rev", "abc\nde"),
    ("rev", "abc\n"),
    ("paste -sd+ -", "1\n2\n3\n"),
    ("paste", "a\n"),
    ("base64 -d", "aGVsbG8=\n"),
    ("xargs", " a  b \n c\n"),
    ("xargs", "  trim me  "),
    ("xargs", "'a  b' \"c d\" e\\ f"),
    ("xargs -I{} echo 'x{}y'", "a b\nc\n"),
    ("xargs -I % echo % %", "  a\n\nb  \n"),
    ("numfmt --to=iec", "1025\n999\n1023\n1048575\n10240\n102400\n"),
]
MODELLED += with_input(
    "",
    r"""
basename a/b/c.sh
basename a/b/c.sh .sh
basename /
basename ''
basename a/b/
basename -a a/b c/d
basename -s .sh a/b.sh c.sh
basename .sh .sh
basename //
basename a b c
basename
basename -- -x
dirname a/b/c
dirname a
dirname /a
dirname /
dirname a//b
dirname a/b/
dirname ''
dirname a b/c
dirname //a
dirname /a//
dirname
seq 5
seq 2 5
seq 1 2 10
seq 10 -3 1
seq 0
seq 5 1
seq -s, 1 5
seq -s ' ' 3
seq -w 8 11
seq -w -1 10
seq 0 0.25 1
seq 1.0 3
seq 1 .5 3
seq -f '%03g' 3
seq -f 'x%.1fy' 1 2
seq -5 -1
seq 1 0 5
seq a
seq
seq 1 2 3 4
seq -w 1 010
seq 08 12
seq -w 0.5 0.5 10
seq -w 1 0.1 2
seq 256 256 2048
seq -- -2 0
seq -w 1 10.5
seq 1 1.5
seq +1 3
seq -s: -2 2
seq --separator=, 3
seq -w .5 1
head -n1
wc -l
rev
tac
paste -sd,
sha512sum
echo a b
echo -n a
echo -e 'a\tb\c' d
echo -ne 'a\n'
echo -E 'a\n'
echo -x a
echo
echo -- a
echo -e 'a\x41\0101'
true x
false
xargs
xargs -r
numfmt --to=iec 1024
numfmt --to=iec 1500
numfmt --to=si 1500
numfmt --from=iec 1K
numfmt --from=si 2M
numfmt --from=iec 1.5G
numfmt --to=iec-i 1048576
numfmt --from=iec-i 2Ki
numfmt --to=si 999999 1000 9999 12345 999
numfmt --to=iec 0
numfmt --from=iec --to=si 1M
""",
)
MODELLED += with_input(
    "alpha,beta,gamma\none,two\nthree\n,x,\n",
    r"""
cut -d, -f1
cut -d, -f2,3
cut -d, -f2-
cut -d, -f-2 -s
cut -c1-3
cut -c2
cut -c1,3,5-
cut -d, -f1 --complement
cut -c2-3 --complement
cut -d, -f1,3 --output-delimiter=:
cut -c1-2,4 --output-delimiter=:
cut -b1-2
cut -d, -f0
cut -d, -f3-2
cut -dxy -f1
cut -d, -f3,1,1-2
cut -f1 -c1
cut
sort -t, -k2
sort -t, -k2,2r
""",
)
MODELLED += with_input(
    "banana",
    r"""
tr a b
tr -d a
""",
)
MODELLED += with_input(
    "abcd",
    r"""
tr a-c x
tr abcd '[x*]y'
""",
)
MODELLED += with_input(
    "HeLLo",
    r"""
tr '[:upper:]' '[:lower:]'
tr '[:lower:]' '[:upper:]'
""",
)
MODELLED += with_input(
    "a b c",
    r"""
tr ' ' '\n'
xargs -n1
xargs -n2 echo
xargs printf '%s,'
""",
)
MODELLED += with_input(
    "a\nb\nc\n",
    r"""
tr '\n' ,
tac
paste -sd,
paste -d, - -
""",
)
MODELLED += with_input(
    "abc",
    r"""
tr -t abc x
head -1
cat
cat -
tee
""",
)
MODELLED += with_input(
    "x",
    r"""
tr a
tr
md5sum
""",
)
MODELLED += with_input(
    "a b",
    r"""
tr '[:space:]' '\n'
xargs echo -n
xargs -n1 false
""",
)
MODELLED += with_input(
    "a\n\nb\n",
    r"""
tr -s '\n'
nl
""",
)
MODELLED += with_input(
    "a-b",
    r"""
tr -d -
tr - _
""",
)
MODELLED += with_input(
    "b 2\na 10\nc 3\na 2\nB 1\n\n10 x\n9 y\n-1 z\n",
    r"""
head -n2
head -2
head -n -2
head -c5
head -c -3
head
head -n 0
head -q -n1
head --lines=2
head -n +2
tail -n2
tail -1
tail -n +3
tail +3
tail -c5
tail -c +4
tail
tail -n 0
tail -n +0
tail -n +1
tail -n -2
wc -l
wc -w
wc -c
wc -m
wc
wc -lw
wc -cl
sort
sort -n
sort -r
sort -u
sort -nr
sort -rn -u
sort -k2
sort -k2n
sort -k2,2n -k1,1
sort -k1,1r -k2nr
sort -f
sort -s -k1,1
sort -k1.2
sort -k2.1,2.2n
sort -u -k1,1
sort -nk2
sort -r -n -k2
""",
)
MODELLED += with_input(
    "a\nb",
    r"""
tail -n1
tac
paste -s -d ' '
""",
)
MODELLED += with_input(
    "é",
    r"""
wc -c
wc -m
sha1sum
""",
)
MODELLED += with_input(
    "v1.10\nv1.9\n1.0.0\n1.0\n1.0-rc1\n1.0~beta\na.tar.gz\na-1.tar.gz\n0.4.12\n0.4.9.post1\n",
    r"""
sort -V
sort -Vr
sort -rV
""",
)
MODELLED += with_input(
    "a\na\nb\na\n",
    r"""
uniq
uniq -c
uniq -d
uniq -u
""",
)
MODELLED += with_input(
    "a\nb\nc\nd\n",
    r"""
paste - - -
paste -sd ',:'
""",
)
MODELLED += with_input(
    "a\nb\n",
    r"""
paste -s
paste -sd '\n'
paste -sd ''
""",
)
MODELLED += with_input(
    "hello world",
    r"""
base64
base64 -w 10
""",
)
MODELLED += with_input(
    "hellohellohellohellohellohellohellohellohellohellohellohellohellohellohellohellohellohellohellohellohellohellohellohellohellohellohellohellohellohello",
    r"""
base64 -w0
base64
""",
)
MODELLED += with_input(
    "x\n",
    r"""
sha256sum
cat -u
""",
)
MODELLED += with_input(
    "a/b c/d",
    r"""
xargs -n1 basename
xargs basename -a
xargs -n1 dirname
""",
)
UNKNOWN = [
    ("xargs", "it's"),
    ("numfmt --from=auto 1K", ""),
]


def test_as_the_real_tools() -> None:
    check_commands(MODELLED)


def test_what_is_not_modelled_is_unknown() -> None:
    check_unknown(UNKNOWN)
