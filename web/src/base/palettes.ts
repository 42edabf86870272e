/**
 * Colours of charts.
 *
 * Ramps are the published ones: Inferno, Viridis (matplotlib, CC0), Cividis (Nuñez et al. 2018), BrBG (ColorBrewer).
 * All keep their order in grey and for colour-blind readers.
 */

/** Red, green and blue, 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number];

/** A colour for each value between 0 and 1. */
export interface Ramp {
  readonly name: RampName;
  /** For menus. */
  readonly title: string;
  /** Whether it has a neutral middle, for values that may be negative. */
  readonly diverging: boolean;
  rgb(share: number): Rgb;
  /** As CSS. */
  css(share: number): string;
}

export type RampName = "inferno" | "viridis" | "cividis" | "greys" | "brbg";

const STOPS: Readonly<Record<RampName, readonly string[]>> = {
  // Reversed: efficiency of 100 % is light, so that what is lost is what stands out.
  inferno: ["000004", "110a30", "320a5e", "57106e", "781c6d", "9a2865", "bc3754", "d84c3e", "ed6925", "f98e09", "fbb61a", "f4df53", "fcffa4"],
  viridis: ["440154", "482173", "433e85", "38598c", "2d708e", "25858e", "1e9b8a", "2ab07f", "52c569", "86d549", "c2df23", "fde725"],
  cividis: ["00224e", "123570", "3b496c", "575d6d", "707173", "8a8678", "a59c74", "c3b369", "e1cc55", "fee838"],
  greys: ["1a1a1a", "555555", "888888", "bbbbbb", "f2f2f2"],
  brbg: ["543005", "8c510a", "bf812d", "dfc27d", "f6e8c3", "f5f5f5", "c7eae5", "80cdc1", "35978f", "01665e", "003c30"],
};

const TITLES: Readonly<Record<RampName, string>> = {
  inferno: "Inferno",
  viridis: "Viridis",
  cividis: "Cividis",
  greys: "Greys",
  brbg: "Brown to teal",
};

