import { describe, expect, test } from "vitest";
import { shape } from "../src/view-kit/context-table.ts";
import { eachPiece, flameLayout, frameAt, frameBeside, type FlameLayout, type FlamePiece, type FlameTree } from "../src/widgets/plots/flame-layout.ts";
import { canvasPainter, levelAt, levelTop, LEVEL_PIXELS, paintFlame } from "../src/widgets/plots/flame-paint.ts";
import { SvgContext } from "../src/widgets/canvas/draw-context.ts";
import { RULER } from "./ruler.ts";
import { pixelColumns, runs, sortedPositions, valueAxis } from "../src/widgets/plots/value-plot.ts";

/** A random tree in which every parent costs at least what its children do together. */
function randomFlame(length: number, seed: number): { tree: FlameTree; values: Float64Array; layout: FlameLayout; random: () => number } {
  let state = seed;
  const random = (): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
  const depths = [0];
  while (depths.length < length) depths.push(Math.floor(random() * Math.min(9, (depths.at(-1) ?? 0) + 2)));
  const depth = Uint32Array.from(depths);
  const { parent, end } = shape(depth);
  const values = Float64Array.from(depths, () => (random() < 0.2 ? 0 : random() ** 4));
  for (let row = length - 1; row >= 0; row -= 1) {
    const above = parent[row] ?? -1;
    if (above >= 0) values[above] = (values[above] ?? 0) + (values[row] ?? 0);
  }
  const tree = { length, depth, parent, end };
  return { tree, values, layout: flameLayout(tree, values), random };
}

const SEEDS = [11, 12, 13, 14, 15];

