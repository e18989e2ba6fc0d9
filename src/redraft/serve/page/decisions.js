// What an editor decides about one sentence. A record of decisions is never changed in place: every function returns a
// new one.
import { asPlanEdit, isSplit, keyOf, overlap, phraseOf, sameChange, spanOf } from "./words.js";

export const BY_EDITOR = "your choice";

// `settings`: those of the plan. `decisions`: about edits. `chosen`: which text. `restored`: changes of the text that no
// edit asked for and that the editor rejected. `own`: the editor's text, kept while another one is chosen. `reviewed`:
// "accepted", "rejected" or null.
export function newRecord(settings) {
  return { settings, decisions: [], chosen: { kind: "first" }, restored: [], own: null, reviewed: null };
}

// Other decisions about edits give another text, which nobody has read yet.
const withDecisions = (record, decisions) => ({ ...record, decisions, chosen: { kind: "first" }, reviewed: null });

// The editor has chosen or accepted a text: other settings do not change it.
export const isSettled = (record) => Boolean(record.reviewed) || record.chosen.kind !== "first";

// The decisions that do not concern the words of `span`; splits are independent of the edits of words.
const besides = (span, record) => record.decisions.filter((one) => isSplit(one.edit ?? one.rejected) || !overlap(one.span, span));

// `edit`: what to do with the words of `span`; null: nothing.
export function decided(record, span, edit) {
  const made = edit && { ...edit, note: BY_EDITOR };
  return withDecisions(record, [...besides(span, record), { edit: made, span, key: made && keyOf(made) }]);
}

// Adds or removes the start of a new sentence. `edits`: of the sentence now; `planned`: those of its plan.
export function splitToggled(record, edit, { edits, planned, words }) {
  const key = keyOf(edit);
  const [isActive, isPlanned] = [edits, planned].map((list) => list.some((other) => keyOf(other) === key));
  if (isActive && isPlanned) return editRejected(record, edit, words);
  const others = record.decisions.filter((one) => one.key !== key);
  const added = isActive || isPlanned ? [] : [{ edit: { ...edit, note: BY_EDITOR }, span: edit.span, key }];
  return withDecisions(record, [...others, ...added]);
}

export function editRejected(record, edit, words) {
  const planned = asPlanEdit(edit);
  const key = keyOf(planned), span = spanOf(planned, words);
  const isIndependent = Boolean(planned.insert) || isSplit(planned);
  // Without the edit the model might still change these words, so they are kept explicitly.
  const keep = isIndependent ? null : { insert: phraseOf(planned), span, note: "you rejected its edit" };
  const others = (isIndependent ? record.decisions : besides(span, record)).filter((one) => one.key !== key);
  // Stored so that the edit does not return with the next plan and can be restored.
  return withDecisions(record, [...others, { edit: keep, rejected: planned, span, key }]);
}

export function editRestored(record, { rejected, key, span }, planned) {
  const others = (isSplit(rejected) ? record.decisions : besides(span, record)).filter((one) => one.key !== key);
  const isPlanned = planned.some((edit) => keyOf(edit) === key);
  return withDecisions(record, isPlanned ? others : [...others, { edit: rejected, span, key }]);
}

// A change that no edit asked for: the words of the source come back in its place.
export const changeRejected = (record, change) => ({ ...record, restored: [...record.restored, change], reviewed: null });

export const changeRestored = (record, change) => ({
  ...record, restored: record.restored.filter((other) => !sameChange(other, change)), reviewed: null,
});

export const choseFirst = (record) => ({ ...record, chosen: { kind: "first" } });
export const choseOriginal = (record) => ({ ...record, chosen: { kind: "original" } });
export const choseVersion = (record, output) => ({ ...record, chosen: { kind: "version", output } });
export const wrote = (record, text) => ({ ...record, own: text, chosen: { kind: "own", text } });

export function accepted(record) {
  return { ...(record.reviewed === "rejected" ? choseFirst(record) : record), reviewed: "accepted" };
}

export const rejected = (record) => ({ ...choseOriginal(record), reviewed: "rejected" });
export const unreviewed = (record) => ({ ...(record.reviewed === "rejected" ? choseFirst(record) : record), reviewed: null });
