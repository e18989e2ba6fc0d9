// The document: every block as a row, the source beside the new text. Only sentences that changed are drawn again.
import { byId, el } from "./dom.js";
import { isSplit, isWord, lengthOf, overlap, slicer, spanOf } from "./words.js";

let nodes = new Map(); // {source, target} of every sentence
let formatting = new Map(); // of every sentence, from its own beginning

export function drawDocument(draft) {
  nodes = new Map();
  formatting = new Map();
  const sheet = byId("rows");
  sheet.replaceChildren(...rowsOf(draft.blocks).map((blocks) => row(draft, blocks)));
  draft.sentences.forEach(({ id }) => drawSentence(draft, id));
}

// A row for each block; the cells of a table share one.
function rowsOf(blocks) {
  const rows = [];
  for (const block of blocks) {
    const last = rows.at(-1);
    const inSameTable = block.table && last?.[0].table?.table === block.table.table;
    if (inSameTable) last.push(block);
    else rows.push([block]);
  }
  return rows;
}

function row(draft, blocks) {
  const content = (name) => (blocks[0].table ? table(draft, blocks, name) : blockNode(draft, blocks[0], name));
  const side = (name) => el("div", { class: `side ${name}` }, content(name));
  return el("div", { class: "row" }, side("source"), side("target"));
}

function table(draft, blocks, side) {
  const lines = new Map();
  for (const block of blocks) {
    const { row: number } = block.table;
    lines.set(number, [...(lines.get(number) ?? []), block]);
  }
  const cell = (content) => el("td", {}, ...content.map((block) => blockNode(draft, block, side)));
  const tableRows = [...lines.values()].map((line) => el("tr", {}, ...[...grouped(line).values()].map(cell)));
  return el("div", { class: "table" }, el("table", {}, el("tbody", {}, ...tableRows)));
}

function grouped(line) {
  const columns = new Map();
  for (const block of line) columns.set(block.table.column, [...(columns.get(block.table.column) ?? []), block]);
  return columns;
}

function blockNode(draft, block, side) {
  const attributes = { class: `block ${block.kind.replace(" ", "-")}`, dir: "auto" };
  if (block.kind === "heading") {
    Object.assign(attributes, { role: "heading", "aria-level": Math.min(6, 1 + (block.level || 1)), "data-level": block.level });
  }
  const list = block.list ?? (block.kind === "list item" ? { ordered: false } : null);
  if (list) Object.assign(attributes, { "data-marker": list.ordered ? `${list.number}.` : "•", "data-level": block.level });
  const node = el("p", attributes);
  for (const id of block.sentences) {
    const sentence = draft.byId.get(id);
    const own = el("span", { class: side === "source" ? "s" : "t", "data-id": id });
    node.append(sentence.space, own);
    nodes.set(id, { ...nodes.get(id), [side]: own });
    formatting.set(id, inside(block.formatting ?? [], sentence.start, lengthOf(sentence.source)));
  }
  node.append(block.tail);
  return node;
}

// The parts of formatting that lie in a sentence, counted from its beginning.
function inside(places, start, length) {
  const parts = places.map((one) => ({ ...one, start: Math.max(0, one.start - start), end: Math.min(length, one.end - start) }));
  return parts.filter((part) => part.start < part.end);
}

export const sourceNode = (id) => nodes.get(id)?.source;
export const targetNode = (id) => nodes.get(id)?.target;

export function drawSentence(draft, id) {
  const { source, target } = nodes.get(id);
  const view = draft.view(id);
  const focused = source.contains(document.activeElement) ? document.activeElement.dataset.word : null;
  drawSource(source, view);
  drawTarget(target, view, draft.mode);
  if (focused != null) (wordNode(id, Number(focused)) ?? source.querySelector(".w"))?.focus({ preventScroll: true });
}

export const wordNode = (id, index) => nodes.get(id)?.source.querySelector(`[data-word="${index}"]`);

const isIn = (place, start, end) => overlap([place.start, place.end], [start, end]);

function drawSource(node, view) {
  const { sentence, words } = view, styles = formatting.get(sentence.id);
  const hard = sentence.hard ?? [];
  const long = hard.find(({ kind }) => kind === "long sentence");
  const text = slicer(sentence.source);
  const decisions = view.record.decisions.filter(({ edit }) => edit);
  const marks = (start, end) => [
    view.changes.some((change) => isIn(change, start, end)) ? "changed" : "",
    decisions.some((one) => one.edit.insert && overlap(one.span, [start, end])) ? "kept" : "",
    ...styles.filter((style) => isIn(style, start, end)).map(({ style }) => style),
  ].filter(Boolean);
  const gap = (start, end) => {
    const content = text(start, end);
    const classes = content ? marks(start, end) : [];
    return classes.length ? el("span", { class: classes.join(" ") }, content) : content;
  };
  const parts = [];
  let at = 0;
  words.forEach((word, index) => {
    parts.push(gap(at, word.start));
    const split = view.edits.find((edit) => isSplit(edit) && edit.split !== true && spanOf(edit, words)?.[0] === word.start);
    if (split) parts.push(el("span", { class: "split" }, "⏎", el("span", { class: "visually-hidden" }, " new sentence: ")));
    const rare = hard.find((place) => place !== long && isIn(place, word.start, word.end));
    parts.push(isWord(word.text) ? wordSpan(word, index, marks(word.start, word.end), rare) : gap(word.start, word.end));
    at = word.end;
  });
  parts.push(gap(at, Infinity));
  node.className = `s${long ? " long" : ""}`;
  node.title = long?.why ?? "";
  node.replaceChildren(...parts);
}

