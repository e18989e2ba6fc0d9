// The main script: opens texts and files, and connects the buttons and keys with what they do.
import { announce, byId, button, counted, el } from "./dom.js";
import { blocksOfText, Draft, sentencesOf, settingsOf } from "./draft.js";
import { asPlans, copy, download, exported, openFile } from "./files.js";
import { loadLists, readLists } from "./lists.js";
import { clearError, post, problem, showError } from "./requests.js";
import { unreviewedCount } from "./review.js";
import { selection } from "./selection.js";
import * as store from "./store.js";
import * as work from "./work.js";

const EXAMPLE =
  "The physician commenced the procedure notwithstanding the patient's apprehension. He was discharged on 12 May 2019.";
const PART = { characters: 5_000, blocks: 100 }; // that are diagnosed in one request
const FORMATS = ["docx", "odt", "html", "md", "txt"];

function openText(text, mode) {
  if (!text.trim()) {
    byId("text").focus();
    throw problem("There is no text.", "Type or paste some sentences first.");
  }
  const title = text.trim().split(/\s+/).slice(0, 6).join(" ").slice(0, 50);
  return open({ title, original: null, blocks: blocksOfText(text) }, mode);
}

async function openOneFile(file) {
  byId("starting").textContent = `Opening ${file.name}…`;
  const { bytes, original, blocks, notes } = await openFile(file);
  await open({ title: file.name.replace(/\.[^.]+$/, ""), original, blocks, notes }, "simplify", bytes);
}

// Divides the blocks into sentences, with their hard places, and shows the document.
async function open({ title, original, blocks, notes = [] }, mode, bytes) {
  const settings = settingsOf({ strength: Number(byId("strength").value), ...readLists() });
  const sentences = [];
  for (const part of parts(blocks)) {
    const { sentences: found } = await post("/v1/diagnose", { text: part.map(({ text }) => text).join("\n") });
    sentences.push(...sentencesOf(part, found, sentences.length + 1));
  }
  const saved = work.openDraft(Draft.of({ title, original, blocks, notes, sentences, settings, mode }), { bytes });
  announce(`${title}: ${counted(sentences.length, "sentence")}.`);
  byId("sheet").focus({ preventScroll: true });
  await saved;
  byId("text").value = "";
  store.keepTypedText("");
}

function parts(blocks) {
  const found = [];
  let size = Infinity;
  for (const block of blocks) {
    if (size + block.text.length > PART.characters || found.at(-1).length === PART.blocks) {
      found.push([]);
      size = 0;
    }
    found.at(-1).push(block);
    size += block.text.length + 1;
  }
  return found;
}

// Runs an action; its error is shown, and after a missing API key it is run again.
async function attempt(action) {
  clearError();
  byId("go").disabled = byId("diagnose").disabled = true;
  try {
    await action();
  } catch (error) {
    showError(error, () => attempt(action));
  } finally {
    byId("go").disabled = byId("diagnose").disabled = false;
    byId("starting").textContent = "";
  }
}

async function showDocuments() {
  const saved = await store.list().catch(() => []);
  byId("documents").hidden = !saved.length;
  byId("document-list").replaceChildren(...saved.map(({ id, title, modified, counts }) => {
    const date = new Date(modified).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
    const state = `${date} · ${counts.reviewed} of ${counts.toReview} reviewed`;
    const remove = async () => {
      if (!confirm(`Delete “${title}” from this browser?`)) return;
      await store.remove(id);
      showDocuments();
    };
    return el("li", {},
      button(`open-${id}`, title, () => reopen(id), { class: "plain open" }),
      el("span", { class: "quiet" }, state),
      button(`delete-${id}`, "Delete", remove, { class: "small", "aria-label": `Delete ${title}` }));
  }));
}

async function reopen(id) {
  const draft = await work.reopened(id);
  if (draft) work.openDraft(draft);
  return Boolean(draft);
}

async function goHome() {
  const saved = work.closeDraft();
  byId("text").focus();
  await saved;
  showDocuments();
}

function useExample() {
  const text = byId("text").value.trim();
  if (text && text !== EXAMPLE && !confirm("Replace your text with the example?")) return;
  byId("text").value = EXAMPLE;
  store.keepTypedText(EXAMPLE);
  byId("text").focus();
}

async function exportAs(format) {
  const draft = work.currentDraft(), name = `${draft.title}.${format}`;
  // A pasted text is written as it was pasted, with its own line breaks.
  if (format === "txt" && !draft.original) return download(name, new Blob([draft.text], { type: "text/plain;charset=utf-8" }));
  const bytes = draft.original?.format === format ? draft.bytes ?? (await store.fileOf(draft.id)) : null;
  download(name, await exported(draft, format, bytes ?? null));
}

function exportPlan() {
  const draft = work.currentDraft();
  download(`${draft.title}.jsonl`, new Blob([asPlans(draft)], { type: "application/jsonl" }));
}

function showUnreviewed() {
  const left = unreviewedCount(work.currentDraft());
  byId("export-note").textContent = left ? `${counted(left, "changed sentence")} not reviewed yet.` : "Everything is reviewed.";
}

async function copyText() {
  await copy(work.currentDraft().text);
  announce("Copied.");
  byId("saved").textContent = "Copied";
}

function showSide(side) {
  byId("sheet").dataset.side = side;
  for (const name of ["source", "target"]) byId(`show-${name}`).setAttribute("aria-pressed", String(name === side));
}

const on = (id, event, action) => byId(id).addEventListener(event, action);

