/** How well a text matches what was typed, and which letters matched. */
export interface FuzzyMatch {
  /** Higher is better. */
  readonly score: number;
  /** Positions in the text. */
  readonly letters: readonly number[];
}

const WORD_START = 8;
const FOLLOWS = 6;
const GAP = 0.3;

/**
 * Finds the typed letters in the text in their order, not necessarily next to each other.
 *
 * Beginnings of words and runs count most, so `ofo` prefers "Open folder" to "Go to flame of others". Null: no match.
 */
export function fuzzyMatch(typed: string, text: string): FuzzyMatch | null {
  const wanted = typed.toLowerCase().replace(/\s+/g, "");
  if (wanted === "") return { score: 0, letters: [] };
  const low = text.toLowerCase();
  let best: FuzzyMatch | null = null;
  // A greedy search from each possible first letter finds the best run without trying all combinations.
  for (let start = low.indexOf(wanted.charAt(0)); start !== -1; start = low.indexOf(wanted.charAt(0), start + 1)) {
    const letters: number[] = [];
    let score = 0;
    let from = start;
    for (const letter of wanted) {
      const next = nextLetter(low, text, letter, from, letters.at(-1));
      if (next === -1) break;
      const last = letters.at(-1);
      if (last !== undefined && next === last + 1) score += FOLLOWS;
      else if (last !== undefined) score -= Math.min(next - last, 20) * GAP;
      if (isWordStart(text, next)) score += WORD_START;
      letters.push(next);
      from = next + 1;
    }
    if (letters.length !== wanted.length) continue;
    score -= start * 0.1 + text.length * 0.02;
    if (best === null || score > best.score) best = { score, letters };
  }
  return best;
}

function nextLetter(low: string, text: string, letter: string, from: number, last: number | undefined): number {
  const next = low.indexOf(letter, from);
  if (next === -1 || last === undefined || next === last + 1) return next;
  // The beginning of a later word is what is abbreviated.
  for (let at = next; at !== -1; at = low.indexOf(letter, at + 1)) if (isWordStart(text, at)) return at;
  return next;
}

function isWordStart(text: string, at: number): boolean {
  if (at === 0) return true;
  const before = text.charAt(at - 1);
  return !/[\p{L}\p{N}]/u.test(before) || (/\p{Ll}/u.test(before) && /\p{Lu}/u.test(text.charAt(at)));
}

/** Those of a list that match, best first; all of them in their order when nothing was typed. */
export function fuzzyFilter<T>(typed: string, list: readonly T[], textOf: (one: T) => string): readonly { one: T; match: FuzzyMatch }[] {
  const found: { one: T; match: FuzzyMatch }[] = [];
  for (const one of list) {
    const match = fuzzyMatch(typed, textOf(one));
    if (match !== null) found.push({ one, match });
  }
  return typed.trim() === "" ? found : found.sort((a, b) => b.match.score - a.match.score);
}
