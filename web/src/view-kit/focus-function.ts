import type { EngineClient } from "../state/engine.ts";
import type { Protocol } from "../wire/protocol.ts";
import { askTree } from "./ask.svelte.ts";
import { textAt } from "./columns.ts";
import { nameOf } from "./context-table.ts";
import { isNamed } from "./next-step.ts";

/** Id of the context of a function that costs most, by its name or a glob; null where the tree has none. */
export async function costliest(client: EngineClient, ask: Protocol["tree_table"]["request"], name: string): Promise<number | null> {
  const { tree } = await askTree(client, ask);
  const cost = tree.costs[0]?.inclusive;
  const codes = new Set<number>();
  tree.name.texts.forEach((text, code) => { if (isNamed(text, name)) codes.add(code); });
  let best = -1;
  for (let row = 0; row < tree.length; row += 1) {
    if (!codes.has(tree.name.codes[row] ?? -1) || textAt(tree.kind, row) !== "function") continue;
    if (best < 0 || (cost?.[row] ?? 0) > (cost?.[best] ?? 0) || nameOf(tree, best) === "") best = row;
  }
  return best < 0 ? null : (tree.contextId[best] ?? null);
}
