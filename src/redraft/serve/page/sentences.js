// The state of one sentence: what was planned, what a person decided by hand, and what the service wrote.
import { ask, say, showProblem } from "./common.js";
import { asAsked, asPlanned, FAILED, isSplit, keyOf, overlap, phraseOf, placeOf } from "./words.js";

export const ORIGINAL = -1; // the choice "Use the original"
export const OWN = -2; // the choice "Write it yourself"
const CANDIDATES = 3;

export class Sentence {
  constructor(number, planned, wishes, onChange) {
    this.number = number;
    this.space = planned.space;
    this.source = planned.source;
    this.words = planned.words;
    this.planned = planned.edits;
    this.strength = planned.strength; // of the plan; null: not stated
    this.leftAlone = planned.unchanged;
    this.wishes = wishes; // keep list and glossary that it was planned with
    this.onChange = onChange; // called with this sentence whenever there is something new to draw
    this.decisions = []; // by hand: {edit or null, span, key}
    this.answer = null;
    this.chosen = 0; // of the options, or ORIGINAL, or OWN
    this.isChosen = false; // by a person
    this.own = null; // what a person wrote in its place
    this.accepted = false;
    this.problem = null; // why it could not be rewritten
    this.at = 0; // the word that Tab leads to
    this.keepsOpen = false;
    this.pending = false;
    this.version = 0; // grows with every request, so that a late answer is known to be late
    this.request = null;
  }

  // Takes over what a person did to the same sentence before it was planned anew.
  inherit(old) {
    this.decisions = old.decisions;
    this.own = old.own;
    if (!old.isSettled) return;
    const { planned, strength, answer, chosen, isChosen, accepted } = old;
    Object.assign(this, { planned, strength, answer, chosen, isChosen, accepted });
  }

  // A person has decided about the whole sentence: it is not written anew unless asked for.
  get isSettled() {
    return Boolean(this.answer) && (this.accepted || this.isChosen);
  }

  // The plan, with every decision by hand in the place of what it is about; in the order of the source.
  get edits() {
    const hidden = (edit) => this.decisions.some((decision) => this.hides(decision, edit));
    const made = this.decisions.filter((decision) => decision.edit).map((decision) => asAsked(decision.edit));
    const start = (edit) => placeOf(edit, this.words)?.[0] ?? this.source.length;
    return [...this.planned.filter((edit) => !hidden(edit)), ...made].sort((a, b) => start(a) - start(b));
  }

  // To reject a word that stays is about that edit; any other decision is about its place, whatever is planned there.
  // What becomes of a word and whether a sentence begins there do not hide each other.
  hides(decision, edit) {
    const isPlace = (decision.edit || !decision.rejected) && !isSplit(decision.edit) && !isSplit(edit);
    return decision.key === keyOf(edit) || (isPlace && overlap(decision.span, placeOf(edit, this.words)));
  }

  get rejected() {
    return this.decisions.filter((decision) => decision.rejected);
  }

  // The wish to keep what a rejected edit would have changed; the rejection itself is what is shown.
  isRejection(edit) {
    return this.rejected.some((decision) => decision.edit && keyOf(decision.edit) === keyOf(edit));
  }

  isByHand(edit) {
    return this.decisions.some((decision) => decision.edit && keyOf(decision.edit) === keyOf(edit));
  }

  decide(span, edit) {
    const isOther = (decision) => isSplit(decision.edit ?? decision.rejected) || !overlap(decision.span, span);
    this.decisions = this.decisions.filter(isOther);
    this.decisions.push({ edit, span, key: edit && keyOf(edit) });
    this.rewrite();
  }

  // Asks for a new sentence, or no longer does.
  toggleSplit(edit) {
    const key = keyOf(edit);
    const [asked, planned] = [this.edits, this.planned].map((edits) => edits.some((one) => keyOf(one) === key));
    if (asked && planned) return this.reject(edit);
    this.decisions = this.decisions.filter((decision) => decision.key !== key);
    if (!asked && !planned) this.decisions.push({ edit, span: edit.span, key });
    this.rewrite();
  }

