"""srt-slurm recipes: roles, command lines, environments, variants, topology, overlays."""

from __future__ import annotations

from textwrap import dedent

import pytest

from botlint.core.unknown import Unknown
from botlint.layouts.inferencex.srtslurm import (
    Cluster,
    LineMap,
    SrtRecipe,
    read_cluster,
    read_recipe,
    release,
    split_argument,
)
from botlint.layouts.inferencex.srtslurm.model import Role, Word

CLUSTER = Cluster("srtslurm.yaml", {"demo": "/models/Demo-MoE"}, {"image": "/squash/image.sqsh"})

HEAD = """\
name: demo
model: {path: demo, container: image, precision: fp8}
"""


def read(text: str, **options: object) -> SrtRecipe:
    return read_recipe(HEAD + dedent(text), "recipe.yaml", cluster=CLUSTER, **options)  # type: ignore[arg-type]


def role(recipe: SrtRecipe, name: str) -> Role:
    return next(one for one in recipe.roles if one.name == name)


def kinds(recipe: SrtRecipe) -> list[str]:
    return [problem.kind for problem in recipe.problems]


def shown(words: list[Word]) -> list[str]:
    """Unknown parts as `?`."""
    return ["".join(p if isinstance(p, str) else "?" for p in w) if isinstance(w, list) else w for w in words]


def after(words: list[Word], flag: str) -> str:
    line = shown(words)
    return line[line.index(flag) + 1]


VLLM = """\
resources: {gpu_type: h100, gpus_per_node: 8, prefill_nodes: 1, prefill_workers: 2, decode_nodes: 2, decode_workers: 1}
backend:
  type: vllm
  connector: null
  prefill_environment:
    OWN: "1"
    SHARED: own
    VLLM_PORT: "9"
  vllm_config:
    prefill:
      tensor-parallel-size: 4
      enable-expert-parallel: true
      no_log: false
      served_model_name: served
      quantization: null
      numa-bind-nodes: [0, 1]
      gpu-memory-utilization: 0.90
      speculative-config: '{"method":"mtp"}'
    decode:
      tensor-parallel-size: 16
environment:
  SHARED: recipe
"""


def test_flags_are_sorted_and_written_as_srtctl_does() -> None:
    prefill = role(read(VLLM), "prefill")
    line = shown(prefill.argv)
    assert line[:9] == [
        "python3", "-m", "dynamo.vllm", "--model", "/model", "--served-model-name", "served",
        "--disaggregation-mode", "prefill",
    ]  # fmt: skip
    assert line[line.index("--enable-expert-parallel") :] == [
        "--enable-expert-parallel",
        "--gpu-memory-utilization", "0.9",
        "--numa-bind-nodes", "0", "1",
        "--served-model-name", "served",
        "--speculative-config", '{"method":"mtp"}',
        "--tensor-parallel-size", "4",
    ]  # fmt: skip
    assert "--no-log" not in line
    assert "--quantization" not in line


def test_environment_order_and_run_time_values() -> None:
    prefill = role(read(VLLM), "prefill")
    assert prefill.env["OWN"] == "1"
    assert prefill.env["SHARED"] == "recipe"
    assert prefill.env["DYN_REQUEST_PLANE"] == "tcp"
    # srtctl sets the port of every process after the recipe's block.
    assert "VLLM_PORT" not in prefill.env
    assert isinstance(prefill.runtime_env["VLLM_PORT"], Unknown)
    # A worker over two nodes gets none.
    decode = role(read(VLLM), "decode")
    assert "VLLM_PORT" not in decode.runtime_env


def test_workers_and_nodes() -> None:
    recipe = read(VLLM)
    prefill, decode = role(recipe, "prefill"), role(recipe, "decode")
    assert (prefill.workers, prefill.gpus_per_worker, prefill.nodes_per_worker) == (2, 4, 1)
    assert (decode.workers, decode.gpus_per_worker, decode.nodes_per_worker) == (1, 16, 2)
    assert after(decode.argv, "--nnodes") == "2"
    assert after(decode.argv, "--master-addr") == "?"
    # Two workers share a node, so which GPUs a worker has differs.
    assert after(prefill.argv, "--device-ids") == "?"
    assert after(decode.argv, "--device-ids") == "0,1,2,3,4,5,6,7"


