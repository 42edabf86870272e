/** A tree in depth-first order: what is below row `r` are the rows from `r + 1` up to, but not including, `end[r]`. */
export interface TreemapTree {
  readonly length: number;
  readonly end: Int32Array;
}

/** A rectangle of a treemap, in pixels. */
export interface TreemapCell {
  readonly row: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** 0 for the row that fills the picture. */
  readonly level: number;
  /** Whether it stands for what the row costs itself, not for everything below it; rows without children are all their own. */
  readonly isOwn: boolean;
  /** Height of the strip for its name, above what is inside; 0 where there is no room for one. */
  readonly head: number;
  /** What its area stands for. */
  readonly value: number;
}

/** How a treemap is drawn. */
export interface TreemapLook {
  /** Pixels between a rectangle and what is inside it. */
  readonly padding: number;
  /** Pixels of the strip for a name. */
  readonly head: number;
  /** Rectangles narrower or lower than this many pixels are not looked into. */
  readonly least: number;
}

export const TREEMAP_LOOK: TreemapLook = { padding: 2, head: 16, least: 6 };

/** Narrower or lower rectangles have no strip for a name: it could not be read. */
const NARROWEST_HEAD = 36;
const LOWEST_HEAD = 30;

interface Child {
  readonly row: number;
  readonly value: number;
  readonly isOwn: boolean;
}

/** A rectangle that parts have to fill. */
interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * The rectangles of a row (-1: of all rows at the top) and of what is below it, those outside before those inside.
 * The area of a row without children is its own cost; other rows hold their children and a part of their own.
 * Squarified as by Bruls, Huizing and van Wijk (2000), "Squarified Treemaps".
 */
export function treemap(
  tree: TreemapTree,
  inclusive: ArrayLike<number>,
  exclusive: ArrayLike<number>,
  root: number,
  width: number,
  height: number,
  look: TreemapLook = TREEMAP_LOOK,
): readonly TreemapCell[] {
  const cells: TreemapCell[] = [];
  const whole: Rect = { x: 0, y: 0, width, height };
  const open: { row: number; rect: Rect; level: number }[] = [];
  if (root < 0) lay(partsOf(-1), whole, 0);
  else lay([{ row: root, value: costOf(inclusive, root), isOwn: !hasChildren(root) }], whole, 0);
  for (let next = open.pop(); next !== undefined; next = open.pop()) lay(partsOf(next.row), next.rect, next.level);
  return cells;

  function hasChildren(row: number): boolean {
    return (tree.end[row] ?? 0) > row + 1;
  }

  function partsOf(row: number): Child[] {
    const parts: Child[] = [];
    const last = row < 0 ? tree.length : (tree.end[row] ?? 0);
    for (let child = row + 1; child < last; child = tree.end[child] ?? last) {
      const value = costOf(inclusive, child);
      if (value > 0) parts.push({ row: child, value, isOwn: !hasChildren(child) });
    }
    const own = row < 0 ? 0 : costOf(exclusive, row);
    if (own > 0) parts.push({ row, value: own, isOwn: true });
    return parts.sort((a, b) => b.value - a.value || a.row - b.row);
  }

  function lay(parts: readonly Child[], rect: Rect, level: number): void {
    for (const { part, rect: at } of squarified(parts, rect)) {
      const { row, isOwn, value } = part;
      const hasHead = !isOwn && at.width >= NARROWEST_HEAD && at.height >= LOWEST_HEAD;
      const head = hasHead ? look.head : 0;
      cells.push({ row, ...at, level, isOwn, head, value });
      if (isOwn) continue;
      const inside: Rect = {
        x: at.x + look.padding,
        y: at.y + Math.max(head, look.padding),
        width: at.width - 2 * look.padding,
        height: at.height - Math.max(head, look.padding) - look.padding,
      };
      if (inside.width >= look.least && inside.height >= look.least) open.push({ row, rect: inside, level: level + 1 });
    }
  }
}

function costOf(values: ArrayLike<number>, row: number): number {
  const value = values[row] ?? 0;
  return value > 0 && Number.isFinite(value) ? value : 0;
}

/** Parts, from the largest, in a rectangle: as near to squares as rows of them get. */
function squarified(parts: readonly Child[], rect: Rect): readonly { readonly part: Child; readonly rect: Rect }[] {
  const out: { part: Child; rect: Rect }[] = [];
  let total = parts.reduce((sum, part) => sum + part.value, 0);
  let { x, y, width, height } = rect;
  let first = 0;
  while (first < parts.length && total > 0 && width > 0 && height > 0) {
    const side = Math.min(width, height);
    const scale = (width * height) / total;
    let sum = 0;
    let worst = Number.POSITIVE_INFINITY;
    let last = first;
    for (; last < parts.length; last += 1) {
      const value = parts[last]?.value ?? 0;
      const next = worstRatio(sum + value, parts[first]?.value ?? 0, value, scale, side);
      if (next > worst) break;
      worst = next;
      sum += value;
    }
    const depth = (sum * scale) / side;
    let along = 0;
    for (let at = first; at < last; at += 1) {
      const part = parts[at];
      if (part === undefined) break;
      const length = (part.value / sum) * side;
      out.push({ part, rect: width >= height ? { x, y: y + along, width: depth, height: length } : { x: x + along, y, width: length, height: depth } });
      along += length;
    }
    if (width >= height) {
      x += depth;
      width -= depth;
    } else {
      y += depth;
      height -= depth;
    }
    total -= sum;
    first = last;
  }
  return out;
}

/** The worst ratio of sides in a row of parts whose sum, largest and smallest value are known. */
function worstRatio(sum: number, largest: number, smallest: number, scale: number, side: number): number {
  const area = sum * scale;
  return Math.max((side * side * largest * scale) / (area * area), (area * area) / (side * side * smallest * scale));
}

/** The innermost rectangle at a point; null outside. */
export function treemapAt(cells: readonly TreemapCell[], x: number, y: number): TreemapCell | null {
  let found: TreemapCell | null = null;
  for (const cell of cells) {
    const isInside = x >= cell.x && x < cell.x + cell.width && y >= cell.y && y < cell.y + cell.height;
    if (isInside && (found === null || cell.level >= found.level)) found = cell;
  }
  return found;
}

/** The rectangle next to another one in a direction, of the same level or above; null at the edge. */
export function treemapBeside(cells: readonly TreemapCell[], from: TreemapCell, direction: "left" | "right" | "up" | "down"): TreemapCell | null {
  const isAcross = direction === "left" || direction === "right";
  const sign = direction === "left" || direction === "up" ? -1 : 1;
  const centre = (cell: TreemapCell): readonly [along: number, aside: number] => {
    const across = cell.x + cell.width / 2;
    const down = cell.y + cell.height / 2;
    return isAcross ? [across, down] : [down, across];
  };
  const [along, aside] = centre(from);
  let best: TreemapCell | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const cell of cells) {
    if (cell === from || cell.level !== from.level) continue;
    const [otherAlong, otherAside] = centre(cell);
    const ahead = (otherAlong - along) * sign;
    if (ahead <= 0.5) continue;
    const distance = ahead + 2 * Math.abs(otherAside - aside);
    if (distance < least) {
      least = distance;
      best = cell;
    }
  }
  return best;
}
