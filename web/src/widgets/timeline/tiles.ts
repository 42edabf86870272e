/**
 * Pictures of time in pieces: every piece is a few rows by a thousand bins at one length of bins, asked for once, kept,
 * and drawn at any zoom until the one that fits is there.
 */
import type { TimeRange } from "./axis.ts";
import type { Span } from "./rows.ts";

/** Bins of a piece. */
export const TILE_BINS = 1024;
/** Rows of a piece. */
export const TILE_ROWS = 64;
/** Stands for cells in which nothing ran. */
export const NO_KEY = 0xffff_ffff;

/** What a piece shows; row after row, each with all bins. */
export interface Tile {
  readonly firstNs: number;
  readonly binNs: number;
  readonly bins: number;
  readonly rows: number;
  /** What has most of the time. */
  readonly key: Uint32Array;
  /** Share of that, 0 to 255. */
  readonly dominant: Uint8Array;
  /** Share of the time in which anything ran, 0 to 255. */
  readonly busy: Uint8Array;
  /** Of the deepest context. */
  readonly depth: Uint8Array;
}

/** Which piece: `column` counts pieces from the beginning of the clock's bins, `block` counts rows. */
export interface TilePlace {
  readonly exponent: number;
  readonly column: number;
  readonly block: number;
}

/** What is on screen. */
export interface TileView {
  readonly range: TimeRange;
  readonly pixels: number;
  readonly rows: Span;
  /** Rows from the top that are on screen as well. */
  readonly sticky?: number;
}

/** The runs of rows that a view shows. */
function spansOfView({ rows, sticky = 0 }: TileView): readonly Span[] {
  return sticky === 0 ? [rows] : [{ from: 0, to: sticky }, rows];
}

/** A piece that is there, and where it lies. */
export interface TilePiece {
  readonly place: TilePlace;
  readonly tile: Tile;
  /** First row of the picture that it shows. */
  readonly firstRow: number;
}

/** What a store is made of. */
export interface TileSource {
  /** The rows of the whole picture. */
  readonly rows: readonly Span[];
  readonly bounds: TimeRange;
  /** The first record on the clock that bins are counted on. */
  readonly originNs: bigint;
  /** A patient piece makes better what is there already: other questions may go first. */
  fetch(rows: readonly Span[], range: TimeRange, bins: number, signal: AbortSignal, isPatient: boolean): Promise<Tile>;
  /** Called when a piece came. */
  onchange(): void;
  onerror(error: unknown): void;
}

/** The exponent whose bins are at least one pixel long, and less than two. */
export function exponentFor(range: TimeRange, pixels: number): number {
  return Math.max(0, Math.ceil(Math.log2(Math.max(1, (range[1] - range[0]) / Math.max(1, pixels)))));
}

/** Where the column's bins begin and end, in nanoseconds since the first record; not cut at the trace's edges. */
export function columnRange(exponent: number, column: number, originNs: bigint): TimeRange {
  const length = 2 ** exponent * TILE_BINS;
  const before = Number(originNs % BigInt(length));
  return [column * length - before, (column + 1) * length - before];
}

/** The columns that a window touches. */
export function columnsIn(exponent: number, range: TimeRange, originNs: bigint): Span {
  const length = 2 ** exponent * TILE_BINS;
  const before = Number(originNs % BigInt(length));
  const from = Math.floor((range[0] + before) / length);
  return { from, to: Math.max(from + 1, Math.ceil((range[1] + before) / length)) };
}

