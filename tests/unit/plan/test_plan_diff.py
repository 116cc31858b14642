"""Jobs of two revisions matched by what they are, and what is different between their plans."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from plan_fixtures import AGENTIC, AGENTIC_RECIPE, ROOT, make_repository
from plan_samples import plan, server, serving

from botlint.core.unknown import Unknown
from botlint.plan.build import Planner
from botlint.plan.changes import Change, argv_changes, condition_text, launch_changes, server_changes
from botlint.plan.diff import diff_plans, match_jobs
from botlint.plan.diffshow import render_diff, summary_text
from botlint.plan.model import Alternative, Exit, Launch, LaunchPlan, Role, Word
from botlint.plan.style import Style
from botlint.repo.open import open_files

VLLM: list[Word] = ["vllm", "serve", "m"]


def short(changes: list[Change]) -> list[str]:
    return [f"{c.role}{':' if c.role else ''}{c.kind} {c.name}|{c.old}|{c.new}" for c in changes]


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        (["--a", "1"], ["--a", "1"], []),
        (["--a", "1", "--b"], ["--b", "--a", "1"], []),
        (["--a", "1"], ["--a", "2"], ["flag --a|1|2"]),
        (["--a", "1"], [], ["flag --a|1|None"]),
        ([], ["--a"], ["flag --a|None|"]),
        (["--a=1"], ["--a", "1"], []),
        (["--a", "1", "--a", "2"], ["--a", "2"], ["flag --a|1 | 2|2"]),
        (["--a", ("x", Unknown("why"))], ["--a", "x"], ["flag --a|x<why>|x"]),
    ],
)
def test_argv(old: list[Word], new: list[Word], changes: list[str]) -> None:
    assert short(list(argv_changes([*VLLM, *old], [*VLLM, *new]))) == changes


def test_command() -> None:
    assert short(list(argv_changes(VLLM, ["sglang", "serve"]))) == ["command |vllm serve m|sglang serve"]


def test_server() -> None:
    old = replace(server([*VLLM, "--a", "1"], {"A": "1", "B": "2"}), runtime_env={"R": "1"})
    new = replace(server([*VLLM, "--a", "2"], {"A": "1", "C": ("x", Unknown("why"))}, framework="sglang"), line=99)
    assert short(server_changes(old, new)) == [
        "framework |vllm|sglang",
        "runtime-variable R|1|None",
        "variable B|2|None",
        "variable C|None|x<why>",
        "flag --a|1|2",
    ]


def test_roles() -> None:
    def with_roles(*roles: Role) -> Launch:
        return (
            serving(VLLM, {}, possible=())
            if not roles
            else replace(serving(VLLM), server=replace(server(VLLM), roles=roles))
        )

    prefill = Role("prefill", 1, 4, ("vllm", "--a", "1"), {"A": "1"}, "r.yaml", 3)
    decode = Role("decode", 2, 4, ("vllm",), {}, "r.yaml", 9)
    changed = replace(prefill, gpus=8, argv=("vllm", "--a", "2"), env={}, line=7)
    assert short(launch_changes(with_roles(prefill, decode), with_roles(changed))) == [
        "role prefill|1 worker of 4 GPUs|1 worker of 8 GPUs",
        "prefill:variable A|1|None",
        "prefill:flag --a|1|2",
        "role decode|2 workers of 4 GPUs: vllm|None",
    ]


def ended(code: int, message: str, line: int = 3, path: str = "recipe.sh") -> Launch:
    return Launch(("demo_00",), "launch.sh", "recipe.sh", "exits", exit=Exit(code, path, line, message))


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        (ended(1, "no"), ended(1, "no", line=80), []),
        (ended(1, "no"), ended(2, "no"), ["outcome |exits 1|exits 2"]),
        (ended(1, "no"), ended(1, "not"), ["outcome |exits 1|exits 1"]),
        (serving(VLLM), ended(1, "no"), ["outcome |serves|exits 1"]),
        (ended(1, "no"), serving(VLLM), ["outcome |exits 1|serves"]),
        (
            Launch((), None, None, "undecided", reason="a"),
            Launch((), None, None, "undecided", reason="b"),
            ["outcome |undecided: a|undecided: b"],
        ),
        (
            replace(serving(VLLM), launcher="a.sh", recipe="b.sh"),
            replace(serving(VLLM), launcher="c.sh", recipe=None),
            ["launcher |a.sh|c.sh", "recipe |b.sh|None"],
        ),
    ],
)
def test_launch(old: Launch, new: Launch, changes: list[str]) -> None:
    assert short(launch_changes(old, new)) == changes


def test_possible() -> None:
    def may(*whens: str, line: int = 1) -> Launch:
        return serving(
            VLLM, possible=tuple(Alternative((when,), "exits", Exit(1, "r.sh", line, "out")) for when in whens)
        )

    assert short(launch_changes(may("r.sh:4: curl x"), may("r.sh:5: curl x", line=9))) == []
    assert short(launch_changes(may("r.sh:4: curl x"), may("r.sh:4: curl y"))) == [
        "possible r.sh: curl x|exits 1 in r.sh: out|None",
        "possible r.sh: curl y|None|exits 1 in r.sh: out",
    ]


@pytest.mark.parametrize(
    ("when", "text"), [("a/b.sh:12: [ x ]: y", "a/b.sh: [ x ]: y"), ("other", "other"), ("a: b: c", "a: b: c")]
)
def test_condition_text(when: str, text: str) -> None:
    assert condition_text(when) == text


# --- matching


def rows(*values: dict[str, object]) -> list[LaunchPlan]:
    return [plan(serving(VLLM), **value) for value in values]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("old", "new", "couples", "removed", "added"),
    [
        ([{"tp": 1}], [{"tp": 1}], [(0, 0)], [], []),
        ([{"tp": 1}, {"tp": 2}], [{"tp": 2}, {"tp": 1}], [(1, 0), (0, 1)], [], []),
        ([{"tp": 1}, {"tp": 2}], [{"tp": 2}], [(1, 0)], [0], []),
        ([{"tp": 1}], [{"tp": 1}, {"tp": 4}], [(0, 0)], [], [1]),
        ([{"tp": 1}], [{"tp": 2}], [], [0], [0]),
        ([{"tp": 1, "image": "a"}], [{"tp": 1, "image": "b"}], [(0, 0)], [], []),
        ([{"tp": 1}], [{"tp": 1, "new_field": 3}], [(0, 0)], [], []),
        ([{"tp": 1, "scenario": "a"}], [{"tp": 1, "scenario": "b"}], [], [0], [0]),
        ([{"conc": 1}, {"conc": 5}], [{"conc": 1}, {"conc": 8}], [(0, 0)], [1], [1]),
        ([{"tp": 1, "conc": [1, 2]}], [{"tp": 1, "conc": [1, 2, 4]}], [(0, 0)], [], []),
        (
            [{"kv_offload_backend": {"name": "x", "version": "1"}}],
            [{"kv_offload_backend": {"name": "x", "version": "2"}}],
            [(0, 0)],
            [],
            [],
        ),
        (
            [{"prefill": {"tp": 4, "additional-settings": ["A=1"]}}],
            [{"prefill": {"tp": 4, "additional-settings": ["A=2"]}}],
            [(0, 0)],
            [],
            [],
        ),
        ([{"prefill": {"tp": 4}}], [{"prefill": {"tp": 8}}], [], [0], [0]),
        ([{"tp": 1, "kv_offloading": "none"}], [{"tp": 1, "kv_offloading": "dram"}], [(0, 0)], [], []),
        (
            [{"tp": 1, "kv_offloading": "none"}, {"tp": 1, "kv_offloading": "dram"}],
            [{"tp": 1, "kv_offloading": "none"}, {"tp": 1, "kv_offloading": "disk"}],
            [(0, 0), (1, 1)],
            [],
            [],
        ),
        (
            [{"tp": 1, "kv_offloading": "none"}],
            [{"tp": 1, "kv_offloading": "dram"}, {"tp": 1, "kv_offloading": "disk"}],
            [],
            [0],
            [0, 1],
        ),
        (
            [{"tp": 1, "image": "a"}, {"tp": 1, "image": "b"}],
            [{"tp": 1, "image": "b"}, {"tp": 1, "image": "c"}],
            [(1, 0), (0, 1)],
            [],
            [],
        ),
    ],
)
def test_matching(
    old: list[dict[str, object]],
    new: list[dict[str, object]],
    couples: list[tuple[int, int]],
    removed: list[int],
    added: list[int],
) -> None:
    before, after = rows(*old), rows(*new)
    matched, lost, found = match_jobs(before, after)
    assert [(before.index(a), after.index(b)) for a, b in matched] == couples
    assert [before.index(a) for a in lost] == removed
    assert [after.index(b) for b in found] == added


def diff_lines(old: list[LaunchPlan], new: list[LaunchPlan]) -> list[str]:
    def by_entry(plans: list[LaunchPlan]) -> dict[str, list[object]]:
        entries: dict[str, list[object]] = {}
        for one in plans:
            entries.setdefault(one.entry, []).append(one.job)
        return entries

    text = render_diff(diff_plans(old, new), by_entry(old), by_entry(new), Style())  # type: ignore[arg-type]
    return [line for line in text if line]


def test_nothing_differs_when_lines_only_move() -> None:
    old = [plan(serving(VLLM), tp=1)]
    new = [plan(replace(serving(VLLM), server=server(VLLM, line=90)), tp=1, line=33)]
    found = diff_plans(old, new)
    assert found.empty
    assert summary_text(found) == "0 of 1 job changed, 0 added, 0 removed"


def test_jobs_that_change_alike_are_one_group() -> None:
    old = [
        plan(serving(VLLM, {"A": "0"}), entry, tp=tp, conc=c) for entry in ("e", "f") for tp in (1, 2) for c in (4, 8)
    ]
    new = [
        plan(
            serving(VLLM, {"A": "1"} if one.job["tp"] == 2 else {"A": "0"}),
            one.entry,
            tp=one.job["tp"],
            conc=one.job["conc"],
        )
        for one in old
    ]
    assert diff_lines(old, new) == [
        "4 jobs of 2 entries",
        "  e  2 of 4 jobs: tp 2, conc 4, 8",
        "  f  2 of 4 jobs: tp 2, conc 4, 8",
        "    ~ A  0 -> 1",
        "4 of 8 jobs changed, 0 added, 0 removed",
    ]


def test_values_that_follow_the_concurrency_do_not_split_a_group() -> None:
    old = [plan(serving([*VLLM, "--n", str(c)]), tp=1, conc=c) for c in (4, 8)]
    new = [plan(serving([*VLLM, "--n", str(2 * c), "--x"]), tp=1, conc=c) for c in (4, 8)]
    assert diff_lines(old, new) == [
        "demo  2 jobs",
        "    ~ --n  {4, 8} -> {8, 16}",
        "    + --x",
        "2 of 2 jobs changed, 0 added, 0 removed",
    ]


def test_entries_and_jobs_that_come_go_and_get_another_name() -> None:
    old = [
        plan(serving(VLLM), "gone", tp=1),
        plan(serving(VLLM), "old", tp=2, image="a"),
        plan(serving(VLLM), "both", tp=1),
    ]
    new = [
        plan(serving(VLLM), "new", tp=2, image="b"),
        plan(serving(VLLM), "both", tp=1),
        plan(ended(1, "no"), "both", tp=4, conc=2),
        plan(serving(VLLM), "fresh", tp=1, model="other"),
    ]
    assert diff_lines(old, new) == [
        "renamed  old -> new",
        "new  1 job",
        "    ~ image:  a -> b",
        "added  both  1 of 2 jobs",
        "    tp 4, conc 2",
        "    outcome: exits",
        "added  fresh  the entry with 1 job",
        "removed  gone  the entry with 1 job",
        "1 of 2 jobs changed, 2 added, 1 removed",
    ]


def test_long_values_stand_below_each_other() -> None:
    old, new = (plan(serving([*VLLM, "--json", f'{{"value": "{word * 50}"}}']), tp=1) for word in ("a", "b"))
    assert [line.strip()[:20] for line in diff_lines([old], [new])[1:4]] == [
        "~ --json",
        '- \'{"value": "aaaaaa',
        '+ \'{"value": "bbbbbb',
    ]


def test_other_launches_are_mentioned_where_they_change_otherwise() -> None:
    def one(main: str, other: str) -> LaunchPlan:
        second = replace(serving([*VLLM, "--a", other]), runners=("second_00",), launcher="second.sh")
        return plan(serving([*VLLM, "--a", main]), tp=1, others=(second,))

    assert diff_lines([one("1", "1")], [one("2", "2")])[1:-1] == ["    ~ --a  1 -> 2"]
    assert diff_lines([one("1", "1")], [one("1", "2")])[1:-1] == ["    ~ --a (on second_00)  1 -> 2"]
    assert diff_lines([one("1", "1")], [plan(serving([*VLLM, "--a", "1"]), tp=1)])[1:-1] == [
        "    ~ runners  demo, second -> demo",
        "    - launcher (on second_00) second.sh",
    ]


# --- a change that breaks five jobs of one entry


def planned(repository: Path) -> list[LaunchPlan]:
    with open_files(repository) as files:
        return list(Planner(files).plans())


def test_a_dropped_guard_and_a_removed_branch(tmp_path: Path) -> None:
    base, head = make_repository(tmp_path / "a", healthy=True), make_repository(tmp_path / "b")
    old, new = planned(base), planned(head)
    found = diff_plans(old, new)
    assert (found.added, found.removed, found.renamed) == ((), (), ())
    assert {pair.new.entry for group in found.groups for pair in group.pairs} == {AGENTIC}
    layout, broken = found.groups
    assert [pair.new.job["tp"] for pair in layout.pairs] == [2, 2, 2]
    assert [(c.change.kind, c.change.name, c.old, c.new) for c in layout.changes] == [
        ("variable", "VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT", ("0",), ("1",))
    ]
    assert [pair.new.job["conc"] for pair in broken.pairs] == [32, 40]
    (change,) = broken.changes
    assert (change.change.kind, change.old, change.new) == ("outcome", ("serves",), ("exits 1",))
    (end,) = change.new_exits
    lines = (head / AGENTIC_RECIPE).read_text().splitlines()
    assert (end.code, end.path, lines[end.line - 1].strip()) == (1, AGENTIC_RECIPE, "exit 1")
    assert end.message == "Error: KV_OFFLOAD_BACKEND=lmcache is not supported here (empty or vllm-native)"
    assert found.unchanged == len(new) - 5
    back = diff_plans(new, old)
    assert [group.changes[0].old_exits for group in back.groups] == [(), (end,)]
    assert diff_plans(new, planned(head)).empty


def test_schema_is_valid() -> None:
    import jsonschema

    for name in ("plan", "diff", "explanation"):
        schema = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["$id"] == schema["properties"]["schema"]["const"] == f"botlint.{name}/1"
