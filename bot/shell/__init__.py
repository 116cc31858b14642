"""The abstract interpreter of bash: no process is ever started."""

from __future__ import annotations

from botlint.shell.testing import RecordedCommand, ScriptResult, run_script

__all__ = ["RecordedCommand", "ScriptResult", "run_script"]
