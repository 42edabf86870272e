import { fittedName } from "../../base/names.ts";
import type { DrawContext } from "../canvas/draw-context.ts";
import { eachPiece, type FlameLayout, type FlamePiece } from "./flame-layout.ts";

/** Height of a level, in pixels. */
export const LEVEL_PIXELS = 19;
const GAP = 1;
const PADDING = 4;
const NARROWEST = 1.5;
const NARROWEST_TEXT = 22;

/** The part of a flame graph that is on screen. */
export interface FlameWindow {
  /** Edges in the unit of the values. */
  readonly left: number;
  readonly right: number;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Pixels above the upper edge of the window. */
  readonly scrolled: number;
  /** Whether the top of the tree is at the top of the picture. */
  readonly isIcicle: boolean;
}

/** How frames look. */
export interface FlameLook {
  fill(row: number): string;
  ink(row: number): string;
  name(row: number): string;
  /** Frames that are too narrow to be distinguished. */
  readonly sliver: string;
  readonly font: string;
}

/** What draws. */
export interface FlamePainter {
  rect(x: number, y: number, width: number, height: number, fill: string): void;
  text(x: number, y: number, text: string, ink: string): void;
  /** Pixels. */
  widthOf(text: string): number;
}

/** Upper edge of a level, in pixels from the top of the whole picture. */
export function levelTop(layout: FlameLayout, level: number, isIcicle: boolean): number {
  return (isIcicle ? level : layout.levels - 1 - level) * LEVEL_PIXELS;
}

/** The level at a height; may be outside the layout. */
export function levelAt(layout: FlameLayout, y: number, isIcicle: boolean): number {
  const step = Math.floor(y / LEVEL_PIXELS);
  return isIcicle ? step : layout.levels - 1 - step;
}

/** Draws what is on screen; returns the slivers by level, for the tooltip. */
export function paintFlame(layout: FlameLayout, view: FlameWindow, look: FlameLook, painter: FlamePainter): ReadonlyMap<number, readonly FlamePiece[]> {
  const slivers = new Map<number, FlamePiece[]>();
  const scale = view.width / (view.right - view.left);
  const at = [levelAt(layout, view.scrolled, view.isIcicle), levelAt(layout, view.scrolled + view.height, view.isIcicle)];
  const first = Math.max(0, Math.min(...at));
  const last = Math.min(layout.levels - 1, Math.max(...at));
  const widths = new Map<string, number>();
  for (let level = first; level <= last; level += 1) {
    const y = levelTop(layout, level, view.isIcicle) - view.scrolled;
    eachPiece(layout, level, view.left, view.right, NARROWEST / scale, (piece) => {
      const x = Math.max(0, (piece.left - view.left) * scale);
      const right = Math.min(view.width, (piece.right - view.left) * scale);
      if (piece.count > 1 || right - x < NARROWEST) {
        const list = slivers.get(level);
        if (list === undefined) slivers.set(level, [piece]);
        else list.push(piece);
        painter.rect(x, y, Math.max(1, right - x), LEVEL_PIXELS - GAP, piece.count > 1 ? look.sliver : look.fill(piece.row));
        return;
      }
      const width = right - x;
      painter.rect(x, y, Math.max(0.5, width - (width > 3 ? GAP : 0)), LEVEL_PIXELS - GAP, look.fill(piece.row));
      if (width < NARROWEST_TEXT) return;
      const text = fitted(look.name(piece.row), width - 2 * PADDING, painter, widths);
      if (text !== "") painter.text(x + PADDING, y + (LEVEL_PIXELS - GAP) / 2, text, look.ink(piece.row));
    });
  }
  return slivers;
}

/** As much of a name as fits, with an ellipsis for the rest. */
function fitted(name: string, room: number, painter: FlamePainter, widths: Map<string, number>): string {
  return fittedName(name, room, (text) => {
    let width = widths.get(text);
    if (width === undefined) widths.set(text, (width = painter.widthOf(text)));
    return width;
  });
}

/** A painter with a drawing context whose coordinates are CSS pixels. */
export function canvasPainter(context: DrawContext, font: string): FlamePainter {
  context.font = font;
  context.textBaseline = "middle";
  return {
    rect(x, y, width, height, fill) {
      context.fillStyle = fill;
      context.fillRect(x, y, width, height);
    },
    text(x, y, text, ink) {
      context.fillStyle = ink;
      context.fillText(text, x, y + 0.5);
    },
    widthOf: (text) => context.measureText(text).width,
  };
}
