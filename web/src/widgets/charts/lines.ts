/** A line of a `LineChart`. */
export interface LineSeries {
  readonly id: string;
  readonly name: string;
  /** CSS. */
  readonly colour: string;
  readonly points: readonly LinePoint[];
  /** Dashes for what was not measured: models and ideals. */
  readonly look?: "measured" | "model" | "ideal";
  /** The shape of the points, so that lines differ without colour. */
  readonly shape?: number;
  readonly isFaint?: boolean;
}

/** A point of a line; undefined values are NaN and interrupt the line. */
export interface LinePoint {
  readonly x: number;
  readonly y: number;
  /** The band around the line. */
  readonly low?: number;
  readonly high?: number;
}

/** The smallest range that holds all defined values, and what must be in it. */
export function extent(values: Iterable<number>, include: readonly number[] = []): readonly [low: number, high: number] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const list of [values, include]) {
    for (const value of list) {
      if (!Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low > high ? [0, 1] : [low, high];
}

/** Values that are positive, as a logarithmic axis needs them. */
export function positive(values: Iterable<number>): readonly number[] {
  return [...values].filter((value) => value > 0 && Number.isFinite(value));
}

/** An SVG path through points, interrupted where a value is undefined or outside a logarithm. */
export function pathOf(points: readonly { readonly x: number; readonly y: number }[]): string {
  let path = "";
  let isDown = false;
  for (const { x, y } of points) {
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      isDown = false;
      continue;
    }
    path += `${isDown ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`;
    isDown = true;
  }
  return path;
}

/** An SVG path around a band, from left to right along the top and back along the bottom. */
export function bandOf(points: readonly { readonly x: number; readonly low: number; readonly high: number }[]): string {
  const known = points.filter(({ x, low, high }) => [x, low, high].every((value) => Number.isFinite(value)));
  if (known.length < 2) return "";
  const top = known.map(({ x, high }) => `${x.toFixed(2)} ${high.toFixed(2)}`);
  const bottom = known.toReversed().map(({ x, low }) => `${x.toFixed(2)} ${low.toFixed(2)}`);
  return `M${[...top, ...bottom].join("L")}Z`;
}

const SHAPES: readonly string[] = [
  "M-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0Z",
  "M-3 -3H3V3H-3Z",
  "M0 -3.8L3.6 2.8H-3.6Z",
  "M0 -4.2L4.2 0L0 4.2L-4.2 0Z",
  "M0 3.8L3.6 -2.8H-3.6Z",
  "M-3.800 -1.200H-1.200V-3.800H1.200V-1.200H3.800V1.200H1.200V3.800H-1.200V1.200H-3.800Z",
];

/** The path of a point's shape around 0 0. */
export function shapePath(index: number): string {
  return SHAPES[((index % SHAPES.length) + SHAPES.length) % SHAPES.length] ?? "";
}

/** Ticks of a logarithmic axis that can be distinguished: 1, 2 and 5 of each power of ten, or the powers alone. */
export function logarithmicTicks(low: number, high: number): readonly number[] {
  if (!(low > 0) || !(high > low)) return [];
  const steps = Math.log10(high / low) > 2.2 ? [1] : [1, 2, 5];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const step of steps) {
      // Written as text, 0.2 is 0.2 and not 0.20000000000000001.
      const tick = Number(`${String(step)}e${String(power)}`);
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  }
  return ticks;
}
