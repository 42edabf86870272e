/** What a timeline shows at one moment, and where things lie in it. Pure. */
import { nsAt, nsPerPixel, pixelOf, type TimeRange, type TimeScale } from "./axis.ts";
import { callUnder, depthBox, ROW_GAP, type CallBatch, type CallLook } from "./calls.ts";
import { lineAt, type LinkColumns, type LinkLine } from "./messages.ts";
import type { Row, Span } from "./rows.ts";
import type { TileLook } from "./tile-image.ts";
import { NO_KEY, type TileStore, type TileView } from "./tiles.ts";

/** The rows from the top, and how large they are. */
export interface TimelineRows {
  readonly rows: readonly Row[];
  /** Number of tracks in the whole trace. */
  readonly tracks: number;
  readonly rowHeight: number;
  readonly labelWidth: number;
}

/** What is drawn in the rows. */
export interface TimelineLayers {
  readonly store: TileStore | null;
  /** Drawn below until the store has its pieces. */
  readonly before: TileStore | null;
  /** Changes when pieces came. */
  readonly version: number;
  readonly tileLook: TileLook;
  readonly calls: CallBatch | null;
  readonly callLook: CallLook;
  readonly links: LinkColumns | null;
  /** Those of the call that was clicked, which stand out; null where none was. */
  readonly ownLinks: LinkColumns | null;
}

/** A call to outline. */
export interface Outlined {
  readonly track: number;
  readonly range: TimeRange;
  readonly depth: number;
}

/** A call that is marked, and why. */
export interface MarkedCall extends Outlined {
  readonly text: string;
}

/** What was chosen with pointer or keys. */
export interface TimelineChoice {
  readonly cursorNs: number | null;
  /** The track that was clicked. */
  readonly track: number | null;
  readonly selection: TimeRange | null;
  readonly selectionText: string;
  readonly outlined: Outlined | null;
  /** Calls that are marked. */
  readonly marked?: readonly MarkedCall[];
}

/** What is under the pointer. */
export interface TimelineHit {
  readonly row: number;
  readonly ns: number;
  /** The track of the row; null where the row is several. */
  readonly track: number | null;
  /** Position in the calls; -1 for none. */
  readonly call: number;
  /** Position in the messages; -1 for none. */
  readonly link: number;
  /** What the picture says where there are no calls; null where nothing ran or nothing is known. */
  readonly cell: { readonly key: number; readonly dominant: number; readonly busy: number; readonly depth: number; readonly range: TimeRange } | null;
}

/** Everything that a frame depends on. */
export interface TimelineScene {
  readonly scale: TimeScale;
  readonly rows: readonly Row[];
  /** The row of each track; -1 for tracks that are not on screen. */
  readonly rowOf: Int32Array;
  /** Rows from the top that do not scroll: the others go away below them. */
  readonly sticky: number;
  /** The other rows that are at least partly in sight. */
  readonly visible: Span;
  readonly rowHeight: number;
  /** Pixels above the upper edge, of the rows that scroll. */
  readonly scrolled: number;
  readonly height: number;
  readonly layers: TimelineLayers;
}

/** What places depend on. */
type Placing = Pick<TimelineScene, "rowHeight" | "scrolled" | "sticky">;

/** Where a row is on screen, in pixels from the upper edge; negative where it begins above. */
export function topOf({ rowHeight, scrolled, sticky }: Placing, row: number): number {
  return row * rowHeight - (row < sticky ? 0 : scrolled);
}

/** The row at a height of the screen; there may be none of this number. */
export function rowAt({ rowHeight, scrolled, sticky }: Placing, y: number): number {
  return Math.floor((y < sticky * rowHeight ? y : y + scrolled) / rowHeight);
}

/** Whether any part of a row is in sight. */
export function isInSight({ sticky, visible }: Pick<TimelineScene, "sticky" | "visible">, row: number): boolean {
  return row >= 0 && (row < sticky || (row >= visible.from && row < visible.to));
}

/** A scene as those whose rows lie below one another, each with the part of the height that it has. */
export function partsOf(scene: TimelineScene): readonly { readonly scene: TimelineScene; readonly top: number; readonly height: number }[] {
  const { sticky, rowHeight, height } = scene;
  if (sticky === 0) return [{ scene, top: 0, height }];
  const top = sticky * rowHeight;
  return [
    { scene: { ...scene, sticky: 0, visible: { from: 0, to: sticky }, scrolled: 0 }, top: 0, height: top },
    { scene: { ...scene, sticky: 0 }, top, height: height - top },
  ];
}

/** Whether a row is one track, not several added up. */
export function isSingle(row: Row | undefined): row is Row {
  return row !== undefined && row.to - row.from === 1;
}

