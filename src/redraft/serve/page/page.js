// The main script: reads the text, has it planned and rewritten part by part, and shows the sentences.
import { announce, byId, clearError, el, post, showError, submitKey } from "./common.js";
import { drawCard, makeCard } from "./card.js";
import { asHtml, asPlan, asText, copy, download } from "./export.js";
import { closeMenu } from "./menu.js";
import { fetchFigures, knownFigures, rememberFigures } from "./readability.js";
import { Sentence, simplifyRequest } from "./sentences.js";
import { splitIntoParts } from "./words.js";

const EXAMPLE =
  "The physician commenced the procedure notwithstanding the patient's apprehension. He was discharged on 12 May 2019.";
const FIRST_REQUEST = 2, LATER_REQUESTS = 8; // sentences: the first ones appear soon, the others take fewer requests

let sentences = [];
let previous = []; // sentences of earlier plans, for the user's decisions about them
let trailing = ""; // text after the last sentence that belongs to no sentence: white space, a colon
let rest = ""; // the part of the text that is not processed yet
let cards = new Map();
let run = null; // the AbortController of the current run

function simplify() {
  const text = byId("text").value;
  if (!text.trim()) {
    showError({ message: "There is no text.", hint: "Type or paste some sentences first." });
    return byId("text").focus();
  }
  previous = [...sentences, ...previous]; // an aborted run may not have reached all of them
  return process(text, true);
}

// Plans and rewrites a text part by part. After an error or Stop, the unprocessed part stays in `rest`.
async function process(text, fromStart) {
  run?.abort();
  const controller = (run = new AbortController());
  const trimmed = text.trimEnd();
  const parts = splitIntoParts(trimmed), tail = text.slice(trimmed.length);
  clearError();
  showProgress("Working…");
  try {
    if (!fromStart) await rewrite(unfinished(), controller.signal);
    const userConstraints = readUserConstraints();
    const planSettings = { strength: Number(byId("strength").value), ...userConstraints };
    for (let i = 0; trimmed && i < parts.length; i++) {
      showProgress(parts.length > 1 ? `Working: ${Math.round((100 * i) / parts.length)} % of the text.` : "Planning the edits…");
      const plan = await post("/v1/plan", { text: parts[i], ...planSettings }, controller.signal);
      const added = addSentences(plan.sentences, userConstraints, fromStart && i === 0);
      rest = [...parts.slice(i + 1), tail].join("");
      drawSummary();
      await rewrite(added, controller.signal);
    }
    previous = [];
    await updateReadability();
    if (run === controller) announce(`${counted(sentences.length, "sentence")} rewritten. ${byId("readability").textContent}`);
  } catch (error) {
    showError(error, simplify);
    if (run === controller) announce(error.name === "AbortError" ? "Stopped." : error.message);
  } finally {
    if (run === controller) {
      run = null;
      showProgress(null);
      drawSummary();
    }
  }
}

// The keep list and the glossary. As in the files of the command line, a tab or one equals sign divides an entry.
function readUserConstraints() {
  const lines = (id) => byId(id).value.split("\n").map((line, i) => [line.trim(), i + 1]).filter(([line]) => line);
  const glossary = lines("glossary").map(([line, number]) => {
    const sides = line.split(line.includes("\t") ? "\t" : "=").map((side) => side.trim());
    if (sides.length === 2 && sides[0] && sides[1]) return sides;
    throw Object.assign(new Error(`Glossary, line ${number}: there must be one “=” or tab between two phrases.`), {
      hint: "Example: hypertension = high blood pressure",
    });
  });
  return { keep: lines("keep").map(([line]) => line), glossary };
}

const unfinished = () => sentences.filter((sentence) => !sentence.answer && !sentence.problem);

// The unprocessed text, with the texts that the user chose for its sentences in an earlier run.
function restText() {
  let text = rest, from = 0;
  for (const sentence of previous.filter(({ isSettled }) => isSettled)) {
    const at = text.indexOf(sentence.source, from);
    if (at < 0) continue;
    text = text.slice(0, at) + sentence.text + text.slice(at + sentence.source.length);
    from = at + sentence.text.length;
  }
  return text;
}

