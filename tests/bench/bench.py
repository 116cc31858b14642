"""Measure `botlint plan` and `botlint check` on checkouts, against a repository's own matrix generator if it has one.

All run as whole processes, one after the other (A B A B ...), so that a change of the machine's speed hits all.
`plan` and `check` are cold, without a cache; the warm check has a filled cache and one recipe that changed in a copy
of the checkout. `shellcheck` reads the scripts of the checkout in one process. Printed: medians, ratios of medians,
processor time, peak resident memory (the largest over the runs), and the start-up time of `botlint --version`.

A repository of another layout has no generator of that form; then the check is held against a limit in seconds.

usage: bench.py CHECKOUT... [--botlint PATH] [--runs N]
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

GENERATOR = Path("utils/matrix_logic/generate_sweep_configs.py")
CONFIG_FOLDERS = (Path("configs"), Path(".github/configs"))


@dataclass(frozen=True)
class Subject:
    """A command line to measure, and what its runs took."""

    name: str
    command: Sequence[str]
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    statuses: tuple[int, ...] = (0,)
    prepare: Callable[[], None] = lambda: None
    seconds: list[float] = field(default_factory=list)
    peak_kib: list[int] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def run(self, *, keep: bool) -> None:
        """Run once; raises SystemExit with the output when the command fails."""
        self.prepare()
        with tempfile.TemporaryFile() as errors:
            started = time.perf_counter()
            process = subprocess.Popen(
                self.command,
                cwd=self.folder,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
            _, status, usage = os.wait4(process.pid, 0)
            elapsed = time.perf_counter() - started
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode not in self.statuses:
                errors.seek(0)
                message = errors.read().decode(errors="replace")
                raise SystemExit(f"{' '.join(self.command)} gave {process.returncode}:\n{message[-2000:]}")
        if keep:
            self.seconds.append(elapsed)
            self.peak_kib.append(usage.ru_maxrss)
            self.cpu.append(usage.ru_utime + usage.ru_stime)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def line(self) -> str:
        peak = max(self.peak_kib) / 1024
        low, high = min(self.seconds), max(self.seconds)
        cpu = statistics.median(self.cpu)
        times = f"median {self.median:6.3f} s   ({low:.3f} to {high:.3f})   processor {cpu:6.3f} s"
        return f"{self.name:<18} {times}   peak {peak:5.0f} MiB"


LIMIT = 2.0
"""Seconds that a check may take of a repository that has no generator to compare with."""


def generator_command(repository: Path) -> list[str] | None:
    """Return the repository's own command for the whole matrix, None when it has none; raises SystemExit when half."""
    if not (repository / GENERATOR).is_file():
        return None
    for folder in CONFIG_FOLDERS:
        masters = sorted((repository / folder).glob("*-master.yaml"))
        if masters:
            names = [str(path.relative_to(repository)) for path in masters]
            runners = str(folder / "runners.yaml")
            return [sys.executable, str(GENERATOR), "full-sweep", "--config-files", *names, "--runner-config", runners]
    raise SystemExit(f"{repository} has no *-master.yaml in {' or '.join(map(str, CONFIG_FOLDERS))}")


SCRIPT_SUFFIXES = (".sh", ".slurm", ".sbatch")


def scripts(repository: Path) -> list[str]:
    """The shell scripts of a checkout by their names."""
    found = [path for path in repository.rglob("*") if path.suffix in SCRIPT_SUFFIXES and path.is_file()]
    return sorted(str(path.relative_to(repository)) for path in found if ".git" not in path.parts)


def recipe_of(repository: Path) -> Path:
    """A recipe, or else a launcher, that jobs of the checkout reach: the first one that serves."""
    from botlint.plan.build import Planner
    from botlint.repo.open import open_files

    planner = Planner(open_files(repository))
    for job in planner.jobs:
        launch = planner.plan(job).launch
        if launch.outcome == "serves" and (launch.recipe or launch.launcher):
            return repository / str(launch.recipe or launch.launcher)
    raise SystemExit(f"no job of {repository} reaches a recipe")


@contextmanager
def changing_copy(repository: Path) -> Iterator[tuple[Path, Callable[[], None]]]:
    """A copy of the checkout without its history, and what changes one of its recipes once more."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(repository, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        recipe = recipe_of(copy)

        def change() -> None:
            recipe.write_text(recipe.read_text(encoding="utf-8") + "# once more\n", encoding="utf-8")

        yield copy, change


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkouts", type=Path, nargs="+", metavar="checkout")
    parser.add_argument("--botlint", default="botlint", help="the botlint to measure (default: the one on PATH)")
    parser.add_argument("--runs", type=int, default=5, help="measured runs of each, after one that is not (default 5)")
    options = parser.parse_args()
    botlint = str(Path(options.botlint).absolute()) if "/" in options.botlint else options.botlint
    for checkout in options.checkouts:
        measure(checkout.resolve(), botlint, options.runs)


def measure(repository: Path, botlint: str, runs: int) -> None:
    """Run everything on one checkout, and print what it took."""
    with tempfile.TemporaryDirectory() as bytecode, changing_copy(repository) as (copy, change):
        plan = Subject(
            "botlint plan",
            [botlint, "plan", "--repo", ".", "--format", "json", "--no-cache", "--quiet", "--output", os.devnull],
            repository,
        )
        # The generator may keep its bytecode, as botlint does, but not inside the checkout.
        command = generator_command(repository)
        generator = Subject("own generator", command or [], repository, {"PYTHONPYCACHEPREFIX": bytecode})
        version = Subject("botlint --version", [botlint, "--version"], repository)
        check = [botlint, "check", ".", "--format", "json", "--quiet", "--output", os.devnull]
        cold = Subject("botlint check", [*check, "--no-cache"], repository, statuses=(0, 1))
        cache = {"XDG_CACHE_HOME": bytecode}
        warm = Subject("warm check", check, copy, cache, statuses=(0, 1), prepare=change)
        subjects = [plan, *([generator] if command is not None else []), version, cold, warm]
        shellcheck = shutil.which("shellcheck", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
        if shellcheck is not None:
            words = [shellcheck, "--format=json", *scripts(repository)]
            subjects.append(Subject("shellcheck", words, repository, statuses=(0, 1)))
        for number in range(runs + 1):
            for subject in subjects:
                subject.run(keep=number > 0)

    print(f"{repository}: {runs} runs each, {os.cpu_count()} cores")
    for subject in subjects:
        print(subject.line())
    print("ratios of medians")
    for subject in (plan, cold, warm):
        if generator.seconds:
            print(f"  {subject.median / generator.median:6.2f}   {subject.name} / own generator")
        elif subject is not plan:
            print(f"  {subject.median / LIMIT:6.2f}   {subject.name} / limit of {LIMIT} s")
    for subject in subjects[subjects.index(warm) + 1 :]:
        print(f"  {cold.median / subject.median:6.2f}   {cold.name} / {subject.name}")


if __name__ == "__main__":
    main()