function wordSpan(word, index, classes, rare) {
  const notes = [rare?.why, classes.includes("changed") && "changed", classes.includes("kept") && "kept"].filter(Boolean);
  const attributes = {
    class: ["w", rare && "rare", ...classes].filter(Boolean).join(" "), role: "button", tabindex: -1, "data-word": index,
    title: rare?.why, "aria-label": notes.length ? `${word.text}: ${notes.join(", ")}` : null,
  };
  return el("span", attributes, word.text);
}

function drawTarget(node, view, mode) {
  if (mode !== "simplify") return node.replaceChildren();
  const hasText = Boolean(view.answer) || view.record.chosen.kind !== "first";
  const { reviewed } = view.record;
  const classes = ["t", !hasText || view.isPending ? "waiting" : "", view.isAtRisk ? "risky" : "", reviewed ?? ""];
  node.className = classes.filter(Boolean).join(" ");
  node.setAttribute("aria-busy", String(view.isPending));
  if (hasText) node.dataset.text = view.text;
  else delete node.dataset.text;
  const badge = view.isAtRisk ? el("span", { class: "badge", role: "img", "aria-label": "Check this sentence:" }, "⚠") : null;
  const symbol = reviewed === "accepted" ? "✓" : "↶";
  const seal = reviewed ? el("span", { class: "seal", role: "img", "aria-label": reviewed }, symbol) : null;
  node.replaceChildren(...[badge, ...textPieces(view), seal].filter(Boolean));
}

// The new text in pieces: unchanged, inserted, with the formatting of the source and with risks marked.
function textPieces(view) {
  const { sentence, changes } = view, source = slicer(sentence.source);
  const styles = formatting.get(sentence.id);
  const risks = view.alarm && !view.undone.length ? view.alarm.spans?.output ?? [] : [];
  const pieces = [];
  let at = 0, written = 0; // characters of the source and of the new text
  const add = (text, classes, isInserted = false) => {
    if (!text) return;
    const from = written;
    written += lengthOf(text);
    const cut = cuts(from, written, risks.map(([start, end]) => ({ start, end })));
    const part = slicer(text);
    for (const [start, end] of cut) {
      const isRisk = risks.some((risk) => overlap(risk, [start, end]));
      const all = [...classes, isRisk && "risk"].filter(Boolean).join(" ");
      const content = part(start - from, end - from);
      pieces.push(isInserted ? el("ins", { class: all || null }, content) : all ? el("span", { class: all }, content) : content);
    }
  };
  const unchanged = (end) => {
    const stylesIn = (from, to) => styles.filter((style) => isIn(style, from, to)).map(({ style }) => style);
    for (const [from, to] of cuts(at, end, styles)) add(source(from, to), stylesIn(from, to));
    at = end;
  };
  for (const { start, end, removed, inserted, owner } of changes) {
    unchanged(start);
    const covering = styles.filter((style) => start < end && style.start <= start && end <= style.end).map(({ style }) => style);
    if (!inserted.trim()) pieces.push(el("span", { class: "gone", title: `removed: ${removed.trim()}` }));
    add(inserted, [...covering, owner === null && "unasked"], true);
    at = end;
  }
  unchanged(lengthOf(sentence.source));
  return pieces;
}

// An interval cut at the ends of the places that lie in it.
function cuts(start, end, places) {
  const ends = places.flatMap((place) => [place.start, place.end]).filter((at) => at > start && at < end);
  const points = [start, ...new Set(ends.sort((a, b) => a - b)), end];
  return points.slice(1).map((to, i) => [points[i], to]).filter(([from, to]) => from < to);
}

// Marks the sentence, and the words of it, that are selected.
export function markSelection(selection) {
  for (const node of byId("rows").querySelectorAll(".current, .selected")) node.classList.remove("current", "selected");
  if (!selection) return;
  const { id, from, to } = selection, both = nodes.get(id);
  both?.source.classList.add("current");
  both?.target.classList.add("current");
  for (let i = from; i >= 0 && i <= to; i++) wordNode(id, i)?.classList.add("selected");
}
