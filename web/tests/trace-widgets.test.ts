import { describe, expect, test } from "vitest";
import { counterBand, rangeOf, type CounterSeries } from "../src/view-kit/counters.ts";
import { movedBy, otherWindow } from "../src/views/traces/aligned.ts";
import { differences, type StatRow } from "../src/views/traces/compared.ts";
import { shape } from "../src/view-kit/context-table.ts";
import { binEnd, filledBins, parseDuration, typedDuration } from "../src/widgets/trace/durations.ts";
import { matrixOf, matrixRange, matrixShare, matrixValue, tracksOfRow, uniteRanges, type PairSum } from "../src/widgets/trace/matrix.ts";
import { meanOf, partTotals, piecesOf, shownTotals, stackRows, stacksOf } from "../src/widgets/trace/stacks.ts";
import { busyShare, keyAt, rowsFor } from "../src/widgets/trace/strips.ts";
import { treemap, treemapAt, treemapBeside, type TreemapCell } from "../src/widgets/trace/treemap.ts";

/** Random trees in which a parent costs what it and its children do. */
function randomTree(length: number, seed: number): { tree: { length: number; end: Int32Array }; parent: Int32Array; inclusive: Float64Array; exclusive: Float64Array } {
  let state = seed;
  const random = (): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
  const depths = [0];
  while (depths.length < length) depths.push(1 + Math.floor(random() * Math.min(6, depths.at(-1) ?? 0 + 1)));
  const { parent, end } = shape(Uint32Array.from(depths));
  const exclusive = Float64Array.from(depths, () => (random() < 0.2 ? 0 : random() ** 3));
  const inclusive = exclusive.slice();
  for (let row = length - 1; row > 0; row -= 1) inclusive[parent[row] ?? 0] = (inclusive[parent[row] ?? 0] ?? 0) + (inclusive[row] ?? 0);
  return { tree: { length, end }, parent, inclusive, exclusive };
}

const area = (cell: TreemapCell): number => cell.width * cell.height;

describe("a treemap", () => {
  const NO_FRAME = { padding: 0, head: 0, least: 0 };

  test("gives every cost the area that it is of the whole", () => {
    for (const seed of [1, 2, 3, 4]) {
      const { tree, inclusive, exclusive } = randomTree(120, seed);
      const cells = treemap(tree, inclusive, exclusive, -1, 640, 400, NO_FRAME);
      const whole = inclusive[0] ?? 1;
      for (const cell of cells) expect(area(cell) / (640 * 400)).toBeCloseTo(cell.value / whole, 6);
      const own = cells.filter((cell) => cell.isOwn);
      expect(own.reduce((sum, cell) => sum + area(cell), 0)).toBeCloseTo(640 * 400, 3);
      expect(new Set(own.map((cell) => cell.row)).size).toBe([...exclusive].filter((value) => value > 0).length);
    }
  });

  test("puts what a context calls inside it, and nothing over anything else of its level", () => {
    const { tree, parent, inclusive, exclusive } = randomTree(80, 7);
    const cells = treemap(tree, inclusive, exclusive, -1, 500, 300);
    const outer = new Map(cells.filter((cell) => !cell.isOwn).map((cell) => [cell.row, cell]));
    for (const cell of cells) {
      const above = outer.get(cell.isOwn && outer.has(cell.row) ? cell.row : (parent[cell.row] ?? -1));
      if (above === undefined) continue;
      expect(cell.x).toBeGreaterThanOrEqual(above.x - 1e-6);
      expect(cell.y).toBeGreaterThanOrEqual(above.y - 1e-6);
      expect(cell.x + cell.width).toBeLessThanOrEqual(above.x + above.width + 1e-6);
      expect(cell.y + cell.height).toBeLessThanOrEqual(above.y + above.height + 1e-6);
    }
    for (const a of cells) {
      for (const b of cells) {
        if (a === b || a.level !== b.level) continue;
        const wide = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
        const high = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
        expect(Math.max(0, wide) * Math.max(0, high)).toBeLessThan(1e-3);
      }
    }
  });

  test("goes into a row and stays near to squares", () => {
    const depth = Uint32Array.of(0, 1, 1, 1, 1);
    const { end } = shape(depth);
    const cells = treemap({ length: 5, end }, [12, 6, 3, 2, 1], [0, 6, 3, 2, 1], 0, 300, 300, NO_FRAME);
    expect(cells.map((cell) => cell.row)).toEqual([0, 1, 2, 3, 4]);
    for (const cell of cells) expect(Math.max(cell.width / cell.height, cell.height / cell.width)).toBeLessThan(3.5);
    expect(treemap({ length: 5, end }, [12, 6, 3, 2, 1], [0, 6, 3, 2, 1], 2, 300, 300).map((cell) => cell.row)).toEqual([2]);
  });

  test("finds the innermost rectangle at a point, and neighbours", () => {
    const depth = Uint32Array.of(0, 1, 1);
    const { end } = shape(depth);
    const cells = treemap({ length: 3, end }, [10, 6, 4], [0, 6, 4], -1, 400, 200, NO_FRAME);
    expect(treemapAt(cells, 10, 10)?.row).toBe(1);
    expect(treemapAt(cells, 390, 190)?.row).toBe(2);
    expect(treemapAt(cells, 401, 10)).toBeNull();
    const first = cells.find((cell) => cell.row === 1);
    if (first === undefined) throw new Error("no rectangle");
    expect(treemapBeside(cells, first, "right")?.row).toBe(2);
    expect(treemapBeside(cells, first, "left")).toBeNull();
  });
});

