import { withoutArguments } from "../../base/names.ts";
import type { Column, Table } from "@uwdata/flechette";
import type { Protocol, RegionReply, ScalingReply } from "../../wire/protocol.ts";
import type { Grid } from "../../widgets/charts/grid.ts";

/** Columns of the engine's table `cells`. */
export type CellColumn = Protocol["scaling"]["tables"]["cells"];

/** A region that loses where the whole program loses most. */
interface LossRow {
  readonly region: string;
  readonly name: string;
  /** Core-seconds beyond the baseline, with everything inside. */
  readonly loss: number;
  /** The same without what the regions inside lose. */
  readonly ownLoss: number;
  /** Own loss as a share of the program's, in per cent; NaN where the program loses nothing. */
  readonly sharePercent: number;
  readonly cause: string | null;
}

/** A reply of `scaling`, made easy to look cells up in. Numbers are the engine's. */
export class ScalingData {
  readonly reply: ScalingReply;
  readonly losses: readonly LossRow[];
  /** Positions of the regions inside each region. */
  readonly inside: readonly (readonly number[])[];
  readonly #cells: Table;
  readonly #columns = new Map<CellColumn, Float64Array>();
  readonly #positions: ReadonlyMap<string, number>;
  #costs: Float64Array | null = null;

  constructor(reply: ScalingReply, tables: Readonly<Record<string, Table>>) {
    const cells = tables["cells"];
    const losses = tables["losses"];
    if (cells === undefined || losses === undefined) throw new Error("The engine's answer has no cells. Reload the page; it may be of another version.");
    this.reply = reply;
    this.#cells = cells;
    this.losses = lossRows(losses);
    this.#positions = new Map(reply.regions.map((region, at) => [region.id, at]));
    const inside: number[][] = reply.regions.map(() => []);
    reply.regions.forEach((region, at) => {
      if (region.parent !== null) inside[region.parent]?.push(at);
    });
    this.inside = inside;
  }

  get inputs(): readonly string[] {
    return this.reply.inputs;
  }

  get cores(): readonly number[] {
    return this.reply.cores;
  }

  /** Positions of core counts in the order in which maps show them, from the top. */
  get rows(): readonly number[] {
    return this.reply.rows;
  }

  get regions(): readonly RegionReply[] {
    return this.reply.regions;
  }

  /** Position of a region by its id. */
  position(id: string): number | null {
    return this.#positions.get(id) ?? null;
  }

  region(id: string): RegionReply | null {
    return this.regions[this.position(id) ?? -1] ?? null;
  }

  /** A value of a cell; NaN where it is undefined. */
  cell(column: CellColumn, region: number, input: number, core: number): number {
    return this.column(column)[(region * this.inputs.length + input) * this.cores.length + core] ?? Number.NaN;
  }

  /** A map of a region as it is drawn: rows are core counts in their order, columns are inputs. */
  grid(column: CellColumn, region: number): Grid {
    const [rows, columns] = [this.rows.length, this.inputs.length];
    const values = new Float64Array(rows * columns);
    this.rows.forEach((core, row) => {
      for (let at = 0; at < columns; at += 1) values[row * columns + at] = this.cell(column, region, at, core);
    });
    return { rows, columns, values };
  }

  /** What a region loses where the whole program loses most, in core-seconds; NaN when nothing is known. */
  lossOf(region: number): number {
    const worst = this.reply.worst;
    return worst === null ? Number.NaN : this.cell("loss", region, worst[0], worst[1]);
  }

  /**
   * By what regions are ordered: what a region loses; where that is not known, as for threads and for code that only
   * calls, the most that anything inside loses.
   */
  costOf(region: number): number {
    this.#costs ??= this.#costsFromBelow();
    return this.#costs[region] ?? Number.NaN;
  }

