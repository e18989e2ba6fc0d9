// What was decided, in order, so that every decision can be undone and redone.
//
// A step has the values that it changed, before and after: `records` of sentences by id, and `settings` of the document.
// Values are never changed in place, so a step is small, and an undone step restores exactly what was there.

const LONGEST = 2000; // steps

export class History {
  constructor({ state, done = [], undone = [] }) {
    Object.assign(this, { state, done, undone });
  }

  // Steps with the same `mergeKey` in a row, as of one typed text, count as one.
  commit(label, after, mergeKey = null) {
    const before = this.#present(after);
    const last = this.done.at(-1);
    if (mergeKey && last?.mergeKey === mergeKey && !this.undone.length) {
      this.done[this.done.length - 1] = { ...last, after };
    } else this.done = [...this.done, { label, before, after, mergeKey }].slice(-LONGEST);
    this.undone = [];
    this.#apply(after);
  }

  undo() {
    return this.#move("done", "undone", "before");
  }

  redo() {
    return this.#move("undone", "done", "after");
  }

  // Takes the last step of one list to the other; returns it, or null if there is none.
  #move(from, to, side) {
    const step = this[from].at(-1);
    if (!step) return null;
    this[from] = this[from].slice(0, -1);
    this[to] = [...this[to], step];
    this.#apply(step[side]);
    return step;
  }

  #present({ records = {}, settings }) {
    const present = { records: Object.fromEntries(Object.keys(records).map((id) => [id, this.state.records[id]])) };
    return settings ? { ...present, settings: this.state.settings } : present;
  }

  #apply({ records = {}, settings = this.state.settings }) {
    this.state = { settings, records: { ...this.state.records, ...records } };
  }

  saved() {
    return { state: this.state, done: this.done, undone: this.undone };
  }
}
