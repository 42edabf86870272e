/** Values over time below the rows of a timeline, on its axis. Pure. */
import type { DrawContext } from "../canvas/draw-context.ts";
import { axisIn } from "../trace/value-axis.ts";
import { stepLine } from "../trace/step-lines.ts";
import { pixelOf, type TimeScale } from "./axis.ts";

/** Pixels of one strip, and where there is little room. */
export const STRIP_HEIGHT = 46;
export const LOW_STRIP_HEIGHT = 28;
const MARGIN = 6;

/** One strip: values by bins, NaN where there are none. */
export interface Strip {
  readonly id: string;
  readonly title: string;
  /** What is drawn, in words. */
  readonly says: string;
  readonly firstNs: number;
  readonly binNs: number;
  /** Where the area begins; null for zero. */
  readonly low: Float64Array | null;
  /** Where the area ends. */
  readonly high: Float64Array;
  /** A line over the area; null for none. */
  readonly line: Float64Array | null;
  readonly least: number;
  readonly most: number;
  /** What one of the unit of the ticks is in values. */
  readonly unitSize: number;
  textOf(value: number): string;
}

/** Colours and font of strips, as CSS. */
export interface StripLook {
  readonly font: string;
  readonly panel: string;
  readonly line: string;
  readonly text: string;
  readonly accent: string;
}

/** The axis of a strip: two ticks at least, round in its unit. */
export function stripAxis(strip: Pick<Strip, "least" | "most" | "unitSize">, height = STRIP_HEIGHT): { readonly low: number; readonly high: number; readonly ticks: readonly number[] } {
  const { low, high } = axisIn(strip.unitSize, strip.least, strip.most, height - 2 * MARGIN);
  return { low, high, ticks: [high, low] };
}

/** Where a value of a strip is, in pixels from its top. */
export function stripY(axis: { readonly low: number; readonly high: number }, value: number, height = STRIP_HEIGHT): number {
  return MARGIN + (height - 2 * MARGIN) * (1 - (value - axis.low) / (axis.high - axis.low));
}

/** Draws a strip at the origin, without its names. */
export function paintStrip(context: DrawContext, strip: Strip, scale: TimeScale, look: StripLook, height = STRIP_HEIGHT): void {
  const axis = stripAxis(strip, height);
  const xOf = (bin: number): number => pixelOf(scale, strip.firstNs + bin * strip.binNs);
  const yOf = (value: number): number => stripY(axis, value, height);
  context.fillStyle = look.panel;
  context.fillRect(0, 0, scale.pixels, height);
  context.fillStyle = look.line;
  context.fillRect(0, 0, scale.pixels, 1);
  for (const tick of axis.ticks) context.fillRect(0, Math.round(yOf(tick)), scale.pixels, 1);
  context.save();
  context.beginPath();
  context.rect(0, 0, scale.pixels, height);
  context.clip();
  context.fillStyle = look.accent;
  context.globalAlpha = strip.line === null ? 0.75 : 0.22;
  for (let bin = 0; bin < strip.high.length; bin += 1) {
    const [from, to] = [strip.low === null ? axis.low : (strip.low[bin] ?? Number.NaN), strip.high[bin] ?? Number.NaN];
    if (Number.isNaN(from) || Number.isNaN(to) || (strip.low === null && to === axis.low)) continue;
    const [left, right] = [Math.max(0, xOf(bin)), Math.min(scale.pixels, xOf(bin + 1))];
    if (right < left) continue;
    const top = yOf(to);
    context.fillRect(left, top, Math.max(0.75, right - left), Math.max(1, yOf(from) - top));
  }
  context.globalAlpha = 1;
  if (strip.line !== null) stepLine(context, strip.line, xOf, yOf, look.accent);
  context.restore();
}
