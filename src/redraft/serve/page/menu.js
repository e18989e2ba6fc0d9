// The menu of one word. `items`: {label, detail, checked, role, choose}; `replaceWith` is called with a typed replacement.
import { el } from "./common.js";

let open = null;

export function closeMenu(returnFocus = true) {
  if (!open) return;
  const { popup, button } = open;
  open = null;
  popup.remove();
  button.setAttribute("aria-expanded", "false");
  if (returnFocus) button.focus();
}

export function openMenu(button, word, items, replaceWith) {
  closeMenu(false);
  const menu = el("div", { role: "menu", "aria-label": `Edits for “${word}”` }, ...items.map(item));
  const field = el("input", { type: "text", "aria-label": `Replacement for “${word}”`, placeholder: "replacement…", autocomplete: "off" });
  // The field is next to the menu, not in it: the ARIA role menu allows only menu items as children.
  const form = el("form", { onsubmit: (event) => submitReplacement(event, field, replaceWith) }, field, el("button", { type: "submit" }, "Use"));
  const popup = el("div", { class: "word-menu", onkeydown: onKey, onfocusout: onFocusOut }, menu, form);
  open = { popup, button };
  document.querySelector("main").append(popup); // inside a landmark, for accessibility
  position(popup, button);
  button.setAttribute("aria-expanded", "true");
  (menu.querySelector("[aria-checked=true]") ?? menu.firstChild).focus();
}

function item({ label, detail, checked, role = "menuitemradio", choose }) {
  const onClick = () => {
    closeMenu();
    choose();
  };
  const attributes = { type: "button", role, "aria-checked": String(checked), tabindex: -1, onclick: onClick };
  return el("button", attributes, el("span", {}, label), detail ? el("span", { class: "quiet" }, detail) : null);
}

function submitReplacement(event, field, replaceWith) {
  event.preventDefault();
  const text = field.value.trim();
  if (!text) return field.focus();
  closeMenu();
  replaceWith(text);
}

// Below the word, or above it if there is no room; always inside the window.
function position(popup, button) {
  const word = button.getBoundingClientRect();
  const width = document.documentElement.clientWidth;
  const left = Math.max(8, Math.min(word.left, width - popup.offsetWidth - 8));
  const below = word.bottom + popup.offsetHeight + 8 < window.innerHeight || word.top < popup.offsetHeight + 8;
  popup.style.left = `${left + window.scrollX}px`;
  popup.style.top = `${(below ? word.bottom + 4 : word.top - popup.offsetHeight - 4) + window.scrollY}px`;
}

function onKey(event) {
  const focusable = [...event.currentTarget.querySelectorAll("[role^=menuitem], input")];
  const at = focusable.indexOf(document.activeElement);
  const isTyping = document.activeElement.matches("input");
  const target = { ArrowDown: at + 1, ArrowUp: at - 1, ...(isTyping ? {} : { Home: 0, End: focusable.length - 1 }) }[event.key];
  if (target !== undefined) focusable[(target + focusable.length) % focusable.length].focus();
  else if (event.key === "Escape") closeMenu();
  else if (event.key === "Tab" && leavesMenu(event)) closeMenu();
  else return;
  event.preventDefault();
}

// Tab goes from the items to the field and its button; beyond the first and last of these it closes the menu.
function leavesMenu(event) {
  const last = document.activeElement.matches("[type=submit]");
  const first = document.activeElement.matches("[role^=menuitem]");
  return event.shiftKey ? first : last;
}

function onFocusOut(event) {
  const to = event.relatedTarget;
  if (open && to && !open.popup.contains(to)) closeMenu(false);
}

document.addEventListener("pointerdown", (event) => {
  if (open && !open.popup.contains(event.target) && !open.button.contains(event.target)) closeMenu(false);
});
