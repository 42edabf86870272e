import type { Table } from "@uwdata/flechette";
import type { LinePoint } from "../../widgets/charts/lines.ts";
import type { ScalingReply } from "../../wire/protocol.ts";
import { inputCode, numbersOf, textsOf, type CellColumn, type ScalingData } from "./data.ts";
import { axisParameter, type ScalingSettings } from "./settings.ts";
import type { LinesState } from "./states.ts";

/** The axis along which lines go, and the lines that there are. */
interface Axis {
  readonly title: string;
  readonly values: readonly number[];
  readonly labels: readonly string[];
  readonly isLogarithmic: boolean;
  /** Names of the lines: inputs along cores, core counts along inputs. */
  readonly lines: readonly string[];
  readonly longLines: readonly string[];
}

/** How far apart the ends of an axis are when a logarithm suits it better. */
const LOGARITHM_FROM = 8;

/** The axis for a choice: inputs lie by their numbers when these grow, else next to each other. */
export function axisOf(data: ScalingData, along: LinesState["along"]): Axis {
  const codes = data.inputs.map((_, at) => inputCode(at));
  const cores = data.cores.map((count) => `${String(count)} ${count === 1 ? "core" : "cores"}`);
  if (along === "cores") {
    return {
      title: "cores",
      values: data.cores,
      labels: data.cores.map(String),
      isLogarithmic: isWide(data.cores),
      lines: codes,
      longLines: data.inputs.map((input, at) => `${codes[at] ?? ""}: ${input}`),
    };
  }
  const numbers = axisParameter(data.reply, "inputs")?.numbers ?? [];
  const known = numbers.flatMap((one) => (one === null ? [] : [one]));
  const isGrowing = known.length === data.inputs.length && known.every((one, at) => at === 0 || one > (known[at - 1] ?? one));
  const values = isGrowing ? known : data.inputs.map((_, at) => at + 1);
  return {
    title: "input",
    values,
    labels: isGrowing ? data.inputs : codes,
    isLogarithmic: isGrowing && isWide(values),
    lines: cores,
    longLines: cores,
  };
}

function isWide(values: readonly number[]): boolean {
  const [first, last] = [values[0] ?? 0, values.at(-1) ?? 0];
  return first > 0 && last / first >= LOGARITHM_FROM;
}

/** The measured points of one line of a region. Only times have a band: the shortest and the longest repetition. */
export function linePoints(data: ScalingData, region: number, quantity: LinesState["quantity"], along: LinesState["along"], line: number): readonly LinePoint[] {
  const axis = axisOf(data, along);
  return axis.values.map((x, at) => {
    const [input, core] = along === "cores" ? [line, at] : [at, line];
    const of = (column: CellColumn): number => data.cell(column, region, input, core);
    if (quantity !== "time") return { x, y: of(quantity) };
    return { x, y: of("time"), low: of("time_min"), high: of("time_max") };
  });
}

/**
 * What perfect scaling would be along cores: the baseline's time divided over the cores, and what follows from it.
 * Null where there is no baseline.
 */
export function idealPoints(data: ScalingData, region: number, quantity: LinesState["quantity"], input: number): readonly LinePoint[] | null {
  const base = data.reply.baselines[input] ?? null;
  if (base === null) return null;
  const time = data.cell("time", region, input, data.cores.indexOf(base));
  const points = data.cores.map((cores) => ({
    x: cores,
    y: quantity === "efficiency" ? 1 : quantity === "speedup" ? cores / base : (time * base) / cores,
  }));
  return points.some((point) => Number.isFinite(point.y)) ? points : null;
}

/** A law of `scaling_table laws` for one region and input. */
export interface Law {
  readonly region: string;
  readonly input: string;
  readonly serial: number;
  readonly serialTime: number;
  readonly maxSpeedup: number;
  readonly amdahlErrorPercent: number;
  readonly contention: number;
  readonly coherency: number;
  readonly peakCores: number;
  readonly uslErrorPercent: number;
}

/**
 * The value of Amdahl's law T(p) = T1 (s + (1 - s) / p), or of the speedup and efficiency that follow from it, relative
 * to the core count that measured ones are relative to.
 */
export function amdahl(law: Law, quantity: LinesState["quantity"], cores: number, base = 1): number {
  const share = (count: number): number => law.serial + (1 - law.serial) / count;
  if (quantity === "time") return law.serialTime * share(cores);
  return relative(quantity, share(base) / share(cores), cores, base);
}

function relative(quantity: LinesState["quantity"], speedup: number, cores: number, base: number): number {
  return quantity === "speedup" ? speedup : (speedup * base) / cores;
}

