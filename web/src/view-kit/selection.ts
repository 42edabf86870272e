import type { ContextKey, LocationKey, ReferenceKey, Spot } from "../state/app-state.ts";
import type { Links } from "../state/links.svelte.ts";

/** A context of an experiment, as links name it. */
export function contextKey(item: string, context: number): ContextKey {
  return { kind: "context", item, context };
}

/** A location of an experiment, as links name it. */
export function locationKey(item: string, location: number): LocationKey {
  return { kind: "location", item, location };
}

/** A variable or allocation of a recording, as links name it. */
export function referenceKey(item: string, reference: number): ReferenceKey {
  return { kind: "reference", item, reference };
}

/** The context that a link names, if it is one of this experiment; null otherwise. */
export function contextOf(thing: Links["focus"], item: string): number | null {
  return thing?.kind === "context" && thing.item === item ? thing.context : null;
}

/** The spot of links, if it is about this experiment. */
export function spotOf(links: Links, item: string): Spot | null {
  return links.spot?.item === item ? links.spot : null;
}

/** The selected time of this experiment, since the first record; null for none. */
export function selectedTime(links: Links, item: string): readonly [fromNs: number, toNs: number] | null {
  return spotOf(links, item)?.window ?? null;
}

/** A spot restricted to a time, or no longer; null when nothing is restricted any more. */
export function withWindow(spot: Spot | null, item: string, window: readonly [fromNs: number, toNs: number] | null): Spot | null {
  const { window: _before, ...rest } = spot ?? { item };
  if (window !== null) return { ...rest, window: [Math.max(0, Math.floor(window[0])), Math.max(1, Math.ceil(window[1]))] };
  return Object.keys(rest).length > 1 ? rest : null;
}

/** A spot restricted to a context, or no longer; null when nothing is restricted any more. */
export function withContext(spot: Spot | null, item: string, context: number | null): Spot | null {
  const { context: _before, ...rest } = spot ?? { item };
  if (context !== null) return { ...rest, context };
  return Object.keys(rest).length > 1 ? rest : null;
}
