// A live watch or a tape: the lines of `iocast top`, and two heat maps that grow by a column an interval.
import { nameIn } from "./figures.js";
import { HeatMap } from "./heat_map.js";

const at = (id) => document.querySelector(`#${id}`);
const name = nameIn("/watch/");
const maps = { frequency: new HeatMap(at("frequency"), "blue"), intensity: new HeatMap(at("intensity"), "red") };
let columns = [];
let shown = null; // the interval that is shown; null: the newest
let chosen = "";
let newest = -1;
let oldest = 0;

const put = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};

const span = (text, style) => {
  const made = document.createElement("span");
  made.className = style;
  made.textContent = text;
  return made;
};

// One change of the document: what is seen is the lines before, or those after.
const showLines = (lines) => {
  const made = document.createDocumentFragment();
  for (const line of lines) {
    for (const [text, style] of line) made.append(style === "plain" ? text : span(text, style));
    made.append("\n");
  }
  at("lines").replaceChildren(made);
};

const showHistograms = (found) => {
  const select = at("histogram");
  const known = [...select.options].map((option) => option.value).join("\n");
  const wanted = found.histograms.some(([value]) => value === chosen) || !chosen
    ? found.histograms : [[chosen, chosen.replaceAll("|", ", ")], ...found.histograms];
  if (wanted.map(([value]) => value).join("\n") !== known) {
    select.replaceChildren(...wanted.map(([value, text]) => new Option(text, value)));
  }
  if (document.activeElement !== select) select.value = chosen;
};

const draw = (found) => {
  const most = maps.frequency.room();
  columns = columns.filter(({ number }) => number >= found.oldest);
  const upTo = shown ?? found.newest;
  const visible = columns.filter(({ number }) => number <= upTo).slice(-most);
  for (const [kind, map] of Object.entries(maps)) map.draw(visible.map((each) => each[kind]), found.bounds);
};

const show = (found) => {
  put(at("says"), found.says);
  document.title = `${found.says} · iocast`;
  ({ newest, oldest } = found);
  if (found.lines.length === 0) {
    put(at("state"), found.over || "Reading the first interval …");
    return;
  }
  if (found.chosen !== chosen) columns = [];
  chosen = found.chosen;
  const known = new Set(columns.map(({ number }) => number));
  columns.push(...found.columns.filter(({ number }) => !known.has(number)));
  const paused = shown === null ? "" : `paused, ${found.newest - found.at} behind the newest`;
  put(at("state"), [found.clock, paused, found.over].filter(Boolean).join(" · "));
  put(at("pause"), shown === null ? "Pause" : "Follow");
  Object.assign(at("time"), { min: oldest, max: newest, value: found.at });
  showLines(found.lines);
  showHistograms(found);
  draw(found);
};

let asking = false;
const ask = async () => {
  if (asking) return true;
  asking = true;
  const width = Math.floor(at("lines").parentElement.clientWidth / 7.9);
  const last = columns.length ? columns[columns.length - 1].number : -1;
  const asked = new URLSearchParams({ after: last, width, chosen });
  if (shown !== null) asked.set("at", shown);
  try {
    const answer = await fetch(`/api/watch/${name.split("/").map(encodeURIComponent).join("/")}?${asked}`);
    const found = await answer.json();
    if (answer.ok) show(found);
    else put(at("state"), found.error);
    return answer.ok && !(found.over && shown === null && found.columns.length === 0);
  } catch {
    put(at("state"), "The server does not respond.");
    return true;
  } finally {
    asking = false;
  }
};

const look = async () => {
  if (await ask()) setTimeout(look, 1000);
};
const go = (to) => {
  shown = Math.max(oldest, Math.min(newest, to));
  ask();
};
at("pause").addEventListener("click", () => {
  shown = shown === null ? newest : null;
  look();
});
at("back").addEventListener("click", () => go((shown ?? newest) - 1));
at("forward").addEventListener("click", () => go((shown ?? newest) + 1));
at("time").addEventListener("input", (event) => go(Number(event.target.value)));
at("histogram").addEventListener("change", (event) => {
  chosen = event.target.value;
  columns = [];
  ask();
});
if (name) {
  at("report").href = `/run/${name.split("/").map(encodeURIComponent).join("/")}`;
  at("report").hidden = false;
}
look();
