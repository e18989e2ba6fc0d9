// What every part of the page uses: making elements, speaking to the reader, asking the service.

// Text goes in as text nodes only, so nothing a person or the service wrote is ever read as HTML.
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

export const byId = (id) => document.getElementById(id);

export function say(message) {
  byId("live").textContent = message;
}

export class ServiceError extends Error {
  constructor(status, problem, hint) {
    super(problem);
    this.status = status;
    this.hint = hint;
  }
}

let key = null; // in memory only: it is gone when the page is

export function useKey(value) {
  key = value;
}

export async function ask(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  if (key) headers.Authorization = `Bearer ${key}`;
  let response;
  try {
    response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServiceError(0, "The service does not answer.", "Is it still running? Try again.");
  }
  const answer = await response.json().catch(() => null);
  if (response.ok && answer) return answer;
  const { problem, hint } = answer?.error ?? {};
  throw new ServiceError(response.status, problem ?? `The service answered ${response.status}.`, hint ?? "Try again.");
}

let retry = null;

// Shows what went wrong; `again` is what to do once a key is given.
export function showProblem(error, again = null) {
  if (error.name === "AbortError") return; // a newer request took its place
  if (error instanceof Error && !("hint" in error)) console.error(error); // a mistake of this page
  const close = el("button", { type: "button", onclick: dismiss }, "Dismiss");
  byId("alert").replaceChildren(
    el("div", { class: "notice" }, el("p", {}, el("strong", {}, error.message)), error.hint ? el("p", {}, error.hint) : null, close),
  );
  if (error.status === 401) {
    retry = again;
    byId("key-form").hidden = false;
    byId("key").focus();
  }
}

function dismiss() {
  clearProblem();
  (byId("results").hidden ? byId("text") : byId("results-title")).focus();
}

export function clearProblem() {
  byId("alert").replaceChildren();
}

export function takeKey() {
  useKey(byId("key").value);
  byId("key").value = "";
  byId("key-form").hidden = true;
  clearProblem();
  retry?.();
}
