// Draws one sentence: its words, its new text, its edits with their status, and the texts to choose from.
import { el } from "./common.js";
import { closeMenu, openMenu } from "./menu.js";
import { showSearch } from "./search.js";
import { ORIGINAL, OWN } from "./sentences.js";
import { describe, diff, FAILED, isSplit, kindOf, overlap, phraseOf, slicer, spanOf } from "./words.js";

const STATUS_NAMES = {
  satisfied: "done", unmet: "not done", violated: "still present", impossible: "cannot be generated", pending: "…",
  unknown: "not checked in this text",
};
const STATUS_SYMBOLS = { satisfied: "✓", unmet: "✗", violated: "✗", impossible: "⊘", pending: "…", unknown: "–" };
const BY_USER = "your choice";

export function makeCard(sentence) {
  const card = el("article", { class: "sentence", "data-number": sentence.number, "aria-labelledby": `title-${sentence.number}` });
  drawCard(card, sentence);
  return card;
}

// Redraws the card and keeps the focus on the element with the same data-key.
export function drawCard(card, sentence) {
  const focused = card.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  card.classList.toggle("accepted", sentence.accepted);
  card.setAttribute("aria-busy", String(sentence.pending));
  card.replaceChildren(
    head(sentence),
    el("div", { class: "main" }, source(sentence), output(sentence), warnings(sentence), options(sentence)),
    edits(sentence),
  );
  if (focused) (card.querySelector(`[data-key="${focused}"]`) ?? card.querySelector("h3")).focus({ preventScroll: true });
}

function head(sentence) {
  const accept = button("accept", sentence.accepted ? "Accepted" : "Accept", () => sentence.accept(!sentence.accepted));
  accept.setAttribute("aria-pressed", String(sentence.accepted));
  accept.classList.add("accept");
  accept.disabled = !sentence.answer || sentence.pending; // only a finished text can be accepted
  const search = button("search", "Steps of the search", () => showSearch(sentence));
  search.classList.add("show-search");
  search.disabled = !sentence.answer || Boolean(sentence.unchanged);
  const title = el("h3", { id: `title-${sentence.number}`, tabindex: -1, "data-key": "title" }, `Sentence ${sentence.number}`);
  return el("header", {}, title, el("div", { class: "bar" }, search, accept));
}

function button(key, label, onclick, ariaLabel = null) {
  return el("button", { type: "button", "data-key": key, onclick, "aria-label": ariaLabel }, label);
}

function source(sentence) {
  const text = slicer(sentence.source);
  const places = sentence.edits.map((edit) => ({ edit, span: spanOf(edit, sentence.words) })).filter(({ span }) => span);
  const placed = places.filter(({ edit }) => !isSplit(edit));
  const editAt = (start, end) => placed.find(({ span }) => overlap(span, [start, end]))?.edit;
  const line = el("p", { class: "source", dir: "auto", onkeydown: (event) => onWordKey(event, sentence) });
  let at = 0;
  sentence.words.forEach((word, index) => {
    line.append(gap(text(at, word.start), editAt(at, word.start)));
    const found = placed.find(({ span }) => overlap(span, [word.start, word.end]));
    const split = places.find(({ edit, span }) => isSplit(edit) && span[0] === word.start)?.edit;
    if (split) line.append(el("span", { class: "split" }, "⏎ ", el("span", { class: "visually-hidden" }, "(new sentence) ")));
    const isWord = /[\p{L}\p{N}]/u.test(word.text);
    line.append(isWord ? wordButton(sentence, word, index, found, split) : gap(text(word.start, word.end), found?.edit));
    const last = found && !sentence.words.some((other) => other.start >= word.end && other.start < found.span[1]);
    if (last && found.edit.substitute) line.append(replacement(sentence, found.edit));
    at = word.end;
  });
  line.append(text(at, Infinity));
  const buttons = [...line.querySelectorAll("button")];
  const tabStop = buttons.find((button) => button.dataset.key === `word-${sentence.focusedWord}`) ?? buttons[0];
  if (tabStop) tabStop.tabIndex = 0;
  return line;
}

