// The page: takes a text, has it planned and rewritten part by part, and keeps the sentences on show.
import { ask, byId, clearProblem, el, say, showProblem, takeKey } from "./common.js";
import { drawCard, makeCard } from "./card.js";
import { asHtml, asPlan, asText, copy, download } from "./export.js";
import { closeMenu } from "./menu.js";
import { Sentence, simplifyRequest } from "./sentences.js";
import { inParts } from "./words.js";

const EXAMPLE =
  "The physician commenced the procedure notwithstanding the patient's apprehension. He was discharged on 12 May 2019.";
const TOGETHER = 4; // sentences of a request

let sentences = [];
let earlier = []; // sentences of the text before it was planned anew, for what a person decided about them
let between = ""; // what stands behind the last sentence and is no sentence: white space, a colon
let rest = ""; // of the text: what was not worked on
let cards = new Map();
let run = null; // the work under way

function simplify() {
  const text = byId("text").value;
  if (!text.trim()) {
    showProblem({ message: "There is no text yet.", hint: "Write or paste some sentences first." });
    return byId("text").focus();
  }
  earlier = [...sentences, ...earlier]; // a run that was broken off has not met them all
  return work(text, true);
}

// Plans and rewrites a text part by part; what is not reached, for an error or Stop, stays as `rest`.
async function work(text, anew) {
  run?.abort();
  const mine = (run = new AbortController());
  const whole = text.trimEnd();
  const parts = inParts(whole), tail = text.slice(whole.length);
  clearProblem();
  busy("Working…");
  try {
    if (!anew) await rewrite(unfinished(), mine.signal);
    const wanted = wishes();
    const planning = { strength: Number(byId("strength").value), ...wanted };
    for (let i = 0; whole && i < parts.length; i++) {
      busy(parts.length > 1 ? `Working: ${Math.round((100 * i) / parts.length)} % of the text.` : "Planning the edits…");
      const plan = await ask("/v1/plan", { text: parts[i], ...planning }, mine.signal);
      const added = show(plan.sentences, wanted, anew && i === 0);
      rest = [...parts.slice(i + 1), tail].join("");
      drawSummary();
      await rewrite(added, mine.signal);
    }
    earlier = [];
    say(`${counted(sentences.length, "sentence")} rewritten. ${byId("readability").textContent}`);
  } catch (error) {
    showProblem(error, simplify);
    if (run === mine) say(error.name === "AbortError" ? "Stopped." : error.message);
  } finally {
    if (run === mine) {
      run = null;
      busy(null);
      drawSummary();
    }
  }
}

// What a person always wants; a line of the glossary without "=" is a mistake that is named, not passed over.
function wishes() {
  const lines = (id) => byId(id).value.split("\n").map((line) => line.trim()).filter(Boolean);
  const glossary = lines("glossary").map((line) => line.split("=").map((side) => side.trim()));
  const odd = glossary.findIndex((sides) => sides.length !== 2 || !sides[0] || !sides[1]);
  if (odd >= 0) {
    throw Object.assign(new Error(`Line ${odd + 1} of your terms has no “=” between two words.`), {
      hint: "Write for example: hypertension = high blood pressure",
    });
  }
  return { keep: lines("keep"), glossary };
}

const unfinished = () => sentences.filter((sentence) => !sentence.answer && !sentence.problem);

// The text that was not worked on, with what a person had decided about its sentences before.
function restText() {
  let text = rest, from = 0;
  for (const sentence of earlier.filter(({ isSettled }) => isSettled)) {
    const at = text.indexOf(sentence.source, from);
    if (at < 0) continue;
    text = text.slice(0, at) + sentence.text + text.slice(at + sentence.source.length);
    from = at + sentence.text.length;
  }
  return text;
}

// Puts planned sentences on the page, behind those that are there or in their place.
function show(planned, wanted, anew) {
  const focus = focused();
  if (anew) {
    sentences.forEach((sentence) => sentence.request?.abort());
    [sentences, cards, between] = [[], new Map(), ""];
    byId("sentences").replaceChildren();
    closeMenu(false);
  }
  const added = planned.filter(isSentence).map((plan) => {
    const sentence = new Sentence(sentences.length + 1, plan, wanted, redraw);
    const same = earlier.findIndex(({ source }) => source === plan.source);
    if (same >= 0) sentence.inherit(earlier.splice(same, 1)[0]);
    sentences.push(sentence);
    return sentence;
  });
  added.forEach((sentence) => cards.set(sentence, makeCard(sentence)));
  byId("sentences").append(...added.map((sentence) => cards.get(sentence)));
  byId("results").hidden = false;
  if (anew && focus) refocus(focus);
  return added;
}

// Which part of which card has the focus, to give it back once the cards are new.
function focused() {
  const card = document.activeElement.closest(".sentence");
  return card && { number: card.dataset.number, key: document.activeElement.dataset.key };
}

function refocus({ number, key }) {
  const card = document.querySelector(`.sentence[data-number="${number}"]`);
  (card?.querySelector(`[data-key="${key}"]`) ?? card?.querySelector("h3") ?? byId("results-title")).focus({ preventScroll: true });
}

// One without words is what stands before the next one.
function isSentence(plan) {
  plan.space = between + plan.space;
  between = plan.source ? "" : plan.space;
  return Boolean(plan.source);
}

