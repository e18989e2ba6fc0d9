// The page: takes a text, has it planned and rewritten, and keeps the sentences on show.
import { ask, byId, clearProblem, say, showProblem, takeKey } from "./common.js";
import { drawCard, makeCard } from "./card.js";
import { asHtml, asPlan, asText, copy, download } from "./export.js";
import { closeMenu } from "./menu.js";
import { Sentence, simplifyRequest } from "./sentences.js";
import { roughly } from "./words.js";

const EXAMPLE =
  "The physician commenced the procedure notwithstanding the patient's apprehension. He was discharged on 12 May 2019.";

let sentences = [];
let cards = new Map();
let measured = null; // the service's readability, and the texts it is about
let run = null; // the whole-text request under way

async function simplify() {
  const text = byId("text").value;
  if (!text.trim()) {
    showProblem({ message: "There is no text yet.", hint: "Write or paste some sentences first." });
    return byId("text").focus();
  }
  run?.abort();
  const mine = (run = new AbortController());
  clearProblem();
  busy(true, "Planning the edits…");
  try {
    const strength = Number(byId("strength").value);
    const plan = await ask("/v1/plan", { text, strength, ...wishes() }, mine.signal);
    show(plan.sentences);
    await rewriteAll(mine);
  } catch (error) {
    showProblem(error, simplify);
  } finally {
    if (run === mine) busy(false);
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

function show(planned) {
  const old = [...sentences];
  old.forEach((sentence) => sentence.request?.abort());
  sentences = planned.map((plan, index) => {
    const sentence = new Sentence(index + 1, plan, redraw);
    const same = old.findIndex(({ source }) => source === plan.source);
    if (same >= 0) sentence.inherit(old.splice(same, 1)[0]);
    return sentence;
  });
  closeMenu(false);
  measured = null;
  cards = new Map(sentences.map((sentence) => [sentence, makeCard(sentence)]));
  byId("sentences").replaceChildren(...cards.values());
  byId("results").hidden = false;
  drawSummary();
}

// Accepted sentences go along, since the readability is that of the whole text, but they stay as they are.
async function rewriteAll(mine) {
  busy(true, `Rewriting ${counted(sentences.length, "sentence")}…`);
  const asked = sentences.map((sentence) => ({ sentence, version: sentence.accepted ? null : sentence.begin() }));
  sentences.forEach(redraw);
  try {
    const answer = await ask("/v1/simplify", simplifyRequest(sentences), mine.signal);
    const texts = answer.sentences.map(({ output }) => output);
    measured = { ...answer.readability, rough: roughly(texts) };
    asked.forEach(({ sentence, version }, i) => sentence.take(version, answer.sentences[i]));
    drawSummary();
    say(`${counted(sentences.length, "sentence")} rewritten. ${byId("readability").textContent}`);
  } finally {
    asked.forEach(({ sentence, version }) => sentence.pending && sentence.giveUp(version));
  }
}

const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

function redraw(sentence) {
  const card = cards.get(sentence);
  if (!card) return; // it belongs to a text that is no longer on show
  drawCard(card, sentence);
  drawSummary();
}

function drawSummary() {
  const accepted = sentences.filter((sentence) => sentence.accepted).length;
  byId("progress").textContent = `${accepted} of ${counted(sentences.length, "sentence")} accepted`;
  byId("readability").textContent = measured ? readability() : "Measuring…";
}

function readability() {
  const now = roughly(sentences.map(({ text }) => text));
  const words = measured.words_after + now.words - measured.rough.words;
  const length = `${measured.words_before} → ${words} words`;
  if (measured.before == null || measured.after == null) return length;
  const grade = measured.after + now.grade - measured.rough.grade;
  return `School grade (FKGL) ${measured.before.toFixed(1)} → ${grade.toFixed(1)} · ${length}`;
}

function busy(is, message = "") {
  byId("results").setAttribute("aria-busy", String(is));
  byId("go").textContent = is ? "Working…" : "Simplify";
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

async function copyText() {
  try {
    await copy(asText(sentences));
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
on("example", "click", () => {
  byId("text").value = EXAMPLE;
  byId("text").focus();
});
on("strength", "input", nameStrength);
on("strength", "change", strengthChanged);
on("copy", "click", copyText);
on("export-text", "click", () => download("redraft.txt", asText(sentences), "text/plain"));
on("export-plan", "click", () => download("redraft.jsonl", asPlan(sentences), "application/jsonl"));
on("export-html", "click", () => download("redraft.html", asHtml(sentences), "text/html"));
nameStrength();