def test_spans_lead_to_the_entry() -> None:
    recipe = read(VLLM)
    prefill = role(recipe, "prefill")
    text = (HEAD + VLLM).split("\n")
    span = prefill.spans["--gpu-memory-utilization"]
    assert text[span.line - 1][span.column - 1 : span.end_column - 1] == "gpu-memory-utilization: 0.90"
    assert text[prefill.spans["OWN"].line - 1].strip() == 'OWN: "1"'
    assert text[prefill.spans["SHARED"].line - 1].strip() == "SHARED: recipe"
    assert recipe.spans["model.path"].line == 2
    assert "--absent" not in prefill.spans


SGLANG = """\
resources: {gpu_type: gb200, prefill_nodes: 1, prefill_workers: 1, decode_nodes: 1, decode_workers: 1}
frontend: {type: FRONTEND, args: {policy: cache, verbose: true, quiet: false}}
backend:
  sglang_config:
    prefill: {served-model-name: served, nccl-port: 7, tp-size: 4}
    decode: {tp-size: 4}
"""


@pytest.mark.parametrize(
    ("frontend", "ref", "expected", "absent"),
    [
        ("dynamo", "main", ["dynamo.sglang", "--request-plane", "--nccl-port", "--disaggregation-bootstrap-port"], []),
        ("dynamo", "v1.0.38", ["dynamo.sglang", "--request-plane"], []),
        ("dynamo", "v1.0.14", ["dynamo.sglang"], ["--request-plane"]),
        ("dynamo", "sa-submission-q2-2026", ["--request-plane"], ["--disaggregation-bootstrap-port"]),
        ("sglang", "main", ["sglang.launch_server"], ["--request-plane", "--dump-config-to"]),
    ],
)
def test_sglang_by_frontend_and_release(frontend: str, ref: str, expected: list[str], absent: list[str]) -> None:
    line = shown(role(read(SGLANG.replace("FRONTEND", frontend), ref=ref), "prefill").argv)
    assert [word for word in expected if word not in line] == []
    assert [word for word in absent if word in line] == []
    # A port of the recipe is only kept by releases that choose none themselves.
    assert ("7" in line) == (ref != "main")


def test_served_name_falls_back_to_the_model_path() -> None:
    without = SGLANG.replace("served-model-name: served, ", "").replace("FRONTEND", "dynamo")
    assert read(without).served_model_name == "Demo-MoE"
    unresolved = read_recipe(HEAD + without, "recipe.yaml")
    assert unresolved.served_model_name is None
    assert after(role(unresolved, "prefill").argv, "--served-model-name") == "?"
    wrong = read_recipe(HEAD + without, "recipe.yaml", cluster=Cluster("c", {}, {}))
    assert kinds(wrong) == ["srt-model-alias"]
    hub = read_recipe(HEAD.replace("path: demo", "path: 'hf:org/Name'") + without, "recipe.yaml", cluster=CLUSTER)
    assert after(role(hub, "prefill").argv, "--model-path") == "org/Name"


def test_frontend_of_sglang_and_dynamo() -> None:
    sglang = read(SGLANG.replace("FRONTEND", "sglang")).frontend
    assert shown(sglang.argv)[-3:] == ["--policy", "cache", "--verbose"]
    assert "--pd-disaggregation" in sglang.argv
    dynamo = read(SGLANG.replace("FRONTEND", "dynamo")).frontend
    assert shown(dynamo.argv)[:4] == ["python3", "-m", "dynamo.frontend", "--http-port=?"]
    assert (sglang.count, dynamo.count) == (10, 10)
    assert "--policy" in dynamo.spans


TRTLLM = """\
resources: {gpu_type: gb300, gpus_per_node: 4, prefill_nodes: 1, prefill_workers: 1, decode_nodes: 2, decode_workers: 1}
frontend: {type: dynamo}
backend:
  type: trtllm
  trtllm_config:
    prefill: {tensor_parallel_size: 4, kv_cache_config: {free_gpu_memory_fraction: 0.5}}
    decode: {tensor_parallel_size: 8}
"""


