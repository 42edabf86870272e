/** Zooming into calls: each lane has a history of its own, and the last step of all lanes says what time is on screen. Pure. */

import type { Zoom } from "./states.ts";

/** The zooms that count: aggregated calls have no place in time. */
export function zoomsOf(zooms: readonly Zoom[], isMerged: boolean): readonly Zoom[] {
  return isMerged ? zooms : zooms.filter((one) => one.share === undefined);
}

/** What a lane is zoomed to; null for all of its thread. */
export function zoomOf(zooms: readonly Zoom[], thread: number, isMerged: boolean): Zoom | null {
  return zoomsOf(zooms, isMerged).findLast((one) => one.thread === thread) ?? null;
}

/** One step further in; a call that is the top already stays so. */
export function zoomedIn(zooms: readonly Zoom[], zoom: Zoom, isMerged: boolean): readonly Zoom[] {
  const now = zoomOf(zooms, zoom.thread, isMerged);
  return now !== null && now.activation === zoom.activation && now.share === zoom.share ? zooms : [...zooms, zoom];
}

/** One step back of a lane; the same list where it is not zoomed. */
export function zoomedOut(zooms: readonly Zoom[], thread: number, isMerged: boolean): readonly Zoom[] {
  const last = zoomOf(zooms, thread, isMerged);
  return last === null ? zooms : zooms.filter((one) => one !== last);
}
