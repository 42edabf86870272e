import { tableFromArrays } from "@uwdata/flechette";
import { expect, test } from "vitest";
import { differenceColours, differenceTable, isChance, largestDifference, noiseText, orderedRows, percentText, shade } from "../src/views/differences/differences.ts";

/** The whole program with a `solve` that became slower, a `check` that is new and a `write` that is gone. */
function example(): ReturnType<typeof differenceTable> {
  const own = { old: [0, 8, 0, 1], new: [0, 10, 2, 0], difference: [0, 2, 2, -1], change_percent: [null, 25, null, -100] };
  const columns: Record<string, unknown[]> = {
    depth: [0, 1, 2, 1],
    name: ["whole program", "solve", "check", "write"],
    context: ["", "solve", "solve > check", "write"],
    kind: ["whole program", "function", "function", "function"],
    in: ["both", "both", "new", "old"],
    old: [9, 8, 0, 1], new: [12, 12, 2, 0], difference: [3, 4, 2, -1], change_percent: [33.3, 50, null, -100],
    width_new: [12, 12, 2, 0], width_either: [13, 12, 2, 1],
    own_p_adjusted: [null, 0.0001, 0.3, null],
    own_verdict: [null, "more", "within noise", null],
    new_context_id: [0, 5, 7, null],
  };
  for (const [name, values] of Object.entries(own)) columns[`own_${name}`] = values;
  return differenceTable(tableFromArrays(columns));
}

test("rows without a cost of their own are omitted, and the largest difference comes first", () => {
  const table = example();
  expect(orderedRows(table, { column: "difference", descending: true })).toEqual([1, 2, 3]);
  expect(orderedRows(table, { column: "percent", descending: true })).toEqual([2, 3, 1]);
  expect(orderedRows(table, { column: "name", descending: false })).toEqual([2, 1, 3]);
  expect(orderedRows(table, { column: "p", descending: false })).toEqual([1, 2, 3]);
});

test("changes are said in words where there is no percentage", () => {
  const table = example();
  expect([1, 2, 3].map((row) => percentText(table, table.own, row))).toEqual(["+25.0\u202f%", "new", "gone"]);
  expect(noiseText(table.own, 1)).toBe("p < 0.001");
  expect(noiseText(table.own, 2)).toBe("p 0.300, not significant");
  expect(isChance(table.own, 2)).toBe(true);
  expect(noiseText(table.own, 3)).toBe("");
});

test("more is brown, less is teal, the same is the neutral middle", () => {
  expect(shade(0, 0, 2, "absolute")).toBe(0.5);
  expect(shade(2, 25, 2, "absolute")).toBe(1);
  expect(shade(-1, -100, 2, "absolute")).toBe(0.25);
  expect(shade(2, 25, 2, "relative")).toBe(0.75);
  expect(shade(2, Number.NaN, 2, "relative")).toBe(1);
  const table = example();
  expect(largestDifference(table)).toBe(2);
  const { fillOf } = differenceColours(table, "absolute");
  expect(fillOf(1)).toBe("rgb(84 48 5)");
  expect(fillOf(0)).toBe("rgb(245 245 245)");
  expect(new Set([fillOf(1), fillOf(3), fillOf(0)]).size).toBe(3);
});
