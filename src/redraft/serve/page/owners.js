// Which edit asked for which change of a text. A change without an owner was the model's own.
import { changesOf, isSplit, overlap, slicer, spanOf } from "./words.js";

// The changes between source and output; `owner`: the edit that was carried out there, or null.
export function ownedChanges(source, output, edits, words) {
  const placed = edits.map((edit) => ({ edit, span: spanOf(edit, words) })).filter(({ edit, span }) => span || edit.split === true);
  return changesOf(source, output)
    .flatMap((change) => divided(change, placed.filter(({ edit }) => edit.substitute), slicer(source)))
    .map((change) => ({ ...change, owner: change.owner ?? ownerOf(change, placed) }));
}

// Cuts a replacement that an edit asked for out of a longer change: "They purchased" → "So they bought" has one, and the
// rest was not asked for.
function divided(change, substitutions, text) {
  const inserted = change.inserted.toLowerCase();
  for (const { edit, span: [start, end] } of substitutions) {
    if (start < change.start || end > change.end) continue;
    const target = edit.with.find((one) => isAt(inserted, one.toLowerCase()));
    if (!target) continue;
    const at = inserted.indexOf(target.toLowerCase());
    const part = (from, to, content) => withoutSharedSpace({ start: from, end: to, removed: text(from, to), inserted: content });
    const before = part(change.start, start, change.inserted.slice(0, at));
    const after = part(end, change.end, change.inserted.slice(at + target.length));
    const others = substitutions.filter((one) => one.edit !== edit);
    const rest = [before, after].map((one) => (one.removed === one.inserted ? [] : divided(one, others, text)));
    return [...rest[0], { ...part(start, end, change.inserted.slice(at, at + target.length)), owner: edit }, ...rest[1]];
  }
  return [change];
}

// White space at an end of both texts is unchanged.
function withoutSharedSpace(change) {
  const { start, end, removed, inserted } = change;
  if (/\s$/.test(removed) && /\s$/.test(inserted)) {
    return withoutSharedSpace({ start, end: end - 1, removed: removed.slice(0, -1), inserted: inserted.slice(0, -1) });
  }
  if (/^\s/.test(removed) && /^\s/.test(inserted)) {
    return withoutSharedSpace({ start: start + 1, end, removed: removed.slice(1), inserted: inserted.slice(1) });
  }
  return change;
}

const isAt = (text, phrase) => ` ${text.replace(/[^\p{L}\p{N}'’-]+/gu, " ")} `.includes(` ${phrase} `) && text.includes(phrase);

function ownerOf({ start, end, inserted }, placed) {
  const isNear = (span, margin) => start <= span[1] + margin && end >= span[0] - margin;
  const targetWords = (edit) => new Set(edit.with.join(" ").toLowerCase().split(/\s+/));
  const asked = placed.find(({ edit, span }) => {
    if (isSplit(edit)) return span === null || isNear(span, 2); // with the punctuation and the conjunction before it
    if (overlap(span, [start, end])) return true;
    // "use" → "make use of": the words around a word that stays.
    if (!edit.substitute || start !== end || !isNear(span, 1)) return false;
    return inserted.toLowerCase().trim().split(/\s+/).every((word) => targetWords(edit).has(word));
  });
  return asked?.edit ?? null;
}
