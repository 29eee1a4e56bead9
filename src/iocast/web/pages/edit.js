// The notes of a run, its name, its end: each change is asked of the server, which wants the token.
import { address, back, instant, nameIn } from "./figures.js";

const name = nameIn("/edit/");
const at = (selector) => document.querySelector(selector);
const way = back();

const say = (form, text, wrong = false) => {
  const output = form.querySelector("output");
  output.textContent = text;
  output.className = wrong ? "wrong" : "";
};

// Sends a change; what comes back, or null where it was refused, which is said.
const ask = async (form, what, change) => {
  say(form, "…");
  try {
    const answer = await fetch(address(`api/${what}`, name), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(change),
    });
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text);
    let told = { error: text };
    try { told = JSON.parse(text); } catch { /* a refusal in plain words */ }
    say(form, [told.error, told.hint].filter(Boolean).join(": "), true);
  } catch {
    say(form, "The server does not respond.", true);
  }
  return null;
};

const on = (id, handle) => at(id).addEventListener("submit", (event) => {
  event.preventDefault();
  handle(at(id));
});

on("#notes", async (form) => {
  const tags = at("#tags").value.split(/[\s,]+/).filter(Boolean);
  const kept = await ask(form, "notes", { note: at("#note").value, tags });
  if (!kept) return;
  at("#note").value = kept.note;
  at("#tags").value = kept.tags.join(" ");
  say(form, "Saved.");
});

on("#rename", async (form) => {
  const renamed = await ask(form, "rename", { to: at("#to").value });
  if (renamed) location.replace(address("edit", renamed.name) + location.search);
});

at("#confirm").addEventListener("input", () => {
  at("#delete button").disabled = at("#confirm").value !== name;
});

on("#delete", async (form) => {
  const deleted = await ask(form, "delete", { confirm: at("#confirm").value, unproven: at("#unproven").checked });
  if (!deleted) return;
  if (!deleted.left.length) location.replace(way);
  else {
    at("#all").disabled = true;
    say(form, `Deleted. Other files were in its folder and are kept: ${deleted.left.join(", ")}`);
  }
});

const begin = async () => {
  at("#back").href = way;
  at("#title").textContent = name;
  const answer = await fetch(address("api/notes", name));
  const found = await answer.json();
  if (!answer.ok) {
    at("#where").textContent = [found.error, found.hint].filter(Boolean).join(": ");
    return;
  }
  const { summary } = found;
  document.title = `Notes on ${name} · iocast`;
  at("#where").textContent = summary
    ? [summary.name, summary.target, summary.host, instant(summary.started_unix_ns)].filter(Boolean).join(" · ")
    : "This run cannot be read.";
  at("#run").hidden = false;
  at("#run").href = address(summary?.status === "running" ? "follow" : "run", name) + location.search;
  at("#note").value = found.note;
  at("#tags").value = found.tags.join(" ");
  at("#to").value = name.split("/").pop();
  at("#name").textContent = name;
  at("#denied").hidden = found.may_change;
  at("#all").disabled = !found.may_change;
};
begin();
