/** Draws a scene of a timeline: cells, calls with their names, messages, and the axis above. */
import type { DrawContext } from "../canvas/draw-context.ts";
import { nsPerPixel, pixelOf, ticks, type TimeScale } from "./axis.ts";
import { depthBox, paintCalls, ROW_GAP, type CallBatch } from "./calls.ts";
import { cellPainter } from "./cell-painter.svelte.ts";
import { linkLines, paintLines, paintOwnLines, type LineLook, type LinkLine } from "./messages.ts";
import { isSingle, partsOf, tileView, topOf, type TimelineScene } from "./scene.ts";
import type { TileLook } from "./tile-image.ts";
import type { Tile } from "./tiles.ts";

/** Height of the axis in pixels. */
export const AXIS_HEIGHT = 24;

/** Names that are measured once; more are measured again. */
const MOST_WIDTHS = 5000;

/** Colours and the font of a timeline, as CSS. */
export interface TimelineColours extends LineLook {
  readonly font: string;
  readonly panel: string;
  readonly line: string;
  readonly strong: string;
  readonly text: string;
  readonly sunken: string;
}

interface Image {
  readonly look: TileLook;
  /** Of the painter of cells. */
  readonly version: number;
  readonly picture: OffscreenCanvas;
}

interface Name {
  readonly x: number;
  readonly y: number;
  readonly text: string;
  readonly ink: string;
}

/** Keeps what is costly to make from one frame to the next: images of tiles and widths of names. */
export class TimelinePainter {
  readonly #images = new WeakMap<Tile, Image>();
  readonly #widths = new Map<string, number>();
  /** The messages as they were drawn last, for what is under the pointer. */
  lines: readonly LinkLine[] = [];

  /** Everything below the axis; `pointedAt` is the message to emphasise, -1 for none. */
  paintRows(context: DrawContext, scene: TimelineScene, colours: TimelineColours, pointedAt: number): void {
    const { scale, sticky, rowHeight } = scene;
    for (const part of partsOf(scene)) {
      context.save();
      context.beginPath();
      context.rect(0, part.top, scale.pixels, part.height);
      context.clip();
      this.#paintPart(context, part.scene, colours);
      context.restore();
    }
    context.fillStyle = colours.strong;
    if (sticky > 0) context.fillRect(0, Math.round(sticky * rowHeight) - 1, scale.pixels, 1);
    this.#paintLinks(context, scene, colours, pointedAt);
  }

