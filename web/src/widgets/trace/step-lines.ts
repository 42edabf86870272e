import type { DrawContext } from "../canvas/draw-context.ts";
/** Where a number is on a canvas. */
type Place = (value: number) => number;

/** A line of steps, one for each bin: a value holds until the next one; where there is none, the line has a gap. */
export function stepLine(context: DrawContext, values: Float64Array, xOf: Place, yOf: Place, colour: string): void {
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.beginPath();
  let isDrawing = false;
  for (let bin = 0; bin < values.length; bin += 1) {
    const value = values[bin] ?? Number.NaN;
    if (Number.isNaN(value)) {
      isDrawing = false;
      continue;
    }
    if (isDrawing) context.lineTo(xOf(bin), yOf(value));
    else context.moveTo(xOf(bin), yOf(value));
    context.lineTo(xOf(bin + 1), yOf(value));
    isDrawing = true;
  }
  context.stroke();
}
