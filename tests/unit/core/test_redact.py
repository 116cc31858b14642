"""Secrets never get past the redaction."""

from __future__ import annotations

import logging

import pytest

from botlint.core.redact import RedactingFilter, redact

SECRETS = [
    "ghs_" + "A1b2" * 9,
    "ghp_" + "A1b2" * 9,
    "ghs_1234567_" + "eyJhbGciOi.JSUzI1NiIs_a-b",
    "github_pat_11ABCDEFG0" + "x" * 40,
    "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxIn0.c2lnbmF0dXJl-_x",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nMIIE that was cut",
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("frame", ["{}", '{{"token": "{}"}}', "a={}&b=1", "Authorization: token {}", "x {} y"])
def test_secrets_are_replaced(secret: str, frame: str) -> None:
    shown = redact(frame.format(secret))
    assert secret not in shown
    assert secret[-12:] not in shown
    assert "[redacted]" in shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer abcdefghijklmnop123", "Authorization: Bearer [redacted]"),
        ("https://user:secret@host/x", "https://[redacted]@host/x"),
        ("X-Hub-Signature-256: sha256=" + "a" * 64, "X-Hub-Signature-256: sha256=[redacted]"),
        ("the token of the job", "the token of the job"),
        ("commit " + "a" * 40, "commit " + "a" * 40),
        ("gh_pages and ghp_x", "gh_pages and ghp_x"),
    ],
)
def test_the_rest_stays(text: str, expected: str) -> None:
    assert redact(text) == expected


def test_records_are_redacted_with_their_exceptions(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("botlint.test")
    logger.addFilter(RedactingFilter())
    try:
        raise ValueError(SECRETS[0])
    except ValueError:
        logger.exception("failed with %s", SECRETS[1])
    logger.warning("%d", "no number")
    assert SECRETS[0] not in caplog.text
    assert SECRETS[1] not in caplog.text
    assert "ValueError: [redacted]" in caplog.text