  /** Rows without anything between them. */
  #paintPart(context: DrawContext, scene: TimelineScene, colours: TimelineColours): void {
    const { scale, rows, visible, rowHeight, height, layers } = scene;
    const { calls } = layers;
    context.fillStyle = colours.panel;
    context.fillRect(0, 0, scale.pixels, height);
    context.fillStyle = colours.line;
    for (const { ns } of ticks(scale)) context.fillRect(Math.round(pixelOf(scale, ns)), 0, 1, height);
    const areCallsAll = calls !== null && calls.shorter === 0;
    this.#paintTiles(context, scene, colours, areCallsAll);
    const names = calls === null ? [] : this.#paintCalls(context, scene, calls, colours);
    if (rowHeight >= 4) {
      context.fillStyle = colours.panel;
      for (let row = visible.from; row <= visible.to; row += 1) context.fillRect(0, Math.round(topOf(scene, row)) - ROW_GAP, scale.pixels, ROW_GAP);
    }
    if (calls !== null && !areCallsAll) this.#paintBand(context, scene, calls);
    context.textBaseline = "middle";
    for (const { x, y, text, ink } of names) {
      context.fillStyle = ink;
      context.fillText(text, x, y);
    }
    context.fillStyle = colours.strong;
    for (let row = Math.max(1, visible.from); row < visible.to; row += 1) {
      if (rows[row]?.group !== null && rowHeight >= 6) context.fillRect(0, Math.round(topOf(scene, row)) - 1, scale.pixels, 1);
    }
  }

  /** The axis. */
  paintAxis(context: DrawContext, scale: TimeScale, colours: TimelineColours): void {
    context.fillStyle = colours.sunken;
    context.fillRect(0, 0, scale.pixels, AXIS_HEIGHT);
    context.font = colours.font;
    context.textBaseline = "middle";
    for (const { ns, text } of ticks(scale)) {
      const x = Math.round(pixelOf(scale, ns));
      context.fillStyle = colours.strong;
      context.fillRect(x, AXIS_HEIGHT - 6, 1, 6);
      context.fillStyle = colours.text;
      const width = context.measureText(text).width;
      context.textAlign = "left";
      context.fillText(text, Math.max(2, Math.min(scale.pixels - width - 2, x - width / 2)), 10);
    }
  }

  #imageOf(tile: Tile, look: TileLook): OffscreenCanvas | null {
    if (tile.bins === 0 || tile.rows === 0) return null;
    const known = this.#images.get(tile);
    const { version } = cellPainter;
    if (known !== undefined && known.look === look && known.version === version) return known.picture;
    const picture = known?.picture ?? new OffscreenCanvas(tile.bins, tile.rows);
    cellPainter.paint(tile, look, picture);
    this.#images.set(tile, { look, version, picture });
    return picture;
  }

  /** Rows with calls of their own are drawn from these; where they are complete the cells below would only shine through. */
  #paintTiles(context: DrawContext, scene: TimelineScene, colours: TimelineColours, areCallsAll: boolean): void {
    const { scale, rows, visible, rowHeight, layers } = scene;
    const { store, before, calls, tileLook } = layers;
    const view = tileView(scene);
    context.imageSmoothingEnabled = false;
    const isReady = store?.isComplete(view) === true;
    const pieces = [...(isReady ? [] : (before?.pieces(view) ?? [])), ...(store?.pieces(view) ?? [])];
    for (const { tile, firstRow } of pieces) {
      const picture = this.#imageOf(tile, tileLook);
      if (picture === null) continue;
      const x = pixelOf(scale, tile.firstNs);
      const width = (tile.bins * tile.binNs) / nsPerPixel(scale);
      // Only the part on screen: scaling what is out of sight costs as much.
      const from = Math.max(0, Math.floor((-x / width) * tile.bins));
      const to = Math.min(tile.bins, Math.ceil(((scale.pixels - x) / width) * tile.bins));
      const top = Math.max(0, visible.from - firstRow);
      const bottom = Math.min(tile.rows, visible.to - firstRow);
      if (to <= from || bottom <= top) continue;
      const step = width / tile.bins;
      const [left, y] = [x + from * step, topOf(scene, firstRow + top)];
      // Pieces lie over older ones that fit less.
      context.fillStyle = colours.panel;
      context.fillRect(left, y, (to - from) * step, (bottom - top) * rowHeight);
      context.drawImage(picture, from, top, to - from, bottom - top, left, y, (to - from) * step, (bottom - top) * rowHeight);
    }
    if (calls === null) return;
    context.fillStyle = colours.panel;
    for (let row = visible.from; row < visible.to; row += 1) {
      if (isSingle(rows[row]) && (areCallsAll || rowHeight >= 4)) context.fillRect(0, topOf(scene, row), scale.pixels, rowHeight);
    }
  }

  /** Where calls are too short to draw one by one, the middle of the row says what had most of the time. */
  #paintBand(context: DrawContext, scene: TimelineScene, calls: CallBatch): void {
    const { scale, visible, rowHeight, layers } = scene;
    if (rowHeight < 6 || layers.callLook.shape === "lanes") return;
    const [inset, tall] = depthBox("nested", calls.mostDepth + 1, calls.leastDepth, calls.mostDepth + 1, rowHeight);
    const high = Math.max(2, tall);
    for (const { tile, firstRow } of layers.store?.pieces(tileView(scene)) ?? []) {
      const picture = this.#imageOf(tile, layers.tileLook);
      if (picture === null) continue;
      const x = pixelOf(scale, tile.firstNs);
      const width = (tile.bins * tile.binNs) / nsPerPixel(scale);
      for (let row = Math.max(visible.from, firstRow); row < Math.min(visible.to, firstRow + tile.rows); row += 1) {
        context.drawImage(picture, 0, row - firstRow, tile.bins, 1, x, topOf(scene, row) + inset - (high - tall) / 2, width, high);
      }
    }
  }

  /** Draws the calls; their names, which come on top of everything else, are given back. */
  #paintCalls(context: DrawContext, scene: TimelineScene, calls: CallBatch, colours: TimelineColours): readonly Name[] {
    const { scale, rows, rowOf, visible, rowHeight, layers } = scene;
    const names = new Map<number, { readonly name: Name; readonly end: number }[]>();
    context.font = colours.font;
    context.lineWidth = 1;
    context.strokeStyle = colours.panel;
    const top = (track: number): number | null => {
      const row = rowOf[track] ?? -1;
      return !isSingle(rows[row]) || row < visible.from || row >= visible.to ? null : topOf(scene, row);
    };
    paintCalls(calls, scale, top, rowHeight, layers.callLook, {
      fill: (colour) => { context.fillStyle = colour; },
      rect: (x, y, width, tall) => { context.fillRect(x, y, width, tall); },
      stroke: (x, y, width, tall) => { context.strokeRect(x + 0.5, y + 0.5, width - 1, tall - 1); },
      text: (x, y, room, text, ink) => {
        const short = this.#fitted(context, text, room);
        if (short === "") return;
        const name: Name = { x, y: y + 0.5, text: short, ink };
        // A call lies on its caller: its name takes the place of the caller's where both would be.
        const end = x + Math.min(room, this.#widths.get(text) ?? room);
        const beside = (names.get(name.y) ?? []).filter((other) => other.end < x || other.name.x > end);
        beside.push({ name, end });
        names.set(name.y, beside);
      },
    });
    return [...names.values()].flat().map(({ name }) => name);
  }

  /** As much of a name as fits. */
  #fitted(context: DrawContext, text: string, room: number): string {
    let width = this.#widths.get(text);
    if (width === undefined) {
      if (this.#widths.size > MOST_WIDTHS) this.#widths.clear();
      width = context.measureText(text).width;
      this.#widths.set(text, width);
    }
    if (width <= room) return text;
    const letters = Math.floor((room / width) * text.length) - 1;
    return letters < 2 ? "" : `${text.slice(0, letters).trimEnd()}…`;
  }

  #paintLinks(context: DrawContext, scene: TimelineScene, colours: TimelineColours, pointedAt: number): void {
    const { links, ownLinks } = scene.layers;
    const rowMiddle = (track: number): number | null => {
      const row = scene.rowOf[track] ?? -1;
      return row < 0 ? null : topOf(scene, row) + scene.rowHeight / 2;
    };
    this.lines = links === null ? [] : linkLines(links, scene.scale, scene.height, rowMiddle);
    paintLines(context, this.lines, pointedAt, colours);
    if (ownLinks === null) return;
    paintOwnLines(context, linkLines(ownLinks, scene.scale, scene.height, rowMiddle), colours);
  }
}