def test_trtllm_writes_a_configuration_file() -> None:
    decode = role(read(TRTLLM), "decode")
    assert shown(decode.argv) == [
        "numactl", "-m", "0,1", "trtllm-llmapi-launch", "python3", "-m", "dynamo.trtllm",
        "--model-path", "/model", "--served-model-name", "Demo-MoE", "--disaggregation-mode", "decode",
        "--extra-engine-args", "/logs/trtllm_config_decode.yaml", "--request-plane", "tcp",
    ]  # fmt: skip
    assert decode.processes_per_worker == 8
    prefill = role(read(TRTLLM), "prefill")
    assert prefill.settings == {"tensor_parallel_size": 4, "kv_cache_config": {"free_gpu_memory_fraction": 0.5}}
    assert prefill.spans["kv_cache_config.free_gpu_memory_fraction"].line == 8


@pytest.mark.parametrize(
    ("ref", "publishes", "numactl"),
    [("main", False, True), ("v1.0.25", True, True), ("v1.0.5", True, False), ("sa-submission-q2-2026", False, True)],
)
def test_trtllm_by_release(ref: str, publishes: bool, numactl: bool) -> None:
    argv = role(read(TRTLLM, ref=ref), "decode").argv
    assert ("--publish-events-and-metrics" in argv) is publishes
    assert ("numactl" in argv) is numactl


DP = """\
resources: {gpus_per_node: 4, agg_nodes: 2, agg_workers: 1}
backend:
  type: vllm
  connector: CONNECTOR
  kv_events_config: {aggregated: {topic: mine}}
  vllm_config:
    aggregated: {data-parallel-size: 8, data-parallel-rpc-port: 99}
"""


def test_data_parallel_per_gpu_and_per_node() -> None:
    per_gpu = role(read(DP.replace("CONNECTOR", "nixl"), ref="v1.0.53"), "aggregate")
    assert per_gpu.processes_per_worker == 8
    assert after(per_gpu.argv, "--data-parallel-rank") == "0"
    assert after(per_gpu.argv, "--kv-transfer-config") == '{"kv_connector": "NixlConnector", "kv_role": "kv_both"}'
    assert "CUDA_VISIBLE_DEVICES" not in per_gpu.runtime_env
    per_node = role(read(DP.replace("CONNECTOR", "'{}'"), ref="v1.0.68"), "aggregate")
    assert per_node.processes_per_worker == 2
    assert after(per_node.argv, "--data-parallel-size-local") == "4"
    assert "--data-parallel-hybrid-lb" in per_node.argv
    assert after(per_node.argv, "--kv-transfer-config") == "{}"
    assert "99" not in shown(per_node.argv)
    events = after(per_node.argv, "--kv-events-config")
    assert events == '{"publisher": "zmq", "topic": "mine", "enable_kv_cache_events": true, "endpoint": "tcp://*:?"}'


def test_data_parallel_size_must_fit_the_worker() -> None:
    recipe = read(DP.replace("size: 8", "size: 3").replace("CONNECTOR", "null"), ref="main")
    aggregate = role(recipe, "aggregate")
    assert aggregate.argv == []
    assert aggregate.reason is not None
    assert "does not fit the worker's 8 GPUs" in aggregate.reason
    assert kinds(recipe) == ["srt-command"]


SERVE = """\
resources: {gpus_per_node: 8, agg_nodes: 2, agg_workers: 1}
frontend: {type: vllm, enable_multiple_frontends: false}
backend:
  type: vllm
  vllm_config:
    aggregated: {tensor-parallel-size: 16, host: 1.2.3.4, master_port: 5}
"""


