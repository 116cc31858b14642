"""Plans for pages, made by hand, with names that try to break out."""

from __future__ import annotations

from collections.abc import Mapping

from report_samples import CONFIG, EVIL, RECIPE

from botlint.core.span import Span
from botlint.core.unknown import Unknown
from botlint.plan.diff import diff_plans
from botlint.plan.model import Alternative, Exit, Launch, LaunchPlan, Location, Role, Server, Word
from botlint.plan.origins import Mark
from botlint.report.options import Page

ENTRY = "demo-fp8-h200-vllm"
BREAKOUT = f"</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u2028\u2029<!-- {EVIL}"
HEAD_URL = "https://git.example/acme/bench/blob/0123/"


def serving(
    argv: tuple[Word, ...], env: Mapping[str, Word] | None = None, origins: Mapping[str, tuple[Mark, ...]] | None = None
) -> Launch:
    """A launch that serves."""
    server = Server("vllm", "0.27.1", RECIPE, 6, argv, env or {}, {"GIVEN": "1"}, (), origins or {})
    return Launch(("h200-demo_00", "h200-demo_01"), "runners/launch.sh", RECIPE, "serves", server=server)


def plan(entry: str, launch: Launch, tp: int = 2, conc: object = 32, **others: object) -> LaunchPlan:
    """The plan of a job."""
    row = {"model": "demo/model", "framework": "vllm", "runner": "h200", "precision": "fp8", "tp": tp, "conc": conc}
    arm = Span(CONFIG, 4, 9, 4, 90)
    return LaunchPlan(entry, Span(CONFIG, 1, 1, 1, 18), arm, "agentic-coding", 0, {**row, **others}, launch)


def argv(tp: int, seqs: int = 64) -> tuple[Word, ...]:
    """A server's command line."""
    cache: Word = ("/tmp/cache-", Unknown("JOB_ID"))
    return ("vllm", "serve", "demo/model", "-tp", str(tp), f"--max-num-seqs={seqs}", "--cache", cache)


ORIGINS: dict[str, tuple[Mark, ...]] = {
    "-tp": (("row", "tp", 0), ("workflow", ".github/workflows/run.yml", 31), ("script", RECIPE, 6)),
    "--max-num-seqs": (("maybe", RECIPE, 3), ("maybe", RECIPE, 6)),
    "VLLM_USE": (("test", RECIPE, 2), ("script", RECIPE, 3)),
}


def plans(seqs: int = 64, backend: str = "serves") -> list[LaunchPlan]:
    """Jobs of all outcomes."""
    exits = Launch(
        ("h200-demo_00",),
        "runners/launch.sh",
        RECIPE,
        "exits",
        exit=Exit(1, RECIPE, 4, "模型 not supported\nsecond line"),
    )
    lost = Launch(
        ("h200-demo_00",), None, None, "undecided", reason="upstream recipe x.yaml", reason_at=Location(RECIPE, 2)
    )
    served = [
        plan(ENTRY, serving(argv(tp, seqs), {"VLLM_USE": "1"}, ORIGINS), tp, conc) for tp in (2, 4) for conc in (8, 16)
    ]
    last = exits if backend == "exits" else serving(argv(2, seqs))
    role = Role("prefill", 2, 4, ("vllm", "--max-num-seqs", "1"), {"A": "b"}, "recipes/two.yaml", 9)
    several = Server("vllm", None, "recipes/two.yaml", 3, ("srtctl",), {}, {}, (role,))
    possible = (Alternative((f"{RECIPE}:2: [[ -f x ]]",), "exits", exit=Exit(2, RECIPE, 5, "no x")),)
    disaggregated = Launch(("h200-demo_00",), "l.sh", "recipes/two.yaml", "serves", server=several, possible=possible)
    evil = serving((BREAKOUT, "--" + BREAKOUT, BREAKOUT), {BREAKOUT: BREAKOUT}, {BREAKOUT: (("script", BREAKOUT, 1),)})
    return [
        *served,
        plan(ENTRY, last, 8, 64, **{"kv-offload-backend": {"name": "lmcache", "version": "0.5"}}),
        plan("demo-exits", exits),
        plan("demo-lost", lost),
        plan("demo-disaggregated", disaggregated, prefill={"tp": 4, "num-worker": 2}),
        plan(BREAKOUT, evil, model=BREAKOUT, image=BREAKOUT),
        plan("__proto__", exits),
        plan("constructor", serving(("x",), {"constructor": "1", "__proto__": "2"})),
    ]


def page(*, changed: bool = True, **others: str) -> Page:
    """A page of these plans against plans that launched something else."""
    now = plans(128, "exits")
    diff = diff_plans(plans(), [*now, plan("demo-new", serving(argv(1)))]) if changed else None
    places = [{"tp": (CONFIG, 4), "conc": (CONFIG, 5)} for _ in now]
    return Page(now, diff, places, **{"subject": "demo", "head": "topic", "base": "main", **others})
