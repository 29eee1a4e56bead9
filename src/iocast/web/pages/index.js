// The list of runs: filter, sort, pick, compare; looks again every two seconds.
import { address, cell, instant, megabytes, rate } from "./figures.js";
import { ordered, read, wanted, write } from "./list_state.js";

const STEP = 200; // rows drawn at once
const COLUMNS = 11;
const body = document.querySelector("#runs");
const compare = document.querySelector("#compare");
const LETTERS = [["", "any"], ["A", "A"], ["B", "B or better"], ["C", "C or better"], ["-D", "D or worse"], ["none", "none"]];
const state = read(location.search);
const inputs = Object.fromEntries(Object.keys(state.filters).map((name) => [name, document.querySelector(`#${name}`)]));
let runs = [];
let limit = STEP;
let version = ""; // of the list that is shown

const element = (kind, text = "", about = {}) => Object.assign(document.createElement(kind), { textContent: text }, about);
const option = ([value, text]) => element("option", text, { value });

// The address of another page, which knows the way back to this list.
const to = (page, name) => {
  const kept = write(state);
  return address(page, name) + (kept ? `?list=${encodeURIComponent(kept)}` : "");
};

const keep = () => {
  const kept = write(state);
  history.replaceState(null, "", kept ? `?${kept}` : location.pathname);
};

const filtered = () => Object.values(state.filters).some(Boolean);

const show = () => {
  compare.disabled = state.picked.length < 2;
  compare.textContent = state.picked.length ? `Compare ${state.picked.length}` : "Compare";
  document.querySelector("#unpick").hidden = !state.picked.length;
  const trend = document.querySelector("#trend");
  trend.hidden = !state.filters.target;
  const list = write(state);
  trend.href = `/trend?${new URLSearchParams({ target: state.filters.target, list })}`;
  for (const head of document.querySelectorAll("th[data-key]")) {
    const way = { [head.dataset.key]: "ascending", [`-${head.dataset.key}`]: "descending" }[state.sort];
    if (way) head.setAttribute("aria-sort", way);
    else head.removeAttribute("aria-sort");
  }
};

const pick = (name, on) => {
  state.picked = state.picked.filter((each) => each !== name);
  if (on) state.picked.push(name);
};

const change = () => {
  limit = STEP;
  keep();
  draw();
};

const letter = (row, text) => {
  const made = cell(row, "", `grade ${text[0] ?? ""}`);
  if (text) made.append(element("span", text));
};

const box = (name) => {
  const made = element("input", "", { type: "checkbox", checked: state.picked.includes(name) });
  made.setAttribute("aria-label", `select ${name}`);
  made.addEventListener("change", () => {
    pick(name, made.checked);
    change();
  });
  return made;
};

const said = (run) => {
  const line = element("span", "", { className: "said" });
  for (const tag of run.tags) {
    const chip = element("button", tag, { type: "button", className: "tag", title: `show only runs tagged ${tag}` });
    chip.addEventListener("click", () => {
      state.filters.tag = tag;
      inputs.tag.value = tag;
      change();
    });
    line.append(chip);
  }
  if (run.note) line.append(element("span", run.note.replace(/\s+/g, " "), { className: "note", title: run.note }));
  return line;
};

const line = (run, inGroup) => {
  const row = body.insertRow();
  row.dataset.run = run.name;
  if (inGroup) row.className = "inner";
  row.insertCell().append(box(run.name));
  const head = element("th", "", { scope: "row" });
  const name = inGroup ? run.name.slice(run.group.length + 1) : run.name;
  head.append(element("a", name, { href: to(run.status === "running" ? "follow" : "run", run.name) }));
  if (run.note || run.tags.length) head.append(said(run));
  row.append(head);
  const [day, ...time] = instant(run.started_unix_ns).split(" "); // breaks between them only
  cell(row, "", "when").append(element("span", day), " ", element("span", time.join(" ")));
  cell(row, run.target ?? "", "target");
  cell(row, run.host ?? "", "host");
  cell(row, run.rows == null ? "" : run.rows === run.planned ? `${run.rows}` : `${run.rows} of ${run.planned}`, "number");
  cell(row, rate(run.best_rate_per_s), "number");
  cell(row, megabytes(run.best_bytes_per_s), "number");
  letter(row, run.grade ?? "");
  letter(row, run.trust ?? "");
  const status = cell(row, run.status ?? "unreadable", `status ${run.status ?? "failed"}`);
  if (run.why) status.title = run.why;
};

