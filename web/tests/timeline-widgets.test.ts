import { describe, expect, test } from "vitest";
import { ramp } from "../src/base/palettes.ts";
import { callAt, callBatch, adjacentCall, callUnder, depthBox, isBatchFor, paintCalls, pathOf, type CallBatch } from "../src/widgets/timeline/calls.ts";
import { legendEntries, sumsOnScreen } from "../src/widgets/timeline/legend.ts";
import { lineAt, linkLines } from "../src/widgets/timeline/messages.ts";
import { rowOfTrack, rowsOf, spansOf, stickyRows, visibleRows, type RowPlan } from "../src/widgets/timeline/rows.ts";
import { opacityOf, shareByte, tilePixels } from "../src/widgets/timeline/tile-image.ts";
import { columnRange, exponentFor, NO_KEY, placesFor, TILE_BINS, TileStore, type Tile, type TileSource } from "../src/widgets/timeline/tiles.ts";

const plan = (over: Partial<RowPlan> = {}): RowPlan => ({ spans: [{ from: 0, to: 6 }], label: (track) => `rank ${String(track)}`, groupBy: null, open: new Set(), most: null, ...over });
const byNode = { name: "node", numberOf: (track: number) => Math.floor(track / 3) };

describe("rows", () => {
  test("without groups every track has its own", () => {
    expect(rowsOf(plan()).map(({ label }) => label)).toEqual(["rank 0", "rank 1", "rank 2", "rank 3", "rank 4", "rank 5"]);
  });

  test("a closed group is one row, an open one shows its tracks below itself", () => {
    const rows = rowsOf(plan({ groupBy: byNode, open: new Set([3]) }));
    expect(rows.map(({ label, from, to, isOpen }) => `${label} ${String(from)}-${String(to)}${isOpen ? " open" : ""}`)).toEqual(["node 0 0-3", "node 1 3-6 open", "rank 3 3-4", "rank 4 4-5", "rank 5 5-6"]);
    expect([...rowOfTrack(rows, 7)]).toEqual([0, 0, 0, 2, 3, 4, -1]);
    expect(spansOf(rows, false)).toEqual([{ from: 3, to: 6 }]);
    expect(spansOf(rows)).toEqual([{ from: 0, to: 6 }]);
  });

  test("too many rows are joined until they fit, and none is lost", () => {
    for (const most of [1, 2, 4, 5]) {
      const rows = rowsOf(plan({ spans: [{ from: 0, to: 4 }, { from: 10, to: 17 }], most }));
      expect(rows.length).toBeLessThanOrEqual(Math.max(most, 2));
      expect(rows.reduce((sum, { from, to }) => sum + to - from, 0)).toBe(11);
    }
  });

  test("rows that are partly on screen count", () => {
    expect(visibleRows(100, { rowHeight: 10, scrolled: 15 }, 30)).toEqual({ from: 1, to: 5 });
    expect(visibleRows(2, { rowHeight: 10, scrolled: 0 }, 300)).toEqual({ from: 0, to: 2 });
  });

  test("pinned rows stay in sight with what is open in them, and leave half of the height", () => {
    const [pinned, inside, other] = rowsOf(plan()).map((row, at) => ({ ...row, level: at === 1 ? 1 as const : 0 as const, isPinned: at === 0 }));
    if (pinned === undefined || inside === undefined || other === undefined) throw new Error("three rows were made");
    expect(stickyRows([pinned, inside, other], 10, 300)).toBe(2);
    expect(stickyRows([pinned, inside, other], 10, 30)).toBe(1);
    expect(stickyRows([other, pinned], 10, 300)).toBe(0);
    // Rows that scroll begin below them.
    expect(visibleRows(100, { rowHeight: 10, scrolled: 0 }, 50, 2)).toEqual({ from: 2, to: 5 });
    expect(visibleRows(100, { rowHeight: 10, scrolled: 45 }, 50, 2)).toEqual({ from: 6, to: 10 });
  });
});

function tile(over: Partial<Tile> = {}): Tile {
  return { firstNs: 0, binNs: 1, bins: 2, rows: 2, key: Uint32Array.of(1, NO_KEY, 2, 1), dominant: Uint8Array.of(255, 0, 128, 51), busy: Uint8Array.of(255, 0, 255, 51), depth: Uint8Array.of(1, 0, 3, 2), ...over };
}

