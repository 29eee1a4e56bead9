// A run while it happens: what is under way, and the rows that are finished; ends with a link to the report.
import { address, cell, duration, megabytes, rate } from "./figures.js";

const name = location.pathname.slice("/follow/".length).split("/").map(decodeURIComponent).join("/");
const at = (id) => document.querySelector(`#${id}`);

const state = (status) => status === "dead" ? "The run is dead: its process no longer exists." : `The run is ${status}.`;

const show = (found) => {
  const { summary, under_way: now, rows } = found;
  at("title").textContent = summary.name;
  document.title = `${summary.name} · iocast`;
  at("where").textContent = `${summary.target} on ${summary.host}`;
  const running = summary.status === "running";
  at("phase").textContent = running && now ? `Step ${now.number} of ${now.total}: ${now.phase}` : state(summary.status);
  at("bar").value = running ? (now ? (now.number - 1) / now.total : 0) : 1;
  at("figures").textContent = running && now
    ? `${rate(now.rate_per_s)} IOPS, ${megabytes(now.bytes_per_s)} MB/s${now.errors ? `, ${now.errors} failed` : ""}`
    : "";
  at("rows").replaceChildren();
  for (const row of rows) {
    const made = at("rows").insertRow();
    cell(made, row.row);
    cell(made, rate(row.rate_per_s), "number");
    cell(made, megabytes(row.bytes_per_s), "number");
    cell(made, duration(row.p50_ns), "number");
    cell(made, duration(row.p99_ns), "number");
  }
  at("report").hidden = rows.length === 0;
  at("report").firstElementChild.href = address("run", name);
  return running;
};

const look = async () => {
  let again = true;
  try {
    const answer = await fetch(address("api/progress", name));
    const found = await answer.json();
    if (answer.ok) again = show(found);
    else {
      at("phase").textContent = found.error;
      again = false;
    }
  } catch {
    at("phase").textContent = "The server does not respond.";
  }
  if (again) setTimeout(look, 1000);
};
look();
