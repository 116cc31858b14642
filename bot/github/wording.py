"""Every fixed sentence that botlint says on GitHub, in English and in Simplified Chinese.

What a finding itself says is in English, whatever the language of the sentences around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from botlint.core.finding import NoteKind, Severity
from botlint.engine.settings import Language

Noun = tuple[str, str]
"""A counted thing: the text for one and for several, with the number as `{}`."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The sentences of one language; names in braces are filled in with text that is Markdown already."""

    language: str
    comma: str
    space: str
    """Between two sentences."""
    # Counted things.
    errors: Noun
    warnings: Noun
    infos: Noun
    findings: Noun
    jobs: Noun
    entries: Noun
    files: Noun
    steps: Noun
    # A finding.
    severity: Mapping[Severity, str]
    possible: str
    found_at: str
    deleted: str
    remedy: str
    proof: str
    why: str
    affected: str
    affected_jobs: str
    fix: str
    unsafe_fix: str
    allow: str
    mended: str
    allowed: str
    before: str
    duplicate: str
    # What is left out.
    more: str
    more_in_check: str
    # The verdict.
    fails: str
    may_fail: str
    informs: str
    clean: str
    irrelevant: str
    failed: str
    clean_title: str
    irrelevant_title: str
    failed_title: str
    launched_title: str
    # The rest of the summary.
    commented: str
    unplaced: str
    unplaced_count: str
    columns: tuple[str, str, str, str]
    launched: str
    launched_same: str
    launched_changed: str
    not_compared: str
    changed_jobs: str
    changed_entries: str
    jobs_added: str
    jobs_removed: str
    renamed: str
    outcome: str
    now_at: str
    set_by_runtime: str
    on_runners: str
    nothing: str
    not_read: str
    no_lines: str
    too_many_files: str
    accepted: str
    checked: str
    details: str
    note_kinds: Mapping[NoteKind, Noun]

    def count(self, number: int, noun: Noun) -> str:
        """A number of things in words."""
        return noun[0 if number == 1 else 1].format(f"{number:,}")

    def and_more(self, number: int) -> str:
        """What to say of parts of a list that are left out."""
        return f"- {self.more.format(number=f'{number:,}')}"

    def list(self, *texts: str) -> str:
        """The texts that are not empty, as an enumeration."""
        return self.comma.join(text for text in texts if text)


EN = Wording(
    language="English",
    comma=", ",
    space=" ",
    errors=("{} error", "{} errors"),
    warnings=("{} warning", "{} warnings"),
    infos=("{} remark", "{} remarks"),
    findings=("{} finding", "{} findings"),
    jobs=("{} job", "{} jobs"),
    entries=("{} entry", "{} entries"),
    files=("{} file", "{} files"),
    steps=("{} step", "{} steps"),
    severity={"error": "Error", "warning": "Warning", "info": "Remark"},
    possible="possible",
    found_at="Found at {place}.",
    deleted="this deleted line had what is missing now",
    remedy="Remedy:",
    proof="Proof in {steps}",
    why="Why this goes wrong",
    affected="Affects {jobs} of {entries}",
    affected_jobs="Affects {jobs} of {entry}: {listed}",
    fix="Fix: {title}",
    unsafe_fix="Fix, to be read first, for it may change what other jobs do: {title}",
    allow="More: {explain}. If this is right as it is, say so at {place}: {comment}",
    mended="Mended in {commit}.",
    allowed="Allowed in {commit}: {reason}",
    before="What was said",
    duplicate="The same is said [here]({url}).",
    more="and {number} more",
    more_in_check="and {number} more, see the check",
    fails="This change brings {counts}. What is certain among them keeps the check red.",
    may_fail="This change brings {counts}, and no error that is certain.",
    informs="This change brings {counts}.",
    clean="This change brings no findings.",
    irrelevant="This change touches nothing that botlint looks at.",
    failed="botlint itself could not finish; that is no fault of this change. What it found before is told here.",
    clean_title="No findings",
    irrelevant_title="Nothing to check: no benchmark files touched",
    failed_title="botlint could not finish",
    launched_title="{jobs} launched differently",
    commented="Told at lines of the diff: {findings}.",
    unplaced="Findings that are not told at lines",
    unplaced_count="Told in the table: {findings}.",
    columns=("Severity", "Place", "Finding", "Jobs"),
    launched="What is launched differently",
    launched_same="Every job launches what it launched before.",
    launched_changed="Of {total}, {changed} changed, {added} added, {removed} removed.",
    not_compared="What is launched could not be compared.",
    changed_jobs="{jobs} of {entry}",
    changed_entries="{jobs} of {entries}: {listed}",
    jobs_added="added: {jobs} of {entry}",
    jobs_removed="removed: {jobs} of {entry}",
    renamed="renamed: {old} is now {new}",
    outcome="outcome",
    now_at="now at {place}: {message}",
    set_by_runtime="set by the runtime",
    on_runners="on {runners}",
    nothing="nothing",
    not_read="Not fully looked at: {counts}",
    no_lines="GitHub gives no lines of {files} of this change, so that nothing can be told on them.",
    too_many_files="This change has more files than GitHub lists; findings in the others are told here.",
    accepted="Allowed by comments or by the baseline: {findings}.",
    checked="Checked {head} against {base}.",
    details="Details",
    note_kinds={
        "unread": ("{} file not fully read", "{} files not fully read"),
        "framework": ("{} unknown framework", "{} unknown frameworks"),
        "version": ("{} unknown version", "{} unknown versions"),
        "model": ("{} unknown model", "{} unknown models"),
        "budget": ("{} exceeded budget", "{} exceeded budgets"),
        "undecided": ("{} reason why jobs are undecided", "{} reasons why jobs are undecided"),
        "rule": ("{} rule that could not look", "{} rules that could not look"),
        "suppression": ("{} unclear suppression", "{} unclear suppressions"),
    },
)


