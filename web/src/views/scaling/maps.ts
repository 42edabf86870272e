import { percent } from "../../base/format.ts";
import { differenceColours, efficiencyColours, type ColourScale } from "../../widgets/charts/colours.ts";
import { longest } from "../../widgets/charts/grid.ts";
import type { CellColumn, ScalingData } from "./data.ts";
import type { ScalingSettings } from "./settings.ts";

/** One of the maps. */
export type MapKind = "efficiency" | "scalability" | "strong" | "weak" | "imbalance";

/** The four maps of a card. */
export const MAP_KINDS: readonly MapKind[] = ["efficiency", "scalability", "strong", "weak"];

/** Those and the map that only some measurements have. */
export const ALL_MAP_KINDS: readonly MapKind[] = [...MAP_KINDS, "imbalance"];

/** Maps of shares from 0 to 100 %; the others are of differences. */
function isShare(kind: MapKind): boolean {
  return kind === "efficiency" || kind === "imbalance";
}

/** What the numbers of a map are counted in. */
export function mapUnit(kind: MapKind): string {
  return isShare(kind) ? "%" : "points";
}

const TITLES: Readonly<Record<MapKind, string>> = {
  efficiency: "Efficiency",
  scalability: "Scalability",
  strong: "Strong scaling",
  weak: "Weak scaling",
  imbalance: "Load imbalance",
};

/** The name of a map. */
export function mapTitle(kind: MapKind): string {
  return TITLES[kind];
}

/** What a map tells, in one sentence. */
export function mapHelp(kind: MapKind, differences: ScalingSettings["differences"]): string {
  const isAbsolute = differences === "absolute";
  switch (kind) {
    case "efficiency":
      return "Speedup per core: 100 % is ideal.";
    case "scalability":
      return isAbsolute
        ? "Efficiency minus that of the first input on the same number of cores."
        : "Efficiency minus that of the previous input on the same number of cores.";
    case "strong":
      return isAbsolute
        ? "Efficiency minus that of the same input on the baseline."
        : "Efficiency minus that of the same input on the next smaller core count.";
    case "weak":
      return isAbsolute
        ? "Efficiency minus that at the start of the diagonal, on which input and cores grow."
        : "Efficiency minus that one step up the diagonal: the previous input and core count.";
    case "imbalance":
      return "Maximum minus mean over threads or ranks, of the maximum: 0 % is balanced.";
  }
}

/** The engine's column of a map. */
export function mapColumn(kind: MapKind, differences: ScalingSettings["differences"]): CellColumn {
  if (kind === "efficiency" || kind === "imbalance") return kind;
  return `${kind}_${differences === "absolute" ? "abs" : "rel"}`;
}

/** The symmetric range of the difference maps of a region, as a fraction. */
function regionRange(data: ScalingData, region: number, differences: ScalingSettings["differences"]): number {
  const reply = data.regions[region];
  return (differences === "absolute" ? reply?.range_absolute : reply?.range_relative) ?? 0;
}

/** The range for each of the shown regions: its own, or the largest of all. */
export function rangesOf(data: ScalingData, regions: readonly number[], settings: ScalingSettings): readonly number[] {
  const own = regions.map((region) => regionRange(data, region, settings.differences));
  if (settings.range === "region") return own;
  const most = Math.max(0, ...own);
  return own.map(() => most);
}

/** The colours of a map; efficiency and imbalance are always 0 to 100 %. */
export function mapColours(kind: MapKind, range: number): ColourScale {
  return isShare(kind) ? efficiencyColours() : differenceColours(range);
}

/** The value of a cell in its tooltip: `37.4 %`, `−12.31 points`. */
export function mapValue(kind: MapKind, value: number): string {
  if (Number.isNaN(value)) return "undefined";
  if (isShare(kind)) return percent(value, 2);
  return `${withSign(value * 100, 2)} points`;
}

/** The number inside a cell. */
export function cellText(kind: MapKind, value: number): string {
  if (Number.isNaN(value)) return "";
  const hundredths = value * 100;
  const places = Math.abs(hundredths) >= 99.95 ? 0 : 1;
  return isShare(kind) ? hundredths.toFixed(places) : withSign(hundredths, places);
}

/** Letters of the longest number in the cells of these maps. */
export function lettersOf(data: ScalingData, regions: readonly number[], kinds: readonly MapKind[], differences: ScalingSettings["differences"]): number {
  const each = regions.flatMap((region) => kinds.map((kind) => longest(data.grid(mapColumn(kind, differences), region), (value) => cellText(kind, value))));
  return Math.max(1, ...each);
}

/** A tick of a legend. */
export function tickText(kind: MapKind, value: number): string {
  const text = plain(Math.abs(value) * 100);
  if (isShare(kind)) return text;
  return value === 0 ? "0" : `${value < 0 ? "−" : "+"}${text}`;
}

/** A number for an axis: three digits, without zeros that say nothing. */
export function plain(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function withSign(value: number, places: number): string {
  const text = Math.abs(value).toFixed(places);
  if (Number(text) === 0) return text;
  return `${value < 0 ? "−" : "+"}${text}`;
}