  reject(edit) {
    const planned = asPlanned(edit);
    const key = keyOf(planned), span = placeOf(planned, this.words);
    this.decisions = this.decisions.filter((decision) => decision.key !== key);
    // Without the edit the model might still write something else: the words of the source are asked to stay.
    const keep = planned.insert || isSplit(planned) ? null : { insert: phraseOf(planned), span, note: "you rejected its edit" };
    // Remembered, so that it does not come back with the next plan, and can be put back.
    this.decisions.push({ edit: keep, rejected: planned, span, key });
    this.rewrite();
  }

  putBack({ rejected, key }) {
    this.decisions = this.decisions.filter((decision) => decision.key !== key);
    if (!this.planned.some((edit) => keyOf(edit) === key)) {
      this.decisions.push({ edit: rejected, span: placeOf(rejected, this.words), key });
    }
    this.rewrite();
  }

  // An accepted edit counts as asked for and outlives the next plan. Where it was not done, the sentence is written anew.
  acceptEdit(edit, accepted) {
    const key = keyOf(edit);
    const made = this.decisions.find((decision) => decision.edit && decision.key === key)?.edit ?? asPlanned(edit);
    this.decisions = this.decisions.filter((decision) => decision.key !== key);
    if (accepted) this.decisions.push({ edit: made, span: placeOf(made, this.words), key });
    else if (!this.planned.some((one) => keyOf(one) === key)) this.planned = [...this.planned, made];
    if (accepted && FAILED.includes(edit.status)) return this.rewrite();
    this.onChange(this);
  }

  choose(index) {
    Object.assign(this, { chosen: index, isChosen: true });
    if (index === OWN) this.own ??= this.options[0]?.output ?? this.source;
    this.onChange(this);
  }

  // The card is not drawn anew, which would take the cursor out of the box.
  write(text) {
    this.own = text;
    this.onChange(this, false);
  }

  accept(accepted) {
    this.accepted = accepted;
    say(`Sentence ${this.number} is ${accepted ? "accepted" : "open again"}.`);
    this.onChange(this);
  }

  // The different texts to choose from; the first is the service's own choice.
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

  // Edits with what became of each in the text chosen; of a person's own text the service knows nothing.
  get verdicts() {
    if (this.chosen < 0) return this.edits.map((edit) => ({ ...edit, status: "unknown" }));
    return this.pending || !this.option?.edits ? this.edits : this.option.edits;
  }

  statusOf(edit) {
    return this.verdicts.find((one) => keyOf(one) === keyOf(edit))?.status;
  }

  // What a person asked for, here or by keep list and glossary, and the text chosen does not show.
  get failed() {
    return this.pending ? [] : this.option?.not_done ?? [];
  }

  // Why the text chosen may not say the same as the source; null where nothing speaks for it.
  get doubt() {
    const meaning = this.option?.meaning;
    return !this.pending && meaning?.alarm ? meaning : null;
  }

  get unchanged() {
    return this.answer ? this.answer.unchanged : this.leftAlone;
  }

  toPlan() {
    const stated = this.strength ? { strength: this.strength } : {};
    return { source: this.source, edits: this.edits.map(asPlanned), ...stated };
  }

  toRequest() {
    return { space: this.space, ...this.toPlan() };
  }

  // From here on, answers to earlier requests are too late.
  begin() {
    this.request?.abort();
    this.request = new AbortController();
    this.pending = true;
    this.isChosen = false; // what is asked for now is newer
    this.problem = null;
    this.version += 1;
    return this.version;
  }

  // Takes an answer unless a newer request was begun since; says whether it did.
  take(version, answer) {
    if (version !== this.version) return false;
    const stays = this.isChosen && this.chosen < 0; // chosen or written while this was under way
    Object.assign(this, { answer, pending: false, chosen: stays ? this.chosen : 0, isChosen: stays });
    this.onChange(this);
    return true;
  }

  giveUp(version, problem = null) {
    if (version !== this.version) return;
    Object.assign(this, { pending: false, problem });
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
      const replaced = error.name === "AbortError"; // by a newer request
      this.giveUp(version, replaced ? null : error);
      if (error.status === 401) showProblem(error, () => this.rewrite());
      else if (!replaced) say(`Sentence ${this.number} could not be rewritten: ${error.message}`);
    }
  }
}

export function simplifyRequest(sentences, trace = false) {
  const asked = sentences.map((sentence) => sentence.toRequest());
  const unplanned = asked.findIndex(({ edits }) => edits === null);
  return { sentences: asked, candidates: CANDIDATES, trace, ...sentences[unplanned]?.wishes };
}
