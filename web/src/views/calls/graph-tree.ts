import type { TreeShape } from "../../widgets/graph/tree-layout.ts";
import type { NodeName, OpenAs, SpotNode } from "./graph-state.ts";
import type { Activation } from "./records.ts";

/** The number under which a node is known while it is on screen: activations are even, groups odd. */
export function keyOf(of: Activation): number {
  return of.key;
}

/** The name of a node in the state. */
export function nameOfKey(key: number): NodeName {
  return `${key % 2 === 1 ? "g" : "a"}${String(Math.floor(key / 2))}`;
}

/** The number of a name; -1 when it is none. */
export function keyOfName(name: NodeName): number {
  const [, kind, id] = /^([ag])(\d+)$/.exec(name) ?? [];
  return id === undefined ? -1 : Number(id) * 2 + (kind === "g" ? 1 : 0);
}

/** How a node opens by a plain click; null for what has nothing inside. */
export function plainWay(of: Activation): OpenAs | null {
  switch (of.kind) {
    case "loop": return of.iterations > 0 ? "iterations" : null;
    case "iteration": return of.children > 0 ? "children" : null;
    case "call": return of.groups > 0 ? "groups" : null;
    case "group": return of.groups > 0 ? "groups" : of.count > 1 ? "calls" : null;
  }
}

/** How a node opens with Shift: what is really in it, one by one; null where there is nothing. */
export function fullWay(of: Activation): OpenAs | null {
  switch (of.kind) {
    case "loop": return of.iterations > 0 ? "iterations" : null;
    case "iteration": return of.children > 0 ? "children" : null;
    case "call": return of.executions > 0 ? "executions" : null;
    case "group": return "calls";
  }
}

/** Whether there is anything inside. */
export function isLeaf(of: Activation): boolean {
  return plainWay(of) === null && fullWay(of) === null;
}

/** What is on screen of a graph of calls, in depth-first order. */
export interface ShownTree extends TreeShape {
  readonly entities: readonly Activation[];
  /** End of what is below each node. */
  readonly end: Int32Array;
  /** As what each node is open; null for a closed one. */
  readonly open: readonly (OpenAs | null)[];
  /** Nodes that are open, in their order. */
  readonly opened: readonly number[];
  /** Nodes between each and its parent that a spot omits, by node. */
  readonly skipped: ReadonlyMap<number, number>;
  /** Nodes that are open, but whose inside is not there yet. */
  readonly missing: readonly Missing[];
}

/** What has to be asked for. */
export interface Missing {
  readonly entity: Activation;
  readonly as: OpenAs;
}

/** What a node shows inside, if that is known. */
export type InsideOf = (entity: Activation, as: OpenAs) => readonly Activation[] | null;

/** Assembles what is on screen. A node whose inside is not known is shown without it, and reported as missing. */
export function shownTree(roots: readonly Activation[], open: ReadonlyMap<number, OpenAs>, insideOf: InsideOf, spot: readonly SpotNode[] | null = null, entityOf: (key: number) => Activation | null = () => null): ShownTree {
  const entities: Activation[] = [];
  const parent: number[] = [];
  const depth: number[] = [];
  const ways: (OpenAs | null)[] = [];
  const opened: number[] = [];
  const missing: Missing[] = [];
  const skipped = new Map<number, number>();

  const put = (entity: Activation, above: number): number => {
    const node = entities.length;
    entities.push(entity);
    parent.push(above);
    depth.push(above < 0 ? 0 : (depth[above] ?? 0) + 1);
    ways.push(null);
    return node;
  };
  /** A node and everything open below it, without recursion: depth comes from the program. */
  const putWhole = (root: Activation, above: number): void => {
    const waiting: { readonly list: readonly Activation[]; readonly above: number; at: number }[] = [{ list: [root], above, at: 0 }];
    for (let top = waiting.at(-1); top !== undefined; top = waiting.at(-1)) {
      const entity = top.list[top.at];
      if (entity === undefined) {
        waiting.pop();
        continue;
      }
      top.at += 1;
      const node = put(entity, top.above);
      const as = open.size === 0 ? undefined : open.get(keyOf(entity));
      if (as === undefined) continue;
      ways[node] = as;
      opened.push(node);
      const inside = insideOf(entity, as);
      if (inside === null) missing.push({ entity, as });
      else waiting.push({ list: inside, above: node, at: 0 });
    }
  };

  if (spot === null) for (const root of roots) putWhole(root, -1);
  else putSpot();

  /** The nodes that are left, each with what is open below it, where nothing of the spot is. */
  function putSpot(): void {
    const places: number[] = [];
    for (const [at, one] of (spot ?? []).entries()) {
      const entity = entityOf(keyOfName(one.node));
      const above = one.above < 0 ? -1 : (places[one.above] ?? -1);
      if (entity === null || (one.above >= 0 && above < 0)) {
        places[at] = -1;
        continue;
      }
      const isInner = spot?.some((other) => other.above === at) === true;
      places[at] = entities.length;
      if (isInner) {
        const node = put(entity, above);
        ways[node] = "groups";
        opened.push(node);
      } else putWhole(entity, above);
      if (one.skipped > 0) skipped.set(places[at] ?? 0, one.skipped);
    }
  }

  const count = entities.length;
  const end = new Int32Array(count);
  for (let node = count - 1; node >= 0; node -= 1) {
    end[node] = Math.max(end[node] ?? 0, node + 1);
    const above = parent[node] ?? -1;
    if (above >= 0) end[above] = Math.max(end[above] ?? 0, end[node] ?? 0);
  }
  return { count, parent: Int32Array.from(parent), depth: Uint16Array.from(depth), entities, end, open: ways, opened, skipped, missing };
}

