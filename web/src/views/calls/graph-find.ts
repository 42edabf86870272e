import type { AskOptions, EngineClient } from "../../state/engine.ts";
import { rowsOf } from "../../view-kit/ask.svelte.ts";
import { numberColumn } from "../../view-kit/columns.ts";
import type { GraphModel } from "./graph-model.svelte.ts";
import type { NodeName, OpenAs, OpenNodes } from "./graph-state.ts";
import { keyOf, nameOfKey, plainWay } from "./graph-tree.ts";
import type { Activation } from "./records.ts";

/** A thread has one entry call, seldom more. */
const MOST_LANES = 100;

/** Levels of calls that are open at first. */
const HOT_LEVELS = 5;
/** Share of the root's time below which a call is not opened at first. */
const HOT_SHARE = 0.1;

/** What is open at first: the hot path, of calls by function. Loops and single calls are the second look. */
export async function hotPath(roots: readonly Activation[], model: Pick<GraphModel, "insideOf">): Promise<OpenNodes> {
  const open: Record<NodeName, OpenAs> = {};
  let node = longest(roots);
  const least = (node?.lengthNs ?? 0) * HOT_SHARE;
  for (let level = 0; node !== undefined && level < HOT_LEVELS && node.lengthNs >= least && plainWay(node) === "groups"; level += 1) {
    open[nameOfKey(keyOf(node))] = "groups";
    node = longest(await model.insideOf(node, "groups"));
  }
  return open;
}

function longest(list: readonly Activation[]): Activation | undefined {
  return list.reduce<Activation | undefined>((best, one) => (best === undefined || one.lengthNs > best.lengthNs ? one : best), undefined);
}

/** How to come to a node: what has to be open, and its key. */
export interface PathTo {
  readonly open: OpenNodes;
  readonly key: number;
}

/** The first call of a context below these calls; null where they do not lead there. */
export async function firstOf(context: number, roots: readonly Activation[], client: EngineClient, item: string, options: AskOptions = {}): Promise<number | null> {
  // Merged lanes have each calling context once, with its first call.
  const { tables } = await client.ask("lanes", { item, tops: roots.slice(0, MOST_LANES).map((root) => root.id), is_merged: true, below_percent: 0, loops: false }, options);
  const rows = rowsOf(tables);
  const at = numberColumn(rows, "context_id").indexOf(context);
  return at < 0 ? null : (numberColumn(rows, "activation")[at] ?? null);
}

/**
 * What has to be open so that the first call of a context is on screen; null where none of these roots
 * leads there. Nodes that are open stay open as they are, as long as the way leads through what they show.
 */
export async function pathTo(
  context: number, roots: readonly Activation[], model: Pick<GraphModel, "entities" | "insideOf">, client: EngineClient, item: string, open: OpenNodes,
): Promise<PathTo | null> {
  const first = await firstOf(context, roots, client, item);
  if (first === null) return null;
  const [[target], { entities: around }] = await Promise.all([model.entities.get("activation", [first]), model.entities.related("activation", first, "ancestors")]);
  if (target === null || target === undefined) return null;
  const chain = [target, ...around];
  const ids = new Set(chain.map((one) => one.id));
  const next: Record<NodeName, OpenAs> = { ...open };
  let node = roots.find((root) => ids.has(root.id));
  // Each step comes nearer by at least one level of the chain.
  for (let step = 0; node !== undefined && step < 2 * chain.length; step += 1) {
    if (isAt(node, target)) return { open: next, key: keyOf(node) };
    const name = nameOfKey(keyOf(node));
    const ways = [next[name], node.kind === "loop" ? "iterations" : node.kind === "iteration" ? "children" : "groups"] as const;
    let inner: Activation | undefined;
    for (const as of ways) {
      if (as === undefined || inner !== undefined) continue;
      inner = (await model.insideOf(node, as)).find((one) => (one.kind === "group" ? chain.some((other) => isIn(other, one)) : ids.has(one.id)));
      if (inner !== undefined) next[name] = as;
    }
    node = inner;
  }
  return null;
}

function isAt(node: Activation, target: Activation): boolean {
  return node.kind === "group" ? isIn(target, node) : node.id === target.id;
}

/** Whether a call is one of a group: of the same function by the same call. */
function isIn(call: Activation, group: Activation): boolean {
  return call.kind === "call" && call.functionId === group.functionId && call.caller === group.caller;
}
