"""How fast is written."""

from __future__ import annotations

from botlint.server.pace import Pace


class Time:
    def __init__(self) -> None:
        self.now = 100.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_a_burst_goes_at_once_and_the_rest_one_a_second() -> None:
    time = Time()
    pace = Pace(5, 1, clock=lambda: time.now, sleep=time.sleep)
    for _ in range(5):
        pace.wait(77)
    assert time.now == 100
    for _ in range(3):
        pace.wait(77)
    assert time.now == 103
    pace.wait(78)
    assert time.now == 103, "another installation has its own limit"
    time.now += 60
    for _ in range(5):
        pace.wait(77)
    assert time.now == 163


def test_no_minute_has_more_writes_than_github_allows() -> None:
    time = Time()
    pace = Pace(clock=lambda: time.now, sleep=time.sleep)
    at = []
    for _ in range(300):
        pace.wait(77)
        at.append(time.now)
    assert max(sum(moment <= other < moment + 60 for other in at) for moment in at) <= 78
