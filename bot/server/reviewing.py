"""What a reviewing process does: reviews, with what it keeps from one to the next."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from typing import Any, cast

from botlint.core.errors import UsageError
from botlint.engine.settings import Settings, read_settings
from botlint.github.analysis import Analysis, Kept
from botlint.github.checkruns import when_failed
from botlint.github.models import IssueComment
from botlint.github.port import GitHub
from botlint.github.pull import read_revision
from botlint.github.review import Options, review, review_group
from botlint.github.smokejobs import pick, rules_form
from botlint.server.answers import ignored


class Reviewing:
    """Reviews with one memory; not to be used by two threads at once."""

    def __init__(self) -> None:
        self._kept = Kept(with_origins=True)
        self._analysed: tuple[str, Analysis] | None = None

    def work(self, github: GitHub, kind: str, options: dict[str, Any]) -> object:
        """Do one kind of review and say what came of it. Raises ValueError for a kind that there is none of."""
        self._analysed = None
        outcome = self._review(github, kind, options)
        if self._analysed is not None:
            # Last of all: everybody waits for the check, and nobody yet for its page.
            head, analysis = self._analysed
            self._analysed = None
            cast(Any, github).keep_page(head, _page(github, head, analysis))
        return outcome

    def _review(self, github: GitHub, kind: str, options: dict[str, Any]) -> object:
        match kind:
            case "review":
                return review(github, options["number"], self._options(github, options))
            case "discussed":
                if not self._waits_for_words(github, options["number"]):
                    return "unchanged"
                return review(github, options["number"], self._options(github, {**options, "force": True}))
            case "group":
                return review_group(github, options["head"], options["base"], self._options(github, options))
            case "languages":
                return ",".join(self._settings(github, options["number"]).languages)
            case "when failed":
                settings = self._settings(github, options["number"], options["base"])
                return when_failed(fail_closed=settings.review.fail_closed)
            case "smoke rules":
                return rules_form(self._settings(github, options["number"]))
            case "smoke jobs":
                wanted = options["number"], options["head"], options["words"]
                return pick(github, *wanted, Options(kept=self._kept))
        raise ValueError(f"no such review: {kind!r}")

    def _options(self, github: GitHub, options: Mapping[str, Any]) -> Options:
        def details(head: str, analysis: Analysis) -> str:
            self._analysed = head, analysis
            return cast(str, cast(Any, github).page_address(head))

        return Options(
            kept=self._kept,
            app=options["app"],
            force=bool(options.get("force")),
            details=details if options.get("details") else None,
            ignored=_ignored,
        )

    def _waits_for_words(self, github: GitHub, number: int) -> bool:
        """Whether some rule is about what people say on a pull request, by the settings of the base."""
        return self._settings(github, number).review.sign_off is not None

    def _settings(self, github: GitHub, number: int, base: str = "") -> Settings:
        """The settings of the base of a pull request, or of a `base`.

        They are the defaults where they cannot be read: the check says so.
        """
        if not base:
            pull = github.pull(number)
            base = github.merge_base(pull.base.name, pull.head.sha)
        known = self._kept.bases.get(base)
        if known is not None:
            return known.policy.settings
        try:
            return read_settings(read_revision(github, base, self._kept.blobs))
        except UsageError:
            return Settings()


def _ignored(comments: Sequence[IssueComment]) -> Mapping[str, str]:
    return ignored(comment.body for comment in comments)


def _page(github: GitHub, head: str, analysis: Analysis) -> bytes:
    """The page about an analysis, compressed."""
    from botlint.plan.origins import row_places
    from botlint.report.html.page import render_html
    from botlint.report.options import Options as Shown
    from botlint.report.options import Page

    context = analysis.context
    base = analysis.base.label
    page = Page(
        row_places=[] if context is None else [row_places(job) for job in context.jobs],
        subject=github.repository,
        head=head,
        base=base,
        head_url=f"{github.web}/blob/{head}/",
        base_url=f"{github.web}/blob/{base}/",
    )
    settings = analysis.settings
    options = Shown(verbose=True, fail_level=settings.fail_level, rules=analysis.rules, page=page)
    plans = () if context is None else context.plans
    text = "".join(render_html(analysis.report, plans, analysis.diff, analysis.lines, options))
    return gzip.compress(text.encode("utf-8", "replace"), 6)
