// Draws one sentence: its words, its new text, the edits with their verdicts, and the texts to choose from.
import { el } from "./common.js";
import { closeMenu, openMenu } from "./menu.js";
import { showSearch } from "./search.js";
import { ORIGINAL, OWN } from "./sentences.js";
import { diff, FAILED, isSplit, kindOf, overlap, phraseOf, placeOf, plain, slicer } from "./words.js";

const VERDICTS = { satisfied: "done", unmet: "not done", violated: "still there", impossible: "cannot be written", pending: "…", unknown: "not judged in this text" };
const MARKS = { satisfied: "✓", unmet: "✗", violated: "✗", impossible: "⊘", pending: "…", unknown: "–" };
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
  accept.disabled = !sentence.answer || sentence.pending; // a person accepts what is there to read
  const how = button("how", "How it was found", () => showSearch(sentence));
  how.classList.add("how");
  how.disabled = !sentence.answer || Boolean(sentence.unchanged);
  const title = el("h3", { id: `title-${sentence.number}`, tabindex: -1, "data-key": "title" }, `Sentence ${sentence.number}`);
  return el("header", {}, title, el("div", { class: "bar" }, how, accept));
}

function button(key, label, onclick, named = null) {
  return el("button", { type: "button", "data-key": key, onclick, "aria-label": named }, label);
}

function source(sentence) {
  const text = slicer(sentence.source);
  const places = sentence.edits.map((edit) => ({ edit, span: placeOf(edit, sentence.words) })).filter(({ span }) => span);
  const placed = places.filter(({ edit }) => !isSplit(edit));
  const editAt = (start, end) => placed.find(({ span }) => overlap(span, [start, end]))?.edit;
  const line = el("p", { class: "source", dir: "auto", onkeydown: (event) => onWordKey(event, sentence) });
  let at = 0;
  sentence.words.forEach((word, index) => {
    line.append(gap(text(at, word.start), editAt(at, word.start)));
    const found = placed.find(({ span }) => overlap(span, [word.start, word.end]));
    const split = places.find(({ edit, span }) => isSplit(edit) && span[0] === word.start)?.edit;
    if (split) line.append(el("span", { class: "split" }, "⏎ ", el("span", { class: "unseen" }, "(new sentence) ")));
    const isWord = /[\p{L}\p{N}]/u.test(word.text);
    line.append(isWord ? wordButton(sentence, word, index, found, split) : gap(text(word.start, word.end), found?.edit));
    const last = found && !sentence.words.some((other) => other.start >= word.end && other.start < found.span[1]);
    if (last && found.edit.substitute) line.append(replacement(sentence, found.edit));
    at = word.end;
  });
  line.append(text(at, Infinity));
  const buttons = [...line.querySelectorAll("button")];
  const stop = buttons.find((one) => one.dataset.key === `word-${sentence.at}`) ?? buttons[0];
  if (stop) stop.tabIndex = 0;
  return line;
}

// What is to be written for a phrase, and whether it was.
function replacement(sentence, edit) {
  const failed = FAILED.includes(sentence.statusOf(edit)) && !sentence.pending;
  return el("span", { class: failed ? "new not-done" : "new" }, edit.with.join(" / "), failed ? el("span", { class: "unseen" }, " (not done)") : null);
}

// Tab leads to one word of a sentence, arrows to the others.
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
  sentence.at = numberOf(next);
  next.focus();
}

// Signs and white space inside an edited phrase bear the mark of the phrase.
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
    "aria-label": found ? `${word.text}: ${described(found.edit)}` : null,
    onclick: (event) => toggleMenu(event.currentTarget, sentence, word, found, split),
  };
  return el("button", attributes, word.text);
}

const numberOf = (word) => Number(word.dataset.key.replace("word-", ""));

function described(edit) {
  if (edit.insert) return "must stay";
  return edit.delete ? `leave out “${edit.delete}”` : `replace “${edit.substitute}” with ${edit.with.join(" or ")}`;
}

