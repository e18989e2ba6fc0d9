// The panel: everything about the selected sentence, and what can be done with the selected words.
import { byId, button, counted, el, percent, redrawn } from "./dom.js";
import {
  changeRejected, changeRestored, choseFirst, choseOriginal, choseVersion, decided, editRejected, editRestored, splitToggled, wrote,
} from "./decisions.js";
import { howItWasFound } from "./explanation.js";
import { extend, selection } from "./selection.js";
import { describe, FAILED, isSplit, overlap, phraseOf, slicer, spanOf, withUsedTarget } from "./words.js";

const STATUS_NAMES = {
  satisfied: "done", unmet: "not done", violated: "still present", impossible: "cannot be generated", pending: "…",
  unknown: "not checked in this text",
};
const STATUS_SYMBOLS = { satisfied: "✓", unmet: "✗", violated: "✗", impossible: "⊘", pending: "…", unknown: "–" };

let openParts = new Set(); // folded parts that the editor has opened
let writing = null; // the sentence whose own text is being written

// `actions`: commit(label, id, record, mergeKey), retry(id), versions(id), search(id), close().
export function drawPanel(draft, actions) {
  const chosen = selection(), panel = byId("panel");
  panel.hidden = !chosen;
  byId("overview").hidden = Boolean(chosen);
  if (!chosen) return panel.replaceChildren();
  const view = draft.view(chosen.id), { number } = view.sentence;
  panel.setAttribute("aria-label", `Sentence ${number}`);
  const part = new Panel(draft, view, actions);
  const title = `Sentence ${number} of ${draft.sentences.length}`;
  const close = button("close", "✕", actions.close, { "aria-label": "Close the panel", class: "close" });
  redrawn(
    panel,
    el("header", {}, el("h2", { tabindex: -1, "data-key": "title", id: "panel-title" }, title), close),
    ...(chosen.from >= 0 ? [part.phrase(chosen)] : []),
    ...(draft.mode === "simplify" ? part.sentence() : part.hardPlaces()),
  );
}

export function focusPanel() {
  const panel = byId("panel");
  (panel.querySelector("[data-key=keep]") ?? panel.querySelector("h2")).focus();
}

class Panel {
  constructor(draft, view, actions) {
    Object.assign(this, { draft, view, actions, id: view.sentence.id, record: view.record });
  }

  commit(label, record) {
    this.actions.commit(label, this.id, record);
  }

