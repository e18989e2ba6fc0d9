// "How it was found": what happened to a sentence, in words.
import { counted, percent } from "./dom.js";
import { describe, FAILED, isSplit, withUsedTarget } from "./words.js";

export function howItWasFound(view) {
  const { chosen } = view.record;
  if (chosen.kind === "own") return "You wrote this text. It was not checked.";
  if (chosen.kind === "original") return "This is the original sentence: you chose to leave it as it is.";
  if (view.unchanged) return `The sentence was left as it is: ${view.unchanged}`;
  return [asked(view), written(view), done(view), checked(view)].filter(Boolean).join(" ");
}

function asked(view) {
  const changes = view.verdicts.filter((edit) => !edit.insert), kept = view.verdicts.length - changes.length;
  const yours = changes.filter((edit) => view.isByEditor(edit)).length;
  const words = kept ? `, and ${counted(kept, "word")} to stay` : "";
  if (!changes.length) return `The plan for this sentence asked for no change${words}.`;
  const what = changes.map((edit) => (isSplit(edit) ? "a new sentence" : describe(withUsedTarget(edit, view.text)))).join("; ");
  return `The plan asked for ${counted(changes.length, "change")}${yours ? ` (${yours} of them yours)` : ""}: ${what}${words}.`;
}

function written(view) {
  if (!view.isChanged) return "The best text is the source itself.";
  if (view.isLiteral) return "No text of the model was good enough, so the edits were applied word by word.";
  return "The model wrote the sentence with this plan.";
}

function done(view) {
  const changes = view.verdicts.filter((edit) => !edit.insert);
  const failed = changes.filter((edit) => FAILED.includes(edit.status)).length;
  const own = view.unasked.length ? `The model made ${counted(view.unasked.length, "change")} that no edit asked for.` : "";
  if (!changes.length) return own;
  const all = "All of it is in the text.", some = `${changes.length - failed} of ${counted(changes.length, "change")} are in the text.`;
  return `${failed ? some : all} ${own}`.trim();
}

function checked(view) {
  const meaning = view.option?.meaning;
  if (!meaning) return "";
  return `${meaning.alarm ? `The check warns: ${meaning.why}` : "The check found nothing wrong"} (risk ${percent(meaning.risk)}).`;
}