/** The pieces that a view needs, from the middle outwards, so that what is looked at comes first. */
export function placesFor(view: TileView, exponent: number, source: Pick<TileSource, "bounds" | "originNs">): readonly TilePlace[] {
  const range: TimeRange = [Math.max(view.range[0], source.bounds[0]), Math.min(view.range[1], source.bounds[1])];
  if (!(range[1] > range[0]) || view.rows.to <= view.rows.from) return [];
  const columns = columnsIn(exponent, range, source.originNs);
  const out: TilePlace[] = [];
  const blocks = new Set<number>();
  for (const { from, to } of spansOfView(view)) {
    for (let block = Math.floor(from / TILE_ROWS); block * TILE_ROWS < to; block += 1) blocks.add(block);
  }
  for (const block of blocks) {
    for (let column = columns.from; column < columns.to; column += 1) out.push({ exponent, column, block });
  }
  const middle = (columns.from + columns.to - 1) / 2;
  return out.sort((a, b) => Math.abs(a.column - middle) - Math.abs(b.column - middle) || a.block - b.block);
}

function keyOf(place: TilePlace): string {
  return `${String(place.exponent)}/${String(place.column)}/${String(place.block)}`;
}

/** So many tracks are quickly read at any length of bins. */
const FEW_TRACKS = 128;
/** How much longer, as powers of two, bins are at first where there are more: whatever the zoom, archives have nodes with bins so long over each whole track. */
const COARSER_STEPS = [6, 4] as const;

const MOST_KEPT = 160;
const MOST_ASKED = 3;

/** The pieces of one picture that are there or on their way. */
export class TileStore {
  readonly #source: TileSource;
  readonly #kept = new Map<string, TilePiece>();
  readonly #asked = new Map<string, AbortController>();
  #wanted: readonly TilePlace[] = [];
  /** Pieces that are waited for; null for all. */
  #urgent: ReadonlySet<string> | null = null;

  constructor(source: TileSource) {
    this.#source = source;
  }

  /** Number of requests under way. */
  get pending(): number {
    return this.#asked.size;
  }