  // What can be done with the selected words.
  phrase({ from, to }) {
    const { view } = this, { words } = view;
    const span = [words[from].start, words[to].end], text = slicer(view.sentence.source)(...span);
    const found = view.edits.filter((edit) => !isSplit(edit) && overlap(spanOf(edit, words), span));
    const edit = found.find((one) => String(spanOf(one, words)) === String(span)) ?? found[0] ?? null;
    // A decision about one word of an edited phrase replaces the edit of the whole phrase.
    const spans = [span, ...found.map((one) => spanOf(one, words))];
    const covered = [Math.min(...spans.map(([start]) => start)), Math.max(...spans.map(([, end]) => end))];
    const decide = (made) => this.commit(made ? describe(made) : `no edit of ${text}`, decided(this.record, covered, made));
    const keepWords = () => decide({ insert: text, span });
    const isExactly = (kind) => edit?.[kind] === text;
    const pressed = (isOn) => ({ "aria-pressed": String(isOn) });
    const isHere = (place) => overlap([place.start, place.end], span) && place.kind !== "long sentence";
    const hard = (view.sentence.hard ?? []).filter(isHere);
    const box = el("section", { class: "phrase", "aria-label": `Selected: ${text}` });
    box.append(el("p", { class: "picked" }, el("b", { dir: "auto" }, text), this.#width()));
    if (hard.length) box.append(el("p", { class: "quiet" }, hard.map(({ why }) => why).join("; ")));
    if (this.draft.mode !== "simplify" || !view.plan) return box;
    box.append(el("div", { class: "bar", role: "group", "aria-label": "What to do with it" },
      button("keep", "Keep", keepWords, pressed(isExactly("insert"))),
      button("delete", "Delete", () => decide({ delete: text, span }), pressed(isExactly("delete"))),
      this.#splitButton(words[from]),
      found.length ? button("no-edit", "No edit", () => decide(null)) : null,
    ));
    box.append(this.#suggestions(words.slice(from, to + 1), edit, text, decide, span), this.#ownWords(text, decide, span));
    return box;
  }

  #width() {
    const attributes = { class: "small" };
    return el("span", { class: "bar" },
      button("shorter", "−", () => extend(-1), { ...attributes, "aria-label": "One word less" }),
      button("longer", "+", () => extend(1), { ...attributes, "aria-label": "One word more" }));
  }

  // The first word of a sentence cannot start a new one.
  #splitButton(word) {
    const { view } = this;
    if (word.start === view.words[0].start) return null;
    const split = view.edits.find((edit) => isSplit(edit) && edit.split !== true && spanOf(edit, view.words)?.[0] === word.start);
    const made = split ?? { split: word.text, span: [word.start, word.end] };
    const toggle = () => this.commit(describe(made), splitToggled(this.record, made, view));
    return button("split", "Split here", toggle, { "aria-pressed": String(Boolean(split)), title: "Start a new sentence here" });
  }

  #suggestions(words, edit, text, decide, span) {
    const planned = edit?.substitute ? edit.with.map((target) => ({ target, of: edit })) : [];
    const known = new Set(planned.filter(({ of }) => of.substitute === text).map(({ target }) => target));
    const single = words.length === 1 ? words[0].choices.filter(({ target }) => !known.has(target)) : [];
    const all = [...planned, ...single];
    if (!all.length) return el("p", { class: "quiet" }, `No suggestion for ${words.length === 1 ? "this word" : "these words"}.`);
    const own = { substitute: text, span };
    const choose = ({ target, of = own }) => decide({ substitute: of.substitute, with: [target], span: of.span ?? span });
    const chance = ({ probability }) => (probability >= 0.005 ? percent(probability) : null);
    return el("div", { class: "suggestions", role: "group", "aria-label": `Replace “${text}” by` }, ...all.map((one, i) => {
      const isUsed = Boolean(edit?.substitute) && edit.with[0] === one.target && Boolean(one.of);
      const why = one.of && one.of.substitute !== text ? `for “${one.of.substitute}”` : chance(one);
      const attributes = { "aria-pressed": String(isUsed), class: "suggestion" };
      const made = button(`target-${i}`, one.target, () => choose(one), attributes);
      if (why) made.append(" ", el("span", { class: "quiet" }, why));
      return made;
    }));
  }