/** A source that answers when it is told to. */
function slowSource(rows = 100, tracks = 1): { source: TileSource; asked: { range: readonly [number, number]; bins: number; rows: number; signal: AbortSignal; isPatient: boolean; answer: () => void }[]; changes: () => number } {
  const asked: { range: readonly [number, number]; bins: number; rows: number; signal: AbortSignal; isPatient: boolean; answer: () => void }[] = [];
  let changes = 0;
  return {
    asked,
    changes: () => changes,
    source: {
      rows: Array.from({ length: rows }, (_, at) => ({ from: at * tracks, to: (at + 1) * tracks })),
      bounds: [0, 1e9],
      originNs: 12_345n,
      fetch: (some, range, bins, signal, isPatient) =>
        new Promise((resolve) => {
          asked.push({ range, bins, rows: some.length, signal, isPatient, answer: () => { resolve(tile({ firstNs: range[0], binNs: (range[1] - range[0]) / 2, rows: some.length, key: new Uint32Array(some.length * 2) })); } });
        }),
      onchange: () => { changes += 1; },
      onerror: (error) => { throw error; },
    },
  };
}

const settle = (): Promise<void> => new Promise((resolve) => { setTimeout(resolve, 0); });

describe("pieces of a picture", () => {
  test("a bin is between one and two pixels wide", () => {
    for (const length of [1000, 12_345, 1e9, 7e12]) {
      const exponent = exponentFor([0, length], 800);
      const perPixel = length / 800;
      expect(2 ** exponent).toBeGreaterThanOrEqual(Math.min(perPixel, 2 ** exponent));
      if (perPixel > 1) expect(2 ** exponent).toBeLessThan(perPixel * 2);
    }
  });

  test("pieces lie on the bins of the trace's clock, next to each other", () => {
    const origin = 9_007_199_254_740_993n;
    for (const exponent of [3, 17]) {
      const length = 2 ** exponent * TILE_BINS;
      for (const column of [0, 5]) {
        const [from, to] = columnRange(exponent, column, origin);
        expect(to - from).toBe(length);
        expect((BigInt(from) + origin) % BigInt(2 ** exponent)).toBe(0n);
      }
      expect(columnRange(exponent, 0, origin)[1]).toBe(columnRange(exponent, 1, origin)[0]);
    }
  });

  test("a view is covered without gaps by the pieces that it asks for", () => {
    const { source } = slowSource();
    const view = { range: [2e8, 7e8] as const, pixels: 1500, rows: { from: 60, to: 70 } };
    const exponent = exponentFor(view.range, view.pixels);
    const places = placesFor(view, exponent, source);
    expect(new Set(places.map(({ block }) => block))).toEqual(new Set([0, 1]));
    const columns = [...new Set(places.map(({ column }) => column))].sort((a, b) => a - b);
    expect(columnRange(exponent, columns[0] ?? 0, source.originNs)[0]).toBeLessThanOrEqual(view.range[0]);
    expect(columnRange(exponent, columns.at(-1) ?? 0, source.originNs)[1]).toBeGreaterThanOrEqual(view.range[1]);
    expect(columns.every((column, at) => at === 0 || column === (columns[at - 1] ?? 0) + 1)).toBe(true);
  });

  test("what is no longer on screen is withdrawn, and what came is kept", async () => {
    const { source, asked, changes } = slowSource();
    const store = new TileStore(source);
    const first = { range: [0, 1e9] as const, pixels: 800, rows: { from: 0, to: 20 } };
    store.want(first);
    expect(asked.length).toBeGreaterThan(0);
    expect(store.isComplete(first)).toBe(false);
    for (let round = 0; round < 20; round += 1) {
      for (const one of asked) one.answer();
      await settle();
    }
    expect(store.isComplete(first)).toBe(true);
    expect(changes()).toBeGreaterThan(0);
    const before = asked.length;
    store.want(first);
    expect(asked.length).toBe(before);
    store.want({ ...first, range: [5e8, 5e8 + 1000] });
    const late = asked.slice(before);
    expect(late.length).toBeGreaterThan(0);
    // Until the fine pieces come, the coarse ones are drawn.
    expect(store.pieces({ ...first, range: [5e8, 5e8 + 1000] }).length).toBeGreaterThan(0);
    store.want({ ...first, range: [1e8, 1e8 + 1000] });
    expect(late.every(({ signal }) => signal.aborted)).toBe(true);
  });

  test("of many tracks a picture with long bins is asked first, and not again while it serves", async () => {
    const { source, asked } = slowSource(100, 20);
    const store = new TileStore(source);
    const view = { range: [0, 1e9] as const, pixels: 800, rows: { from: 0, to: 60 } };
    store.want(view, false);
    const fits = exponentFor(view.range, view.pixels);
    const exponents = (): readonly number[] => asked.map(({ range, bins }) => Math.round(Math.log2((range[1] - range[0]) / bins)));
    expect(exponents()[0]).toBe(fits + 6);
    // Only long bins come before the questions of other views.
    expect(asked.map(({ isPatient }) => isPatient)).toEqual(exponents().map((exponent) => exponent < fits + 4));
    asked[0]?.answer();
    await settle();
    // There is something to draw before what fits has come.
    expect(store.pieces(view)).toHaveLength(1);
    expect(store.isComplete(view)).toBe(false);
    for (let round = 0; round < 20; round += 1) {
      for (const one of asked) one.answer();
      await settle();
    }
    expect(store.isComplete(view)).toBe(true);
    const before = asked.length;
    // A little nearer, what is there serves until the fitting pieces come.
    store.want({ ...view, range: [3e8, 7e8] }, false);
    expect(exponents().slice(before).every((exponent) => exponent === exponentFor([3e8, 7e8], 800))).toBe(true);
    expect(asked.length).toBeGreaterThan(before);
  });

  test("of few tracks what fits is asked at once", () => {
    const { source, asked } = slowSource();
    new TileStore(source).want({ range: [0, 1e9], pixels: 800, rows: { from: 0, to: 60 } }, false);
    expect(asked.every(({ bins, isPatient }) => bins > 400 && !isPatient)).toBe(true);
  });

  test("the engine is asked for exactly the bins that the window touches", () => {
    const { source, asked } = slowSource();
    new TileStore(source).want({ range: [0, 1e9], pixels: 800, rows: { from: 0, to: 3 } }, false);
    for (const { range, bins } of asked) {
      expect(bins).toBeLessThanOrEqual(TILE_BINS);
      expect(bins * 2 ** exponentFor([0, 1e9], 800)).toBeGreaterThanOrEqual(range[1] - range[0]);
    }
  });
});

