/** A tree from left to right: each level is a column, siblings lie below each other. Lengths are pixels at a zoom of one. */

/** What the layout must know of a tree; nodes are in depth-first order. */
export interface TreeShape {
  readonly count: number;
  /** -1 for roots. */
  readonly parent: Int32Array;
  readonly depth: Uint16Array;
}

/** A place of a node: its left edge, the middle of its height. */
export interface TreeLayout {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly width: Float32Array;
  /** Nodes of each level from top to bottom. */
  readonly levels: readonly Int32Array[];
  /** Left edge of each level, and where the widest node of it ends. */
  readonly left: Float64Array;
  readonly right: Float64Array;
  /** Nodes with children, of each level, from top to bottom. */
  readonly parents: readonly Int32Array[];
  readonly firstChild: Int32Array;
  readonly lastChild: Int32Array;
  readonly totalWidth: number;
  readonly totalHeight: number;
}

/** Height of a node. */
export const NODE_HEIGHT = 22;
/** From the middle of a node to that of the next below it. */
export const ROW = 28;
/** Room between levels, for lines. */
export const LEVEL_GAP = 44;
/** Between the branches of two siblings, more than between leaves. */
const BRANCH_GAP = 8;
/** A node stands next to the middle of its children; next to long lists not further down than this many rows, so that it stays in sight of the first. */
const LOWEST_ROW = 6;

/** Places nodes of these widths, in time and memory proportional to their number. */
export function treeLayout(shape: TreeShape, widthOf: (node: number) => number): TreeLayout {
  const { count, parent, depth } = shape;
  const [x, y, width] = [new Float64Array(count), new Float64Array(count), new Float32Array(count)];
  const firstChild = new Int32Array(count).fill(-1);
  const lastChild = new Int32Array(count).fill(-1);
  const sizes: number[] = [];
  const widest: number[] = [];
  const families: number[] = [];
  for (let node = 0; node < count; node += 1) {
    const level = depth[node] ?? 0;
    const above = parent[node] ?? -1;
    width[node] = widthOf(node);
    sizes[level] = (sizes[level] ?? 0) + 1;
    widest[level] = Math.max(widest[level] ?? 0, width[node] ?? 0);
    if (above < 0) continue;
    if (lastChild[above] === -1) {
      firstChild[above] = node;
      families[level - 1] = (families[level - 1] ?? 0) + 1;
    }
    lastChild[above] = node;
  }
  // Leaves take rows from top to bottom; in depth-first order a node with children is followed by its first.
  let bottom = ROW / 2;
  let isAfterBranch = false;
  for (let node = 0; node < count; node += 1) {
    const isLeaf = firstChild[node] === -1;
    const isFirst = node > 0 && parent[node] === node - 1;
    if (node > 0 && !isFirst && (isAfterBranch || !isLeaf)) bottom += BRANCH_GAP;
    if (isLeaf) {
      y[node] = bottom;
      bottom += ROW;
    }
    // The next node is a sibling of this leaf, or the branch ends here.
    isAfterBranch = isLeaf && node + 1 < count && parent[node + 1] !== parent[node];
  }
  for (let node = count - 1; node >= 0; node -= 1) {
    const [first, last] = [firstChild[node] ?? -1, lastChild[node] ?? -1];
    if (first < 0) continue;
    const top = y[first] ?? 0;
    y[node] = Math.min((top + (y[last] ?? 0)) / 2, top + LOWEST_ROW * ROW);
  }
  const left = new Float64Array(sizes.length);
  const right = new Float64Array(sizes.length);
  let edge = 0;
  for (let level = 0; level < sizes.length; level += 1) {
    left[level] = edge;
    right[level] = edge + (widest[level] ?? 0);
    edge = (right[level] ?? 0) + LEVEL_GAP;
  }
  const levels = sizes.map((size) => new Int32Array(size));
  const parents = sizes.map((_, level) => new Int32Array(families[level] ?? 0));
  const filled = new Int32Array(sizes.length);
  const filledParents = new Int32Array(sizes.length);
  for (let node = 0; node < count; node += 1) {
    const level = depth[node] ?? 0;
    x[node] = left[level] ?? 0;
    put(levels[level], filled, level, node);
    if (firstChild[node] !== -1) put(parents[level], filledParents, level, node);
  }
  return { x, y, width, levels, left, right, parents, firstChild, lastChild, totalWidth: Math.max(0, edge - LEVEL_GAP), totalHeight: count === 0 ? 0 : bottom - ROW / 2 };
}

