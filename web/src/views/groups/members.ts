/** Which locations run on which nodes. */
export interface Members {
  /** The locations of each node, by its row. */
  readonly of: readonly (readonly number[])[];
  /** The row of the node on which a location runs. */
  readonly nodeOf: ReadonlyMap<number, number>;
}

/** Joins locations with nodes by the host id of each; locations without one, or with one that is no node's, are omitted. */
export function membersOf(hosts: readonly number[], hostOf: ArrayLike<number>, locations: ArrayLike<number>): Members {
  const rowOf = new Map(hosts.map((host, row) => [host, row]));
  const of: number[][] = hosts.map(() => []);
  const nodeOf = new Map<number, number>();
  for (let at = 0; at < locations.length; at += 1) {
    const [row, location] = [rowOf.get(hostOf[at] ?? Number.NaN), locations[at] ?? 0];
    if (row === undefined) continue;
    of[row]?.push(location);
    nodeOf.set(location, row);
  }
  return { of, nodeOf };
}
