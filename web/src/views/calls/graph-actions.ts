import type { Links } from "../../state/links.svelte.ts";
import type { Slice } from "../../state/slice.svelte.ts";
import { contextKey, contextOf } from "../../view-kit/selection.ts";
import type { GraphModel } from "./graph-model.svelte.ts";
import { GRAPH_STATE, MOST_OPEN, withOpen, withReferences, type GraphState, type OpenAs, type ReferencesOf } from "./graph-state.ts";
import { fullWay, keyOf, nameOfKey, plainWay, spotOf, type ShownTree } from "./graph-tree.ts";
import type { Activation } from "./records.ts";

/** What an action needs: read again each time. */
export interface ActionsOf {
  readonly slice: Slice<GraphState>;
  readonly links: Links;
  /** Key of the item. */
  readonly item: string;
  readonly model: GraphModel;
  /** Tells why something was not done. */
  readonly refuse: (text: string) => void;
}

const OPEN_LABELS: Readonly<Record<OpenAs, string>> = {
  groups: "Show calls by function", calls: "Show call instances", executions: "Show loops", iterations: "Show iterations", children: "Expand",
};

/** Everything that can be done with the graph: each is one step of undo. */
export class GraphActions {
  readonly #of: () => ActionsOf;

  constructor(of: () => ActionsOf) {
    this.#of = of;
  }

  get #tree(): ShownTree | null {
    return this.#of().model.tree;
  }

  /** Opens a node in some way, or closes it. */
  open(node: number, as: OpenAs | null): void {
    const { slice, refuse, model } = this.#of();
    const tree = this.#tree;
    const entity = tree?.entities[node];
    if (tree === null || entity === undefined) return;
    const end = tree.end[node] ?? 0;
    const below = tree.opened.flatMap((at) => {
      const inner = at > node && at < end ? tree.entities[at] : undefined;
      return inner === undefined ? [] : [nameOfKey(keyOf(inner))];
    });
    const next = withOpen(model.open, nameOfKey(keyOf(entity)), as, below);
    // Focus and opening are one step for who clicks.
    if (next === null) refuse(`At most ${String(MOST_OPEN)} nodes can be open at a time. Close some first.`);
    else slice.set(next, { label: as === null ? "Collapse" : OPEN_LABELS[as], coalesce: "focus" });
  }

  /** A plain click: shows what is inside, or hides it. */
  toggle(node: number): void {
    const entity = this.#tree?.entities[node];
    if (entity === undefined) return;
    if ((this.#tree?.open[node] ?? null) !== null) this.open(node, null);
    else this.open(node, plainWay(entity) ?? fullWay(entity));
  }

  /** A click with Shift: one by one, with loops; or hides that. */
  expand(node: number): void {
    const entity = this.#tree?.entities[node];
    if (entity === undefined) return;
    const way = fullWay(entity) ?? plainWay(entity);
    if (way === null) return;
    this.open(node, this.#tree?.open[node] === way ? null : way);
  }

  /** Shows references of a node, or hides them. */
  references(node: number, of: ReferencesOf): void {
    const { slice } = this.#of();
    const entity = this.#tree?.entities[node];
    if (entity === undefined) return;
    const name = nameOfKey(keyOf(entity));
    const isShown = slice.current.references[name] === of;
    slice.set(withReferences(slice.current, name, isShown ? null : of), { label: isShown ? "Hide references" : "Show references", coalesce: "focus" });
  }

  /** Links of a reference to all nodes on screen. */
  link(reference: number): void {
    const { slice } = this.#of();
    const { linked } = slice.current;
    const isLinked = linked.includes(reference);
    slice.set({ linked: isLinked ? linked.filter((one) => one !== reference) : [...linked, reference].slice(-50) }, { label: isLinked ? "Hide links" : "Show all links" });
  }

  hideReferences(): void {
    this.#of().slice.set({ references: {}, linked: [], shared: null }, { label: "Hide all references" });
  }

  /** Whether a node is marked: itself, or all of its context by another view. */
  isMarked(entity: Activation): boolean {
    const { slice, links, item } = this.#of();
    if (!links.isMarked(contextKey(item, entity.contextId))) return false;
    const { marked } = slice.current;
    const name = nameOfKey(keyOf(entity));
    return marked.some((one) => one.node === name) || !marked.some((one) => one.context === entity.contextId);
  }

  /** Nodes on screen that are marked. */
  marked(): readonly number[] {
    const tree = this.#tree;
    const { links, item } = this.#of();
    const contexts = new Set(links.mark.flatMap((thing) => contextOf(thing, item) ?? []));
    if (tree === null || contexts.size === 0) return [];
    const nodes: number[] = [];
    // Of a hundred thousand nodes few are of a marked context.
    tree.entities.forEach((entity, node) => {
      if (contexts.has(entity.contextId) && this.isMarked(entity)) nodes.push(node);
    });
    return nodes;
  }

  mark(node: number): void {
    const { slice, links, item } = this.#of();
    const entity = this.#tree?.entities[node];
    if (entity === undefined) return;
    const context = contextKey(item, entity.contextId);
    const name = nameOfKey(keyOf(entity));
    const wasMarked = this.isMarked(entity);
    // What other views have unmarked meanwhile no longer counts.
    const valid = slice.current.marked.filter((one) => links.isMarked(contextKey(item, one.context)));
    const marked = wasMarked ? valid.filter((one) => one.node !== name) : [...valid, { node: name, context: entity.contextId }];
    const hasOthers = marked.some((one) => one.context === entity.contextId && one.node !== name);
    // Other views know contexts: one is marked as long as any of its nodes is. The first change is the step that undo takes back, with both.
    if (wasMarked ? !hasOthers : !links.isMarked(context)) {
      links.toggleMark(context);
      slice.set({ marked }, { undoable: false });
    } else slice.set({ marked }, { label: wasMarked ? "Unmark" : "Mark" });
  }

  /** Leaves only the marked nodes and what connects them. */
  spotMarked(): void {
    const tree = this.#tree;
    if (tree === null) return;
    this.#of().slice.set({ spot: spotOf(tree, this.marked()), window: null }, { label: "Show only marked nodes" });
  }

  wholeGraph(): void {
    this.#of().slice.set({ spot: null, window: null }, { label: "Show the whole graph" });
  }

  /** References that all marked nodes touch, with what is below them or without. */
  shareMarked(isInclusive: boolean): void {
    const tree = this.#tree;
    if (tree === null) return;
    const nodes = this.marked().slice(0, 100).flatMap((node) => {
      const entity = tree.entities[node];
      return entity === undefined ? [] : [nameOfKey(keyOf(entity))];
    });
    this.#of().slice.set({ shared: { nodes, isInclusive } }, { label: "Show shared references" });
  }

  setThread(thread: number): void {
    this.#of().slice.set({ thread, spot: null, window: null }, { label: "Show another thread" });
  }

  /** As it was at first; marks belong to all views and stay. */
  reset(): void {
    const { slice } = this.#of();
    const { marked } = slice.current;
    slice.set({ ...GRAPH_STATE, marked }, { label: "Reset the call graph" });
  }
}
