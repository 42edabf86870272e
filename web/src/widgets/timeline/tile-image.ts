/**
 * Pieces of a picture of time as dots: one for each cell.
 *
 * A piece is packed once, a word for each cell, and a look becomes a table of words. What is left for each cell is to
 * look up: the processor does it here, a GPU in `cell-colours.wgsl`, from the same words.
 */
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

/** A piece for one mode: what is looked up for each of its cells. */
export interface PackedCells {
  readonly bins: number;
  readonly rows: number;
  /** 0 where nothing ran; else one more than the position of the key, times 256, plus the byte that the mode shows. */
  readonly cells: Uint32Array<ArrayBuffer>;
  /** Each key once, in order of appearance. */
  readonly keys: Uint32Array;
}

const packedTiles = new WeakMap<Tile, Map<"busy" | "depth", PackedCells>>();

/** The cells of a piece for a mode; packed once. */
export function packedCells(tile: Tile, mode: TileMode): PackedCells {
  const shown = mode === "depth" ? "depth" : "busy";
  let packed = packedTiles.get(tile);
  if (packed === undefined) {
    packed = new Map();
    packedTiles.set(tile, packed);
  }
  let found = packed.get(shown);
  if (found === undefined) {
    found = pack(tile, tile[shown]);
    packed.set(shown, found);
  }
  return found;
}

function pack(tile: Tile, bytes: Uint8Array): PackedCells {
  const cells = new Uint32Array(tile.key.length);
  const slots = new Map<number, number>();
  let last = NO_KEY;
  let slot = 0;
  for (let cell = 0; cell < cells.length; cell += 1) {
    const key = tile.key[cell] ?? NO_KEY;
    if (key === NO_KEY) continue;
    if (key !== last) {
      slot = slots.get(key) ?? slots.size + 1;
      slots.set(key, slot);
      last = key;
    }
    cells[cell] = slot * 256 + (bytes[cell] ?? 0);
  }
  return { bins: tile.bins, rows: tile.rows, cells, keys: Uint32Array.from(slots.keys()) };
}

/** Words in a row of the table of a look. */
export const LOOK_ROW = 256;
/** Words before those of keys: a colour for each byte, then how opaque cells of each byte are that stand out and that do not. */
export const LOOK_HEAD = 3 * LOOK_ROW;
/** In the word of a key: it does not stand out. */
const KEY_DIMMED = 1 << 24;
/** In the word of a key: cells have its colour, and not that of their byte. */
const KEY_COLOURED = 1 << 25;

/** The table of a look for some keys, in whole rows. Colours are `red | green << 8 | blue << 16`. */
export function lookWords(keys: Uint32Array, look: TileLook): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(LOOK_HEAD + Math.ceil(keys.length / LOOK_ROW) * LOOK_ROW);
  const deepest = Math.max(1, look.deepest);
  for (let byte = 0; byte < LOOK_ROW; byte += 1) {
    const step = look.mode === "depth" ? Math.round((Math.min(deepest, byte) / deepest) * 255) : byte;
    words[byte] = wordOf(look.ramp.rgb(0.08 + (step / 255) * 0.84));
    const opacity = look.mode === "dominant" ? opacityOf(byte / 255) : 1;
    words[LOOK_ROW + byte] = Math.round(opacity * 255);
    words[2 * LOOK_ROW + byte] = Math.round(opacity * DIMMED * 255);
  }
  const isByKey = look.mode === "dominant";
  for (let at = 0; at < keys.length; at += 1) {
    const key = keys[at] ?? NO_KEY;
    const dimmed = look.isLit === null || look.isLit(key) ? 0 : KEY_DIMMED;
    words[LOOK_HEAD + at] = isByKey ? wordOf(look.colourOf(key) ?? [128, 128, 128]) | KEY_COLOURED | dimmed : dimmed;
  }
  return words;
}

function wordOf([red, green, blue]: Rgb): number {
  return red | (green << 8) | (blue << 16);
}

/** Red, green, blue and opacity of each cell. */
export function tilePixels(tile: Tile, look: TileLook): Uint8ClampedArray<ArrayBuffer> {
  const { cells, keys } = packedCells(tile, look.mode);
  return cellPixels(cells, lookWords(keys, look));
}

/** Red, green, blue and opacity of packed cells. */
export function cellPixels(cells: Uint32Array, words: Uint32Array): Uint8ClampedArray<ArrayBuffer> {
  const out = new Uint8ClampedArray(cells.length * 4);
  // Every machine with a browser stores the lowest byte of a word first.
  const dots = new Uint32Array(out.buffer);
  for (let at = 0; at < cells.length; at += 1) {
    const cell = cells[at] ?? 0;
    if (cell === 0) continue;
    const byte = cell & 255;
    const key = words[LOOK_HEAD - 1 + (cell >>> 8)] ?? 0;
    const colour = (key & KEY_COLOURED) === 0 ? (words[byte] ?? 0) : key & 0xff_ffff;
    const opacity = words[((key & KEY_DIMMED) === 0 ? LOOK_ROW : 2 * LOOK_ROW) + byte] ?? 0;
    dots[at] = colour | (opacity << 24);
  }
  return out;
}

/** A share of a whole as a byte; anything above nothing is at least 1. */
export function shareByte(part: number, whole: number): number {
  return !(part > 0) || !(whole > 0) ? 0 : Math.max(1, Math.min(255, Math.round((part / whole) * 255)));
}
