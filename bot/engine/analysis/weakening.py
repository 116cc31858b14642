"""What a change does to the settings, custom rules and baseline of its repository: where they find less than before.

A review goes by the settings of the base, so the change itself is not let off; once it is merged, the next one is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Literal

from botlint.core.errors import UsageError
from botlint.core.finding import SEVERITIES
from botlint.core.span import Span
from botlint.documents.yaml import Mapping as MappingNode
from botlint.documents.yaml import YamlDocument, find
from botlint.engine.baseline import Accepted, Baseline, read_baseline
from botlint.engine.settings import SETTINGS_PATH, Level, ReviewSettings, Settings, read_settings
from botlint.layouts.choose import layout_of
from botlint.repo.files import Files

if TYPE_CHECKING:
    from botlint.core.ruleinfo import RuleInfo
    from botlint.engine.context import Context
    from botlint.engine.rules import Rule

Kind = Literal["setting", "rule-removed", "rule-changed", "broken"]

MAX_LISTED = 3


@dataclass(frozen=True, slots=True)
class Weakening:
    """One thing that is weaker than in the base: what, how it was and is, and where that is written."""

    kind: Kind
    what: str
    before: str
    after: str
    span: Span


@dataclass(frozen=True, slots=True)
class _Own:
    """What a revision says about botlint itself."""

    settings: Settings
    rules: Sequence[Rule]
    baseline: Baseline
    layout: str


@cache
def _builtin() -> Sequence[Rule]:
    from botlint.engine.rules import builtin_rules  # the rules are made of views, of which this is one

    return builtin_rules()


def weakenings(context: Context) -> list[Weakening]:
    """What the change weakens; nothing without a base, or where the base's own settings cannot be used."""
    base = context.base
    if base is None or not _touched(base.files, context.files):
        return []
    try:
        old = _read(base.files)
    except UsageError:
        return []
    try:
        new = _read(context.files)
    except UsageError as error:
        return [Weakening("broken", _first_line(error), "", "", _place_of(error))]
    return list(_compared(old, new, context))


def _touched(base: Files, head: Files) -> bool:
    """Whether the change has anything to do with botlint's own files; the names of others come from the settings."""
    if _content(base, SETTINGS_PATH) != _content(head, SETTINGS_PATH):
        return True
    try:
        settings = read_settings(base)
    except UsageError:
        return True
    if _content(base, settings.baseline) != _content(head, settings.baseline):
        return True
    paths = {*base.paths(settings.custom_rules), *head.paths(settings.custom_rules)}
    return any(_content(base, path) != _content(head, path) for path in paths)


def _content(files: Files, path: str) -> bytes | str | None:
    return files.read(path) if files.is_file(path) else files.symlink_target(path)


def _read(files: Files) -> _Own:
    """Raises UsageError for what botlint could not use."""
    from botlint.engine.policy import rule_info, with_custom_rules
    from botlint.engine.suppressions import SUPPRESSION_RULES

    settings = read_settings(files)
    rules = with_custom_rules(files, settings, _builtin())
    settings.check_names([*map(rule_info, rules), *SUPPRESSION_RULES])
    return _Own(settings, rules, read_baseline(files, settings.baseline), settings.layout or layout_of(files))


def _compared(old: _Own, new: _Own, context: Context) -> Iterator[Weakening]:
    places = _Places(context.yaml(SETTINGS_PATH) if context.files.is_file(SETTINGS_PATH) else None)
    before, after = old.settings, new.settings
    if SEVERITIES.index(after.fail_level) < SEVERITIES.index(before.fail_level):
        yield Weakening("setting", "fail-level", before.fail_level, after.fail_level, places.at("fail-level"))
    if old.layout != new.layout:
        yield Weakening("setting", "layout", old.layout, new.layout, places.at("layout"))
    yield from _levels(old, new, places)
    for number, pattern in enumerate(after.exclude):
        if pattern not in before.exclude:
            span = places.at("paths", "exclude", number)
            yield Weakening("setting", f"paths.exclude {pattern}", "not excluded", "excluded", span)
    if before.require_suppression_reason and not after.require_suppression_reason:
        yield Weakening(
            "setting", "require-suppression-reason", "true", "false", places.at("require-suppression-reason")
        )
    yield from _review(before.review, after.review, places)
    accepted = [one for key, one in new.baseline.items() if key not in old.baseline]
    if accepted:
        path = after.baseline if context.files.is_file(after.baseline) else SETTINGS_PATH
        listed = f"{len(new.baseline):,} findings accepted, {len(accepted):,} of them new: {_listed(accepted)}"
        span = Span(path, 1, 1, 1, 1)
        yield Weakening("setting", "baseline", f"{len(old.baseline):,} findings accepted", listed, span)
    yield from _custom(old, new, places)


def _listed(accepted: Sequence[Accepted]) -> str:
    names = list(dict.fromkeys(f"{one.rule} in {one.path}" for one in accepted))
    return ", ".join(names[:MAX_LISTED]) + (", ..." if len(names) > MAX_LISTED else "")


