"""Colours of the text that people read; without a terminal a style is the text itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Style:
    """Wraps text in terminal colours, or leaves it alone."""

    enabled: bool = False

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.enabled and text else text

    def strong(self, text: str) -> str:
        """A heading."""
        return self._wrap("1", text)

    def faint(self, text: str) -> str:
        """What is said beside the facts."""
        return self._wrap("2", text)

    def good(self, text: str) -> str:
        """Something that works, or was added."""
        return self._wrap("32", text)

    def bad(self, text: str) -> str:
        """Something that fails, or was removed."""
        return self._wrap("31", text)

    def unsure(self, text: str) -> str:
        """Something undecided, or changed."""
        return self._wrap("33", text)

    def name(self, text: str) -> str:
        """The name of a variable or option."""
        return self._wrap("36", text)
