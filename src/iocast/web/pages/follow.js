// A run while it happens: what is under way, and the rows that are finished; ends with a link to the report.
import { address, back, cell, clock, duration, megabytes, nameIn, rate } from "./figures.js";
import { draw } from "./live_chart.js";

const LEFT = { exactly: "", at_least: "at least ", at_most: "at most ", about: "about " };
const name = nameIn("/follow/");
const at = (id) => document.querySelector(`#${id}`);

const state = (status) => status === "dead" ? "The run is dead: its process no longer exists." : `The run is ${status}.`;

const put = (element, text) => {
  if (element.textContent !== text) element.textContent = text; // a reader of the screen hears only what is new
};

const show = (found) => {
  const { summary, rows } = found;
  const now = summary.status === "running" ? found.under_way : null;
  put(at("title"), summary.name);
  document.title = `${summary.name} · iocast`;
  put(at("where"), `${summary.target} on ${summary.host}`);
  put(at("phase"), now ? `Step ${now.number} of ${now.total}: ${now.phase}` : state(summary.status));
  at("bar").value = summary.status !== "running" ? 1 : now ? (now.number - 1) / now.total : 0;
  put(at("figures"), now
    ? `${rate(now.rate_per_s)} IOPS, ${megabytes(now.bytes_per_s)} MB/s${now.errors ? `, ${now.errors} failed` : ""}`
    : "");
  put(at("left"), now?.left_ns == null ? "" : `${LEFT[now.left_is]}${clock(now.left_ns / 1e9)} left`);
  const course = now?.course ?? [];
  at("live").hidden = course.length < 2;
  draw(at("chart"), course);
  at("rows").replaceChildren();
  for (const row of rows) {
    const made = at("rows").insertRow();
    cell(made, row.row);
    cell(made, rate(row.rate_per_s), "number");
    cell(made, megabytes(row.bytes_per_s), "number");
    cell(made, duration(row.p50_ns), "number");
    cell(made, duration(row.p99_ns), "number");
  }
  at("finished").hidden = rows.length === 0;
  at("report").hidden = rows.length === 0;
  at("report").firstElementChild.href = address("run", name) + location.search;
  return summary.status === "running";
};

const look = async () => {
  let again = true;
  try {
    const answer = await fetch(address("api/progress", name));
    const found = await answer.json();
    if (answer.ok) again = show(found);
    else {
      put(at("phase"), found.error);
      again = false;
    }
  } catch {
    put(at("phase"), "The server does not respond.");
  }
  if (again) setTimeout(look, 1000);
};
at("back").href = back();
at("edit").href = address("edit", name) + location.search;
look();
