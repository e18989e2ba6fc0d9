// Words and places in a sentence: no part of this touches the page.

// The service counts characters as Python does, by code point; JavaScript strings count UTF-16 units.
export function slicer(text) {
  const points = Array.from(text);
  return (start, end) => points.slice(start, end).join("");
}

export const FAILED = ["unmet", "violated", "impossible"]; // verdicts of edits that were not carried out
export const kindOf = (edit) => ["insert", "delete", "substitute", "split"].find((kind) => kind in edit);
export const phraseOf = (edit) => (edit.split === true ? "" : edit[kindOf(edit)]); // "": a new sentence anywhere
export const isSplit = (edit) => Boolean(edit?.split); // about the place before a word, not about the word
export const overlap = (one, other) => Boolean(one && other && one[0] < other[1] && other[0] < one[1]);
export const keyOf = (edit) => JSON.stringify([kindOf(edit), phraseOf(edit), edit.span ?? null]);

export function plain(edit) {
  if (isSplit(edit)) return edit.split === true ? "new sentence" : `new sentence at ${edit.split}`;
  if (edit.insert) return `keep ${edit.insert}`;
  return edit.delete ? `leave out ${edit.delete}` : `${edit.substitute} → ${edit.with.join(" / ")}`;
}

const PLAN_KEYS = ["insert", "delete", "substitute", "split", "with", "weight", "span", "probability", "note"];

// An edit as a plan may hold it: verdicts stay out, since unknown keys are refused.
export function asPlanned(edit) {
  return Object.fromEntries(PLAN_KEYS.filter((name) => edit[name] != null).map((name) => [name, edit[name]]));
}

// An edit as a person asks for it: one with a probability is a guess, which the service need not follow.
export function asAsked(edit) {
  const { probability, weight, ...asked } = asPlanned(edit);
  return asked;
}

// Where an edit belongs in the source; one without a span is looked for among the words.
export function placeOf(edit, words) {
  if (edit.span) return edit.span;
  const wanted = phraseOf(edit).toLowerCase().split(/\s+/);
  const fits = (at) => wanted.every((word, i) => words[at + i]?.text.toLowerCase() === word);
  const at = words.findIndex((_, i) => fits(i));
  return at < 0 ? null : [words[at].start, words[at + wanted.length - 1].end];
}

const pieces = (text) => text.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*|\s+|[^\p{L}\p{N}\s]/gu) ?? [];

// Runs of {kind: "same" | "ins" | "del", text}: the longest common sequence of words, signs and white space.
export function diff(before, after) {
  const a = pieces(before), b = pieces(after);
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
  return joined(bridged(steps));
}

// White space between two changed words belongs to the change: "in the old town" is one deletion, not four.
function bridged(steps) {
  return steps.flatMap(([kind, text], i) => {
    const changed = steps[i - 1]?.[0] !== "same" && steps[i + 1]?.[0] !== "same" && i > 0 && i < steps.length - 1;
    return kind === "same" && !text.trim() && changed ? [["del", text], ["ins", text]] : [[kind, text]];
  });
}

// Between unchanged words, what went comes first and what came after it, each in one run.
function joined(steps) {
  const runs = [];
  let gone = "", come = "";
  const add = (kind, text) => {
    if (!text) return;
    if (runs.at(-1)?.kind === kind) runs.at(-1).text += text;
    else runs.push({ kind, text });
  };
  const close = () => {
    const shared = /\s$/.test(gone) && /\s$/.test(come) ? 1 : 0; // a space both end with has not changed
    add("del", gone.slice(0, gone.length - shared));
    add("ins", come.slice(0, come.length - shared));
    add("same", come.slice(come.length - shared));
    gone = come = "";
  };
  for (const [kind, text] of steps) {
    if (kind === "del") gone += text;
    else if (kind === "ins") come += text;
    else {
      close();
      add("same", text);
    }
  }
  close();
  return runs;
}

// A text in parts of some sentences each, so that the first can be read while the rest is still worked on. A sentence
// never goes on over a newline, so that is where parts begin; joined again they are the text.
export function inParts(text, size = 500) {
  const parts = [""];
  for (const line of text.split(/(?=\n)/)) {
    if (parts.at(-1).trim() && parts.at(-1).length + line.length > size) parts.push("");
    parts[parts.length - 1] += line;
  }
  return parts;
}
