// "Steps of the search": the beam search for one sentence, step by step.
import { byId, el } from "./dom.js";
import { post, ServiceError } from "./requests.js";
import { describe } from "./words.js";

const SHOWN = 8; // nodes of a row that are shown at first
const STEP_MS = 1400; // milliseconds between two steps

let steps = [];
let edits = [];
let expanded = new Set(); // rows that show all nodes
let timer = null;
let request = null;

export async function showSearch({ sentence, request: plan }) {
  request?.abort();
  const controller = (request = new AbortController());
  edits = plan.edits;
  steps = [];
  byId("search-source").textContent = sentence.source;
  byId("search-edits").replaceChildren(...edits.map((edit, i) => el("li", {}, chip(i), " ", describe(edit))));
  byId("search-state").textContent = "Searching…";
  draw();
  byId("search-view").showModal();
  try {
    const answer = await post("/v1/simplify", { sentences: [{ space: sentence.space, ...plan }], trace: true }, controller.signal);
    start(answer.sentences[0]);
  } catch (error) {
    if (error.name === "AbortError") return;
    byId("search-state").textContent = error instanceof ServiceError ? `${error.message} ${error.hint}` : error.message;
  }
}

function start(answer) {
  steps = answer.trace ?? [];
  const none = `There was no search: ${answer.unchanged ?? "no step was recorded"}.`;
  byId("search-state").textContent = steps.length ? "" : none;
  byId("step").max = Math.max(1, steps.length);
  go(1);
}

const current = () => Number(byId("step").value);

function go(number) {
  byId("step").value = Math.min(Math.max(1, number), Math.max(1, steps.length));
  expanded = new Set();
  draw();
}

function draw() {
  const step = steps[current() - 1];
  byId("step-name").textContent = step ? `Step ${current()} of ${steps.length}` : "";
  byId("step").setAttribute("aria-valuetext", byId("step-name").textContent);
  byId("previous").disabled = !step || current() === 1;
  byId("next").disabled = !step || current() === steps.length;
  byId("play").disabled = byId("step").disabled = steps.length < 2;
  byId("search-figure").replaceChildren(...(step ? step.rows.map((row) => beam(row, step, groupsOf(step))) : []));
  const pool = step?.pool ?? [];
  byId("pool").replaceChildren(...pool.map(poolEntry));
  if (step && !pool.length) byId("pool").append(el("li", { class: "none quiet" }, "None yet."));
}

// Nodes that satisfy the same edits form a group; groups are named by letters in order of appearance.
function groupsOf(step) {
  const names = new Map();
  for (const { satisfied } of step.nodes) {
    const key = satisfied.join();
    if (!names.has(key)) names.set(key, letters(names.size));
  }
  return (node) => names.get(node.satisfied.join());
}

const letters = (n) => (n < 26 ? "" : letters(Math.floor(n / 26) - 1)) + String.fromCharCode(65 + (n % 26));

function beam(row, step, groupOf) {
  const nodes = step.nodes.filter((node) => node.row === row.row).sort((a, b) => (b.log_prob ?? -Infinity) - (a.log_prob ?? -Infinity));
  const shown = expanded.has(row.row) ? nodes : best(nodes);
  const name = el("span", { class: "row-name" }, `Row ${row.row}`);
  const logProb = el("span", { class: "quiet" }, ` L ${number(row.log_prob)}`);
  const title = el("p", { class: "row-text" }, name, row.text.trim() || "(empty)", logProb);
  const box = el("div", { class: "beam", "data-row": row.row }, title, table(shown, groupOf, row));
  if (nodes.length > shown.length) box.append(more(row, nodes.length));
  return box;
}

const isKept = (node) => node.outcome === "finished" || node.outcome.startsWith("row ");

// The most likely nodes, and all kept ones: an edit can bring an unlikely word into the beam.
function best(nodes) {
  const kept = nodes.filter(isKept);
  const others = nodes.filter((node) => !isKept(node)).slice(0, Math.max(0, SHOWN - kept.length));
  return nodes.filter((node) => kept.includes(node) || others.includes(node));
}

function more(row, count) {
  const show = () => {
    expanded.add(row.row);
    draw();
    byId("search-figure").querySelector(`[data-row="${row.row}"] table`).focus();
  };
  return el("button", { type: "button", class: "more", onclick: show }, `Show all ${count}`);
}