/** Puts a node at the end of the list of its level. */
function put(list: Int32Array | undefined, filled: Int32Array, level: number, node: number): void {
  const at = filled[level] ?? 0;
  if (list !== undefined) list[at] = node;
  filled[level] = at + 1;
}

/** A part of the plane, in pixels at a zoom of one. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The first place of an ascending list whose value is not below `least`. */
function firstFrom(list: Int32Array, valueOf: (node: number) => number, least: number): number {
  let [from, to] = [0, list.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (valueOf(list[middle] ?? 0) < least) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Calls `visit` with each node that reaches into an area; with `step`, only with those at least so far below the one before. */
export function eachNodeIn(layout: TreeLayout, area: Area, visit: (node: number) => void, step = 0): void {
  const half = NODE_HEIGHT / 2;
  const yOf = (node: number): number => layout.y[node] ?? 0;
  layout.levels.forEach((list, level) => {
    if ((layout.left[level] ?? 0) > area.right || (layout.right[level] ?? 0) < area.left) return;
    let place = firstFrom(list, yOf, area.top - half);
    while (place < list.length) {
      const node = list[place] ?? 0;
      const at = yOf(node);
      if (at > area.bottom + half) break;
      visit(node);
      // What would lie on the same dots is stepped over, so that a hundred thousand calls are as quick as a hundred.
      place = step > ROW ? Math.max(place + 1, firstFrom(list, yOf, at + step)) : place + 1;
    }
  });
}

/** Calls `visit` with each node whose line down its children reaches into an area. */
export function eachFamilyIn(layout: TreeLayout, area: Area, visit: (node: number) => void, step = 0): void {
  const endOf = (node: number): number => Math.max(layout.y[node] ?? 0, layout.y[layout.lastChild[node] ?? 0] ?? 0);
  layout.parents.forEach((list, level) => {
    if ((layout.left[level] ?? 0) > area.right || (layout.left[level + 1] ?? 0) < area.left) return;
    let place = firstFrom(list, endOf, area.top);
    while (place < list.length) {
      const node = list[place] ?? 0;
      if (Math.min(layout.y[node] ?? 0, layout.y[layout.firstChild[node] ?? 0] ?? 0) > area.bottom) break;
      visit(node);
      place = step > ROW ? Math.max(place + 1, firstFrom(list, endOf, endOf(node) + step)) : place + 1;
    }
  });
}

/** The node at a place; -1 for none. */
export function nodeAt(layout: TreeLayout, x: number, y: number, slack = 0): number {
  let found = -1;
  eachNodeIn(layout, { left: x - slack, right: x + slack, top: y - slack, bottom: y + slack }, (node) => {
    const from = layout.x[node] ?? 0;
    if (x >= from - slack && x <= from + (layout.width[node] ?? 0) + slack && Math.abs(y - (layout.y[node] ?? 0)) <= NODE_HEIGHT / 2 + slack) found = node;
  });
  return found;
}

/** The next node of the same level above (-1) or below (1); -1 where there is none. */
export function nodeBeside(layout: TreeLayout, level: number, node: number, by: 1 | -1): number {
  const list = layout.levels[level];
  if (list === undefined) return -1;
  // Numbers of nodes rise from top to bottom within a level.
  const place = firstFrom(list, (one) => one, node) + by;
  return list[place] ?? -1;
}
