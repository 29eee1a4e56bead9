// Figures as a person reads them; the same rules as in the terminal.
const three = (value) => (value < 9.995 ? value.toFixed(2) : value < 99.95 ? value.toFixed(1) : value.toFixed(0));

export const rate = (value) => {
  if (value == null) return "";
  for (const [factor, unit] of [[1e6, "M"], [1e3, "k"]]) {
    if (value >= factor * 0.9995) return three(value / factor) + unit;
  }
  return value >= 9.995 ? value.toFixed(0) : value.toPrecision(2);
};

export const megabytes = (value) => (value == null ? "" : three(value / 1e6));

export const duration = (ns) => {
  if (ns == null) return "";
  for (const [factor, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]]) {
    if (ns >= factor * 0.9995) return `${three(ns / factor)} ${unit}`;
  }
  return `${ns.toFixed(0)} ns`;
};

export const instant = (ns) => (ns ? new Date(ns / 1e6).toISOString().slice(0, 16).replace("T", " ") + " UTC" : "");

export const address = (page, name) => `/${page}/${name.split("/").map(encodeURIComponent).join("/")}`;

export const cell = (row, text, kind = "") => {
  const made = row.insertCell();
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
};

// The run that a page is about, by its address.
export const nameIn = (page) => location.pathname.slice(page.length).split("/").map(decodeURIComponent).join("/");

// The list as it was when it was left.
export const back = () => {
  const kept = new URLSearchParams(location.search).get("list");
  return kept ? `/?${kept}` : "/";
};

// 75 s as "1:15".
export const clock = (seconds) => {
  const all = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  const two = (value) => String(value).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
};
