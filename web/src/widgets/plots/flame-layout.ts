/** A tree whose rows are in depth-first order; see `end`. */
export interface FlameTree {
  readonly length: number;
  /** 0 at the top. */
  readonly depth: Uint32Array;
  /** After the last row below each row. */
  readonly end: Int32Array;
  /** -1 at the top. */
  readonly parent: Int32Array;
}

/** Where the frames of a flame graph lie. Horizontal positions are in the unit of the values. */
export interface FlameLayout {
  /** Left edge of each row's frame. */
  readonly left: Float64Array;
  /** Width of each row's frame. */
  readonly width: Float64Array;
  /** Right edge of the last frame of the top. */
  readonly total: number;
  readonly levels: number;
  /** Rows, level by level, each level from left to right. Rows without width are omitted. */
  readonly rows: Int32Array;
  /** Where each level begins in `rows`; one entry more than levels. */
  readonly starts: Int32Array;
  /** Sum of the widths of all rows before each position of `rows`. */
  readonly sums: Float64Array;
}

/** Lays out frames: children side by side from the left edge of their parent, never beyond it. */
export function flameLayout(tree: FlameTree, values: Float64Array): FlameLayout {
  const { length, depth, parent } = tree;
  const left = new Float64Array(length);
  const width = new Float64Array(length);
  // Where the next child of each row begins; the last entry is for the top.
  const next = new Float64Array(length + 1);
  let levels = 0;
  let shown = 0;
  for (let row = 0; row < length; row += 1) {
    const above = parent[row] ?? -1;
    const slot = above < 0 ? length : above;
    const from = next[slot] ?? 0;
    const value = values[row] ?? 0;
    const room = above < 0 ? Number.POSITIVE_INFINITY : (left[above] ?? 0) + (width[above] ?? 0) - from;
    const own = value > 0 ? Math.min(value, Math.max(0, room)) : 0;
    left[row] = from;
    width[row] = own;
    next[row] = from;
    next[slot] = from + own;
    if (own > 0) {
      shown += 1;
      levels = Math.max(levels, (depth[row] ?? 0) + 1);
    }
  }
  const starts = new Int32Array(levels + 1);
  for (let row = 0; row < length; row += 1) {
    if ((width[row] ?? 0) > 0) starts[(depth[row] ?? 0) + 1] = (starts[(depth[row] ?? 0) + 1] ?? 0) + 1;
  }
  for (let level = 0; level < levels; level += 1) starts[level + 1] = (starts[level + 1] ?? 0) + (starts[level] ?? 0);
  const fill = starts.slice();
  const rows = new Int32Array(shown);
  // Depth-first order keeps each level from left to right.
  for (let row = 0; row < length; row += 1) {
    if (!((width[row] ?? 0) > 0)) continue;
    const level = depth[row] ?? 0;
    const at = fill[level] ?? 0;
    rows[at] = row;
    fill[level] = at + 1;
  }
  const sums = new Float64Array(shown + 1);
  for (let at = 0; at < shown; at += 1) sums[at + 1] = (sums[at] ?? 0) + (width[rows[at] ?? 0] ?? 0);
  return { left, width, total: next[length] ?? 0, levels, rows, starts, sums };
}

/** The first position of a level whose frame begins after `x`. */
function firstAfter(layout: FlameLayout, from: number, end: number, x: number): number {
  let low = from;
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((layout.left[layout.rows[middle] ?? 0] ?? 0) <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The row whose frame covers `x` on a level; -1 where there is none. A binary search. */
export function frameAt(layout: FlameLayout, level: number, x: number): number {
  const from = layout.starts[level];
  const end = layout.starts[level + 1];
  if (level < 0 || from === undefined || end === undefined) return -1;
  const at = firstAfter(layout, from, end, x) - 1;
  if (at < from) return -1;
  const row = layout.rows[at] ?? -1;
  return x < (layout.left[row] ?? 0) + (layout.width[row] ?? 0) ? row : -1;
}

/** The next frame on the same level to the right (1) or left (-1); -1 at the edge. */
export function frameBeside(layout: FlameLayout, level: number, row: number, step: 1 | -1): number {
  const from = layout.starts[level] ?? 0;
  const end = layout.starts[level + 1] ?? 0;
  const at = firstAfter(layout, from, end, layout.left[row] ?? 0) - 1 + step;
  return at >= from && at < end ? (layout.rows[at] ?? -1) : -1;
}

/** Something to draw on a level: a frame, or frames too narrow to be distinguished. */
export interface FlamePiece {
  /** Row of the frame; the first of them for a sliver. */
  readonly row: number;
  /** Frames in it; 1 for a frame. */
  readonly count: number;
  /** Edges, in the unit of the values. */
  readonly left: number;
  readonly right: number;
  /** What its frames are together, without the gaps between them. */
  readonly sum: number;
}

/**
 * Calls `draw` for what to draw of a level between two positions, from left to right. Frames narrower than `least`
 * that lie together become one piece, so the number of calls depends on the pixels and not on the frames.
 */
export function eachPiece(
  layout: FlameLayout,
  level: number,
  fromX: number,
  toX: number,
  least: number,
  draw: (piece: FlamePiece) => void,
): void {
  const begin = layout.starts[level] ?? 0;
  const end = layout.starts[level + 1] ?? 0;
  const left = (at: number): number => layout.left[layout.rows[at] ?? 0] ?? 0;
  const right = (at: number): number => left(at) + (layout.width[layout.rows[at] ?? 0] ?? 0);
  let at = firstAfter(layout, begin, end, fromX) - 1;
  if (at < begin || right(at) <= fromX) at += 1;
  let run = -1;
  const flush = (upTo: number): void => {
    if (run < 0) return;
    draw({
      row: layout.rows[run] ?? 0,
      count: upTo - run,
      left: left(run),
      right: right(upTo - 1),
      sum: (layout.sums[upTo] ?? 0) - (layout.sums[run] ?? 0),
    });
    run = -1;
  };
  while (at < end && left(at) < toX) {
    if (right(at) - left(at) >= least) {
      flush(at);
      draw({ row: layout.rows[at] ?? 0, count: 1, left: left(at), right: right(at), sum: right(at) - left(at) });
      at += 1;
      continue;
    }
    if (run >= 0 && left(at) - right(at - 1) >= least) flush(at);
    if (run < 0) run = at;
    // All frames that begin within one `least` are narrower than it, except perhaps the last.
    const next = Math.max(at + 1, firstAfter(layout, at + 1, end, left(at) + least));
    at = next > at + 1 && right(next - 1) - left(next - 1) >= least ? next - 1 : next;
  }
  flush(Math.min(at, end));
}