def test_vllm_serve_is_its_own_frontend() -> None:
    recipe = read(SERVE)
    aggregate = role(recipe, "aggregate")
    assert shown(aggregate.argv)[:7] == ["vllm", "serve", "/model", "--host", "0.0.0.0", "--port", "8000"]
    assert "1.2.3.4" not in aggregate.argv
    assert after(aggregate.argv, "--master-port") == "5"
    assert recipe.frontend.count == 0
    assert recipe.problems == []
    assert role(read(SERVE, ref="v1.0.31"), "aggregate").reason is not None
    refused = read(SERVE.replace(", enable_multiple_frontends: false", "").replace("agg_workers: 1", "agg_workers: 2"))
    assert kinds(refused) == ["srt-frontend", "srt-frontend"]


def test_decode_may_share_nodes() -> None:
    text = """\
    resources:
      {gpus_per_node: 8, prefill_nodes: 1, prefill_workers: 1, gpus_per_prefill: 4, decode_nodes: 0, decode_workers: 1}
    backend:
      type: vllm
      allow_prefill_decode_colocation: SHARE
      vllm_config: {prefill: {}, decode: {}}
    """
    decode = role(read(text.replace("SHARE", "true")), "decode")
    assert decode.gpus_per_worker == 4
    assert after(decode.argv, "--device-ids") == "4,5,6,7"


@pytest.mark.parametrize(
    ("resources", "kind"),
    [
        ("{gpus_per_node: 8, agg_nodes: 1, agg_workers: 3, gpus_per_agg: 8}", "srt-topology"),
        ("{gpus_per_node: 0, agg_nodes: 1, agg_workers: 1}", "srt-topology"),
        ("{gpus_per_node: 8, agg_nodes: 1, agg_workers: 100000000}", "srt-topology"),
        ("{gpus_per_node: 9999999999, agg_nodes: 1, agg_workers: 1}", "srt-topology"),
        ("{gpus_per_node: 1, agg_nodes: 1, agg_workers: 1, gpus_per_agg: 9999999999}", "srt-topology"),
        ("{gpus_per_node: 8, agg_nodes: 1}", "srt-resources"),
        ("{gpus_per_node: eight, agg_nodes: 1, agg_workers: 1}", "srt-number"),
    ],
)
def test_impossible_resources(resources: str, kind: str) -> None:
    recipe = read(f"resources: {resources}\nbackend: {{type: vllm, vllm_config: {{aggregated: {{}}}}}}\n")
    assert kinds(recipe) == [kind]


def test_what_srtctl_refuses_or_garbles() -> None:
    recipe = read("""\
    resources: {gpus_per_node: 8, agg_nodes: 1, agg_workers: 1}
    backend:
      type: sglang
      aggregated_environment:
        NUMBER: 1
        JSON: '{"a": 1}'
        NODE: x-{node}
        JOB: x-{job_id}
      sglang_config: {aggregated: {override: {a: 1}}}
    """)
    assert sorted(kinds(recipe)) == ["srt-environment", "srt-nested-flag", "srt-template"]
    aggregate = role(recipe, "aggregate")
    assert "NUMBER" not in aggregate.env
    assert aggregate.env["JOB"] == "x-{job_id}"
    assert aggregate.runtime_env["NODE"] == Unknown("name of the worker's node")


def test_unknown_backend_keeps_the_role() -> None:
    recipe = read("resources: {agg_nodes: 1, agg_workers: 1}\nbackend: {type: other}\n")
    assert kinds(recipe) == ["srt-backend"]
    assert role(recipe, "aggregate").reason == "srtctl knows no backend 'other'"


VARIANTS = """\
base:
  name: demo
  model: {path: demo, container: image}
  resources: {gpus_per_node: 8, agg_nodes: 1, agg_workers: 1}
  backend:
    type: sglang
    sglang_config:
      aggregated: {tp-size: 8, dropped: x, list: [1, 2]}
override_small:
  backend: {sglang_config: {aggregated: {tp-size: 4, dropped: null}}}
zip_override_sweep:
  benchmark: {concurrencies: ["4x8", "16"]}
  backend: {sglang_config: {aggregated: {tp-size: [1, 2], list: [[3], [4, 5]], ep-size: [7]}}}
"""


