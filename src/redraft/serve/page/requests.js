// Requests to the service, its errors, and the form for its API key.
import { byId, el } from "./dom.js";

export class ServiceError extends Error {
  constructor(status, problem, hint) {
    super(problem);
    this.status = status;
    this.hint = hint;
  }
}

let apiKey = null; // kept in memory only
let retry = null;

export async function post(path, body, signal) {
  const answer = await answered(path, body, signal);
  return answer.json();
}

export async function postForFile(path, body) {
  const answer = await answered(path, body);
  return answer.blob();
}

// Relative to the page, which has a prefix if a service has several models.
async function answered(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  if (apiKey) headers.Authorization = `Bearer ${apiKey}`;
  let response;
  try {
    response = await fetch(path.slice(1), { method: "POST", headers, body: JSON.stringify(body), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServiceError(0, "The service does not answer.", "Check that it is running, then try again.");
  }
  if (response.ok) return response;
  const { problem, hint } = (await response.json().catch(() => null))?.error ?? {};
  throw new ServiceError(response.status, problem ?? `The service answered ${response.status}.`, hint ?? "Try again.");
}

// An error that the user can read: what happened, and what to do next.
export function problem(message, hint) {
  return Object.assign(new Error(message), { hint });
}

// Shows an error. If the API key is missing or wrong, `again` is called after the user has entered one.
export function showError(error, again = null) {
  if (error.name === "AbortError") return; // stopped, or replaced by a newer request
  if (!("hint" in error)) console.error(error); // a bug of this page
  const close = el("button", { type: "button", onclick: dismiss }, "Dismiss");
  byId("alert").replaceChildren(
    el("div", { class: "notice" }, el("p", {}, el("strong", {}, error.message), error.hint ? ` ${error.hint}` : null), close),
  );
  if (error.status !== 401) return;
  retry = again;
  byId("key-form").hidden = false;
  byId("key").focus();
}

function dismiss() {
  clearError();
  (byId("start").hidden ? byId("sheet") : byId("text")).focus();
}

export function clearError() {
  byId("alert").replaceChildren();
}

byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  apiKey = byId("key").value;
  byId("key").value = "";
  byId("key-form").hidden = true;
  clearError();
  retry?.();
});
