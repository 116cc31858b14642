"""botlint as an App on the fake: what the scenarios share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from fakehub import App, CheckRun, FakeGitHub, Installation, IssueComment, Pull, Repository, ReviewComment, Token

from botlint.github.analysis import Analysis, Kept, analyse
from botlint.github.client import Client
from botlint.github.models import Identity
from botlint.github.review import Options, Outcome, review
from botlint.repo.files import Files
from botlint.repo.tree import TreeFiles

MARKER = re.compile(r"<!-- botlint:v1 fp=([0-9a-f]{16}) -->")
SUMMARY = "<!-- botlint:v1 summary -->"
PERMISSIONS = {"checks": "write", "contents": "read", "metadata": "read", "pull_requests": "write"}
MAX_CALLS = 25
"""Requests of a review."""


class Analyses:
    """Analyses of changes, each made once: commits have the same names on every fake.

    For tests of what is posted. What was not read for the analysis is not there.
    """

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._made: dict[tuple[str, str], Analysis] = {}

    def __call__(
        self,
        base: Files,
        head: Files,
        *,
        ignored: Mapping[str, str],
        changed: Sequence[str],
        pull: object,
    ) -> Analysis:
        key = (base.label, head.label)
        if key not in self._made:
            kept = Kept(self._kept.blobs, self._kept.plans, self._kept.parts)
            found = analyse(base, head, kept, ignored=ignored, changed=changed)
            for files in (found.base, found.head):
                if isinstance(files, TreeFiles):
                    files.read_with(lambda wanted: {})
            self._made[key] = replace(found, context=None, _lines={})
        return self._made[key]

    def of(self, base: str, head: str) -> Analysis:
        """The analysis that was made of two commits."""
        return self._made[base, head]


@dataclass
class Bot:
    """The App, installed on one repository."""

    hub: FakeGitHub
    repository: Repository
    app: App
    installation: Installation
    kept: Kept
    slept: list[float] = field(default_factory=list)

    def token(self, permissions: Mapping[str, str] | None = None) -> Token:
        """A token as the App gets it for one repository."""
        wanted = self.app.permissions if permissions is None else permissions
        return self.hub.installation_token(self.installation, wanted, [self.repository])

    @property
    def me(self) -> Identity:
        return Identity(self.app.bot.id, self.app.bot.login, bot=True)

    def client(self, token: Token | None = None, name: str | None = None, identity: Identity | None = None) -> Client:
        """A client that waits for nothing."""
        return Client(
            name or self.repository.full_name,
            (token or self.token()).text,
            base_url=self.hub.api,
            identity=identity or self.me,
            timeout=5,
            sleep=self.slept.append,
        )

    def review(self, pull: Pull, *, client: Client | None = None, **options: object) -> Outcome:
        """Reviews a pull request, by default in App mode."""
        wanted = replace(Options(kept=self.kept, app=self.app.id), **options)  # type: ignore[arg-type]
        return review(client or self.client(), pull.number, wanted)

    def mine(self, pull: Pull) -> list[ReviewComment]:
        """The bot's comments on lines and files."""
        return [one for one in pull.inline if one.user is self.app.bot]

    def summaries(self, pull: Pull) -> list[IssueComment]:
        """The bot's summary comments that are not folded away."""
        return [one for one in pull.comments if one.user is self.app.bot and SUMMARY in one.body and not one.minimized]

    def runs(self, pull: Pull) -> list[CheckRun]:
        """The check runs of the newest head."""
        return self.repository.runs(pull.head_sha, "botlint")

    def conclusion(self, pull: Pull) -> str | None:
        """What the one check run of the newest head says."""
        (run,) = self.runs(pull)
        assert run.status == "completed"
        return run.conclusion


def install(hub: FakeGitHub, repository: Repository, kept: Kept, permissions: Mapping[str, str] = PERMISSIONS) -> Bot:
    """The App on a repository; contents, plans and parts of checks are shared by all tests, analysed bases are not."""
    app = hub.app(permissions=permissions)
    return Bot(hub, repository, app, hub.install(app, repository), Kept(kept.blobs, kept.plans, kept.parts))


def open_findings(comments: list[ReviewComment]) -> dict[str, ReviewComment]:
    """The comments whose finding still holds, by fingerprint; two for one are a fault."""
    found: dict[str, ReviewComment] = {}
    for one in comments:
        match = MARKER.search(one.body)
        if match and "<!-- botlint:v1 mended -->" not in one.body:
            assert match[1] not in found, f"told twice: {match[1]}"
            found[match[1]] = one
    return found
