// The menu of one word. `items` are {label, detail, checked, role, choose}; `write` takes what a person types instead.
import { el } from "./common.js";

let open = null;

export function closeMenu(back = true) {
  if (!open) return;
  const { popup, button } = open;
  open = null;
  popup.remove();
  button.setAttribute("aria-expanded", "false");
  if (back) button.focus();
}

export function openMenu(button, word, items, write) {
  closeMenu(false);
  const menu = el("div", { role: "menu", "aria-label": `What to do with “${word}”` }, ...items.map(item));
  const field = el("input", { type: "text", "aria-label": `Write instead of “${word}”`, placeholder: "write instead…", autocomplete: "off" });
  // The field stands beside the menu in the same box: a menu may hold nothing but its items.
  const form = el("form", { onsubmit: (event) => written(event, field, write) }, field, el("button", { type: "submit" }, "Use"));
  const popup = el("div", { class: "word-menu", onkeydown: onKey, onfocusout: onLeave }, menu, form);
  open = { popup, button };
  document.querySelector("main").append(popup); // inside a landmark
  place(popup, button);
  button.setAttribute("aria-expanded", "true");
  (menu.querySelector("[aria-checked=true]") ?? menu.firstChild).focus();
}

function item({ label, detail, checked, role = "menuitemradio", choose }) {
  const take = () => {
    closeMenu();
    choose();
  };
  const attributes = { type: "button", role, "aria-checked": String(checked), tabindex: -1, onclick: take };
  return el("button", attributes, el("span", {}, label), detail ? el("span", { class: "quiet" }, detail) : null);
}

function written(event, field, write) {
  event.preventDefault();
  const text = field.value.trim();
  if (!text) return field.focus();
  closeMenu();
  write(text);
}

// Under the word, pushed back inside the window where it would stick out.
function place(popup, button) {
  const word = button.getBoundingClientRect();
  const width = document.documentElement.clientWidth;
  const left = Math.max(8, Math.min(word.left, width - popup.offsetWidth - 8));
  const below = word.bottom + popup.offsetHeight + 8 < window.innerHeight || word.top < popup.offsetHeight + 8;
  popup.style.left = `${left + window.scrollX}px`;
  popup.style.top = `${(below ? word.bottom + 4 : word.top - popup.offsetHeight - 4) + window.scrollY}px`;
}

function onKey(event) {
  const stops = [...event.currentTarget.querySelectorAll("[role^=menuitem], input")];
  const at = stops.indexOf(document.activeElement);
  const typing = document.activeElement.matches("input");
  const go = { ArrowDown: at + 1, ArrowUp: at - 1, ...(typing ? {} : { Home: 0, End: stops.length - 1 }) }[event.key];
  if (go !== undefined) stops[(go + stops.length) % stops.length].focus();
  else if (event.key === "Escape") closeMenu();
  else if (event.key === "Tab" && leaves(event)) closeMenu();
  else return;
  event.preventDefault();
}

// Tab goes from the items to the field and its button, and out of the menu at either end.
function leaves(event) {
  const last = document.activeElement.matches("[type=submit]");
  const first = document.activeElement.matches("[role^=menuitem]");
  return event.shiftKey ? first : last;
}

function onLeave(event) {
  const to = event.relatedTarget;
  if (open && to && !open.popup.contains(to)) closeMenu(false);
}

document.addEventListener("pointerdown", (event) => {
  if (open && !open.popup.contains(event.target) && !open.button.contains(event.target)) closeMenu(false);
});
