import { isObject, type Json } from "../base/json.ts";

/** Tabs over each other. */
export interface TabsNode {
  /** Share of the parent; only the ratio to its neighbours counts. */
  readonly share: number;
  /** Ids of panels. */
  readonly tabs: readonly string[];
  /** The one in front. */
  readonly front: string;
}

/** Parts next to each other; parts of a row are columns, and the other way round. */
export interface PartsNode {
  readonly share: number;
  readonly parts: readonly LayoutNode[];
}

export type LayoutNode = TabsNode | PartsNode;

/** How the panels of an item lie; of no size and of no library, so that it fits every window and every link. */
export interface Layout {
  /** Whether the outermost parts stand above each other. */
  readonly isColumn: boolean;
  readonly root: LayoutNode;
  /** The panel in front of the tabs that fill the window; absent where all tabs share it. */
  readonly maximized?: string;
}

export function isTabs(node: LayoutNode): node is TabsNode {
  return "tabs" in node;
}

/** Ids of all panels of a layout, from the upper left. */
export function panelsOf(layout: Layout | null): readonly string[] {
  return layout === null ? [] : collect(layout.root);
}

function collect(node: LayoutNode): readonly string[] {
  return isTabs(node) ? node.tabs : node.parts.flatMap((part) => collect(part));
}

/** The layout without panels for which `keep` is false; null when none is left. */
export function keepPanels(layout: Layout, keep: (panel: string) => boolean): Layout | null {
  const root = keepNode(layout.root, keep);
  return root === null ? null : layoutOf(layout.isColumn, root, layout.maximized);
}

/** The layout in which `maximized` fills the window, if it is one of the panels. */
export function layoutOf(isColumn: boolean, root: LayoutNode, maximized: string | undefined): Layout {
  return { isColumn, root, ...(maximized !== undefined && collect(root).includes(maximized) ? { maximized } : {}) };
}

function keepNode(node: LayoutNode, keep: (panel: string) => boolean): LayoutNode | null {
  if (isTabs(node)) {
    const tabs = node.tabs.filter((tab) => keep(tab));
    const first = tabs[0];
    return first === undefined ? null : { share: node.share, tabs, front: tabs.includes(node.front) ? node.front : first };
  }
  const parts = node.parts.flatMap((part) => keepNode(part, keep) ?? []);
  return parts.length === 0 ? null : { share: node.share, parts };
}

const DEEPEST = 12;

/** Reads a layout from a link or from storage; null when it is none. */
export function parseLayout(value: Json | undefined): Layout | null {
  if (!isObject(value)) return null;
  const { maximized } = value;
  const root = parseNode(value["root"], 0);
  return root === null ? null : layoutOf(value["isColumn"] === true, root, typeof maximized === "string" ? maximized : undefined);
}

function parseNode(value: Json | undefined, depth: number): LayoutNode | null {
  if (!isObject(value) || depth > DEEPEST) return null;
  const share = typeof value["share"] === "number" && value["share"] > 0 ? value["share"] : 1;
  const { tabs, parts, front } = value;
  if (Array.isArray(tabs)) {
    const ids = (tabs as readonly Json[]).filter((tab) => typeof tab === "string");
    const first = ids[0];
    return first === undefined ? null : { share, tabs: ids, front: typeof front === "string" && ids.includes(front) ? front : first };
  }
  if (!Array.isArray(parts)) return null;
  const nodes = (parts as readonly Json[]).flatMap((part) => parseNode(part, depth + 1) ?? []);
  return nodes.length === 0 ? null : { share, parts: nodes };
}

/** The dock gives whole pixels and shares in whole thousandths; what is nearer than this is rounding. */
const ROUNDING = 0.008;

/** Whether the parts of two nodes of the same shape take the same share of their parents. */
function sameSizes(a: LayoutNode, b: LayoutNode): boolean {
  if (isTabs(a) || isTabs(b)) return true;
  const total = (node: PartsNode): number => node.parts.reduce((sum, part) => sum + part.share, 0);
  const [totalA, totalB] = [total(a), total(b)];
  return a.parts.every((part, at) => {
    const other = b.parts[at];
    return other !== undefined && Math.abs(part.share / totalA - other.share / totalB) < ROUNDING && sameSizes(part, other);
  });
}

/** What differs between two layouts, for the undo menu; null when they are the same but for rounding. `fronts`: only what can be seen of them, by tabs in front or by maximised ones. */
export function layoutChange(before: Layout | null, after: Layout | null): "panels" | "places" | "sizes" | "fronts" | null {
  const [was, is] = [[...panelsOf(before)], [...panelsOf(after)]];
  if (was.toSorted().join() !== is.toSorted().join()) return "panels";
  const shape = (node: LayoutNode | undefined): string =>
    node === undefined ? "" : isTabs(node) ? `[${node.tabs.join()}]` : `(${node.parts.map((part) => shape(part)).join()})`;
  if (before?.isColumn !== after?.isColumn || shape(before?.root) !== shape(after?.root)) return "places";
  if (before !== null && after !== null && !sameSizes(before.root, after.root)) return "sizes";
  const fronts = (node: LayoutNode | undefined): string =>
    node === undefined ? "" : isTabs(node) ? node.front : node.parts.map((part) => fronts(part)).join();
  return fronts(before?.root) === fronts(after?.root) && before?.maximized === after?.maximized ? null : "fronts";
}
