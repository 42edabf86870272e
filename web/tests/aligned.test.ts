import { describe, expect, test } from "vitest";
import {
  alignedBy, differenceText, endOf, iterationAt, iterationCsv, iterationOrder, iterationRows, iterationSum, movedBy, otherWindow, otherWindows, sumSentence, toOther, toOwn, unmatchedSentences,
  type RunIterations,
} from "../src/views/traces/aligned.ts";

/** Iterations one after the other; the first begins at `firstNs`. */
function run(firstNs: number, lengthsNs: readonly number[], states: Readonly<Record<number, string>> = {}): RunIterations {
  let at = firstNs;
  const begins = lengthsNs.map((length) => { at += length; return at - length; });
  return { beginNs: Float64Array.from(begins), lengthSeconds: Float64Array.from(lengthsNs, (ns) => ns / 1e9), states: lengthsNs.map((_, iteration) => states[iteration] ?? "whole") };
}

const even = run(100, [1000, 1000, 1000, 1000]);
/** Begins later; iteration 2 takes 400 ns more. */
const late = run(300, [1000, 1000, 1400, 1000]);

describe("the time of two runs aligned by iteration", () => {
  const map = alignedBy(even, late);
  if (map === null) throw new Error("nothing is aligned");

  test("puts each begin over the begin of the same iteration, exactly", () => {
    for (let iteration = 0; iteration < 4; iteration += 1) expect(toOther(map, even.beginNs[iteration] ?? 0)).toBe(late.beginNs[iteration]);
    expect(toOther(map, endOf(even, 3))).toBe(endOf(late, 3));
  });

  test("is straight within an iteration, and even outside all", () => {
    expect(toOther(map, 2600)).toBe(2300 + 700);
    expect(toOther(map, 0)).toBe(200);
    expect(toOther(map, -150)).toBe(50);
    expect(toOther(map, 4100 + 77)).toBe(4700 + 77);
  });

  test("is strictly ascending, and leads back", () => {
    let before = Number.NEGATIVE_INFINITY;
    for (let ns = -500; ns <= 6000; ns += 37) {
      const there = toOther(map, ns);
      expect(there).toBeGreaterThan(before);
      expect(toOwn(map, there)).toBeCloseTo(ns, 6);
      before = there;
    }
  });

  test("goes on evenly after the last iteration that both have", () => {
    const longer = run(300, [1000, 500, 700]);
    const two = alignedBy(run(100, [1000, 1000]), longer);
    if (two === null) throw new Error("nothing is aligned");
    expect([...two.own]).toEqual([100, 1100, 2100]);
    expect([...two.other]).toEqual([300, 1300, 1800]);
    // The third of the other run follows what this run ends with.
    expect(toOwn(two, 1800)).toBe(2100);
    expect(toOwn(two, 2500)).toBe(2800);
    const swapped = alignedBy(longer, run(100, [1000, 1000]));
    expect([...swapped?.own ?? []]).toEqual([300, 1300, 1800]);
  });

  test("needs one iteration in each", () => {
    const one = alignedBy(run(100, [1000]), run(50, [3000, 10]));
    expect([...one?.own ?? []]).toEqual([100, 1100]);
    expect([...one?.other ?? []]).toEqual([50, 3050]);
    expect(alignedBy(run(0, []), late)).toBeNull();
    expect(alignedBy(even, run(0, []))).toBeNull();
  });

  test("omits what would make it stand still", () => {
    const map = alignedBy(even, run(0, [500, 0, 500, 500]));
    expect([...map?.own ?? []]).toEqual([100, 1100, 3100, 4100]);
    expect([...map?.other ?? []]).toEqual([0, 500, 1000, 1500]);
  });

  test("an amount of time moves everything", () => {
    expect([toOther(movedBy(-30), 100), toOwn(movedBy(-30), 100)]).toEqual([70, 130]);
  });
});

