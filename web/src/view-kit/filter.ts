import type { Spot } from "../state/app-state.ts";
import type { PruneChoice } from "../wire/protocol.ts";

/** What all profile views of an experiment include and exclude. Plain JSON: it is part of links. */
export interface Filter {
  /** The metric of views that show one; null for the one that says most about time. */
  readonly metric: string | null;
  /** A profile expression; empty for all locations. */
  readonly profiles: string;
  /** Count time in the traces instead of metrics. */
  readonly isTrace: boolean;
  /** Include helper threads: those that MPI, networks or the measurement start for themselves. */
  readonly helpers: boolean;
  readonly mpi: boolean;
  readonly openmp: boolean;
  readonly lines: boolean;
  /** Exclude contexts that cost less than this share of the total, in per cent; 0 keeps everything. */
  readonly belowPercent: number;
  /** Globs: the function's own node goes, its cost moves to its caller. */
  readonly hide: readonly string[];
  /** Globs: everything below the function goes. */
  readonly fold: readonly string[];
  /** Globs: the function goes with everything below. */
  readonly cut: readonly string[];
}

/** Name of the shared slice: `state.shared(PROFILE_FAMILY, NO_FILTER)`. */
export const PROFILE_FAMILY = "profile";

export const NO_FILTER: Filter = {
  metric: null,
  profiles: "",
  isTrace: false,
  helpers: false,
  mpi: false,
  openmp: false,
  lines: false,
  belowPercent: 0,
  hide: [],
  fold: [],
  cut: [],
};

/** What is excluded, as the engine takes it. */
export function pruneChoice(filter: Filter): PruneChoice {
  return {
    mpi: filter.mpi,
    openmp: filter.openmp,
    lines: filter.lines,
    below_percent: filter.belowPercent > 0 ? filter.belowPercent : null,
    hide: [...filter.hide],
    fold: [...filter.fold],
    cut: [...filter.cut],
  };
}

/** The locations that count as an expression; null for all. */
export function profilesOf(filter: Filter, spot: Spot | null): string | null {
  const parts = [filter.profiles.trim(), spot?.locations === undefined ? "" : locationExpression(spot.locations)].filter((part) => part !== "");
  return parts.length === 0 ? null : parts.length === 1 ? (parts[0] ?? null) : parts.map((part) => `(${part})`).join(" & ");
}

/** The time window of a spot as an expression; both ends of an expression belong to it, the end of a spot does not. */
export function windowOf(spot: Spot | null): string | null {
  return spot?.window === undefined ? null : `${String(spot.window[0])}ns..${String(spot.window[1] - 1)}ns`;
}

/** Locations as an expression in ranges: `profile(1-4,9)`. */
export function locationExpression(locations: readonly number[]): string {
  const sorted = [...new Set(locations)].sort((a, b) => a - b);
  const ranges: [number, number][] = [];
  for (const location of sorted) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === location - 1) last[1] = location;
    else ranges.push([location, location]);
  }
  return `profile(${ranges.map(([from, to]) => (from === to ? String(from) : `${String(from)}-${String(to)}`)).join(",")})`;
}

/** Something that a filter does, and the filter without it. */
export interface FilterPart {
  readonly label: string;
  readonly without: Filter;
}

/** Shown where a tree is empty although nothing is excluded. */
export const NOTHING_KNOWN = "No context with a value could be read. The view Issues lists what is damaged or missing in the files.";

/** What a filter does, for chips that take it back one by one. */
export function filterParts(filter: Filter): readonly FilterPart[] {
  const parts: FilterPart[] = [];
  const add = (isOn: boolean, label: string, change: Partial<Filter>): void => {
    if (isOn) parts.push({ label, without: { ...filter, ...change } });
  };
  add(filter.profiles.trim() !== "", `Only ${filter.profiles.trim()}`, { profiles: "" });
  add(filter.isTrace, "Time from traces", { isTrace: false });
  add(filter.helpers, "With helper threads", { helpers: false });
  add(filter.mpi, "Without MPI internals", { mpi: false });
  add(filter.openmp, "Without OpenMP internals", { openmp: false });
  add(filter.lines, "Without lines and loops", { lines: false });
  add(filter.belowPercent > 0, `At least ${String(filter.belowPercent)} %`, { belowPercent: 0 });
  for (const kind of ["hide", "fold", "cut"] as const) {
    const words = { hide: "Hidden", fold: "Folded", cut: "Cut" }[kind];
    for (const glob of filter[kind]) add(true, `${words}: ${glob}`, { [kind]: filter[kind].filter((other) => other !== glob) });
  }
  return parts;
}

/** A name as a glob that matches exactly it, as far as globs can. */
export function globOf(name: string): string {
  return name.replace(/[*?]/g, "?");
}
