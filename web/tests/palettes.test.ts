import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { category, CATEGORY_COUNT, contrast, DISTINCT_COUNT, distinctColour, MAP_RAMPS, frameFill, inkOn, luminance, ramp, rampBytes, rampOn, type Rgb } from "../src/base/palettes.ts";

const linear = (byte: number): number => (byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4);
const encoded = (value: number): number => 255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * Math.max(0, value) ** (1 / 2.4) - 0.055);

/** What a person without green (deuteranopia) or red (protanopia) receptors sees: Machado et al. 2009, severity 1. */
const DEUTERANOPIA = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]];
const PROTANOPIA = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]];

/** Tritanopia, and full sight. */
const TRITANOPIA = [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]];
const IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];

function seen(color: Rgb, matrix: readonly (readonly number[])[]): Rgb {
  const light = color.map(linear);
  const [red = 0, green = 0, blue = 0] = matrix.map((row) => encoded(row.reduce((sum, part, at) => sum + part * (light[at] ?? 0), 0)));
  return [red, green, blue];
}

/** CIE 1976 difference; about 2.3 can just be noticed. */
function difference(a: Rgb, b: Rgb): number {
  const lab = (color: Rgb): [number, number, number] => {
    const [r = 0, g = 0, bl = 0] = color.map(linear);
    const f = (t: number): number => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
    const x = f((0.4124 * r + 0.3576 * g + 0.1805 * bl) / 0.95047);
    const y = f(0.2126 * r + 0.7152 * g + 0.0722 * bl);
    const z = f((0.0193 * r + 0.1192 * g + 0.9505 * bl) / 1.08883);
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
  };
  const [one, two] = [lab(a), lab(b)];
  return Math.hypot(one[0] - two[0], one[1] - two[1], one[2] - two[2]);
}

const STEPS = Array.from({ length: 21 }, (_, step) => step / 20);
const BACKGROUND = { light: [255, 255, 255], dark: [21, 24, 30] } as const;

describe("ramps", () => {
  it.each(["inferno", "viridis", "cividis", "greys"] as const)("%s gets lighter with every step, so that it works in grey", (name) => {
    const lights = STEPS.map((share) => luminance(ramp(name).rgb(share)));
    for (let at = 1; at < lights.length; at += 1) expect(lights[at]).toBeGreaterThan(lights[at - 1] ?? 0);
  });

  it.each(["inferno", "viridis", "cividis"] as const)("%s keeps its steps apart for colour-blind readers", (name) => {
    const colors = Array.from({ length: 9 }, (_, step) => ramp(name).rgb(step / 8));
    for (const matrix of [DEUTERANOPIA, PROTANOPIA]) {
      for (let at = 1; at < colors.length; at += 1) {
        expect(difference(seen(colors[at] ?? [0, 0, 0], matrix), seen(colors[at - 1] ?? [0, 0, 0], matrix))).toBeGreaterThan(5);
      }
    }
  });

  it("the diverging one has sides that colour-blind people tell apart, and a light middle", () => {
    const both = ramp("brbg");
    for (const share of [0.1, 0.25]) {
      for (const matrix of [DEUTERANOPIA, PROTANOPIA]) {
        expect(difference(seen(both.rgb(share), matrix), seen(both.rgb(1 - share), matrix))).toBeGreaterThan(15);
      }
      expect(luminance(both.rgb(0.5))).toBeGreaterThan(luminance(both.rgb(share)));
      expect(luminance(both.rgb(0.5))).toBeGreaterThan(luminance(both.rgb(1 - share)));
    }
  });

  it("have the published ends, reversed on demand", () => {
    expect(ramp("inferno").rgb(0)).toEqual([0, 0, 4]);
    expect(ramp("inferno", true).rgb(0)).toEqual([252, 255, 164]);
    expect(ramp("viridis").rgb(7)).toEqual(ramp("viridis").rgb(1));
    expect(ramp("viridis").rgb(Number.NaN)).toEqual(ramp("viridis").rgb(0));
  });

  it("become bytes for textures", () => {
    const bytes = rampBytes(ramp("greys"), 2);
    expect([...bytes]).toEqual([26, 26, 26, 255, 242, 242, 242, 255]);
  });
});

describe.each(["light", "dark"] as const)("categories on %s", (theme) => {
  const colors = Array.from({ length: CATEGORY_COUNT }, (_, index) => category(index, theme));

  it("stand out from the background", () => {
    for (const color of colors) expect(contrast(color, BACKGROUND[theme])).toBeGreaterThan(3);
  });

  it.each([["deuteranopia", DEUTERANOPIA], ["protanopia", PROTANOPIA]] as const)("differ with %s", (_name, matrix) => {
    for (const [at, one] of colors.entries()) {
      for (const other of colors.slice(at + 1)) expect(difference(seen(one, matrix), seen(other, matrix))).toBeGreaterThan(8);
    }
  });

  it("begin anew after the last", () => {
    expect(category(CATEGORY_COUNT, theme)).toEqual(category(0, theme));
    expect(category(-1, theme)).toEqual(category(CATEGORY_COUNT - 1, theme));
  });
});