def _levels(old: _Own, new: _Own, places: _Places) -> Iterator[Weakening]:
    """Rules whose findings are milder, by the setting that makes them so."""
    milder: dict[tuple[str, Level], list[tuple[str, Level]]] = {}
    for info in _infos(old.rules):
        before, after = old.settings.level(info, old.layout), new.settings.level(info, old.layout)
        if _mildness(after) <= _mildness(before):
            continue
        name = next((name for name in info.names if name in new.settings.rules), None)
        name = name or next((name for name in info.names if name in old.settings.rules), None)
        if name is None:
            # A setting of reviews no longer asks for the rule: that is said of the setting.
            continue
        milder.setdefault((name, after), []).append((info.name, before))
    for (name, after), rules in milder.items():
        worst = min((level for _, level in rules), key=_mildness)
        only = len(rules) == 1 and rules[0][0] == name
        listed = ", ".join(rule for rule, _ in rules[:MAX_LISTED]) + (", ..." if len(rules) > MAX_LISTED else "")
        what = f"rules.{name}" if only else f"rules.{name} ({listed})"
        yield Weakening("setting", what, worst, after, places.at("rules", name))


def _infos(rules: Iterable[Rule]) -> list[RuleInfo]:
    from botlint.engine.policy import rule_info
    from botlint.engine.suppressions import SUPPRESSION_RULES

    return [*map(rule_info, rules), *SUPPRESSION_RULES]


def _mildness(level: Level) -> int:
    return len(SEVERITIES) if level == "off" else SEVERITIES.index(level)


def _review(before: ReviewSettings, after: ReviewSettings, places: _Places) -> Iterator[Weakening]:
    for name in ("require-dco", "fail-closed"):
        field = name.replace("-", "_")
        if getattr(before, field) and not getattr(after, field):
            yield Weakening("setting", f"review.{name}", "true", "false", places.at("review", name))
    if before.checklist and before.checklist != after.checklist and after.checklist != "*":
        now = after.checklist or "not asked for"
        yield Weakening("setting", "review.checklist", before.checklist, now, places.at("review", "checklist"))
    old, new = before.sign_off, after.sign_off
    if old is None:
        return
    if new is None:
        yield Weakening("setting", "review.sign-off", old.phrase, "not asked for", places.at("review", "sign-off"))
        return
    if new.phrase != old.phrase:
        place = places.at("review", "sign-off", "phrase")
        yield Weakening("setting", "review.sign-off.phrase", old.phrase, new.phrase, place)
    if old.by == "codeowners" and new.by == "write":
        yield Weakening("setting", "review.sign-off.by", old.by, new.by, places.at("review", "sign-off", "by"))


def _custom(old: _Own, new: _Own, places: _Places) -> Iterator[Weakening]:
    """Custom rules that are gone, or say something else: whether that is less cannot be told."""
    now = {rule.id: rule for rule in new.rules if rule.family == "custom"}
    for rule in old.rules:
        if rule.family != "custom":
            continue
        same = now.get(rule.id)
        if same is None:
            moved = new.settings.custom_rules != old.settings.custom_rules
            span = places.at("custom-rules") if moved else Span(rule.path, 1, 1, 1, 1)
            yield Weakening("rule-removed", rule.name, rule.path, "", span)
        elif _said(rule) != _said(same):
            yield Weakening("rule-changed", rule.name, rule.path, same.path, Span(same.path, 1, 1, 1, 1))


def _said(rule: Rule) -> str:
    """What a rule decides, whatever it is called and how it explains that."""
    texts: dict[str, object] = dict.fromkeys(("message_text", "remedy_text", "why", "path"), "")
    return repr(replace(rule, examples=(), sources=(), aliases=(), meter=None, **texts))  # type: ignore[arg-type]


class _Places:
    """Where settings of the head are written; the file's first line for one that is not."""

    def __init__(self, document: YamlDocument | None) -> None:
        self._root = None if document is None else document.root

    def at(self, *path: str | int) -> Span:
        """The place of a setting, else of the innermost one around it that is there."""
        for length in range(len(path), 0, -1):
            name = path[length - 1]
            if isinstance(name, str):
                above = find(self._root, path[: length - 1]) if length > 1 else self._root
                key = above.key_node(name) if isinstance(above, MappingNode) else None
                if key is not None:
                    return key.span
                continue
            node = find(self._root, path[:length])
            if node is not None:
                return node.span
        return Span(SETTINGS_PATH, 1, 1, 1, 1)


def _first_line(error: UsageError) -> str:
    return " ".join(str(error).split())[:500]


def _place_of(error: UsageError) -> Span:
    """The place that the text of an error names, which is that of a file of botlint's own."""
    for line in str(error).split("\n"):
        parts = line.split(":")
        if len(parts) > 3 and parts[1].isdecimal() and len(parts[1]) < 8:
            number = max(1, int(parts[1]))
            return Span(parts[0], number, 1, number, 1)
    return Span(SETTINGS_PATH, 1, 1, 1, 1)
