/** A range with room at both ends, so that points do not lie on the frame. */
export function padded(values: Float64Array): readonly [number, number] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!(high >= low)) return [0, 1];
  const room = high > low ? (high - low) * 0.05 : Math.max(Math.abs(high), 1) * 0.05;
  return [low - room, high + room];
}

/** Where things lie in a picture, in pixels. */
export interface Frame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** The pixel of a value. */
export function pixel(value: number, range: readonly [number, number], start: number, length: number): number {
  const span = range[1] - range[0];
  return start + (span > 0 ? ((value - range[0]) / span) * length : length / 2);
}

/** The point nearest to a place, at most `reach` pixels away; -1 where there is none. */
export function nearest(xs: Float64Array, ys: Float64Array, x: number, y: number, reach: number): number {
  let best = -1;
  let least = reach * reach;
  for (let at = 0; at < xs.length; at += 1) {
    const dx = (xs[at] ?? Number.NaN) - x;
    const dy = (ys[at] ?? Number.NaN) - y;
    const distance = dx * dx + dy * dy;
    if (distance <= least) {
      least = distance;
      best = at;
    }
  }
  return best;
}
