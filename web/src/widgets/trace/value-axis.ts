import { valueAxis, type ValueAxis } from "../plots/value-plot.ts";
import type { TimePaint } from "./time-plot.ts";

/** Pixels above and below the axis. */
const MARGIN = 10;

/** What is between the two ends of an axis, and how to find a value in it. */
export interface ValueScale {
  /** The smallest value of the axis. */
  readonly low: number;
  /** Pixels from the top. */
  yOf(value: number): number;
}

/** Paints an axis of values from `least` to `most` next to a `TimePlot`, lines across it, and what `draw` draws, cut to the picture. `unitSize` is what one of the unit of the ticks is in values. */
export function paintValues(
  { context, left, width, height, look }: TimePaint, least: number, most: number, tickOf: (value: number) => string, draw: (scale: ValueScale) => void, unitSize = 1,
): void {
  const room = Math.max(10, height - 2 * MARGIN);
  const { low, high, ticks } = axisIn(unitSize, least, most, room);
  const yOf = (value: number): number => MARGIN + room * (1 - (value - low) / (high - low));
  context.font = look.font;
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const tick of ticks) {
    const y = yOf(tick);
    context.fillStyle = look.line;
    context.fillRect(left, Math.round(y), width - left, 1);
    context.fillStyle = look.faint;
    context.fillText(tickOf(tick), left - 6, y);
  }
  context.save();
  context.beginPath();
  context.rect(left, 0, width - left, height);
  context.clip();
  draw({ low, yOf });
  context.restore();
}

/** An axis whose ticks are round in the unit in which they are written: in GB, not in bytes that are written as GiB. */
export function axisIn(unitSize: number, least: number, most: number, pixels: number): ValueAxis {
  const { low, high, ticks } = valueAxis(least / unitSize, most / unitSize, pixels);
  return { low: low * unitSize, high: high * unitSize, ticks: ticks.map((tick) => tick * unitSize) };
}