def _of(text: str) -> Noun:
    """A counted thing in a language that has one form for any number."""
    return text, text


ZH = Wording(
    language="简体中文",
    comma="，",
    space="",
    errors=_of("{} 个错误"),
    warnings=_of("{} 个警告"),
    infos=_of("{} 条提示"),
    findings=_of("{} 条发现"),
    jobs=_of("{} 个任务"),
    entries=_of("{} 个配置条目"),
    files=_of("{} 个文件"),
    steps=_of("{} 步"),
    severity={"error": "错误", "warning": "警告", "info": "提示"},
    possible="可能",
    found_at="位置：{place}。",
    deleted="现在缺少的内容原本在这一被删除的行中",
    remedy="处理方法：",
    proof="推导过程（{steps}）",
    why="为什么会出错",
    affected="影响 {entries}中的 {jobs}",
    affected_jobs="影响 {entry} 的 {jobs}：{listed}",
    fix="修复：{title}",
    unsafe_fix="修复（可能改变其他任务的行为，请先检查）：{title}",
    allow="详细说明：{explain}。如果现状无误，请在 {place} 处注明：{comment}",
    mended="已在 {commit} 中修复。",
    allowed="已在 {commit} 中被允许：{reason}",
    before="原内容",
    duplicate="相同内容见[此处]({url})。",
    more="另有 {number} 项",
    more_in_check="另有 {number} 项，详见检查结果",
    fails="此更改带来 {counts}。其中确定的问题会使检查不通过。",
    may_fail="此更改带来 {counts}，其中没有确定的错误。",
    informs="此更改带来 {counts}。",
    clean="此更改没有带来任何发现。",
    irrelevant="此更改没有涉及 botlint 所检查的内容。",
    failed="botlint 自身未能完成检查，这不是此更改的问题。此前得到的发现列于此处。",
    clean_title="没有发现问题",
    irrelevant_title="无需检查：没有涉及基准测试文件",
    failed_title="botlint 未能完成检查",
    launched_title="{jobs}的启动内容有变化",
    commented="已在差异的相应行上标注 {findings}。",
    unplaced="未能标注在行上的发现",
    unplaced_count="列于表中的有 {findings}。",
    columns=("级别", "位置", "发现", "任务"),
    launched="启动内容的变化",
    launched_same="所有任务的启动内容均与之前相同。",
    launched_changed="共 {total}：变化 {changed}，新增 {added}，删除 {removed}。",
    not_compared="无法比较启动内容。",
    changed_jobs="{entry} 的 {jobs}",
    changed_entries="{entries}的 {jobs}：{listed}",
    jobs_added="新增：{entry} 的 {jobs}",
    jobs_removed="删除：{entry} 的 {jobs}",
    renamed="更名：{old} 现为 {new}",
    outcome="结果",
    now_at="现在于 {place}：{message}",
    set_by_runtime="由运行时设置",
    on_runners="在 {runners} 上",
    nothing="无",
    not_read="未能完整检查：{counts}",
    no_lines="GitHub 未提供此更改中 {files}的行信息，因此无法在其中标注。",
    too_many_files="此更改的文件数超过 GitHub 可列出的上限，其余文件中的发现列于此处。",
    accepted="已被注释或基线允许的有 {findings}。",
    checked="已将 {head} 与 {base} 比较检查。",
    details="详情",
    note_kinds={
        "unread": _of("{} 个文件未能完整读取"),
        "framework": _of("{} 个未知框架"),
        "version": _of("{} 个未知版本"),
        "model": _of("{} 个未知模型"),
        "budget": _of("{} 处超出预算"),
        "undecided": _of("{} 个任务无法判定的原因"),
        "rule": _of("{} 条规则未能执行"),
        "suppression": _of("{} 条不明确的抑制注释"),
    },
)

WORDINGS: Mapping[Language, Wording] = {"en": EN, "zh": ZH}
