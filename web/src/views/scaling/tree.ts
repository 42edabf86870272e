import type { TreeSource } from "../../base/tree-rows.ts";
import { placeOf, regionName, type ScalingData } from "./data.ts";

/** By what the regions inside a region are ordered. */
export type RegionSort = "tree" | "loss" | "share" | "imbalance";

/** The regions to show. */
interface RegionTree extends TreeSource {
  /** Regions that the search matches; null without a search. */
  readonly matches: ReadonlySet<number> | null;
  /** Regions with something inside, all opened: what a search shows. */
  readonly openForSearch: ReadonlySet<number> | null;
}

/** A number by which regions are ordered, larger first. */
function weight(data: ScalingData, sort: RegionSort): ((region: number) => number) | null {
  switch (sort) {
    case "tree": return null;
    case "loss": return (region) => data.costOf(region);
    case "share": return (region) => data.regions[region]?.share_max ?? Number.NaN;
    case "imbalance": return (region) => data.regions[region]?.imbalance?.mean ?? Number.NaN;
  }
}

/** Regions by a weight, larger first, unknown last; equal ones keep the order of the tree. */
export function byWeight(regions: readonly number[], of: (region: number) => number, isDescending = true): readonly number[] {
  const sign = isDescending ? 1 : -1;
  return regions.toSorted((a, b) => {
    const [x, y] = [of(a), of(b)];
    if (Number.isNaN(x)) return Number.isNaN(y) ? 0 : 1;
    if (Number.isNaN(y)) return -1;
    return (y - x) * sign;
  });
}

/**
 * The tree of regions, ordered and filtered.
 * A search keeps what matches by name, path, id or file, and everything around it.
 */
export function regionTree(data: ScalingData, spot: number | null, sort: RegionSort, isDescending: boolean, search: string): RegionTree {
  const of = weight(data, sort);
  const wanted = search.trim().toLowerCase();
  const roots = [spot ?? 0].filter((region) => data.regions[region] !== undefined);
  const found = wanted === "" ? null : matching(data, roots, wanted);
  const cache = new Map<number, readonly number[]>();
  const children = (region: number): readonly number[] => {
    let list = cache.get(region);
    if (list === undefined) {
      const all = data.inside[region] ?? [];
      const kept = found === null ? all : all.filter((one) => found.kept.has(one));
      list = of === null ? (isDescending ? kept : kept.toReversed()) : byWeight(kept, of, isDescending);
      cache.set(region, list);
    }
    return list;
  };
  return {
    roots: found === null ? roots : roots.filter((region) => found.kept.has(region)),
    children,
    hasChildren: (region) => children(region).length > 0,
    matches: found?.matches ?? null,
    openForSearch: found?.kept ?? null,
  };
}

function matching(data: ScalingData, roots: readonly number[], wanted: string): { matches: Set<number>; kept: Set<number> } {
  const matches = new Set<number>();
  const kept = new Set<number>();
  const inScope = new Set(roots);
  data.regions.forEach((region, at) => {
    if (region.parent !== null && inScope.has(region.parent)) inScope.add(at);
    if (!inScope.has(at)) return;
    const text = `${regionName(region)}\n${region.display_name}\n${region.id}\n${region.path}\n${placeOf(region, false)}`.toLowerCase();
    if (!text.includes(wanted)) return;
    matches.add(at);
    for (let above: number | null = at; above !== null && inScope.has(above) && !kept.has(above); above = data.regions[above]?.parent ?? null) {
      kept.add(above);
    }
  });
  return { matches, kept };
}

/** Trees of at most so many regions are shown whole at start. */
const SMALL_TREE = 40;

/** A child that has less than this share of its parent's loss ends the costly path. */
const COSTLY_SHARE = 0.1;

/**
 * What is open at first: everything in a small tree, else the path of what costs most.
 * Cost is lost time; where nothing is lost or known, the largest share of the time around.
 */
export function startOpen(data: ScalingData, root = 0): ReadonlySet<number> {
  const all = data.regions.map((_, at) => at);
  if (all.length <= SMALL_TREE) return new Set(all.filter((at) => (data.inside[at]?.length ?? 0) > 0));
  const open = new Set<number>();
  const hasLoss = data.costOf(root) > 0;
  const cost = (region: number): number => (hasLoss ? data.costOf(region) : (data.regions[region]?.share_max ?? 0) / 100);
  let at = root;
  for (;;) {
    open.add(at);
    const [next] = byWeight(data.inside[at] ?? [], cost);
    if (next === undefined || !(cost(next) > 0)) return open;
    if (hasLoss ? cost(next) < COSTLY_SHARE * data.costOf(root) : cost(next) < COSTLY_SHARE) return open;
    at = next;
  }
}

/** Whether a region is `root` or lies inside it. */
export function isInside(data: ScalingData, region: number, root: number): boolean {
  for (let at: number | null = region; at !== null && at >= root; at = data.regions[at]?.parent ?? null) {
    if (at === root) return true;
  }
  return false;
}

/** The path from the top to a region, both included. */
export function pathTo(data: ScalingData, region: number): readonly number[] {
  const path: number[] = [];
  for (let at: number | null = region; at !== null; at = data.regions[at]?.parent ?? null) path.push(at);
  return path.reverse();
}
