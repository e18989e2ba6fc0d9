// Used by all parts of the page: creating elements, messages to the user, requests to the service.

// Text is added only as text nodes, so that no text of a user or of the service is parsed as HTML.
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

// For screen readers.
export function announce(message) {
  byId("live").textContent = message;
}

export class ServiceError extends Error {
  constructor(status, problem, hint) {
    super(problem);
    this.status = status;
    this.hint = hint;
  }
}

let apiKey = null; // kept in memory only

export async function post(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  if (apiKey) headers.Authorization = `Bearer ${apiKey}`;
  let response;
  try {
    response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServiceError(0, "The service does not answer.", "Check that it is running, then try again.");
  }
  const answer = await response.json().catch(() => null);
  if (response.ok && answer) return answer;
  const { problem, hint } = answer?.error ?? {};
  throw new ServiceError(response.status, problem ?? `The service answered ${response.status}.`, hint ?? "Try again.");
}

let retry = null;

// Shows an error. If the API key is missing or wrong, `again` is called after the user has entered one.
export function showError(error, again = null) {
  if (error.name === "AbortError") return; // replaced by a newer request
  if (error instanceof Error && !("hint" in error)) console.error(error); // a bug of this page
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
  clearError();
  (byId("results").hidden ? byId("text") : byId("results-title")).focus();
}

export function clearError() {
  byId("alert").replaceChildren();
}

export function submitKey() {
  apiKey = byId("key").value;
  byId("key").value = "";
  byId("key-form").hidden = true;
  clearError();
  retry?.();
}
