"""Blocks of Markdown: what is code, where its lines are, and the headings above it."""

from __future__ import annotations

import pytest

from botlint.documents.markdown import markdown_blocks


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```bash\nvllm serve x\n```\n", [("fence", "bash", ["vllm serve x"])]),
        ("~~~ sh title\na\n~~~~\nb\n", [("fence", "sh", ["a"]), ("paragraph", "", ["b"])]),
        ("````\n```\na\n```\n````\n", [("fence", "", ["```", "a", "```"])]),
        ("```\na\n\nb", [("fence", "", ["a", "", "b"])]),
        ("```\na ```\nb\n", [("fence", "", ["a"]), ("paragraph", "", ["b"])]),
        ("words\n```\na\n```", [("paragraph", "", ["words"]), ("fence", "", ["a"])]),
        ("1.  do\n\n    ```sh\n    a\n      b\n    ```\n", [("paragraph", "", ["do"]), ("fence", "sh", ["a", "  b"])]),
        ("- ```bash\n  a\n  ```\n", [("fence", "bash", ["a"])]),
        ("> ```\n> a\n>   b\n> ```\nc", [("fence", "", ["a", "  b"]), ("paragraph", "", ["c"])]),
        ("> ```\n> a\nc", [("fence", "", ["a"]), ("paragraph", "", ["c"])]),
        ("words:\n\n    a \\\n      --b\n\n    c\n\nmore", [
            ("paragraph", "", ["words:"]),
            ("indented", "", ["a \\", "  --b", "", "c"]),
            ("paragraph", "", ["more"]),
        ]),
        ("words\n    go on", [("paragraph", "", ["words", "go on"])]),
        ("\tvllm serve", [("indented", "", ["vllm serve"])]),
        ("`code` ``` in words", [("paragraph", "", ["`code` ``` in words"])]),
        ("```bash\r\na\r\n```\r\n", [("fence", "bash", ["a"])]),
        ("", []),
    ],
)  # fmt: skip
def test_blocks(text: str, expected: list[tuple[str, str, list[str]]]) -> None:
    found = markdown_blocks(text)
    assert [(one.kind, one.language, [line.text for line in one.lines]) for one in found] == expected


@pytest.mark.parametrize("prefix", ["", "   ", "> ", ">> ", "- ", "    "])
def test_places_are_those_of_the_text(prefix: str) -> None:
    inner = prefix.replace("-", " ")
    text = f"# A\n\n{prefix}```bash\n{inner}vllm serve x\n{inner}```\n"
    if prefix == "    ":
        text = "# A\n\n    vllm serve x\n"
    (line,) = markdown_blocks(text)[0].lines
    assert text.split("\n")[line.number - 1][line.before :] == line.text == "vllm serve x"


def test_headings() -> None:
    text = "# A\n## B\n```\n1\n```\n# C #\n### D\nx\n\nE\n---\ny\n"
    blocks = markdown_blocks(text)
    assert [(one.headings, one.heading_line) for one in blocks] == [
        (("A", "B"), 2),
        (("C", "D"), 7),
        (("C", "E"), 10),
    ]
