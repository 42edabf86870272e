/** Calls one by one: what is inside what, where each lies in its row, and which one is under the pointer. Pure. */
import { pixelOf, type TimeRange, type TimeScale } from "./axis.ts";
import type { Span } from "./rows.ts";

/** Calls in order of track and start, what is around a call before it. */
export interface CallColumns {
  readonly length: number;
  readonly track: Uint32Array;
  readonly context: Uint32Array;
  /** 1 for the outermost. */
  readonly depth: Uint32Array;
  readonly startNs: Float64Array;
  readonly endNs: Float64Array;
}

/** Calls with what is known of how they lie in each other. */
export interface CallBatch extends CallColumns {
  /** The time window and the tracks that they are all calls of. */
  readonly range: TimeRange;
  readonly spans: readonly Span[];
  /** Calls shorter than this are not among them. */
  readonly shortestNs: number;
  /** How many of these there are. */
  readonly shorter: number;
  /** The call around each; -1 where none is known. */
  readonly parent: Int32Array;
  /** The first call inside each; -1 where none is known. */
  readonly firstChild: Int32Array;
  /** The next call inside the same; -1 for the last. */
  readonly nextSibling: Int32Array;
  readonly leastDepth: number;
  readonly mostDepth: number;
  /** Calls by depth, and by `key` within a depth, so that few colours change while drawing. */
  readonly order: Uint32Array;
}

/** Calls with what lies inside what. */
export function callBatch(
  columns: CallColumns,
  about: Pick<CallBatch, "range" | "spans" | "shortestNs" | "shorter">,
  keyOf: (context: number) => number,
): CallBatch {
  const { length, track, depth, startNs, endNs, context } = columns;
  const parent = new Int32Array(length).fill(-1);
  const firstChild = new Int32Array(length).fill(-1);
  const nextSibling = new Int32Array(length).fill(-1);
  const lastChild = new Int32Array(length).fill(-1);
  let leastDepth = Number.POSITIVE_INFINITY;
  let mostDepth = 0;
  const around: number[] = [];
  for (let call = 0; call < length; call += 1) {
    const level = depth[call] ?? 1;
    leastDepth = Math.min(leastDepth, level);
    mostDepth = Math.max(mostDepth, level);
    for (let top = around.at(-1); top !== undefined; top = around.at(-1)) {
      const isInside = track[top] === track[call] && (depth[top] ?? 0) < level && (startNs[call] ?? 0) < (endNs[top] ?? 0);
      if (isInside) {
        parent[call] = top;
        const before = lastChild[top] ?? -1;
        if (before < 0) firstChild[top] = call;
        else nextSibling[before] = call;
        lastChild[top] = call;
        break;
      }
      around.pop();
    }
    around.push(call);
  }
  const keys = Float64Array.from(context, (row) => keyOf(row));
  const order = Uint32Array.from(track, (_, call) => call).sort(
    (a, b) => (depth[a] ?? 0) - (depth[b] ?? 0) || (keys[a] ?? 0) - (keys[b] ?? 0) || a - b,
  );
  return { ...columns, ...about, parent, firstChild, nextSibling, leastDepth: length === 0 ? 1 : leastDepth, mostDepth: Math.max(1, mostDepth), order };
}

/** How calls of a row lie over each other: each depth smaller inside the one above, or below it in a lane. */
export type CallShape = "nested" | "lanes";

/** Room that is left between rows, in pixels. */
export const ROW_GAP = 1;

/** Upper edge and height of a depth within its row, in pixels. */
export function depthBox(shape: CallShape, depth: number, least: number, most: number, rowHeight: number): readonly [top: number, height: number] {
  const levels = Math.max(1, most - least + 1);
  const level = Math.max(0, Math.min(levels - 1, depth - least));
  const room = Math.max(1, rowHeight - ROW_GAP);
  if (shape === "lanes") {
    const lane = room / levels;
    return [level * lane, lane];
  }
  // The deepest still has the share 1/levels of the height.
  const height = (room * (levels - level)) / levels;
  return [(room - height) / 2, height];
}

/** The last call of a track that begins at or before a moment; -1 where none does. */
function lastBefore(calls: CallColumns, track: number, ns: number): number {
  let low = 0;
  let high = calls.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const at = calls.track[middle] ?? 0;
    if (at < track || (at === track && (calls.startNs[middle] ?? 0) <= ns)) low = middle + 1;
    else high = middle;
  }
  return low > 0 && calls.track[low - 1] === track ? low - 1 : -1;
}

/** The deepest call of a track at a moment; -1 where none is known. `slackNs` finds calls too short to point at. */
export function callAt(calls: CallBatch, track: number, ns: number, slackNs = 0): number {
  for (let call = lastBefore(calls, track, ns + slackNs); call >= 0; call = calls.parent[call] ?? -1) {
    if ((calls.endNs[call] ?? 0) + slackNs > ns) return call;
  }
  return -1;
}

