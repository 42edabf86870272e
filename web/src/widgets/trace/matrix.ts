/** What is known of the messages from one track to another. */
export interface PairSum {
  /** Position; -1 where it is not in the trace. */
  readonly sender: number;
  readonly receiver: number;
  readonly messages: number;
  readonly bytes: number;
  /** Seconds from sending to receiving, on average over those that are matched; NaN where none is. */
  readonly meanSeconds: number;
  /** NaN where none is matched. */
  readonly longestSeconds: number;
  readonly unmatched: number;
}

/** Sums for each sender (row) and receiver (column). */
export interface Matrix {
  /** Rows and columns. */
  readonly size: number;
  /** Tracks in each row but the last, which may have fewer. */
  readonly step: number;
  readonly messages: Float64Array;
  readonly bytes: Float64Array;
  /** Seconds of all matched messages together. */
  readonly seconds: Float64Array;
  readonly matched: Float64Array;
  /** Seconds; NaN where none is matched. */
  readonly longest: Float64Array;
}

/** What a matrix shows by colour. */
export type MatrixQuantity = "messages" | "bytes" | "mean";

/** More rows than this could not be distinguished. */
export const MOST_ROWS = 256;

/** The matrix of all pairs of `tracks` tracks; neighbours share a row where there are more than `most`. Those that are not in the trace have the last row. */
export function matrixOf(pairs: readonly PairSum[], tracks: number, most = MOST_ROWS): Matrix {
  const hasOutside = pairs.some((pair) => pair.sender < 0 || pair.receiver < 0);
  const step = Math.max(1, Math.ceil(tracks / most));
  const rows = Math.ceil(tracks / step);
  const size = rows + (hasOutside ? 1 : 0);
  const make = (): Float64Array => new Float64Array(size * size);
  const matrix: Matrix = { size, step, messages: make(), bytes: make(), seconds: make(), matched: make(), longest: make().fill(Number.NaN) };
  const place = (track: number): number => (track < 0 ? rows : Math.floor(track / step));
  for (const pair of pairs) {
    const at = place(pair.sender) * size + place(pair.receiver);
    const matched = pair.messages - pair.unmatched;
    add(matrix.messages, at, pair.messages);
    add(matrix.bytes, at, pair.bytes);
    add(matrix.matched, at, matched);
    if (matched > 0 && Number.isFinite(pair.meanSeconds)) add(matrix.seconds, at, pair.meanSeconds * matched);
    const longest = matrix.longest[at] ?? Number.NaN;
    if (!Number.isNaN(pair.longestSeconds) && !(longest >= pair.longestSeconds)) matrix.longest[at] = pair.longestSeconds;
  }
  return matrix;
}

function add(to: Float64Array, at: number, value: number): void {
  to[at] = (to[at] ?? 0) + value;
}

/** The value of a cell; NaN where there are no messages, or none is matched. */
export function matrixValue(matrix: Matrix, row: number, column: number, quantity: MatrixQuantity): number {
  if (row < 0 || column < 0 || row >= matrix.size || column >= matrix.size) return Number.NaN;
  const at = row * matrix.size + column;
  if (!((matrix.messages[at] ?? 0) > 0)) return Number.NaN;
  if (quantity !== "mean") return matrix[quantity][at] ?? Number.NaN;
  const matched = matrix.matched[at] ?? 0;
  return matched > 0 ? (matrix.seconds[at] ?? 0) / matched : Number.NaN;
}

/** The largest value of all cells, and the smallest above zero; null where there is none. */
export function matrixRange(matrix: Matrix, quantity: MatrixQuantity): { readonly least: number; readonly most: number } | null {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < matrix.size; row += 1) {
    for (let column = 0; column < matrix.size; column += 1) {
      const value = matrixValue(matrix, row, column, quantity);
      if (value > most) most = value;
      if (value > 0 && value < least) least = value;
    }
  }
  return most === Number.NEGATIVE_INFINITY ? null : { least: Math.min(least, most), most };
}

/** Where a value stands between the smallest and the largest, 0 to 1; by order of magnitude where they are far apart. */
export function matrixShare(value: number, range: { readonly least: number; readonly most: number }): number {
  if (!(range.most > range.least)) return 1;
  if (isLogarithmic(range)) return value <= range.least ? 0 : Math.log(value / range.least) / Math.log(range.most / range.least);
  return (value - Math.min(0, range.least)) / (range.most - Math.min(0, range.least));
}

/** Whether colours go by order of magnitude. */
export function isLogarithmic(range: { readonly least: number; readonly most: number }): boolean {
  return range.least > 0 && range.most / range.least > 100;
}

/** The tracks of a row, half-open; null for those that are not in the trace. */
export function tracksOfRow(matrix: Matrix, row: number, tracks: number): readonly [from: number, to: number] | null {
  const from = row * matrix.step;
  return from >= tracks ? null : [from, Math.min(from + matrix.step, tracks)];
}

/** The tracks of a sender and a receiver together, in order and without what both have. */
export function uniteRanges(ranges: readonly (readonly [number, number])[]): readonly (readonly [from: number, to: number])[] {
  const out: [number, number][] = [];
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = out.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else out.push([from, to]);
  }
  return out;
}
