"""The miniature repository of examples/ on the fake, and a pull request that brings its two planted defects."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fakehub.git import Content, read_folder
from fakehub.server import FakeGitHub
from fakehub.state import Pull, Repository

EXAMPLES = Path(__file__).parents[3] / "examples"
RECIPE = "benchmarks/single_node/agentic/minimaxm3_fp4_mi355x_mtp.sh"
CONFIG = "configs/amd-master.yaml"
CHANGELOG = "perf-changelog.yaml"
ENTRY = "minimaxm3-fp4-mi355x-vllm-agentic-mtp"
LAYOUT = "export VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT=1"
"""The first planted defect: exported for every job, since the guard around it is gone."""

_HALF = "\nPARALLEL_ARGS="


@dataclass(frozen=True, slots=True)
class Seed:
    """The repository without the defects, and the pull request with both."""

    repository: Repository
    pull: Pull

    def mend_layout(self) -> str:
        """Pushes the guard that was lost; the sha."""
        return self.pull.push({RECIPE: with_guard(self.recipe)}, "Guard the shuffled layout again")

    def mend_backend(self) -> str:
        """Pushes the branch of the backend that was lost; the sha."""
        return self.pull.push({RECIPE: with_backend(self.recipe)}, "Take lmcache again")

    @property
    def recipe(self) -> str:
        """The recipe at the head."""
        return self.text(RECIPE)

    def text(self, path: str) -> str:
        """A file at the head."""
        objects = self.repository.objects
        entry = objects.flat(objects.commits[self.pull.head_sha].tree)[path]
        return objects.blobs[entry.sha].decode()

    def line(self, path: str, text: str) -> int:
        """The first line of a file at the head that has this text."""
        return line_of(self.text(path), text)


def healthy_files() -> dict[str, Content]:
    """examples/ without its defects, without the demonstration."""
    files = {path: content for path, content in read_folder(EXAMPLES).items() if not path.startswith("demo/")}
    return {**files, **read_folder(EXAMPLES / "demo" / "healthy")}


def planted_files() -> dict[str, Content]:
    """What the pull request changes: the recipe with both defects, and the changelog's entry for it."""
    files = read_folder(EXAMPLES)
    return {path: files[path] for path in (RECIPE, CHANGELOG)}


def plant(
    hub: FakeGitHub,
    full_name: str = "acme/bench",
    *,
    fork: str | None = None,
    draft: bool = False,
    private: bool = False,
    more: dict[str, Content | None] | None = None,
    base: dict[str, Content] | None = None,
) -> Seed:
    """A repository with a pull request that brings both defects, from a branch or from somebody's fork."""
    repository = hub.repository(full_name, {**healthy_files(), **(base or {})}, private=private)
    repository.grant("alice", "write")
    source = repository if fork is None else hub.fork(repository, fork)
    author = fork or "alice"
    source.commit("tune", {**planted_files(), **(more or {})}, "Tune MiniMax-M3 on MI355X", author=author)
    pull = repository.open_pull(
        "tune",
        title="Tune MiniMax-M3 on MI355X",
        body="Shuffled KV cache layout, native KV offloading instead of LMCache.",
        author=author,
        source=source,
        draft=draft,
    )
    return Seed(repository, pull)


def with_guard(recipe: str) -> str:
    """The recipe with the layout for tp 4 only."""
    guard = f'if [ "$TP" -eq 4 ]; then\n    {LAYOUT}\nelse\n    {LAYOUT[:-1]}0\nfi'
    assert LAYOUT in recipe
    return recipe.replace(LAYOUT, guard)


def with_backend(recipe: str) -> str:
    """The recipe with the backend that the config asks for: its first half as it was."""
    healthy = (EXAMPLES / "demo" / "healthy" / RECIPE).read_text(encoding="utf-8")
    return healthy.partition(_HALF)[0] + _HALF + recipe.partition(_HALF)[2]


def line_of(text: str, part: str) -> int:
    """The first line that has this text."""
    return next(number for number, line in enumerate(text.split("\n"), 1) if part in line)
