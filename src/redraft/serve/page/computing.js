// Has the sentences of a document planned and rewritten: only those whose plan or text is not known yet.
import { post } from "./requests.js";
import { planKey } from "./draft.js";

const FIRST_REQUEST = 2, LATER_REQUESTS = 8; // sentences: the first ones appear soon, the others take fewer requests
const PART = 500; // characters that are planned together
const VERSIONS = 3;

export class Computing {
  // `onChange(ids)`: sentences to draw again; `onState(state)`: "working", "done", "stopped" or an error.
  constructor(draft, { onChange, onState, onComputed }) {
    Object.assign(this, { draft, onChange, onState, onComputed });
    this.bulk = null; // the AbortController of the run over the whole document
    this.single = new Map(); // those of sentences that are rewritten at once, by sentence
  }

  get isRunning() {
    return Boolean(this.bulk);
  }

  get missing() {
    return this.draft.mode === "simplify" ? this.draft.sentences.filter(({ id }) => this.#isMissing(id)) : [];
  }

  #isMissing(id) {
    const view = this.draft.view(id);
    return !view.isComputed && !view.problem;
  }

  stop() {
    this.bulk?.abort();
  }

  close() {
    this.stop();
    this.single.forEach((controller) => controller.abort());
  }

  // Plans and rewrites part by part until nothing is missing.
  async run() {
    this.stop();
    const controller = (this.bulk = new AbortController());
    let state = "done";
    this.onState("working");
    try {
      let size = FIRST_REQUEST;
      for (let part = this.#nextPart(); part.length; part = this.#nextPart()) {
        await this.#plan(part, controller.signal);
        for (let left = this.#open(part); left.length; left = this.#open(part)) {
          await this.#rewriteBatch(left.slice(0, size), controller.signal);
          size = LATER_REQUESTS;
        }
      }
    } catch (error) {
      state = error.name === "AbortError" ? "stopped" : error;
    }
    if (this.bulk !== controller) return; // replaced by another run
    this.bulk = null;
    this.onState(state);
  }

  // Rewrites a sentence without waiting for the run over the document.
  async rewrite(id) {
    this.single.get(id)?.abort();
    if (!this.#isMissing(id)) return;
    const controller = new AbortController();
    this.single.set(id, controller);
    try {
      await this.#rewriteBatch([id], controller.signal);
    } catch (error) {
      if (error.name !== "AbortError") this.onState(error);
    }
  }

  retry(id) {
    this.draft.problems.delete(this.draft.view(id).requestKey);
    return this.rewrite(id);
  }

  // Fetches other versions of a text; the first stays the service's own choice.
  async fetchVersions(id) {
    const { request, requestKey, sentence } = this.draft.view(id);
    const input = { space: sentence.space, ...request };
    const answer = await post("/v1/simplify", { sentences: [input], candidates: VERSIONS });
    this.draft.computed.versions.set(requestKey, answer.sentences[0].candidates);
    this.onComputed();
    this.onChange([id]);
  }

  // The blocks of the next sentences without a text, up to a number of characters.
  #nextPart() {
    const isOpen = ({ sentences }) => sentences.some((id) => this.#isMissing(id) && !this.#isRunningElsewhere(id));
    const part = [];
    let size = 0;
    for (const block of this.draft.blocks.filter(isOpen)) {
      if (part.length && size + block.text.length > PART) break;
      part.push(block);
      size += block.text.length;
    }
    return part;
  }

  #isRunningElsewhere(id) {
    return this.draft.running.has(this.draft.view(id).requestKey);
  }

  #open(part) {
    const ids = part.flatMap(({ sentences }) => sentences);
    return ids.filter((id) => this.#isMissing(id) && this.draft.view(id).request && !this.#isRunningElsewhere(id));
  }

  // Plans blocks, once for each of the settings that their sentences have.
  async #plan(part, signal) {
    const { draft } = this;
    const unplanned = part.flatMap(({ sentences }) => sentences).filter((id) => this.#isMissing(id) && !draft.view(id).plan);
    const settings = new Map(unplanned.map((id) => [draft.record(id).settings.key, draft.record(id).settings]));
    for (const one of settings.values()) {
      const { strength, keep, glossary } = one;
      const ids = unplanned.filter((id) => draft.record(id).settings.key === one.key);
      const keys = ids.map((id) => planKey(one, draft.byId.get(id).source));
      await this.#while(keys, async () => {
        const text = part.map((block) => block.text).join("\n");
        const answer = await post("/v1/plan", { text, strength, keep, glossary }, signal);
        for (const { source, edits, words, strength: stated, unchanged } of answer.sentences) {
          draft.computed.plans.set(planKey(one, source), { edits, words, strength: stated, unchanged });
        }
        // A sentence that the service divides otherwise beside other text: no edits, and its own words.
        keys.filter((key) => !draft.computed.plans.has(key)).forEach((key) => draft.computed.plans.set(key, { edits: [] }));
      });
    }
  }

  async #rewriteBatch(ids, signal) {
    const { draft } = this;
    const views = ids.map((id) => draft.view(id));
    try {
      await this.#while(views.map(({ requestKey }) => requestKey), async () => {
        const sentences = views.map(({ sentence, request }) => ({ space: sentence.space, ...request }));
        const answer = await post("/v1/simplify", { sentences }, signal);
        answer.sentences.forEach((one, i) => draft.computed.answers.set(views[i].requestKey, one));
      });
    } catch (error) {
      if (![400, 504].includes(error.status)) throw error; // not caused by these sentences
      if (ids.length === 1) {
        draft.problems.set(views[0].requestKey, { message: error.message, hint: error.hint });
        return this.onChange(ids);
      }
      for (const id of ids) await this.#rewriteBatch([id], signal);
    }
  }

  // Equal sentences share a request, so an answer may be for more of them than were sent.
  async #while(keys, work) {
    const ids = this.draft.idsOf(new Set(keys));
    keys.forEach((key) => this.draft.running.add(key));
    this.onChange(ids);
    try {
      await work();
      this.onComputed();
    } finally {
      keys.forEach((key) => this.draft.running.delete(key));
      this.onChange(ids);
    }
  }
}