// The replacement of a phrase, struck through if it was not done.
function replacement(sentence, edit) {
  const failed = FAILED.includes(sentence.statusOf(edit)) && !sentence.pending;
  const note = failed ? el("span", { class: "visually-hidden" }, " (not done)") : null;
  return el("span", { class: failed ? "new not-done" : "new" }, edit.with.join(" / "), note);
}

// Tab reaches one word of a sentence, the arrow keys the others (roving tabindex).
function onWordKey(event, sentence) {
  const words = [...event.currentTarget.querySelectorAll("button.word")];
  const at = words.indexOf(event.target);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: words.length - 1 }[event.key];
  if (at < 0 || (to === undefined && event.key !== "ArrowDown")) return;
  event.preventDefault();
  if (to === undefined) return event.target.click();
  const next = words[Math.min(Math.max(0, to), words.length - 1)];
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  sentence.focusedWord = indexOf(next);
  next.focus();
}

// Punctuation and white space inside an edited phrase are marked like its words.
function gap(text, edit) {
  return edit && text && kindOf(edit) !== "insert" ? el("span", { class: `mark ${kindOf(edit)}` }, text) : text;
}

function wordButton(sentence, word, index, found, split) {
  const attributes = {
    type: "button",
    class: `word ${found ? `mark ${kindOf(found.edit)}` : ""}`,
    "data-key": `word-${index}`,
    tabindex: -1,
    "aria-haspopup": "menu",
    "aria-expanded": "false",
    "aria-label": found ? `${word.text}: ${ariaDescription(found.edit)}` : null,
    onclick: (event) => toggleMenu(event.currentTarget, sentence, word, found, split),
  };
  return el("button", attributes, word.text);
}

const indexOf = (word) => Number(word.dataset.key.replace("word-", ""));

function ariaDescription(edit) {
  if (edit.insert) return "keep";
  return edit.delete ? `delete “${edit.delete}”` : `replace “${edit.substitute}” with ${edit.with.join(" or ")}`;
}

function toggleMenu(button, sentence, word, found, split) {
  if (button.getAttribute("aria-expanded") === "true") return closeMenu();
  sentence.focusedWord = indexOf(button);
  const span = [word.start, word.end];
  const edit = found?.edit;
  // A decision about one word of an edited phrase replaces the edit of the whole phrase.
  const covered = found ? [Math.min(span[0], found.span[0]), Math.max(span[1], found.span[1])] : span;
  const decide = (made) => sentence.decide(covered, made && { ...made, note: BY_USER });
  const replaceWith = (target) => decide({ substitute: word.text, with: [target], span });
  const items = [
    { label: "Keep", checked: Boolean(edit?.insert), choose: () => decide({ insert: word.text, span }) },
    { label: "Delete", checked: edit?.delete === word.text, choose: () => decide({ delete: word.text, span }) },
    ...phraseItems(edit, word, decide),
    ...targets(word, edit).map(({ target, probability }) => ({
      label: target,
      detail: percent(probability),
      checked: edit?.substitute === word.text && edit.with[0] === target,
      choose: () => replaceWith(target),
    })),
    { label: "No edit", checked: !edit, choose: () => decide(null) },
    ...splitItem(sentence, word, split),
  ];
  openMenu(button, word.text, items, replaceWith);
}

// The first word of a sentence cannot start a new one.
function splitItem(sentence, word, split) {
  if (word.start === sentence.words[0].start) return [];
  const made = split ?? { split: word.text, span: [word.start, word.end], note: BY_USER };
  return [{ label: "Start a new sentence here", role: "menuitemcheckbox", checked: Boolean(split), choose: () => sentence.toggleSplit(made) }];
}