on("ask", "submit", (event) => {
  event.preventDefault();
  attempt(() => openText(byId("text").value, "simplify"));
});
on("diagnose", "click", () => attempt(() => openText(byId("text").value, "diagnose")));
on("text", "input", ({ target }) => store.keepTypedText(target.value));
on("text", "keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("ask").requestSubmit();
});
on("open-file", "change", ({ target }) => {
  const [file] = target.files;
  if (file) attempt(() => openOneFile(file)).then(() => (target.value = ""));
});
addEventListener("dragover", (event) => event.dataTransfer?.types.includes("Files") && event.preventDefault());
addEventListener("drop", (event) => {
  const [file] = event.dataTransfer?.files ?? [];
  if (!file) return;
  event.preventDefault();
  attempt(() => openOneFile(file));
});
on("example", "click", useExample);
on("home", "click", goHome);
on("title", "change", ({ target }) => work.rename(target.value));
on("undo", "click", work.undo);
on("redo", "click", work.redo);
on("stop", "click", work.stop);
on("continue", "click", () => {
  work.resume();
  byId("stop").focus(); // the Continue button is hidden now
});
on("simplify", "click", work.startSimplifying);
on("accept", "click", () => work.decideReview("accept"));
on("reject", "click", () => work.decideReview("reject"));
on("previous-sentence", "click", () => work.step(-1));
on("next-sentence", "click", () => work.step(1));
on("accept-safe", "click", work.acceptSafe);
on("export-menu", "click", ({ target }) => target.matches("button") && (byId("export-menu").open = false));
on("export-menu", "toggle", () => byId("export-menu").open && showUnreviewed());
for (const format of FORMATS) on(`export-${format}`, "click", () => attempt(() => exportAs(format)));
on("export-plan", "click", exportPlan);
on("copy", "click", () => copyText().catch(showError));
on("print", "click", () => print());
for (const side of ["source", "target"]) on(`show-${side}`, "click", () => showSide(side));

on("strength", "input", () => {
  const { value } = byId("strength");
  byId("strength-name").textContent = value < 0.34 ? "light" : value < 0.67 ? "medium" : "strong";
});
// Arrow keys change the slider many times in a row: wait for the last change.
let strengthTimer = 0;
on("strength", "change", () => {
  clearTimeout(strengthTimer);
  const change = () => work.changeSettings("change the strength", { strength: Number(byId("strength").value) });
  if (work.currentDraft()) strengthTimer = setTimeout(change, 300);
});
on("target", "change", ({ target }) => {
  localStorage.setItem("redraft.target", target.value);
  work.redrawFigures();
});
on("autosave", "change", ({ target }) => {
  store.switchAutosave(target.checked);
  if (work.currentDraft()) work.saveNow();
});
on("shortcuts", "change", ({ target }) => localStorage.setItem("redraft.shortcuts", target.checked ? "on" : "off"));

for (const name of ["lists", "help"]) {
  on(`${name}-open`, "click", () => byId(name).showModal());
  on(`${name}-close`, "click", () => byId(name).close());
}
on("lists-open", "click", () => (byId("lists-apply").hidden = !work.currentDraft()));
on("lists-apply", "click", () => {
  byId("lists").close();
  attempt(async () => work.changeSettings("apply the lists", readLists()));
});

// A menu closes when the focus or a click goes elsewhere, and with Escape.
for (const menu of document.querySelectorAll("details.menu")) {
  const closeIfOutside = ({ target }) => menu.open && !menu.contains(target) && (menu.open = false);
  document.addEventListener("pointerdown", closeIfOutside);
  document.addEventListener("focusin", closeIfOutside);
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

const SHORTCUTS = {
  n: () => work.step(1), j: () => work.step(1), p: () => work.step(-1), k: () => work.step(-1),
  a: () => work.decideReview("accept"), r: () => work.decideReview("reject"), "?": () => byId("help").showModal(),
};

function onKey(event) {
  const isTyping = event.target.matches("textarea, select, input:not([type=radio], [type=checkbox], [type=file])");
  if (isTyping || !work.currentDraft() || document.querySelector("dialog[open]")) return;
  const key = event.key.toLowerCase(), isCommand = event.ctrlKey || event.metaKey;
  const command = { z: event.shiftKey ? work.redo : work.undo, y: work.redo }[key];
  const shortcut = byId("shortcuts").checked && !event.altKey ? SHORTCUTS[key] : null;
  const act = isCommand ? command : shortcut;
  if (act) {
    event.preventDefault();
    act();
  } else if (event.key === "Escape" && selection()) work.leavePanel();
}

addEventListener("keydown", onKey);
// Escape in a text box of the panel goes back to the text, too.
on("panel", "keydown", (event) => event.key === "Escape" && event.target.matches("input, textarea") && work.leavePanel());
addEventListener("visibilitychange", work.flush);
store.onOpenedElsewhere(async (id) => {
  if (work.currentDraft()?.id !== id) return;
  await goHome();
  showError(problem("This document was opened in another tab.", "Work on it there, or open it here again."));
});
// Without autosave, the browser asks before the user leaves a document.
addEventListener("beforeunload", (event) => work.currentDraft() && !store.autosaves() && event.preventDefault());

byId("autosave").checked = store.autosaves();
byId("shortcuts").checked = localStorage.getItem("redraft.shortcuts") !== "off";
byId("target").value = localStorage.getItem("redraft.target") ?? "";
byId("text").value = store.typedText();
loadLists();
work.showSettings();
const lastId = store.openId();
if (!lastId || !(await reopen(lastId).catch(() => false))) showDocuments();
document.body.dataset.ready = "";
