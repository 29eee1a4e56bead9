// What the page does beyond showing: tips, sorted tables, a choice of colours. Nothing here draws.
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.remove("no-script");
  const keep = (key, value) => { try { localStorage.setItem(key, value); } catch { /* a file: may have no storage */ } };
  const kept = (key) => { try { return localStorage.getItem(key); } catch { return null; } };

  // Colours: as the system says, until somebody chooses.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
  const theme = document.getElementById("theme"), palette = document.getElementById("palette");
  const label = () => {
    theme.textContent = isDark() ? "Light" : "Dark";
    if (palette) palette.textContent = root.dataset.palette === "classic" ? "Clear colours" : "Classic colours";
  };
  if (kept("iocast-theme")) root.dataset.theme = kept("iocast-theme");
  if (kept("iocast-palette")) root.dataset.palette = kept("iocast-palette");
  theme.addEventListener("click", () => { keep("iocast-theme", root.dataset.theme = isDark() ? "light" : "dark"); label(); });
  palette?.addEventListener("click", () => {
    keep("iocast-palette", root.dataset.palette = root.dataset.palette === "classic" ? "clear" : "classic"); label();
  });
  document.getElementById("print").addEventListener("click", () => print());

  // On a phone the charts of each kind of rows are folded; a link to them, and paper, open them.
  const families = [...document.querySelectorAll("details.family")];
  const opened = () => { const family = document.getElementById(location.hash.slice(1))?.querySelector("details.family"); if (family) family.open = true; };
  if (matchMedia("screen and (max-width:560px)").matches) for (const family of families) family.open = false;
  opened();
  addEventListener("hashchange", opened);
  let folded = [];
  addEventListener("beforeprint", () => { folded = families.filter((family) => !family.open); for (const family of folded) family.open = true; });
  addEventListener("afterprint", () => { for (const family of folded) family.open = false; });
  dark.addEventListener("change", label);
  label();

  // Tips: every mark that has something to say carries it as its label.
  const tip = document.getElementById("tip");
  let marked = null;
  const unmark = () => { marked?.classList.remove("at"); marked = null; tip.hidden = true; };
  const show = (mark, x, y) => {
    tip.textContent = mark.getAttribute("aria-label");
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(6, Math.min(x + 14, innerWidth - box.width - 6)) + "px";
    tip.style.top = (y + 18 + box.height > innerHeight ? y - box.height - 12 : y + 18) + "px";
  };
  const under = (event) => event.target.closest?.(".plot svg [aria-label]");
  document.addEventListener("pointermove", (event) => {
    const mark = under(event);
    if (mark) { if (marked && marked !== mark) unmark(); show(mark, event.clientX, event.clientY); } else if (!marked) tip.hidden = true;
  });
  document.addEventListener("pointerdown", (event) => { const mark = under(event); unmark(); if (mark) show(mark, event.clientX, event.clientY); });
  const beside = (mark) => { const box = mark.getBoundingClientRect(); show(mark, box.left + box.width / 2, box.top + box.height / 2); };
  addEventListener("scroll", () => { if (marked) beside(marked); else tip.hidden = true; }, { passive: true });
  for (const plot of document.querySelectorAll(".plot")) {
    plot.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") unmark();
      if (!step) return;
      event.preventDefault();
      const marks = [...plot.querySelectorAll("svg [aria-label]")];
      const at = marks.indexOf(marked);
      const next = marks[at < 0 ? (step > 0 ? 0 : marks.length - 1) : (at + step + marks.length) % marks.length];
      unmark();
      if (!next) return;
      marked = next;
      marked.classList.add("at");
      beside(marked);
      spoken.textContent = tip.textContent;
    });
    plot.addEventListener("blur", unmark);
  }
  const spoken = document.getElementById("spoken");

  // Sorting: a part row and a note stay under the row that they belong to.
  for (const table of document.querySelectorAll("table.sorts")) {
    const body = table.tBodies[0], groups = [];
    for (const row of body.rows) {
      if (row.matches(".part, .note") && groups.length) groups.at(-1).push(row); else groups.push([row]);
    }
    const value = (group, column) => {
      for (const row of group) {
        const raw = row.cells[column]?.dataset.v;
        if (raw !== undefined && raw !== "") return isNaN(raw) ? raw : Number(raw);
      }
      return null;
    };
    table.querySelectorAll("thead th").forEach((head, column) => head.querySelector("button")?.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const sorted = groups.map((group, at) => [value(group, column), at, group]).sort(([a, i], [b, j]) => {
        if (a === null || b === null) return (a === null) - (b === null) || i - j;
        const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
        return (down ? -order : order) || i - j;
      });
      body.append(...sorted.flatMap(([, , group]) => group));
    }));
  }
})();
