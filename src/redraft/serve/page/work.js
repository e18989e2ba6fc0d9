// The document at work: performs the editor's decisions, has it computed, draws what changed, and saves it.
import { announce, byId, counted, el } from "./dom.js";
import { Computing } from "./computing.js";
import { accepted, isSettled, rejected, unreviewed } from "./decisions.js";
import { Draft, settingsOf } from "./draft.js";
import { drawFigures } from "./figures.js";
import { drawPanel, focusPanel } from "./panel.js";
import { clearError, problem, showError } from "./requests.js";
import { drawReview, drawRisks, neighbour, nextUnreviewed, withoutRisk } from "./review.js";
import { drawDocument, drawSentence, sourceNode, targetNode, wordNode } from "./rows.js";
import { showSearch } from "./search.js";
import { refreshSelection, select, selection, startSelecting } from "./selection.js";
import * as store from "./store.js";

const SAVE_AFTER = 250; // milliseconds; the journal has every decision at once

let draft = null;
let computing = null;
let saveTimer = 0;

export const currentDraft = () => draft;

export function openDraft(opened, { bytes } = {}) {
  closeDraft();
  draft = opened;
  draft.bytes ??= bytes ?? null; // of the file, for the export
  computing = new Computing(draft, { onChange: redraw, onState, onComputed: saveSoon });
  store.setOpenId(store.autosaves() ? draft.id : null);
  store.tellOtherTabs(draft.id);
  byId("title").value = draft.title;
  byId("start").hidden = true;
  for (const id of ["work", "tools", "title-line"]) byId(id).hidden = false;
  byId("sheet").dataset.mode = draft.mode;
  byId("review").hidden = draft.mode !== "simplify";
  byId("simplify").hidden = draft.mode === "simplify";
  byId("notes").replaceChildren(...draft.notes.map((note) => el("li", {}, note)));
  showSettings();
  drawDocument(draft);
  startSelecting(draft, onSelect);
  drawAround();
  drawThePanel();
  if (draft.mode === "simplify") computing.run();
  return save({ bytes });
}

export function closeDraft() {
  if (!draft) return Promise.resolve();
  const saved = flush();
  computing.close();
  select(null);
  draft = computing = null;
  store.setOpenId(null);
  clearError();
  for (const id of ["work", "tools", "title-line", "stop", "continue"]) byId(id).hidden = true;
  byId("doing").textContent = byId("saved").textContent = "";
  byId("start").hidden = false;
  return saved;
}

// The document of the last visit, with every decision up to the last moment; null if there is none.
export async function reopened(id) {
  const found = await store.load(id);
  if (!found) return null;
  const again = new Draft(found.saved);
  for (const operation of found.lacking) again.perform(operation);
  return again;
}

// After the switch of the autosave.
export function saveNow() {
  store.setOpenId(store.autosaves() ? draft.id : null);
  save();
}

function save(options) {
  clearTimeout(saveTimer);
  saveTimer = 0;
  const own = draft;
  return store.save(own, options).then(
    () => own === draft && (byId("saved").textContent = store.autosaves() ? "Saved" : "Not saved"),
    ({ message }) => showError(problem("The document could not be saved in this browser.", `${message} Export it before you leave.`)),
  );
}

function saveSoon() {
  clearTimeout(saveTimer);
  saveTimer = setTimeout(save, SAVE_AFTER);
}

export function flush() {
  return draft && saveTimer ? save() : Promise.resolve();
}

export function rename(title) {
  draft.title = title.trim() || draft.title;
  save();
}

function perform(operation) {
  const step = draft.perform(operation);
  if (!step) return null;
  store.journal(draft, operation);
  saveSoon();
  return step;
}

// A decision about one sentence. `keepsPanel`: it is being typed there.
function commit(label, id, record, mergeKey = null, { keepsPanel = false } = {}) {
  perform({ kind: "do", label, after: { records: { [id]: record } }, mergeKey });
  redraw([id], { keepsPanel });
  compute([id]);
}

function commitAll(label, after) {
  perform({ kind: "do", label, after });
  const ids = Object.keys(after.records);
  redraw(ids);
  compute(ids);
}

// One sentence is rewritten at once; many, or one without a plan, by a run over the document.
function compute(ids) {
  if (draft.mode !== "simplify") return;
  if (ids.length === 1 && draft.view(ids[0]).request) computing.rewrite(ids[0]);
  else if (computing.missing.length) computing.run();
}

export const undo = () => move("undo", "before", "Undone");
export const redo = () => move("redo", "after", "Redone");

function move(kind, side, name) {
  const step = perform({ kind });
  if (!step) return announce(`There is nothing to ${kind}.`);
  const ids = Object.keys(step[side].records ?? {});
  if (step[side].settings) showSettings();
  if (ids.length === 1 && selection()?.id !== ids[0]) goTo(ids[0], { focus: false });
  redraw(ids);
  compute(ids);
  announce(`${name}: ${step.label}.`);
}

// Draws sentences again, and what depends on them.
function redraw(ids, { keepsPanel = false } = {}) {
  ids.forEach((id) => drawSentence(draft, id));
  refreshSelection();
  drawAround();
  if (!keepsPanel && (!selection() || ids.includes(selection().id))) drawThePanel();
}

