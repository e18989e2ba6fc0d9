// Grade levels and word counts of the texts on the page. Every answer of /v1/simplify has them for its own texts;
// the service is asked only for other texts.
import { post } from "./common.js";

let known = { key: null, figures: null };

const keyOf = (before, after) => JSON.stringify([before, after]);

// Keeps the figures of an answer of /v1/simplify.
export function rememberFigures({ sentences, readability }) {
  const [before, after] = ["source", "output"].map((field) => sentences.map((sentence) => sentence[field]));
  known = { key: keyOf(before, after), figures: readability };
}

// The figures of two lists of texts, or null if they are not known.
export function knownFigures(before, after) {
  return known.key === keyOf(before, after) ? known.figures : null;
}

export async function fetchFigures(before, after) {
  const figures = await post("/v1/readability", { before, after });
  known = { key: keyOf(before, after), figures };
}
