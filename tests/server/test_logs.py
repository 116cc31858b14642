"""Logs: JSON lines without secrets."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from botlint.server import logs

TOKEN = "ghs_" + "A1b2" * 9
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----"


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    stream = io.StringIO()
    logs.set_up("info", stream)
    yield stream
    root.handlers[:] = before
    root.setLevel(level)


def test_a_record_is_one_line_of_json(stream: io.StringIO) -> None:
    logging.getLogger("botlint.x").info("line one\nline two %s", "é\u2028", extra={"task": "d-1", "seconds": 0.5})
    (line,) = stream.getvalue().splitlines()
    record = json.loads(line)
    assert record["message"] == "line one\nline two é\u2028"
    assert (record["level"], record["task"], record["seconds"]) == ("info", "d-1", 0.5)
    assert record["time"].endswith("Z")


def test_no_secret_gets_through(stream: io.StringIO) -> None:
    logger = logging.getLogger("botlint.x")
    logger.error("token %s", TOKEN)
    logger.error("extra", extra={"header": f"Bearer {TOKEN}", "listed": [TOKEN], "url": "postgresql://b:hunter2@db/b"})
    try:
        raise ValueError(f"{TOKEN} {KEY}")
    except ValueError:
        logger.exception("failed")
    logging.getLogger("github.Requester").debug("body: %s", TOKEN)
    logging.getLogger("urllib3").warning("retry with %s", TOKEN)
    text = stream.getvalue()
    assert "A1b2" not in text
    assert "MIIabc" not in text
    assert "hunter2" not in text
    assert "ValueError" in text
    assert all(json.loads(line) for line in text.splitlines())


def test_a_record_that_does_not_fit_its_values_is_shown(stream: io.StringIO) -> None:
    logging.getLogger("botlint.x").info("%d things", "no number")
    assert "no number" in stream.getvalue()