/** Gunther's universal scalability law S(p) = p / (1 + σ (p - 1) + κ p (p - 1)); it says nothing about times. */
export function usl(law: Law, quantity: LinesState["quantity"], cores: number, base = 1): number {
  if (quantity === "time") return Number.NaN;
  const speedup = (count: number): number => count / (1 + law.contention * (count - 1) + law.coherency * count * (count - 1));
  return relative(quantity, speedup(cores) / speedup(base), cores, base);
}

/** How many points a drawn curve has. */
const CURVE_POINTS = 48;

/** Values along an axis at which curves are drawn: even steps of the logarithm where the axis has one. */
export function curveValues(axis: Pick<Axis, "values" | "isLogarithmic">): readonly number[] {
  const [low, high] = [axis.values[0] ?? 1, axis.values.at(-1) ?? 1];
  if (low === high) return [low];
  return Array.from({ length: CURVE_POINTS }, (_, step) => {
    if (step === CURVE_POINTS - 1) return high;
    const share = step / (CURVE_POINTS - 1);
    return axis.isLogarithmic ? low * (high / low) ** share : low + (high - low) * share;
  });
}

/** A growth model of `models` for one region and group. */
export interface Model {
  readonly region: string;
  readonly group: string;
  readonly formula: string;
  /** In per cent. */
  readonly smape: number;
  readonly points: number;
  readonly curve: readonly LinePoint[];
}

/** The models of an answer to `models`, each with its curve. */
export function modelsOf(tables: Readonly<Record<string, Table>>): readonly Model[] {
  const { rows, curves } = tables;
  if (rows === undefined || curves === undefined) throw new Error("The engine's answer has no models. Reload the page; it may be of another version.");
  const [regions, groups, formulas] = ["region", "group", "model"].map((name) => textsOf(rows.getChild(name))) as [readonly string[], readonly string[], readonly string[]];
  const [smape, points] = [numbersOf(rows.getChild("smape")), numbersOf(rows.getChild("points"))];
  const curvesOf: LinePoint[][] = regions.map(() => []);
  const [of, x, y] = ["model", "x", "y"].map((name) => numbersOf(curves.getChild(name))) as [Float64Array, Float64Array, Float64Array];
  of.forEach((model, at) => { curvesOf[model]?.push({ x: x[at] ?? Number.NaN, y: y[at] ?? Number.NaN }); });
  return regions.map((region, at) => ({
    region, group: groups[at] ?? "", formula: formulas[at] ?? "", smape: smape[at] ?? Number.NaN, points: points[at] ?? 0, curve: curvesOf[at] ?? [],
  }));
}

/** The model of a region for one line: the one whose other parameters have the line's values. */
export function modelOf(
  models: readonly Model[], reply: ScalingReply, settings: ScalingSettings, region: string, modelled: string, lineParameter: string | null, lineValue: string,
): Model | null {
  const ofRegion = models.filter((model) => model.region === region);
  const group = reply.parameters
    .filter((parameter) => parameter.name !== modelled)
    .map((parameter) => {
      const value = parameter.name === lineParameter ? lineValue : (settings.fixed[parameter.name] ?? parameter.values.at(-1) ?? "");
      return `${parameter.name}=${value}`;
    })
    .join(" ");
  return ofRegion.find((model) => model.group === group) ?? (ofRegion.length === 1 && ofRegion[0]?.group === "" ? ofRegion[0] : null);
}

const SUPERSCRIPTS: Readonly<Record<string, string>> = {
  "0": "⁰", "1": "¹", "2": "²", "3": "³", "4": "⁴", "5": "⁵", "6": "⁶", "7": "⁷", "8": "⁸", "9": "⁹", "/": "ᐟ", "-": "⁻", ".": "·",
};

/** A formula for users: `0.3234 − 0.03231 · log₂(cores)` for `0.323401 + -0.0323095 * log2(cores)^(1)`. */
export function formulaText(formula: string): string {
  return formula
    .replace(/\^\(([^)]+)\)/g, (_, power: string) => (power === "1" ? "" : [...power].map((sign) => SUPERSCRIPTS[sign] ?? sign).join("")))
    .replace(/-?\d+\.\d+(e[+-]?\d+)?|-?\d+(\.\d+)?e[+-]?\d+/gi, (text) => shortNumber(Number(text)))
    .replace(/\+ -/g, "− ")
    .replace(/\s\*\s/g, " · ")
    .replace(/log2\(/g, "log₂(");
}

function shortNumber(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) {
    const [digits = "", power = "0"] = value.toExponential(2).split("e");
    return `${digits} · 10${[...String(Number(power))].map((sign) => SUPERSCRIPTS[sign] ?? sign).join("")}`;
  }
  return String(Number(value.toPrecision(4)));
}
