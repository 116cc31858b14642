"""Fixed plans with what a plan can say: several arms, unknown parts, other endings, other launchers, roles."""

from __future__ import annotations

from dataclasses import replace

from botlint.core.span import Problem, Span
from botlint.core.unknown import Unknown
from botlint.plan.model import Alternative, Exit, Launch, LaunchPlan, Location, Role, Server, Word

CONFIG = "configs/demo-master.yaml"
JOB_ID = Unknown("JOB_ID")


def _span(line: int) -> Span:
    return Span(CONFIG, line, 1, line, 20)


def _vllm(tp: int, conc: int, layout: int = 1) -> Server:
    argv: tuple[Word, ...] = (
        "vllm",
        "serve",
        "demo/model-8b",
        "--tensor-parallel-size",
        str(tp),
        "--max-num-seqs",
        str(2 * conc),
        "--enable-prefix-caching",
        "--compilation-config",
        '{"mode": 3}',
        ("--download-dir=/tmp/cache-", JOB_ID),
    )
    env: dict[str, Word] = {
        "DEMO_LAYOUT": str(layout),
        "DEMO_RESULT": f"demo-model_tp{tp}_conc{conc}_run_tp{tp}",
        "DEMO_CACHE": ("/tmp/cache-", JOB_ID),
    }
    return Server("vllm", "0.27.1", "recipes/demo.sh", 40, argv, env, {"DEMO_MOUNT": "/data"})


def _job(tp: int, conc: int, **others: object) -> dict[str, object]:
    row: dict[str, object] = {
        "exp-name": f"demo_tp{tp}_conc{conc}",
        "image": "demo/image:v1",
        "model": "demo/model-8b",
        "framework": "vllm",
        "precision": "fp8",
        "runner": "demo",
        "tp": tp,
        "conc": conc,
        "spec-decoding": "none",
    }
    return row | others


GATES = (
    Alternative(
        ("lib.sh:7: curl --fail host", "lib.sh:9: ! kill -0 1"),
        "exits",
        Exit(1, "lib.sh", 10, "The process died.\nBye."),
    ),
    Alternative(
        ("lib.sh:7: curl --fail host", "lib.sh:9: ! kill -0 1"), "exits", Exit(1, "lib.sh", 10, "Another died.")
    ),
)


def _main(tp: int, conc: int, layout: int = 1) -> Launch:
    server = _vllm(tp, conc, layout)
    slow = replace(server, argv=(*server.argv, "--eager"), env={**server.env, "DEMO_LAYOUT": "0"})
    possible = (*GATES, Alternative(("recipes/demo.sh:31: [ -e /dev/fast ]",), "serves", server=slow))
    runners = tuple(f"demo-a_{number:02}" for number in range(5))
    return Launch(runners, "runners/launch_demo-a.sh", "recipes/demo.sh", "serves", server=server, possible=possible)


def _second(tp: int, conc: int) -> tuple[Launch, ...]:
    server = _vllm(tp, conc)
    other = replace(server, argv=(*server.argv, "--port", "9000"), env={**server.env, "DEMO_HOST": "b"})
    return (
        Launch(("demo-b_00",), "runners/launch_demo-b.sh", "recipes/demo.sh", "serves", server=other),
        Launch(
            ("demo-c_00", "demo-c_01"),
            "runners/launch_demo-c.sh",
            None,
            "exits",
            exit=Exit(2, "runners/launch_demo-c.sh", 12, "Not here.\nAsk demo-a."),
        ),
    )


def _exit(conc: int) -> Launch:
    end = Exit(1, "recipes/demo.sh", 22, f"Error: concurrency {conc} is not supported\nSee the recipe.")
    return Launch(("demo-a_00",), "runners/launch_demo-a.sh", "recipes/demo.sh", "exits", exit=end)


def _roles() -> Launch:
    prefill = Role("prefill", 1, 4, ("vllm", "serve", "m", "--kv-role", "producer"), {"DEMO_ROLE": "p"}, "r.yaml", 5)
    decode = Role("decode", 2, None, ("vllm", "serve", "m", "--kv-role", "consumer"), {}, "r.yaml", 30)
    server = Server("dynamo-vllm", None, "r.yaml", 1, (), {"DEMO_ALL": "1"}, {}, (prefill, decode))
    return Launch(("pair_00", "pair_01"), "runners/launch_pair.sh", "r.yaml", "serves", server=server)


def plans() -> list[LaunchPlan]:
    """The plans of three entries."""
    made: list[LaunchPlan] = []
    for line, tp, concurrencies in ((4, 4, (1, 2, 4)), (5, 2, (1, 8))):
        made.extend(
            LaunchPlan(
                "demo-fp8-vllm",
                _span(2),
                _span(line),
                "fixed-seq-len",
                line - 4,
                _job(tp, conc),
                _main(tp, conc, int(tp == 4)),
                _second(tp, conc),
            )
            for conc in concurrencies
        )
    made.extend(
        LaunchPlan(
            "demo-fp8-vllm",
            _span(2),
            _span(6),
            "fixed-seq-len",
            2,
            _job(4, conc, **{"kv-offload-backend": {"name": "store", "version": "0.5"}}),
            _exit(conc),
        )
        for conc in (32, 64)
    )
    lost = Launch(
        ("pair_00",),
        "runners/launch_pair.sh",
        None,
        "undecided",
        reason="a script with an unknown name",
        reason_at=Location("runners/launch_pair.sh", 8),
    )
    row = _job(1, 0) | {"conc": [64, 128], "prefill": {"tp": 4, "num-worker": 1}, "decode": {"tp": 8, "num-worker": 2}}
    made.append(LaunchPlan("demo-disagg", _span(9), _span(12), "fixed-seq-len", 0, row, _roles()))
    made.append(LaunchPlan("demo-unknown", _span(20), _span(22), "agentic-coding", 0, _job(8, 4), lost))
    return made


def changed_plans() -> list[LaunchPlan]:
    """The plans after a change of each kind."""
    made: list[LaunchPlan] = []
    for plan in plans():
        job, launch = dict(plan.job), plan.launch
        if plan.entry == "demo-unknown":
            continue
        if plan.entry == "demo-disagg":
            job["image"] = "demo/image:v2"
            server = launch.server
            assert server is not None
            prefill, decode = server.roles
            roles = (replace(prefill, gpus=8, argv=(*prefill.argv, "--eager")), replace(decode, env={"DEMO_ROLE": "d"}))
            launch = replace(launch, server=replace(server, roles=roles))
        elif job["tp"] == 2:
            launch = _main(2, int(str(job["conc"])), 1)
        elif launch.outcome == "exits":
            launch = _main(4, int(str(job["conc"])))
        elif job["conc"] == 1:
            continue
        made.append(replace(plan, job=job, launch=launch))
    made.append(LaunchPlan("demo-fp8-vllm", _span(2), _span(7), "fixed-seq-len", 3, _job(8, 16), _exit(16)))
    made.append(LaunchPlan("demo-new", _span(30), _span(31), "fixed-seq-len", 0, _job(1, 1), _main(1, 1)))
    return made


PROBLEMS = [Problem("duplicate key 'tp'", _span(5), "duplicate-key")]
