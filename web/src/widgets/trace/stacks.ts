/** What each location spends on each part. */
export interface Stacks {
  readonly locations: number;
  readonly parts: number;
  /** By location, then by part. */
  readonly values: Float64Array;
}

/** How the bars are in order. */
export type StackOrder = "location" | "total";

/** A row of the picture: a location, or the head of a group. */
export interface StackRow {
  /** Position of the location; -1 for a head. */
  readonly location: number;
  /** Position of the group that begins here; -1 for a location. */
  readonly group: number;
}

/** Values of a table of location, part and value; later ones of the same place are added. */
export function stacksOf(locations: number, parts: number, location: ArrayLike<number>, part: ArrayLike<number>, value: ArrayLike<number>): Stacks {
  const values = new Float64Array(locations * parts);
  for (let row = 0; row < location.length; row += 1) {
    const [at, of, amount] = [location[row] ?? 0, part[row] ?? 0, value[row] ?? 0];
    if (at < locations && of < parts && Number.isFinite(amount)) values[at * parts + of] = (values[at * parts + of] ?? 0) + amount;
  }
  return { locations, parts, values };
}

/** What a location spends on the parts that are shown. */
export function shownTotals(stacks: Stacks, hidden: ReadonlySet<number>): Float64Array {
  const totals = new Float64Array(stacks.locations);
  for (let location = 0; location < stacks.locations; location += 1) {
    let sum = 0;
    for (let part = 0; part < stacks.parts; part += 1) {
      if (!hidden.has(part)) sum += stacks.values[location * stacks.parts + part] ?? 0;
    }
    totals[location] = sum;
  }
  return totals;
}

/** What all locations spend on a part. */
export function partTotals(stacks: Stacks): Float64Array {
  const totals = new Float64Array(stacks.parts);
  for (let at = 0; at < stacks.values.length; at += 1) {
    const part = at % stacks.parts;
    totals[part] = (totals[part] ?? 0) + (stacks.values[at] ?? 0);
  }
  return totals;
}

/** The rows of the picture: locations in order, by `places` where these are given, below the heads of their groups where `groupOf` is given. */
export function stackRows(totals: Float64Array, order: StackOrder, groupOf: Int32Array | null, places: Int32Array | null = null): readonly StackRow[] {
  const positions = Int32Array.from(totals, (_, at) => at);
  const byTotal = (a: number, b: number): number => (order === "total" ? (totals[b] ?? 0) - (totals[a] ?? 0) : 0) || (places?.[a] ?? a) - (places?.[b] ?? b);
  positions.sort((a, b) => (groupOf === null ? 0 : (groupOf[a] ?? 0) - (groupOf[b] ?? 0)) || byTotal(a, b));
  const rows: StackRow[] = [];
  let last = Number.NaN;
  for (const location of positions) {
    const group = groupOf?.[location] ?? Number.NaN;
    if (groupOf !== null && group !== last) rows.push({ location: -1, group });
    last = group;
    rows.push({ location, group: -1 });
  }
  return rows;
}

/** A part of a bar, 0 to 1 of the picture's width. */
export interface StackPiece {
  readonly part: number;
  readonly from: number;
  readonly to: number;
  readonly value: number;
}

/** The parts of a location's bar; `scale` is what the whole width stands for. */
export function piecesOf(stacks: Stacks, location: number, hidden: ReadonlySet<number>, scale: number): readonly StackPiece[] {
  const pieces: StackPiece[] = [];
  let at = 0;
  for (let part = 0; part < stacks.parts; part += 1) {
    const value = stacks.values[location * stacks.parts + part] ?? 0;
    if (hidden.has(part) || !(value > 0) || !(scale > 0)) continue;
    pieces.push({ part, from: at / scale, to: (at + value) / scale, value });
    at += value;
  }
  return pieces;
}

/** The mean of several locations as one bar, for pictures with more locations than pixels. */
export function meanOf(stacks: Stacks, locations: readonly number[]): Stacks {
  const values = new Float64Array(stacks.parts);
  for (const location of locations) {
    for (let part = 0; part < stacks.parts; part += 1) {
      values[part] = (values[part] ?? 0) + (stacks.values[location * stacks.parts + part] ?? 0) / locations.length;
    }
  }
  return { locations: 1, parts: stacks.parts, values };
}