// Adds planned sentences to the page, or replaces all sentences of the page with them.
function addSentences(planned, userConstraints, replaceAll) {
  const focus = currentFocus();
  if (replaceAll) {
    sentences.forEach((sentence) => sentence.request?.abort());
    [sentences, cards, trailing] = [[], new Map(), ""];
    byId("sentences").replaceChildren();
    closeMenu(false);
  }
  const added = planned.filter(isSentence).map((plan) => {
    const sentence = new Sentence(sentences.length + 1, plan, userConstraints, redraw);
    const same = previous.findIndex(({ source }) => source === plan.source);
    if (same >= 0) sentence.inherit(previous.splice(same, 1)[0]);
    sentences.push(sentence);
    return sentence;
  });
  added.forEach((sentence) => cards.set(sentence, makeCard(sentence)));
  byId("sentences").append(...added.map((sentence) => cards.get(sentence)));
  byId("results").hidden = false;
  if (replaceAll && focus) restoreFocus(focus);
  return added;
}

// The card and the element in it that have the focus, to restore it after the cards are replaced.
function currentFocus() {
  const card = document.activeElement.closest(".sentence");
  return card && { number: card.dataset.number, key: document.activeElement.dataset.key };
}

function restoreFocus({ number, key }) {
  const card = document.querySelector(`.sentence[data-number="${number}"]`);
  (card?.querySelector(`[data-key="${key}"]`) ?? card?.querySelector("h3") ?? byId("results-title")).focus({ preventScroll: true });
}

// An entry without words is not a sentence; its white space is moved to the next sentence.
function isSentence(plan) {
  plan.space = trailing + plan.space;
  trailing = plan.source ? "" : plan.space;
  return Boolean(plan.source);
}

// Rewrites sentences in batches, except those the user has settled. Errors of single sentences are shown on their cards.
async function rewrite(added, signal) {
  const open = added.filter((sentence) => !sentence.isSettled);
  const versions = new Map(open.map((sentence) => [sentence, sentence.begin()]));
  open.forEach(redraw);
  try {
    await rewriteBatch(open.slice(0, FIRST_REQUEST), versions, signal);
    for (let i = FIRST_REQUEST; i < open.length; i += LATER_REQUESTS) {
      await rewriteBatch(open.slice(i, i + LATER_REQUESTS), versions, signal);
    }
  } finally {
    open.forEach((sentence) => sentence.pending && sentence.fail(versions.get(sentence)));
  }
}

async function rewriteBatch(batch, versions, signal) {
  if (!batch.length) return;
  try {
    const answer = await post("/v1/simplify", simplifyRequest(batch), signal);
    rememberFigures(answer);
    batch.forEach((sentence, i) => sentence.receive(versions.get(sentence), answer.sentences[i]));
  } catch (error) {
    if (![400, 504].includes(error.status)) throw error; // not caused by these sentences
    if (batch.length === 1) return batch[0].fail(versions.get(batch[0]), error);
    for (const sentence of batch) await rewriteBatch([sentence], versions, signal);
  }
}

const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

// `wholeCard`: false if the card already shows the change.
function redraw(sentence, wholeCard = true) {
  const card = cards.get(sentence);
  if (!card) return; // a sentence of an earlier text
  if (wholeCard) drawCard(card, sentence);
  drawSummary();
}

function drawSummary() {
  const accepted = sentences.filter((sentence) => sentence.accepted).length;
  byId("progress").textContent = `${accepted} of ${counted(sentences.length, "sentence")} accepted`;
  const left = unfinished().length, size = rest.trim().length;
  byId("rest").hidden = Boolean(run) || !(left || size);
  byId("rest-size").textContent = [
    left ? `${counted(left, "sentence")} not rewritten.` : "",
    size ? `The last ${counted(size, "character")} of your text were not processed; exports contain them unchanged.` : "",
  ].join(" ");
  drawReview();
  clearTimeout(readabilityTimer);
  if (!drawReadability()) readabilityTimer = setTimeout(updateReadability, 300); // many changes may follow each other
}