describe("cells", () => {
  const look = { mode: "dominant" as const, colourOf: (key: number) => (key === 1 ? ([10, 20, 30] as const) : ([200, 100, 0] as const)), isLit: null, ramp: ramp("viridis"), deepest: 3 };

  test("a cell has the colour of what dominates and is as opaque as it was busy", () => {
    const pixels = tilePixels(tile(), look);
    expect([...pixels.slice(0, 4)]).toEqual([10, 20, 30, 255]);
    expect(pixels[7]).toBe(0);
    expect(pixels[15]).toBe(Math.round(opacityOf(51 / 255) * 255));
  });

  test("what does not stand out fades", () => {
    const pixels = tilePixels(tile(), { ...look, isLit: (key) => key === 2 });
    expect(pixels[3]).toBeLessThan(60);
    expect(pixels[11]).toBe(255);
  });

  test("depth and busy time have a colour scale of their own", () => {
    const deep = tilePixels(tile(), { ...look, mode: "depth" });
    expect([...deep.slice(0, 3)]).not.toEqual([...deep.slice(8, 11)]);
    expect(shareByte(0, 10)).toBe(0);
    expect(shareByte(1e-9, 10)).toBe(1);
    expect(shareByte(10, 10)).toBe(255);
  });
});

/**
 * Track 0: main 0..100 with solve 10..60 (with send 20..30 and send 40..50) and write 70..90; track 1: main 0..80.
 */
function example(): CallBatch {
  const rows = [
    [0, 1, 1, 0, 100],
    [0, 2, 2, 10, 60],
    [0, 3, 3, 20, 30],
    [0, 3, 3, 40, 50],
    [0, 4, 2, 70, 90],
    [1, 1, 1, 0, 80],
  ] as const;
  return callBatch(
    { length: rows.length, track: Uint32Array.from(rows, (row) => row[0]), context: Uint32Array.from(rows, (row) => row[1]), depth: Uint32Array.from(rows, (row) => row[2]), startNs: Float64Array.from(rows, (row) => row[3]), endNs: Float64Array.from(rows, (row) => row[4]) },
    { range: [0, 100], spans: [{ from: 0, to: 2 }], shortestNs: 0, shorter: 0 },
    (context) => context,
  );
}

