// The review: which sentences somebody should read, in which order, and how many are left.
import { byId, button, counted, el } from "./dom.js";

// Sentences at risk first, by their risk; then the other changed ones, in the order of the text.
export function reviewQueue(draft) {
  const views = draft.allViews.filter((view) => view.needsReview);
  return views.sort((a, b) => b.risk - a.risk || a.sentence.number - b.sentence.number).map(({ sentence }) => sentence.id);
}

export function unreviewedCount(draft) {
  return draft.allViews.filter((view) => view.needsReview && !view.record.reviewed).length;
}

// The sentence `change` places after the given one in the queue; null: there is none. After the last comes the first.
export function neighbour(draft, id, change) {
  const queue = reviewQueue(draft);
  if (!queue.length) return null;
  const at = queue.indexOf(id);
  return at < 0 ? queue[change > 0 ? 0 : queue.length - 1] : queue[(at + change + queue.length) % queue.length];
}

// The next sentence that nobody has reviewed, after the given one if there is any.
export function nextUnreviewed(draft, id) {
  const queue = reviewQueue(draft), at = queue.indexOf(id);
  const order = [...queue.slice(at + 1), ...queue.slice(0, Math.max(0, at))];
  return order.find((other) => !draft.record(other).reviewed) ?? null;
}

export function withoutRisk(draft) {
  const views = draft.allViews.filter((view) => view.isChanged && !view.isAtRisk && !view.isPending && !view.record.reviewed);
  return views.map(({ sentence }) => sentence.id);
}

export function drawReview(draft, selected, isWorking) {
  const queue = reviewQueue(draft), left = unreviewedCount(draft);
  const risky = draft.allViews.filter((view) => view.isAtRisk && !view.record.reviewed);
  const parts = [`${queue.length - left} of ${counted(queue.length, "changed sentence")} reviewed`];
  if (risky.length) parts.push(`${risky.length} at risk`);
  byId("counter").textContent = isWorking || queue.length ? parts.join(" · ") : "No sentence was changed.";
  byId("bar").max = Math.max(1, queue.length);
  byId("bar").value = queue.length - left;
  const view = selected && draft.view(selected.id);
  const canDecide = Boolean(view) && !view.isPending && (Boolean(view.answer) || view.record.chosen.kind !== "first");
  for (const [id, name] of [["accept", "accepted"], ["reject", "rejected"]]) {
    byId(id).disabled = !canDecide;
    byId(id).setAttribute("aria-pressed", String(view?.record.reviewed === name));
  }
  byId("previous-sentence").disabled = byId("next-sentence").disabled = !queue.length;
  const safe = withoutRisk(draft).length;
  byId("accept-safe").disabled = !safe;
  byId("accept-safe").textContent = safe ? `Accept all without risk (${safe})` : "Accept all without risk";
}

// Buttons to the sentences at risk, in the overview.
export function drawRisks(draft, go) {
  const risky = reviewQueue(draft).map((id) => draft.view(id)).filter((view) => view.isAtRisk && !view.record.reviewed);
  byId("risks").hidden = !risky.length;
  byId("risk-list").replaceChildren(...risky.map((view) => {
    const why = view.problem?.message ?? view.warnings[0] ?? "a requested edit was not done";
    const { id, number } = view.sentence;
    const show = button(`risk-${id}`, `Sentence ${number}`, () => go(id), { class: "small" });
    return el("li", {}, show, " ", el("span", { class: "quiet" }, why));
  }));
}
