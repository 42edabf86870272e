/** Names that stay different where there is little room for them. Pure. */

/** A label with its middle omitted where it is too wide: what distinguishes tracks is often at the end. Never empty. */
export function middleCut(label: string, pixels: number, widthOf: (text: string) => number): string {
  if (widthOf(label) <= pixels) return label;
  const cut = (letters: number): string => {
    const end = Math.ceil(letters * 0.6);
    return `${label.slice(0, letters - end).trimEnd()}…${label.slice(label.length - end).trimStart()}`;
  };
  let [least, most] = [LEAST_LETTERS, label.length - 1];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (widthOf(cut(middle)) <= pixels) least = middle;
    else most = middle - 1;
  }
  return cut(Math.min(least, label.length));
}

/** What is left of a name when nothing fits. */
const LEAST_LETTERS = 2;

interface Name {
  readonly label: string;
  readonly pixels: number;
}

/**
 * Names that are shown together, each with the pixels it has. Different names look different: where they would not, the
 * words that names of the same form share make room for those in which they differ, then those that the ones that still
 * look the same share; where there is no room for the others, they are numbered.
 */
export function distinctCuts(names: readonly Name[], widthOf: (text: string) => number): readonly string[] {
  const cuts = names.map(({ label, pixels }) => middleCut(label, pixels, widthOf));
  const labelOf = (at: number): string => names[at]?.label ?? "";
  const withoutShared = (places: readonly number[]): void => {
    const words = places.map((at) => labelOf(at).match(WORDS) ?? []);
    const shared = sharedWords(words);
    places.forEach((place, nth) => {
      const kept = (words[nth] ?? []).map((word, at, all) => (shared(at, all.length) ? "…" : word)).join("");
      cuts[place] = middleCut(kept.replace(/…(?:[^\p{L}\p{N}]*…)+/gu, "…"), names[place]?.pixels ?? 0, widthOf);
    });
  };
  const forms = new Map<string, number[]>();
  names.forEach(({ label }, at) => { const form = label.replace(/\d+/gu, "0"); forms.set(form, [...(forms.get(form) ?? []), at]); });
  const unlike = new Set(alike(names, cuts).flat());
  for (const places of forms.values()) if (places.some((at) => unlike.has(at))) withoutShared(places);
  for (const places of alike(names, cuts)) withoutShared(places);
  const left = alike(names, cuts).flat();
  const order = [...new Set(left.map(labelOf))];
  for (const place of left) {
    const number = `#${String(order.indexOf(labelOf(place)) + 1)}`;
    cuts[place] = `${middleCut(labelOf(place), (names[place]?.pixels ?? 0) - widthOf(number), widthOf)}${number}`;
  }
  return cuts;
}

/** Words and what stands between them: `rank 10` is `rank`, a blank, `10`. */
const WORDS = /[\p{L}\p{N}]+|[^\p{L}\p{N}]+/gu;

/** Groups of places whose names differ and whose cuts do not. */
function alike(names: readonly Name[], cuts: readonly string[]): readonly (readonly number[])[] {
  const same = new Map<string, number[]>();
  cuts.forEach((cut, at) => { same.set(cut, [...(same.get(cut) ?? []), at]); });
  return [...same.values()].filter((places) => new Set(places.map((at) => names[at]?.label)).size > 1);
}

/** Whether all names have the same word at this place, counted from their beginning or their end. */
function sharedWords(words: readonly (readonly string[])[]): (at: number, length: number) => boolean {
  const least = Math.min(...words.map(({ length }) => length));
  const isEverywhere = (at: number): boolean => words.every((one) => one.at(at) === words[0]?.at(at));
  return (at, length) => (at < least && isEverywhere(at)) || (length - at <= least && isEverywhere(at - length));
}
