import { count } from "../../base/format.ts";
import type { MenuItem } from "../../widgets/menu.ts";
import type { GraphActions } from "./graph-actions.ts";
import type { ReferencesOf } from "./graph-state.ts";
import { fullWay, isLeaf, plainWay, type ShownTree } from "./graph-tree.ts";

/** What a menu is about, and what it can do besides the actions. */
export interface MenuOf {
  readonly actions: GraphActions;
  readonly tree: ShownTree;
  /** How many nodes are marked. */
  readonly marked: number;
  readonly hasReferences: boolean;
  readonly hasSpot: boolean;
  readonly zoomTo: (node: number) => void;
  readonly toParent: (node: number) => void;
  readonly fit: () => void;
  /** Restricts all views to the context of a node. */
  readonly spotAll: (node: number) => void;
  readonly whole: () => void;
}

/** The menu of a node. */
export function nodeMenu(of: MenuOf, node: number, references: ReferencesOf | undefined): readonly MenuItem[] {
  const { actions, tree } = of;
  const entity = tree.entities[node];
  if (entity === undefined) return [];
  const open = tree.open[node] ?? null;
  const [plain, full] = [plainWay(entity), fullWay(entity)];
  return [
    ...isLeaf(entity) ? [] : [open === null
      ? { label: plain === "groups" ? "Show calls by function" : "Expand", note: "Enter", run: () => { actions.toggle(node); } }
      : { label: "Collapse", note: "Enter", run: () => { actions.open(node, null); } }],
    ...entity.kind === "group" && open !== "calls" ? [{ label: "Expand into call instances", note: "Shift+Enter", run: () => { actions.open(node, "calls"); } }] : [],
    ...full === "executions" && open !== full ? [{ label: "Show loop executions", note: "Shift+Enter", run: () => { actions.open(node, "executions"); } }] : [],
    { kind: "heading", label: "" },
    { label: "References", checked: references === "own", note: "Alt+Enter", disabled: entity.touched === 0, run: () => { actions.references(node, "own"); } },
    { label: "References, including callees", checked: references === "within", disabled: !entity.isTouchingWithin, run: () => { actions.references(node, "within"); } },
    { kind: "heading", label: "" },
    { label: "Zoom to the node", icon: "expand", run: () => { of.zoomTo(node); } },
    { label: "Zoom out to the caller", icon: "callers", note: "Z", disabled: (tree.parent[node] ?? -1) < 0, run: () => { of.toParent(node); } },
    { label: "Show only this part in all views", icon: "eye", run: () => { of.spotAll(node); } },
    { label: actions.isMarked(entity) ? "Unmark" : "Mark", icon: "pin", note: "M", run: () => { actions.mark(node); } },
    ...markedMenu(of),
    ...generalMenu(of),
  ];
}

/** What can be done with all marked nodes together. */
export function markedMenu({ actions, marked }: MenuOf): readonly MenuItem[] {
  if (marked < 2) return [];
  return [
    { kind: "heading", label: `${count(marked)} marked nodes` },
    { label: "Show only these", icon: "eye", run: () => { actions.spotMarked(); } },
    { label: "Show shared references", icon: "link", run: () => { actions.shareMarked(false); } },
    { label: "Show shared references, including callees", icon: "link", run: () => { actions.shareMarked(true); } },
  ];
}

/** What is about the whole picture. */
export function generalMenu({ actions, hasReferences, hasSpot, fit, whole }: MenuOf): readonly MenuItem[] {
  return [
    { kind: "heading", label: "" },
    { label: "Fit to window", note: "F", run: fit },
    ...hasSpot ? [{ label: "Whole graph", run: whole }] : [],
    ...hasReferences ? [{ label: "Hide all references", run: () => { actions.hideReferences(); } }] : [],
  ];
}
