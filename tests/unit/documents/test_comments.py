"""Which `#` begins a comment."""

from __future__ import annotations

import pytest

from botlint.documents.comments import shell_comments, yaml_comments

SHELL = """#!/usr/bin/env bash
# one
echo a  # two
echo "# no" '# no' a#no ${x#no} $# \\# $((2#101)) # three
cat <<'EOF'
# no
EOF
cat <<EOF
# no $(echo b # inner
)
EOF
args=(
    --a  # four
    # five
    "b" #six
)
x="
# no
"
case "$x" in
    a) ;;  # seven
    # eight
    *) exit 1 ;;
esac
if true; then # nine
    :
fi # ten
y=$(date # eleven
)
run \\
    --flag  # twelve
[[ $a =~ ^#no ]]   # thirteen"""

YAML = """# one
a: 'x # no'   # two
b: "x
  # no"
c: |  # three
  # no
  text
# four
d: >-
    # no
    more

    # no
  # five
e: x#no
"f # no": [1, # six
  '# no', 2] # seven
g: &anchor {x: "# no"}  # eight
h: *anchor # nine
---
# ten
i: plain text
j: |

  # no
k:
  - 1# no
  - # eleven
  # twelve"""


def words(text: str) -> list[str]:
    return [word.strip() for word in text.split("\n") if word]


@pytest.mark.parametrize(("read", "text", "last"), [(shell_comments, SHELL, 13), (yaml_comments, YAML, 12)])
def test_comments(read: object, text: str, last: int) -> None:
    names = "one two three four five six seven eight nine ten eleven twelve thirteen".split()
    comments = read(text, "f")  # type: ignore[operator]
    found = [comment.text.lstrip("#! ") for comment in comments if not comment.text.startswith("#!")]
    assert found == names[:last]
    lines = text.split("\n")
    for comment in comments:
        line = lines[comment.span.line - 1]
        assert line[comment.span.column - 1 : comment.span.end_column - 1] == comment.text
        assert comment.alone is (not line[: comment.span.column - 1].strip())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# a\necho 'open # no\n# no\n", ["# a"]),
        ("# a\nif true; then # b\n", ["# a", "# b"]),
        ("# a\n) # no\n# no\n", ["# a"]),
        ("# a\r\necho b # c\r\n", ["# a", "# c"]),
        ("é # a\n", ["# a"]),
        ("((" * 300 + "# no", []),
        ("", []),
    ],
)
def test_comments_of_broken_scripts(text: str, expected: list[str]) -> None:
    assert [comment.text for comment in shell_comments(text, "f")] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1 # a\nb: [ # no\nc: 2\nd: 3 # d\n", ["# a", "# d"]),
        ("a: 1 # a\nb: 'open # no\n  # no\n", ["# a"]),
        ("\ufeff# a\nb: 1\n", []),
        ("# only\n", ["# only"]),
        ("a: 1\r\n# b\r\n", ["# b"]),
    ],
)
def test_comments_of_broken_files(text: str, expected: list[str]) -> None:
    assert [comment.text for comment in yaml_comments(text, "f")] == expected
