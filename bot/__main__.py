"""`python -m botlint` is the command `botlint`."""

from __future__ import annotations

from botlint.cli import run

if __name__ == "__main__":
    run()
