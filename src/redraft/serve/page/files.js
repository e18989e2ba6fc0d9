// Files: opened by the service, and exported with the changes by it.
import { post, postForFile, problem } from "./requests.js";
import { asPlanEdit, describe } from "./words.js";

const LARGEST = 20_000_000; // bytes; the service has its own limit and names it

export function download(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000); // the browser may still read it
}

// The blocks of a file, as the service reads them.
export async function openFile(file) {
  if (file.size > LARGEST) throw problem(`${file.name} is too large.`, "Divide it, or paste a part of its text.");
  const bytes = await file.arrayBuffer();
  const { format, blocks, notes } = await post("/v1/documents/open", { name: file.name, content: await base64(bytes) });
  const hasText = blocks.some(({ text }) => text.trim());
  if (!hasText) throw problem(`${file.name} has no text.`, "Scanned pages are pictures: recognise their text first.");
  return { bytes, original: { name: file.name, format }, blocks, notes };
}

async function base64(bytes) {
  const url = await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(new Blob([bytes]));
  });
  return url.slice(url.indexOf(",") + 1);
}

// The document as the service writes it in a format. `bytes`: the file that was opened, or null.
export async function exported(draft, format, bytes) {
  const { original, title } = draft;
  return postForFile("/v1/documents/export", {
    name: original?.name ?? null,
    content: bytes ? await base64(bytes) : null,
    format,
    tracked: format === "docx" || format === "html",
    title,
    blocks: draft.blocks.map((block) => exportedBlock(draft, block)),
  });
}

function exportedBlock(draft, { kind, level, text, formatting, table, list, sentences, tail }) {
  const places = { ...(table && { table }), ...(list && { list }) };
  return { kind, level, text, formatting, ...places, sentences: sentences.map((id) => exportedSentence(draft, id)), tail };
}

function exportedSentence(draft, id) {
  const view = draft.view(id), { space, source } = view.sentence;
  const edits = view.verdicts.map((edit) => ({ ...asPlanEdit(edit), status: edit.status ?? "unknown" }));
  const failed = view.failed.map((edit) => `not done: ${describe(edit)}`);
  const { text, author: by, record } = view;
  return { space, source, text, edits, reviewed: Boolean(record.reviewed), by, warnings: [...view.warnings, ...failed] };
}

export function asPlans(draft) {
  const plans = draft.allViews.map((view) => view.request ?? { source: view.sentence.source, edits: [] });
  return plans.map((plan) => `${JSON.stringify(plan)}\n`).join("");
}

// Browsers allow access to the clipboard only for pages from localhost or over HTTPS.
export async function copy(text) {
  if (!navigator.clipboard) throw problem("The browser does not allow this page to copy.", "Export the text instead.");
  await navigator.clipboard.writeText(text);
}
