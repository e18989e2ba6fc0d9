// Draws one sentence: its words, its new text, the edits with their verdicts, and the texts to choose from.
import { el } from "./common.js";
import { closeMenu, openMenu } from "./menu.js";
import { showSearch } from "./search.js";
import { ORIGINAL } from "./sentences.js";
import { diff, kindOf, overlap, phraseOf, placeOf, plain, slicer } from "./words.js";

const VERDICTS = { satisfied: "done", unmet: "not done", violated: "still there", impossible: "cannot be written", pending: "…" };
const MARKS = { satisfied: "✓", unmet: "✗", violated: "✗", impossible: "⊘", pending: "…" };
const BY_HAND = "your choice";

export function makeCard(sentence) {
  const card = el("article", { class: "sentence", "data-number": sentence.number, "aria-labelledby": `title-${sentence.number}` });
  drawCard(card, sentence);
  return card;
}

// Draws anew and leaves the focus where it was: what had it is known by its data-key.
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
  accept.disabled = !sentence.answer;
  const how = button("how", "How it was found", () => showSearch(sentence));
  how.classList.add("how");
  how.disabled = !sentence.answer;
  const title = el("h3", { id: `title-${sentence.number}`, tabindex: -1 }, `Sentence ${sentence.number}`);
  return el("header", {}, title, el("div", { class: "bar" }, how, accept));
}

function button(key, label, onclick, named = null) {
  return el("button", { type: "button", "data-key": key, onclick, "aria-label": named }, label);
}

function source(sentence) {
  const text = slicer(sentence.source);
  const placed = sentence.edits.map((edit) => ({ edit, span: placeOf(edit, sentence.words) })).filter(({ span }) => span);
  const editAt = (start, end) => placed.find(({ span }) => overlap(span, [start, end]))?.edit;
  const line = el("p", { class: "source" });
  let at = 0;
  sentence.words.forEach((word, index) => {
    line.append(gap(text(at, word.start), editAt(at, word.start)));
    const found = placed.find(({ span }) => overlap(span, [word.start, word.end]));
    const isWord = /[\p{L}\p{N}]/u.test(word.text);
    line.append(isWord ? wordButton(sentence, word, index, found) : gap(text(word.start, word.end), found?.edit));
    const last = found && !sentence.words.some((other) => other.start >= word.end && other.start < found.span[1]);
    if (last && found.edit.substitute) line.append(el("span", { class: "new" }, found.edit.with.join(" / ")));
    at = word.end;
  });
  line.append(text(at, Infinity));
  return line;
}

// Signs and white space inside an edited phrase bear the mark of the phrase.
function gap(text, edit) {
  return edit && text && kindOf(edit) !== "insert" ? el("span", { class: `mark ${kindOf(edit)}` }, text) : text;
}

function wordButton(sentence, word, index, found) {
  const attributes = {
    type: "button",
    class: `word ${found ? `mark ${kindOf(found.edit)}` : ""}`,
    "data-key": `word-${index}`,
    "aria-haspopup": "menu",
    "aria-expanded": "false",
    "aria-label": found ? `${word.text}: ${described(found.edit)}` : null,
    onclick: (event) => toggleMenu(event.currentTarget, sentence, word, found),
  };
  return el("button", attributes, word.text);
}

function described(edit) {
  if (edit.insert) return "must stay";
  return edit.delete ? `leave out “${edit.delete}”` : `replace “${edit.substitute}” with ${edit.with.join(" or ")}`;
}

function toggleMenu(button, sentence, word, found) {
  if (button.getAttribute("aria-expanded") === "true") return closeMenu();
  const span = [word.start, word.end];
  const edit = found?.edit;
  // A decision on one word of a phrase takes the place of the phrase's edit: what is decided covers both.
  const place = found ? [Math.min(span[0], found.span[0]), Math.max(span[1], found.span[1])] : span;
  const decide = (made) => sentence.decide(place, made && { ...made, note: BY_HAND });
  const instead = (target) => decide({ substitute: word.text, with: [target], span });
  const items = [
    { label: "Keep", checked: Boolean(edit?.insert), choose: () => decide({ insert: word.text, span }) },
    { label: "Delete", checked: edit?.delete === word.text, choose: () => decide({ delete: word.text, span }) },
    ...phraseItems(edit, word, decide),
    ...targets(word, edit).map(({ target, probability }) => ({
      label: target,
      detail: percent(probability),
      checked: edit?.substitute === word.text && edit.with[0] === target,
      choose: () => instead(target),
    })),
    { label: "Nothing", detail: "no edit", checked: !edit, choose: () => decide(null) },
  ];
  openMenu(button, word.text, items, instead);
}

