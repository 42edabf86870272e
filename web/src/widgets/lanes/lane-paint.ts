import type { DrawContext } from "../canvas/draw-context.ts";
import { eachPiece, type FlamePiece } from "../plots/flame-layout.ts";
import { nsPerPixel, pixelOf, type TimeScale } from "../timeline/axis.ts";
import { CIRCLE, HEAD_PIXELS, LEVEL_PIXELS, LOOP_PIXELS, type Lane, type LaneGeometry, type LaneSlivers } from "./lane-layout.ts";

const GAP = 1;
const PADDING = 4;
const NARROWEST = 1.5;
const NARROWEST_TEXT = 22;
/** A line of a loop that is shorter than this, in pixels, is a circle. */
const SHORTEST_LINE = 8;
/** What a line needs besides its text, in pixels. */
const LOOP_ROOM = 24;

/** How bars look. Rows are those of their lane. */
export interface LaneLook {
  fill(lane: number, row: number): string;
  ink(lane: number, row: number): string;
  name(lane: number, row: number): string;
  /** 0 to 1: what is not pointed at is paler. */
  opacity(lane: number, row: number): number;
  /** Rows that are drawn once more on top, however narrow: those that are pointed at, marked or in focus. */
  readonly raised: readonly (readonly RaisedRow[])[];
  /** Iterations of a loop in words, longest first: the first that fits is written. */
  iterations(lane: number, row: number): readonly string[];
  /** Loops that take less, in nanoseconds, are circles; by lane. */
  readonly shortestLoop: readonly number[];
  readonly sliver: string;
  readonly loop: string;
  readonly font: string;
}

/** A row on top of the others; without an outline or a flag it is only as bright as it can be. */
export interface RaisedRow {
  readonly row: number;
  readonly outline: string | null;
  /** The colour of a flag in the upper right corner, where names rarely are. */
  readonly flag: string | null;
}

/** Width and height of a flag, in pixels. */
const FLAG = 10;

/** What is on screen. */
export interface LaneWindow {
  /** Of each lane; all are as wide as the window. */
  readonly scales: readonly TimeScale[];
  readonly width: number;
  readonly height: number;
  /** Pixels above the upper edge of the window. */
  readonly scrolled: number;
  readonly hasLoops: boolean;
}

/** Draws what is on screen; returns what was too narrow to be distinguished, for the tooltip. The number of shapes depends on pixels, not on calls. */
export function paintLanes(lanes: readonly Lane[], geometry: LaneGeometry, view: LaneWindow, look: LaneLook, context: DrawContext): LaneSlivers {
  context.font = look.font;
  context.textBaseline = "middle";
  const widths = new Map<string, number>();
  return lanes.map((lane, index) => {
    const slivers = new Map<number, FlamePiece[]>();
    const levels = geometry.levelTops[index] ?? [];
    const scale = view.scales[index];
    if (scale === undefined || (levels.at(-1) ?? 0) < view.scrolled || (geometry.tops[index] ?? 0) + HEAD_PIXELS > view.scrolled + view.height) return slivers;
    const least = NARROWEST * nsPerPixel(scale);
    for (let level = 0; level < levels.length - 1; level += 1) {
      const y = (levels[level] ?? 0) - view.scrolled;
      if (y > view.height || (levels[level + 1] ?? 0) < view.scrolled) continue;
      eachPiece(lane.layout, level, scale.fromNs, scale.toNs, least, (piece) => {
        const [x, right] = edges(scale, view.width, piece.left, piece.right);
        context.globalAlpha = look.opacity(index, piece.row);
        if (piece.count > 1 || right - x < NARROWEST) {
          const list = slivers.get(level);
          if (list === undefined) slivers.set(level, [piece]);
          else list.push(piece);
          context.fillStyle = piece.count > 1 ? look.sliver : look.fill(index, piece.row);
          context.fillRect(x, y, Math.max(1, right - x), LEVEL_PIXELS - GAP);
          return;
        }
        bar(context, look, index, piece.row, x, right, y, widths);
      });
      if (view.hasLoops) paintLoops(lane, index, level, y, scale, view.width, look, context);
    }
    paintRaised(lane, index, levels, scale, view, look, context, widths);
    context.globalAlpha = 1;
    return slivers;
  });
}

function edges(scale: TimeScale, width: number, fromNs: number, toNs: number): [left: number, right: number] {
  return [Math.max(0, pixelOf(scale, fromNs)), Math.min(width, pixelOf(scale, toNs))];
}

function bar(context: DrawContext, look: LaneLook, lane: number, row: number, x: number, right: number, y: number, widths: Map<string, number>): void {
  const wide = right - x;
  context.fillStyle = look.fill(lane, row);
  context.fillRect(x, y, Math.max(0.5, wide - (wide > 3 ? GAP : 0)), LEVEL_PIXELS - GAP);
  if (wide < NARROWEST_TEXT) return;
  const text = fitted(look.name(lane, row), wide - 2 * PADDING, context, widths);
  if (text === "") return;
  context.fillStyle = look.ink(lane, row);
  context.textAlign = "left";
  context.fillText(text, x + PADDING, y + (LEVEL_PIXELS - GAP) / 2 + 0.5);
}