/** The call at a moment and a height within its row: the one that is drawn there. */
export function callUnder(calls: CallBatch, track: number, ns: number, y: number, shape: CallShape, rowHeight: number, slackNs = 0): number {
  for (let call = callAt(calls, track, ns, slackNs); call >= 0; call = calls.parent[call] ?? -1) {
    const [top, height] = depthBox(shape, calls.depth[call] ?? 1, calls.leastDepth, calls.mostDepth, rowHeight);
    if (y >= top && y < top + height) return call;
  }
  return -1;
}

/** A call and all around it, from the outermost. */
export function pathOf(calls: CallBatch, call: number): readonly number[] {
  const path: number[] = [];
  for (let at = call; at >= 0; at = calls.parent[at] ?? -1) path.push(at);
  return path.reverse();
}

/** The next call of the same track and depth, or the one before; -1 at the end. */
export function adjacentCall(calls: CallBatch, call: number, by: 1 | -1): number {
  const [track, depth] = [calls.track[call], calls.depth[call]];
  for (let at = call + by; at >= 0 && at < calls.length && calls.track[at] === track; at += by) {
    if (calls.depth[at] === depth) return at;
  }
  return -1;
}

/** Whether the batch has all calls that a window of the tracks shows, fine enough for its scale. */
export function isBatchFor(batch: Pick<CallBatch, "range" | "spans" | "shortestNs">, range: TimeRange, spans: readonly Span[], nsPerPixel: number): boolean {
  if (batch.range[0] > range[0] || batch.range[1] < range[1] || batch.shortestNs > nsPerPixel * 1.01) return false;
  return spans.every((span) => batch.spans.some((known) => known.from <= span.from && known.to >= span.to));
}

/** What draws calls; coordinates are pixels of the picture. */
export interface CallPainter {
  fill(colour: string): void;
  rect(x: number, y: number, width: number, height: number): void;
  stroke(x: number, y: number, width: number, height: number): void;
  text(x: number, y: number, room: number, text: string, ink: string): void;
}

/** How calls look. */
export interface CallLook {
  readonly shape: CallShape;
  /** Null for calls that are hidden. */
  fillOf(context: number): string | null;
  inkOf(context: number): string;
  nameOf(context: number): string;
  /** Deepest that is drawn; null for no limit. */
  readonly maxDepth: number | null;
}

const NARROWEST_STROKE = 5;
const NARROWEST_TEXT = 26;
const LOWEST_TEXT = 9;

/** Draws the calls that are on screen. */
export function paintCalls(calls: CallBatch, scale: TimeScale, rowTop: (track: number) => number | null, rowHeight: number, look: CallLook, painter: CallPainter): void {
  const most = Math.min(calls.mostDepth, look.maxDepth ?? Number.POSITIVE_INFINITY);
  let fill = "";
  for (const call of calls.order) {
    const depth = calls.depth[call] ?? 1;
    if (depth > most) break;
    const top = rowTop(calls.track[call] ?? 0);
    if (top === null) continue;
    const left = pixelOf(scale, calls.startNs[call] ?? 0);
    const right = pixelOf(scale, calls.endNs[call] ?? 0);
    if (right < 0 || left > scale.pixels) continue;
    const context = calls.context[call] ?? 0;
    const colour = look.fillOf(context);
    if (colour === null) continue;
    if (colour !== fill) painter.fill((fill = colour));
    const [inset, height] = depthBox(look.shape, depth, calls.leastDepth, most, rowHeight);
    const x = Math.max(-2, left);
    const width = Math.max(1, Math.min(scale.pixels + 2, right) - x);
    painter.rect(x, top + inset, width, height);
    if (width < NARROWEST_STROKE || height < 4) continue;
    painter.stroke(x, top + inset, width, height);
    if (width < NARROWEST_TEXT || height < LOWEST_TEXT) continue;
    const [start, end] = look.shape === "lanes" || depth >= most ? [Math.max(0, x), x + width] : freeRoom(calls, call, scale, Math.max(0, x), x + width);
    if (end - start >= NARROWEST_TEXT) painter.text(start + 3, top + inset + height / 2, end - start - 6, look.nameOf(context), look.inkOf(context));
  }
}

const MOST_PASSED = 256;

/** The first part of a call that no call inside covers and that has room for a name. */
function freeRoom(calls: CallBatch, call: number, scale: TimeScale, from: number, to: number): readonly [number, number] {
  let start = from;
  let passed = 0;
  for (let child = calls.firstChild[call] ?? -1; child >= 0; child = calls.nextSibling[child] ?? -1) {
    const left = pixelOf(scale, calls.startNs[child] ?? 0);
    if (left - start >= NARROWEST_TEXT) return [start, Math.min(to, left)];
    start = Math.max(start, pixelOf(scale, calls.endNs[child] ?? 0));
    passed += 1;
    if (passed > MOST_PASSED) return [0, 0];
  }
  return [start, to];
}
