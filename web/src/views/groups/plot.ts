/** One group's values of a feature in bins. */
export interface GroupBins {
  /** From 1; 0 for members outliers. */
  readonly group: number;
  readonly members: number;
  readonly mean: number;
  readonly min: number;
  readonly max: number;
  readonly counts: readonly number[];
}

/** The values of a feature by group, in `bins` bins over the range of all; members outliers come last. */
export function groupBins(values: Float64Array, groups: Float64Array, bins: number): readonly GroupBins[] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const found = new Map<number, { members: number; sum: number; min: number; max: number; counts: number[] }>();
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at] ?? 0;
    const group = Number.isNaN(groups[at] ?? Number.NaN) ? 0 : (groups[at] ?? 0);
    let own = found.get(group);
    if (own === undefined) found.set(group, (own = { members: 0, sum: 0, min: value, max: value, counts: new Array<number>(bins).fill(0) }));
    own.members += 1;
    own.sum += value;
    own.min = Math.min(own.min, value);
    own.max = Math.max(own.max, value);
    const bin = high > low ? Math.min(bins - 1, Math.floor(((value - low) / (high - low)) * bins)) : 0;
    own.counts[bin] = (own.counts[bin] ?? 0) + 1;
  }
  return [...found]
    .sort(([a], [b]) => (a === 0 ? 1 : b === 0 ? -1 : a - b))
    .map(([group, own]) => ({ group, members: own.members, mean: own.sum / own.members, min: own.min, max: own.max, counts: own.counts }));
}

/** What a group is called. */
export function groupName(group: number): string {
  return group === 0 ? "outliers" : `cluster ${String(group)}`;
}
