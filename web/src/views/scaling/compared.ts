import type { Table } from "@uwdata/flechette";
import { number, percent } from "../../base/format.ts";
import { differenceColours, mirrored, type ColourScale } from "../../widgets/charts/colours.ts";
import type { Grid } from "../../widgets/charts/grid.ts";
import { headOf } from "../../view-kit/answers.ts";
import type { CompareReply, Protocol } from "../../wire/protocol.ts";
import { numbersOf, textsOf } from "./data.ts";
import type { CompareState } from "./states.ts";

/** Columns of the engine's table `cells`. */
export type ComparedColumn = Protocol["compare"]["tables"]["cells"];

/** A reply of `compare`, made easy to look cells up in. Numbers are the engine's. */
export class ComparedData {
  readonly reply: CompareReply;
  /** `faster`, `slower`, `within noise`, `not tested` (a single run), or empty where a version has no time. */
  readonly changes: readonly string[];
  readonly #cells: Table;
  readonly #columns = new Map<string, Float64Array>();

  constructor(reply: CompareReply, tables: Readonly<Record<string, Table>>) {
    const cells = tables["cells"];
    if (cells === undefined) throw new Error("The engine's answer has no cells. Reload the page; it may be of another version.");
    this.reply = reply;
    this.#cells = cells;
    this.changes = textsOf(cells.getChild("change"));
  }

  /** What a column is called, what it means and its unit, as the engine has it. */
  head(column: ComparedColumn): ReturnType<typeof headOf> {
    return headOf(this.#cells, column);
  }

  row(region: number, input: number, core: number): number {
    return (region * this.reply.inputs.length + input) * this.reply.cores.length + core;
  }

  value(column: ComparedColumn, region: number, input: number, core: number): number {
    let values = this.#columns.get(column);
    if (values === undefined) {
      values = numbersOf(this.#cells.getChild(column));
      this.#columns.set(column, values);
    }
    return values[this.row(region, input, core)] ?? Number.NaN;
  }

  change(region: number, input: number, core: number): string {
    return this.changes[this.row(region, input, core)] ?? "";
  }

  /** A map of a region: rows are core counts, columns are inputs. Times are logarithms of ratios to the base 2. */
  grid(quantity: CompareState["quantity"], region: number): Grid {
    const [rows, columns] = [this.reply.cores.length, this.reply.inputs.length];
    const values = new Float64Array(rows * columns);
    for (let core = 0; core < rows; core += 1) {
      for (let input = 0; input < columns; input += 1) {
        const value = this.value(quantity, region, input, core);
        // Twice as fast and half as fast are the same distance from no change.
        values[core * columns + input] = quantity === "time_ratio" ? Math.log2(value) : value;
      }
    }
    return { rows, columns, values };
  }

  /** How many cells of a region became faster and slower beyond noise. */
  counts(region: number): { readonly faster: number; readonly slower: number; readonly cells: number } {
    let faster = 0;
    let slower = 0;
    let cells = 0;
    for (let input = 0; input < this.reply.inputs.length; input += 1) {
      for (let core = 0; core < this.reply.cores.length; core += 1) {
        const change = this.change(region, input, core);
        if (change !== "") cells += 1;
        if (change === "faster") faster += 1;
        if (change === "slower") slower += 1;
      }
    }
    return { faster, slower, cells };
  }
}

/** Colours of a map of changes: teal is better, brown is worse, whatever the quantity. */
export function changeColours(quantity: CompareState["quantity"], range: number): ColourScale {
  const colours = differenceColours(range);
  return quantity === "time_ratio" ? mirrored(colours) : colours;
}

/** The text in a cell: `×0.81`, or points of efficiency. */
export function changeText(quantity: CompareState["quantity"], value: number): string {
  if (Number.isNaN(value)) return "";
  if (quantity === "time_ratio") return `×${(2 ** value).toFixed(2)}`;
  const text = Math.abs(value * 100).toFixed(1);
  return Number(text) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
}

/** A change of time in words: `12.3 % faster`. */
export function ratioWords(ratio: number): string {
  if (Number.isNaN(ratio)) return "unknown";
  if (ratio === 1) return "the same time";
  return ratio < 1 ? `takes ${percent(1 - ratio)} less time` : `takes ${percent(ratio - 1)} more time`;
}

/** A tick of the legend. */
export function changeTick(quantity: CompareState["quantity"], value: number): string {
  return quantity === "time_ratio" ? `×${number(2 ** value, 3)}` : changeText(quantity, value);
}

/** The mark in a cell whose change is beyond noise, or that cannot be judged. */
export function changeMark(change: string): string {
  return change === "faster" ? "▼ " : change === "slower" ? "▲ " : change === "not tested" ? "? " : "";
}

/** What a change is judged by, in a sentence; empty where there is none. */
export function changeReason(change: string, adjusted: number, runs: readonly [number, number]): string {
  const count = `${String(runs[0])} versus ${String(runs[1])} runs`;
  const chance = Number.isNaN(adjusted) ? "" : `, p = ${number(adjusted, 2)} adjusted for all tests`;
  if (change === "not tested") return `Not tested: ${count}; the variance of a single run is unknown.`;
  if (change === "within noise") return `Within noise: ${count}${chance}, or the change is below the tolerance.`;
  return change === "" ? "" : `Significantly ${change}: ${count}${chance}.`;
}