// Menu items for the edit of a phrase of several words.
function phraseItems(edit, word, decide) {
  if (!edit || phraseOf(edit) === word.text) return [];
  if (edit.insert) return [];
  if (edit.delete) {
    return [{ label: `Delete “${edit.delete}”`, checked: true, choose: () => decide({ delete: edit.delete, span: edit.span }) }];
  }
  return edit.with.map((target) => ({
    label: target,
    detail: `for “${edit.substitute}”`,
    checked: edit.with[0] === target,
    choose: () => decide({ substitute: edit.substitute, with: [target], span: edit.span }),
  }));
}

function targets(word, edit) {
  const own = edit?.substitute === word.text ? edit.with.map((target) => ({ target })) : [];
  const known = new Set(word.choices.map(({ target }) => target));
  return [...word.choices, ...own.filter(({ target }) => !known.has(target))];
}

const percent = (probability) => (probability == null || probability < 0.005 ? null : `${Math.round(probability * 100)}%`);

function output(sentence) {
  if (!sentence.answer) {
    if (sentence.pending) return el("p", { class: "output waiting" }, "Rewriting…");
    const again = sentence.problem ? null : button("rewrite", "Rewrite", () => sentence.rewrite());
    return el("div", { class: "output bar" }, el("p", { class: "quiet" }, "Not rewritten."), again);
  }
  const line = el("p", { class: "output", dir: "auto", "data-text": sentence.text });
  for (const { kind, text } of diff(sentence.source, sentence.text)) line.append(kind === "same" ? text : el(kind, {}, text));
  if (sentence.pending) line.classList.add("waiting");
  return line;
}

function warnings(sentence) {
  const box = el("div", { class: "warnings" });
  if (sentence.problem) {
    const { message, hint } = sentence.problem;
    const again = button("again", "Try again", () => sentence.rewrite());
    box.append(el("div", { class: "notice" }, el("p", {}, el("strong", {}, message), hint ? ` ${hint}` : ""), again));
  }
  if (sentence.failed.length) {
    const what = sentence.failed.map(describe).join("; ");
    box.append(el("p", { class: "warning failed" }, `Requested, but not done: ${what}. Try other words, or write the sentence yourself.`));
  }
  if (sentence.meaningAlarm) {
    const { why, risk } = sentence.meaningAlarm;
    box.append(el("p", { class: "warning meaning-alarm" }, `The meaning may have changed (risk ${Math.round(100 * risk)} %): ${why}.`));
  }
  const missing = sentence.option?.missing ?? [];
  if (missing.length) box.append(el("p", { class: "warning" }, `Check: the new sentence lacks ${missing.join(", ")}.`));
  if (sentence.option?.literal) box.append(el("p", { class: "quiet literal" }, "Edits applied word by word, without the model."));
  if (sentence.unchanged) box.append(el("p", { class: "quiet" }, `Not rewritten: ${sentence.unchanged}`));
  return box;
}

function options(sentence) {
  if (!sentence.answer) return null;
  const radio = (index, content, name) => {
    const attributes = {
      type: "radio", name: `choice-${sentence.number}`, value: index, "data-key": `choice-${index}`, onchange: () => sentence.choose(index),
    };
    const input = el("input", attributes);
    input.checked = sentence.chosen === index;
    return el("label", {}, input, el("span", { dir: "auto" }, name ? el("b", {}, name) : null, content));
  };
  const found = sentence.options.map(({ output }, index) => radio(index, output));
  const original = sentence.unchanged ? null : radio(ORIGINAL, sentence.source, "Use the original");
  const own = radio(OWN, sentence.chosen === OWN ? "" : sentence.own ?? "", "Write it yourself");
  const others = button("others", "Other versions", () => sentence.fetchOthers(), `Other versions of sentence ${sentence.number}`);
  others.hidden = sentence.othersRequested || Boolean(sentence.unchanged);
  const box = el("fieldset", { class: "candidates" }, el("legend", {}, "Choose the text"), ...found, original, own, others);
  return sentence.chosen === OWN ? el("div", {}, box, ownText(sentence)) : box;
}

