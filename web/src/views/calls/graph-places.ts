import { ForceLayout, type ForceLink } from "../../widgets/graph/force.ts";
import { eachNodeIn, LEVEL_GAP, NODE_HEIGHT, type TreeLayout } from "../../widgets/graph/tree-layout.ts";
import { REFERENCE_RADIUS } from "./graph-paint.ts";
import type { ShownReferences } from "./graph-references.ts";

/** A turn after which points on a spiral lie evenly (Vogel 1979). */
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
/** Places that are examined for one node. */
const MOST_TURNS = 4000;
/** Two references do not begin in one square of this size. */
const CELL = 22;

/** Where a reference was before. */
export interface KnownPlace {
  readonly x: number;
  readonly y: number;
  readonly isPinned: boolean;
}

/**
 * References in motion around the tree. Those that were on screen begin where they were; a new one
 * where there is room near the nodes that it is linked to.
 */
export function placesOf(shown: ShownReferences, layout: TreeLayout, nodeOf: (key: number) => number, known: ReadonlyMap<number, KnownPlace>): ForceLayout {
  const links: ForceLink[] = [];
  const sums = shown.references.map(() => ({ count: 0, y: 0, node: -1 }));
  for (const link of shown.links) {
    const node = nodeOf(link.node);
    const sum = sums[link.reference];
    if (node < 0 || sum === undefined) continue;
    const y = layout.y[node] ?? 0;
    links.push({ free: link.reference, x: (layout.x[node] ?? 0) + (layout.width[node] ?? 0), y });
    sum.count += 1;
    sum.y += y;
    sum.node = Math.max(sum.node, node);
  }
  const taken = new Set<number>();
  const tried = new Map<number, number>();
  const start = (place: number): readonly [number, number] => {
    const before = known.get(shown.references[place] ?? -1);
    if (before !== undefined) return [before.x, before.y];
    const { count, y: sum, node } = sums[place] ?? { count: 0, y: 0, node: -1 };
    const y = count === 0 ? 0 : sum / count;
    const x = (layout.x[node] ?? 0) + (layout.width[node] ?? 0);
    // Those of one node look for room one after the other, each from where the one before has found it.
    for (let turn = tried.get(node) ?? 0; turn < MOST_TURNS; turn += 1) {
      const distance = 58 + 9 * Math.sqrt(turn);
      const angle = turn * GOLDEN_ANGLE;
      const [atX, atY] = [x + distance * Math.cos(angle), y + distance * Math.sin(angle)];
      const cell = Math.round(atX / CELL) * 1e6 + Math.round(atY / CELL);
      if (taken.has(cell) || !isFree(layout, atX, atY)) continue;
      taken.add(cell);
      tried.set(node, turn + 1);
      return [atX, atY];
    }
    return [rightEdge(layout, y) + 50, y];
  };
  const half = NODE_HEIGHT / 2;
  const force = new ForceLayout(shown.references.length, links, start, {
    radius: REFERENCE_RADIUS,
    boxesIn: (area, visit) => {
      eachNodeIn(layout, area, (node) => {
        const [left, y] = [layout.x[node] ?? 0, layout.y[node] ?? 0];
        const right = left + (layout.width[node] ?? 0);
        if (left <= area.right && right >= area.left) visit(left, y - half, right, y + half);
      });
    },
  });
  shown.references.forEach((id, place) => {
    const before = known.get(id);
    if (before?.isPinned === true) force.pin(place, before.x, before.y);
  });
  return force;
}

/** Whether nothing stands at a place, and no line to a node ends there. */
function isFree(layout: TreeLayout, x: number, y: number): boolean {
  let isIt = true;
  const room = REFERENCE_RADIUS + 6;
  eachNodeIn(layout, { left: x - room, right: x + room + LEVEL_GAP, top: y - room, bottom: y + room }, (node) => {
    const left = layout.x[node] ?? 0;
    if (x + room > left - LEVEL_GAP && x - room < left + (layout.width[node] ?? 0)) isIt = false;
  });
  return isIt;
}

/** Where the nodes near a height end. */
function rightEdge(layout: TreeLayout, y: number): number {
  let edge = 0;
  eachNodeIn(layout, { left: -Infinity, right: Infinity, top: y - 90, bottom: y + 90 }, (node) => {
    edge = Math.max(edge, (layout.x[node] ?? 0) + (layout.width[node] ?? 0));
  });
  return edge;
}
