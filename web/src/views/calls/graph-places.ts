import { ForceLayout, type ForceLink } from "../../widgets/graph/force.ts";
import { eachNodeIn, NODE_HEIGHT, type TreeLayout } from "../../widgets/graph/tree-layout.ts";
import { REFERENCE_RADIUS } from "./graph-paint.ts";
import type { ShownReferences } from "./graph-references.ts";

/** A turn after which points on a spiral lie evenly (Vogel 1979), here within the half that points away from the tree. */
const GOLDEN = 0.618_033_988_749_895;
const SPREAD = 2.6;

/** Where a reference was before. */
export interface KnownPlace {
  readonly x: number;
  readonly y: number;
  readonly isPinned: boolean;
}

/**
 * References in motion around the tree. Those that were on screen begin where they were; a new one to the
 * right of the nodes that it is linked to, where nothing stands in the way.
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
  const begun = new Map<number, number>();
  const edges = new Map<number, number>();
  const start = (place: number): readonly [number, number] => {
    const before = known.get(shown.references[place] ?? -1);
    if (before !== undefined) return [before.x, before.y];
    const { count, y: sum, node } = sums[place] ?? { count: 0, y: 0, node: -1 };
    const y = count === 0 ? 0 : sum / count;
    const nth = begun.get(node) ?? 0;
    begun.set(node, nth + 1);
    let edge = edges.get(Math.round(y));
    if (edge === undefined) edges.set(Math.round(y), (edge = rightEdge(layout, y)));
    const distance = 50 + 17 * Math.sqrt(nth);
    const angle = (((nth * GOLDEN) % 1) - 0.5) * SPREAD;
    return [edge + distance * Math.cos(angle), y + distance * Math.sin(angle)];
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

/** Where the nodes near a height end. */
function rightEdge(layout: TreeLayout, y: number): number {
  let edge = 0;
  eachNodeIn(layout, { left: -Infinity, right: Infinity, top: y - 90, bottom: y + 90 }, (node) => {
    edge = Math.max(edge, (layout.x[node] ?? 0) + (layout.width[node] ?? 0));
  });
  return edge;
}
