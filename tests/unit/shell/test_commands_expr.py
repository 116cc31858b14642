"""Models of expr and test compared with the real tools."""

from __future__ import annotations

from real_tools import check_commands, with_input

MODELLED = []
MODELLED += with_input(
    "",
    r"""
expr 1 + 2
expr 7 / 2
expr 7 % 3
expr 2 '*' 3
expr 1 - 1
expr 5 '>' 3
expr 5 '<' 3
expr abc : 'a\(.*\)'
expr abc : a
expr abc : b
expr length hello
expr substr hello 2 3
expr index hello lo
expr match hello 'h.l'
expr '' '|' x
expr a '&' b
expr 0 '|' 0
expr '(' 1 + 2 ')' '*' 3
expr 1 +
expr a + 1
expr 1 / 0
expr 10 = 10.0
expr 010 = 10
expr -- 3
expr -1 + 2
expr a '!=' b
expr + length
expr 00
expr
expr a b
expr -7 / 2
expr 1 + 2 '*' 3
expr abc '<' abd
expr substr hello 0 2
expr 'v1.2' : 'v\([0-9]*\)\.'
expr 3 '>=' 3
test a = a
test a = b
test -n a
test -z a
test
test a
test ''
test 1 -eq 1
test 1 -lt x
test ! a
test ! a = b
test a = a -a b = b
test a = b -o b = b
test '(' a = a ')'
test '(' a = b ')' -o x
[ a = a ]
[ a = a
[ ]
[ -n ]
[ -z '' -a -n x ]
[ 10 -gt 9 ]
[ ' 3 ' -eq 3 ]
[ a == a ]
[ a '<' b ]
[ ! ]
[ ! '' ]
[ -n = -n ]
[ a -o ]
[ '!' = '!' ]
[ ! -z a -a a = a ]
[ a b ]
[ a b c ]
[ -x ]
[ '(' ')' ]
[ '(' a ')' ]
[ 08 -eq 8 ]
[ 1.5 -gt 1 ]
[ '' -eq 0 ]
[ -d = -d ]
[ 5 -ge 5 -a 3 -le 4 ]
[ ! a -a b ]
[ a -a ! b ]
""",
)


def test_as_the_real_tools() -> None:
    check_commands(MODELLED)
