"""`botlint rules`: list, test and start rules, and the facts that they may use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from botlint.cli.common import Settings, common_options
from botlint.core.errors import NothingToCheck, UsageError

if TYPE_CHECKING:
    from botlint.engine.rules import Rule

_NEW = """\
id: {id}
name: {name}
severity: warning
scope: job
view: server
when: server.engine == "vllm"
require: server.tp == job.tp
message: "the server has tensor-parallel size {{server.tp}}, the arm says {{job.tp}}"
at: [server]
related:
  - {{at: job.tp, message: "the arm"}}
remedy: pass $TP to the server
why: |
  Say what goes wrong in a run.
sources: []
examples:
  - name: fires
    arm: {{tp: 4}}
    recipe: |
      vllm serve "$MODEL" --tensor-parallel-size 8  # expect: {name}
  - name: silent
    arm: {{tp: 4}}
    recipe: |
      vllm serve "$MODEL" --tensor-parallel-size "$TP"
  - name: silent where the size is not known
    arm: {{tp: 4}}
    recipe: |
      vllm serve "$MODEL" --tensor-parallel-size "$(curl -s "$HOST/size")"
"""


@click.group()
def rules() -> None:
    """List, test and start rules."""


@rules.command("list")
@click.option("--family", metavar="NAME", help="Only rules of this family.")
@common_options
def list_rules(settings: Settings, family: str | None) -> int:
    """List every rule with its severity."""
    from botlint.engine.rules import builtin_rules

    found = [rule for rule in builtin_rules() if family is None or rule.family == family]
    if not found:
        raise NothingToCheck(f"no rule in family {family!r}")
    width = max(len(rule.name) for rule in found)
    with settings.open_output() as stream:
        for rule in found:
            stream.write(f"{rule.id:7} {rule.name:{width}}  {rule.severity:8} {rule.family}\n")
    return 0


@rules.command("test")
@click.argument("names", nargs=-1, metavar="[RULE|FILE]...")
@common_options
def test_rules(settings: Settings, names: tuple[str, ...]) -> int:
    """Check rule files and run their examples: the shipped rules, those named, or those of FILES."""
    from botlint.engine.examples import run_examples
    from botlint.fixes.edits import apply_fix
    from botlint.report.options import counted

    failed = 0
    chosen = _chosen(names)
    with settings.open_output() as stream:
        for rule in chosen:
            failures = list(run_examples(rule, apply_fix))
            failed += bool(failures)
            for one in failures:
                stream.write(f"{rule.path}: {one.rule}: {one.example}: {one.message}\n")
        examples = counted(sum(len(rule.examples) for rule in chosen), "example")
        stream.write(f"{counted(len(chosen), 'rule')}, {examples}, {failed} failed\n")
    return 1 if failed else 0


def _chosen(names: Sequence[str]) -> list[Rule]:
    """The rules to test, each read with all checks.

    Raises UsageError for errors in their files.
    """
    from botlint.engine.rules import RuleError, builtin_files, load_rule

    files = [(family, path, file.read_text(encoding="utf-8")) for family, path, file in builtin_files()]
    own = [name for name in names if name.endswith((".yaml", ".yml"))]
    wanted = {name for name in names if name not in own}
    if own and not wanted:
        files = []
    for name in own:
        path = Path(name)
        if not path.is_file():
            raise UsageError(f"no such file: {name}")
        try:
            files.append((path.resolve().parent.name, name, path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read {name}: {error}") from None
    found: list[Rule] = []
    errors: list[str] = []
    for family, path_, text in files:
        try:
            rule = load_rule(text, path_, family)
        except RuleError as error:
            errors.extend(f"{p.span.path}:{p.span.line}:{p.span.column}: {p.message}" for p in error.problems)
            continue
        if not wanted or {rule.id, rule.name, rule.family} & wanted or path_ in own:
            found.append(rule)
    if errors:
        raise UsageError("\n".join(errors))
    if not found:
        raise UsageError(f"no such rule: {', '.join(sorted(wanted))}")
    return found


@rules.command("new")
@click.argument("name")
@click.option("--folder", default=".botlint/rules", type=click.Path(path_type=Path), help="Where to write it.")
@click.option("--id", "rule_id", default="OWN001", help="Its id.")
@common_options
def new_rule(settings: Settings, name: str, folder: Path, rule_id: str) -> int:
    """Write a rule to start from."""
    from botlint.engine.rules import RuleError, load_rule

    text = _NEW.format(id=rule_id, name=name)
    path = folder / f"{name}.yaml"
    try:
        load_rule(text, str(path), "custom")
    except RuleError as error:
        raise UsageError(str(error)) from None
    if path.exists():
        raise UsageError(f"{path} exists")
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    settings.note(f"wrote {path}; try: botlint rules test {path}")
    return 0


@rules.command("facts")
@click.argument("view", required=False)
@common_options
def show_facts(settings: Settings, view: str | None) -> int:
    """Show what rules can look at: views, their facts with types, and their anchors."""
    from botlint.engine.predicates import full_names
    from botlint.engine.views.registry import lineage, views

    known = views()
    if view is not None and view not in known:
        raise UsageError(f"no view {view!r}; views are {', '.join(known)}")
    with settings.open_output() as stream:
        for name, one in known.items():
            if view not in (None, name):
                continue
            above = " in ".join(v.name for v in reversed(lineage(name)))
            stream.write(f"{above}: {one.doc}\n")
            for full, fact in full_names(name, one.facts).items():
                stream.write(f"  {full:32} {fact.type:20} {fact.doc}\n")
            for anchor, doc in one.anchors.items():
                stream.write(f"  @{anchor:31} {'place':20} {doc}\n")
            stream.write("\n")
    return 0


@rules.command("docs")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--check", "only_check", is_flag=True, help="Write nothing; fail if a page is not up to date.")
@common_options
def write_docs(settings: Settings, folder: Path, only_check: bool) -> int:
    """Write the pages of all rules into FOLDER, and remove those of rules that are gone."""
    from botlint.engine.pages import NOTICE, all_pages
    from botlint.engine.rules import builtin_rules

    pages = all_pages(builtin_rules())
    found = (
        {path.name: path.read_bytes().decode("utf-8") for path in sorted(folder.glob("*.md"))}
        if folder.is_dir()
        else {}
    )
    stale = [name for name, text in pages.items() if found.get(name) != text]
    gone = [name for name, text in found.items() if name not in pages and text.startswith(NOTICE)]
    for name in [*stale, *gone]:
        settings.note(f"{folder / name}: {'not needed' if name in gone else 'not up to date'}")
    if only_check:
        return 1 if stale or gone else 0
    folder.mkdir(parents=True, exist_ok=True)
    for name in stale:
        (folder / name).write_text(pages[name], encoding="utf-8")
    for name in gone:
        (folder / name).unlink()
    return 0
