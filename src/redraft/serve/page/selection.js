// Selects a sentence, a word or a phrase of it: by click, by dragging, or with the arrow keys and Shift.
import { byId } from "./dom.js";
import { markSelection, sourceNode, wordNode } from "./rows.js";

let draft = null;
let current = null; // {id, from, to}: the words of a sentence; from -1: the sentence as a whole
let anchor = 0; // the word from which Shift extends
let listener = () => {};
let dragStart = null; // the word on which the mouse was pressed
let wasDragged = false; // the click that ends a drag selects nothing else

export const selection = () => current;

// `onSelect(selection, enter)`; `enter`: whether the focus is to go to the panel.
export function startSelecting(newDraft, onSelect) {
  [draft, listener, current] = [newDraft, onSelect, null];
  const first = byId("rows").querySelector(".w");
  if (first) first.tabIndex = 0;
}

export function select(id, from = -1, to = from, { enter = false, focus = false } = {}) {
  current = id && { id, from, to };
  markSelection(current);
  if (id) rove(wordNode(id, from) ?? sourceNode(id)?.querySelector(".w"), focus);
  listener(current, enter);
}

// After a redraw: the marks and the word that Tab reaches are set again.
export function refreshSelection() {
  markSelection(current);
  const first = (current ? sourceNode(current.id) : byId("rows"))?.querySelector(".w");
  rove((current && wordNode(current.id, current.from)) ?? first, false);
}

// Tab reaches one word of the document, the arrow keys the others (roving tabindex).
function rove(node, focus) {
  if (!node) return;
  byId("rows").querySelectorAll(".w[tabindex='0']").forEach((other) => (other.tabIndex = -1));
  node.tabIndex = 0;
  if (focus) node.focus();
}

const place = (node) => ({ id: node.closest(".s").dataset.id, index: Number(node.dataset.word) });

// One more or one less word at the end of the selection, for those who cannot drag.
export function extend(change) {
  if (!current || current.from < 0) return;
  const words = [...sourceNode(current.id).querySelectorAll(".w")].map((node) => Number(node.dataset.word));
  const at = words.indexOf(current.to);
  const to = words[Math.min(words.length - 1, Math.max(words.indexOf(current.from), at + change))];
  select(current.id, current.from, to);
}

function extendTo(node) {
  const { id, index } = place(node);
  if (!current || current.id !== id || current.from < 0) {
    anchor = index;
    return select(id, index);
  }
  select(id, Math.min(anchor, index), Math.max(anchor, index));
}

function onClick(event) {
  if (wasDragged) return;
  const word = event.target.closest(".w");
  if (word && event.shiftKey) return extendTo(word);
  if (word) {
    const { id, index } = place(word);
    anchor = index;
    return select(id, index, index, { focus: true });
  }
  const sentence = event.target.closest(".s, .t");
  if (sentence) select(sentence.dataset.id);
}

// Dragging over words selects them; beyond the sentence in which it began, up to its end.
function onDragStart(event) {
  const word = event.target.closest(".w");
  wasDragged = false;
  dragStart = word && event.button === 0 && event.pointerType === "mouse" ? place(word) : null;
}

function onDrag(event) {
  const over = event.target.closest(".w");
  if (!dragStart || !over || !(event.buttons & 1)) return;
  const { id, index } = dragStart, to = place(over);
  const isHere = to.id === id && to.index === index;
  if (isHere && !wasDragged) return;
  wasDragged = true;
  const words = [...sourceNode(id).querySelectorAll(".w")].map((node) => Number(node.dataset.word));
  const isAfter = Boolean(sourceNode(id).compareDocumentPosition(over) & Node.DOCUMENT_POSITION_FOLLOWING);
  const end = to.id === id ? to.index : isAfter ? words.at(-1) : words[0];
  anchor = index;
  current = { id, from: Math.min(index, end), to: Math.max(index, end) };
  markSelection(current);
}

function onDragEnd() {
  const isDrag = dragStart && wasDragged;
  dragStart = null;
  if (isDrag) select(current.id, current.from, current.to);
}

function onKey(event) {
  const word = event.target.closest?.(".w");
  if (!word) return;
  const words = [...byId("rows").querySelectorAll(".w")].filter((node) => node.closest("[hidden]") === null);
  const at = words.indexOf(word);
  const inSentence = words.filter((node) => node.closest(".s") === word.closest(".s"));
  const sentenceAt = (change) => {
    const ids = draft.sentences.map(({ id }) => id);
    return sourceNode(ids[ids.indexOf(place(word).id) + change])?.querySelector(".w");
  };
  const move = {
    ArrowLeft: () => words[at - 1], ArrowRight: () => words[at + 1], Home: () => inSentence[0], End: () => inSentence.at(-1),
    ArrowUp: () => sentenceAt(-1), ArrowDown: () => sentenceAt(1),
  }[event.key];
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    const { id, index } = place(word);
    const isInside = current?.id === id && index >= current.from && index <= current.to;
    return isInside ? listener(current, true) : select(id, index, index, { enter: true });
  }
  if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const to = move();
  if (!to || (event.shiftKey && !inSentence.includes(to))) return;
  if (event.shiftKey) extendTo(to);
  else {
    const { id, index } = place(to);
    anchor = index;
    select(id, index);
  }
  rove(to, true);
}

byId("rows").addEventListener("click", onClick);
byId("rows").addEventListener("pointerdown", onDragStart);
byId("rows").addEventListener("pointerover", onDrag);
addEventListener("pointerup", onDragEnd);
byId("rows").addEventListener("keydown", onKey);