/** As much of a name as fits, with an ellipsis for the rest. */
function fitted(name: string, room: number, context: DrawContext, widths: Map<string, number>): string {
  let width = widths.get(name);
  if (width === undefined) {
    width = context.measureText(name).width;
    widths.set(name, width);
  }
  if (width <= room) return name;
  const letters = Math.floor((room / width) * name.length) - 1;
  return letters < 2 ? "" : `${name.slice(0, letters).trimEnd()}…`;
}

/** A rounded line from the start of each loop to its end with its iterations, or a circle for a short one. */
function paintLoops(lane: Lane, index: number, level: number, y: number, scale: TimeScale, width: number, look: LaneLook, context: DrawContext): void {
  // Circles on the same pixels show nothing more.
  const last: number[] = [];
  for (const row of lane.loops[level] ?? []) {
    const from = pixelOf(scale, lane.start[row] ?? 0);
    const to = pixelOf(scale, (lane.start[row] ?? 0) + (lane.span[row] ?? 0));
    if (to < 0 || from > width) continue;
    const nesting = lane.nesting[row] ?? 0;
    const isShort = to - from < SHORTEST_LINE || (lane.span[row] ?? 0) < (look.shortestLoop[index] ?? 0);
    if (isShort && (from + to) / 2 - (last[nesting] ?? -10) < CIRCLE) continue;
    if (isShort) last[nesting] = (from + to) / 2;
    context.globalAlpha = look.opacity(index, row);
    const middleY = y + LEVEL_PIXELS + nesting * LOOP_PIXELS + LOOP_PIXELS / 2 - 1;
    paintLoop(context, isShort, from, to, middleY, width, look.loop, look.iterations(index, row));
  }
}

function paintLoop(context: DrawContext, isShort: boolean, from: number, to: number, middleY: number, width: number, colour: string, texts: readonly string[], thick = 3): void {
  context.strokeStyle = context.fillStyle = colour;
  context.beginPath();
  if (isShort) {
    context.arc(Math.round((from + to) / 2), middleY, CIRCLE, 0, 2 * Math.PI);
    context.fill();
    return;
  }
  const [left, right] = [Math.max(1.5, from + 1.5), Math.max(2, Math.min(width - 1.5, to - 2.5))];
  const text = texts.find((one) => right - left >= context.measureText(one).width + LOOP_ROOM);
  const room = text === undefined ? 0 : context.measureText(text).width / 2 + 5;
  const middle = (left + right) / 2;
  context.lineWidth = thick;
  context.lineCap = "round";
  for (const [start, end] of text === undefined ? [[left, right]] as const : [[left, middle - room], [middle + room, right]] as const) {
    context.moveTo(start, middleY);
    context.lineTo(end, middleY);
  }
  context.stroke();
  if (text === undefined) return;
  context.textAlign = "center";
  context.fillText(text, middle, middleY + 0.5);
}

function paintRaised(lane: Lane, index: number, levels: readonly number[], scale: TimeScale, view: LaneWindow, look: LaneLook, context: DrawContext, widths: Map<string, number>): void {
  const last: number[] = [];
  context.globalAlpha = 1;
  for (const { row, outline, flag } of look.raised[index] ?? []) {
    const start = lane.start[row] ?? 0;
    const end = start + (lane.span[row] ?? 0);
    if (end < scale.fromNs || start > scale.toNs) continue;
    const level = lane.level[row] ?? 0;
    const y = (levels[level] ?? 0) - view.scrolled;
    if (level >= levels.length - 1 || y > view.height || (levels[level + 1] ?? 0) < view.scrolled) continue;
    if (lane.isLoop[row] === 1) {
      if (!view.hasLoops) continue;
      const [from, to] = [pixelOf(scale, start), pixelOf(scale, end)];
      const isShort = to - from < SHORTEST_LINE || end - start < (look.shortestLoop[index] ?? 0);
      const middleY = y + LEVEL_PIXELS + (lane.nesting[row] ?? 0) * LOOP_PIXELS + LOOP_PIXELS / 2 - 1;
      paintLoop(context, isShort, from, to, middleY, view.width, outline ?? flag ?? look.loop, look.iterations(index, row), 5);
      continue;
    }
    const [x, right] = edges(scale, view.width, start, end);
    if (right - x < NARROWEST) {
      // Narrow ones are ticks; several on one pixel are one.
      if (Math.round(x) === last[level]) continue;
      last[level] = Math.round(x);
      context.fillStyle = outline ?? flag ?? look.fill(index, row);
      context.fillRect(Math.round(x) - 0.5, y, 2, LEVEL_PIXELS - GAP);
      continue;
    }
    bar(context, look, index, row, x, right, y, widths);
    if (outline !== null) {
      context.strokeStyle = outline;
      context.lineWidth = 2;
      context.lineCap = "butt";
      context.strokeRect(x + 1, y + 1, Math.max(1, right - x - 3), LEVEL_PIXELS - GAP - 2);
    }
    if (flag === null) continue;
    context.fillStyle = flag;
    const size = Math.min(FLAG, right - x);
    context.beginPath();
    context.moveTo(right, y);
    context.lineTo(right - size, y);
    context.lineTo(right, y + size);
    context.fill();
  }
}
