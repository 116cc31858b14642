"""Logs of the App: one JSON object a line, with every secret redacted, for whatever collects them."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any, TextIO

from botlint.core.redact import RedactingFilter, quiet_libraries, redact

_STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
_LONGEST = 8_000


class JsonLines(logging.Formatter):
    """A record as one line of JSON: time, level, logger, message, what was given as `extra`, and the exception."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage()[:_LONGEST],
        }
        for name, value in record.__dict__.items():
            if name not in _STANDARD and not name.startswith("_"):
                line.setdefault(
                    name, value if isinstance(value, (int, float, bool, list)) or value is None else str(value)
                )
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(record.exc_info)
        if record.exc_text:
            line["exception"] = record.exc_text[:_LONGEST]
        # Once more over the whole line: a value of `extra` may hold what the filter did not see.
        return redact(json.dumps(line, ensure_ascii=True, default=str))


def set_up(level: str, stream: TextIO | None = None) -> None:
    """Send all logs of the process to `stream` (stderr) as JSON, from this level up."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    handler.addFilter(RedactingFilter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    quiet_libraries()
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "dbos"):
        logger = logging.getLogger(name)
        logger.handlers[:] = []
        logger.propagate = True
    # Every request is counted already, and addresses of details pages are secrets.
    logging.getLogger("uvicorn.access").setLevel(logging.CRITICAL)
