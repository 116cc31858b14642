"""botlint: what each job of an LLM-inference benchmark repository will really launch, and what is wrong with it."""

from __future__ import annotations

__version__ = "0.1.0"
