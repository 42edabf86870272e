/** A number that is part of the identity of locations, such as their rank; NaN where they have none. */
export interface LocationKind {
  readonly name: string;
  readonly numbers: Float64Array;
}

/** Locations that have a number of a kind in common. */
export interface LocationGroups {
  /** The group of each location. */
  readonly of: Int32Array;
  /** The number of each group, ascending; NaN, for locations without one, comes last. */
  readonly numbers: readonly number[];
  /** How many locations each group has. */
  readonly sizes: readonly number[];
}

/** The kinds that make groups: one that distinguishes all locations, or none, does not. */
export function groupingKinds(kinds: readonly LocationKind[]): readonly LocationKind[] {
  return kinds.filter(({ numbers }) => {
    const different = new Set(numbers).size;
    return different > 1 && different < numbers.length;
  });
}

/** Locations by a kind. */
export function locationGroups(kind: LocationKind): LocationGroups {
  const numbers = [...new Set(kind.numbers)].sort((a, b) => (Number.isNaN(a) ? 1 : Number.isNaN(b) ? -1 : a - b));
  const at = new Map(numbers.map((number, index) => [number, index]));
  const of = Int32Array.from(kind.numbers, (number) => at.get(number) ?? 0);
  const sizes = numbers.map(() => 0);
  for (const group of of) sizes[group] = (sizes[group] ?? 0) + 1;
  return { of, numbers, sizes };
}
