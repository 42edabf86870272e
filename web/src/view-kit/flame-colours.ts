import { CATEGORY_COUNT, category, cssOf, frameFill, inkOn, ramp, type Rgb } from "../base/palettes.ts";
import { tokenColor, tokenRgb } from "../base/theme.ts";
import type { ContextTable, Costs } from "./context-table.ts";
import type { FlameColour } from "./states.ts";

type Theme = "light" | "dark";

/** Fill and ink of each row of a flame graph. */
export interface FrameColours {
  fillOf(row: number, theme: Theme): string;
  inkOf(row: number, theme: Theme): string;
}

const STEPS = 32;
/** Where code comes from, told by its name and module: only the program's own code and the two runtimes stand out. */
export function familyOf(name: string, module: string): "own" | "mpi" | "runtime" | "unknown" {
  const bracket = /\[([^\]]*)\]$/.exec(name)?.[1] ?? /^(\S+)\+0x[0-9a-f]+$/.exec(name)?.[1] ?? "";
  const path = module === "" ? bracket : module;
  const file = path.slice(path.lastIndexOf("/") + 1);
  if (/^P?MPI_|^ompi_|^MPID?I?_|^mca_|^opal_/i.test(name) || /^(libmpi|libopen-pal|libopen-rte|libmpich|libpmix|mca_|libucp|libucs|libuct|libfabric)/.test(file)) return "mpi";
  if (/^(<?omp |GOMP_|gomp_|__kmp|omp_)/.test(name) || /^(libgomp|libomp|libiomp)/.test(file)) return "runtime";
  if (name === "" || name.startsWith("<") || /^lib.*\.so|^ld-|^\[|\.so(\.|$)/.test(file)) return "unknown";
  return "own";
}

/** A category's colour, paler, so that text is readable on it. */
function pale([red, green, blue]: Rgb, theme: Theme): Rgb {
  const part = theme === "light" ? 0.62 : 0.45;
  const behind = tokenRgb("--surface-panel");
  const mix = (value: number, toward: number): number => Math.round(value + (toward - value) * part);
  return [mix(red, behind[0]), mix(green, behind[1]), mix(blue, behind[2])];
}

/** Colours by a property of frames; what is looked for keeps them and the rest turns grey. */
export function frameColours(tree: ContextTable, costs: Costs, by: FlameColour, matches: Uint8Array | null): FrameColours {
  // The modules that cost most are distinguished; the rest shares the last colour.
  const modules = new Map(by === "module" ? legend(tree, costs, by, CATEGORY_COUNT - 1).map(({ row }, index) => [tree.module.codes[row] ?? -1, index]) : []);
  const known = new Map<string, readonly [fill: string, ink: string]>();
  const selfRamp = ramp("inferno", true);
  const keyOf = (row: number): number => {
    switch (by) {
      case "function": return tree.name.codes[row] ?? -1;
      case "module": return tree.module.codes[row] ?? -1;
      case "kind": return tree.kind.codes[row] ?? -1;
      case "self": {
        const share = (costs.exclusive[row] ?? 0) / (costs.inclusive[row] ?? 1);
        return Math.round(Math.max(0, Math.min(1, Number.isFinite(share) ? share : 0)) * STEPS);
      }
    }
  };
  const rgbOf = (key: number, row: number, theme: Theme): Rgb => {
    const module = tree.module.texts[tree.module.codes[row] ?? -1] ?? "";
    switch (by) {
      case "function": {
        const name = tree.name.texts[key] ?? "";
        return frameFill(name, familyOf(name, module), theme);
      }
      case "module": return key < 0 ? tokenRgb("--surface-active") : pale(category(modules.get(key) ?? CATEGORY_COUNT - 1, theme), theme);
      case "kind": return pale(category(key, theme), theme);
      case "self": return selfRamp.rgb(0.06 + (key / STEPS) * 0.72);
    }
  };
  const coloursOf = (row: number, theme: Theme): readonly [string, string] => {
    const isMuted = matches !== null && matches[tree.name.codes[row] ?? -1] !== 1;
    const key = isMuted ? -2 : keyOf(row);
    const text = `${theme} ${String(key)}`;
    let colours = known.get(text);
    if (colours === undefined) {
      const fill = isMuted ? tokenRgb("--surface-active") : rgbOf(key, row, theme);
      colours = [cssOf(fill), isMuted ? tokenColor("--text-faint") : cssOf(inkOn(fill))];
      known.set(text, colours);
    }
    return colours;
  };
  return { fillOf: (row, theme) => coloursOf(row, theme)[0], inkOf: (row, theme) => coloursOf(row, theme)[1] };
}

/** What the colours mean, for a legend: at most `most` entries, those that cost most first. */
export function legend(tree: ContextTable, costs: Costs, by: FlameColour, most = 6): readonly { label: string; row: number }[] {
  if (by === "self" || by === "function") return [];
  const column = by === "module" ? tree.module : tree.kind;
  const sums = new Float64Array(column.texts.length);
  const rows = new Int32Array(column.texts.length).fill(-1);
  for (let row = 0; row < tree.length; row += 1) {
    const code = column.codes[row] ?? -1;
    if (code < 0) continue;
    sums[code] = (sums[code] ?? 0) + (costs.exclusive[row] ?? 0);
    if (rows[code] === -1) rows[code] = row;
  }
  return [...sums.keys()]
    .sort((a, b) => (sums[b] ?? 0) - (sums[a] ?? 0))
    .slice(0, most)
    .map((code) => {
      const text = column.texts[code] ?? "";
      return { label: text.slice(text.lastIndexOf("/") + 1), row: rows[code] ?? -1 };
    });
}