  /** Asks for what the view lacks, then for what it will need next where that is wanted; withdraws what it no longer needs. */
  want(view: TileView, isReadingAhead = true): void {
    const exponent = exponentFor(view.range, view.pixels);
    const visible = placesFor(view, exponent, this.#source);
    const first = this.#first(view, exponent);
    this.#urgent = first.length === 0 && !this.#isHeavy(view) ? null : new Set(first.map((place) => keyOf(place)));
    this.#wanted = isReadingAhead ? [...first, ...visible, ...this.#next(view, exponent)] : [...first, ...visible];
    const wanted = new Set(this.#wanted.map((place) => keyOf(place)));
    for (const [key, control] of this.#asked) {
      if (wanted.has(key)) continue;
      this.#asked.delete(key);
      control.abort();
    }
    this.#start();
  }

  /** What is asked for before what fits, so that something is there at once: long bins of many tracks come in no time. */
  #first(view: TileView, exponent: number): readonly TilePlace[] {
    if (!this.#isHeavy(view)) return [];
    let there = 0;
    while (there <= COARSER_STEPS[0] && !this.#isThere(view, exponent + there)) there += 1;
    const isNothing = there > COARSER_STEPS[0];
    // Bins half as long as those that are there are hardly better.
    return COARSER_STEPS.filter((step) => isNothing || step < there - 1).flatMap((step) => placesFor(view, exponent + step, this.#source));
  }

  #isHeavy(view: TileView): boolean {
    return spansOfView(view).flatMap(({ from, to }) => this.#source.rows.slice(from, to)).reduce((sum, row) => sum + row.to - row.from, 0) > FEW_TRACKS;
  }

  #next(view: TileView, exponent: number): readonly TilePlace[] {
    const length = view.range[1] - view.range[0];
    const neighbours = [-1, 1].flatMap((side) =>
      placesFor({ ...view, range: [view.range[0] + (side * length) / 2, view.range[1] + (side * length) / 2] }, exponent, this.#source),
    );
    const middle = (view.range[0] + view.range[1]) / 2;
    const nearer = exponent > 0 ? placesFor({ ...view, range: [middle - length / 4, middle + length / 4] }, exponent - 1, this.#source) : [];
    // What is coarser covers the edges of the screen at once when zooming out.
    const coarser = placesFor({ ...view, range: [view.range[0] - length, view.range[1] + length] }, exponent + 2, this.#source);
    return [...coarser, ...neighbours, ...nearer];
  }

  /** Whether everything that the view shows is there at the length of bins that fits it. */
  isComplete(view: TileView): boolean {
    return this.#isThere(view, exponentFor(view.range, view.pixels));
  }

  #isThere(view: TileView, exponent: number): boolean {
    return placesFor(view, exponent, this.#source).every((place) => this.#kept.has(keyOf(place)));
  }

  /** What there is to draw for a view, from the least fitting to the best, which then lies on top. */
  pieces(view: TileView): readonly TilePiece[] {
    const exponent = exponentFor(view.range, view.pixels);
    if (this.isComplete(view)) {
      return placesFor(view, exponent, this.#source).flatMap((place) => this.#use(keyOf(place)) ?? []);
    }
    const touching = [...this.#kept.values()].filter(
      ({ tile, firstRow }) =>
        tile.firstNs < view.range[1] && tile.firstNs + tile.bins * tile.binNs > view.range[0] && spansOfView(view).some(({ from, to }) => firstRow < to && firstRow + tile.rows > from),
    );
    // Coarser ones below; finer ones than wanted cover little each, so few of them are worth drawing.
    return touching
      .filter(({ place }) => place.exponent >= exponent - 2)
      .sort((a, b) => Math.abs(b.place.exponent - exponent) - Math.abs(a.place.exponent - exponent) || b.place.exponent - a.place.exponent);
  }

  /** The piece that shows a moment of a row best. */
  at(ns: number, row: number, view: TileView): TilePiece | null {
    return this.pieces(view).findLast(({ tile, firstRow }) => ns >= tile.firstNs && ns < tile.firstNs + tile.bins * tile.binNs && row >= firstRow && row < firstRow + tile.rows) ?? null;
  }

  /** Withdraws all requests. */
  close(): void {
    for (const control of this.#asked.values()) control.abort();
    this.#asked.clear();
    this.#wanted = [];
  }

  #use(key: string): TilePiece | null {
    const piece = this.#kept.get(key);
    if (piece === undefined) return null;
    this.#kept.delete(key);
    this.#kept.set(key, piece);
    return piece;
  }

  #start(): void {
    for (const place of this.#wanted) {
      if (this.#asked.size >= MOST_ASKED) return;
      const key = keyOf(place);
      if (this.#kept.has(key) || this.#asked.has(key)) continue;
      this.#ask(place, key);
    }
  }

  #ask(place: TilePlace, key: string): void {
    const { rows, bounds, originNs } = this.#source;
    const firstRow = place.block * TILE_ROWS;
    const [start, end] = columnRange(place.exponent, place.column, originNs);
    const range: TimeRange = [Math.max(start, bounds[0]), Math.min(end, bounds[1])];
    const bin = 2 ** place.exponent;
    // Exactly the bins that the window touches, so that the engine chooses this length of bins.
    const bins = Math.max(1, Math.ceil((range[1] - start) / bin) - Math.floor((range[0] - start) / bin));
    const control = new AbortController();
    this.#asked.set(key, control);
    this.#source.fetch(rows.slice(firstRow, firstRow + TILE_ROWS), range, bins, control.signal, this.#urgent?.has(key) === false).then(
      (tile) => {
        if (this.#asked.get(key) === control) this.#asked.delete(key);
        if (control.signal.aborted) return;
        this.#kept.set(key, { place, tile, firstRow });
        for (const oldest of this.#kept.keys()) {
          if (this.#kept.size <= MOST_KEPT) break;
          this.#kept.delete(oldest);
        }
        this.#start();
        this.#source.onchange();
      },
      (error: unknown) => {
        if (this.#asked.get(key) === control) this.#asked.delete(key);
        if (!control.signal.aborted) this.#source.onerror(error);
      },
    );
  }
}
