// The state of one sentence: its plan, the user's decisions, and the answer of the service.
import { announce, post, showError } from "./common.js";
import { rememberFigures } from "./readability.js";
import { asPlanEdit, asUserEdit, FAILED, isSplit, keyOf, overlap, phraseOf, spanOf } from "./words.js";

export const ORIGINAL = -1; // the choice "Use the original"
export const OWN = -2; // the choice "Write it yourself"
const CANDIDATES = 3;

export class Sentence {
  constructor(number, planned, userConstraints, onChange) {
    this.number = number;
    this.space = planned.space;
    this.source = planned.source;
    this.words = planned.words;
    this.plannedEdits = planned.edits;
    this.strength = planned.strength; // of the plan; null: not stated
    this.plannedUnchanged = planned.unchanged;
    this.userConstraints = userConstraints; // the keep list and glossary of the plan
    this.onChange = onChange; // called with this sentence when it needs to be redrawn
    this.decisions = []; // by the user: {edit or null, span, key}
    this.answer = null;
    this.chosen = 0; // index into the options, or ORIGINAL, or OWN
    this.isChosenByUser = false;
    this.own = null; // the user's own text
    this.accepted = false;
    this.problem = null; // the error of the last request
    this.focusedWord = 0; // the word that Tab reaches
    this.keptWordsOpen = false;
    this.othersRequested = false; // other versions of the text than the first
    this.pending = false;
    this.version = 0; // incremented with every request, to ignore late answers
    this.request = null;
  }

  // Takes over the user's decisions from the same sentence of an earlier plan.
  inherit(old) {
    this.decisions = old.decisions;
    this.own = old.own;
    if (!old.isSettled) return;
    const { plannedEdits, strength, answer, chosen, isChosenByUser, accepted } = old;
    Object.assign(this, { plannedEdits, strength, answer, chosen, isChosenByUser, accepted });
  }

  // The user has chosen or accepted a text: it is rewritten only on request.
  get isSettled() {
    return Boolean(this.answer) && (this.accepted || this.isChosenByUser);
  }

  // The planned edits, replaced by the user's decisions about the same words; in source order.
  get edits() {
    const hidden = (edit) => this.decisions.some((decision) => this.hides(decision, edit));
    const made = this.decisions.filter((decision) => decision.edit).map((decision) => asUserEdit(decision.edit));
    const start = (edit) => spanOf(edit, this.words)?.[0] ?? this.source.length;
    return [...this.plannedEdits.filter((edit) => !hidden(edit)), ...made].sort((a, b) => start(a) - start(b));
  }

  // A rejected keep edit hides only that edit; any other decision hides all planned edits of its span. Splits are
  // independent of the edits of words.
  hides(decision, edit) {
    const coversSpan = (decision.edit || !decision.rejected) && !isSplit(decision.edit) && !isSplit(edit);
    return decision.key === keyOf(edit) || (coversSpan && overlap(decision.span, spanOf(edit, this.words)));
  }

  get rejected() {
    return this.decisions.filter((decision) => decision.rejected);
  }

  // Whether the edit only keeps the words of a rejected edit; the rejection itself is what is shown.
  isRejection(edit) {
    return this.rejected.some((decision) => decision.edit && keyOf(decision.edit) === keyOf(edit));
  }

  isByUser(edit) {
    return this.decisions.some((decision) => decision.edit && keyOf(decision.edit) === keyOf(edit));
  }

  decide(span, edit) {
    const isOther = (decision) => isSplit(decision.edit ?? decision.rejected) || !overlap(decision.span, span);
    this.decisions = this.decisions.filter(isOther);
    this.decisions.push({ edit, span, key: edit && keyOf(edit) });
    this.rewrite();
  }

  // Adds or removes the start of a new sentence.
  toggleSplit(edit) {
    const key = keyOf(edit);
    const [active, planned] = [this.edits, this.plannedEdits].map((edits) => edits.some((other) => keyOf(other) === key));
    if (active && planned) return this.reject(edit);
    this.decisions = this.decisions.filter((decision) => decision.key !== key);
    if (!active && !planned) this.decisions.push({ edit, span: edit.span, key });
    this.rewrite();
  }

  reject(edit) {
    const planned = asPlanEdit(edit);
    const key = keyOf(planned), span = spanOf(planned, this.words);
    this.decisions = this.decisions.filter((decision) => decision.key !== key);
    // Without the edit the model might still change these words, so they are kept explicitly.
    const keep = planned.insert || isSplit(planned) ? null : { insert: phraseOf(planned), span, note: "you rejected its edit" };
    // Stored so that the edit does not return with the next plan and can be restored.
    this.decisions.push({ edit: keep, rejected: planned, span, key });
    this.rewrite();
  }

  restore({ rejected, key }) {
    this.decisions = this.decisions.filter((decision) => decision.key !== key);
    if (!this.plannedEdits.some((edit) => keyOf(edit) === key)) {
      this.decisions.push({ edit: rejected, span: spanOf(rejected, this.words), key });
    }
    this.rewrite();
  }

