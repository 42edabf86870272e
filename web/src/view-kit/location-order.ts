/** The natural order of locations that are listed, as the engine has it for databases. Pure. */

const NAMES = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** A column of identities: numbers by location, NaN where one has none. */
interface Identity {
  readonly name: string;
  readonly numbers: ArrayLike<number>;
}

/** Where each location stands in lists: by application, node (by the first rank on it, for its own number is an address), rank, thread, then what a GPU executed, each by number. What has no identity follows by name, as people count. Archives of traces have their tracks in the order of the file. */
export function naturalPlaces(length: number, label: (at: number) => string, kinds: readonly Identity[]): Int32Array {
  const named = new Map(kinds.map(({ name, numbers }) => [name, numbers]));
  const of = (kind: string, at: number): number => named.get(kind)?.[at] ?? Number.NaN;
  const nodeOf = (at: number): string => `${String(of("component", at))} ${String(of("application", at))} ${String(of("node", at))}`;
  const firstRanks = new Map<string, number>();
  for (let at = 0; at < length; at += 1) {
    const rank = of("rank", at);
    if (!Number.isNaN(rank)) firstRanks.set(nodeOf(at), Math.min(rank, firstRanks.get(nodeOf(at)) ?? rank));
  }
  // None comes before any number.
  const known = (number: number): number => (Number.isNaN(number) ? -1 : number);
  const keys = Array.from({ length }, (_, at): readonly number[] => [
    Number(kinds.every(({ numbers }) => Number.isNaN(numbers[at] ?? Number.NaN))),
    known(of("component", at)), known(of("application", at)), firstRanks.get(nodeOf(at)) ?? -1, known(of("node", at)), known(of("rank", at)),
    Number(["gpudevice", "gpucontext", "gpustream"].some((kind) => !Number.isNaN(of(kind, at)))),
    ...kinds.map(({ numbers }) => known(numbers[at] ?? Number.NaN)),
  ]);
  const order = Array.from({ length }, (_, at) => at).sort((a, b) => {
    const [first, second] = [keys[a] ?? [], keys[b] ?? []];
    const differs = first.findIndex((key, at) => key !== second[at]);
    if (differs >= 0) return (first[differs] ?? 0) - (second[differs] ?? 0);
    return (first[0] === 1 ? NAMES.compare(label(a), label(b)) : 0) || a - b;
  });
  const places = new Int32Array(length);
  order.forEach((at, place) => { places[at] = place; });
  return places;
}

/** The locations in the order of their places. */
export function inPlaces(places: Int32Array): Int32Array {
  const order = new Int32Array(places.length);
  places.forEach((place, at) => { order[place] = at; });
  return order;
}
