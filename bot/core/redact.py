"""Secrets out of everything that is logged, told or kept: tokens of GitHub, bearer headers, JSON web tokens, keys."""

from __future__ import annotations

import logging
import re

REDACTED = "[redacted]"

_SECRETS = (
    # Private keys first: what is inside of one could look like something else.
    re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)", re.DOTALL),
    # Installation, user, OAuth and refresh tokens; the newer installation tokens hold dots and dashes.
    re.compile(r"\bgh[a-z]_[A-Za-z0-9][A-Za-z0-9_.\-]{8,}"),
    re.compile(r"\bgithub_pat_[A-Za-z0-9_]{8,}"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?"),
    re.compile(r"(?<=\bsha256=)[0-9a-f]{64}\b"),
)
_HEADER = re.compile(r"\b(bearer|basic|token)([ :=]+)(?!\[redacted\])[A-Za-z0-9+/=_.\-]{16,}", re.IGNORECASE)
_ADDRESS = re.compile(r"(?<=://)[^/\s:@]{1,200}:[^/\s@]{1,200}(?=@)")

_CHATTY = ("github", "urllib3", "httpx", "httpcore")
"""Loggers that print bodies or addresses at level DEBUG, an answer with a new token among them."""


def redact(text: str) -> str:
    """The text with every secret in it replaced."""
    for secret in _SECRETS:
        text = secret.sub(REDACTED, text)
    text = _HEADER.sub(lambda match: f"{match[1]}{match[2]}{REDACTED}", text)
    return _ADDRESS.sub(REDACTED, text)


class RedactingFilter(logging.Filter):
    """Redacts a record before any handler sees it, its exception too."""

    def filter(self, record: logging.LogRecord) -> bool:
        try:
            message = record.getMessage()
        except (TypeError, ValueError):  # a format that does not fit its values
            message = f"{record.msg} {record.args}"
        record.msg, record.args = redact(message), None
        if record.exc_info and record.exc_info[0] is not None:
            record.exc_text = redact(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        elif record.exc_text:
            record.exc_text = redact(record.exc_text)
        return True


def quiet_libraries() -> None:
    """Keeps the libraries that talk to GitHub from logging bodies, whatever level the program logs at."""
    for name in _CHATTY:
        logger = logging.getLogger(name)
        if logger.getEffectiveLevel() < logging.INFO or logger.level == logging.NOTSET:
            logger.setLevel(logging.INFO)
        if not any(isinstance(one, RedactingFilter) for one in logger.filters):
            logger.addFilter(RedactingFilter())
    # These tell the address of each request, and who has that of an artifact may read it.
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # A filter of a logger does not see what its children log.
    child = logging.getLogger("github.Requester")
    child.setLevel(logging.INFO)
    if not any(isinstance(one, RedactingFilter) for one in child.filters):
        child.addFilter(RedactingFilter())


class Secret:
    """A text that no `repr` shows."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return "Secret(***)"

    def reveal(self) -> str:
        """The text."""
        return self._text