def variants(selector: str | None) -> list[SrtRecipe]:
    recipe = read_recipe(VARIANTS, "recipe.yaml", selector, cluster=CLUSTER)
    return [recipe, *recipe.others] if recipe.roles else []


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("base", [("demo", "8")]),
        ("override_small", [("demo_small", "4")]),
        ("zip_override_sweep", [("demo_sweep_0", "1"), ("demo_sweep_1", "2")]),
        ("zip_override_sweep[1]", [("demo_sweep_1", "2")]),
        ("*small", [("demo_small", "4")]),
        (None, [("demo_small", "4"), ("demo_sweep_0", "1"), ("demo_sweep_1", "2")]),
    ],
)
def test_variants(selector: str | None, expected: list[tuple[str, str]]) -> None:
    assert [(one.name, after(one.roles[0].argv, "--tp-size")) for one in variants(selector)] == expected


def test_variant_values_keep_their_place() -> None:
    lines = VARIANTS.split("\n")
    second = variants("zip_override_sweep[1]")[0]
    assert second.roles[0].settings == {"tp-size": 2, "dropped": "x", "list": [4, 5], "ep-size": 7}
    assert second.benchmark.concurrencies == [16]
    span = second.roles[0].spans["--tp-size"]
    assert lines[span.line - 1].startswith("  backend: {sglang_config: {aggregated: {tp-size: [1, 2]")
    assert second.roles[0].spans["--dropped"].line == 8
    assert variants("override_small")[0].roles[0].settings == {"tp-size": 4, "list": [1, 2]}


@pytest.mark.parametrize(
    "selector", ["other", "override_none", "zip_override_sweep[2]", "zip_override_none[0]", "?none"]
)
def test_selectors_that_srtctl_refuses(selector: str) -> None:
    recipe = read_recipe(VARIANTS, "recipe.yaml", selector)
    assert kinds(recipe) == ["srt-selector"]
    assert recipe.roles == []


@pytest.mark.parametrize(
    "text",
    [
        "base: {}\n",
        "base: 1\n",
        "base: {}\nzip_override_a: {x: 1}\n",
        "base: {}\nzip_override_a: {x: []}\n",
        "base: {}\nzip_override_a: {x: [1, 2], y: [1, 2, 3]}\n",
        "base: {}\noverride_a: 1\n",
        f"base: {{}}\nzip_override_a: {{x: [{'1,' * 300}]}}\n",
    ],
)
def test_broken_variants_are_problems(text: str) -> None:
    assert kinds(read_recipe(text, "recipe.yaml")) == ["srt-selector"]


def test_selector_of_a_plain_file_is_ignored() -> None:
    assert read_recipe(HEAD + VLLM, "recipe.yaml", "override_x", cluster=CLUSTER).problems == []


@pytest.mark.parametrize(
    ("argument", "expected"),
    [("a/b.yaml", ("a/b.yaml", None)), ("a.yaml:base", ("a.yaml", "base")), ("a:b.yaml:x[0]", ("a:b.yaml", "x[0]"))],
)
def test_split_argument(argument: str, expected: tuple[str, str | None]) -> None:
    assert split_argument(argument) == expected


@pytest.mark.parametrize("text", ["", "- 1\n", "x: [", "\0", "name: 1\n", "resources: 1\nmodel: []\nbackend: x\n"])
def test_never_raises(text: str) -> None:
    recipe = read_recipe(text, "recipe.yaml")
    assert recipe.problems
    assert recipe.roles == []


def test_aliases_do_not_blow_up() -> None:
    bomb = "a0: &a0 {x: 1, y: 1}\n" + "".join(
        f"a{i}: &a{i} {{{', '.join(f'k{j}: *a{i - 1}' for j in range(9))}}}\n" for i in range(1, 8)
    )
    assert "srt-size" in kinds(read_recipe(bomb, "recipe.yaml"))


def test_cluster_file() -> None:
    cluster = read_cluster("model_paths: {a: /m/a}\ncontainers:\n  img: /s.sqsh\n  bad: [1]\n", "srtslurm.yaml")
    assert cluster.model_paths == {"a": "/m/a"}
    assert cluster.containers == {"img": "/s.sqsh"}
    assert read_cluster("[]", "srtslurm.yaml").problems
    assert read(VLLM).container == "/squash/image.sqsh"