function parse(hex: string): Rgb {
  const value = Number.parseInt(hex, 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** A ramp by its name; `reversed` swaps its ends. */
export function ramp(name: RampName, reversed = false): Ramp {
  const stops = STOPS[name].map((hex) => parse(hex));
  const rgb = (share: number): Rgb => {
    const clamped = Number.isFinite(share) ? Math.max(0, Math.min(1, share)) : 0;
    const place = (reversed ? 1 - clamped : clamped) * (stops.length - 1);
    const index = Math.min(Math.floor(place), stops.length - 2);
    const from = stops[index] ?? [0, 0, 0];
    const to = stops[index + 1] ?? from;
    const part = place - index;
    return [
      Math.round(from[0] + (to[0] - from[0]) * part),
      Math.round(from[1] + (to[1] - from[1]) * part),
      Math.round(from[2] + (to[2] - from[2]) * part),
    ];
  };
  return { name, title: TITLES[name], diverging: name === "brbg", rgb, css: (share) => cssOf(rgb(share)) };
}

/**
 * Where ramps begin in the dark: what lies before has less than twice the luminance of the panel behind, so that a cell
 * of 100 % would be black on black.
 */
const DARK_FROM: Readonly<Record<RampName, number>> = { inferno: 0.36, viridis: 0.21, cividis: 0.23, greys: 0.21, brbg: 0.08 };

/** The same ramp without the colours that are invisible on the dark look's panels. */
export function rampOn(theme: "light" | "dark", name: RampName, reversed = false): Ramp {
  const whole = ramp(name, reversed);
  if (theme === "light") return whole;
  const from = DARK_FROM[name];
  // Both ends of a diverging ramp are dark.
  const place = (share: number): number =>
    whole.diverging ? from + share * (1 - 2 * from) : reversed ? share * (1 - from) : from + share * (1 - from);
  const clamped = (share: number): number => (Number.isFinite(share) ? Math.max(0, Math.min(1, share)) : 0);
  const rgb = (share: number): Rgb => whole.rgb(place(clamped(share)));
  return { ...whole, rgb, css: (share) => cssOf(rgb(share)) };
}

/** The ramps that can be chosen for maps; the first is the default. */
export const MAP_RAMPS = ["inferno", "viridis", "cividis", "greys"] as const satisfies readonly RampName[];

export type MapRamp = (typeof MAP_RAMPS)[number];

/** The name of a ramp in menus. */
export function rampTitle(name: RampName): string {
  return TITLES[name];
}

/** A ramp as bytes, red green blue alpha for each step, for canvases and textures. */
export function rampBytes(of: Ramp, steps = 256): Uint8ClampedArray<ArrayBuffer> {
  const out = new Uint8ClampedArray(steps * 4);
  for (let step = 0; step < steps; step += 1) out.set([...of.rgb(step / (steps - 1)), 255], step * 4);
  return out;
}

/** A colour as CSS. */
export function cssOf([red, green, blue]: Rgb): string {
  return `rgb(${String(red)} ${String(green)} ${String(blue)})`;
}

/**
 * Lines and areas that are distinguished by colour: the hues of Okabe and Ito (2008), moved until all of them stay apart
 * with and without colour blindness and stand out from the background they lie on; tests measure both.
 */
const CATEGORIES: Readonly<Record<"light" | "dark", readonly string[]>> = {
  light: ["0082ff", "e56b02", "24906c", "5c3061", "733a03", "309ace", "20188e", "181500"],
  dark: ["38bcff", "ce672e", "8ae88f", "c148a7", "e8c22b", "9bf6ff", "5878f9", "a6a69c"],
};

/** How many categories have a colour of their own; more of them repeat. */
export const CATEGORY_COUNT = CATEGORIES.light.length;

/** The colour of category `index`. */
export function category(index: number, theme: "light" | "dark"): Rgb {
  const list = CATEGORIES[theme];
  return parse(list[((index % list.length) + list.length) % list.length] ?? "808080");
}

/**
 * Functions and groups of traces where each has a colour of its own: found by search so that any two of them differ by
 * at least 20 (CIE 1976) for eyes with and without colour blindness, and that names can be read on all of them.
 */
const DISTINCT: Readonly<Record<"light" | "dark", readonly string[]>> = {
  light: ["dd7900", "159ac9", "8de585", "9e468a", "f1d642", "7d90ff", "5d775b", "d3d1fe", "9a8739", "10f1c5"],
  dark: ["f48e29", "428daa", "aaedce", "a5274b", "e3e17c", "9e95ff", "c09276", "6a3ea2", "47e4ff", "804900"],
};

/** How many functions have a colour of their own before shades of these begin. */
export const DISTINCT_COUNT = DISTINCT.light.length;

/** What the second and the third round are mixed with, and how much of it. */
const SHADES: Readonly<Record<"light" | "dark", readonly (readonly [toward: Rgb, part: number])[]>> = {
  light: [[[255, 255, 255], 0], [[255, 255, 255], 0.42], [[255, 255, 255], 0.68]],
  dark: [[[255, 255, 255], 0], [[255, 255, 255], 0.4], [[255, 255, 255], 0.65]],
};

/** How many colours there are with their shades, before they begin again. */
export const DISTINCT_SHADES = DISTINCT_COUNT * SHADES.light.length;

/** The colour of the function that takes the `nth` most time: ten that differ, then lighter shades of the same. */
export function distinctColour(nth: number, theme: "light" | "dark"): Rgb {
  const list = DISTINCT[theme];
  const shades = SHADES[theme];
  const colour = parse(list[nth % list.length] ?? "808080");
  const [toward, part] = shades[Math.floor(nth / list.length) % shades.length] ?? [[255, 255, 255], 0];
  const mixed = (at: 0 | 1 | 2): number => Math.round(colour[at] + (toward[at] - colour[at]) * part);
  return [mixed(0), mixed(1), mixed(2)];
}

/** How functions of traces are coloured: each by itself, or by their group. */
export const FUNCTION_PALETTES = ["distinct", "group"] as const;

export type FunctionPalette = (typeof FUNCTION_PALETTES)[number];

/** A number for a name that is always the same, so that a function has one colour everywhere. */
export function nameHash(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) {
    hash ^= name.charCodeAt(at);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}

/** The fill of a frame of a flame graph: warm for own code, cool for MPI, grey for libraries and what is unknown. */
export function frameFill(name: string, family: "own" | "mpi" | "runtime" | "unknown", theme: "light" | "dark"): Rgb {
  const spread = (nameHash(name) % 1000) / 1000;
  const [hue, spreadHue, chroma] =
    family === "own" ? [42, 34, 0.11] : family === "mpi" ? [235, 26, 0.09] : family === "runtime" ? [160, 24, 0.06] : [260, 10, 0.012];
  const lightness = theme === "light" ? 0.86 + ((nameHash(`${name}#`) % 7) - 3) * 0.008 : 0.5 + ((nameHash(`${name}#`) % 7) - 3) * 0.012;
  return fromOklch(lightness, chroma, hue + (spread - 0.5) * spreadHue);
}

/** A colour from OKLCH (Ottosson 2020): even steps look even. */
export function fromOklch(lightness: number, chroma: number, hueDegrees: number): Rgb {
  const a = chroma * Math.cos((hueDegrees * Math.PI) / 180);
  const b = chroma * Math.sin((hueDegrees * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    encoded(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    encoded(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    encoded(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

function encoded(linear: number): number {
  const value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * Math.max(0, linear) ** (1 / 2.4) - 0.055;
  return Math.round(Math.max(0, Math.min(1, value)) * 255);
}

function linear(byte: number): number {
  const value = byte / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

/** Relative luminance (WCAG 2.1). */
export function luminance([red, green, blue]: Rgb): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** Contrast of two colours, 1 to 21 (WCAG 2.1). */
export function contrast(a: Rgb, b: Rgb): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05);
}

const INK: Rgb = [20, 22, 28];
const PAPER: Rgb = [255, 255, 255];

/** Black or white, whichever is easier to read on a colour. */
export function inkOn(background: Rgb): Rgb {
  return contrast(background, INK) >= contrast(background, PAPER) ? INK : PAPER;
}

/** Who colours the cells of timelines: by measured times, or one of both. */
export const CELL_CHOICES = ["auto", "webgpu", "processor"] as const;
export type CellChoice = (typeof CELL_CHOICES)[number];
