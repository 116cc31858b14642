"""Launches that are kept: taken while all that they depend on is the same, made anew when it is not."""

from __future__ import annotations

import os
import pickle
from collections.abc import Sequence
from pathlib import Path

import pytest

from botlint.core.cachefile import cache_path
from botlint.layouts.inferencex.job import Job
from botlint.plan.build import Planner
from botlint.plan.files import Question
from botlint.plan.model import LaunchPlan
from botlint.plan.parallel import plan_jobs_with_questions
from botlint.plan.store import PlanStore, load_store, save_store
from botlint.repo.memory import MemoryFiles
from botlint.repo.open import open_files

EXAMPLES = Path(__file__).parents[3] / "examples"
AGENTIC = "benchmarks/single_node/agentic/glm5.2_fp4_mi355x_sglang.sh"
LIBRARY = "benchmarks/benchmark_lib.sh"
LAUNCHER = "runners/launch_b200-demo.sh"
CONFIG = "configs/amd-master.yaml"


class Counting:
    """Plans jobs and counts them."""

    def __init__(self) -> None:
        self.entries: list[str] = []

    def __call__(self, planner: Planner, jobs: Sequence[Job]) -> list[tuple[LaunchPlan, frozenset[Question] | None]]:
        self.entries.extend(job.entry for job in jobs)
        return plan_jobs_with_questions(planner, jobs)


def plans(store: PlanStore, texts: dict[str, str | None]) -> tuple[list[LaunchPlan], list[str]]:
    planner = Planner(MemoryFiles(texts, open_files(EXAMPLES)))
    counting = Counting()
    return store.plan(planner, list(planner.jobs), counting), counting.entries


@pytest.fixture(scope="module")
def first() -> PlanStore:
    made = PlanStore()
    plans(made, {})
    return made


@pytest.fixture
def store(first: PlanStore) -> PlanStore:
    """Launches of the examples as they are."""
    return PlanStore(dict(first.known), list(first.answers))


def text(path: str) -> str:
    found = open_files(EXAMPLES).text(path)
    assert found is not None
    return found.text


@pytest.mark.parametrize(
    ("texts", "made"),
    [
        ({}, set()),
        ({"README.md": "other"}, set()),
        ({AGENTIC: text(AGENTIC) + "\n# a comment\n"}, {"glm5.2-fp4-mi355x-sglang-agentic"}),
        ({AGENTIC: None}, {"glm5.2-fp4-mi355x-sglang-agentic"}),
        ({CONFIG: "# a comment\n" + text(CONFIG)}, set()),
        ({CONFIG: text(CONFIG).replace("model: amd/GLM", "model: other/GLM")}, {"glm5.2-fp4-mi355x-sglang-agentic"}),
    ],
)
def test_only_what_changed_is_planned_anew(store: PlanStore, texts: dict[str, str | None], made: set[str]) -> None:
    assert set(plans(store, texts)[1]) == made


def edits() -> list[dict[str, str | None]]:
    """Edits of every script, recipe, workflow and table of the examples."""
    files = open_files(EXAMPLES)
    found: list[dict[str, str | None]] = []
    for path in files.paths():
        if path.endswith((".sh", ".yaml", ".yml")) and not path.startswith("demo/"):
            content = text(path)
            found.append({path: content.replace("vllm", "vlllm").replace("--", "--x-", 1).replace("8", "4")})
            found.append({path: None})
    found.append({AGENTIC.replace(".sh", "_vllm.sh"): "exit 3\n", "benchmarks/single_node/agentic/new.sh": "exit 4\n"})
    found.append({"benchmarks/single_node/fixed_seq_len/gptoss_fp4_mi355x_vllm.sh": "echo other\nexit 5\n"})
    return found


@pytest.mark.parametrize("texts", edits(), ids=lambda texts: ",".join(texts))
def test_taken_plans_are_those_that_would_be_made(store: PlanStore, texts: dict[str, str | None]) -> None:
    taken, _ = plans(store, texts)
    planner = Planner(MemoryFiles(texts, open_files(EXAMPLES)))
    assert taken == list(planner.plans())


def test_a_store_survives_its_file(tmp_path: Path) -> None:
    store = PlanStore()
    plans(store, {})
    path = tmp_path / "cache" / "plans"
    save_store(store, path)
    again, made = plans(load_store(path), {})
    assert made == []
    assert again == plans(store, {})[0]


class Trap:
    """Would run code if it were read as a pickle."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return eval, ("open('/tmp/botlint-trap', 'w')",)


@pytest.mark.parametrize("content", [b"", b"\x80\x05garbage", pickle.dumps(Trap()), pickle.dumps(((1, "x"), {}, []))])
def test_a_broken_file_is_a_miss(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "plans"
    path.write_bytes(content)
    assert load_store(path).known == {}
    assert not Path("/tmp/botlint-trap").exists()


@pytest.mark.parametrize("launches", [5, (), (5,), "ab"])
@pytest.mark.parametrize(
    ("depends", "answers"), [(0, [{}]), (0.5, [{}]), (0, [7]), (0, [{1: 2}]), (1, [{}]), (0, {0: {}})]
)
def test_a_file_of_other_things_is_a_miss(launches: object, depends: object, answers: object, tmp_path: Path) -> None:
    path = tmp_path / "plans"
    save_store(PlanStore(), path)
    form, *_ = pickle.loads(path.read_bytes())
    path.write_bytes(pickle.dumps((form, {"job": [(launches, depends)]}, answers)))
    assert load_store(path).known == {}


def test_a_pipe_in_the_place_of_the_file_is_a_miss(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "plans")
    assert load_store(tmp_path / "plans").known == {}


@pytest.mark.parametrize(
    ("cache", "home", "wanted"),
    [
        ("/c", "/h", "/c/botlint"),
        ("", "/h", "/h/.cache/botlint"),
        ("relative", "/h", "/h/.cache/botlint"),
        ("~nobody-of-this-name/x", "/h", "/h/.cache/botlint"),
        ("", "relative", None),
    ],
)
def test_where_the_file_is(cache: str, home: str, wanted: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", cache)
    monkeypatch.setenv("HOME", home)
    found = cache_path(Path(), "plans")
    assert (None if found is None else str(found.parent)) == wanted


def test_two_revisions_are_kept_beside_each_other() -> None:
    made = PlanStore()
    changed: dict[str, str | None] = {LIBRARY: text(LIBRARY) + "\nexport ADDED=1\n"}
    plans(made, {})
    assert plans(made, changed)[1] != []
    assert plans(made, {})[1] == []
    assert plans(made, changed)[1] == []