const COLUMNS = ["Next", "Probability", "L", "E", "Edits", "Group", "Outcome"];

function table(nodes, groupOf, row) {
  const heads = el("tr", {}, ...COLUMNS.map((name) => el("th", { scope: "col" }, name)));
  const body = el("tbody", {}, ...nodes.map((node) => line(node, groupOf)));
  return el("table", { tabindex: -1, "aria-label": `Candidates for the next word of row ${row.row}` }, el("thead", {}, heads), body);
}

function line(node, groupOf) {
  const kind = node.outcome === "finished" ? "finished" : isKept(node) ? "kept" : "pruned";
  const group = node.round ? `${groupOf(node)} · ${ordinal(node.round)}` : groupOf(node);
  const cells = [bar(node.token_log_prob), number(node.log_prob), score(node), el("span", {}, ...node.satisfied.map(chip)), group, outcome(node)];
  const name = el("th", { scope: "row" }, node.end ? "end" : visible(node.text));
  return el("tr", { class: kind, "data-outcome": node.outcome }, name, ...cells.map((cell) => el("td", {}, cell)));
}

const visible = (text) => text.trim() || "␣";

function bar(logProb) {
  const probability = Math.exp(logProb ?? -Infinity);
  const fill = el("span", { class: "fill" });
  fill.style.width = `${probability * 100}%`;
  const share = probability >= 0.0995 ? `${Math.round(probability * 100)}%` : `${(probability * 100).toFixed(1)}%`;
  return el("span", { class: "share" }, el("span", { class: "track", "aria-hidden": "true" }, fill), share);
}

function score(node) {
  const withPending = node.edit_score_pending; // with edits begun but not complete
  return withPending == null || withPending === node.edit_score ? number(node.edit_score) : `${number(node.edit_score)} (${number(withPending)})`;
}

const OUTCOMES = {
  finished: "■ finished", "beyond alpha": "✕ pruned: beyond α", "below delta": "✕ pruned: below δ", unselected: "– not selected",
  "end not allowed": "✕ end of sentence not allowed yet",
};

const outcome = ({ outcome: name }) => OUTCOMES[name] ?? `→ kept as ${name}`;
const ordinal = (n) => `${n}${n % 100 > 10 && n % 100 < 14 ? "th" : ["th", "st", "nd", "rd"][n % 10] ?? "th"}`;
const number = (value) => (value == null ? "−∞" : value.toFixed(2).replace("-", "−"));

function chip(index) {
  return el("span", { class: "chip", title: edits[index] ? describe(edits[index]) : null }, String(index + 1));
}

function poolEntry({ text, log_prob, edit_score, truncated }) {
  const figures = ` L ${number(log_prob)}, E ${number(edit_score)}${truncated ? ", cut at the length limit" : ""}`;
  return el("li", {}, text.trim(), el("span", { class: "quiet" }, figures));
}

function play(on) {
  clearInterval(timer);
  timer = on ? setInterval(forward, STEP_MS) : null;
  byId("play").textContent = on ? "Pause" : "Play";
  byId("play").setAttribute("aria-pressed", String(on));
}

function forward() {
  if (current() >= steps.length) play(false);
  else go(current() + 1);
}

function togglePlay() {
  if (!timer && current() === steps.length) go(1);
  play(!timer);
}

function stepTo(number) {
  play(false);
  go(number);
}

byId("previous").addEventListener("click", () => stepTo(current() - 1));
byId("next").addEventListener("click", () => stepTo(current() + 1));
byId("play").addEventListener("click", togglePlay);
byId("step").addEventListener("input", () => stepTo(current()));
byId("search-close").addEventListener("click", () => byId("search-view").close());
byId("search-view").addEventListener("close", () => {
  play(false);
  request?.abort();
});
// Arrow keys change the step, except where they already move the slider or scroll the figure.
byId("search-view").addEventListener("keydown", (event) => {
  const change = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const scrolls = event.target === byId("search-figure") && event.target.scrollWidth > event.target.clientWidth;
  if (!change || event.target === byId("step") || scrolls || !steps.length) return;
  event.preventDefault();
  stepTo(current() + change);
});