describe("durations", () => {
  test("are read with their unit, and say what is wrong", () => {
    expect(parseDuration("2.5 ms")).toEqual({ nanos: 2_500_000 });
    expect(parseDuration("10us")).toEqual({ nanos: 10_000 });
    expect(parseDuration("10 µs")).toEqual({ nanos: 10_000 });
    expect(parseDuration("1,5 s")).toEqual({ nanos: 1_500_000_000 });
    expect(parseDuration(" ")).toEqual({ nanos: null });
    expect(parseDuration("0")).toEqual({ nanos: 0 });
    for (const wrong of ["10", "ms", "1 parsec", "-3 s", "1..2 s"]) expect("problem" in parseDuration(wrong), wrong).toBe(true);
  });

  test("come back from what is typed for them", () => {
    for (const nanos of [0, 1, 999, 1000, 1023, 2_500_000, 1_234_567_891]) expect(parseDuration(typedDuration(nanos))).toEqual({ nanos });
    expect(typedDuration(null)).toBe("");
  });

  test("have bins of powers of two without gaps", () => {
    expect([0, 1, 2, 4, 1024].map((from) => binEnd(from))).toEqual([0, 1, 3, 7, 2047]);
    const bins = filledBins([{ from: 8, n: 1 }, { from: 0, n: 2 }], (from) => ({ from, n: 0 }));
    expect(bins).toEqual([{ from: 0, n: 2 }, { from: 1, n: 0 }, { from: 2, n: 0 }, { from: 4, n: 0 }, { from: 8, n: 1 }]);
  });
});

describe("a matrix of messages", () => {
  const pair = (sender: number, receiver: number, messages: number, bytes: number, mean = 1, unmatched = 0): PairSum => ({
    sender, receiver, messages, bytes, meanSeconds: mean, longestSeconds: mean * 2, unmatched,
  });

  test("keeps sums, and means over matched messages, when neighbours share a row", () => {
    const pairs = [pair(0, 2, 10, 100, 1, 5), pair(1, 3, 30, 300, 4), pair(3, 0, 1, 7)];
    const fine = matrixOf(pairs, 4);
    expect([fine.size, fine.step]).toEqual([4, 1]);
    expect(matrixValue(fine, 0, 2, "bytes")).toBe(100);
    expect(matrixValue(fine, 2, 0, "bytes")).toBeNaN();
    const coarse = matrixOf(pairs, 4, 2);
    expect([coarse.size, coarse.step]).toEqual([2, 2]);
    expect(matrixValue(coarse, 0, 1, "messages")).toBe(40);
    expect(matrixValue(coarse, 0, 1, "mean")).toBeCloseTo((1 * 5 + 4 * 30) / 35, 12);
    expect(coarse.longest[1]).toBe(8);
    expect(matrixRange(coarse, "bytes")).toEqual({ least: 7, most: 400 });
    expect(tracksOfRow(coarse, 1, 4)).toEqual([2, 4]);
  });

  test("has a last row for what is not in the trace", () => {
    const matrix = matrixOf([pair(-1, 0, 2, 20)], 3);
    expect(matrix.size).toBe(4);
    expect(matrixValue(matrix, 3, 0, "messages")).toBe(2);
    expect(tracksOfRow(matrix, 3, 3)).toBeNull();
  });

  test("colours by order of magnitude only where values are far apart", () => {
    expect(matrixShare(50, { least: 10, most: 100 })).toBeCloseTo(0.5);
    expect(matrixShare(1000, { least: 1, most: 1e6 })).toBeCloseTo(0.5);
    expect(matrixShare(3, { least: 3, most: 3 })).toBe(1);
  });

  test("unites the tracks of a pair", () => {
    expect(uniteRanges([[4, 5], [1, 2]])).toEqual([[1, 2], [4, 5]]);
    expect(uniteRanges([[1, 2], [2, 3]])).toEqual([[1, 3]]);
    expect(uniteRanges([[1, 2], [1, 2]])).toEqual([[1, 2]]);
  });
});

