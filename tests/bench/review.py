"""Measure a review of a one-recipe pull request on a checkout's size, GitHub answering at once.

The fake of the tests serves the checkout's HEAD in this process. Printed for each review: wall seconds with the fake's,
processor seconds without them, and the requests; first with nothing known of the base, then with the base analysed.

usage: PYTHONPATH=tests/github python tests/bench/review.py CHECKOUT [--runs N]
"""

from __future__ import annotations

import argparse
import io
import subprocess
import tarfile
import time
from pathlib import Path

from fakehub import Executable, FakeGitHub, Link
from fakehub.git import Content
from reviewing import install

from botlint.github.analysis import Kept


def main() -> None:
    """Reviews as often as asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--runs", type=int, default=4)
    arguments = parser.parse_args()
    files = read_head(arguments.checkout)
    recipes = sorted(path for path in files if path.startswith("benchmarks/") and path.endswith(".sh"))
    print(f"{len(files)} files, {len(recipes)} recipes")
    with FakeGitHub() as hub:
        hub.holds_answers = False
        repository = hub.repository("acme/bench", files)
        bot = install(hub, repository, Kept())
        for number in range(arguments.runs + 1):
            path = recipes[number * len(recipes) // (arguments.runs + 1)]
            repository.commit(f"change-{number}", {path: changed(files[path])}, onto=repository.branches["main"])
            pull = repository.open_pull(f"change-{number}")
            hub.forget()
            hub.spent = 0.0
            wall, used = time.perf_counter(), time.process_time()
            outcome = bot.review(pull)
            wall, used = time.perf_counter() - wall, time.process_time() - used
            known = "base analysed" if number else "nothing known"
            told = f"{len(bot.mine(pull))} comments, {bot.conclusion(pull)}"
            times = f"{wall:6.2f} s, processor {used - hub.spent:6.2f} s"
            print(f"{known}: {times}, {len(hub.calls)} requests: {outcome}, {told}  {path}")
        for violation in hub.violations:
            print(violation)


def changed(content: Content) -> Content:
    """A script with one more variable."""
    data = content.content if isinstance(content, Executable) else content
    assert isinstance(data, bytes)
    first, _, rest = data.partition(b"\n")
    return Executable(first + b"\nexport BOTLINT_BENCH=1\n" + rest)


def read_head(checkout: Path) -> dict[str, Content]:
    """The files of a checkout's HEAD."""
    archive = subprocess.run(["git", "-C", str(checkout), "archive", "HEAD"], capture_output=True, check=True).stdout
    found: dict[str, Content] = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar.getmembers():
            file = tar.extractfile(member) if member.isfile() else None
            if member.issym():
                found[member.name] = Link(member.linkname)
            elif file is not None:
                data = file.read()
                found[member.name] = Executable(data) if member.mode & 0o100 else data
    return found


if __name__ == "__main__":
    main()
