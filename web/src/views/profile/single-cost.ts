import type { CostReply } from "../../wire/protocol.ts";
import type { ContextTable } from "./context-table.ts";
import type { CostColumn } from "./cost-columns.ts";
import { valueFormat } from "./format.ts";

/** The two columns of views with one metric. Their ids are `inclusive` and `exclusive`. */
export function singleCostColumns(tree: ContextTable, cost: CostReply, description: string): readonly CostColumn[] {
  const costs = tree.costs[0];
  if (costs === undefined) return [];
  const format = valueFormat(cost.unit, cost.total);
  const unit = format.unit === "" ? "" : ` (${format.unit})`;
  const make = (id: "exclusive" | "inclusive", short: string, meaning: string): CostColumn => ({
    id,
    title: `${cost.metric} ${short}${unit}`,
    help: `${cost.metric}, ${meaning}.${description === "" ? "" : ` ${description}`}`,
    values: costs[id],
    total: cost.total,
    unit: cost.unit,
    format,
    hasShare: cost.total > 0,
  });
  return [
    make("exclusive", "excl.", "exclusive: without what it calls"),
    make("inclusive", "incl.", "inclusive: with everything below; where it calls itself, only the outermost counts"),
  ];
}

/** How many contexts a group has. */
export function contextsColumn(tree: ContextTable): CostColumn {
  return {
    id: "contexts",
    title: "Contexts",
    help: "Number of contexts in the group.",
    values: tree.costs[1]?.inclusive ?? new Float64Array(),
    total: Number.NaN,
    unit: "",
    format: { unit: "", text: (value) => String(value) },
    hasShare: false,
  };
}
