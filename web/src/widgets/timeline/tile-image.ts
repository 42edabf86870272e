/** Pieces of a picture of time as dots: one for each cell. */
import type { Ramp, Rgb } from "../../base/palettes.ts";
import { NO_KEY, type Tile } from "./tiles.ts";

/** What the colour of a cell says. */
export type TileMode = "dominant" | "busy" | "depth";

/** How cells are coloured; a new object when anything of it changes. */
export interface TileLook {
  readonly mode: TileMode;
  /** The colour of a key; null where nothing ran. */
  colourOf(key: number): Rgb | null;
  /** Whether a key stands out; null where all do. */
  readonly isLit: ((key: number) => boolean) | null;
  /** For shares of time and for depths. */
  readonly ramp: Ramp;
  readonly deepest: number;
}

/** How visible cells are that do not stand out. */
const DIMMED = 0.13;
/** A cell in which little happened can still be seen. */
const LEAST = 0.22;

/** How opaque a cell is whose tracks were busy for a share of the time. */
export function opacityOf(share: number): number {
  return share <= 0 ? 0 : LEAST + (1 - LEAST) * Math.min(1, share);
}

/** Red, green, blue and opacity of each cell. */
export function tilePixels(tile: Tile, look: TileLook): Uint8ClampedArray<ArrayBuffer> {
  const out = new Uint8ClampedArray(tile.key.length * 4);
  const colours = new Map<number, Rgb>();
  const lit = new Map<number, boolean>();
  const deepest = Math.max(1, look.deepest);
  for (let cell = 0; cell < tile.key.length; cell += 1) {
    const key = tile.key[cell] ?? NO_KEY;
    if (key === NO_KEY) continue;
    let rgb: Rgb | undefined;
    let alpha = 1;
    if (look.mode === "dominant") {
      rgb = colours.get(key);
      if (rgb === undefined) {
        rgb = look.colourOf(key) ?? [128, 128, 128];
        colours.set(key, rgb);
      }
      alpha = opacityOf((tile.busy[cell] ?? 0) / 255);
    } else {
      const step = look.mode === "busy" ? (tile.busy[cell] ?? 0) : Math.round((Math.min(deepest, tile.depth[cell] ?? 0) / deepest) * 255);
      rgb = colours.get(step);
      if (rgb === undefined) {
        rgb = look.ramp.rgb(0.08 + (step / 255) * 0.84);
        colours.set(step, rgb);
      }
    }
    if (look.isLit !== null) {
      let isLit = lit.get(key);
      if (isLit === undefined) {
        isLit = look.isLit(key);
        lit.set(key, isLit);
      }
      if (!isLit) alpha *= DIMMED;
    }
    const at = cell * 4;
    out[at] = rgb[0];
    out[at + 1] = rgb[1];
    out[at + 2] = rgb[2];
    out[at + 3] = Math.round(alpha * 255);
  }
  return out;
}

/** A share of a whole as a byte; anything above nothing is at least 1. */
export function shareByte(part: number, whole: number): number {
  return !(part > 0) || !(whole > 0) ? 0 : Math.max(1, Math.min(255, Math.round((part / whole) * 255)));
}
