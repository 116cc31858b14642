"""The page as a reader has it: what is shown, filter, keyboard, themes, phone, paper, without a script, and at size."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from browser import Tab
from page_samples import BREAKOUT, ENTRY, HEAD_URL, ORIGINS, argv, page, plan, serving
from report_samples import RULES, TODAY, report, sources

from botlint.cli.checking import run_check
from botlint.cli.common import Settings
from botlint.core.finding import Finding, Report, Summary, summarize, with_fingerprints
from botlint.core.span import Span
from botlint.core.visible import visible
from botlint.report.options import Options, Page
from botlint.report.render import render

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

PLANT = """
    commit() {
        git add -A
        git -c user.name=x -c user.email=x@x.invalid -c commit.gpgsign=false commit -q -m "$1"
    }
    git init -q
    cp -R "$0/." . && rm -rf demo && cp -R "$0/demo/healthy/." . && commit base
    cp -R "$0/benchmarks" "$0/perf-changelog.yaml" . && commit head
"""

Show = Callable[[str], Tab]


def written(given: Report | None = None, shown: Page | None = None) -> str:
    options = Options(today=TODAY, rules=RULES, page=shown or page(head_url=HEAD_URL))
    return "".join(render(given or report(), "html", sources, options=options))


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of the change that the examples plant two defects in."""
    folder = tmp_path_factory.mktemp("example") / "bench"
    folder.mkdir()
    subprocess.run(["bash", "-ec", PLANT, str(EXAMPLES)], check=True, timeout=60, cwd=folder)
    outcome = run_check(folder, base="HEAD~1", head="HEAD", select=(), settings=Settings(cache=False, quiet=True))
    return "".join(outcome.render("html", color=False))


@pytest.fixture
def tab(show: Show) -> Tab:
    return show(written())


def shown(tab: Tab, selector: str) -> int:
    """How many elements can be seen."""
    return int(tab.js(f"[...document.querySelectorAll({selector!r})].filter((one) => one.checkVisibility()).length"))