describe("flame layout", () => {
  test("children lie side by side inside their parent, as wide as they cost", () => {
    for (const seed of SEEDS) {
      const { tree, values, layout } = randomFlame(300, seed);
      const next = new Map<number, number>();
      for (let row = 0; row < tree.length; row += 1) {
        const parent = tree.parent[row] ?? -1;
        const expected = next.get(parent) ?? (parent < 0 ? 0 : (layout.left[parent] ?? 0));
        expect(layout.left[row]).toBeCloseTo(expected, 9);
        expect(layout.width[row]).toBeCloseTo(values[row] ?? 0, 9);
        next.set(parent, expected + (values[row] ?? 0));
        if (parent >= 0) expect((layout.left[row] ?? 0) + (layout.width[row] ?? 0)).toBeLessThanOrEqual((layout.left[parent] ?? 0) + (layout.width[parent] ?? 0) + 1e-12);
      }
    }
  });

  test("children that claim more than their parent are cut at its edge", () => {
    const depth = Uint32Array.of(0, 1, 1, 1);
    const layout = flameLayout({ length: 4, depth, ...shape(depth) }, Float64Array.of(10, 6, 6, -1));
    expect([...layout.left]).toEqual([0, 0, 6, 10]);
    expect([...layout.width]).toEqual([10, 6, 4, 0]);
  });

  test("the frame under a point is the one that a look at all frames finds", () => {
    for (const seed of SEEDS) {
      const { tree, layout, random } = randomFlame(400, seed);
      for (let trial = 0; trial < 500; trial += 1) {
        const x = random() * layout.total * 1.05;
        const level = Math.floor(random() * (layout.levels + 1));
        let expected = -1;
        for (let row = 0; row < tree.length; row += 1) {
          const left = layout.left[row] ?? 0;
          if (tree.depth[row] === level && x >= left && x < left + (layout.width[row] ?? 0)) expected = row;
        }
        expect(frameAt(layout, level, x)).toBe(expected);
      }
    }
  });

  test("stepping right through a level meets every frame once", () => {
    const { tree, layout } = randomFlame(300, 21);
    const level = 3;
    const expected = [...layout.rows].filter((row) => tree.depth[row] === level);
    const met: number[] = [];
    for (let row = expected[0] ?? -1; row >= 0; row = frameBeside(layout, level, row, 1)) met.push(row);
    expect(met).toEqual(expected);
    expect(frameBeside(layout, level, expected[0] ?? -1, -1)).toBe(-1);
  });

  test("pieces keep every wide frame and the sum of all, whatever is too narrow", () => {
    for (const seed of SEEDS) {
      const { tree, layout } = randomFlame(2000, seed);
      const least = layout.total / 300;
      for (let level = 0; level < layout.levels; level += 1) {
        const pieces: FlamePiece[] = [];
        eachPiece(layout, level, 0, layout.total, least, (piece) => pieces.push(piece));
        const frames = [...layout.rows].filter((row) => tree.depth[row] === level);
        const wide = frames.filter((row) => (layout.left[row] ?? 0) + (layout.width[row] ?? 0) - (layout.left[row] ?? 0) >= least);
        expect(pieces.filter((piece) => piece.count === 1 && piece.right - piece.left >= least).map((piece) => piece.row)).toEqual(wide);
        expect(pieces.reduce((sum, piece) => sum + piece.count, 0)).toBe(frames.length);
        expect(pieces.reduce((sum, piece) => sum + piece.sum, 0)).toBeCloseTo(frames.reduce((sum, row) => sum + (layout.width[row] ?? 0), 0), 9);
        for (let at = 1; at < pieces.length; at += 1) expect(pieces[at]?.left).toBeGreaterThanOrEqual((pieces[at - 1]?.right ?? 0) - 1e-9);
      }
    }
  });

  test("a zoomed window draws only what crosses it", () => {
    const { tree, layout } = randomFlame(500, 31);
    const [from, to] = [layout.total * 0.4, layout.total * 0.6];
    for (let level = 0; level < layout.levels; level += 1) {
      const drawn: number[] = [];
      eachPiece(layout, level, from, to, 0, (piece) => drawn.push(piece.row));
      const expected = [...layout.rows].filter((row) => tree.depth[row] === level && (layout.left[row] ?? 0) < to && (layout.left[row] ?? 0) + (layout.width[row] ?? 0) > from);
      expect(drawn).toEqual(expected);
    }
  });

  test("a million frames are drawn in as many pieces as there are pixels", () => {
    const length = 1_000_001;
    const depth = Uint32Array.from({ length }, (_, row) => (row === 0 ? 0 : 1));
    const values = new Float64Array(length).fill(1);
    values[0] = length - 1;
    const layout = flameLayout({ length, depth, ...shape(depth) }, values);
    let pieces = 0;
    const began = performance.now();
    eachPiece(layout, 1, 0, layout.total, layout.total / 1000, () => { pieces += 1; });
    expect(pieces).toBeLessThanOrEqual(1001);
    expect(performance.now() - began).toBeLessThan(50);
  });

  test("a level is found at the height at which it is drawn, in both directions", () => {
    const { layout } = randomFlame(300, 41);
    for (const isIcicle of [true, false]) {
      for (let level = 0; level < layout.levels; level += 1) {
        expect(levelAt(layout, levelTop(layout, level, isIcicle) + LEVEL_PIXELS / 2, isIcicle)).toBe(level);
      }
    }
  });

  test("the vector picture has the names, with signs of markup escaped and long ones cut", () => {
    const depth = Uint32Array.of(0, 1);
    const layout = flameLayout({ length: 2, depth, ...shape(depth) }, Float64Array.of(10, 10));
    const context = new SvgContext(() => RULER);
    const names = ["<main>", "a_very_long_name_of_a_function_that_does_not_fit"];
    paintFlame(layout, { left: 0, right: 10, width: 120, height: 100, scrolled: 0, isIcicle: true }, { fill: () => "red", ink: () => "black", name: (row) => names[row] ?? "", sliver: "grey", font: "11px x" }, canvasPainter(context, "11px x"));
    const text = context.svg(120, 38);
    expect(text).toContain("&lt;main&gt;");
    expect(text).toMatch(/>a_very_long_name_…</);
    expect(text.match(/<rect/g)).toHaveLength(2);
  });
});

describe("value plots", () => {
  test("a column of pixels keeps the smallest and the largest of its values", () => {
    const values = Float64Array.from({ length: 1000 }, (_, at) => (at === 517 ? 99 : at % 10));
    const columns = pixelColumns(values, 100);
    expect(columns).toHaveLength(100);
    expect(columns.at(-1)?.to).toBe(1000);
    expect(columns.filter((column) => column.most === 99)).toEqual([{ from: 510, to: 520, least: 0, most: 99 }]);
    expect(pixelColumns(Float64Array.of(3, 4), 100)).toEqual([{ from: 0, to: 1, least: 3, most: 3 }, { from: 1, to: 2, least: 4, most: 4 }]);
  });

  test("an axis begins at zero and holds all values", () => {
    expect(valueAxis(3, 7.3, 200)).toMatchObject({ low: 0, high: 8 });
    expect(valueAxis(-2, 7, 400).low).toBeLessThanOrEqual(-2);
    expect(valueAxis(0, 0, 100).high).toBeGreaterThan(0);
  });

  test("undefined values are sorted last", () => {
    expect([...sortedPositions(Float64Array.of(3, Number.NaN, 1, 2))]).toEqual([2, 3, 0, 1]);
  });

  test("neighbours of one group are one band", () => {
    expect(runs([0, 0, 1, 1, 0])).toEqual([{ from: 0, to: 2, group: 0 }, { from: 2, to: 4, group: 1 }, { from: 4, to: 5, group: 0 }]);
  });
});
