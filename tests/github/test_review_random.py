"""People and GitHub do anything in any order between reviews; after the next one everything is there, and once."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from fakehub import FakeGitHub, Fault, ReviewComment, faults
from fakehub.seed import CHANGELOG, RECIPE, plant, with_backend, with_guard
from reviewing import PERMISSIONS, Analyses, Bot, install, open_findings

from botlint.core.finding import Finding
from botlint.github.analysis import Kept
from botlint.github.port import GitHubError

OPERATIONS = (
    "checks/create checks/list-annotations checks/list-for-ref checks/update git/get-tree graphql issues/create-comment"
    " issues/list-comments issues/update-comment pulls/create-review pulls/create-review-comment pulls/get"
    " pulls/list-files pulls/list-review-comments pulls/update-review-comment"
).split()
RESOLVE = {".botlint.yaml": "version: 1\nreview:\n  resolve-threads: true\n"}


class Story:
    """A pull request, what happens to it, and what must be true in the end."""

    def __init__(self, hub: FakeGitHub, kept: Kept, analyses: Analyses, seed: int) -> None:
        self.hub = hub
        self.chance = random.Random(seed)
        self.told: list[str] = []
        self.analyses = analyses
        base = dict(RESOLVE) if self.chance.random() < 0.4 else {}
        self.seed = plant(hub, fork=self.chance.choice([None, "mallory"]), base=base)
        self.pull = self.seed.pull
        contents = self.chance.choice(["read", "write"])
        self.bot: Bot = install(hub, self.seed.repository, kept, {**PERMISSIONS, "contents": contents})
        broken = self.seed.recipe
        self.recipes = [broken, with_guard(broken), with_backend(broken), with_guard(with_backend(broken))]
        self.recipe = broken
        self.answers: list[tuple[ReviewComment, str]] = []

    @property
    def happenings(self) -> list[Callable[[], object]]:
        """What may happen; faults and reviews more often than the rest."""
        rare = [self.push, self.force_push, self.remark, self.words, self.answer, self.close_thread, self.open_thread]
        rare += [self.delete, self.delete_summary, self.edit, self.draft, self.title, self.base_moves, self.push]
        return [*rare, *[self.fault] * 4, *[self.review] * 3]

    def happen(self, steps: int) -> None:
        for _ in range(steps):
            step = self.chance.choice(self.happenings)
            self.told.append(f"{step.__name__}: {step()}")

    # Pushes

    def push(self) -> str:
        self.recipe = self.chance.choice(self.recipes)
        return self.pull.push({RECIPE: self.recipe, "n.txt": str(len(self.told))})

    def force_push(self) -> str:
        self.recipe = self.chance.choice(self.recipes)
        changes = {RECIPE: self.recipe, CHANGELOG: self.seed.text(CHANGELOG), "n.txt": str(len(self.told))}
        return self.pull.force_push(dict(changes))

    def remark(self) -> str:
        text = self.recipe.replace("\nDRAFT_MODEL=", f"\n# {len(self.told)}\nDRAFT_MODEL=")
        return self.pull.push({RECIPE: text})

    def words(self) -> str:
        return self.pull.push({"README.md": str(len(self.told))})

    def base_moves(self) -> str:
        return self.seed.repository.commit("main", {"OTHER.md": str(len(self.told))})

    # People

    def _mine(self) -> ReviewComment | None:
        mine = self.bot.mine(self.pull)
        return self.chance.choice(mine) if mine else None

    def answer(self) -> None:
        one = self._mine()
        if one is not None:
            self.answers.append((self.pull.reply(one.reply_to or one, "Hm.", "alice"), "Hm."))

    def close_thread(self) -> None:
        if self.pull.threads:
            self.chance.choice(self.pull.threads).resolved_by = self.hub.user("alice")

    def open_thread(self) -> None:
        if self.pull.threads:
            self.chance.choice(self.pull.threads).resolved_by = None

    def delete(self) -> None:
        one = self._mine()
        if one is not None and len(self.pull.thread(one).comments) == 1:
            self.pull.remove(one)

    def delete_summary(self) -> None:
        for one in self.bot.summaries(self.pull):
            self.pull.remove(one)

    def edit(self) -> None:
        one = self._mine()
        if one is not None:
            one.body = "A maintainer wrote something else here."

    def draft(self) -> None:
        self.pull.draft = not self.pull.draft

    def title(self) -> None:
        self.pull.title = f"Title {len(self.told)}"

    # GitHub

    def fault(self) -> str:
        operation, done = self.chance.choice(OPERATIONS), self.chance.random() < 0.5
        after, wait = self.chance.randint(0, 1), self.chance.choice([None, 3, 300])
        fault = self.chance.choice(
            [
                faults.bad_gateway(done=done, after=after),
                faults.dropped(done=done, times=self.chance.choice([1, 1, 9])),
                faults.secondary_limit(wait),
                faults.abuse(),
            ]
        )
        if operation.startswith("pulls/create") and after:
            refused = {"message": "Unprocessable Entity", "errors": ["Line could not be resolved"], "status": "422"}
            fault = Fault(status=422, body={**refused, "documentation_url": "https://docs"})
        self.hub.fail(operation, fault)
        return f"{operation} {fault.status} {'done' if fault.done else ''}"

    def review(self, force: bool = False) -> str:
        try:
            return self.bot.review(self.pull, analyse=self.analyses, force=force)
        except GitHubError as error:
            return type(error).__name__

    # What must be true

    def ends_well(self) -> None:
        self.hub.faults.clear()
        self.pull.draft = False
        assert self.review(force=True) == "reviewed"
        wanted: dict[str, Finding] = {}
        for one in self.analyses.of(self.pull.merge_base, self.pull.head_sha).report.findings:
            if one.counts:
                wanted[one.fingerprint] = one
        assert set(open_findings(self.bot.mine(self.pull))) == set(wanted)
        assert len([one for one in self.pull.comments if one.user is self.bot.app.bot and not one.minimized]) <= 1
        fails = any(one.severity == "error" and one.certainty == "certain" for one in wanted.values())
        assert self.bot.conclusion(self.pull) == ("failure" if fails else "neutral" if wanted else "success")
        notes = [str(one) for one in self.bot.runs(self.pull)[0].annotations]
        assert len(notes) == len(set(notes))
        assert all(one in self.pull.inline and one.body == text for one, text in self.answers)
        # And it stays so.
        for force in (False, True):
            self.hub.forget()
            self.review(force)
            assert {one.operation for one in self.hub.writes()} <= {"checks/update", *self.refused_again()}

    def refused_again(self) -> list[str]:
        """A thread that may not be resolved is asked for again: somebody may have given the permission."""
        return ["graphql"] if self.bot.installation.permissions["contents"] == "read" else []


def tell(hub: FakeGitHub, kept: Kept, analyses: Analyses, seed: int) -> None:
    story = Story(hub, kept, analyses, seed)
    story.happen(story.chance.randint(3, 12))
    try:
        story.ends_well()
    except AssertionError:
        print("\n".join(story.told))
        raise


@pytest.mark.parametrize("seed", range(10))
def test_any_order(hub: FakeGitHub, kept: Kept, analyses: Analyses, seed: int) -> None:
    tell(hub, kept, analyses, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 200))
def test_any_order_often(hub: FakeGitHub, kept: Kept, analyses: Analyses, seed: int) -> None:
    tell(hub, kept, analyses, seed)
