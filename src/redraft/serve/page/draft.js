// The document that is open: its blocks and sentences, the history of decisions, and what the service computed for it.
import { newRecord } from "./decisions.js";
import { History } from "./history.js";
import { SentenceView } from "./sentence_view.js";
import { slicer } from "./words.js";

export class Draft {
  // `blocks`: as /v1/documents/open gives them, each with the ids of its `sentences` and the `tail` after them.
  // `original`: name and format of the file; null: the text was pasted. `computed`: plans and answers by what was asked.
  constructor({ id, title, original, blocks, sentences, mode, history, operations, computed }) {
    Object.assign(this, { id, title, original, blocks, sentences, mode });
    this.history = new History(history);
    this.operations = operations ?? 0; // counts every change of the history, for the journal
    this.computed = computed ?? { plans: new Map(), answers: new Map(), versions: new Map() };
    this.problems = new Map(); // errors of single requests, by request
    this.running = new Set(); // requests in progress
    this.lastAnswers = new Map(); // the answer that is shown while a new one is computed, by sentence
    this.views = new Map();
    this.byId = new Map(sentences.map((sentence) => [sentence.id, sentence]));
  }

  static of({ title, original, blocks, sentences, settings, mode }) {
    const records = Object.fromEntries(sentences.map(({ id }) => [id, newRecord(settings)]));
    return new Draft({ id: newId(), title, original, blocks, sentences, mode, history: { state: { settings, records } } });
  }

  get settings() {
    return this.history.state.settings;
  }

  record(id) {
    return this.history.state.records[id];
  }

  // Performs a step of the history; every step has one of these forms, so that the journal can repeat it.
  perform(operation) {
    this.operations += 1;
    if (operation.kind === "undo") return this.history.undo();
    if (operation.kind === "redo") return this.history.redo();
    this.history.commit(operation.label, operation.after, operation.mergeKey);
    return operation;
  }

  planOf(record, source) {
    return this.computed.plans.get(planKey(record.settings, source)) ?? null;
  }

  // The view is made anew only if something that it shows has changed.
  view(id) {
    const sentence = this.byId.get(id), record = this.record(id);
    const plan = this.planOf(record, sentence.source);
    const old = this.views.get(id);
    const isSame = old && old.record === record && old.plan === plan && old.terms === this.settings;
    const base = isSame ? old : new SentenceView(sentence, record, plan, { terms: this.settings });
    const key = base.requestKey;
    const exact = key ? this.computed.answers.get(key) : null;
    if (exact) this.lastAnswers.set(id, exact);
    const shown = {
      answer: exact ?? this.lastAnswers.get(id) ?? null,
      isPending: !exact && (key ? this.running.has(key) : this.running.has(planKey(record.settings, sentence.source))),
      versions: key ? this.computed.versions.get(key) : null,
      problem: key ? this.problems.get(key) ?? null : null,
    };
    if (isSame && old.shown && Object.keys(shown).every((name) => old.shown[name] === shown[name])) return old;
    const view = base.withAnswer(shown);
    view.shown = shown;
    view.isComputed = Boolean(exact);
    this.views.set(id, view);
    return view;
  }

  get allViews() {
    return this.sentences.map(({ id }) => this.view(id));
  }

  // The text of a block with the chosen text of every sentence.
  blockText(block) {
    return block.sentences.map((id) => this.byId.get(id).space + this.view(id).text).join("") + block.tail;
  }

  get text() {
    return this.blocks.map((block, i) => (i ? block.gap ?? "\n\n" : block.gap ?? "") + this.blockText(block)).join("") + (this.blocks.at(-1)?.after ?? "");
  }
}

export const planKey = (settings, source) => `${settings.key}\n${source}`;

// Settings of the plans. Equal settings have equal keys.
export function settingsOf({ strength, keep, glossary }) {
  return { strength, keep, glossary, key: JSON.stringify([strength, keep, glossary]) };
}

const newId = () => `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`;

// Blocks of a pasted text: one for each line that is not empty, with the line breaks before it as its `gap`.
export function blocksOfText(text) {
  const blocks = [];
  let gap = "";
  for (const line of text.split(/(?<=\n)/)) {
    const content = line.replace(/\r?\n$/, "");
    if (content.trim()) {
      blocks.push({ kind: "paragraph", level: 0, text: content, formatting: [], gap });
      gap = line.slice(content.length);
    } else gap += line;
  }
  if (blocks.length) blocks.at(-1).after = gap;
  return blocks;
}

// Divides blocks into their sentences, as the service found them in the blocks' texts joined by line breaks.
export function sentencesOf(blocks, found, firstNumber = 1) {
  const sentences = [];
  let block = 0, at = 0, number = firstNumber; // `at`: characters of the block that are in sentences already
  const texts = blocks.map((one) => slicer(one.text)), lengths = blocks.map((one) => Array.from(one.text).length);
  blocks.forEach((one) => (one.sentences = []));
  const nextBlock = () => {
    blocks[block].tail = texts[block](at, Infinity);
    block += 1;
    at = 0;
  };
  for (const { space, source, hard } of found) {
    let before = Array.from(space).length;
    // White space between blocks, and the colon of a line before its break, belong to no sentence.
    while (block < blocks.length && at + before > lengths[block]) {
      before -= lengths[block] - at + 1;
      nextBlock();
    }
    if (!source) continue;
    const id = `s${number}`;
    sentences.push({ id, number: number++, start: at + before, space: texts[block](at, at + before), source, hard });
    blocks[block].sentences.push(id);
    at += before + Array.from(source).length;
  }
  while (block < blocks.length) nextBlock();
  return sentences;
}
