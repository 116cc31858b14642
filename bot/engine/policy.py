"""What a repository's settings make of rules and findings: levels, left-out paths, suppressions, the baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from botlint.core.errors import UsageError
from botlint.core.finding import Finding
from botlint.core.ruleinfo import RuleInfo
from botlint.engine.baseline import apply_baseline, read_baseline
from botlint.engine.context import Context
from botlint.engine.rules import Rule, custom_rules
from botlint.engine.settings import DEFAULT_RULES, Settings, own_text, refuse_links
from botlint.engine.suppressions import SUPPRESSION_RULES, read_suppressions, suppress
from botlint.layouts.choose import INFERENCEX, layout_of
from botlint.repo.files import Files

MAX_RULE_FILES = 500
"""Files of custom rules that are read."""


def rule_info(rule: Rule) -> RuleInfo:
    """What reports and settings know of a rule."""
    return RuleInfo(
        rule.id,
        rule.name,
        rule.family,
        rule.severity,
        rule.certainty,
        rule.why,
        rule.remedy_text,
        rule.sources,
        rule.aliases,
        rule.asked_by,
        rule.layouts,
    )


def with_custom_rules(files: Files, settings: Settings, builtin: Sequence[Rule]) -> list[Rule]:
    """The rules that ship and those of the repository. Raises UsageError with the place of an error in one."""
    folder = settings.custom_rules
    refuse_links(files, folder)
    if folder != DEFAULT_RULES and not files.is_dir(folder):
        raise UsageError(f"{folder}: there is no such folder, which the settings name as that of custom rules")
    texts: list[tuple[str, str]] = []
    for path in files.paths(folder):
        if path.endswith((".yaml", ".yml")) and len(texts) <= MAX_RULE_FILES:
            text = own_text(files, path)
            if text is not None:
                texts.append((path, text))
    return [*builtin, *custom_rules(texts, builtin)]


@dataclass(frozen=True)
class Policy:
    """The settings with all rules that exist; `rules` are those that run.

    The baseline is that of the revision whose findings are looked at, or of `accepted`. Rules of other layouts than
    `layout` are off unless the settings name them.
    """

    settings: Settings
    known: Sequence[Rule]
    rules: Sequence[Rule]
    with_baseline: bool = True
    accepted: Files | None = None
    layout: str = INFERENCEX

    @property
    def infos(self) -> dict[str, RuleInfo]:
        """All rules by name, those about comments included."""
        return {info.name: info for info in (*map(rule_info, self.known), *SUPPRESSION_RULES)}

    def adjust(self, findings: list[Finding], context: Context) -> list[Finding]:
        """The findings of a whole revision as its settings, comments and baseline have them.

        Raises UsageError if the baseline is none.
        """
        infos = self.infos
        also = dict.fromkeys(place for one in findings for place in _paths(one))
        comments = [one for one in read_suppressions(context.files, also) if not self.settings.excludes(one.span.path)]
        # A change that weakens the settings cannot allow itself to.
        guards = {rule.name for rule in self.rules if rule.view == "weakened_setting"}
        guarded = [one for one in findings if one.rule in guards]
        # What only a change can break is silent without a change: that proves nothing about its comments.
        ran = {rule.name for rule in self.rules if rule.scope != "pull-request"}
        findings = suppress(
            [one for one in findings if one.rule not in guards],
            comments,
            infos.values(),
            ran=ran,
            require_reason=self.settings.require_suppression_reason,
        )
        findings = list(self._levelled(sorted([*findings, *guarded], key=lambda one: one.order), infos))
        if not self.with_baseline:
            return findings
        return apply_baseline(findings, read_baseline(self.accepted or context.files, self.settings.baseline))

    def _levelled(self, findings: Iterable[Finding], infos: dict[str, RuleInfo]) -> Iterable[Finding]:
        for one in findings:
            info = infos.get(one.rule)
            level = one.severity if info is None else self.settings.level(info, self.layout)
            if level != "off" and not self.settings.excludes(one.span.path):
                yield one if level == one.severity else replace(one, severity=level)


def make_policy(
    files: Files,
    settings: Settings,
    builtin: Sequence[Rule],
    select: Callable[[Sequence[Rule]], Sequence[Rule]],
    with_baseline: bool = True,
    accepted: Files | None = None,
) -> Policy:
    """The policy of a revision: all its rules, and of those that are selected the ones that the settings leave on.

    With `accepted`, the baseline is always that revision's.

    Raises UsageError for an error in a custom rule and for a rule in the settings that does not exist.
    """
    known = with_custom_rules(files, settings, builtin)
    settings.check_names([*map(rule_info, known), *SUPPRESSION_RULES])
    layout = settings.layout or layout_of(files)
    on = [rule for rule in select(known) if settings.level(rule_info(rule), layout) != "off"]
    return Policy(settings, known, on, with_baseline, accepted, layout)


def _paths(finding: Finding) -> Iterable[str]:
    yield finding.span.path
    yield from (related.span.path for related in finding.related)
