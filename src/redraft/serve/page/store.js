// Keeps documents in the browser: IndexedDB for the documents, and a journal of the last decisions about each of them in
// localStorage, which is written at once, so that a reload at any moment loses nothing.

const STORES = ["documents", "computed", "files"];
const AUTOSAVE = "redraft.autosave", OPEN = "redraft.open", TYPED = "redraft.typed";

let database = null;
let saving = null; // the write in progress
let waiting = null; // what is to be written after it

export const autosaves = () => localStorage.getItem(AUTOSAVE) !== "off";
export const switchAutosave = (on) => localStorage.setItem(AUTOSAVE, on ? "on" : "off");
export const typedText = () => localStorage.getItem(TYPED) ?? "";
export const keepTypedText = (text) => autosaves() && put(TYPED, text);

// The document that this tab shows, for a reload.
export const openId = () => sessionStorage.getItem(OPEN);
export const setOpenId = (id) => (id ? sessionStorage.setItem(OPEN, id) : sessionStorage.removeItem(OPEN));

const tabs = new BroadcastChannel("redraft");

// A document is open in one tab only: the last one that opened it.
export const tellOtherTabs = (id) => tabs.postMessage(id);
export const onOpenedElsewhere = (act) => (tabs.onmessage = ({ data }) => act(data));

function put(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    localStorage.removeItem(name); // it is full; IndexedDB has the document
  }
}

function opened() {
  database ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("redraft", 1);
    request.onupgradeneeded = () => STORES.forEach((name) => request.result.createObjectStore(name));
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return database;
}

async function transaction(mode, act) {
  const all = (await opened()).transaction(STORES, mode);
  const result = act(all);
  all.commit?.();
  return new Promise((resolve, reject) => {
    all.oncomplete = () => resolve(result?.result);
    all.onerror = all.onabort = () => reject(all.error);
  });
}

const journalName = (id) => `redraft.journal.${id}`;

// Notes an operation before it is in IndexedDB.
export function journal({ id, operations }, operation) {
  if (autosaves()) put(journalName(id), JSON.stringify([...readJournal(id), [operations, operation]]));
}

const readJournal = (id) => JSON.parse(localStorage.getItem(journalName(id)) ?? "[]");

function shortenJournal(id, written) {
  const entries = readJournal(id).filter(([number]) => number > written);
  if (entries.length) put(journalName(id), JSON.stringify(entries));
  else localStorage.removeItem(journalName(id));
}

// Saves the document after the write in progress, if there is one; the newest state is written.
export async function save(draft, { bytes } = {}) {
  if (!autosaves()) return;
  waiting = { draft, bytes: bytes ?? (waiting?.draft === draft ? waiting.bytes : undefined) };
  if (saving) return saving;
  saving = (async () => {
    try {
      while (waiting) {
        const next = waiting;
        waiting = null;
        await write(next.draft, next.bytes);
      }
    } finally {
      saving = null;
    }
  })();
  return saving;
}

async function write(draft, bytes) {
  const { id, title, original, blocks, notes, sentences, mode, operations, computed } = draft;
  const views = draft.allViews.filter((view) => view.needsReview);
  const counts = { toReview: views.length, reviewed: views.filter(({ record }) => record.reviewed).length };
  const content = { id, title, original, blocks, notes, sentences, mode };
  const saved = { ...content, operations, counts, modified: Date.now(), history: draft.history.saved() };
  await transaction("readwrite", (all) => {
    all.objectStore("documents").put(saved, id);
    all.objectStore("computed").put(computed, id);
    if (bytes) all.objectStore("files").put(bytes, id);
  });
  shortenJournal(id, operations);
}

// What is stored of a document, with the operations of the journal that it lacks; null if there is none.
export async function load(id) {
  const saved = await transaction("readonly", (all) => all.objectStore("documents").get(id));
  if (!saved) return null;
  const computed = await transaction("readonly", (all) => all.objectStore("computed").get(id));
  const lacking = readJournal(id).filter(([number]) => number > saved.operations);
  return { saved: { ...saved, computed }, lacking: lacking.map(([, operation]) => operation) };
}

export const fileOf = (id) => transaction("readonly", (all) => all.objectStore("files").get(id));

// The documents, newest first.
export async function list() {
  const all = (await transaction("readonly", (stores) => stores.objectStore("documents").getAll())) ?? [];
  return all.sort((a, b) => b.modified - a.modified);
}

export function remove(id) {
  localStorage.removeItem(journalName(id));
  return transaction("readwrite", (all) => STORES.forEach((name) => all.objectStore(name).delete(id)));
}