const group = (members) => {
  const [{ group: name, group_kind: kind }] = members;
  const folded = state.folded.includes(name);
  const row = body.insertRow();
  row.dataset.run = name;
  row.className = "group";
  const first = row.insertCell();
  if (kind === "repeat") first.append(box(name)); // its runs together are one side of a comparison
  const head = element("th", "", { scope: "rowgroup", colSpan: COLUMNS - 1 });
  const fold = element("button", folded ? "▸" : "▾", { type: "button", className: "fold" });
  fold.setAttribute("aria-expanded", String(!folded));
  fold.setAttribute("aria-label", `runs of ${name}`);
  fold.addEventListener("click", () => {
    state.folded = folded ? state.folded.filter((each) => each !== name) : [...state.folded, name];
    change();
  });
  const what = `${kind} of ${members.length} ${members.length === 1 ? "run" : "runs"}`;
  head.append(fold, element("a", name, { href: to("group", name) }), element("span", what, { className: "quiet what" }));
  row.append(head);
  return !folded;
};

// What has the keyboard, in words that outlive the row: rows are made anew whenever a run changes.
const at = (one) => body.contains(one) && `${one.tagName}${one.className} ${one.closest("tr").dataset.run} ${one.textContent}`;

const draw = () => {
  const found = wanted(runs, state.filters);
  const held = at(document.activeElement);
  body.replaceChildren();
  let drawn = 0;
  for (const members of ordered(found, state.sort)) {
    if (drawn >= limit) break;
    const inGroup = Boolean(members[0].group);
    if (!inGroup || group(members)) members.forEach((run) => line(run, inGroup));
    drawn += members.length;
  }
  if (held) [...body.querySelectorAll("input, a, button")].find((each) => at(each) === held)?.focus();
  const all = `${runs.length} ${runs.length === 1 ? "run" : "runs"}`;
  document.querySelector("#count").textContent = found.length === runs.length ? all : `${found.length} of ${all}`;
  document.querySelector("#more").hidden = found.length <= drawn;
  document.querySelector("#none").hidden = runs.length > 0;
  document.querySelector("#unmatched").hidden = runs.length === 0 || found.length > 0;
  document.querySelector("#list").hidden = found.length === 0;
  document.querySelector("#clear").hidden = found.length === 0 || !filtered();
  show();
};

// The values that runs have, and how many have each; one that is asked for and gone stays, or nothing would say why
// nothing is found.
const choices = (input, asked, values) => {
  const counts = new Map();
  for (const each of values) counts.set(each, (counts.get(each) ?? 0) + 1);
  if (asked && !counts.has(asked)) counts.set(asked, 0);
  const named = [...counts].sort(([a], [b]) => a.localeCompare(b)).map(([each, count]) => [each, `${each} (${count})`]);
  input.replaceChildren(...[["", "any"], ...named].map(option));
  input.value = asked;
};

const look = async () => {
  try {
    const answer = await fetch(`/api/runs?have=${version}`);
    if (answer.status === 200) { // 204: nothing has changed
      const found = await answer.json();
      ({ runs, version } = found);
      const there = new Set(runs.flatMap((run) => (run.group ? [run.name, run.group] : [run.name])));
      const gone = state.picked.filter((name) => !there.has(name));
      gone.forEach((name) => pick(name, false));
      if (gone.length) keep();
      document.querySelector("#where").textContent = found.directory;
      document.querySelector("#live-link").hidden = !found.live;
      if (document.activeElement !== inputs.target) {
        choices(inputs.target, state.filters.target, runs.map((run) => run.target).filter(Boolean));
      }
      if (document.activeElement !== inputs.tag) choices(inputs.tag, state.filters.tag, runs.flatMap((run) => run.tags));
      draw();
    }
  } catch {
    document.querySelector("#count").textContent = "the server does not respond";
    version = "";
  }
  setTimeout(look, 2000);
};

for (const name of ["grade", "trust"]) inputs[name].replaceChildren(...LETTERS.map(option));
for (const [name, input] of Object.entries(inputs)) {
  if (input.tagName === "SELECT" && ![...input.options].some((each) => each.value === state.filters[name])) {
    input.append(option([state.filters[name], state.filters[name]]));
  }
  input.value = state.filters[name];
  input.addEventListener("input", () => {
    state.filters[name] = input.value;
    change();
  });
}
const clear = () => {
  for (const [name, input] of Object.entries(inputs)) input.value = state.filters[name] = "";
  change();
};
document.querySelector("#unpick").addEventListener("click", () => {
  state.picked = [];
  change();
});
document.querySelector("#tools").addEventListener("submit", (event) => event.preventDefault());
document.querySelector("#clear").addEventListener("click", clear);
document.querySelector("#unmatched button").addEventListener("click", clear);
document.querySelector("#more button").addEventListener("click", () => { limit += STEP; draw(); });
compare.addEventListener("click", () => {
  const asked = new URLSearchParams(state.picked.map((name) => ["run", name]));
  asked.set("list", write(state));
  location.href = `/compare?${asked}`;
});
for (const head of document.querySelectorAll("th[data-key]")) {
  head.querySelector("button").addEventListener("click", () => {
    const down = `-${head.dataset.key}`;
    state.sort = state.sort === down ? head.dataset.key : down;
    change();
  });
}
show();
look();