describe("calls", () => {
  test("know what is around them", () => {
    const calls = example();
    expect([...calls.parent]).toEqual([-1, 0, 1, 1, 0, -1]);
    expect([...calls.firstChild]).toEqual([1, 2, -1, -1, -1, -1]);
    expect(pathOf(calls, 3)).toEqual([0, 1, 3]);
    expect([calls.leastDepth, calls.mostDepth]).toEqual([1, 3]);
  });

  test("the deepest call at a moment is found, and none where nothing ran", () => {
    const calls = example();
    expect(callAt(calls, 0, 25)).toBe(2);
    expect(callAt(calls, 0, 35)).toBe(1);
    expect(callAt(calls, 0, 95)).toBe(0);
    expect(callAt(calls, 1, 85)).toBe(-1);
    expect(callAt(calls, 1, 85, 10)).toBe(5);
    expect(callAt(calls, 7, 5)).toBe(-1);
  });

  test("each depth lies inside the one above, or below it in lanes", () => {
    const [outerTop, outer] = depthBox("nested", 1, 1, 3, 31);
    const [innerTop, inner] = depthBox("nested", 3, 1, 3, 31);
    expect(innerTop).toBeGreaterThan(outerTop);
    expect(innerTop + inner).toBeLessThan(outerTop + outer);
    const lanes = [1, 2, 3].map((depth) => depthBox("lanes", depth, 1, 3, 31));
    expect(lanes.map(([top]) => top)).toEqual([0, 10, 20]);
  });

  test("the call that is drawn under the pointer is meant", () => {
    const calls = example();
    expect(callUnder(calls, 0, 25, 15, "nested", 31)).toBe(2);
    expect(callUnder(calls, 0, 25, 1, "nested", 31)).toBe(0);
    expect(callUnder(calls, 0, 25, 12, "lanes", 31)).toBe(1);
    expect(callUnder(calls, 0, 35, 25, "lanes", 31)).toBe(-1);
  });

  test("the next call of the same depth is found", () => {
    const calls = example();
    expect(adjacentCall(calls, 1, 1)).toBe(4);
    expect(adjacentCall(calls, 4, -1)).toBe(1);
    expect(adjacentCall(calls, 0, 1)).toBe(-1);
  });

  test("outer calls are drawn before inner ones; hidden, too deep and far ones are not drawn", () => {
    const drawn = (over: object, scale = { fromNs: 0, toNs: 100, pixels: 100 }): string[] => {
      const out: string[] = [];
      paintCalls(
        example(),
        scale,
        (track) => (track === 0 ? 0 : null),
        31,
        { shape: "nested", maxDepth: null, fillOf: (context) => (context === 4 ? null : `c${String(context)}`), inkOf: () => "", nameOf: (context) => `f${String(context)}`, ...over },
        { fill: (colour) => out.push(colour), rect: (x, _y, width) => out.push(`${String(x)}+${String(width)}`), stroke: () => undefined, text: (_x, _y, _room, text) => out.push(text) },
      );
      return out;
    };
    expect(drawn({})).toEqual(["c1", "0+100", "c2", "10+50", "c3", "20+10", "40+10"]);
    expect(drawn({ maxDepth: 1 })).toEqual(["c1", "0+100", "f1"]);
    expect(drawn({}, { fromNs: 62, toNs: 69, pixels: 100 })).toEqual(["c1", "-2+104", "f1"]);
  });

  test("calls serve a window as long as they cover it finely enough", () => {
    const calls = { ...example(), shortestNs: 4 };
    expect(isBatchFor(calls, [10, 90], [{ from: 0, to: 1 }], 4)).toBe(true);
    expect(isBatchFor(calls, [10, 90], [{ from: 0, to: 1 }], 1)).toBe(false);
    expect(isBatchFor(calls, [10, 110], [{ from: 0, to: 1 }], 4)).toBe(false);
    expect(isBatchFor(calls, [10, 90], [{ from: 1, to: 3 }], 4)).toBe(false);
  });
});

describe("messages", () => {
  const links = { length: 3, sender: Uint32Array.of(0, 1, 0), receiver: Uint32Array.of(1, 0, 9), sendNs: Float64Array.of(10, 50, 60), receiveNs: Float64Array.of(30, 40, 70), bytes: Float64Array.of(8, 8, 8), tag: Float64Array.of(0, 0, 0) };
  const lines = linkLines(links, { fromNs: 0, toNs: 100, pixels: 100 }, 100, (track) => (track < 2 ? 10 + track * 20 : null));

  test("are lines between rows that are there; what arrives before it was sent is marked", () => {
    expect(lines.map(({ link, isBackwards }) => [link, isBackwards])).toEqual([[0, false], [1, true]]);
    expect(lines[0]).toMatchObject({ x1: 10, y1: 10, x2: 30, y2: 30 });
  });

  test("the nearest within reach is meant", () => {
    expect(lineAt(lines, 20, 21)?.link).toBe(0);
    expect(lineAt(lines, 80, 80)).toBeNull();
  });
});

describe("legend", () => {
  test("sums what is on screen, only there, and says no shares, for cells know one function only", () => {
    const pieces = [{ place: { exponent: 0, column: 0, block: 0 }, tile: tile({ binNs: 100 }), firstRow: 0 }];
    const all = sumsOnScreen(pieces, [0, 200], { from: 0, to: 2 }, () => 1);
    expect(all.get(1)).toBeCloseTo(100 + 20, 6);
    expect(all.get(2)).toBeCloseTo(100 * (128 / 255), 6);
    const first = legendEntries(sumsOnScreen(pieces, [0, 100], { from: 0, to: 1 }, () => 1));
    expect(first).toEqual([{ key: 1, ns: 100, share: Number.NaN }]);
    const entries = legendEntries(all);
    expect(entries.map(({ key }) => key)).toEqual([1, 2]);
  });
});
