import { textAt } from "../../view-kit/columns.ts";
import type { ContextTable } from "../../view-kit/context-table.ts";

/** Rounding of times in files: sums of children may exceed their parent by so much of it. */
const ROUNDING = 1e-6;

/**
 * Whether the tree is a list: no function lies inside another one, and yet what lies side by side takes more than the
 * whole. A tree of which parts are filtered out never does.
 */
export function lacksCallPaths(tree: Pick<ContextTable, "length" | "parent" | "kind">, inclusive: Float64Array, total: number): boolean {
  const isInFunction = new Uint8Array(tree.length);
  // The last entry is for the top, above which is the whole.
  const inside = new Float64Array(tree.length + 1);
  for (let row = 0; row < tree.length; row += 1) {
    const above = tree.parent[row] ?? -1;
    const isFunction = textAt(tree.kind, row) === "function";
    const isInside = above >= 0 && isInFunction[above] === 1;
    if (isFunction && isInside) return false;
    isInFunction[row] = isFunction || isInside ? 1 : 0;
    const slot = above < 0 ? tree.length : above;
    inside[slot] = (inside[slot] ?? 0) + (inclusive[row] ?? 0);
  }
  return inside.some((sum, slot) => sum > 0 && sum > (slot === tree.length ? total : (inclusive[slot] ?? 0)) * (1 + ROUNDING));
}

/** For each row its exclusive value and those of everything below: what widths add up to. */
export function sumsOfExclusive(tree: Pick<ContextTable, "length" | "parent">, exclusive: Float64Array): Float64Array {
  const sums = exclusive.map((value) => (value > 0 ? value : 0));
  for (let row = tree.length - 1; row >= 0; row -= 1) {
    const above = tree.parent[row] ?? -1;
    if (above >= 0) sums[above] = (sums[above] ?? 0) + (sums[row] ?? 0);
  }
  return sums;
}