// Links to the cards of sentences with a meaning alarm, highest risk first.
function drawReview() {
  const risky = sentences.filter(({ meaningAlarm, accepted }) => meaningAlarm && !accepted);
  risky.sort((a, b) => b.meaningAlarm.risk - a.meaningAlarm.risk);
  const links = risky.map(({ number }) =>
    el("button", { type: "button", onclick: () => restoreFocus({ number }) }, `Sentence ${number}`));
  byId("review").hidden = !risky.length;
  byId("review").replaceChildren(el("p", {}, "Check these sentences first; their meaning may have changed:"), ...links);
}

let readabilityTimer = 0;

const shownTexts = () => [sentences.map(({ source }) => source), sentences.map(({ text }) => text)];

// Shows the figures of the texts on the page, and returns whether they are known. Nothing is shown before the first
// sentence is rewritten.
function drawReadability() {
  const isRewritten = sentences.some(({ answer }) => answer);
  const figures = isRewritten ? knownFigures(...shownTexts()) : null;
  if (figures) {
    const { before, after } = figures;
    const grades = `School grade (FKGL) ${before.grade.toFixed(1)} → ${after.grade.toFixed(1)}`;
    byId("readability").textContent = `${grades} · ${before.words} → ${after.words} words`;
  } else if (!isRewritten) byId("readability").textContent = "";
  return Boolean(figures) || !isRewritten;
}

async function updateReadability() {
  if (drawReadability()) return;
  try {
    await fetchFigures(...shownTexts());
    drawReadability();
  } catch {
    byId("readability").textContent = "";
  }
}

function showProgress(message) {
  byId("results").setAttribute("aria-busy", String(Boolean(message)));
  byId("go").textContent = message ? "Working…" : "Simplify";
  if (!message && document.activeElement === byId("stop")) byId("go").focus();
  byId("stop").hidden = !message;
  byId("doing").textContent = message ?? "";
  if (message) announce(message);
}

function showStrength() {
  const value = Number(byId("strength").value);
  const name = value < 0.34 ? "light" : value < 0.67 ? "medium" : "strong";
  byId("strength-name").textContent = name;
  byId("strength").setAttribute("aria-valuetext", `${name}, ${Math.round(value * 100)} of 100`);
}

// Arrow keys change the slider many times in a row: wait for the last change.
let strengthTimer = 0;
function strengthChanged() {
  clearTimeout(strengthTimer);
  if (sentences.length) strengthTimer = setTimeout(simplify, 300);
}

function useExample() {
  const text = byId("text").value.trim();
  if (text && text !== EXAMPLE && !confirm("Replace your text with the example?")) return;
  byId("text").value = EXAMPLE;
  byId("text").focus();
}

async function copyText() {
  try {
    await copy(asText(sentences, trailing + restText()));
    announce("Copied.");
    byId("copy").textContent = "Copied";
    setTimeout(() => (byId("copy").textContent = "Copy"), 1500);
  } catch (error) {
    showError({ message: "The text could not be copied.", hint: error.message });
  }
}

function on(id, event, action) {
  byId(id).addEventListener(event, action);
}

function withoutSubmit(action) {
  return (event) => {
    event.preventDefault();
    action();
  };
}

on("ask", "submit", withoutSubmit(simplify));
on("key-form", "submit", withoutSubmit(submitKey));
on("text", "keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) withoutSubmit(simplify)(event);
});
on("stop", "click", () => run?.abort());
on("continue", "click", () => {
  process(rest, false);
  byId("stop").focus(); // the Continue button is hidden now
});
on("example", "click", useExample);
on("strength", "input", showStrength);
on("strength", "change", strengthChanged);
on("copy", "click", copyText);
on("export-text", "click", () => download("redraft.txt", asText(sentences, trailing + restText()), "text/plain"));
on("export-plan", "click", () => download("redraft.jsonl", asPlan(sentences), "application/jsonl"));
on("export-html", "click", () => download("redraft.html", asHtml(sentences, trailing + restText()), "text/html"));
// The browser asks before the user leaves a page with results.
addEventListener("beforeunload", (event) => sentences.length && event.preventDefault());
showStrength();
