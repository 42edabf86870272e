import type { TextColumn } from "./columns.ts";

/** What is looked for. */
export interface SearchText {
  readonly text: string;
  /** Upper and lower case differ. */
  readonly isCased: boolean;
  /** Whole words only. */
  readonly isWord: boolean;
  /** The text is a regular expression. */
  readonly isRegex: boolean;
}

export const NO_SEARCH: SearchText = { text: "", isCased: false, isWord: false, isRegex: false };

/** A test for names, or why there is none. Null: nothing is looked for. */
export function matcher(search: SearchText): { test: (name: string) => boolean } | { problem: string } | null {
  if (search.text === "") return null;
  const source = search.isRegex ? search.text : search.text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  // `\b` would never match next to `<` or `~`, with which names of C++ may begin.
  const whole = search.isWord ? `(?<![\\p{L}\\p{N}_])(?:${source})(?![\\p{L}\\p{N}_])` : source;
  try {
    const pattern = new RegExp(whole, search.isCased ? "u" : "iu");
    return { test: (name) => pattern.test(name) };
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split(": ").at(-1) ?? "") : "";
    return { problem: `Not a regular expression: ${reason.toLowerCase()}` };
  }
}

/** Which texts of a column match, tested once for each different text. */
export function matchingTexts(column: TextColumn, search: SearchText): Uint8Array | null {
  const found = matcher(search);
  if (found === null || "problem" in found) return null;
  return Uint8Array.from(column.texts, (text) => (found.test(text) ? 1 : 0));
}

/** The rows whose name matches, in the order of the table, from `from` up to `end`. */
export function matchingRows(column: TextColumn, texts: Uint8Array, from = 0, end = column.codes.length): Int32Array {
  const { codes } = column;
  let count = 0;
  for (let row = from; row < end; row += 1) count += texts[codes[row] ?? -1] ?? 0;
  const rows = new Int32Array(count);
  let at = 0;
  for (let row = from; row < end; row += 1) {
    if (texts[codes[row] ?? -1] !== 1) continue;
    rows[at] = row;
    at += 1;
  }
  return rows;
}

/** Position of the next (or previous) match after a row, going round at the end; -1 without matches. */
export function nextMatch(rows: Int32Array, after: number, step: 1 | -1): number {
  if (rows.length === 0) return -1;
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle] ?? 0) <= after) low = middle + 1;
    else high = middle;
  }
  // `low` is the first match after the row.
  if (step === 1) return low % rows.length;
  const before = rows[low - 1] === after ? low - 2 : low - 1;
  return (before + rows.length) % rows.length;
}

/** Cost of what matches, counting a match inside another one once. */
export function matchedCost(
  tree: { readonly end: Int32Array },
  rows: Int32Array,
  inclusive: Float64Array,
): number {
  let sum = 0;
  let covered = -1;
  for (const row of rows) {
    if (row < covered) continue;
    sum += inclusive[row] ?? 0;
    covered = tree.end[row] ?? row + 1;
  }
  return sum;
}

/**
 * A test for what is typed in one line, by the rule by which the engine finds calls: words that a name contains, in any case
 * and order; a glob with `*` or `?`; a regular expression between slashes; one name in quotes; several with `|`. Null where
 * nothing is typed.
 */
export function typedTest(typed: string): ((name: string) => boolean) | null {
  const text = typed.trim();
  if (text === "") return null;
  const regex = /^\/(.+)\/(i?)$/u.exec(text);
  if (regex !== null) {
    try {
      const pattern = new RegExp(regex[1] ?? "", `u${regex[2] ?? ""}`);
      return (name) => pattern.test(name);
    } catch {
      return () => false;
    }
  }
  const quoted = /^(["'])(.*)\1$/u.exec(text);
  if (quoted !== null) return (name) => name === quoted[2];
  if (text.includes("|")) {
    const tests = text.split("|").flatMap((part) => oneName(part.trim()) ?? []);
    return (name) => tests.some((test) => test(name));
  }
  if (/[*?]/u.test(text)) return oneName(text);
  const words = text.toLowerCase().split(/\s+/u);
  return (name) => {
    const lower = name.toLowerCase();
    return words.every((word) => lower.includes(word));
  };
}

/** The whole name, where `*` stands for any run of characters and `?` for one. */
function oneName(glob: string): ((name: string) => boolean) | null {
  if (glob === "") return null;
  const pattern = new RegExp(`^${glob.replace(/[.+^${}()|[\]\\/-]/gu, "\\$&").replaceAll("*", "[^]*").replaceAll("?", "[^]")}$`, "u");
  return (name) => pattern.test(name);
}