/** How many nodes are looked for one after the other before all are noted down. */
const FEW = 16;

/** Where nodes are in a tree, by their keys. Few are asked for of most trees, and noting down a hundred thousand takes longer than looking. */
export class NodeIndex {
  readonly #entities: readonly Activation[];
  readonly #known = new Map<number, number>();
  #isWhole = false;

  constructor(tree: Pick<ShownTree, "entities">) {
    this.#entities = tree.entities;
  }

  /** -1 where it is not on screen. */
  of(key: number): number {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#isWhole) return -1;
    if (this.#known.size >= FEW) {
      this.#isWhole = true;
      this.#entities.forEach((entity, node) => this.#known.set(entity.key, node));
      return this.#known.get(key) ?? -1;
    }
    const node = this.#entities.findIndex((entity) => entity.key === key);
    this.#known.set(key, node);
    return node;
  }
}

/** Siblings in their order: iterations by number, all others by time; the engine's order is kept where it is that. */
export function inOrder(list: readonly Activation[]): readonly Activation[] {
  const rankOf = (one: Activation): number => (one.kind === "iteration" ? (one.number ?? 0) : one.startNs);
  for (let at = 1, before = list[0] === undefined ? 0 : rankOf(list[0]); at < list.length; at += 1) {
    const one = list[at];
    const rank = one === undefined ? before : rankOf(one);
    if (rank < before) return [...list].sort((a, b) => rankOf(a) - rankOf(b) || a.id - b.id);
    before = rank;
  }
  return list;
}

/**
 * What is left of a tree when only some nodes count: these and where the ways to them part, from their
 * nearest common ancestor on. Nodes between, with a single way through them, are counted but omitted.
 */
export function spotOf(tree: Pick<ShownTree, "parent" | "entities">, marked: readonly number[]): readonly SpotNode[] {
  const wanted = new Set(marked);
  // How many ways to marked nodes lead through each node.
  const branches = new Map<number, Set<number>>();
  for (const node of wanted) {
    for (let at = node, above = tree.parent[at] ?? -1; above >= 0; at = above, above = tree.parent[at] ?? -1) {
      const known = branches.get(above);
      if (known === undefined) branches.set(above, new Set([at]));
      else if (known.has(at)) break;
      else {
        known.add(at);
        break;
      }
    }
  }
  const kept = [...new Set([...wanted, ...[...branches].filter(([, below]) => below.size > 1).map(([node]) => node)])].sort((a, b) => a - b);
  const places = new Map(kept.map((node, at) => [node, at]));
  return kept.map((node) => {
    let skipped = 0;
    let above = tree.parent[node] ?? -1;
    while (above >= 0 && !places.has(above)) {
      skipped += 1;
      above = tree.parent[above] ?? -1;
    }
    const entity = tree.entities[node];
    const name = entity === undefined ? "" : nameOfKey(keyOf(entity));
    return above < 0 ? { node: name, above: -1, skipped: 0 } : { node: name, above: places.get(above) ?? -1, skipped };
  });
}
