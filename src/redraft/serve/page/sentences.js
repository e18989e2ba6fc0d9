// The state of one sentence: what was planned, what a person decided by hand, and what the service wrote.
import { ask, say, showProblem } from "./common.js";
import { asPlanned, keyOf, overlap, placeOf } from "./words.js";

export const ORIGINAL = -1; // the choice "Use the original"
const CANDIDATES = 3;

export class Sentence {
  constructor(number, planned, onChange) {
    this.number = number;
    this.space = planned.space;
    this.source = planned.source;
    this.words = planned.words;
    this.planned = planned.edits;
    this.leftAlone = planned.unchanged;
    this.onChange = onChange; // called with this sentence whenever there is something new to draw
    this.decisions = []; // by hand: {edit or null, span, key}
    this.answer = null;
    this.chosen = 0;
    this.accepted = false;
    this.pending = false;
    this.version = 0; // grows with every request, so that a late answer is known to be late
    this.request = null;
  }

  // Takes over what a person did to the same sentence before it was planned anew.
  inherit(old) {
    this.decisions = old.decisions;
    if (!old.accepted) return;
    Object.assign(this, { planned: old.planned, answer: old.answer, chosen: old.chosen, accepted: true });
  }

  // The plan, with every decision by hand in the place of what it is about; in the order of the source.
  get edits() {
    const hidden = (edit) => this.decisions.some((decision) => this.hides(decision, edit));
    const made = this.decisions.filter((decision) => decision.edit).map((decision) => decision.edit);
    const start = (edit) => placeOf(edit, this.words)?.[0] ?? this.source.length;
    return [...this.planned.filter((edit) => !hidden(edit)), ...made].sort((a, b) => start(a) - start(b));
  }

  // A rejection is about one edit; any other decision is about its place, whatever is planned there.
  hides(decision, edit) {
    return decision.key === keyOf(edit) || (!decision.rejected && overlap(decision.span, placeOf(edit, this.words)));
  }

  get rejected() {
    return this.decisions.filter((decision) => decision.rejected);
  }

  isByHand(edit) {
    return this.decisions.some((decision) => decision.edit && keyOf(decision.edit) === keyOf(edit));
  }

  decide(span, edit) {
    this.decisions = this.decisions.filter((decision) => !overlap(decision.span, span));
    this.decisions.push({ edit, span, key: edit && keyOf(edit) });
    this.rewrite();
  }

  reject(edit) {
    const planned = asPlanned(edit);
    this.decisions = this.decisions.filter((decision) => decision.key !== keyOf(edit));
    // Remembered, so that it does not come back with the next plan, and can be put back.
    this.decisions.push({ edit: null, rejected: planned, span: placeOf(planned, this.words), key: keyOf(planned) });
    this.rewrite();
  }

  putBack({ rejected, key }) {
    this.decisions = this.decisions.filter((decision) => decision.key !== key);
    if (!this.planned.some((edit) => keyOf(edit) === key)) {
      this.decisions.push({ edit: rejected, span: placeOf(rejected, this.words), key });
    }
    this.rewrite();
  }

  // An accepted edit counts as decided by hand, so it outlives the next plan; nothing needs to be written anew.
  acceptEdit(edit, accepted) {
    const planned = asPlanned(edit);
    this.decisions = this.decisions.filter((decision) => decision.key !== keyOf(planned));
    if (accepted) this.decisions.push({ edit: planned, span: placeOf(planned, this.words), key: keyOf(planned) });
    else if (!this.planned.some((one) => keyOf(one) === keyOf(planned))) this.planned = [...this.planned, planned];
    this.onChange(this);
  }

  choose(index) {
    this.chosen = index;
    this.onChange(this);
  }

  accept(accepted) {
    this.accepted = accepted;
    this.onChange(this);
  }

  // The different texts to choose from; the first is the service's own choice.
  get options() {
    if (!this.answer) return [];
    const first = { output: this.answer.output, edits: this.answer.edits, missing: this.answer.missing };
    const seen = new Set([first.output]);
    const others = (this.answer.candidates ?? []).filter(({ output }) => !seen.has(output) && seen.add(output));
    return [first, ...others];
  }

  get option() {
    return this.chosen === ORIGINAL ? null : this.options[this.chosen] ?? null;
  }

  get text() {
    return this.option?.output ?? this.source;
  }

  get verdicts() {
    const judged = this.option?.edits ?? this.answer?.edits;
    return this.pending || !judged ? this.edits : judged;
  }

  get unchanged() {
    return this.answer?.unchanged ?? this.leftAlone;
  }

  toPlan() {
    return { source: this.source, edits: this.edits.map(asPlanned) };
  }

  toRequest() {
    return { space: this.space, ...this.toPlan() };
  }

  // From here on, answers to earlier requests are too late.
  begin() {
    this.request?.abort();
    this.request = new AbortController();
    this.pending = true;
    this.version += 1;
    return this.version;
  }

  // Takes an answer unless a newer request was begun since; says whether it did.
  take(version, answer) {
    if (version !== this.version) return false;
    Object.assign(this, { answer, pending: false, chosen: 0 });
    this.onChange(this);
    return true;
  }

  giveUp(version) {
    if (version !== this.version) return;
    this.pending = false;
    this.onChange(this);
  }

  async rewrite() {
    const version = this.begin();
    this.accepted = false;
    this.onChange(this);
    say(`Rewriting sentence ${this.number}.`);
    try {
      const answer = await ask("/v1/simplify", simplifyRequest([this]), this.request.signal);
      if (this.take(version, answer.sentences[0])) say(`Sentence ${this.number} is now: ${this.text}`);
    } catch (error) {
      this.giveUp(version);
      showProblem(error, () => this.rewrite());
    }
  }
}

export function simplifyRequest(sentences, trace = false) {
  return { sentences: sentences.map((sentence) => sentence.toRequest()), candidates: CANDIDATES, trace };
}
