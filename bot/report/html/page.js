"use strict";
(() => {
  const KINDS = ["row", "workflow", "test", "script", "maybe", "recipe"];
  const WORDS = { row: "config", workflow: "workflow", test: "under this test", script: "script", maybe: "one of", recipe: "recipe" };
  const TITLES = { runner: "launch", script: "launch", exit: "ending", runtime: "set by the runtime", argv: "command line", possible: "possible endings" };
  const THEMES = ["auto", "light", "dark"];
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);

  /** An element with attributes and children; texts are only ever text. */
  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== false && value !== undefined) element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== ""));
    return element;
  };

  const stored = (key, value) => {
    try {
      if (value === undefined) return localStorage.getItem(key);
      localStorage.setItem(key, value);
    } catch {
      // Nothing can be stored; the choice lasts as long as the page.
    }
    return null;
  };

  const counted = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many || `${one}s`}`;

  // --- the plans

  let plans = null;
  const data = () => {
    if (plans === null) {
      const source = byId("plans");
      plans = source === null ? { entries: [], strings: [], places: [], marks: [], rows: [], lines: [], url: "" } : JSON.parse(source.textContent);
      plans.lower = null;
      for (const { groups } of plans.entries) {
        for (const group of groups) group.lines = group.lines.map((number) => plans.lines[number]);
      }
    }
    return plans;
  };
  const string = (number) => data().strings[number];

  const placeUrl = (path, line) => {
    const { url } = data();
    return url ? `${url}${path.split("/").map(encodeURIComponent).join("/")}#L${line}` : "";
  };

  /** The places of a line for some jobs of its group: lists of `{kind, path, line, text}`, each list once. */
  const tracesOf = (group, line, jobs) => {
    const { marks, places, rows } = data();
    const found = new Map();
    for (const job of jobs) {
      const number = Array.isArray(line[4]) ? line[4][job] : line[4];
      if (number < 0) continue;
      const trace = [];
      for (const [kind, at] of marks[number]) {
        let place = at;
        if (kind === 0) {
          const row = rows[group.jobs[job][1]].find(([key]) => key === at);
          if (row === undefined) continue;
          place = row[1];
        }
        const [path, number_, text] = places[place];
        trace.push({ kind: KINDS[kind], path: string(path), line: number_, text: string(text), field: kind === 0 ? string(at) : "" });
      }
      if (trace.length) found.set(JSON.stringify(trace), trace);
    }
    return [...found.values()];
  };

  const placeOf = (path, line) => {
    const shown = `${path}:${line}`;
    const url = placeUrl(path, line);
    return url ? make("a", { class: "place", href: url, rel: "noopener noreferrer" }, shown) : make("span", { class: "place" }, shown);
  };

  const traceRow = (traces, id) => {
    const list = make("ol");
    traces.slice(0, 6).forEach((trace, number) => {
      if (number) list.append(make("li", { class: "other words" }, "or, for other jobs of the group:"));
      for (const step of trace) {
        const words = step.field ? `${WORDS[step.kind]} ${step.field}` : WORDS[step.kind];
        list.append(
          make("li", { class: step.kind }, placeOf(step.path, step.line), " ", make("span", { class: "faint words" }, words), make("span", { class: "text" }, step.text)),
        );
      }
    });
    if (traces.length > 6) list.append(make("li", { class: "other words" }, `and ${counted(traces.length - 6, "more way")}`));
    return make("tr", { class: "trace", id, hidden: true }, make("td", { colspan: "3" }, list));
  };

  const fromCell = (traces, id) => {
    const cell = make("td", { class: "from" });
    if (!traces.length) return cell;
    const last = traces[0][traces[0].length - 1];
    const name = last.path.slice(last.path.lastIndexOf("/") + 1);
    const more = traces.length > 1 ? ` +${traces.length - 1}` : "";
    const label = `${name}:${last.line}${more}`;
    cell.append(make("button", { type: "button", "aria-expanded": "false", "aria-controls": id, title: `${last.path}:${last.line}` }, label));
    return cell;
  };

  let traceNumber = 0;

  const fillPlan = (group, table, choice) => {
    const jobs = choice < 0 ? group.jobs.map((_, number) => number) : [choice];
    table.replaceChildren(
      make("caption", { class: "vh" }, "Name, value and where it is written"),
      make("colgroup", {}, make("col", { class: "name" }), make("col"), make("col", { class: "from" })),
    );
    let title = null;
    let body = null;
    for (const line of group.lines) {
      const section = string(line[0]);
      const shown = TITLES[section] || section;
      const name = string(line[1]) || (section.endsWith("argv") ? "command" : section.replace("role ", ""));
      if (shown !== title) {
        title = shown;
        body = make("tbody", {}, make("tr", {}, make("th", { scope: "rowgroup", colspan: "3" }, shown)));
        table.append(body);
      }
      const value = choice >= 0 && line[5] ? string(line[5][choice]) : string(line[2]);
      const why = choice < 0 ? string(line[3]) : "";
      const traces = tracesOf(group, line, jobs);
      traceNumber += 1;
      const id = `t-${traceNumber}`;
      const cell = make("td", {}, value);
      if (why) cell.append(" ", make("span", { class: "faint words" }, `(${why})`));
      body.append(make("tr", {}, make("th", { scope: "row" }, name), cell, fromCell(traces, id)));
      if (traces.length) body.append(traceRow(traces, id));
    }
  };

  const groupOf = (group, total) => {
    const count = group.jobs.length;
    const words = { serves: ["serves", "serve"], exits: ["exits", "exit"], undecided: ["undecided", "undecided"] }[group.outcome];
    const of = count === total ? counted(count, "job") : `${count} of ${counted(total, "job")}`;
    const head = make("h3", {}, make("span", { class: `tag ${group.outcome}` }, words[0]), make("span", {}, of));
    for (const label of group.labels) head.append(make("span", { class: "faint" }, string(label)));
    const article = make("section", { class: "group" }, head);
    const table = make("table", { class: "plan" });
    if (count > 1) {
      const select = make("select", {}, make("option", { value: "-1" }, `all ${count}, values that differ in braces`));
      group.jobs.forEach((job, number) => select.append(make("option", { value: String(number) }, string(job[0]))));
      select.addEventListener("change", () => fillPlan(group, table, Number(select.value)));
      article.append(make("div", { class: "pick" }, make("label", {}, "Job", select)));
    }
    fillPlan(group, table, count > 1 ? -1 : 0);
    article.append(table);
    return article;
  };

  const fillEntry = (details) => {
    const body = details.querySelector(".body");
    if (body.childElementCount) return;
    const entry = data().entries[Number(details.id.slice(2))];
    if (entry.findings.length) {
      const links = make("ul", { class: "links" });
      for (const [severity, message, id] of entry.findings) {
        links.append(make("li", {}, make("span", { class: `tag ${severity}` }, severity), " ", make("a", { href: `#${id}` }, string(message))));
      }
      body.append(links);
    }
    const total = entry.groups.reduce((sum, group) => sum + group.jobs.length, 0);
    entry.groups.forEach((group, number) => {
      const element = groupOf(group, total);
      element.hidden = matches !== null && !matches.get(details.id)[number];
      body.append(element);
    });
  };

  document.addEventListener(
    "toggle",
    (event) => {
      if (event.target.matches(".entry[open]")) fillEntry(event.target);
    },
    true,
  );

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".from button");
    if (button === null) return;
    const row = byId(button.getAttribute("aria-controls"));
    row.hidden = !row.hidden;
    button.setAttribute("aria-expanded", String(!row.hidden));
  });

  // --- the filter

  const search = byId("filter");
  const result = byId("shown");
  const boxes = [...document.querySelectorAll(".filter input[type=checkbox]")];
  const findings = [...document.querySelectorAll(".finding")];
  const changes = [...document.querySelectorAll(".change")];
  const entries = [...document.querySelectorAll(".entry")];
  const rules = [...document.querySelectorAll(".rule")];
  const notes = [...document.querySelectorAll(".notes li")];
  const texts = new WeakMap();
  let matches = null;

  const SAID = "summary, .rest, figcaption, mark, .proof, .affected, .remedy, .fix h4, p";

  /** What a finding or change says; of an excerpt only what is marked, not the lines around it. */
  const textOf = (element) => {
    let text = texts.get(element);
    if (text === undefined) {
      const rule = element.parentElement.querySelector(":scope > .rule-head h3");
      const parts = rule === null ? [element] : [rule, ...element.querySelectorAll(SAID)];
      text = `${element.id} ${parts.map((part) => part.textContent).join(" ")}`.toLowerCase();
      texts.set(element, text);
    }
    return text;
  };

  const hasAll = (text, words) => words.every((word) => text.includes(word));

  /** Which strings hold a word; `name=value` looks at lines instead. */
  const matcher = (word) => {
    const all = data();
    if (all.lower === null) all.lower = all.strings.map((text) => text.toLowerCase());
    const holds = all.lower.map((text) => text.includes(word));
    const sign = word.indexOf("=");
    if (sign <= 0) return { holds, lines: null };
    const name = word.slice(0, sign);
    const value = word.slice(sign + 1);
    return { holds, lines: { named: all.lower.map((text) => text === name || text === `${name}=`), valued: all.lower.map((text) => text === value) } };
  };

  /** Which jobs of a group a word fits. */
  const jobsWith = (group, entryText, word, { holds, lines }) => {
    if (lines === null && entryText.includes(word)) return group.jobs.map(() => true);
    const found = group.jobs.map(([label]) => holds[label]);
    for (const line of group.lines) {
      if (lines !== null && !lines.named[line[1]]) {
        if (holds[line[2]] && !line[5]) return found.fill(true);
        continue;
      }
      const test = lines === null ? holds : lines.valued;
      if (lines === null && holds[line[1]]) return found.fill(true);
      if (line[5]) line[5].forEach((text, number) => (found[number] = found[number] || test[text]));
      else if (test[line[2]]) return found.fill(true);
    }
    return found;
  };

  const filterJobs = (words, outcomes) => {
    const matchers = words.map(matcher);
    matches = new Map();
    let jobs = 0;
    let shown = 0;
    entries.forEach((element, at) => {
      const { groups } = data().entries[at];
      const text = element.querySelector("summary").textContent.toLowerCase();
      let count = 0;
      const fits = groups.map((group) => {
        if (!outcomes.has(group.outcome)) return false;
        const per = words.map((word, number) => jobsWith(group, text, word, matchers[number]));
        const left = group.jobs.filter((_, job) => per.every((found) => found[job])).length;
        count += left;
        return left > 0;
      });
      matches.set(element.id, fits);
      element.hidden = count === 0;
      jobs += count;
      shown += count > 0 ? 1 : 0;
      const rendered = element.querySelectorAll(".group");
      rendered.forEach((group, number) => (group.hidden = !fits[number]));
    });
    return { jobs, shown };
  };

  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const on = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const idle = !words.length && on.size === boxes.length;
    let found = 0;
    for (const element of findings) {
      const wanted = on.has(element.dataset.severity) && (element.dataset.state === "counts" || on.has("allowed"));
      element.hidden = !(wanted && hasAll(textOf(element), words));
      if (!element.hidden) found += 1;
    }
    for (const note of notes) note.hidden = !hasAll(note.textContent.toLowerCase(), words);
    for (const rule of rules) rule.hidden = !rule.querySelector(".finding:not([hidden])");
    let different = 0;
    for (const element of changes) {
      const wanted = element.dataset.outcomes.split(" ").some((outcome) => on.has(outcome));
      element.hidden = !(wanted && hasAll(textOf(element), words));
      if (!element.hidden) different += 1;
    }
    if (idle) {
      matches = null;
      for (const element of entries) {
        element.hidden = false;
        element.querySelectorAll(".group").forEach((group) => (group.hidden = false));
      }
      result.textContent = "";
      return;
    }
    const parts = [`${found.toLocaleString("en")} of ${counted(findings.length, "finding")}`];
    if (changes.length) parts.push(`${different} of ${counted(changes.length, "group")} of changes`);
    if (entries.length) {
      const { jobs, shown } = filterJobs(words, on);
      parts.push(`${counted(jobs, "job")} of ${counted(shown, "entry", "entries")}`);
    }
    result.textContent = `Shown: ${parts.join(", ")}`;
  };

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, 60);
  });
  boxes.forEach((box) => box.addEventListener("change", apply));
  byId("tools").addEventListener("submit", (event) => event.preventDefault());

  const clear = () => {
    search.value = "";
    boxes.forEach((box) => (box.checked = true));
    apply();
  };

  // --- links to what is closed or filtered out

  const reveal = () => {
    const target = location.hash.length > 1 ? byId(decodeURIComponent(location.hash.slice(1))) : null;
    if (target === null) return;
    if (target.closest("[hidden]")) clear();
    for (let outer = target; outer !== null; outer = outer.parentElement) {
      if (outer.matches("details")) outer.open = true;
    }
    target.scrollIntoView();
    const summary = target.querySelector(":scope > summary");
    if (summary !== null) summary.focus({ preventScroll: true });
  };
  window.addEventListener("hashchange", reveal);

  // --- the keyboard

  const help = byId("help");
  const keys = byId("keys");
  keys.checked = stored("botlint-keys") !== "off";
  keys.addEventListener("change", () => stored("botlint-keys", keys.checked ? "on" : "off"));
  byId("help-button").addEventListener("click", () => help.showModal());

  const items = () => [...document.querySelectorAll(".item > summary")].filter((summary) => !summary.closest("[hidden]"));

  const goTo = (summary) => {
    summary.focus({ preventScroll: true });
    summary.scrollIntoView({ block: "nearest" });
  };

  const move = (step) => {
    const all = items();
    if (!all.length) return;
    const inside = document.activeElement.closest(".item");
    const current = inside === null ? -1 : all.indexOf(inside.querySelector("summary"));
    let next = current + step;
    if (current < 0) {
      const top = byId("tools").getBoundingClientRect().bottom;
      next = all.findIndex((summary) => summary.getBoundingClientRect().top >= top);
      if (step < 0) next = (next < 0 ? all.length : next) - 1;
    }
    if (next >= 0 && next < all.length) goTo(all[next]);
  };

  const toggleAll = () => {
    const shown = [...findings, ...changes].filter((element) => !element.closest("[hidden]"));
    const open = shown.some((element) => !element.open);
    for (const element of shown) element.open = open;
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    const typing = event.target.matches("input[type=search], select, textarea");
    if (event.key === "Escape") {
      if (event.target === search && search.value === "") search.blur();
      else if (search.value !== "" || boxes.some((box) => !box.checked)) clear();
      else document.activeElement.blur();
      return;
    }
    if (event.target === search && event.key === "Enter") {
      event.preventDefault();
      apply();
      const [first] = items();
      if (first !== undefined) goTo(first);
      return;
    }
    if (typing || !keys.checked) return;
    const action = {
      "/": () => search.select() || search.focus(),
      j: () => move(1),
      k: () => move(-1),
      e: toggleAll,
      t: () => setTheme(1),
      "?": () => help.showModal(),
    }[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });

  // --- the theme

  const themeButton = byId("theme");
  const setTheme = (step) => {
    const current = THEMES.indexOf(root.dataset.theme || "auto");
    const theme = THEMES[(current + step) % THEMES.length];
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
    themeButton.textContent = `Theme: ${theme}`;
    if (step) stored("botlint-theme", theme);
  };
  themeButton.addEventListener("click", () => setTheme(1));

  // --- paper

  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...findings, ...changes].filter((element) => !element.open && !element.closest("[hidden]"));
    for (const element of opened) element.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const element of opened) element.open = false;
  });

  // --- start

  setTheme(0);
  for (const element of document.querySelectorAll("[data-script]")) element.hidden = false;
  if (search.value || boxes.some((box) => !box.checked)) apply();
  for (const element of document.querySelectorAll(".entry[open]")) fillEntry(element);
  reveal();
})();