// Some at a time, those aside about which a person has decided. One that cannot be rewritten says so on its card.
async function rewrite(added, signal) {
  const asked = added.filter((sentence) => !sentence.isSettled);
  const versions = new Map(asked.map((sentence) => [sentence, sentence.begin()]));
  asked.forEach(redraw);
  try {
    for (let i = 0; i < asked.length; i += TOGETHER) await together(asked.slice(i, i + TOGETHER), versions, signal);
  } finally {
    asked.forEach((sentence) => sentence.pending && sentence.giveUp(versions.get(sentence)));
  }
}

async function together(some, versions, signal) {
  try {
    const answer = await ask("/v1/simplify", simplifyRequest(some), signal);
    some.forEach((sentence, i) => sentence.take(versions.get(sentence), answer.sentences[i]));
  } catch (error) {
    if (![400, 504].includes(error.status)) throw error; // it is not about these sentences
    if (some.length === 1) return some[0].giveUp(versions.get(some[0]), error);
    for (const sentence of some) await together([sentence], versions, signal);
  }
}

const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

// `whole`: false where the card has shown the change already.
function redraw(sentence, whole = true) {
  const card = cards.get(sentence);
  if (!card) return; // it belongs to a text that is no longer on show
  if (whole) drawCard(card, sentence);
  drawSummary();
}

function drawSummary() {
  const accepted = sentences.filter((sentence) => sentence.accepted).length;
  byId("progress").textContent = `${accepted} of ${counted(sentences.length, "sentence")} accepted`;
  const left = unfinished().length, size = rest.trim().length;
  byId("rest").hidden = Boolean(run) || !(left || size);
  byId("rest-size").textContent = [
    left ? `${counted(left, "sentence")} not rewritten.` : "",
    size ? `The last ${counted(size, "character")} of your text were not worked on; exports hold them as they are.` : "",
  ].join(" ");
  drawReview();
  clearTimeout(measuring);
  measuring = setTimeout(measure, 300);
}

// Sentences that may not say the same, the riskiest first; each leads to its card.
function drawReview() {
  const doubtful = sentences.filter(({ doubt, accepted }) => doubt && !accepted).sort((one, two) => two.doubt.risk - one.doubt.risk);
  const leads = doubtful.map(({ number }) =>
    el("button", { type: "button", class: "lead", onclick: () => refocus({ number }) }, `Sentence ${number}`));
  byId("review").hidden = !doubtful.length;
  byId("review").replaceChildren(el("p", {}, "Check these first; they may not say the same:"), ...leads);
}

// The figures of what is on show; they change with every choice, and need no model.
let measuring = 0;
async function measure() {
  const texts = { before: sentences.map(({ source }) => source), after: sentences.map(({ text }) => text) };
  try {
    const found = await ask("/v1/readability", texts);
    const words = `${found.words_before} → ${found.words_after} words`;
    byId("readability").textContent = `School grade (FKGL) ${found.before.toFixed(1)} → ${found.after.toFixed(1)} · ${words}`;
  } catch {
    byId("readability").textContent = "";
  }
}

function busy(message) {
  byId("results").setAttribute("aria-busy", String(Boolean(message)));
  byId("go").textContent = message ? "Working…" : "Simplify";
  if (!message && document.activeElement === byId("stop")) byId("go").focus();
  byId("stop").hidden = !message;
  byId("doing").textContent = message ?? "";
  if (message) say(message);
}

function nameStrength() {
  const value = Number(byId("strength").value);
  const name = value < 0.34 ? "light" : value < 0.67 ? "medium" : "strong";
  byId("strength-name").textContent = name;
  byId("strength").setAttribute("aria-valuetext", `${name}, ${Math.round(value * 100)} of 100`);
}

// The arrow keys change the slider many times in a row: plan once it rests.
let resting = 0;
function strengthChanged() {
  clearTimeout(resting);
  if (sentences.length) resting = setTimeout(simplify, 300);
}

function takeExample() {
  const text = byId("text").value.trim();
  if (text && text !== EXAMPLE && !confirm("Put the example in the place of your text?")) return;
  byId("text").value = EXAMPLE;
  byId("text").focus();
}

async function copyText() {
  try {
    await copy(asText(sentences, between + restText()));
    say("Copied.");
    byId("copy").textContent = "Copied";
    setTimeout(() => (byId("copy").textContent = "Copy"), 1500);
  } catch (error) {
    showProblem({ message: "It could not be copied.", hint: error.message });
  }
}

function on(id, event, action) {
  byId(id).addEventListener(event, action);
}

function submits(action) {
  return (event) => {
    event.preventDefault();
    action();
  };
}

on("ask", "submit", submits(simplify));
on("key-form", "submit", submits(takeKey));
on("text", "keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submits(simplify)(event);
});
on("stop", "click", () => run?.abort());
on("go-on", "click", () => {
  work(rest, false);
  byId("stop").focus(); // Go on is gone
});
on("example", "click", takeExample);
on("strength", "input", nameStrength);
on("strength", "change", strengthChanged);
on("copy", "click", copyText);
on("export-text", "click", () => download("redraft.txt", asText(sentences, between + restText()), "text/plain"));
on("export-plan", "click", () => download("redraft.jsonl", asPlan(sentences), "application/jsonl"));
on("export-html", "click", () => download("redraft.html", asHtml(sentences, between + restText()), "text/html"));
// The browser asks before a page with work on it is left.
addEventListener("beforeunload", (event) => sentences.length && event.preventDefault());
nameStrength();