describe("stacked bars", () => {
  const stacks = stacksOf(3, 2, [0, 0, 1, 2, 2], [0, 1, 0, 0, 1], [1, 2, 10, 4, 4]);

  test("omit what is hidden, in totals and pieces", () => {
    expect([...shownTotals(stacks, new Set())]).toEqual([3, 10, 8]);
    expect([...shownTotals(stacks, new Set([0]))]).toEqual([2, 0, 4]);
    expect([...partTotals(stacks)]).toEqual([15, 6]);
    expect(piecesOf(stacks, 0, new Set(), 3).map(({ part, to }) => [part, to])).toEqual([[0, 1 / 3], [1, 1]]);
    expect(piecesOf(stacks, 0, new Set([0]), 10)).toEqual([{ part: 1, from: 0, to: 0.2, value: 2 }]);
  });

  test("are in order of locations or of totals, below the heads of their groups", () => {
    const totals = shownTotals(stacks, new Set());
    expect(stackRows(totals, "location", null).map((row) => row.location)).toEqual([0, 1, 2]);
    expect(stackRows(totals, "total", null).map((row) => row.location)).toEqual([1, 2, 0]);
    expect(stackRows(totals, "total", Int32Array.of(1, 0, 1))).toEqual([
      { location: -1, group: 0 }, { location: 1, group: -1 }, { location: -1, group: 1 }, { location: 2, group: -1 }, { location: 0, group: -1 },
    ]);
  });

  test("become means where several share a line of pixels", () => {
    expect([...meanOf(stacks, [0, 2]).values]).toEqual([2.5, 3]);
  });
});

describe("strips of two runs", () => {
  test("hold all tracks in at most so many rows", () => {
    for (const [tracks, most] of [[1, 48], [10, 4], [10_001, 48], [3, 3]] as const) {
      const rows = rowsFor(tracks, most);
      expect(rows.length).toBe(Math.min(tracks, most));
      expect(rows.flatMap(({ from, to }) => [from, to])[0]).toBe(0);
      expect(rows.at(-1)?.to).toBe(tracks);
      rows.slice(1).forEach((row, at) => { expect(row.from).toBe(rows[at]?.to); });
    }
  });

  test("say what a cell holds, and how full it is", () => {
    const strip = { rows: 1, bins: 2, firstNs: 0, binNs: 10, key: Uint32Array.of(3, 0xffff_ffff), busy: Float64Array.of(10, 0), full: Float64Array.of(20) };
    expect([keyAt(strip, 0, 0), keyAt(strip, 0, 1), keyAt(strip, 1, 0), busyShare(strip, 0, 0)]).toEqual([3, -1, -1, 0.5]);
  });
});

describe("a comparison of statistics", () => {
  const row = (name: string, exclusive: number, calls = 1): StatRow => ({ name, group: "", calls, exclusive, inclusive: exclusive * 2, share: 0 });

  test("has the largest change first, whatever its direction, and functions of one run only", () => {
    const rows = differences([row("a", 10), row("b", 1), row("gone", 2)], [row("a", 4), row("b", 1.5), row("new", 3)], "exclusive");
    expect(rows.map(({ name, seconds }) => [name, seconds])).toEqual([["a", -6], ["new", 3], ["gone", -2], ["b", 0.5]]);
    expect(rows[0]?.ratio).toBeCloseTo(-0.6);
    expect(rows[1]?.ratio).toBeNaN();
    expect(rows[1]?.before).toBeNaN();
    expect(differences([row("a", 10)], [row("a", 4)], "inclusive")[0]?.seconds).toBe(-12);
  });

  test("looks at the same time window on the other clock, inside its trace", () => {
    expect(otherWindow(movedBy(50), [100, 200], 1000)).toEqual([150, 250]);
    expect(otherWindow(movedBy(-150), [100, 200], 1000)).toEqual([0, 50]);
    expect(otherWindow(movedBy(50), [900, 1000], 960)).toEqual([950, 960]);
  });
});

describe("counters", () => {
  const series = (track: number, last: number[]): CounterSeries => ({ track, min: Float64Array.from(last, (v) => v - 1), max: Float64Array.from(last, (v) => v + 1), last: Float64Array.from(last) });

  test("are added and compared over the tracks that have a value", () => {
    const band = counterBand([series(0, [1, 2]), series(1, [Number.NaN, 10])], 2);
    expect([...band.sum]).toEqual([1, 12]);
    expect([...band.mean]).toEqual([1, 6]);
    expect([...band.min]).toEqual([0, 1]);
    expect([...band.max]).toEqual([2, 11]);
    expect(rangeOf([band.min, band.max])).toEqual([0, 11]);
    expect(rangeOf([Float64Array.of(Number.NaN)])).toBeNull();
  });
});