function toggleMenu(button, sentence, word, found, split) {
  if (button.getAttribute("aria-expanded") === "true") return closeMenu();
  sentence.at = numberOf(button);
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
    ...splitItem(sentence, word, split),
  ];
  openMenu(button, word.text, items, instead);
}

// A sentence cannot begin anew at its first word.
function splitItem(sentence, word, split) {
  if (word.start === sentence.words[0].start) return [];
  const made = split ?? { split: word.text, span: [word.start, word.end], note: BY_HAND };
  return [{ label: "Start a new sentence here", role: "menuitemcheckbox", checked: Boolean(split), choose: () => sentence.toggleSplit(made) }];
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
    const what = sentence.failed.map(plain).join("; ");
    box.append(el("p", { class: "missing failed" }, `Asked for, but not done: ${what}. Choose other words, or write the sentence yourself.`));
  }
  if (sentence.doubt) {
    const { why, risk } = sentence.doubt;
    box.append(el("p", { class: "missing doubt" }, `May not say the same (${Math.round(100 * risk)} %): ${why}.`));
  }
  const missing = sentence.option?.missing ?? [];
  if (missing.length) box.append(el("p", { class: "missing" }, `Check: not in the new sentence: ${missing.join(", ")}`));
  if (sentence.option?.literal) box.append(el("p", { class: "quiet literal" }, "Edited word by word."));
  if (sentence.unchanged) box.append(el("p", { class: "quiet" }, `Left as it is: ${sentence.unchanged}`));
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
  const box = el("fieldset", { class: "candidates" }, el("legend", {}, "Choose the text"), ...found, original, own);
  return sentence.chosen === OWN ? el("div", {}, box, ownText(sentence)) : box;
}

// What is typed is shown as the new text at once; the card is not drawn anew under the cursor.
function ownText(sentence) {
  const attributes = {
    class: "own", rows: 3, dir: "auto", "data-key": "own", "aria-label": `Your own text of sentence ${sentence.number}`,
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
  const box = el("section", { class: "edits-box", "aria-label": `Edits of sentence ${sentence.number}` }, el("h4", {}, "Edits"));
  const shown = sentence.verdicts.map((edit, index) => ({ edit, index })).filter(({ edit }) => !sentence.isRejection(edit));
  const listed = (some) => el("ol", { class: "edits" }, ...some.map(({ edit, index }) => verdict(sentence, edit, index)));
  const [keeps, others] = [shown.filter(({ edit }) => isUsual(sentence, edit)), shown.filter(({ edit }) => !isUsual(sentence, edit))];
  box.append(others.length ? listed(others) : el("p", { class: "quiet" }, keeps.length ? "Nothing is left out or replaced." : "None."));
  if (keeps.length) {
    const words = keeps.map(({ edit }) => edit.insert).join(", ");
    const attributes = { class: "keeps", open: sentence.keepsOpen, ontoggle: (event) => (sentence.keepsOpen = event.currentTarget.open) };
    box.append(el("details", attributes, el("summary", { "data-key": "keeps" }, `Must stay: ${words}`), listed(keeps)));
  }
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

// Words that are predicted to stay, and did: many, and seldom of interest.
function isUsual(sentence, edit) {
  return Boolean(edit.insert) && edit.probability != null && !sentence.isByHand(edit) && !FAILED.includes(edit.status);
}

function verdict(sentence, edit, index) {
  const status = sentence.pending ? "pending" : edit.status ?? "pending";
  const sure = edit.note?.includes("%") ? null : percent(edit.probability);
  const why = [edit.note, sure && `${sure} sure`, edit.reason].filter(Boolean).join(", ");
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
  if (isSplit(edit)) return [el("span", { class: "split" }, "⏎ new sentence"), ...(edit.split === true ? [] : [" at ", el("b", {}, edit.split)])];
  if (edit.insert) return ["keep ", el("b", {}, edit.insert)];
  if (edit.delete) return ["leave out ", el("b", {}, edit.delete)];
  return [el("b", {}, edit.substitute), " → ", el("b", {}, edit.with.join(" / "))];
}
