// Exports: the text, the plan, and an HTML page with the changes marked.
import { diff } from "./words.js";

// `rest`: the end of the text, which was not processed.
export const asText = (sentences, rest = "") => sentences.map(({ space, text }) => space + text).join("") + rest;

export const asPlan = (sentences) => sentences.map((sentence) => `${JSON.stringify(sentence.toPlan())}\n`).join("");

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text) => text.replace(/[&<>"']/g, (character) => ESCAPES[character]);

const STYLE = `
body { font: 1.1rem/1.6 Georgia, serif; max-width: 40rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
main { white-space: pre-wrap; overflow-wrap: anywhere }
ins { font-weight: 600; text-decoration: underline; text-underline-offset: .2em }
del { opacity: .6 }`;

// A self-contained file; its style preserves white space.
export function asHtml(sentences, rest = "") {
  const run = ({ kind, text }) => (kind === "same" ? escaped(text) : `<${kind}>${escaped(text)}</${kind}>`);
  const body = sentences.map(({ space, source, text }) => escaped(space) + diff(source, text).map(run).join("")).join("");
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Changes marked by redraft</title>
<style>${STYLE}</style>
<h1>Changes</h1>
<main>${body}${escaped(rest)}</main>
</html>
`;
}

export function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000); // the browser may still read it
}

// Browsers allow access to the clipboard only for pages from localhost or over HTTPS.
export async function copy(text) {
  if (!navigator.clipboard) throw new Error("The browser does not allow this page to copy. Export the text instead.");
  await navigator.clipboard.writeText(text);
}
