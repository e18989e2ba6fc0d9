// Words, edits and spans of a sentence; independent of the page.

// The service counts characters by code point, as Python does; JavaScript strings count UTF-16 units.
export function slicer(text) {
  const points = Array.from(text);
  return (start, end) => points.slice(start, end).join("");
}

export const FAILED = ["unmet", "violated", "impossible"]; // statuses of edits that were not done
export const kindOf = (edit) => ["insert", "delete", "substitute", "split"].find((kind) => kind in edit);
export const phraseOf = (edit) => (edit.split === true ? "" : edit[kindOf(edit)]); // "": a new sentence anywhere
export const isSplit = (edit) => Boolean(edit?.split); // about the position before a word, not about the word
export const overlap = (span, other) => Boolean(span && other && span[0] < other[1] && other[0] < span[1]);
export const keyOf = (edit) => JSON.stringify([kindOf(edit), phraseOf(edit), edit.span ?? null]);

export function describe(edit) {
  if (isSplit(edit)) return edit.split === true ? "new sentence" : `new sentence at ${edit.split}`;
  if (edit.insert) return `keep ${edit.insert}`;
  return edit.delete ? `delete ${edit.delete}` : `${edit.substitute} → ${edit.with.join(" / ")}`;
}

// A replacement that was done, with the one target that the text has.
export function withUsedTarget(edit, text) {
  const used = edit.status === "satisfied" && edit.substitute ? edit.with.find((target) => hasPhrase(text, target)) : null;
  return used ? { ...edit, with: [used] } : edit;
}

const PLAN_KEYS = ["insert", "delete", "substitute", "split", "with", "weight", "span", "probability", "note"];

// An edit in the format of plan files, which does not allow other keys such as the status.
export function asPlanEdit(edit) {
  return Object.fromEntries(PLAN_KEYS.filter((name) => edit[name] != null).map((name) => [name, edit[name]]));
}

// An edit as requested by the user. An edit with a probability is a prediction, which the service need not apply.
export function asUserEdit(edit) {
  const { probability, weight, ...requested } = asPlanEdit(edit);
  return requested;
}

// The span of an edit in the source; without a stated span, the first place where its words occur.
export function spanOf(edit, words) {
  if (edit.span) return edit.span;
  const phrase = phraseOf(edit).toLowerCase().split(/\s+/);
  const matches = (at) => phrase.every((word, i) => words[at + i]?.text.toLowerCase() === word);
  const at = words.findIndex((_, i) => matches(i));
  return at < 0 ? null : [words[at].start, words[at + phrase.length - 1].end];
}

// The words of a sentence that has no plan yet.
export function wordsOf(source) {
  let at = 0;
  return tokens(source).flatMap((text) => {
    const start = at;
    at += lengthOf(text);
    return text.trim() ? [{ text, start, end: at, choices: [] }] : [];
  });
}

export const isWord = (text) => /[\p{L}\p{N}]/u.test(text);
export const lengthOf = (text) => Array.from(text).length;

// Whether a phrase occurs in a text as whole words, in any case.
export function hasPhrase(text, phrase) {
  const fold = (words) => ` ${words.map((word) => word.toLowerCase()).join(" ")} `;
  const wordsIn = (content) => tokens(content).filter((token) => token.trim());
  return fold(wordsIn(text)).includes(fold(wordsIn(phrase)));
}

const tokens = (text) => text.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*|\s+|[^\p{L}\p{N}\s]/gu) ?? [];

// Runs of {kind: "same" | "ins" | "del", text}, by the longest common subsequence of words, punctuation and white space.
export function diff(before, after) {
  const a = tokens(before), b = tokens(after);
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const steps = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      steps.push(["same", a[i++]]);
      j++;
    } else if (j >= b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) steps.push(["del", a[i++]]);
    else steps.push(["ins", b[j++]]);
  }
  return mergeRuns(changeInnerSpace(steps));
}

// White space between two changed words belongs to the change: "in the old town" is one deletion, not four.
function changeInnerSpace(steps) {
  return steps.flatMap(([kind, text], i) => {
    const isInside = steps[i - 1]?.[0] !== "same" && steps[i + 1]?.[0] !== "same" && i > 0 && i < steps.length - 1;
    return kind === "same" && !text.trim() && isInside ? [["del", text], ["ins", text]] : [[kind, text]];
  });
}

// Between unchanged words: one run of all deletions, then one run of all insertions.
function mergeRuns(steps) {
  const runs = [];
  let deleted = "", inserted = "";
  const add = (kind, text) => {
    if (!text) return;
    if (runs.at(-1)?.kind === kind) runs.at(-1).text += text;
    else runs.push({ kind, text });
  };
  const flush = () => {
    const shared = /\s$/.test(deleted) && /\s$/.test(inserted) ? 1 : 0; // a final space of both is unchanged
    add("del", deleted.slice(0, deleted.length - shared));
    add("ins", inserted.slice(0, inserted.length - shared));
    add("same", inserted.slice(inserted.length - shared));
    deleted = inserted = "";
  };
  for (const [kind, text] of steps) {
    if (kind === "del") deleted += text;
    else if (kind === "ins") inserted += text;
    else {
      flush();
      add("same", text);
    }
  }
  flush();
  return runs;
}

// The changes between two texts: what was removed at `start` to `end` of the first, and inserted instead.
export function changesOf(before, after) {
  const changes = [];
  let at = 0, current = null;
  for (const { kind, text } of diff(before, after)) {
    if (kind === "same") {
      at += lengthOf(text);
      current = null;
      continue;
    }
    if (!current) changes.push((current = { start: at, end: at, removed: "", inserted: "" }));
    if (kind === "ins") current.inserted += text;
    else {
      current.removed += text;
      at += lengthOf(text);
      current.end = at;
    }
  }
  return changes;
}

// A text with some changes.
export function withChanges(before, changes) {
  const text = slicer(before);
  let at = 0, result = "";
  for (const { start, end, inserted } of changes) {
    result += text(at, start) + inserted;
    at = end;
  }
  return result + text(at, Infinity);
}

export const sameChange = (a, b) => a.start === b.start && a.end === b.end && a.inserted === b.inserted;
