// What the page shows of one sentence: its edits, its text, its changes with their owners, and its warnings. Derived
// from the sentence, the editor's decisions and what the service computed; nothing here is stored.
import { ownedChanges } from "./owners.js";
import {
  asPlanEdit, asUserEdit, changesOf, FAILED, hasPhrase, isSplit, keyOf, overlap, sameChange, spanOf, withChanges, wordsOf,
} from "./words.js";

// The edits of a sentence, and the request that asks for its text. `terms`: keep list and glossary of the document.
export function requestOf(sentence, record, plan, terms) {
  const words = plan?.words ?? wordsOf(sentence.source), planned = plan?.edits ?? [];
  const edits = editsOf(sentence, record, words, planned);
  const strength = plan?.strength ? { strength: plan.strength } : {};
  const request = plan && { source: sentence.source, edits: edits.map(asPlanEdit), ...strength };
  return { sentence, record, plan, terms, words, planned, edits, request, requestKey: request && JSON.stringify(request) };
}

// The planned edits, replaced by the editor's decisions about the same words; in source order.
function editsOf(sentence, { decisions }, words, planned) {
  const isHidden = (edit) => decisions.some((decision) => hides(decision, edit, words));
  const made = decisions.filter(({ edit }) => edit).map(({ edit }) => asUserEdit(edit));
  const start = (edit) => spanOf(edit, words)?.[0] ?? sentence.source.length;
  return [...planned.filter((edit) => !isHidden(edit)), ...made].sort((a, b) => start(a) - start(b));
}

// A rejected keep edit hides only that edit; any other decision hides all planned edits of its span. Splits are
// independent of the edits of words.
function hides(decision, edit, words) {
  const coversSpan = (decision.edit || !decision.rejected) && !isSplit(decision.edit) && !isSplit(edit);
  return decision.key === keyOf(edit) || (coversSpan && overlap(decision.span, spanOf(edit, words)));
}

export class SentenceView {
  // `answer`: to the request, or the last one while a new one is computed. `isComputed`: it is the one to the request.
  constructor(requested, { answer, isComputed, isPending, versions, problem }) {
    Object.assign(this, requested, { answer, isComputed, isPending, problem });
    this.options = answer ? distinct([answer, ...(versions ?? [])]) : [];
    this.option = this.#option();
    Object.assign(this, this.#text());
  }

  #option() {
    const { chosen } = this.record;
    if (chosen.kind === "own" || chosen.kind === "original") return null;
    return this.options.find(({ output }) => output === chosen.output) ?? this.options[0] ?? null;
  }

  #text() {
    const { source } = this.sentence, { chosen, restored } = this.record;
    if (chosen.kind === "own") return { text: chosen.text, changes: changesOf(source, chosen.text), undone: [] };
    const done = (this.option?.edits ?? []).filter((edit) => !edit.insert && !FAILED.includes(edit.status));
    const made = this.option ? ownedChanges(source, this.option.output, done, this.words) : [];
    const undone = made.filter((change) => restored.some((other) => sameChange(other, change)));
    const changes = made.filter((change) => !undone.includes(change));
    return { changes, undone, text: undone.length ? withChanges(source, changes) : this.option?.output ?? source };
  }

  get unasked() {
    return this.changes.filter(({ owner }) => owner === null); // changes of the editor's own text have no `owner`
  }

  get isChanged() {
    return this.text !== this.sentence.source;
  }

  // Whether somebody should read the sentence before it is used.
  get needsReview() {
    return this.isChanged || Boolean(this.record.reviewed) || this.isAtRisk;
  }

  get rejectedEdits() {
    return this.record.decisions.filter(({ rejected }) => rejected);
  }

  isByEditor(edit) {
    return this.record.decisions.some((decision) => decision.edit && keyOf(decision.edit) === keyOf(edit));
  }

  // Whether the edit only keeps the words of a rejected edit; the rejection itself is what is shown.
  isRejection(edit) {
    return this.rejectedEdits.some((decision) => decision.edit && keyOf(decision.edit) === keyOf(edit));
  }

  // The edits with their status in the chosen text; the status is unknown for the editor's own text and the original.
  get verdicts() {
    const { kind } = this.record.chosen;
    if (kind === "own" || kind === "original") return this.edits.map((edit) => ({ ...edit, status: "unknown" }));
    return this.isComputed && this.option?.edits ? this.option.edits : this.edits;
  }

  statusOf(edit) {
    return this.verdicts.find((other) => keyOf(other) === keyOf(edit))?.status;
  }

  // Edits requested by the editor, here or by keep list and glossary, that the chosen text lacks.
  get failed() {
    return this.isComputed ? this.option?.not_done ?? [] : [];
  }

  // The result of the meaning check of the chosen text if it raised an alarm, else null.
  get alarm() {
    const meaning = this.option?.meaning;
    return this.isComputed && meaning?.alarm ? meaning : null;
  }

  get missing() {
    return this.option?.missing ?? [];
  }

  // Terms of the keep list and the glossary that the text does not use, whoever wrote it.
  get unusedTerms() {
    const { source } = this.sentence;
    const named = new Set(this.failed.map((edit) => (edit.insert ?? edit.substitute ?? "").toLowerCase()));
    const isOpen = (phrase) => hasPhrase(source, phrase) && !named.has(phrase.toLowerCase());
    const lost = this.terms.keep.filter((phrase) => isOpen(phrase) && !hasPhrase(this.text, phrase));
    const unused = this.terms.glossary.filter(([term, target]) => isOpen(term) && !hasPhrase(this.text, target));
    return this.isComputed ? [
      ...lost.map((phrase) => `the keep list has “${phrase}”, and the new text does not`),
      ...unused.map(([term, target]) => `the glossary has “${target}” for “${term}”, and the new text does not`),
    ] : [];
  }

  // What the check found, in words; the first is the gravest.
  get warnings() {
    const missing = this.missing.length ? [`the new text lacks ${this.missing.join(", ")}`] : [];
    const changed = ({ risk, why }) => `the meaning may have changed (risk ${Math.round(100 * risk)} %): ${why}`;
    const alarm = this.alarm ? [changed(this.alarm)] : [];
    return [...alarm, ...missing, ...this.unusedTerms];
  }

  get isAtRisk() {
    return Boolean(this.problem) || this.failed.length > 0 || this.warnings.length > 0;
  }

  // For the order of the review: alarms by their risk, then other warnings, then sentences without any.
  get risk() {
    return this.alarm ? 1 + this.alarm.risk : Number(this.isAtRisk);
  }

  get unchanged() {
    return this.answer ? this.answer.unchanged : this.plan?.unchanged;
  }

  get author() {
    const { chosen, restored } = this.record;
    return chosen.kind === "own" || chosen.kind === "original" || restored.length ? "editor" : "redraft";
  }

  get isLiteral() {
    return Boolean(this.option?.literal);
  }
}

function distinct(options) {
  const seen = new Set();
  return options.filter(({ output }) => !seen.has(output) && seen.add(output));
}