  // An accepted edit becomes the user's and is kept in the next plan. If it was not done, the sentence is rewritten.
  acceptEdit(edit, accepted) {
    const key = keyOf(edit);
    const made = this.decisions.find((decision) => decision.edit && decision.key === key)?.edit ?? asPlanEdit(edit);
    this.decisions = this.decisions.filter((decision) => decision.key !== key);
    if (accepted) this.decisions.push({ edit: made, span: spanOf(made, this.words), key });
    else if (!this.plannedEdits.some((other) => keyOf(other) === key)) this.plannedEdits = [...this.plannedEdits, made];
    if (accepted && FAILED.includes(edit.status)) return this.rewrite();
    this.onChange(this);
  }

  // Fetches other versions of the text; the first stays the service's own choice.
  async fetchOthers() {
    const { version, answer: shown } = this;
    this.othersRequested = true;
    this.onChange(this);
    try {
      const answer = await post("/v1/simplify", simplifyRequest([this], { candidates: CANDIDATES }), this.request?.signal);
      if (version !== this.version) return;
      this.answer = { ...shown, candidates: answer.sentences[0].candidates };
      announce(`Sentence ${this.number} has ${this.options.length} versions.`);
    } catch (error) {
      if (error.name !== "AbortError") showError(error, () => this.fetchOthers());
      if (version === this.version) this.othersRequested = false;
    }
    this.onChange(this);
  }

  choose(index) {
    Object.assign(this, { chosen: index, isChosenByUser: true });
    if (index === OWN) this.own ??= this.options[0]?.output ?? this.source;
    this.onChange(this);
  }

  // The card is not redrawn, because the text box would lose the cursor.
  write(text) {
    this.own = text;
    this.onChange(this, false);
  }

  accept(accepted) {
    this.accepted = accepted;
    announce(`Sentence ${this.number} is ${accepted ? "accepted" : "no longer accepted"}.`);
    this.onChange(this);
  }

  // The distinct texts to choose from; the first is the service's own choice.
  get options() {
    if (!this.answer) return [];
    const { output, edits, missing, literal, not_done, meaning } = this.answer;
    const first = { output, edits, missing, literal, not_done, meaning };
    const seen = new Set([first.output]);
    const others = (this.answer.candidates ?? []).filter(({ output }) => !seen.has(output) && seen.add(output));
    return [first, ...others];
  }

  get option() {
    return this.options[this.chosen] ?? null;
  }

  get text() {
    return this.chosen === OWN ? this.own : this.option?.output ?? this.source;
  }

  // The edits with their status in the chosen text; the status is unknown for the user's own text and the original.
  get verdicts() {
    if (this.chosen < 0) return this.edits.map((edit) => ({ ...edit, status: "unknown" }));
    return this.pending || !this.option?.edits ? this.edits : this.option.edits;
  }

  statusOf(edit) {
    return this.verdicts.find((other) => keyOf(other) === keyOf(edit))?.status;
  }

  // Edits requested by the user, here or by keep list and glossary, that the chosen text lacks.
  get failed() {
    return this.pending ? [] : this.option?.not_done ?? [];
  }

  // The result of the meaning check of the chosen text if it raised an alarm, else null.
  get meaningAlarm() {
    const meaning = this.option?.meaning;
    return !this.pending && meaning?.alarm ? meaning : null;
  }

  get unchanged() {
    return this.answer ? this.answer.unchanged : this.plannedUnchanged;
  }

  toPlan() {
    const stated = this.strength ? { strength: this.strength } : {};
    return { source: this.source, edits: this.edits.map(asPlanEdit), ...stated };
  }

  toRequest() {
    return { space: this.space, ...this.toPlan() };
  }

  // Starts a request; answers to earlier requests are ignored from now on.
  begin() {
    this.request?.abort();
    this.request = new AbortController();
    this.pending = true;
    this.othersRequested = false;
    this.isChosenByUser = false; // the new request replaces the choice
    this.problem = null;
    this.version += 1;
    return this.version;
  }

  // Stores an answer unless a newer request has started; returns whether it was stored.
  receive(version, answer) {
    if (version !== this.version) return false;
    const keepChoice = this.isChosenByUser && this.chosen < 0; // chosen or written while the request was running
    Object.assign(this, { answer, pending: false, chosen: keepChoice ? this.chosen : 0, isChosenByUser: keepChoice });
    this.onChange(this);
    return true;
  }

  fail(version, problem = null) {
    if (version !== this.version) return;
    Object.assign(this, { pending: false, problem });
    this.onChange(this);
  }

  async rewrite() {
    const version = this.begin();
    this.accepted = false;
    this.onChange(this);
    announce(`Rewriting sentence ${this.number}.`);
    try {
      const answer = await post("/v1/simplify", simplifyRequest([this]), this.request.signal);
      rememberFigures(answer);
      if (this.receive(version, answer.sentences[0])) announce(`Sentence ${this.number} is now: ${this.text}`);
    } catch (error) {
      const isReplaced = error.name === "AbortError"; // by a newer request
      this.fail(version, isReplaced ? null : error);
      if (error.status === 401) showError(error, () => this.rewrite());
      else if (!isReplaced) announce(`Sentence ${this.number} could not be rewritten: ${error.message}`);
    }
  }
}

// Several candidates need a search of every sentence, and one mostly does not: the others are fetched when asked for.
export function simplifyRequest(sentences, { trace = false, candidates = 1 } = {}) {
  const inputs = sentences.map((sentence) => sentence.toRequest());
  const unplanned = inputs.findIndex(({ edits }) => edits === null);
  return { sentences: inputs, candidates, trace, ...sentences[unplanned]?.userConstraints };
}
