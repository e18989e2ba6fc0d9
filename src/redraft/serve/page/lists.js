// The team's keep list and glossary, in the format of the files of redraft simplify --keep and --glossary.
import { byId, counted } from "./dom.js";
import { download } from "./files.js";
import { problem } from "./requests.js";

const KEPT = "redraft.lists";
const FILES = { keep: "keep.txt", glossary: "glossary.tsv" };
const PATTERN = /^\/.+\/$/; // a regular expression: only the shell uses it

export function loadLists() {
  const { keep = "", glossary = "" } = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
  byId("keep").value = keep;
  byId("glossary").value = glossary;
}

const keepLists = () => localStorage.setItem(KEPT, JSON.stringify({ keep: byId("keep").value, glossary: byId("glossary").value }));

// Lines that are neither blank nor comments, each with its number.
function entries(id) {
  const lines = byId(id).value.replace(/^\ufeff/, "").split("\n").map((line, i) => [line.trim(), i + 1]);
  return lines.filter(([line]) => line && !line.startsWith("#"));
}

// The lists as the service takes them. As in the shell, a tab or one equals sign divides an entry of the glossary.
export function readLists() {
  const glossary = entries("glossary").map(([line, number]) => {
    const sides = line.split(line.includes("\t") ? "\t" : "=").map((side) => side.trim());
    if (sides.length === 2 && sides[0] && sides[1]) return sides;
    const example = "Example: hypertension = high blood pressure";
    throw problem(`Glossary, line ${number}: there must be one “=” or tab between two phrases.`, example);
  });
  return { keep: entries("keep").map(([line]) => line).filter(isWords), glossary: glossary.filter(([term]) => isWords(term)) };
}

const isWords = (entry) => !PATTERN.test(entry);

function noteChange() {
  keepLists();
  const patterns = [...entries("keep"), ...entries("glossary")].filter(([line]) => line.startsWith("/")).length;
  const note = `${counted(patterns, "pattern")} (/…/): only redraft simplify in the shell uses patterns.`;
  byId("list-note").textContent = patterns ? note : "";
}

for (const id of ["keep", "glossary"]) {
  byId(id).addEventListener("input", noteChange);
  byId(`load-${id}`).addEventListener("change", async ({ target }) => {
    const [file] = target.files;
    if (!file) return;
    byId(id).value = (await file.text()).replace(/\r\n/g, "\n");
    target.value = "";
    noteChange();
  });
  byId(`save-${id}`).addEventListener("click", () => download(FILES[id], new Blob([withTabs(id)], { type: "text/plain" })));
}

// A glossary is saved with tabs, as its file ending says.
function withTabs(id) {
  const text = byId(id).value;
  if (id === "keep") return text;
  const hasTab = (line) => line.includes("\t") || line.trim().startsWith("#");
  return text.split("\n").map((line) => (hasTab(line) ? line : line.replace(/\s*=\s*/, "\t"))).join("\n");
}
