import type { CostReply, MetricReply } from "../wire/protocol.ts";
import type { ContextTable } from "./context-table.ts";
import { valueFormat, type ValueFormat } from "./format.ts";

export type CostScope = "inclusive" | "exclusive";

/** A column that was chosen. Plain JSON. */
export interface ColumnChoice {
  /** A metric expression, or a formula after `=`. */
  readonly metric: string;
  readonly scope: CostScope;
  /** What the header calls it; empty for the metric's own name. */
  readonly title: string;
}

/** How numbers stand in cells. */
export type Numbers = "both" | "value" | "percent";

/** A column of costs, ready to show. */
export interface CostColumn {
  /** Position among the chosen columns, as text. */
  readonly id: string;
  readonly title: string;
  readonly help: string;
  readonly values: Float64Array;
  /** Of the whole execution: what percentages are of; NaN where there is none. */
  readonly total: number;
  readonly unit: string;
  readonly format: ValueFormat;
  /** A ratio has no share of a total. */
  readonly hasShare: boolean;
}

/** What a fresh table shows. */
export function defaultColumns(metric: string): readonly ColumnChoice[] {
  return [
    { metric, scope: "inclusive", title: "" },
    { metric, scope: "exclusive", title: "" },
  ];
}

/** A metric's name, or a formula, as the engine reads it: names may hold signs that mean something in expressions. */
export function metricExpression(metric: string): string {
  return metric.startsWith("=") ? metric : `"${metric.replace(/[\\"]/g, "\\$&")}"`;
}

/** The metrics to ask for, each once, in the order of the columns. */
export function metricsOf(choices: readonly ColumnChoice[]): readonly string[] {
  return [...new Set(choices.map((choice) => choice.metric))];
}

/** Chosen columns with their values. `asked` are the metrics that the tree was requested, in its order. */
export function costColumns(
  tree: ContextTable,
  costs: readonly CostReply[],
  choices: readonly ColumnChoice[],
  asked: readonly string[],
  metrics: readonly MetricReply[] = [],
): readonly CostColumn[] {
  return choices.flatMap((choice, index) => {
    // Time in traces is one cost, whatever was asked.
    const at = Math.max(0, Math.min(asked.indexOf(choice.metric), costs.length - 1));
    const cost = costs[at];
    const values = tree.costs[at]?.[choice.scope];
    if (cost === undefined || values === undefined) return [];
    return [costColumn(String(index), choice, cost, values, metrics.find((metric) => metric.name === cost.metric)?.description ?? "")];
  });
}

function costColumn(id: string, choice: ColumnChoice, cost: CostReply, values: Float64Array, description: string): CostColumn {
  const isFormula = choice.metric.startsWith("=");
  const format = valueFormat(cost.unit, isFormula ? largest(values) : Math.max(Math.abs(cost.total), largest(values)));
  const scope = choice.scope === "inclusive" ? "incl." : "excl.";
  const name = choice.title === "" ? (isFormula ? choice.metric : cost.metric) : choice.title;
  const meaning = choice.scope === "inclusive" ? "inclusive: the context and its callees" : "exclusive: the context without its callees";
  return {
    id,
    title: `${name} ${scope}${format.unit === "" ? "" : ` (${format.unit})`}`,
    help: `${isFormula ? choice.metric : cost.metric}, ${meaning}.${description === "" ? "" : ` ${description}`}`,
    values,
    total: cost.total,
    unit: cost.unit,
    format,
    hasShare: !isFormula && cost.total > 0,
  };
}

function largest(values: Float64Array): number {
  let most = 0;
  for (const value of values) if (Math.abs(value) > most) most = Math.abs(value);
  return most;
}

/** Moves an entry of a list by one place. */
export function moved<T>(list: readonly T[], from: number, step: 1 | -1): readonly T[] {
  const next = [...list];
  const [one] = next.splice(from, 1);
  if (one !== undefined) next.splice(Math.max(0, Math.min(from + step, next.length)), 0, one);
  return next;
}