describe("strips of the other run", () => {
  const map = alignedBy(even, late);
  if (map === null) throw new Error("nothing is aligned");

  test("are cut where iterations begin and lie over the window without a gap", () => {
    expect(otherWindows(map, [600, 2600], 5000, 9)).toEqual([[800, 1300], [1300, 2300], [2300, 3000]]);
    expect(otherWindow(map, [600, 2600], 5000)).toEqual([800, 3000]);
  });

  test("are one where they are too many, and none where the other run has ended", () => {
    expect(otherWindows(map, [600, 2600], 5000, 2)).toEqual([[800, 3000]]);
    expect(otherWindows(map, [4900, 6000], 4750, 9)).toEqual([]);
    expect(otherWindows(movedBy(100), [-50, 900], 5000, 9)).toEqual([[50, 1000]]);
  });

  test("an iteration ends where the next begins", () => {
    expect([99, 100, 1099, 1100, 4099, 4100].map((ns) => iterationAt(even, ns))).toEqual([null, 0, 0, 1, 3, null]);
  });
});

describe("differences by iteration", () => {
  const rows = iterationRows(even, late);

  test("are this run less the other one, as everywhere", () => {
    expect(rows.map((row) => Math.round(row.seconds * 1e9))).toEqual([0, 0, -400, 0]);
    expect(rows[2]?.ratio).toBeCloseTo(-400 / 1400, 12);
    expect(rows[2]?.begin).toBeCloseTo(2100e-9, 15);
  });

  test("have a sum and a largest one, in a sentence", () => {
    expect(sumSentence(iterationSum(rows))).toBe("This run takes 400\u202fns less (\u22129.1\u202f%) in the 4 iterations that both runs have; iteration 2 differs most: 1.000\u202fµs instead of 1.400\u202fµs, 400\u202fns less (\u221228.6\u202f%).");
    expect(sumSentence(iterationSum(iterationRows(late, even)))).toContain("takes 400\u202fns more");
    expect(sumSentence(iterationSum(iterationRows(even, even)))).toBe("This run takes the same in the 4 iterations that both runs have; no iteration differs.");
    expect(differenceText(0, 1e-6)).toBe("1.000\u202fµs more");
  });

  test("say what has no counterpart, and do not count it", () => {
    const unequal = iterationRows(even, run(0, [1000, 1000]));
    expect(unequal.map((row) => row.remark)).toEqual(["", "", "only in this run", "only in this run"]);
    expect(unequal.map((row) => Number.isNaN(row.seconds))).toEqual([false, false, true, true]);
    expect(iterationSum(unequal)).toMatchObject({ counted: 2, largest: null });
    expect(unmatchedSentences(4, 2, unequal)).toEqual(["This run has 4 iterations, the other one 2: iterations 2 to 3 of this run have no counterpart."]);
    expect(unmatchedSentences(1, 2, iterationRows(run(0, [1]), run(0, [1, 1])))).toEqual(["This run has 1 iteration, the other one 2: iteration 1 of the other run has no counterpart."]);
    expect(iterationRows(run(0, []), run(0, []))).toEqual([]);
  });

  test("omit of the sum what is cut off in one run", () => {
    const cut = iterationRows(even, run(300, [1000, 1000, 1000, 200], { 0: "warm-up", 3: "partial" }));
    expect(cut.map((row) => row.remark)).toEqual(["warm-up in the other run", "", "", "cut off in the other run"]);
    expect(iterationSum(cut)).toMatchObject({ counted: 3, largest: null });
    expect(unmatchedSentences(4, 4, cut)).toEqual(["1 iteration is cut off in one of the runs and excluded from the sum."]);
  });

  test("are sorted by any column, nothing last", () => {
    const unequal = iterationRows(run(0, [3000, 1000, 2000]), run(0, [1000, 4000]));
    expect(iterationOrder(unequal, { column: "iteration", descending: false })).toEqual([0, 1, 2]);
    expect(iterationOrder(unequal, { column: "seconds", descending: true })).toEqual([0, 1, 2]);
    expect(iterationOrder(unequal, { column: "seconds", descending: false })).toEqual([1, 0, 2]);
    expect(iterationOrder(unequal, { column: "after", descending: true })).toEqual([0, 2, 1]);
  });

  test("are a file in the order on screen", () => {
    const lines = iterationCsv(iterationRows(run(0, [1000, 1000]), run(0, [2000])), { column: "iteration", descending: true }).trim().split(/\r?\n/);
    expect(lines[0]).toContain("this - other (s)");
    expect(lines[1]).toMatch(/^1,.*only in this run$/);
    expect(lines[2]).toBe("0,0,0.000002,0.000001,-0.000001,-50,");
  });
});