function drawAround() {
  drawReview(draft, selection(), computing.isRunning);
  drawRisks(draft, goTo);
  const hasTexts = draft.mode === "diagnose" || draft.sentences.some(({ id }) => draft.view(id).answer);
  if (hasTexts) redrawFigures();
  const { done, undone } = draft.history;
  for (const [id, steps, name] of [["undo", done, "Undo"], ["redo", undone, "Redo"]]) {
    byId(id).disabled = !steps.length;
    byId(id).title = steps.length ? `${name}: ${steps.at(-1).label}` : name;
  }
  showProgress();
}

function drawThePanel() {
  drawPanel(draft, {
    commit,
    retry: (id) => computing.retry(id),
    versions: (id) => computing.fetchVersions(id).catch((error) => showError(error, () => computing.fetchVersions(id))),
    search: (id) => showSearch(draft.view(id)),
    close: leavePanel,
  });
}

function onSelect(chosen, enter) {
  if (!draft) return;
  drawThePanel();
  drawReview(draft, chosen, computing.isRunning);
  if (chosen) shownNode(chosen.id).scrollIntoView({ block: "nearest" }); // the panel may cover it
  if (enter) focusPanel();
}

// From the panel back to the word that it is about.
export function leavePanel() {
  const chosen = selection();
  if (!chosen) return;
  const node = wordNode(chosen.id, chosen.from) ?? sourceNode(chosen.id).querySelector(".w");
  select(null);
  drawAround();
  node?.focus();
}

// The sentence in the column that is shown, where there is room for one only.
const shownNode = (id) => [sourceNode(id), targetNode(id)].find((node) => node.checkVisibility());

export function goTo(id, { focus = true } = {}) {
  select(id, -1, -1);
  shownNode(id).scrollIntoView({ block: "center" });
  if (focus) byId("panel").querySelector("h2").focus({ preventScroll: true });
}

export function step(change) {
  const id = neighbour(draft, selection()?.id ?? null, change);
  if (id) goTo(id);
}

// Accepts or rejects the selected sentence and goes to the next one that nobody has reviewed.
export function decideReview(name) {
  const id = selection()?.id;
  if (!id || byId(name).disabled) return;
  const record = draft.record(id), verdict = name === "accept" ? "accepted" : "rejected";
  const isTakenBack = record.reviewed === verdict;
  const decide = isTakenBack ? unreviewed : name === "accept" ? accepted : rejected;
  const next = isTakenBack ? null : nextUnreviewed(draft, id); // before a rejection takes the risk away
  commit(`${isTakenBack ? "not " : ""}${verdict}`, id, decide(record));
  announce(`Sentence ${draft.byId.get(id).number} is ${isTakenBack ? "no longer " : ""}${verdict}. ${byId("counter").textContent}`);
  const onButton = byId("review").contains(document.activeElement); // it keeps the focus, for the next click
  if (next) goTo(next, { focus: !onButton });
}

export function acceptSafe() {
  const ids = withoutRisk(draft);
  const records = Object.fromEntries(ids.map((id) => [id, accepted(draft.record(id))]));
  commitAll(`accept ${counted(ids.length, "sentence")} without risk`, { records });
  announce(`${counted(ids.length, "sentence")} accepted.`);
}

// Other settings give other plans. Sentences that the editor has settled keep theirs.
export function changeSettings(label, changed) {
  const settings = settingsOf({ ...draft.settings, ...changed });
  if (settings.key === draft.settings.key) return;
  const open = draft.sentences.filter(({ id }) => !isSettled(draft.record(id)));
  const records = Object.fromEntries(open.map(({ id }) => [id, { ...draft.record(id), settings }]));
  commitAll(label, { settings, records });
  redraw(draft.sentences.map(({ id }) => id)); // warnings about terms
}

export function startSimplifying() {
  draft.mode = "simplify";
  openDraft(draft);
}

export const stop = () => computing?.stop();

export function resume() {
  clearError();
  computing.run();
}

function onState(state) {
  if (state instanceof Error) showError(state, resume);
  if (state === "working") clearError();
  if (state === "done") announce(`${counted(draft.sentences.length, "sentence")} rewritten. ${byId("counter").textContent}`);
  if (state === "stopped") announce("Stopped.");
  if (!computing.isRunning && document.activeElement === byId("stop")) byId("sheet").focus();
  drawAround();
}

function showProgress() {
  const { isRunning } = computing, left = computing.missing.length, all = draft.sentences.length;
  byId("work").setAttribute("aria-busy", String(isRunning));
  byId("stop").hidden = !isRunning;
  byId("continue").hidden = isRunning || !left;
  const doing = isRunning ? `Rewriting: ${all - left} of ${all}` : left ? `${counted(left, "sentence")} not rewritten` : "";
  if (byId("doing").textContent !== doing) byId("doing").textContent = doing;
}

export function showSettings() {
  const value = draft ? draft.settings.strength : Number(byId("strength").value);
  const name = value < 0.34 ? "light" : value < 0.67 ? "medium" : "strong";
  byId("strength").value = value;
  byId("strength-name").textContent = name;
  byId("strength").setAttribute("aria-valuetext", `${name}, ${Math.round(value * 100)} of 100`);
}

export function redrawFigures() {
  if (draft) drawFigures(draft, byId("target").value);
}
