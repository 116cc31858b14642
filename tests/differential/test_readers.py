"""Other readers of bash: `bash -n` accepts the same texts, mvdan/sh finds the same trees and bashlex the same words."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings

from .generators import FAMILIES, SETTINGS
from .harness import BASH, Case, load_cases
from .readers import CannotReadError, read_bashlex, read_botlint, read_shfmt, read_words

ROOT = Path(__file__).parents[2]
# Where mvdan/sh reads something else than bash, as the run of the case in bash shows.
SHFMT_MISREADS = {
    "expansion/replace with slashes": "takes the pattern of `${p////-}` for empty",
    "quoting/backslash at the end of file": "keeps the backslash",
    "syntax/many empty lines and a trailing backslash comment": "lets a comment go on over a backslash",
}
# bashlex loses here-documents inside compound commands; those texts are left out altogether.
BASHLEX_MISREADS = {
    "syntax/comments everywhere": "reads `;#` as no comment",
    "syntax/elif and else chains": "loses the branches of `elif`",
}

# Texts of which botlint's reader still refuses what bash accepts; such a test fails as soon as the reader accepts it.
REFUSED_HERE = {
    "nesting/continuation inside names, operators and braces": "a continued line inside a token is not joined",
}


def _texts() -> list[tuple[str, str]]:
    """Every script of the corpus, the scripts beside them, and the scripts of the example repository."""
    cases = load_cases()
    found = [(case.id, case.script) for case in cases]
    found += [(f"{case.id}: {name}", text) for case in cases for name, text in _scripts(case)]
    examples = sorted((ROOT / "examples").rglob("*.sh"))
    return found + [(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) for path in examples]


def _scripts(case: Case) -> list[tuple[str, str]]:
    return [(name, text) for name, text in case.files.items() if name.endswith(".sh")]


TEXTS = _texts()


def _read(text: str) -> object:
    try:
        return read_botlint(text)
    except CannotReadError as error:
        return f"not bash: {error}"


def _pending(name: str, text: str) -> object:
    reason = REFUSED_HERE.get(name)
    marks = [] if reason is None else [pytest.mark.xfail(reason=reason, strict=True)]
    return pytest.param(name, text, id=name, marks=marks)


@pytest.mark.parametrize(("name", "text"), [_pending(name, text) for name, text in TEXTS])
def test_bash_accepts_the_same_texts(name: str, text: str) -> None:
    command = [BASH, "-n", "-O", "extglob"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=10, check=False)
    if "coproc" in text and done.returncode == 0:
        pytest.skip("coproc is read but has no form to compare")
    refused = isinstance(_read(text), str)
    assert refused == (done.returncode != 0), f"{_read(text)}\n{done.stderr.decode()}"


@pytest.mark.parametrize(("name", "text"), TEXTS, ids=[name for name, _ in TEXTS])
def test_shfmt_reads_the_same_tree(name: str, text: str) -> None:
    if name in SHFMT_MISREADS:
        pytest.skip(f"mvdan/sh {SHFMT_MISREADS[name]}")
    try:
        wanted = read_shfmt(text)
    except CannotReadError as error:
        pytest.skip(f"mvdan/sh: {error}")
    assert _read(text) == wanted


def test_bashlex_finds_the_same_words() -> None:
    compared = 0
    for name, text in TEXTS:
        if "<<" in text or name in BASHLEX_MISREADS:
            continue
        try:
            wanted, found = read_bashlex(text), read_words(text)
        except CannotReadError:
            continue
        compared += 1
        assert found == wanted, name
    # Most of the corpus: had bashlex begun to refuse everything, this test would say nothing.
    assert compared > len(TEXTS) // 2


@pytest.mark.parametrize("family", FAMILIES)
def test_shfmt_reads_the_same_tree_of_generated_scripts(family: str) -> None:
    @settings(SETTINGS, max_examples=12)
    @given(FAMILIES[family]())
    def check(script: str) -> None:
        try:
            wanted = read_shfmt(script)
        except CannotReadError:
            return
        assert _read(script) == wanted, script

    check()
