"""Measure `botlint plan` on a checkout against that repository's own matrix generator.

Both run as whole processes, cold, one after the other (A B A B ...), so that a change of the machine's speed hits both.
Printed: medians, the ratio of medians, peak resident memory (the largest over the runs), and the start-up time of
`botlint --version`.

usage: bench.py CHECKOUT [--botlint PATH] [--runs N]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
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
    seconds: list[float] = field(default_factory=list)
    peak_kib: list[int] = field(default_factory=list)

    def run(self, *, keep: bool) -> None:
        """Run once; raises SystemExit with the output when the command fails."""
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
            if process.returncode != 0:
                errors.seek(0)
                message = errors.read().decode(errors="replace")
                raise SystemExit(f"{' '.join(self.command)} gave {process.returncode}:\n{message[-2000:]}")
        if keep:
            self.seconds.append(elapsed)
            self.peak_kib.append(usage.ru_maxrss)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def line(self) -> str:
        peak = max(self.peak_kib) / 1024
        low, high = min(self.seconds), max(self.seconds)
        return f"{self.name:<18} median {self.median:6.3f} s   ({low:.3f} to {high:.3f})   peak {peak:5.0f} MiB"


def generator_command(repository: Path) -> list[str]:
    """Return the repository's own command for the whole matrix; raises SystemExit when it has none."""
    if not (repository / GENERATOR).is_file():
        raise SystemExit(f"{repository} has no {GENERATOR}")
    for folder in CONFIG_FOLDERS:
        masters = sorted((repository / folder).glob("*-master.yaml"))
        if masters:
            names = [str(path.relative_to(repository)) for path in masters]
            runners = str(folder / "runners.yaml")
            return [sys.executable, str(GENERATOR), "full-sweep", "--config-files", *names, "--runner-config", runners]
    raise SystemExit(f"{repository} has no *-master.yaml in {' or '.join(map(str, CONFIG_FOLDERS))}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--botlint", default="botlint", help="the botlint to measure (default: the one on PATH)")
    parser.add_argument("--runs", type=int, default=5, help="measured runs of each, after one that is not (default 5)")
    options = parser.parse_args()
    repository: Path = options.checkout.resolve()
    botlint = str(Path(options.botlint).absolute()) if "/" in options.botlint else options.botlint

    with tempfile.TemporaryDirectory() as bytecode:
        plan = Subject(
            "botlint plan",
            [botlint, "plan", "--repo", ".", "--format", "json", "--no-cache", "--quiet", "--output", os.devnull],
            repository,
        )
        # The generator may keep its bytecode, as botlint does, but not inside the checkout.
        generator = Subject(
            "own generator", generator_command(repository), repository, {"PYTHONPYCACHEPREFIX": bytecode}
        )
        version = Subject("botlint --version", [botlint, "--version"], repository)
        for number in range(options.runs + 1):
            for subject in (plan, generator, version):
                subject.run(keep=number > 0)

    print(f"{repository}: {options.runs} runs each, {os.cpu_count()} cores")
    for subject in (plan, generator, version):
        print(subject.line())
    print(f"ratio of medians   {plan.median / generator.median:.2f}   (botlint plan / own generator)")


if __name__ == "__main__":
    main()
