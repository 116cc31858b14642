"""Smoke jobs on a node: the command lines of containers, and what containers leave behind."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from botlint.core.errors import UsageError
from botlint.core.span import Span
from botlint.plan.model import Launch, LaunchPlan, Server
from botlint.smoke.container import Container, Engine, cleanup, commands, find_engine, read_image
from botlint.smoke.jsonform import verdict_form
from botlint.smoke.model import Change, JobName, Limits, Log, Verdict
from botlint.smoke.node import MAX_LOG, Node, bounded, old_plans, prepare, read_left, run_all, run_command
from botlint.smoke.result import MAX_MEMBER, Result, read_result, result_form
from botlint.smoke.select import Budget, find, job_id

NONCE, HEAD, BASE = "0123456789abcdef", "a" * 40, "b" * 40
SPAN = Span("configs/a.yaml", 1, 1, 1, 2)
NAME = f"botlint-smoke-{NONCE}-{'f' * 16}"
VERDICT = Verdict("pass", "it answers", JobName("one", "fixed", 0, 4), "vllm")


def box(engine: Engine = "docker", **changes: Any) -> Container:
    return replace(Container(engine, "/w/job", NAME, 4, 30), **changes)


def plan(image: str = "vllm/vllm-openai:v1", conc: int = 4, env: str = "1") -> LaunchPlan:
    server = Server("vllm", "0.27.1", "r.sh", 3, ("vllm", "serve", "m"), {"A": env}, {})
    launch = Launch(("mi355x_00",), "l.sh", "r.sh", "serves", None, server)
    job = {"image": image, "model": "m", "framework": "vllm", "runner": "mi355x", "tp": 2, "conc": conc}
    return LaunchPlan("one", SPAN, SPAN, "fixed", 0, job, launch)


@pytest.mark.parametrize(
    ("text", "docker", "enroot"),
    [
        ("vllm/vllm-openai:v0.27.1", "docker.io/vllm/vllm-openai:v0.27.1", "vllm/vllm-openai:v0.27.1"),
        ("ubuntu:24.04", "docker.io/library/ubuntu:24.04", "ubuntu:24.04"),
        ("nvcr.io#nvidia/x:1", "nvcr.io/nvidia/x:1", "nvcr.io#nvidia/x:1"),
        ("nvcr.io/nvidia/x:1", "nvcr.io/nvidia/x:1", "nvcr.io#nvidia/x:1"),
        ("docker://a/b:c", "docker.io/a/b:c", "a/b:c"),
        (f"a/b@sha256:{'0' * 64}", f"docker.io/a/b@sha256:{'0' * 64}", f"a/b@sha256:{'0' * 64}"),
    ],
)
def test_the_names_of_images(text: str, docker: str, enroot: str) -> None:
    assert (read_image(text).docker, read_image(text).enroot) == (docker, enroot)


@pytest.mark.parametrize(
    "text",
    [
        "", "a", "a/b", "--privileged", "-v/:/host", "a/b:c d", "a/b:c\n", "$(reboot):1", "/srv/x.sqsh", "../x:1",
        "a/b:c --privileged", "A/B:c", "a/b:" + "c" * 200, "a" * 500 + ":1", "a/b:c;reboot", "file:///x:1",
    ],
)  # fmt: skip
def test_what_is_no_image_is_no_word_of_a_command(text: str) -> None:
    with pytest.raises(UsageError):
        read_image(text)


@pytest.mark.parametrize(
    "changes",
    [
        {"work": "relative"}, {"work": "/a/../b"}, {"work": "/a b"}, {"work": "/a:/b"}, {"work": "/a,b"},
        {"wheels": "x"}, {"folders": ("/a;b",)}, {"cache": "/a,X=1"}, {"name": "other"}, {"package": "botlint; reboot"},
        {"package": "evil"}, {"slurm": ("-p",)}, {"slurm": ("--x=$(reboot)",)},
    ],
)  # fmt: skip
def test_words_of_another_form_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        box(**changes)


def test_docker() -> None:
    ((*words, script),) = commands(box(folders=("/models",)), read_image("a/b:c"))
    text = shlex.join(words)
    assert text.startswith(f"docker run --rm --init --name {NAME} ")
    assert text.endswith("--workdir /botlint/work --entrypoint bash docker.io/a/b:c -c")
    assert "--volume /w/job:/botlint/work --volume /models:/models:ro" in text
    assert "--device /dev/kfd --device /dev/dri" in text
    assert "--privileged" not in text
    assert "--network" not in text
    assert "smoke run request.json --json verdict.json" in script
    assert "--compare" not in script
    ((*words, script),) = commands(box(wheels="/wheels", nvidia=True, compared=True), read_image("a/b:c"))
    assert "--network none" in shlex.join(words)
    assert "--gpus all" in shlex.join(words)
    assert "--no-index --find-links /botlint/wheels" in script
    assert "--compare base.json" in script
    assert cleanup(box()) == [["docker", "rm", "--force", "--volumes", NAME]]
    assert commands(box("podman"), read_image("a/b:c"))[0][0] == "podman"


def test_slurm() -> None:
    ((*words, _),) = commands(box("slurm", slurm=("--partition=compute",), folders=("/m",)), read_image("r.io/a/b:c"))
    assert words[0] == "srun"
    for word in (
        "--gres=gpu:4", "--time=30", "--partition=compute", "--container-image=r.io#a/b:c", "--export=NONE",
        "--container-mounts=/w/job:/botlint/work,/m:/m:ro", f"--job-name={NAME}", "--no-container-mount-home",
    ):  # fmt: skip
        assert word in words
    assert cleanup(box("slurm")) == [["scancel", "--quiet", f"--name={NAME}"]]


def test_models_of_a_hub_are_found_by_name() -> None:
    for engine, word in (
        ("docker", "--env HF_HUB_CACHE=/hub"),
        ("slurm", "--export=NONE,HF_HUB_CACHE=/hub"),
        ("enroot", "--env HF_HUB_CACHE=/hub"),
    ):
        *_, last = commands(box(engine, cache="/hub", folders=("/hub",)), read_image("a/b:c"))  # type: ignore[arg-type]
        text = shlex.join(last)
        assert word in text
        assert text.count("/hub:/hub:ro") == 1


def test_enroot_and_no_container() -> None:
    found = commands(box("enroot"), read_image("r.io/a/b:c"))
    assert [words[1] for words in found] == ["import", "create", "start"]
    assert found[0][-1] == "docker://r.io#a/b:c"
    assert found[2][-4:-2] == [NAME, "bash"]
    (words,) = commands(box("none", compared=True), None)
    assert words[0] == sys.executable
    assert words[-2:] == ["--compare", "/w/job/base.json"]
    with pytest.raises(UsageError):
        commands(box(), None)


@pytest.mark.parametrize("engine", ["docker", "slurm"])
def test_the_script_of_the_container_is_one_of_a_shell(engine: Engine) -> None:
    script = commands(box(engine), read_image("a/b:c"))[0][-1]
    assert subprocess.run(["bash", "-n", "-c", script], check=False).returncode == 0


def test_the_engine_of_a_node() -> None:
    assert find_engine(lambda name: "/x" if name in ("srun", "docker") else None) == "slurm"
    assert find_engine(lambda name: "/x" if name == "enroot" else None) == "enroot"
    with pytest.raises(UsageError, match="--engine none"):
        find_engine(lambda _: None)


# Jobs


def ready(folder: Path, plans: Sequence[LaunchPlan] = (), **changes: Any) -> Any:
    listed = list(plans) or [plan()]
    node = replace(Node(folder, "docker", limits=Limits(stop=5)), **changes)
    return prepare(node, find(listed, [job_id(one) for one in listed], Budget()), HEAD, BASE, NONCE, {})


def leaves(verdict: Verdict | bytes | None, seen: list[list[str]]) -> Callable[[Sequence[str], float], int]:
    """A container that leaves a verdict and ends."""

    def run(command: Sequence[str], _seconds: float) -> int:
        seen.append(list(command))
        if command[1] == "run" and verdict is not None:
            folder = Path(command[command.index("--volume") + 1].partition(":")[0])
            assert json.loads((folder / "request.json").read_text())["head"] == HEAD
            raw = verdict if isinstance(verdict, bytes) else json.dumps(verdict_form(verdict)).encode()
            (folder / "verdict.json").write_bytes(raw)
        return 0 if verdict is not None else 125

    return run


def test_a_job_is_started_and_cleared_away(tmp_path: Path) -> None:
    seen: list[list[str]] = []
    jobs, unstarted = ready(tmp_path)
    result = run_all(jobs, unstarted, HEAD, None, NONCE, run=leaves(VERDICT, seen))
    assert [words[1] for words in seen] == ["run", "rm"]
    (one,) = result.jobs
    assert (one.verdict.verdict, one.verdict.nonce, one.verdict.head) == ("pass", NONCE, HEAD)
    assert one.id == job_id(plan())
    assert read_result(json.dumps(result_form(result)).encode()) == result


def test_whose_verdict_it_is_is_not_for_the_container_to_say(tmp_path: Path) -> None:
    forged = replace(VERDICT, job=JobName("other", "x", 9, 9), nonce="x", head="c" * 40)
    jobs, unstarted = ready(tmp_path)
    (one,) = run_all(jobs, unstarted, HEAD, None, NONCE, run=leaves(forged, [])).jobs
    assert (one.verdict.job.entry, one.verdict.nonce, one.verdict.head) == ("one", NONCE, HEAD)


@pytest.mark.parametrize("left", [None, b"", b"{}", b"[" * 10_000, b"\xff", b"x" * 9_000_000])
def test_a_container_that_leaves_no_verdict(tmp_path: Path, left: bytes | None) -> None:
    jobs, unstarted = ready(tmp_path)
    result = run_all(jobs, unstarted, HEAD, None, NONCE, run=leaves(left, []))
    assert result.verdict == "infrastructure"
    assert "no verdict" in result.jobs[0].verdict.reason


def test_the_other_jobs_are_started_all_the_same(tmp_path: Path) -> None:
    jobs, unstarted = ready(tmp_path, [plan("bad image"), plan(conc=8)])
    assert [one.reason.startswith("this is no image") for one in unstarted] == [True]
    result = run_all(jobs, unstarted, HEAD, None, NONCE, run=leaves(VERDICT, []))
    assert (len(result.jobs), len(result.unstarted), result.verdict) == (1, 1, "inconclusive")


def test_what_is_no_plain_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "nothing", "."):
        assert read_left(tmp_path / name) is None
    assert read_left(tmp_path / "secret") == b"s"


def test_a_great_verdict_is_cut_before_it_is_handed_on() -> None:
    long = replace(
        VERDICT,
        verdict="fail",
        log=Log(("x" * 4_000,) * 400, 400, 1_600_000),
        argv=("w" * 50_000,) * 500,
        env={f"A{number}": "v" * 5_000 for number in range(500)},
        changes=tuple(Change("c", "o" * 50_000, None, "w") for _ in range(400)),
    )
    short = bounded(replace(long, compared=long))
    assert len(short.log.tail) == MAX_LOG
    assert short.log.cut
    result = Result(NONCE, HEAD, None, ())
    content = json.dumps(result_form(result)).encode() + json.dumps(verdict_form(short)).encode()
    assert len(content) < MAX_MEMBER


def test_the_base_is_compared_where_it_starts_something_else() -> None:
    old, new = [plan(conc=4, env="1"), plan(conc=8, env="1")], [plan(conc=4, env="2"), plan(conc=8, env="1")]
    chosen = find(new, [job_id(one) for one in new], Budget()).chosen
    found = old_plans(old, new, chosen)
    assert list(found) == [job_id(new[0])]
    assert found[job_id(new[0])].launch.server == old[0].launch.server
    assert old_plans([], new, chosen) == {}
    node = Node(Path("/w"), "docker")
    selection = find(new, [job_id(new[0])], Budget())
    (job,), _ = prepare(node, selection, HEAD, BASE, NONCE, found)
    assert job.base is not None
    assert (job.asked.base, job.base.head) == (BASE, BASE)
    assert "--compare base.json" in job.commands[-1][-1]


def test_a_command_that_outlives_its_time_is_ended_with_all_that_it_started() -> None:
    began = time.monotonic()
    script = "import subprocess, sys, time; subprocess.Popen(['sleep', '300']); print('x'); time.sleep(300)"
    assert run_command([sys.executable, "-c", script], 1.0) == 124
    assert time.monotonic() - began < 60
    assert run_command([sys.executable, "-c", "raise SystemExit(3)"], 60.0) == 3
    assert run_command(["/nowhere/at-all"], 5.0) == 127


# What the launcher of the base tells


def test_what_a_launchers_line_tells() -> None:
    from botlint.core.unknown import Unknown
    from botlint.smoke.launcher import Hints, read_hints

    unknown = ("--jobid=", Unknown("a job"))
    slurm = (
        "srun", unknown, "--container-image=/var/lib/squash/x.sqsh", "--exclusive", "--cpus-per-task=128",
        ("--container-mounts=", Unknown("w"), ":/work/,", Unknown("x"), "/c:/hf_cache,/var/lib/hub/:/m/hf_hub_cache/"),
        "--export=ALL", "--uid=0",
    )  # fmt: skip
    assert read_hints(slurm) == Hints("slurm", ("--exclusive", "--cpus-per-task=128"), "/var/lib/hub")
    docker = (
        "docker", "run", "--privileged", "--gpus=all", "--shm-size", "16g", "--ulimit", "memlock=-1", "--device",
        "/dev/kfd", "--device=/dev/sda", "-v", "/:/host", "-v", "/raid/hub:/root/.cache/huggingface", "--cap-add",
        "SYS_ADMIN", "--pid=host", "--network=host", "-v", "/x/../etc:/hf_hub_cache", "--security-opt",
        "seccomp=unconfined", "--shm-size=1;reboot", "a/b:c",
    )  # fmt: skip
    assert read_hints(docker) == Hints(
        "docker", ("--shm-size=16g", "--ulimit=memlock=-1", "--device=/dev/kfd"), "/raid/hub", nvidia=True
    )
    for words in ((), ("ssh", "host"), (("doc", Unknown("x")), "run"), ("docker",)):
        assert read_hints(words).options == ()
    assert read_hints(("docker", "run", "-v", "/:/hf_hub_cache")).cache == ""


def test_the_launcher_of_the_base_decides_what_starts_a_job() -> None:
    from botlint.smoke.node import engine_for, hints_for

    def contained(one: LaunchPlan, *words: str) -> LaunchPlan:
        return replace(one, launch=replace(one.launch, container=words))

    new = contained(plan(), "docker", "run", "--privileged", "-v", "/:/hf_hub_cache", "--shm-size=1g", "a/b:c")
    old = contained(plan(env="0"), "docker", "run", "--shm-size=8g", "-v", "/hub:/hf_hub_cache", "a/b:c")
    selection = find([new], [job_id(new)], Budget())
    hints = hints_for([old], selection.chosen)
    node = Node(Path("/w"), "docker")
    (job,), _ = prepare(node, selection, HEAD, BASE, NONCE, {}, hints)
    text = shlex.join(job.commands[-1][:-1])
    assert "--shm-size=8g" in text
    assert "/hub:/hub:ro" in text
    assert "--privileged" not in text
    assert "/:/" not in text
    (job,), _ = prepare(replace(node, cache="/mine"), selection, HEAD, BASE, NONCE, {}, hints)
    assert "/mine:/mine:ro" in job.commands[-1]
    assert hints_for([], selection.chosen) == {}
    (found,) = hints.values()
    assert engine_for(found, lambda _: "/x") == "docker"
    assert engine_for(found, lambda name: "/x" if name == "srun" else None) == "slurm"
    (job,), _ = prepare(replace(node, engine="slurm"), selection, HEAD, BASE, NONCE, {}, hints)
    assert not any("shm-size" in word for word in job.commands[-1]), "words of another engine are none of this one"
