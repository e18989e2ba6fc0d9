// The document that is open: its blocks and sentences, the history of decisions, and what the service computed for it.
import { newRecord } from "./decisions.js";
import { History } from "./history.js";
import { requestOf, SentenceView } from "./sentence_view.js";
import { lengthOf, slicer } from "./words.js";

export class Draft {
  // `blocks`: as /v1/documents/open gives them, each with the ids of its `sentences` and the `tail` after them.
  // `original`: name and format of the file; null: the text was pasted. `notes`: what reading the file left out.
  // `computed`: plans and answers by what was asked.
  constructor({ id, title, original, blocks, notes, sentences, mode, history, operations, computed }) {
    Object.assign(this, { id, title, original, blocks, notes, sentences, mode });
    this.history = new History(history);
    this.operations = operations ?? 0; // counts every change of the history, for the journal
    this.computed = computed ?? { plans: new Map(), answers: new Map(), versions: new Map() };
    this.problems = new Map(); // errors of single requests, by request
    this.running = new Set(); // requests in progress
    this.lastAnswers = new Map(); // the answer that is shown while a new one is computed, by sentence
    this.views = new Map();
    this.byId = new Map(sentences.map((sentence) => [sentence.id, sentence]));
  }

  static of({ settings, sentences, ...content }) {
    const records = Object.fromEntries(sentences.map(({ id }) => [id, newRecord(settings)]));
    return new Draft({ ...content, id: newId(), sentences, history: { state: { settings, records } } });
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

  // The view is made anew only if something that it shows has changed.
  view(id) {
    const sentence = this.byId.get(id), record = this.record(id), terms = this.settings;
    const plan = this.computed.plans.get(planKey(record.settings, sentence.source)) ?? null;
    const old = this.views.get(id);
    const isSame = old?.requested.record === record && old.requested.plan === plan && old.requested.terms === terms;
    const requested = isSame ? old.requested : requestOf(sentence, record, plan, terms);
    const shown = this.#shown(requested);
    if (isSame && Object.keys(shown).every((name) => old.shown[name] === shown[name])) return old.view;
    const view = new SentenceView(requested, shown);
    this.views.set(id, { requested, shown, view });
    return view;
  }

  #shown({ sentence, record, requestKey }) {
    const exact = requestKey ? this.computed.answers.get(requestKey) : null;
    if (exact) this.lastAnswers.set(sentence.id, exact);
    const runningKey = requestKey ?? planKey(record.settings, sentence.source);
    return {
      answer: exact ?? this.lastAnswers.get(sentence.id) ?? null,
      isComputed: Boolean(exact),
      isPending: !exact && this.running.has(runningKey),
      versions: this.computed.versions.get(requestKey) ?? null,
      problem: this.problems.get(requestKey) ?? null,
    };
  }

  // The sentences whose plan or text is asked for with one of these keys.
  idsOf(keys) {
    const isAsked = ({ sentence, record, requestKey }) =>
      keys.has(requestKey) || keys.has(planKey(record.settings, sentence.source));
    return this.sentences.map(({ id }) => id).filter((id) => isAsked(this.view(id)));
  }

  get allViews() {
    return this.sentences.map(({ id }) => this.view(id));
  }

  // The text of a block with the chosen text of every sentence.
  blockText(block) {
    return block.sentences.map((id) => this.byId.get(id).space + this.view(id).text).join("") + block.tail;
  }

  get text() {
    const gap = (block, i) => block.gap ?? (i ? "\n\n" : "");
    return this.blocks.map((block, i) => gap(block, i) + this.blockText(block)).join("") + (this.blocks.at(-1)?.after ?? "");
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

// Divides blocks into the sentences that the service found in their texts joined by line breaks. White space between
// blocks, and the colon of a line before its break, belong to no sentence.
export function sentencesOf(blocks, found, firstNumber = 1) {
  const sentences = [];
  const texts = blocks.map(({ text }) => slicer(text)), lengths = blocks.map(({ text }) => lengthOf(text));
  let block = 0, end = 0, at = 0; // in the block: the end of its last sentence, and the place reached
  blocks.forEach((one) => (one.sentences = []));
  const closeBlock = () => {
    blocks[block].tail = texts[block](end, Infinity);
    block += 1;
    end = at = 0;
  };
  for (const { space, source, hard } of found) {
    let skipped = lengthOf(space);
    while (block < blocks.length && at + skipped > lengths[block]) {
      skipped -= lengths[block] - at + 1; // with the line break
      closeBlock();
    }
    at += skipped;
    if (!source) continue;
    const number = firstNumber + sentences.length, id = `s${number}`;
    sentences.push({ id, number, start: at, space: texts[block](end, at), source, hard });
    blocks[block].sentences.push(id);
    at += lengthOf(source);
    end = at;
  }
  while (block < blocks.length) closeBlock();
  return sentences;
}
