"""`botlint fix`: the fixes of findings, shown as a diff or applied."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from botlint.cli.common import Settings, common_options, no_collection
from botlint.core.errors import UsageError

if TYPE_CHECKING:
    from botlint.core.finding import Finding
    from botlint.core.ruleinfo import RuleInfo
    from botlint.fixes.verify import Outcome as Fixed
    from botlint.repo.files import Files, SourceText


@click.command()
@click.argument("rules", nargs=-1, metavar="[RULE]...")
@click.option(
    "--repo",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="The repository (default: the current folder).",
)
@click.option("--apply", "apply_them", is_flag=True, help="Write the files instead of showing the diff.")
@click.option("--unsafe", is_flag=True, help="Also fixes that may change what a job means.")
@common_options
def fix(settings: Settings, rules: tuple[str, ...], repo: Path, apply_them: bool, unsafe: bool) -> int:
    """Show how findings can be mended, as a diff; with --apply, mend them.

    RULE is a rule's name or id, or a family; default: all. Every fix is tried first: the files must still be read, the
    finding must be gone and nothing new may appear, else the fix is withdrawn. The rest of a file stays as it is.

    Exit status: 1 if findings at or above the fail level are left in the files, else 0.

    \b
    Examples:
      botlint fix
      botlint fix unused-suppression --apply
      botlint fix --unsafe | git apply --check -
    """
    from botlint.cli.checking import run_check
    from botlint.cli.writing import write_inside
    from botlint.fixes.verify import verified

    with no_collection():
        outcome = run_check(repo, base=None, head=None, select=(), settings=settings)
        chosen = _chosen(outcome.report.findings, rules, outcome.policy.infos)
        safe = [one for one in chosen if one.fix is not None and (one.fix.safe or unsafe)]
        sources = _sources(outcome.context.files, safe)
        texts = {path: source.text for path, source in sources.items()}
        fixed = verified(texts, outcome.report.findings, safe, outcome.again)
    contents = {path: _encoded(text, sources[path]) for path, text in fixed.changed.items()}
    if apply_them:
        for path, content in contents.items():
            write_inside(repo, path, content, outcome.context.files.read(path))
            settings.note(f"wrote {path}")
    with settings.open_output() as stream:
        stream.writelines(_diff(texts, fixed.changed, settings))
    _tell(settings, fixed, len(chosen) - len(safe), apply_them)
    if apply_them and not outcome.report.failures:
        mended = {id(one) for one in fixed.mended}
        left = [one for one in outcome.report.findings if id(one) not in mended]
        outcome.report = replace(outcome.report, findings=tuple(left))
    return outcome.exit_code


def _chosen(findings: Sequence[Finding], names: Sequence[str], infos: Mapping[str, RuleInfo]) -> list[Finding]:
    """The findings with a fix of the rules that are asked for. Raises UsageError for a name that is none."""
    known: dict[str, set[str]] = {}
    for info in infos.values():
        for name in info.names:
            known.setdefault(name, set()).add(info.name)
    unknown = [name for name in names if name not in known]
    if unknown:
        from botlint.cli.checking import unknown_rules

        raise UsageError(unknown_rules(unknown, known))
    wanted = {rule for name in names for rule in known[name]} if names else None
    return [one for one in findings if one.counts and one.fix is not None and (wanted is None or one.rule in wanted)]


def _sources(files: Files, findings: Sequence[Finding]) -> dict[str, SourceText]:
    paths = {edit.span.path for one in findings if one.fix is not None for edit in one.fix.edits}
    sources = {path: files.text(path) for path in sorted(paths)}
    return {path: source for path, source in sources.items() if source is not None}


def _encoded(text: str, source: SourceText) -> bytes:
    """The bytes of a text in the encoding that its file has. Raises UsageError if that cannot hold it."""
    try:
        return text.encode(source.encoding)
    except UnicodeEncodeError as error:
        raise UsageError(f"{source.path} is not UTF-8 and cannot hold the new text; convert it first") from error


def _diff(before: Mapping[str, str], after: Mapping[str, str], settings: Settings) -> Iterator[str]:
    """The diff as it is for a file or a program, without hidden characters for a terminal."""
    from botlint.fixes.diff import shown_diff, unified_diff
    from botlint.plan.style import Style

    color = settings.use_color()
    if not color and (settings.output is not None or not sys.stdout.isatty()):
        yield from unified_diff(before, after)
        return
    style = Style(color)
    paints = {"file": style.strong, "place": style.name, "add": style.good, "remove": style.bad}
    for kind, line in shown_diff(before, after):
        yield paints.get(kind, str)(line) + "\n"


def _tell(settings: Settings, fixed: Fixed, unsafe: int, applied: bool) -> None:
    from botlint.report.options import counted

    for one in fixed.withdrawn:
        settings.note(f"botlint: {one.finding.span}: the fix for {one.finding.rule} is withdrawn: {one.reason}")
    word = "mended" if applied else "can be mended (--apply does it)"
    settings.note(f"{counted(len(fixed.mended), 'finding')} {word}" if fixed.mended else "nothing to mend")
    if unsafe:
        settings.note(f"{counted(unsafe, 'more fix', 'more fixes')} may change what a job means (--unsafe)")
