"""The kinds of things that rules range over, in the order in which they are documented."""

from __future__ import annotations

from botlint.engine.views.base import View
from botlint.engine.views.job import VIEW as JOB
from botlint.engine.views.server import VIEW as SERVER

VIEWS: tuple[View, ...] = (JOB, SERVER)
