"""What is said of smoke runs, in each language; names in braces are filled in with text that is Markdown already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from botlint.engine.settings import Language
from botlint.smoke.model import VerdictName


@dataclass(frozen=True, slots=True)
class SmokeWords:
    """The sentences of one language."""

    # A run that was asked for.
    asked_title: str
    asked: str
    jobs: str
    left: str
    waits: str
    # Why there is none.
    not_set_up: str
    nothing: str
    nothing_title: str
    moved: str
    name_commit: str
    no_workflow: str
    refused: str
    no_permission: str
    again_title: str
    again: str
    # How it ended.
    verdicts: Mapping[VerdictName, str]
    cancelled: str
    superseded: str
    closed: str
    asked_again: str
    timed_out: str
    no_runner: str
    not_taken: str
    not_approved: str
    gone: str
    no_verdict: str
    unreadable: str
    other_run: str
    not_evidence: str
    missing: str
    unstarted: str
    broken_end: str
    # The report.
    columns: tuple[str, str, str]
    figures: tuple[str, str, str, str, str, str, str, str, str]
    causes: str
    rule: str
    changes: str
    log: str
    acceptance: str
    run: str
    delta: str


EN = SmokeWords(
    asked_title="Smoke run of {jobs}",
    asked="{actor} asked for a smoke run of {head}. The jobs are started for some minutes on one node, with the "
    "smallest changes that let them start there: {jobs}.",
    jobs="Jobs, and what they show",
    left="What this run does not show",
    waits="A runner has to take it within {queue} minutes.",
    not_set_up="Smoke jobs are not set up here.",
    nothing="There is nothing to start: no job that this change leaves open can be run here.",
    nothing_title="Nothing to start",
    moved="Nothing was started: {asked} is not the newest commit of this pull request, which is {head}.",
    name_commit="This pull request is from a fork. What it asks for will run on our node: look at it, and then name "
    "the commit that you looked at, as `botlint smoke {head}` behind a slash.",
    no_workflow="The default branch has no workflow {workflow} that can be started; `botlint init --smoke` writes it.",
    refused="GitHub did not start the workflow: {reason}",
    no_permission="The App may not start workflows here: it needs the permission *Actions: read and write*.",
    again_title="There is a newer commit",
    again="The smoke run that was asked for is about {old}. Ask again for {head}: `botlint smoke {head}` behind a "
    "slash, or remove the label and add it again.",
    verdicts={
        "pass": "Passed",
        "fail": "Failed",
        "infrastructure": "The node is not fit for it",
        "inconclusive": "Undecided",
    },
    cancelled="The run was cancelled",
    superseded="A newer commit was pushed",
    closed="The pull request is closed",
    asked_again="It was asked for again",
    timed_out="The run took too long",
    no_runner="No runner was free for {minutes} minutes",
    not_taken="The run ended before a runner took it",
    not_approved="Nobody approved the run",
    gone="The run is gone",
    no_verdict="The run ended without a verdict",
    unreadable="The verdict cannot be read",
    other_run="The verdict is that of another run",
    not_evidence="The run is not one of the workflow of the default branch",
    missing="{missing} of {asked} jobs have no verdict",
    unstarted="not started",
    broken_end="Passed, but the run failed after that",
    columns=("Job", "Verdict", "Why"),
    figures=(
        "Mode", "ISL/OSL", "Conc", "Req/s", "Total tok/s", "Output tok/s", "median TTFT (ms)",
        "TPOT mean/med/p99 (ms)", "ITL mean/med/p99 (ms)",
    ),
    causes="Probable causes",
    rule="rule {rule}",
    changes="What was started differently from the plan ({number})",
    log="The end of the log",
    acceptance="Acceptance: {rate} of {drafted} drafted tokens{positions}",
    run="The run",
    delta="delta",
)  # fmt: skip

ZH = SmokeWords(
    asked_title="冒烟测试：{jobs}",
    asked="{actor} 请求对 {head} 做冒烟测试。任务将在一个节点上启动几分钟，只做能够启动所需的最小改动：{jobs}。",
    jobs="任务及其所验证的内容",
    left="本次运行未能验证的内容",
    waits="须在 {queue} 分钟内有运行器接手。",
    not_set_up="此处未设置冒烟测试。",
    nothing="没有可启动的任务：此更改所涉及的未定任务都无法在此运行。",
    nothing_title="没有可启动的任务",
    moved="未启动：{asked} 不是此拉取请求的最新提交，最新提交是 {head}。",
    name_commit="此拉取请求来自派生仓库，其内容将在我们的节点上运行：请先审阅，再写明所审阅的提交，"
    "即在斜杠后写 `botlint smoke {head}`。",
    no_workflow="默认分支上没有可启动的工作流 {workflow}；`botlint init --smoke` 可生成它。",
    refused="GitHub 未启动工作流：{reason}",
    no_permission="此 App 无权在此启动工作流：需要 *Actions: read and write* 权限。",
    again_title="有更新的提交",
    again="之前的冒烟测试针对 {old}。请针对 {head} 重新请求：在斜杠后写 `botlint smoke {head}`，或移除标签后重新添加。",
    verdicts={"pass": "通过", "fail": "失败", "infrastructure": "节点不具备条件", "inconclusive": "无法判定"},
    cancelled="运行已取消",
    superseded="已推送更新的提交",
    closed="拉取请求已关闭",
    asked_again="已重新请求",
    timed_out="运行超时",
    no_runner="{minutes} 分钟内没有空闲的运行器",
    not_taken="运行在被接手之前已结束",
    not_approved="无人批准此运行",
    gone="运行已不存在",
    no_verdict="运行结束，但没有结论",
    unreadable="结论无法读取",
    other_run="结论属于另一次运行",
    not_evidence="此运行不属于默认分支的工作流",
    missing="{asked} 个任务中有 {missing} 个没有结论",
    unstarted="未启动",
    broken_end="通过，但运行随后失败",
    columns=("任务", "结论", "原因"),
    figures=(
        "模式", "ISL/OSL", "并发", "请求/秒", "总 tok/s", "输出 tok/s", "TTFT 中位 (ms)",
        "TPOT 均值/中位/p99 (ms)", "ITL 均值/中位/p99 (ms)",
    ),
    causes="可能的原因",
    rule="规则 {rule}",
    changes="与启动计划的不同之处（{number}）",
    log="日志末尾",
    acceptance="接受率：{drafted} 个草稿词元中的 {rate}{positions}",
    run="运行",
    delta="变化",
)  # fmt: skip

WORDS: Mapping[Language, SmokeWords] = {"en": EN, "zh": ZH}


def words_of(languages: Sequence[Language]) -> list[SmokeWords]:
    """The words of some languages, English without any."""
    return [WORDS[language] for language in dict.fromkeys(languages)] or [EN]
