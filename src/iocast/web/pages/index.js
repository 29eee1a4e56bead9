// The list of runs: filter, sort, pick, compare; looks again every two seconds.
import { address, cell, instant, megabytes, rate } from "./figures.js";

const STEP = 200; // rows drawn at once
const body = document.querySelector("#runs");
const filter = document.querySelector("#filter");
const compare = document.querySelector("#compare");
const picked = []; // names, in the order in which they were picked
let runs = [];
let sort = { key: "started_unix_ns", down: true };
let shown = STEP;
let last = "";

const status = (run) => run.status ?? "unreadable";
const words = (run) => [run.name, run.job, run.target, run.host, status(run)].join(" ").toLowerCase();

// An A+ is better than an A, which is better than an A-: the letters of the alphabet do not say so.
const rank = (letter) => letter && letter[0] + ({ "+": 0, "-": 2 }[letter[1]] ?? 1);
const value = (run) => {
  if (sort.key === "grade" || sort.key === "trust") return rank(run[sort.key]);
  return sort.key === "status" ? status(run) : run[sort.key];
};

const wanted = () => {
  const text = filter.value.trim().toLowerCase();
  const found = text ? runs.filter((run) => words(run).includes(text)) : [...runs];
  const order = (a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x == null || y == null) return (x == null) - (y == null); // what is not known comes last, either way
    return (x < y ? -1 : x > y ? 1 : 0) * (sort.down ? -1 : 1);
  };
  return found.sort(order);
};

const pick = (name, on) => {
  const at = picked.indexOf(name);
  if (on && at < 0) picked.push(name);
  if (!on && at >= 0) picked.splice(at, 1);
  compare.disabled = picked.length < 2;
  compare.textContent = picked.length ? `Compare ${picked.length}` : "Compare";
};

const letter = (row, text) => {
  const made = cell(row, "", `grade ${text[0] ?? ""}`);
  if (!text) return;
  const chip = document.createElement("span");
  chip.textContent = text;
  made.append(chip);
};

const line = (run) => {
  const row = body.insertRow();
  row.dataset.run = run.name;
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = picked.includes(run.name);
  box.setAttribute("aria-label", `select ${run.name}`);
  box.addEventListener("change", () => pick(run.name, box.checked));
  row.insertCell().append(box);
  const head = document.createElement("th");
  head.scope = "row";
  const link = document.createElement("a");
  link.textContent = run.name;
  link.href = address(run.status === "running" ? "follow" : "run", run.name);
  head.append(link);
  row.append(head);
  cell(row, instant(run.started_unix_ns));
  cell(row, run.target ?? "");
  cell(row, run.host ?? "");
  cell(row, run.rows == null ? "" : run.rows === run.planned ? `${run.rows}` : `${run.rows} of ${run.planned}`, "number");
  cell(row, rate(run.best_rate_per_s), "number");
  cell(row, megabytes(run.best_bytes_per_s), "number");
  letter(row, run.grade ?? "");
  letter(row, run.trust ?? "");
  const state = cell(row, status(run), `status ${run.status ?? "failed"}`);
  if (run.why) state.title = run.why;
};

// What has the keyboard, in words that outlive the row: rows are made anew whenever a run changes.
const at = (element) => body.contains(element) && `${element.tagName} ${element.closest("tr").dataset.run}`;

const draw = () => {
  const found = wanted();
  const held = at(document.activeElement);
  body.replaceChildren();
  found.slice(0, shown).forEach(line);
  if (held) [...body.querySelectorAll("input, a")].find((each) => at(each) === held)?.focus();
  document.querySelector("#count").textContent =
    found.length === runs.length ? `${runs.length} runs` : `${found.length} of ${runs.length} runs`;
  document.querySelector("#more").hidden = found.length <= shown;
  document.querySelector("#none").hidden = runs.length > 0;
  for (const head of document.querySelectorAll("th[data-key]")) {
    if (head.dataset.key === sort.key) head.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
};

const look = async () => {
  try {
    const answer = await fetch("/api/runs");
    const text = await answer.text();
    if (answer.ok && text !== last) {
      last = text;
      const found = JSON.parse(text);
      runs = found.runs;
      const there = new Set(runs.map((run) => run.name));
      picked.filter((name) => !there.has(name)).forEach((name) => pick(name, false));
      document.querySelector("#where").textContent = found.directory;
      draw();
    }
  } catch {
    document.querySelector("#count").textContent = "the server does not respond";
    last = "";
  }
  setTimeout(look, 2000);
};

filter.addEventListener("input", () => { shown = STEP; draw(); });
document.querySelector("#tools").addEventListener("submit", (event) => event.preventDefault());
document.querySelector("#more button").addEventListener("click", () => { shown += STEP; draw(); });
compare.addEventListener("click", () => {
  location.href = "/compare?" + picked.map((name) => `run=${encodeURIComponent(name)}`).join("&");
});
for (const head of document.querySelectorAll("th[data-key]")) {
  head.querySelector("button").addEventListener("click", () => {
    sort = { key: head.dataset.key, down: sort.key === head.dataset.key ? !sort.down : true };
    draw();
  });
}
look();
