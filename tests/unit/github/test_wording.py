"""The sentences of all languages take the same values."""

from __future__ import annotations

import string
from dataclasses import fields
from typing import get_args

import pytest

from botlint.core.finding import NoteKind, Severity
from botlint.engine.settings import LANGUAGES
from botlint.github.wording import EN, WORDINGS, Wording


def slots(value: object) -> object:
    if isinstance(value, str):
        return sorted(name for _, name, _, _ in string.Formatter().parse(value) if name is not None)
    if isinstance(value, tuple):
        return [slots(one) for one in value]
    assert isinstance(value, dict)
    return {key: slots(one) for key, one in value.items()}


@pytest.mark.parametrize("field", [one.name for one in fields(Wording)])
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_values_in_each_language(language: str, field: str) -> None:
    wording = WORDINGS[language]  # type: ignore[index]
    assert slots(getattr(wording, field)) == slots(getattr(EN, field))
    assert getattr(wording, field) or field == "space"


def test_settings_and_sentences_have_the_same_languages() -> None:
    assert set(WORDINGS) == set(LANGUAGES)


@pytest.mark.parametrize("wording", WORDINGS.values())
def test_all_kinds_have_words(wording: Wording) -> None:
    assert set(wording.note_kinds) == set(get_args(NoteKind))
    assert set(wording.severity) == set(get_args(Severity))


@pytest.mark.parametrize(
    ("language", "number", "text"),
    [
        ("en", 1, "1 job"),
        ("en", 0, "0 jobs"),
        ("en", 1820, "1,820 jobs"),
        ("zh", 1, "1 个任务"),
        ("zh", 1820, "1,820 个任务"),
    ],
)
def test_counts(language: str, number: int, text: str) -> None:
    wording = WORDINGS[language]  # type: ignore[index]
    assert wording.count(number, wording.jobs) == text
