"""Parts of a check that are kept: taken while all that they asked is the same, made anew when it is not."""

from __future__ import annotations

import os
import pickle
from collections.abc import Sequence
from pathlib import Path

import pytest

from botlint.core.finding import Finding
from botlint.engine import parts as parts_module
from botlint.engine.check import check
from botlint.engine.context import Context
from botlint.engine.keep import KeptParts, load_parts, save_parts
from botlint.engine.rules import builtin_rules
from botlint.layouts.inferencex.job import Job
from botlint.plan.build import Planner
from botlint.plan.model import LaunchPlan
from botlint.plan.parallel import plan_jobs_with_questions
from botlint.plan.store import PlanStore
from botlint.repo.memory import MemoryFiles
from botlint.repo.open import open_files

EXAMPLES = Path(__file__).parents[3] / "examples"
AGENTIC = "benchmarks/single_node/agentic/glm5.2_fp4_mi355x_sglang.sh"
BROKEN = "benchmarks/single_node/agentic/minimaxm3_fp4_mi355x_mtp.sh"
AMD = "configs/amd-master.yaml"
NVIDIA = "configs/nvidia-master.yaml"

RULES = builtin_rules()
PLANS = PlanStore()


def plan_jobs(planner: Planner, jobs: Sequence[Job]) -> list[LaunchPlan]:
    return PLANS.plan(planner, jobs, plan_jobs_with_questions)


def text(path: str) -> str:
    found = open_files(EXAMPLES).text(path)
    assert found is not None
    return found.text


def context(texts: dict[str, str | None], base: Context | None = None) -> Context:
    return Context(MemoryFiles(texts, open_files(EXAMPLES)), plan_jobs, base)


def findings(known: KeptParts, texts: dict[str, str | None]) -> tuple[Finding, ...]:
    report = check(context(texts), RULES, parts=known)
    assert report.failures == ()
    return report.findings


@pytest.fixture(scope="module")
def first() -> KeptParts:
    made = KeptParts()
    findings(made, {})
    return made


@pytest.fixture
def known(first: KeptParts) -> KeptParts:
    """The parts of the examples as they are."""
    return KeptParts(dict(first.known))


def edits() -> list[dict[str, str | None]]:
    """Edits of every file of the examples that rules look at."""
    found: list[dict[str, str | None]] = []
    for path in open_files(EXAMPLES).paths():
        if path.endswith((".sh", ".yaml", ".yml", ".md")) and not path.startswith("demo/"):
            content = text(path)
            found.append({path: content.replace("vllm", "vlllm").replace("--", "--x-", 1).replace("8", "4")})
            found.append({path: "\n# one line more\n" + content})
            found.append({path: None})
    found.append({AGENTIC.replace(".sh", "_vllm.sh"): "exit 3\n", "benchmarks/single_node/agentic/new.sh": "exit 4\n"})
    return found


@pytest.mark.parametrize("texts", edits(), ids=lambda texts: ",".join(texts))
def test_taken_findings_are_those_that_would_be_made(known: KeptParts, texts: dict[str, str | None]) -> None:
    made = check(context(texts), RULES)
    taken = check(context(texts), RULES, parts=known)
    assert taken.findings == made.findings
    assert taken.notes == made.notes


@pytest.mark.parametrize(
    ("texts", "entries"),
    [
        ({}, set()),
        ({"README.md": "other"}, set()),
        ({AGENTIC: text(AGENTIC) + "\n# a comment\n"}, {"glm5.2-fp4-mi355x-sglang-agentic"}),
        ({AMD: "# a comment\n" + text(AMD)}, set()),
        ({AMD: text(AMD).replace("model: amd/GLM", "model: other/GLM")}, {"glm5.2-fp4-mi355x-sglang-agentic"}),
    ],
)
def test_only_the_entries_that_changed_are_done_again(
    known: KeptParts, texts: dict[str, str | None], entries: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done: set[str | None] = set()
    make = parts_module._make_one

    def counting(context: Context, part: parts_module.Part) -> object:
        done.add(part.entry)
        return make(context, part)

    monkeypatch.setattr(parts_module, "_make_one", counting)
    findings(known, texts)
    assert done - {None} == entries


def test_an_entry_that_moved_takes_its_findings_along(known: KeptParts) -> None:
    before = {one.fingerprint: one for one in findings(known, {})}
    moved = [one for one in findings(known, {AMD: "# one\n# two\n" + text(AMD)}) if one.fingerprint in before]
    related = [
        (old.span.line, new.span.line)
        for one in moved
        for old, new in zip(before[one.fingerprint].related, one.related, strict=True)
        if new.span.path == AMD
    ]
    assert related
    assert all(new == old + 2 for old, new in related)


def test_many_entries_are_spread_over_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = check(context({}), RULES)
    monkeypatch.setattr(parts_module, "MIN_PARALLEL", 2)
    assert check(context({}), RULES).findings == alone.findings


def test_parts_survive_their_file(known: KeptParts, tmp_path: Path) -> None:
    path = tmp_path / "cache" / "findings"
    save_parts(known, path)
    again = load_parts(path)
    assert set(again.known) == set(known.known)
    assert findings(again, {}) == findings(known, {})
    assert not again.changed


class Trap:
    """Would run code if it were read as a pickle."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return eval, ("open('/tmp/botlint-trap', 'w')",)


@pytest.mark.parametrize("content", [b"", b"\x80\x05garbage", pickle.dumps(Trap()), pickle.dumps(((1, "x"), {}))])
def test_a_broken_file_is_a_miss(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "findings"
    path.write_bytes(content)
    assert load_parts(path).known == {}
    assert not Path("/tmp/botlint-trap").exists()


@pytest.mark.parametrize(
    "one",
    [
        5,
        (),
        ({}, (), None),
        ({"rule": (5,)}, (), None, {}),
        ({"rule": [1]}, (), None, {}),
        ({}, (7,), None, {}),
        ({}, (), ("a", "1", 2), {}),
        ({}, (), None, {"text": ""}),
        ({}, (), None, [1]),
    ],
)
def test_a_file_of_other_things_is_a_miss(one: object, tmp_path: Path) -> None:
    path = tmp_path / "findings"
    save_parts(KeptParts(), path)
    form, _ = pickle.loads(path.read_bytes())
    path.write_bytes(pickle.dumps((form, {"part": [one]})))
    assert load_parts(path).known == {}


def test_a_pipe_in_the_place_of_the_file_is_a_miss(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "findings")
    assert load_parts(tmp_path / "findings").known == {}


def test_what_depends_on_a_base_is_not_kept(known: KeptParts) -> None:
    base = context({})
    texts: dict[str, str | None] = {BROKEN: text(BROKEN).replace("export", "export ", 1)}
    one = check(context(texts, base), RULES, parts=known)
    assert check(context(texts, context({})), RULES).findings == one.findings
