// How easy the text is to read, before and after, and whether it reaches its target. The service computes the figures.
import { byId, el, percent } from "./dom.js";
import { post } from "./requests.js";

const WAIT = 300; // milliseconds: many changes may follow each other
const MOST_ABOVE = 0.05; // share of words above the target level with which the target counts as reached
export const LEVELS = ["A1", "A2", "B1", "B2", "C1", "C2"];

let timer = 0;
let known = { key: null, figures: null };

// Shows the figures of a document; asks for them if its text has changed.
export function drawFigures(draft, target) {
  clearTimeout(timer);
  const before = draft.sentences.map(({ source }) => source), after = draft.allViews.map(({ text }) => text);
  const key = JSON.stringify([before, after]);
  if (known.key === key) return show(known.figures, draft.mode, target);
  timer = setTimeout(async () => {
    try {
      known = { key, figures: await post("/v1/readability", { before, after }) };
    } catch {
      known = { key, figures: null }; // the text is too long for one request, or the service does not answer
    }
    show(known.figures, draft.mode, target);
  }, WAIT);
}

export const knownFigures = () => known.figures;

function show(figures, mode, target) {
  const box = byId("figures");
  box.hidden = !figures;
  if (!figures) return;
  const { before, after } = figures;
  const number = (value) => value.toFixed(1);
  const row = (name, value, title) =>
    el("div", { title }, el("dt", {}, name), el("dd", {}, ...pair(value(before), value(after), mode)));
  box.replaceChildren(
    row("Words a sentence", ({ words_per_sentence }) => number(words_per_sentence)),
    row("Hard words", ({ share_of_hard_words: share }) => percent(share), "share of words that are rare, or that people find hard"),
    row("School grade", ({ grade }) => number(grade), "Flesch-Kincaid: years of school that a reader needs"),
    ...goal(before, after, mode, target),
  );
}

function pair(before, after, mode) {
  return mode === "simplify" ? [before, " → ", el("b", {}, after)] : [el("b", {}, before)];
}

// The share of words above the target level.
function goal(before, after, mode, target) {
  if (!target || !before.levels) return [];
  const above = ({ levels }) => LEVELS.slice(LEVELS.indexOf(target) + 1).reduce((sum, level) => sum + (levels[level] ?? 0), 0);
  const isReached = above(mode === "simplify" ? after : before) <= MOST_ABOVE;
  const most = percent(MOST_ABOVE);
  const title = `The target is reached when at most ${most} of the words are above ${target} (CEFR level of the word)`;
  const shown = pair(percent(above(before)), percent(above(after)), mode);
  return [el("div", { title, class: isReached ? "reached" : "open" }, el("dt", {}, `Words above ${target}`),
    el("dd", {}, ...shown, isReached ? " ✓ reached" : ` (target: ${most})`))];
}
