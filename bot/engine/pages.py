"""Pages about rules, made from the rule files: one per rule, and the index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from botlint.documents.plain import dump_plain
from botlint.engine.rules import Rule

NOTICE = "<!-- Made from the rule files by `make docs`; do not edit. -->"


def rule_page(rule: Rule) -> str:
    """The page of one rule in Markdown."""
    lines = [NOTICE, "", f"# {rule.name} ({rule.id})", ""]
    rows = [("severity", rule.severity), ("certainty", rule.certainty), ("family", rule.family), ("scope", rule.scope)]
    rows.append(("looks at", f"`{rule.view}`"))
    if rule.asked_by:
        rows.append(("on", _asked(rule.asked_by)))
    if rule.layouts:
        rows.append(("layouts", f"{', '.join(rule.layouts)}; elsewhere only where the settings name it or its family"))
    if rule.version_texts:
        rows.append(("versions", ", ".join(f"{name} {text}" for name, text in rule.version_texts.items())))
    if rule.fix_form is not None:
        rows.append(("fix", "safe" if rule.fix_form.safe else "unsafe: look at it before you apply it"))
    else:
        rows.append(("fix", "none"))
    if rule.aliases:
        rows.append(("earlier names", ", ".join(rule.aliases)))
    lines += ["| | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in rows), ""]
    lines += ["## What it finds", ""]
    if rule.when_text is not None:
        lines += ["Where this holds:", "", *_block("cel", rule.when_text), "", "this must hold:", ""]
    else:
        lines += ["This must hold:", ""]
    lines += [*_block("cel", rule.require_text), "", "Otherwise it says:", "", *_block("text", rule.message_text), ""]
    lines += ["## What goes wrong", "", rule.why, ""]
    for title, wanted in (("## Found", True), ("## Not found", False)):
        shown = [example for example in rule.examples if _expects(rule, example) is wanted]
        if shown:
            lines += [title, ""]
            for example in shown[:2]:
                lines += [f"{str(example['name']).capitalize()}:", "", *_example(example), ""]
    if rule.remedy_text:
        lines += ["## Remedy", "", rule.remedy_text, ""]
    lines += [
        "## When to allow it",
        "",
        f"When it is meant so. {_allowed(rule)}",
        "",
    ]
    if rule.sources:
        lines += ["## Sources", "", *(f"* {source}" for source in rule.sources), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _allowed(rule: Rule) -> str:
    """How to allow a finding; where no comment of a file can, a maintainer says so."""
    if rule.at == ("pull",) or rule.view == "weakened_setting":
        return "A maintainer allows it with a comment on the pull request: `/botlint ignore FINGERPRINT reason`."
    return f"Say why: `# botlint: ignore[{rule.name}] -- reason` on the line, or the line above."


def _asked(by: str) -> str:
    """What turns on a rule that is off by itself."""
    setting = "" if by == "rules" else f"have `review.{by}`, or "
    return f"only where the settings {setting}name it or its family"


def index_page(rules: Iterable[Rule]) -> str:
    """The index of all rules in Markdown."""
    families: dict[str, list[Rule]] = {}
    for rule in rules:
        families.setdefault(rule.family, []).append(rule)
    lines = [NOTICE, "", "# Rules", ""]
    lines += [f"{sum(map(len, families.values()))} rules. `botlint explain RULE` shows a page in the terminal.", ""]
    for family, members in sorted(families.items()):
        lines += [f"## {family}", "", "| id | rule | severity | says |", "| --- | --- | --- | --- |"]
        for rule in members:
            message = " ".join(rule.message_text.split()).replace("|", "\\|").replace("<", "&lt;")
            severity = rule.severity if rule.certainty == "certain" else f"{rule.severity}, possible"
            severity = f"{severity}, if asked for" if rule.asked_by else severity
            lines.append(f"| {rule.id} | [{rule.name}]({rule.name}.md) | {severity} | {message} |")
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def all_pages(rules: Sequence[Rule]) -> dict[str, str]:
    """Every page by its file name."""
    return {"README.md": index_page(rules), **{f"{rule.name}.md": rule_page(rule) for rule in rules}}


def _block(kind: str, text: str) -> list[str]:
    fence = "```"
    while fence in text:
        fence += "`"
    return [f"{fence}{kind}", *text.strip().split("\n"), fence]


def _expects(rule: Rule, example: Mapping[str, Any]) -> bool:
    if example.get("expect"):
        return True
    texts = [example.get("recipe"), *(example.get("files") or {}).values()]
    return any(f"expect: {rule.name}" in text for text in texts if isinstance(text, str))


def _example(example: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    if "pull" in example:
        lines += [*_block("yaml", dump_plain({"pull": example["pull"]}, flow=None, width=120)), ""]
    asked = {key: example[key] for key in ("entry", "scenario", "arm") if key in example}
    if asked:
        lines += _block("yaml", dump_plain(asked, flow=None, width=120))
    if isinstance(example.get("recipe"), str):
        lines += ["", *_block("bash", example["recipe"])]
    for path, text in (example.get("files") or {}).items():
        if isinstance(text, str):
            lines += ["", f"`{path}`", "", *_block("", text)]
    for path, text in (example.get("base") or {}).items():
        lines += ["", f"`{path}` before" if text is not None else f"`{path}` is new"]
        if isinstance(text, str):
            lines += ["", *_block("", text)]
    return lines
