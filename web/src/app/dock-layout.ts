import { Orientation, type SerializedDockview } from "dockview-core";
import { isTabs, layoutOf, type Layout, type LayoutNode } from "../state/layout.ts";

/** Sizes in the dock's description; the dock fits them to the window in proportion. */
const SIDE = 10_000;
/** Shares are kept to a thousandth, so that rounding does not look like a change. */
const SHARES = 1000;

type DockNode = SerializedDockview["grid"]["root"];

/** The dock writes it; its types lack it. */
interface Maximizable {
  readonly maximizedNode?: { readonly location: readonly number[] };
}

/** Our layout as the dock describes it. Titles of tabs come from the views, so only ids are in it. What is maximised is not: the dock would forget the sizes of all other tabs when it fits them to the window. */
export function toDock(layout: Layout): SerializedDockview {
  const panels: SerializedDockview["panels"] = {};
  let groups = 0;
  const convert = (node: LayoutNode, size: number, across: number): DockNode => {
    if (isTabs(node)) {
      groups += 1;
      for (const id of node.tabs) panels[id] = { id, contentComponent: "view", tabComponent: "tab", title: id };
      return { type: "leaf", size, data: { id: `g${String(groups)}`, views: [...node.tabs], activeView: node.front } };
    }
    const total = node.parts.reduce((sum, part) => sum + part.share, 0);
    // A node's own size lies across its parent; its parts share the other side.
    return { type: "branch", size, data: node.parts.map((part) => convert(part, (across * part.share) / total, size)) };
  };
  const root: LayoutNode = isTabs(layout.root) ? { share: 1, parts: [layout.root] } : layout.root;
  return {
    grid: {
      root: convert(root, SIDE, SIDE),
      width: SIDE,
      height: SIDE,
      orientation: layout.isColumn ? Orientation.VERTICAL : Orientation.HORIZONTAL,
    },
    panels,
  };
}

/** What the dock shows, as our layout; null when it is empty. */
export function fromDock(dock: SerializedDockview): Layout | null {
  const root = convertBack(dock.grid.root, 1);
  return root === null ? null : layoutOf(dock.grid.orientation === Orientation.VERTICAL, root, frontAt(dock.grid.root, (dock.grid as Maximizable).maximizedNode?.location));
}

/** The panel in front at a place as the dock has it: which part of which part. */
function frontAt(node: DockNode, location: readonly number[] | undefined): string | undefined {
  let at: DockNode | undefined = location === undefined ? undefined : node;
  for (const step of location ?? []) at = Array.isArray(at?.data) ? at.data[step] : undefined;
  return at === undefined || Array.isArray(at.data) ? undefined : (at.data as { activeView?: string }).activeView;
}

function convertBack(node: DockNode, share: number): LayoutNode | null {
  if (!Array.isArray(node.data)) {
    const { views, activeView } = node.data as { views: readonly string[]; activeView?: string };
    const first = views[0];
    return first === undefined ? null : { share, tabs: [...views], front: activeView ?? first };
  }
  const children = node.data;
  const total = children.reduce((sum, part) => sum + (part.size ?? 0), 0);
  const parts = children.flatMap((part) => {
    const size = total > 0 ? (part.size ?? 0) / total : 1 / children.length;
    return convertBack(part, Math.max(1, Math.round(size * SHARES))) ?? [];
  });
  return parts.length === 0 ? null : { share, parts };
}