// Typed text is shown as the new text immediately. The card is not redrawn, so that the box keeps the cursor.
function ownText(sentence) {
  const attributes = {
    class: "own", rows: 3, dir: "auto", "data-key": "own", "aria-label": `Your text for sentence ${sentence.number}`,
    oninput: ({ currentTarget }) => {
      sentence.write(currentTarget.value);
      currentTarget.closest(".main").querySelector(".output").replaceWith(output(sentence));
    },
  };
  const area = el("textarea", attributes);
  area.value = sentence.own;
  return area;
}

function edits(sentence) {
  const box = el("section", { class: "edits-section", "aria-label": `Edits of sentence ${sentence.number}` }, el("h4", {}, "Edits"));
  const shown = sentence.verdicts.map((edit, index) => ({ edit, index })).filter(({ edit }) => !sentence.isRejection(edit));
  const listed = (entries) => el("ol", { class: "edits" }, ...entries.map(({ edit, index }) => verdict(sentence, edit, index)));
  const keeps = shown.filter(({ edit }) => isUneventful(sentence, edit));
  const others = shown.filter(({ edit }) => !isUneventful(sentence, edit));
  box.append(others.length ? listed(others) : el("p", { class: "quiet" }, keeps.length ? "No deletions or replacements." : "None."));
  if (keeps.length) {
    const words = keeps.map(({ edit }) => edit.insert).join(", ");
    const ontoggle = (event) => (sentence.keptWordsOpen = event.currentTarget.open);
    const attributes = { class: "kept-words", open: sentence.keptWordsOpen, ontoggle };
    box.append(el("details", attributes, el("summary", { "data-key": "kept-words" }, `Kept words: ${words}`), listed(keeps)));
  }
  if (sentence.rejected.length) {
    const restoreItem = (decision, i) => {
      const label = `Restore: ${describe(decision.rejected)}`;
      const restore = button(`restore-${i}`, "Restore", () => sentence.restore(decision), label);
      return el("li", {}, el("span", {}, ...editNodes(decision.rejected)), restore);
    };
    box.append(el("h4", {}, "Rejected"), el("ul", { class: "rejected" }, ...sentence.rejected.map(restoreItem)));
  }
  return box;
}

// Predicted keep edits that were done: many, and rarely of interest.
function isUneventful(sentence, edit) {
  return Boolean(edit.insert) && edit.probability != null && !sentence.isByUser(edit) && !FAILED.includes(edit.status);
}

function verdict(sentence, edit, index) {
  const status = sentence.pending ? "pending" : edit.status ?? "pending";
  const probability = edit.note?.includes("%") ? null : percent(edit.probability);
  const reasons = [edit.note, probability && `${probability} probability`, edit.reason].filter(Boolean).join(", ");
  const byUser = sentence.isByUser(edit);
  const accept = button(`accept-${index}`, "Accept", () => sentence.acceptEdit(edit, !byUser), `Accept: ${describe(edit)}`);
  accept.setAttribute("aria-pressed", String(byUser));
  const reject = button(`reject-${index}`, "Reject", () => sentence.reject(edit), `Reject: ${describe(edit)}`);
  reject.classList.add("reject");
  const symbol = el("span", { "aria-hidden": "true" }, `${STATUS_SYMBOLS[status]} `);
  const statusLabel = el("span", { class: "verdict" }, symbol, STATUS_NAMES[status]);
  return el(
    "li", { "data-status": status },
    el("p", {}, el("span", { class: "what" }, ...editNodes(edit)), " ", statusLabel),
    reasons ? el("p", { class: "quiet" }, reasons) : null,
    el("div", { class: "bar" }, accept, reject),
  );
}

function editNodes(edit) {
  if (isSplit(edit)) return [el("span", { class: "split" }, "⏎ new sentence"), ...(edit.split === true ? [] : [" at ", el("b", {}, edit.split)])];
  if (edit.insert) return ["keep ", el("b", {}, edit.insert)];
  if (edit.delete) return ["delete ", el("b", {}, edit.delete)];
  return [el("b", {}, edit.substitute), " → ", el("b", {}, edit.with.join(" / "))];
}