describe.each(["light", "dark"] as const)("distinct colours on %s", (theme) => {
  const colors = Array.from({ length: DISTINCT_COUNT }, (_, nth) => distinctColour(nth, theme));

  it.each([["full sight", IDENTITY], ["deuteranopia", DEUTERANOPIA], ["protanopia", PROTANOPIA], ["tritanopia", TRITANOPIA]] as const)("differ with %s", (_name, matrix) => {
    for (const [at, one] of colors.entries()) {
      for (const other of colors.slice(at + 1)) expect(difference(seen(one, matrix), seen(other, matrix))).toBeGreaterThan(20);
    }
  });

  it("can be seen on the panel, and names can be read on them, whatever the shade", () => {
    for (let nth = 0; nth < 3 * DISTINCT_COUNT; nth += 1) {
      const color = distinctColour(nth, theme);
      expect(contrast(color, inkOn(color)), String(nth)).toBeGreaterThan(4.5);
      expect(difference(color, BACKGROUND[theme]), String(nth)).toBeGreaterThan(9);
      expect(difference(color, distinctColour(nth + 1, theme)), String(nth)).toBeGreaterThan(9);
    }
  });
});

describe("maps", () => {
  it.each(MAP_RAMPS)("in %s have no colour that is black on black in the dark, and keep their steps apart", (name) => {
    for (const reversed of [false, true]) {
      const colors = STEPS.map((share) => rampOn("dark", name, reversed).rgb(share));
      for (const color of colors) expect(contrast(color, BACKGROUND.dark)).toBeGreaterThan(1.95);
      const ends = [0, 0.25, 0.5, 0.75, 1].map((share) => rampOn("dark", name, reversed).rgb(share));
      for (let at = 1; at < ends.length; at += 1) {
        for (const matrix of [IDENTITY, DEUTERANOPIA, PROTANOPIA]) expect(difference(seen(ends[at] ?? [0, 0, 0], matrix), seen(ends[at - 1] ?? [0, 0, 0], matrix))).toBeGreaterThan(8);
      }
    }
    expect(rampOn("light", name).rgb(0.3)).toEqual(ramp(name).rgb(0.3));
  });

  it("mark outliers with a colour that no ramp has", () => {
    for (const theme of ["light", "dark"] as const) {
      for (const name of MAP_RAMPS) for (const share of STEPS) expect(difference(outlierColour(theme), rampOn(theme, name).rgb(share)), `${name} ${String(share)} ${theme}`).toBeGreaterThan(15);
    }
  });
});

/** The token of cells beyond the ends of a ramp. */
function outlierColour(theme: "light" | "dark"): Rgb {
  const css = readFileSync(resolve(import.meta.dirname, "../src/base/tokens.css"), "utf8");
  const match = /--outlier: light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\)/.exec(css);
  const hex = Number.parseInt((theme === "light" ? match?.[1] : match?.[2]) ?? "", 16);
  return [(hex >> 16) & 255, (hex >> 8) & 255, hex & 255];
}

describe("frames of flame graphs", () => {
  it("have the same colour for the same name, and readable ink", () => {
    for (const theme of ["light", "dark"] as const) {
      for (const family of ["own", "mpi", "runtime", "unknown"] as const) {
        for (const name of ["main", "MPI_Allreduce", "hypre_BoomerAMGSolve", "<unknown>"]) {
          const fill = frameFill(name, family, theme);
          expect(fill).toEqual(frameFill(name, family, theme));
          expect(contrast(fill, inkOn(fill))).toBeGreaterThan(4.5);
        }
      }
    }
  });
});

describe("tokens", () => {
  const css = readFileSync(resolve(import.meta.dirname, "../src/base/tokens.css"), "utf8");
  const token = (name: string, theme: "light" | "dark"): Rgb => {
    const match = new RegExp(`--${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`).exec(css);
    const hex = Number.parseInt((theme === "light" ? match?.[1] : match?.[2])?.slice(1) ?? "", 16);
    if (Number.isNaN(hex)) throw new Error(`no token ${name}`);
    return [(hex >> 16) & 255, (hex >> 8) & 255, hex & 255];
  };
  const PAIRS: [text: string, surfaces: string[]][] = [
    ["text", ["surface-app", "surface-panel", "surface-bar", "surface-raised", "surface-hover", "surface-active", "surface-selected", "surface-marked", "data-bar", "data-bar-second"]],
    ["text-secondary", ["surface-app", "surface-panel", "surface-bar", "surface-raised", "surface-hover", "surface-active"]],
    ["text-faint", ["surface-panel", "surface-bar", "surface-raised"]],
    ["text-link", ["surface-panel", "surface-raised"]],
    ["text-on-accent", ["accent", "accent-hover"]],
    ["text-inverse", ["surface-inverse"]],
    ["danger", ["surface-panel", "danger-soft"]],
    ["warning", ["surface-panel", "warning-soft"]],
    ["success", ["surface-panel", "success-soft"]],
    ["accent", ["surface-panel", "accent-soft", "surface-active"]],
  ];

  it.each(PAIRS)("%s can be read on its surfaces", (text, surfaces) => {
    for (const theme of ["light", "dark"] as const) {
      for (const surface of surfaces) {
        expect(contrast(token(text, theme), token(surface, theme)), `${text} on ${surface}, ${theme}`).toBeGreaterThanOrEqual(4.5);
      }
    }
  });
});