/** The part of the scene that the store of cells is asked for. */
export function tileView({ scale, visible, sticky }: Pick<TimelineScene, "scale" | "visible" | "sticky">): TileView {
  return { range: [scale.fromNs, scale.toNs], pixels: scale.pixels, rows: visible, sticky };
}

/** The rows of a scene to name; those that do not scroll come first. */
export function labelledInSight({ rows, sticky, visible, rowHeight }: TimelineScene, step: number): readonly number[] {
  return [...labelledRows(rows, { from: 0, to: sticky }, rowHeight, step), ...labelledRows(rows, visible, rowHeight, step)];
}

/** The rows to name where `step` pixels must lie between two names; groups are always named where they can be opened. */
export function labelledRows(rows: readonly Row[], visible: Span, rowHeight: number, step: number): readonly number[] {
  const each = Math.max(1, Math.ceil(step / rowHeight));
  const out: number[] = [];
  for (let row = visible.from; row < visible.to; row += 1) {
    if (row % each === 0 || (rows[row]?.group !== null && rowHeight >= step)) out.push(row);
  }
  return out;
}

/** What is at a place, in pixels from the upper left corner of the rows; null outside of them. */
export function hitAt(scene: TimelineScene, lines: readonly LinkLine[], x: number, y: number): TimelineHit | null {
  const { scale, rows, rowHeight, height, layers } = scene;
  const row = rowAt(scene, y);
  const one = rows[row];
  if (x < 0 || x > scale.pixels || one === undefined || y < 0 || y > height) return null;
  const ns = nsAt(scale, x);
  const own = isSingle(one) ? one.from : null;
  const link = lineAt(lines, x, y)?.link ?? -1;
  const { calls, callLook } = layers;
  const call = calls === null || own === null ? -1 : callUnder(calls, own, ns, y - topOf(scene, row), callLook.shape, rowHeight, nsPerPixel(scale) * 0.7);
  return { row, ns, track: own, call, link, cell: cellAt(scene, row, ns) };
}

function cellAt(scene: TimelineScene, row: number, ns: number): TimelineHit["cell"] {
  const piece = scene.layers.store?.at(ns, row, tileView(scene)) ?? null;
  if (piece === null) return null;
  const { tile, firstRow } = piece;
  const bin = Math.floor((ns - tile.firstNs) / tile.binNs);
  const cell = (row - firstRow) * tile.bins + bin;
  const key = tile.key[cell] ?? NO_KEY;
  if (key === NO_KEY) return null;
  const start = tile.firstNs + bin * tile.binNs;
  return { key, dominant: (tile.dominant[cell] ?? 0) / 255, busy: (tile.busy[cell] ?? 0) / 255, depth: tile.depth[cell] ?? 0, range: [start, start + tile.binNs] };
}

/** A rectangle on screen, in pixels. */
export interface Box {
  readonly left: number;
  readonly width: number;
  readonly top: number;
  readonly height: number;
}

/** Where to outline a call; null where it is out of sight. */
export function outlineBox(scene: TimelineScene, { track, range, depth }: Outlined): Box | null {
  const { scale, rowOf, rowHeight, layers } = scene;
  const row = rowOf[track] ?? -1;
  if (!isInSight(scene, row) || range[1] < scale.fromNs || range[0] > scale.toNs) return null;
  const { calls, callLook } = layers;
  const [inset, tall] = calls === null ? [0, rowHeight - ROW_GAP] : depthBox(callLook.shape, depth, calls.leastDepth, Math.min(calls.mostDepth, callLook.maxDepth ?? calls.mostDepth), rowHeight);
  // An outline that ends outside of the screen has no edge on it.
  const x1 = Math.max(-4, pixelOf(scale, range[0]));
  const x2 = Math.min(scale.pixels + 4, pixelOf(scale, range[1]));
  const bottom = topOf(scene, row) + inset + Math.max(3, tall);
  // What scrolls goes away below the rows that do not.
  const top = Math.max(topOf(scene, row) + inset, row < scene.sticky ? 0 : scene.sticky * rowHeight);
  return bottom <= top ? null : { left: x1, width: Math.max(3, x2 - x1), top, height: bottom - top };
}

/** Where a time window is on the axis; null where it is out of sight. */
export function spanBox(scale: TimeScale, span: TimeRange): Pick<Box, "left" | "width"> | null {
  const [x1, x2] = [Math.max(-2, pixelOf(scale, span[0])), Math.min(scale.pixels + 2, pixelOf(scale, span[1]))];
  return x2 <= x1 ? null : { left: x1, width: Math.max(1, x2 - x1) };
}
