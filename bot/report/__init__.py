"""Pure renderers of a report: text, JSON, SARIF, GitHub annotations, JUnit, Markdown.

All text of a repository is untrusted: what it writes is shown, never obeyed.
"""
