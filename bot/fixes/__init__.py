"""Fixes of findings: edits applied to texts exactly, shown as a diff, and withdrawn if they do not help."""
