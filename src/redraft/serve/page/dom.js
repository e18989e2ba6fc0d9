// Creates and finds elements, and speaks to screen readers.

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

export function announce(message) {
  byId("live").textContent = message;
}

export const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

export const percent = (share) => `${Math.round(100 * share)} %`;

// `key` names the button in its part of the page, so that the focus can return to it after a redraw.
export function button(key, label, onclick, attributes = {}) {
  return el("button", { type: "button", "data-key": key, onclick, ...attributes }, label);
}

// Replaces the content of a part of the page; the focus returns to the element with the same key.
export function redrawn(box, ...children) {
  const focused = box.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  box.replaceChildren(...children.filter((child) => child != null));
  if (focused == null) return;
  const same = box.querySelector(`[data-key="${CSS.escape(focused)}"]`);
  (same ?? box.querySelector("[data-key]"))?.focus({ preventScroll: true });
}