def filtered(tab: Tab, words: str) -> str:
    tab.js(
        f"(() => {{ const box = document.getElementById('filter'); box.value = {words!r};"
        " box.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    tab.wait(f"document.getElementById('shown').textContent !== '' || {words!r} === ''")
    tab.js("new Promise((done) => setTimeout(done, 150))")
    return str(tab.js("document.getElementById('shown').textContent"))


# -------------------------------------------------------------------------------------------------------- what is there


def test_the_planted_change(show: Show, example: str) -> None:
    tab = show(example)
    assert tab.js("document.querySelector('.verdict b').textContent") == "Fails"
    assert tab.js("document.title") == "bench HEAD~1 → HEAD · botlint"
    assert shown(tab, ".finding[open] .excerpt.here") == 2
    # Both halves of a contradiction stand side by side.
    boxes = tab.js(
        "[...document.querySelectorAll('.finding .sides')].map((sides) => [...sides.children].slice(0, 2)"
        ".map((one) => one.getBoundingClientRect()).map(({x, y}) => [x, y]))"
    )
    assert all(left[1] == right[1] and left[0] < right[0] for left, right in boxes)
    changes = tab.js("[...document.querySelectorAll('.change')].map((one) => one.textContent)")
    assert len(changes) == 2
    assert "exits 1" in changes[0]
    assert "VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT" in changes[1]
    assert shown(tab, ".entry") == 9


def row_of(name: str) -> str:
    """The row of the first entry's plan that has a name."""
    return f"[...document.querySelectorAll('#e-0 tr')].find((row) => row.cells[0].textContent === {name!r})"


def test_plans_say_where_each_value_is_written(tab: Tab) -> None:
    tab.js("document.querySelector('#e-0 summary').click()")
    assert tab.wait("document.querySelectorAll('#e-0 .group').length") == 2
    rows = tab.js(
        "Object.fromEntries([...document.querySelector('#e-0 .group').querySelectorAll('tr')]"
        ".filter((row) => row.cells.length === 3).map((row) => [...row.cells].map((cell) => cell.textContent))"
        ".map(([name, value, from]) => [name, [value, from]]))"
    )
    assert rows["-tp"] == ["{2, 4} (tp)", "demo_vllm.sh:6"]
    assert rows["VLLM_USE"] == ["1", "demo_vllm.sh:3"]
    assert rows["tp"] == ["{2, 4} (tp)", "demo-master.yaml:4"]
    assert rows["conc"][1] == "demo-master.yaml:5"
    button = f"{row_of('-tp')}.querySelector('button')"
    assert tab.js(f"{button}.getAttribute('aria-expanded')") == "false"
    tab.js(f"{button}.click()")
    assert tab.js(f"{button}.getAttribute('aria-expanded')") == "true"
    steps = tab.js("[...document.querySelectorAll('#e-0 .trace:not([hidden]) li')].map((one) => one.textContent)")
    assert steps[0].startswith("configs/demo-master.yaml:4 config tp- { tp: 2, kv-offloading: dram,")
    assert steps[1] == ".github/workflows/run.yml:31 workflow"
    assert steps[2].startswith("benchmarks/demo_vllm.sh:6 scriptx=000")
    links = tab.js("[...document.querySelectorAll('#e-0 .trace:not([hidden]) a')].map((one) => one.href)")
    assert links[0] == f"{HEAD_URL}configs/demo-master.yaml#L4"


def test_one_job_of_a_group(tab: Tab) -> None:
    tab.js("document.querySelector('#e-0 summary').click()")
    tab.wait("document.querySelector('#e-0 select')")
    assert tab.js("[...document.querySelectorAll('#e-0 option')].map((one) => one.textContent)") == [
        "all 4, values that differ in braces",
        "tp 2, conc 8",
        "tp 2, conc 16",
        "tp 4, conc 8",
        "tp 4, conc 16",
    ]
    tab.js(
        "(() => { const box = document.querySelector('#e-0 select');"
        " box.value = '3'; box.dispatchEvent(new Event('change')); })()"
    )
    assert tab.js(f"{row_of('-tp')}.cells[1].textContent") == "4"
    assert tab.js(f"{row_of('conc')}.cells[1].textContent") == "16"


def test_every_entry_can_be_opened(tab: Tab) -> None:
    tab.js("document.querySelectorAll('.entry > summary').forEach((one) => one.click())")
    tab.wait("[...document.querySelectorAll('.entry')].every((one) => one.querySelector('.group'))")
    text = tab.js("document.getElementById('jobs').textContent")
    for words in ("模型 not supported", "second line", "upstream recipe x.yaml", "role prefill", "two.yaml:9", "no x"):
        assert words in text


def test_hostile_names_are_text(tab: Tab) -> None:
    tab.js("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    tab.wait("[...document.querySelectorAll('.entry')].every((one) => one.querySelector('.group'))")
    assert tab.js("document.querySelectorAll('img, iframe, object, .body script').length") == 0
    assert visible(BREAKOUT)[:120] in tab.js("document.getElementById('jobs').textContent")
    assert tab.js("[...document.querySelectorAll('.entry')].map((one) => one.querySelector('b').textContent)")[-2:] == [
        "__proto__",
        "constructor",
    ]
    assert tab.js("[...document.querySelectorAll('a')].every((one) => /^(https:|file:)/.test(one.protocol))")


def test_a_script_that_got_in_would_not_run(show: Show) -> None:
    tab = show(
        written().replace("<main", "<script>window.bad = 1</script><b onclick='window.bad = 2' id=b>b</b><main", 1)
    )
    tab.js("document.getElementById('b').click()")
    assert tab.js("window.bad") is None
    assert any("Content Security Policy" in text for text in tab.complaints)
    tab.complaints.clear()


# ---------------------------------------------------------------------------------------------------- filter and links


FILTERS = {
    "": (9, 7, ""),
    "lmcache": (1, 1, "1 of 9 findings"),
    "LMCACHE Backend": (1, 1, "1 of 9 findings"),
    "flag-unknown": (1, 0, "1 of 9 findings"),
    "tp=4": (0, 1, "2 jobs of 1 entry"),
    "prefill.tp=4": (0, 1, "1 job of 1 entry"),
    "tp=4 conc=8": (0, 1, "1 job of 1 entry"),
    "vllm_use=1": (0, 1, "4 jobs of 1 entry"),
    "--max-num-seqs=128": (0, 1, "4 jobs of 1 entry"),
    "no-such-thing": (0, 0, "0 of 9 findings"),
    "demo_vllm.sh:6": (1, 3, ""),
}


def test_filter(tab: Tab) -> None:
    for words, (found, entries, told) in FILTERS.items():
        assert told in filtered(tab, words), words
        assert (shown(tab, ".finding"), shown(tab, ".entry")) == (found, entries), words
        assert shown(tab, ".rule") == shown(tab, ".rule:has(.finding:not([hidden]))"), words


def test_filter_of_notes(tab: Tab) -> None:
    assert shown(tab, ".notes li") == 4
    filtered(tab, "not utf-8")
    assert shown(tab, ".notes li") == 1


def test_boxes(tab: Tab) -> None:
    def set_box(name: str, on: bool) -> None:
        tab.js(
            f"(() => {{ const box = document.querySelector('.filter input[value={name}]');"
            f" if (box.checked !== {str(on).lower()}) box.click(); }})()"
        )

    set_box("info", False)
    set_box("allowed", False)
    assert tab.js("[...document.querySelectorAll('.finding:not([hidden])')].map((one) => one.dataset.severity)") == [
        "error",
        "warning",
        "warning",
    ]
    set_box("serves", False)
    set_box("undecided", False)
    assert shown(tab, ".entry") == 3
    assert "3 jobs of 3 entries" in tab.js("document.getElementById('shown').textContent")
    assert shown(tab, ".change") == 1
    tab.js("document.querySelector('#e-0 summary').click()")
    tab.wait("document.querySelector('#e-0 .group')")
    assert shown(tab, "#e-0 .group") == 1


def test_a_link_opens_what_it_leads_to(tab: Tab) -> None:
    ident = f"f-{next(one for one in report().findings if one.rule == 'old').fingerprint}"
    filtered(tab, "lmcache")
    assert shown(tab, f"#{ident}") == 0
    tab.js(f"location.hash = '{ident}'")
    tab.wait(f"document.getElementById('{ident}').open")
    assert shown(tab, f"#{ident}") == 1
    assert tab.js("document.getElementById('filter').value") == ""
    tab.js("document.querySelector('.affected a').click()")
    assert tab.wait("document.querySelector('#e-0').open && document.querySelectorAll('#e-0 .group').length")
    tab.js("document.querySelector('#e-0 .links a').click()")
    tab.wait("document.activeElement.closest('.finding') !== null")


# ------------------------------------------------------------------------------------------------------------- keyboard


def focused(tab: Tab) -> str:
    return str(
        tab.js(
            "document.activeElement.closest('.item')?.querySelector('.message').textContent"
            " ?? document.activeElement.id"
        )
    )


def test_keys(tab: Tab) -> None:
    order = tab.js("[...document.querySelectorAll('.item .message')].map((one) => one.textContent)")
    tab.press("j")
    assert focused(tab) == order[0]
    tab.press("j", "j")
    assert focused(tab) == order[2]
    tab.press("k")
    assert focused(tab) == order[1]
    before = tab.js("document.activeElement.parentElement.open")
    tab.press("Enter")
    assert tab.js("document.activeElement.parentElement.open") is not before
    tab.press("/")
    assert focused(tab) == "filter"
    tab.press("l", "m", "c", "a")
    tab.wait("document.getElementById('shown').textContent")
    assert shown(tab, ".finding") == 1
    tab.press("Enter")
    assert focused(tab) == order[0]
    tab.press("j", "j", "j", "j", "j", "j")
    assert focused(tab) == tab.js(
        "[...document.querySelectorAll('.item:not([hidden]) .message')]"
        ".filter((one) => one.checkVisibility()).at(-1).textContent"
    )
    tab.press("Escape")
    assert shown(tab, ".finding") == 9
    tab.press("/", "Escape")
    assert focused(tab) != "filter"


def test_opening_and_closing_all(tab: Tab) -> None:
    tab.press("e")
    assert tab.js("[...document.querySelectorAll('.finding, .change')].every((one) => one.open)")
    tab.press("e")
    assert not tab.js("[...document.querySelectorAll('.finding, .change')].some((one) => one.open)")


def test_help_and_turning_keys_off(tab: Tab) -> None:
    tab.press("?")
    assert tab.js("document.getElementById('help').open")
    tab.press("j")
    assert tab.js("document.getElementById('help').contains(document.activeElement)")
    tab.js("document.getElementById('keys').click()")
    tab.press("Escape")
    assert not tab.js("document.getElementById('help').open")
    tab.press("j", "/")
    assert tab.js("document.activeElement.closest('.item, input') === null")
    tab.js("document.getElementById('help-button').click()")
    tab.js("document.getElementById('keys').click()")
    tab.press("Escape", "j")
    assert tab.js("document.activeElement.closest('.item') !== null")


def test_the_focus_is_seen(tab: Tab) -> None:
    seen = set()
    for _ in range(24):
        tab.press("Tab")
        style = tab.js(
            "(({outlineStyle, outlineWidth}) => [outlineStyle, outlineWidth])(getComputedStyle(document.activeElement))"
        )
        assert style == ["solid", "2px"]
        seen.add(tab.js("document.activeElement.tagName"))
    assert seen >= {"A", "BUTTON", "INPUT", "SUMMARY"}


# ------------------------------------------------------------------------------------------------------ how it is shown


CONTRAST = """
(() => {
  const parse = (color) => {
    const [r, g, b, a = 1] = color.match(/[\\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const light = ([r, g, b]) => [r, g, b].map((one) => one / 255)
    .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
    .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const color = parse(getComputedStyle(one).backgroundColor);
      if (color[3] === 1) return color;
    }
    return [255, 255, 255, 1];
  };
  const bad = new Map();
  const check = (element, pseudo) => {
    const style = getComputedStyle(element, pseudo);
    const pair = [light(parse(style.color)), light(ground(element))].sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < 4.5) bad.set(`${element.tagName}.${element.className}${pseudo ?? ""} ${style.color}`, ratio.toFixed(2));
  };
  let count = 0;
  for (const element of document.querySelectorAll("body *")) {
    if (["SCRIPT", "STYLE", "OPTION", "NOSCRIPT"].includes(element.tagName) || !element.checkVisibility()) continue;
    if (element.matches("input[type=search]")) check(element, "::placeholder");
    if (element.matches("pre span")) check(element, "::before");
    if ([...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) {
      check(element);
      count += 1;
    }
  }
  return [count, Object.fromEntries(bad)];
})()
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("by", ["wish", "button"])
def test_every_text_has_contrast(tab: Tab, theme: str, by: str) -> None:
    if by == "wish":
        tab.media(prefers_color_scheme=theme)
    else:
        tab.media(prefers_color_scheme="light" if theme == "dark" else "dark")
        for _ in range({"light": 1, "dark": 2}[theme]):
            tab.js("document.getElementById('theme').click()")
        assert tab.js("document.getElementById('theme').textContent") == f"Theme: {theme}"
    ground = tab.js("getComputedStyle(document.documentElement).backgroundColor")
    assert ground == {"light": "rgb(246, 247, 249)", "dark": "rgb(14, 17, 22)"}[theme]
    tab.js("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    tab.wait("[...document.querySelectorAll('.entry')].every((one) => one.querySelector('.group'))")
    tab.js("document.querySelectorAll('.from button').forEach((one) => one.click())")
    count, bad = tab.js(CONTRAST)
    assert count > 300
    assert bad == {}
    tab.js("document.getElementById('help').show()")
    assert tab.js(CONTRAST)[1] == {}


def test_the_theme_is_kept(show: Show, tab: Tab) -> None:
    tab.media(prefers_color_scheme="light")
    # A browser hands what a page stores to another process in its own time, and a reload may be sooner.
    for _ in range(5):
        tab.press("t", "t")
        assert tab.js("document.documentElement.dataset.theme") == "dark"
        time.sleep(0.3)
        tab.js("window.before = true")
        tab.call("Page.reload")
        tab.wait("document.readyState === 'complete' && !window.before")
        tab.requests.pop()
        if tab.js("document.documentElement.dataset.theme") is not None:
            break
    assert tab.js("document.documentElement.dataset.theme") == "dark"
    tab.press("t")
    assert tab.js("document.documentElement.dataset.theme") is None


@pytest.mark.parametrize("width", [360, 768, 1280, 1920])
def test_nothing_is_wider_than_the_window(tab: Tab, width: int) -> None:
    tab.size(width, 740, phone=width < 600)
    tab.js("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    tab.wait("[...document.querySelectorAll('.entry')].every((one) => one.querySelector('.group'))")
    tab.js("document.querySelectorAll('.from button').forEach((one) => one.click())")
    wide = tab.js(
        "[...document.querySelectorAll('body *')].filter((one) => one.checkVisibility()"
        " && !one.matches('.vh, .vh *, thead, thead *') && one.getBoundingClientRect().right > innerWidth + 1)"
        ".map((one) => `${one.tagName}.${one.className}`)"
    )
    assert wide == []
    assert tab.js("document.documentElement.scrollWidth") <= width


def test_targets_are_large_enough_on_a_phone(tab: Tab) -> None:
    tab.size(360, 740, phone=True)
    small = tab.js(
        "[...document.querySelectorAll('button, select, input[type=search], .chip, .item > summary, nav a')]"
        ".filter((one) => one.checkVisibility({contentVisibilityAuto: true}))"
        ".filter((one) => { const box = one.getBoundingClientRect();"
        " return box.height < 24 || box.width < 24; }).map((one) => one.outerHTML)"
    )
    assert small == []


def test_landmarks_and_names(tab: Tab) -> None:
    roles = tab.roles()
    assert {"banner", "main", "navigation", "search", "contentinfo"} <= {role for role, _ in roles}
    named = ("button", "link", "searchbox", "checkbox", "combobox", "navigation", "search", "heading")
    assert [(role, name) for role, name in roles if role in named and not name.strip()] == []
    levels = tab.js(
        "[...document.querySelectorAll('h1, h2, h3, h4')].filter((one) => !one.closest('dialog'))"
        ".map((one) => Number(one.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert tab.js("document.documentElement.lang") == "en"


def test_on_paper(tab: Tab) -> None:
    closed = tab.js("document.querySelectorAll('.finding:not([open])').length")
    assert closed > 0
    pdf = tab.pdf()
    assert pdf.startswith(b"%PDF")
    assert tab.js("document.querySelectorAll('.finding:not([open])').length") == closed
    tab.media("print")
    assert shown(tab, ".tools, header .buttons, .skip") == 0


def test_without_a_script(show: Show) -> None:
    tab = show(written())
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    tab.requests.clear()
    tab.open(tab.js("location.href"))
    assert shown(tab, ".finding") == 9
    assert shown(tab, ".finding[open] .excerpt mark") > 2
    assert shown(tab, ".change") > 1
    assert shown(tab, "noscript p") == 1
    assert shown(tab, "#tools, #theme") == 0
    tab.call("Emulation.setScriptExecutionDisabled", value=False)


# --------------------------------------------------------------------------------------------------------------- size


def test_many_jobs_and_findings_are_there_at_once(show: Show) -> None:
    env = {f"VARIABLE_{number}": f"value {number}" for number in range(30)}
    many = [
        plan(
            f"entry-{number // 9}",
            serving(argv(2 ** (number % 3), 64 + number % 7), {**env, "A": str(number)}, ORIGINS),
            conc=number,
        )
        for number in range(1_820)
    ]
    findings = with_fingerprints(
        replace(report().findings[0], rule=f"rule-{number % 40}", subject=str(number), message=f"number {number}")
        for number in range(800)
    )
    base = Summary(jobs=1_820, serves=1_820)
    source = written(Report(tuple(findings), summarize(findings, base, ())), Page(many))
    tab = show(source)
    assert shown(tab, ".entry") == 203
    timing = tab.js(
        "performance.getEntriesByType('navigation').map((one) => [one.domInteractive, one.loadEventEnd])[0]"
    )
    assert 0 < timing[1] < 5_000  # a second on a machine with nothing else to do
    assert "1 of 800 findings" in filtered(tab, "number 799 rule-39")
    assert "jobs of 1 entry" in filtered(tab, "entry-77")
    spent = tab.js(
        "(() => { const start = performance.now(); const box = document.querySelector('.filter input[value=exits]');"
        " box.click(); box.click(); return performance.now() - start; })()"
    )
    assert spent < 2_000


def test_a_report_without_anything(show: Show) -> None:
    tab = show(written(Report((), Summary()), Page()))
    assert tab.js("document.querySelector('.verdict b').textContent") == "Passes"
    tab.press("j", "k", "e", "Escape")
    filtered(tab, "x")
    assert shown(tab, ".empty") == 1


def test_a_finding_with_a_message_of_many_lines(show: Show) -> None:
    finding = Finding("r", "error", "certain", "first\nsecond <b>\n\nfourth", Span("", 1, 1, 1, 1))
    given = tuple(with_fingerprints([finding]))
    tab = show(written(Report(given, summarize(given, Summary(), ())), Page()))
    assert tab.js("document.querySelector('.finding .message').textContent") == "first"
    assert tab.js("document.querySelector('.finding .rest').innerText") == "second <b>\n\nfourth"


def test_the_entry_of_the_samples(tab: Tab) -> None:
    assert tab.js("document.querySelector('#e-0 b').textContent") == ENTRY
