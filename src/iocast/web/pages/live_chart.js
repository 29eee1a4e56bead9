// The IOPS of the phase that is under way, as a line from its start; plain SVG.
import { clock, rate } from "./figures.js";

const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [190, 56, 12, 14, 26];
const part = (kind, about, text = "") => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(about)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
};

// The next of 1, 2, 5, 10, ... that is not below.
const round = (value) => {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 5, 10].find((step) => value <= step * power * (1 + 1e-9));
};

// Draws the course, pairs of ms and IOPS, into an svg element; hides it while there are fewer than two.
export const draw = (svg, course) => {
  svg.toggleAttribute("hidden", course.length < 2);
  if (course.length < 2) return;
  const width = Math.max(280, svg.clientWidth); // words have the size of the page's on a phone, too
  const most = Math.max(...course.map(([, value]) => value));
  const top = most > 0 ? round(most) : 1;
  const end = course[course.length - 1][0];
  const x = (ms) => LEFT + (width - LEFT - RIGHT) * (ms / end);
  const y = (value) => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value / top);
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  svg.replaceChildren();
  for (const value of [0, top / 2, top]) {
    svg.append(part("line", { x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value), class: "grid" }));
    svg.append(part("text", { x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, value ? rate(value) : "0"));
  }
  for (const [share, anchor] of [[0, "start"], [0.5, "middle"], [1, "end"]]) {
    svg.append(part("text", { x: x(end * share), y: HEIGHT - 6, "text-anchor": anchor }, clock((end * share) / 1000)));
  }
  const points = course.map(([ms, value]) => `${x(ms).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  svg.append(part("polyline", { points, class: "course" }));
  const least = Math.min(...course.map(([, value]) => value));
  svg.setAttribute("aria-label",
    `IOPS of this phase over ${clock(end / 1000)}: now ${rate(course[course.length - 1][1])}, between ${rate(least)} and ${rate(most)}`);
};
