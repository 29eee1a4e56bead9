// What the list shows, kept in its address: a reload, the way back and a shared link show the same.
export const FIRST_SORT = "-started_unix_ns";
const FILTERS = ["q", "target", "grade", "trust", "tag"];

// filters by name, sort ("-" first: descending), runs picked in their order, groups that are folded.
export const read = (search) => {
  const given = new URLSearchParams(search);
  return {
    filters: Object.fromEntries(FILTERS.map((name) => [name, given.get(name) ?? ""])),
    sort: given.get("sort") || FIRST_SORT,
    picked: [...new Set(given.getAll("run"))],
    folded: [...new Set(given.getAll("folded"))],
  };
};

export const write = ({ filters, sort, picked, folded }) => {
  const kept = new URLSearchParams();
  for (const name of FILTERS) if (filters[name]) kept.set(name, filters[name]);
  if (sort !== FIRST_SORT) kept.set("sort", sort);
  for (const name of picked) kept.append("run", name);
  for (const name of folded) kept.append("folded", name);
  return kept.toString();
};

// "B" is B or better, "-D" is D or worse, "none" is without a letter; an A- is an A.
const matches = (asked, letter) => {
  if (!asked) return true;
  if (asked === "none") return !letter;
  if (!letter) return false;
  return asked === "-D" ? letter[0] >= "D" : letter[0] <= asked;
};

const words = (run) =>
  [run.name, run.job, run.target, run.host, run.status ?? "unreadable", run.note, ...run.tags].join(" ").toLowerCase();

export const wanted = (runs, { q, target, grade, trust, tag }) => {
  const text = q.trim().toLowerCase();
  return runs.filter((run) =>
    (!text || words(run).includes(text)) && (!target || run.target === target) && (!tag || run.tags.includes(tag))
    && matches(grade, run.grade) && matches(trust, run.trust));
};

// An A+ is better than an A, which is better than an A-: the letters of the alphabet do not say so.
const rank = (letter) => letter && letter[0] + ({ "+": 0, "-": 2 }[letter[1]] ?? 1);

const value = (run, key) => {
  if (key === "grade" || key === "trust") return rank(run[key]);
  return key === "status" ? run.status ?? "unreadable" : run[key];
};

// Runs of one repeat or ab stand together, where the first of them stands.
export const ordered = (runs, sort) => {
  const down = sort.startsWith("-");
  const key = down ? sort.slice(1) : sort;
  const sorted = [...runs].sort((a, b) => {
    const [x, y] = [value(a, key), value(b, key)];
    if (x == null || y == null) return (x == null) - (y == null); // what is not known comes last, either way
    return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
  });
  const places = new Map();
  for (const run of sorted) {
    const place = run.group ? `group ${run.group}` : `run ${run.name}`;
    if (!places.has(place)) places.set(place, []);
    places.get(place).push(run);
  }
  return [...places.values()];
};