  #ownWords(text, decide, span) {
    const field = el("input", {
      type: "text", "data-key": "own-words", "aria-label": `Your own words for “${text}”`, placeholder: "your own words",
      autocomplete: "off",
    });
    const use = (event) => {
      event.preventDefault();
      const target = field.value.trim();
      if (target) decide({ substitute: text, with: [target], span });
      else field.focus();
    };
    return el("form", { class: "bar", onsubmit: use }, field, el("button", { type: "submit" }, "Replace"));
  }

  hardPlaces() {
    const { hard } = this.view.sentence;
    if (!hard?.length) return [el("p", { class: "quiet" }, "Nothing hard was found in this sentence.")];
    const text = slicer(this.view.sentence.source);
    const name = ({ start, end, kind }) => (kind === "long sentence" ? "The sentence" : text(start, end));
    return [el("ul", { class: "plain" }, ...hard.map((place) => el("li", {}, el("b", {}, name(place)), `: ${place.why}`)))];
  }

  // Everything about the sentence as a whole.
  sentence() {
    return [this.#warnings(), this.#changes(), this.#texts(), this.#explanation()];
  }

  #warnings() {
    const { view } = this, box = el("div", { class: "warnings" });
    const long = view.sentence.hard?.find(({ kind }) => kind === "long sentence");
    if (long) box.append(el("p", { class: "quiet" }, `Long sentence: ${long.why}.`));
    if (view.problem) {
      const again = button("again", "Try again", () => this.actions.retry(this.id));
      const { message, hint } = view.problem;
      box.append(el("div", { class: "notice" }, el("p", {}, el("strong", {}, message), ` ${hint ?? ""}`), again));
    }
    if (view.failed.length) {
      const what = view.failed.map(describe).join("; ");
      const advice = "Try other words, or write the sentence yourself.";
      box.append(el("p", { class: "warning failed" }, `Requested, but not done: ${what}. ${advice}`));
    }
    for (const warning of view.warnings) box.append(el("p", { class: "warning" }, `Check: ${warning}.`));
    if (view.isLiteral) box.append(el("p", { class: "quiet literal" }, "Edits applied word by word, without the model."));
    if (view.unchanged) box.append(el("p", { class: "quiet" }, `Not rewritten: ${view.unchanged}`));
    return box;
  }

  // The edits and the changes that no edit asked for, each with its owner; all of them can be rejected.
  #changes() {
    const { view } = this;
    const shown = view.verdicts.filter((edit) => !view.isRejection(edit));
    const isPredictedKeep = (edit) => Boolean(edit.insert) && !view.isByEditor(edit) && edit.probability != null;
    const isQuiet = (edit) => isPredictedKeep(edit) && !FAILED.includes(edit.status);
    const edits = shown.filter((edit) => !isQuiet(edit)), kept = shown.filter(isQuiet);
    const items = [...edits.map((edit) => this.#edit(edit)), ...view.unasked.map((change, i) => this.#unasked(change, i))];
    const box = el("section", { class: "edits" }, el("h3", {}, "Changes"));
    box.append(items.length ? el("ul", {}, ...items) : el("p", { class: "quiet" }, view.isPending ? "Rewriting…" : "None."));
    const undone = [
      ...view.rejectedEdits.map((one, i) => this.#rejectedEdit(one, i)),
      ...view.undone.map((one, i) => this.#restoredChange(one, i)),
    ];
    if (undone.length) box.append(el("h3", {}, "Rejected"), el("ul", { class: "rejected" }, ...undone));
    if (kept.length) {
      const list = el("ul", {}, ...kept.map((edit) => this.#edit(edit)));
      box.append(this.#folded("kept", `${counted(kept.length, "word")} kept: ${kept.map(phraseOf).join(", ")}`, list));
    }
    return box;
  }

  #edit(edit) {
    const status = this.view.isPending ? "pending" : edit.status ?? "pending";
    const isStated = edit.note?.includes("%"); // the note has the probability
    const chance = edit.probability >= 0.005 && !isStated ? `probability ${percent(edit.probability)}` : null;
    const reasons = [edit.note, chance, edit.reason].filter(Boolean).join(", ");
    const name = describe(edit);
    const symbol = el("span", { "aria-hidden": "true" }, `${STATUS_SYMBOLS[status]} `);
    const verdict = el("span", { class: "verdict" }, symbol, STATUS_NAMES[status]);
    const reject = () => this.commit(`reject ${name}`, editRejected(this.record, edit, this.view.words));
    return el("li", { "data-status": status },
      el("p", {}, ...editNodes(withUsedTarget(edit, this.view.text)), " ", verdict),
      reasons ? el("p", { class: "quiet" }, reasons) : null,
      button(`reject ${name}`, "Reject", reject, { class: "reject small", "aria-label": `Reject: ${name}` }));
  }

  #unasked(change, i) {
    const name = changeName(change);
    const reject = () => this.commit(`reject ${name}`, changeRejected(this.record, change));
    return el("li", { "data-status": "unasked" },
      el("p", {}, ...changeNodes(change)), el("p", { class: "quiet" }, "no edit asked for it: the model's own change"),
      button(`reject-change-${i}`, "Reject", reject, { class: "reject small", "aria-label": `Reject: ${name}` }));
  }

  #rejectedEdit(decision, i) {
    const name = describe(decision.rejected);
    const restore = () => this.commit(`restore ${name}`, editRestored(this.record, decision, this.view.planned));
    return el("li", {}, el("p", {}, ...editNodes(decision.rejected)),
      button(`restore-${i}`, "Restore", restore, { class: "small", "aria-label": `Restore: ${name}` }));
  }

  #restoredChange(change, i) {
    const name = changeName(change);
    const restore = () => this.commit(`restore ${name}`, changeRestored(this.record, change));
    return el("li", {}, el("p", {}, ...changeNodes(change)),
      button(`restore-change-${i}`, "Restore", restore, { class: "small", "aria-label": `Restore: ${name}` }));
  }

  // The texts to choose from. Typing does not redraw the panel, so that the box keeps the cursor.
  #texts() {
    const { view, record } = this;
    if (!view.answer && !view.problem) return null;
    const { chosen } = record, isOwn = chosen.kind === "own";
    const radio = (key, isChecked, content, name, choose) => {
      const input = el("input", { type: "radio", name: "text", "data-key": key, onchange: choose });
      input.checked = isChecked;
      return el("label", {}, input, el("span", { dir: "auto" }, name ? el("b", {}, `${name} `) : null, content));
    };
    const isFirst = (option) => option === view.options[0];
    const chosenRecord = (option) => (isFirst(option) ? choseFirst(record) : choseVersion(record, option.output));
    const choose = (option) => this.commit("choose a text", chosenRecord(option));
    const useOriginal = () => this.commit("use the original", choseOriginal(record));
    const found = view.options.map((option, i) =>
      radio(`text-${i}`, view.option === option, option.output, null, () => choose(option)));
    const original = radio("original", chosen.kind === "original", null, "Use the original", useOriginal);
    const own = radio("write", isOwn, null, "Write it yourself", () => this.write(record.own ?? view.text));
    const versions = view.answer && view.options.length < 2 && !view.unchanged
      ? button("versions", "Other versions", () => this.actions.versions(this.id), { class: "small" }) : null;
    const legend = el("legend", { class: "visually-hidden" }, "Choose the text");
    const box = el("fieldset", { class: "texts" }, legend, ...found, original, own, versions);
    const content = el("div", {}, box, isOwn ? this.#ownText() : null);
    return this.#folded("texts", "Other texts, or write it yourself", content, isOwn || view.options.length > 1);
  }

  write(text) {
    writing = `${this.id} ${Date.now()}`; // typing from now on is one step of the history
    this.actions.commit("write it yourself", this.id, wrote(this.record, text), writing);
  }

  #ownText() {
    const { number } = this.view.sentence;
    const attributes = {
      class: "own", rows: 4, dir: "auto", "data-key": "own", "aria-label": `Your text for sentence ${number}`,
      onfocus: () => (writing = `${this.id} ${Date.now()}`),
      oninput: ({ currentTarget }) => {
        const record = wrote(this.draft.record(this.id), currentTarget.value);
        this.actions.commit("write it yourself", this.id, record, writing, { keepsPanel: true });
      },
    };
    const area = el("textarea", attributes);
    area.value = this.record.chosen.text;
    return area;
  }

  #explanation() {
    const { view } = this;
    if (!view.answer) return null;
    const show = () => this.actions.search(this.id);
    const lattice = view.unchanged ? null : button("search", "Steps of the search", show, { class: "small" });
    return this.#folded("found", "How it was found", el("div", {}, el("p", {}, howItWasFound(view)), lattice));
  }

  #folded(name, title, content, isOpen = false) {
    const ontoggle = ({ currentTarget }) => openParts[currentTarget.open ? "add" : "delete"](name);
    const attributes = { class: "fold", "data-part": name, open: isOpen || openParts.has(name), ontoggle };
    return el("details", attributes, el("summary", { "data-key": name }, title), content);
  }
}

const shortText = (text) => (text.trim() ? text.trim() : "nothing");

const changeName = ({ removed, inserted }) => `${shortText(removed)} → ${shortText(inserted)}`;

function changeNodes({ removed, inserted }) {
  if (!inserted.trim()) return ["delete ", el("b", {}, shortText(removed))];
  if (!removed.trim()) return ["insert ", el("b", {}, shortText(inserted))];
  return [el("b", {}, shortText(removed)), " → ", el("b", {}, shortText(inserted))];
}

function editNodes(edit) {
  if (isSplit(edit)) {
    const place = edit.split === true ? [] : [" at ", el("b", {}, edit.split)];
    return [el("span", { class: "split" }, "⏎ new sentence"), ...place];
  }
  if (edit.insert) return ["keep ", el("b", {}, edit.insert)];
  if (edit.delete) return ["delete ", el("b", {}, edit.delete)];
  return [el("b", {}, edit.substitute), " → ", el("b", {}, edit.with.join(" / "))];
}
