"""Launch commands in Markdown: what each starts, where it is, and what is left alone."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from botlint.cli import main
from botlint.layouts.commands import document_commands, load_commands, may_launch
from botlint.plan.build import Planner
from botlint.plan.model import Server, word_text
from botlint.repo.memory import MemoryFiles

PATH = "docs/serving.md"


def served(text: str) -> list[Server]:
    planner = Planner(MemoryFiles({PATH: text}))
    plans = [planner.plan(job) for job in planner.commands]
    assert not planner.failures
    return [plan.launch.server for plan in plans if plan.launch.server is not None]


def shown(text: str) -> list[str]:
    """Environment and command line of each server."""
    return [
        " ".join([*(f"{name}={word_text(word)}" for name, word in one.env.items()), *map(word_text, one.argv)])
        for one in served(text)
    ]


def block(text: str, language: str = "bash") -> str:
    return f"```{language}\n{text}\n```\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (block("vllm serve a/b --port 8000"), ["vllm serve a/b --port 8000"]),
        (block("vllm serve a/b \\\n  --port 8000 &"), ["vllm serve a/b --port 8000"]),
        (block("$ X=1 vllm serve a/b \\\n>   -tp 8\nINFO vllm serve is up", "console"), ["X=1 vllm serve a/b -tp 8"]),
        (block("user@host:~$ vllm serve a/b\n", ""), ["vllm serve a/b"]),
        ("1. start it\n\n    vllm serve a/b\n", ["vllm serve a/b"]),
        ("   > ```\n   > vllm serve a/b\n   > ```\n", ["vllm serve a/b"]),
        (block("nohup vllm serve a/b > log 2>&1 &\nvllm serve c/d"), ["vllm serve a/b", "vllm serve c/d"]),
        (block("cd /app && vllm serve a/b"), ["vllm serve a/b"]),
        (block("source venv/bin/activate\nvllm serve a/b"), ["vllm serve a/b"]),
        (block("uv run --with vllm vllm serve a/b"), ["vllm serve a/b"]),
        (block("python3 -m sglang.launch_server --tp 8"), ["python3 -m sglang.launch_server --tp 8"]),
        (block("python -m atom.entrypoints.openai_server -tp 8"), ["python -m atom.entrypoints.openai_server -tp 8"]),
        (block("docker run -e X=1 vllm/vllm-openai:v0.27.1 vllm serve a/b"), ["vllm serve a/b"]),
        (block("docker run --gpus all vllm/vllm-openai:v0.27.1 \\\n  --model a/b"), ["vllm serve --model a/b"]),
        (block("docker run vllm/vllm-openai:v0.27.1 a/b -tp 2"), ["vllm serve a/b -tp 2"]),
        (block("docker exec box bash -c 'vllm serve a/b'"), ["vllm serve a/b"]),
        (block("cat > run.sh <<'EOF'\nexport A=1\nvllm serve a/b\nEOF\nbash run.sh"), ["A=1 vllm serve a/b"]),
        (block("if true; then\n  vllm serve a/b\nfi"), ["vllm serve a/b"]),
        # What is no start of a server.
        (block("docker run -it --entrypoint /bin/bash vllm/vllm-openai:v0.27.1"), []),
        (block("docker run -it vllm/vllm-openai:v0.27.1"), []),
        (block("pkill -f 'vllm serve' || true\necho vllm serve\n# vllm serve a/b"), []),
        (block("vllm serve --help\nvllm bench serve --model a/b"), []),
        (block("vllm serve a/b", "python"), []),
        ("Use `vllm serve` for that.\n\nvllm serve is a command.\n", []),
    ],
)  # fmt: skip
def test_what_is_started(text: str, expected: list[str]) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A paragraph as it comes out of a page: no fence, options in lines of their own.
        ("Server\n\nA=1 B=2 \\\nvllm serve a/b \\\n    -tp 4\n", ["A=1 B=2 vllm serve a/b -tp 4"]),
        ("vllm serve a/b --port 8000\n", ["vllm serve a/b --port 8000"]),
        # A value that was broken in two in the middle of a text.
        (block("vllm serve a/b --kv '{\"k\": \"x_\ny\"}' -tp 4"), ['vllm serve a/b --kv {"k": "x_\ny"} -tp 4']),
    ],
)  # fmt: skip
def test_commands_of_descriptions(text: str, expected: list[str]) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (block("MODEL=a/b") + block("vllm serve $MODEL"), ["vllm serve a/b"]),
        (block("export A=1") + "\nwords\n" + block("vllm serve a/b"), ["A=1 vllm serve a/b"]),
        # An export of another section is not this one's, but a variable that the command names is known.
        ("# One\n" + block("export A=1 M=a/b") + "# Two\n" + block("vllm serve $M"), ["vllm serve a/b"]),
        ("# One\n" + block("export A=1") + "## Two\n" + block("vllm serve a/b"), ["A=1 vllm serve a/b"]),
        ("# One\n" + block("export A=1\nunset A") + "# Two\n" + block("vllm serve a/b"), ["vllm serve a/b"]),
        (block("export A=1 && vllm serve a/b"), ["A=1 vllm serve a/b"]),
        (block("vllm serve ${M:-a/b} --port ${PORT:=8000}"), ["vllm serve a/b --port 8000"]),
        (block("ARGS=(--port 8000)\nvllm serve a/b \"${ARGS[@]}\""), ["vllm serve a/b --port 8000"]),
    ],
)  # fmt: skip
def test_what_a_document_sets_before(text: str, expected: list[str]) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    "word",
    ["<model>", "/path/to/model", "...", "$MODEL", "${MODEL}", "{{model}}", "your-model", "[model]", "<4-or-8>"],
)  # fmt: skip
def test_what_a_reader_fills_in_is_not_known(word: str) -> None:
    (server,) = served(block(f"vllm serve {word} --port 8000"))
    assert [one if isinstance(one, str) else "?" for one in server.argv] == ["vllm", "serve", "?", "--port", "8000"]


def test_places_and_names() -> None:
    text = "# Demo\n\n## On 8 GPUs\n\n- first\n\n  ```bash\n  export A=1\n  vllm serve a/b \\\n    --port 8000\n  ```\n"
    (job,) = document_commands(PATH, text + "\n```\nvllm serve c/d\n```\n").jobs[:1]
    assert (job.entry, job.config.line, job.arm.line, job.arm.column) == (f"{PATH}#on-8-gpus", 3, 9, 3)
    assert job.row == {"document": PATH, "section": "Demo > On 8 GPUs"}
    (server,) = served(text)
    assert (server.path, server.line) == (PATH, 9)
    twice = document_commands(PATH, "# A\n" + block("vllm serve a") + block("vllm serve b")).jobs
    assert [one.entry for one in twice] == [f"{PATH}#a", f"{PATH}#a/2"]


@pytest.mark.parametrize(
    ("text", "image", "versions"),
    [
        (block("docker run vllm/vllm-openai:v0.27.1 --model a"), "vllm/vllm-openai:v0.27.1", {}),
        (block("docker pull vllm/vllm-openai:v0.27.1") + block("vllm serve a"), "vllm/vllm-openai:v0.27.1", {}),
        (
            block("docker pull vllm/vllm-openai:v0.27.1\ndocker pull vllm/vllm-openai:v0.26.0") + block("vllm serve a"),
            None,
            {},
        ),
        (block("pip install vllm==0.11.0") + block("vllm serve a"), None, {"vllm": "0.11.0"}),
        (block("pip install vllm==0.11.0 vllm==0.12.0") + block("vllm serve a"), None, {}),
        (block("pip install 'vllm>=0.11.0'") + block("vllm serve a"), None, {}),
    ],
)
def test_versions(text: str, image: str | None, versions: dict[str, str]) -> None:
    job = document_commands(PATH, text).jobs[-1]
    assert (job.row.get("image"), job.versions) == (image, versions)


def test_a_fault_costs_the_statement_only() -> None:
    loaded = document_commands(PATH, block("x=[a](b)\n\nvllm serve a/b -tp 2"))
    assert [problem.span.line for problem in loaded.problems] == [2]
    assert len(loaded.jobs) == 1


def test_documents_of_a_revision() -> None:
    text = block("vllm serve a/b")
    files = MemoryFiles({"a.md": text, "b.MD": text, "c.txt": text, "node_modules/d.md": text, "e.md": "vllm"})
    assert [job.config.path for job in load_commands(files).jobs] == ["a.md", "b.MD"]


def test_documents_inside_of_yaml() -> None:
    text = (
        "model: a\nguide: |\n  # Guide\n  ```bash\n  vllm serve a/b \\\n    -tp 2\n  ```\nother: >-\n  vllm serve x\n"
    )
    files = MemoryFiles({"models/a.yaml": text, "b.yaml": "run: |\n  vllm serve a/b\n"})
    (job,) = load_commands(files).jobs
    assert (job.entry, job.config.line, job.arm.line, job.arm.column) == ("models/a.yaml#guide", 3, 5, 3)
    planner = Planner(files)
    server = planner.plan(planner.commands[0]).launch.server
    assert server is not None
    assert server.argv == ("vllm", "serve", "a/b", "-tp", "2")


@pytest.mark.parametrize(
    "text",
    [
        "```\nvllm serve " + "$(" * 3000 + "\n```",
        "> " * 3000 + "vllm serve --x",
        block("vllm serve '" + "a" * 50_000),
        "`" * 9000 + "\nvllm serve",
        block("docker run " + "x " * 20_000 + "vllm/vllm-openai"),
        block("A=" * 10_000 + "vllm serve"),
    ],
)
def test_hostile_documents(text: str) -> None:
    document_commands(PATH, text)


def test_a_container_sees_only_what_it_is_given() -> None:
    text = block("export A=1 B=2") + block("docker run -e A=$A demo/vllm:1 vllm serve a/b")
    (server,) = served(text)
    assert (server.env, server.runtime_env) == ({}, {"A": "1"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lm_eval --model local --tasks gsm8k", ["lm_eval: lm_eval --model local --tasks gsm8k"]),
        ("MODEL=a/b\nvllm bench serve --model $MODEL", ["vllm-bench: vllm bench serve --model a/b"]),
        ("python3 -m sglang.bench_serving -n 8", ["sglang-bench: python3 -m sglang.bench_serving -n 8"]),
        ("python b/benchmark_serving.py --model <m>", ["benchmark: python b/benchmark_serving.py --model <m>"]),
        ("pip install lm_eval\necho lm_eval", []),
    ],
)  # fmt: skip
def test_clients(text: str, expected: list[str]) -> None:
    planner = Planner(MemoryFiles({}))
    loaded = document_commands(PATH, block(text))
    assert not loaded.jobs
    found = [plan.launch.server for plan in planner.plan_clients(loaded.clients)]
    told = [f"{one.framework}: {' '.join(map(word_text, one.argv))}" for one in found if one is not None]
    assert [one.replace("<the reader fills in <m>>", "<m>") for one in told] == expected
    assert all(job.scenario == "client" for job in loaded.clients)


@pytest.mark.parametrize(
    ("title", "known"), [("Prerequisites", True), ("Pull the image", True), ("On AMD", False), ("Serving", False)]
)
def test_an_image_of_another_section(title: str, known: bool) -> None:
    text = (
        f"# Guide\n## {title}\n" + block("docker pull vllm/vllm-openai:v0.27.1") + "## Launch\n" + block("vllm serve a")
    )
    assert ("image" in document_commands(PATH, text).jobs[0].row) is known


def test_plan_of_documents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / PATH).write_text("# One\n" + block("vllm serve a/b\nlm_eval --x") + "# Two\n" + block("vllm serve c"))
    outside = tmp_path / "pull.md"
    outside.write_text("vllm serve d/e --port 1\n")

    def entries(*arguments: str) -> tuple[int, list[str]]:
        status = main(["plan", "--repo", str(tmp_path), "--format", "json", *arguments])
        output = capsys.readouterr().out
        return status, [plan["entry"] for plan in json.loads(output)["plans"]] if output else []

    every = [f"{PATH}#one", f"{PATH}#two", f"{PATH}#one-client"]
    assert entries(PATH) == (0, every)
    assert entries("--commands") == (0, [*every[:2], "pull.md#commands", every[2]])
    assert entries(f"{PATH}#two") == (0, [f"{PATH}#two"])
    assert entries(str(outside)) == (0, [f"{outside}#commands"])
    assert entries("--commands", "--where", "scenario=client") == (0, [every[2]])
    assert entries("none.md")[0] == 2
    assert entries(f"{PATH}#three")[0] == 4


@pytest.mark.parametrize(
    "text",
    [
        "docker run " * 80_000,
        "docker " * 120_000,
        "docker run " + "run " * 200_000,
        block("docker run " * 3_000 + "\nvllm serve a"),
        block("docker run x/" + "a" * 35_000 + "\nvllm serve a"),
        "    vllm serve a\n" + "\n" * 300_000 + "    b\n",
    ],
)  # fmt: skip
def test_a_text_costs_what_its_length_is_worth(text: str) -> None:
    before = time.process_time()
    may_launch(text)
    document_commands(PATH, text + "\n" + block("vllm serve b"))
    assert time.process_time() - before < 5


@pytest.mark.parametrize(
    "command",
    [
        "docker run --gpus all -v /var/run/docker.sock:/x vllm/vllm-openai:v0.27.1 --model m",
        "docker login && docker run \\\n  vllm/vllm-openai:v0.27.1 \\\n  --model m",
        "podman --remote run -it --rm docker.io/vllm/vllm-openai:v0.27.1 --model m",
    ],
)
def test_an_image_that_serves(command: str) -> None:
    assert may_launch(command)
    assert len(document_commands(PATH, block(command)).jobs) == 1