// An edit of a longer phrase offers its own words for the whole phrase.
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

const percent = (probability) => (probability == null ? null : `${Math.round(probability * 100)}%`);

function output(sentence) {
  if (!sentence.answer) return el("p", { class: "output waiting" }, sentence.pending ? "Rewriting…" : "Not rewritten.");
  const line = el("p", { class: "output", "data-text": sentence.text });
  for (const { kind, text } of diff(sentence.source, sentence.text)) line.append(kind === "same" ? text : el(kind, {}, text));
  if (sentence.pending) line.classList.add("waiting");
  return line;
}

function warnings(sentence) {
  const box = el("div", { class: "warnings" });
  const missing = sentence.option?.missing ?? [];
  if (missing.length) box.append(el("p", { class: "missing" }, `Check: not in the new sentence: ${missing.join(", ")}`));
  if (sentence.unchanged) box.append(el("p", { class: "quiet" }, `Left as it is: ${sentence.unchanged}`));
  return box;
}

function options(sentence) {
  if (!sentence.answer) return null;
  const radio = (index, text, name) => {
    const attributes = {
      type: "radio", name: `choice-${sentence.number}`, value: index, "data-key": `choice-${index}`, onchange: () => sentence.choose(index),
    };
    const input = el("input", attributes);
    input.checked = sentence.chosen === index;
    return el("label", {}, input, el("span", {}, name ? el("b", {}, name) : null, text));
  };
  const found = sentence.options.map(({ output }, index) => radio(index, output));
  return el("fieldset", { class: "candidates" }, el("legend", {}, "Choose the text"), ...found, radio(ORIGINAL, sentence.source, "Use the original"));
}

function edits(sentence) {
  const box = el("section", { class: "edits-box", "aria-label": `Edits of sentence ${sentence.number}` }, el("h4", {}, "Edits"));
  const verdicts = sentence.verdicts;
  box.append(verdicts.length ? el("ol", { class: "edits" }, ...verdicts.map((edit, i) => verdict(sentence, edit, i))) : el("p", { class: "quiet" }, "None."));
  if (sentence.rejected.length) {
    const back = (decision, i) => {
      const label = `Put back: ${plain(decision.rejected)}`;
      const put = button(`back-${i}`, "Put back", () => sentence.putBack(decision), label);
      return el("li", {}, el("span", {}, ...named(decision.rejected)), put);
    };
    box.append(el("h4", {}, "Rejected"), el("ul", { class: "rejected" }, ...sentence.rejected.map(back)));
  }
  return box;
}

function verdict(sentence, edit, index) {
  const status = sentence.pending ? "pending" : edit.status ?? "pending";
  const why = [edit.note, percent(edit.probability), edit.reason].filter(Boolean).join(", ");
  const byHand = sentence.isByHand(edit);
  const accept = button(`accept-${index}`, "Accept", () => sentence.acceptEdit(edit, !byHand), `Accept: ${plain(edit)}`);
  accept.setAttribute("aria-pressed", String(byHand));
  const reject = button(`reject-${index}`, "Reject", () => sentence.reject(edit), `Reject: ${plain(edit)}`);
  reject.classList.add("reject");
  const judged = el("span", { class: "verdict" }, el("span", { "aria-hidden": "true" }, `${MARKS[status]} `), VERDICTS[status]);
  return el(
    "li", { "data-status": status },
    el("p", {}, el("span", { class: "what" }, ...named(edit)), " ", judged),
    why ? el("p", { class: "quiet" }, why) : null,
    el("div", { class: "bar" }, accept, reject),
  );
}

function named(edit) {
  if (edit.insert) return ["keep ", el("b", {}, edit.insert)];
  if (edit.delete) return ["leave out ", el("b", {}, edit.delete)];
  return [el("b", {}, edit.substitute), " → ", el("b", {}, edit.with.join(" / "))];
}