  #costsFromBelow(): Float64Array {
    const costs = Float64Array.from(this.regions, (_, region) => this.lossOf(region));
    const most = new Float64Array(costs.length).fill(Number.NaN);
    // Parents lie before children, so going backwards meets children first.
    for (let at = costs.length - 1; at >= 0; at -= 1) {
      const own = costs[at] ?? Number.NaN;
      const cost = Number.isNaN(own) ? (most[at] ?? Number.NaN) : own;
      costs[at] = cost;
      const parent = this.regions[at]?.parent ?? null;
      if (parent !== null && !Number.isNaN(cost) && !((most[parent] ?? Number.NaN) >= cost)) most[parent] = cost;
    }
    return costs;
  }

  /** Where the whole program loses most: "input i3 on 8 cores". */
  get worstWords(): string | null {
    const worst = this.reply.worst;
    if (worst === null) return null;
    const cores = this.cores[worst[1]] ?? 0;
    const on = `${String(cores)} ${cores === 1 ? "core" : "cores"}`;
    return this.inputs.length > 1 ? `input ${inputCode(worst[0])} on ${on}` : on;
  }

  column(name: CellColumn): Float64Array {
    let column = this.#columns.get(name);
    if (column === undefined) {
      column = numbersOf(this.#cells.getChild(name));
      this.#columns.set(name, column);
    }
    return column;
  }
}

/** How maps name an input: `i1`. */
export function inputCode(input: number): string {
  return `i${String(input + 1)}`;
}

/** What a region is called wherever there is room for one line. */
export function regionName(region: RegionReply): string {
  if (region.parent === null) return "Whole program";
  const name = withoutArguments(region.display_name === "" ? region.name : region.display_name);
  // Regions that were marked in the source are known by their numbers; contexts have numbers of the database.
  if (region.kind === "region") return name === "" || name === region.id ? `Region ${region.id}` : `${region.id} ${name}`;
  return name === "" ? `Region ${region.id}` : name;
}

/** An amount among others, with as many places as suit the largest: what is nothing compared with it reads as nothing. */
export function amountText(value: number, largest: number): string {
  if (Number.isNaN(value)) return "–";
  const whole = Math.max(1, Math.floor(Math.log10(Math.max(Math.abs(largest), 1e-9))) + 1);
  const places = Math.abs(largest) < 1 ? Math.min(9, 4 - Math.ceil(Math.log10(Math.max(Math.abs(largest), 1e-9)))) : Math.max(0, 4 - whole);
  const text = Math.abs(value).toFixed(places);
  return Number(text) === 0 || value > 0 ? text : `−${text}`;
}

/** `react.c:40–62`; empty when the source is not known. */
export function placeOf(region: RegionReply, isShort = true): string {
  if (region.file === null || region.file === "") return "";
  const file = isShort ? (region.file.split("/").at(-1) ?? region.file) : region.file;
  const { first_line: first, last_line: last } = region;
  if (first === null || first === 0) return file;
  return last === null || last === first ? `${file}:${String(first)}` : `${file}:${String(first)}–${String(last)}`;
}

/** A column of numbers; null becomes NaN. */
export function numbersOf(column: Column<unknown> | null | undefined): Float64Array {
  if (column === null || column === undefined) return new Float64Array();
  const out = new Float64Array(column.length);
  for (let at = 0; at < out.length; at += 1) {
    const value = column.get(at);
    out[at] = typeof value === "number" ? value : typeof value === "bigint" ? Number(value) : Number.NaN;
  }
  return out;
}

/** A column of texts; null becomes empty. */
export function textsOf(column: Column<unknown> | null | undefined): readonly string[] {
  if (column === null || column === undefined) return [];
  return Array.from({ length: column.length }, (_, at) => {
    const value: unknown = column.get(at);
    return typeof value === "string" ? value : "";
  });
}

function lossRows(table: Table): readonly LossRow[] {
  const regions = textsOf(table.getChild("region"));
  const names = textsOf(table.getChild("name"));
  const causes = textsOf(table.getChild("cause"));
  const losses = numbersOf(table.getChild("loss"));
  const own = numbersOf(table.getChild("own_loss"));
  const shares = numbersOf(table.getChild("share"));
  return regions.map((region, at) => ({
    region,
    name: names[at] ?? "",
    loss: losses[at] ?? Number.NaN,
    ownLoss: own[at] ?? Number.NaN,
    sharePercent: shares[at] ?? Number.NaN,
    cause: causes[at] === undefined || causes[at] === "" ? null : causes[at],
  }));
}
