/** Colours of functions and groups in all views of a trace: each by itself, or hue by the group and shade by the function. */
import { distinctColour, fromOklch, type Rgb } from "../base/palettes.ts";
import { functionPalette } from "../base/theme.ts";
import { familyOf } from "./flame-colours.ts";

type Theme = "light" | "dark";

/** Where code comes from, as far as names tell. */
export type Family = "own" | "mpi" | "runtime" | "device" | "file" | "unknown";

/** A range of the colour circle, in degrees. */
interface Arc {
  readonly from: number;
  readonly to: number;
  readonly chroma: number;
}

// Own code warm and over a wide range, so that neighbours differ; what waits or serves it cool.
const ARCS: Readonly<Record<Family, Arc>> = {
  own: { from: 12, to: 138, chroma: 0.115 },
  mpi: { from: 222, to: 272, chroma: 0.11 },
  runtime: { from: 155, to: 185, chroma: 0.08 },
  file: { from: 190, to: 212, chroma: 0.09 },
  device: { from: 295, to: 350, chroma: 0.11 },
  unknown: { from: 240, to: 280, chroma: 0.012 },
};

/** The family of a group by its name, else of a function by its own. */
export function groupFamily(group: string, name: string): Family {
  if (/mpi|message|communicat/i.test(group)) return "mpi";
  if (/cuda|hip|kernel|gpu|nccl|memcpy|memset|opencl|rocm/i.test(group)) return "device";
  if (/omp|openmp|pthread|runtime|kokkos/i.test(group)) return "runtime";
  if (/\bi\/?o\b|posix|adios|hdf5|file|netcdf/i.test(group)) return "file";
  return familyOf(name, "");
}

/** The n-th place between 0 and 1 that is far from all before it (van der Corput). */
export function spread(nth: number): number {
  let place = 0;
  let part = 0.5;
  for (let rest = nth + 1; rest > 0; rest >>= 1) {
    if ((rest & 1) === 1) place += part;
    part /= 2;
  }
  return place;
}

/** What colours are made from. */
interface Named {
  readonly length: number;
  name(row: number): string;
  readonly exclusiveNs: Float64Array;
}

/** Hue, chroma and step of lightness of every function and group, computed once. */
export interface ColourTable {
  function(row: number, theme: Theme): Rgb;
  group(row: number, theme: Theme): Rgb;
  familyOf(functionRow: number): Family;
}

interface Place {
  readonly hue: number;
  readonly chroma: number;
  readonly step: number;
}

const GREY: Place = { hue: 260, chroma: 0.012, step: 0 };
const LIGHTNESS: Readonly<Record<Theme, readonly number[]>> = { light: [0.8, 0.72, 0.87], dark: [0.62, 0.7, 0.54] };

function rgbOf({ hue, chroma, step }: Place, theme: Theme): Rgb {
  return fromOklch(LIGHTNESS[theme][step % 3] ?? 0.7, chroma, hue);
}

/** Colours by how much each takes of the whole trace, so that what matters is distinguished best. */
export function colourTable(functions: Named & { group(row: number): number }, groups: Named): ColourTable {
  const families = Array.from({ length: functions.length }, (_, row) => groupFamily(groups.name(functions.group(row)), functions.name(row)));
  const byTime = (of: Named): number[] => [...Array(of.length).keys()].sort((a, b) => (of.exclusiveNs[b] ?? 0) - (of.exclusiveNs[a] ?? 0) || a - b);

  // A group is of the family that most of its time belongs to.
  const familyOfGroup = Array.from({ length: groups.length }, (): Family => "unknown");
  const seen = new Set<number>();
  for (const row of byTime(functions)) {
    const group = functions.group(row);
    if (seen.has(group)) continue;
    seen.add(group);
    familyOfGroup[group] = families[row] ?? "unknown";
  }

  const groupPlaces: Place[] = Array.from({ length: groups.length }, () => GREY);
  const arcs = new Map<number, Arc>();
  const inFamily = new Map<Family, number[]>();
  for (const group of byTime(groups)) {
    const family = familyOfGroup[group] ?? "unknown";
    const list = inFamily.get(family);
    if (list === undefined) inFamily.set(family, [group]);
    else list.push(group);
  }
  for (const [family, list] of inFamily) {
    const arc = ARCS[family];
    const part = (arc.to - arc.from) / list.length;
    list.forEach((group, nth) => {
      const own = { from: arc.from + nth * part, to: arc.from + (nth + 0.85) * part, chroma: arc.chroma };
      arcs.set(group, own);
      groupPlaces[group] = { hue: (own.from + own.to) / 2, chroma: own.chroma, step: nth };
    });
  }

  const places: Place[] = Array.from({ length: functions.length }, () => GREY);
  const used = new Map<string, number>();
  for (const row of byTime(functions)) {
    const group = functions.group(row);
    const family = families[row] ?? "unknown";
    // A function of another family than its group (MPI in a group of everything) keeps the family's hue.
    const isOwn = family === familyOfGroup[group];
    const arc = isOwn ? (arcs.get(group) ?? ARCS[family]) : ARCS[family];
    const key = isOwn ? String(group) : family;
    const nth = used.get(key) ?? 0;
    used.set(key, nth + 1);
    places[row] = { hue: arc.from + (arc.to - arc.from) * spread(nth), chroma: arc.chroma, step: nth };
  }
  // By themselves: what takes most time has the colours that differ best. What has no name stays grey.
  const nthFunction = nthNamed(functions, byTime(functions));
  const nthGroup = nthNamed(groups, byTime(groups));
  const colourOf = (place: Place | undefined, nth: number | undefined, theme: Theme): Rgb =>
    functionPalette() === "group" || nth === undefined ? rgbOf(place ?? GREY, theme) : nth < 0 ? rgbOf(GREY, theme) : distinctColour(nth, theme);
  return {
    function: (row, theme) => colourOf(places[row], nthFunction[row], theme),
    group: (row, theme) => colourOf(groupPlaces[row], nthGroup[row], theme),
    familyOf: (row) => families[row] ?? "unknown",
  };
}

/** The position of each row among those with a name, in the order given; -1 where a row has none. */
function nthNamed(of: Named, order: readonly number[]): Int32Array {
  const nth = new Int32Array(of.length).fill(-1);
  let next = 0;
  for (const row of order) {
    const name = of.name(row);
    if (name === "" || name.startsWith("<")) continue;
    nth[row] = next;
    next += 1;
  }
  return nth;
}