@pytest.mark.parametrize(
    ("ref", "name", "known"),
    [
        (None, "main", True),
        ("v1.0.36", "v1.0.36", True),
        ("c180328b98c3793ca84a1e24a030f90545eb7d5d", "v1.0.38", True),
        ("217f9438", "v1.0.53", True),
        ("origin/sa-submission-q2-2026", "sa-submission-q2-2026", True),
        ("0123456789abcdef", "0123456789abcdef", False),
    ],
)
def test_release_of_a_reference(ref: str | None, name: str, known: bool) -> None:
    assert (release(ref).name, release(ref).known) == (name, known)


def test_spans_of_an_edited_copy_lead_to_the_original() -> None:
    original = HEAD + VLLM
    edited = "# added\n" + original.replace("name: demo\n", 'name: "runner"\n').replace(
        "    OWN", '    INSERTED: "1"\n    OWN', 1
    )
    origin = LineMap("mirror/recipe.yaml", original, edited)
    recipe = read_recipe(edited, "clone/recipe.yaml", cluster=CLUSTER, origin=origin)
    spans = role(recipe, "prefill").spans
    lines = original.split("\n")
    assert spans["OWN"].path == "mirror/recipe.yaml"
    assert lines[spans["OWN"].line - 1].strip() == 'OWN: "1"'
    assert lines[spans["--gpu-memory-utilization"].line - 1].strip() == "gpu-memory-utilization: 0.90"
    # An inserted line has the line before it, an edited one itself.
    assert lines[spans["INSERTED"].line - 1].strip() == "prefill_environment:"
    assert recipe.spans["name"].line == 1
    twice = read_recipe(edited + "environment: {}\n", "clone/recipe.yaml", cluster=CLUSTER, origin=origin)
    assert [(one.kind, one.span.path) for one in twice.problems] == [("duplicate-key", "mirror/recipe.yaml")]


KEYS = """\
sweep: {}
resources: {gpus_per_node: 8, agg_nodes: 1, agg_workers: 1}
telemetry: {provider: x}
benchmark: {tokenizer_mode: x, env: {FREE: "1"}}
backend:
  type: vllm
  dp_launch_mode: per_gpu
  mooncake_kv_store: {master_extra_args: []}
  vllm_config: {aggregated: {free: 1}, extra: {}}
"""


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ("main", []),
        ("0123456789", []),
        ("v1.0.68", ["telemetry.provider", "benchmark.tokenizer_mode", "backend.vllm_config.extra"]),
        (
            "v1.0.29",
            [
                "benchmark.tokenizer_mode",
                "backend.dp_launch_mode",
                "backend.vllm_config.extra",
                "backend.mooncake_kv_store.master_extra_args",
            ],
        ),
        (
            "aflowers/gb200-dsv4-recipes",
            [
                "telemetry",
                "backend.dp_launch_mode",
                "backend.mooncake_kv_store",
                "backend.vllm_config.extra",
                "benchmark.env",
            ],
        ),
    ],
)
def test_keys_that_a_release_refuses(ref: str, expected: list[str]) -> None:
    recipe = read(KEYS, ref=ref)
    messages = [one.message for one in recipe.problems if one.kind == "srt-unknown-key"]
    assert sorted(messages) == sorted(f"srt-slurm {ref} refuses the key {key}" for key in expected)


def test_benchmark_block() -> None:
    recipe = read(
        VLLM
        + """\
benchmark: {type: sa-bench, isl: 8192, osl: "1024", concurrencies: 4x8x16, env: {A: "1"}, command: bash run.sh}
"""
    )
    benchmark = recipe.benchmark
    assert (benchmark.type, benchmark.isl, benchmark.osl) == ("sa-bench", 8192, 1024)
    assert benchmark.concurrencies == [4, 8, 16]
    assert benchmark.env == {"A": "1"}
    assert benchmark.command == "bash run.sh"
