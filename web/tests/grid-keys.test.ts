import { expect, test } from "vitest";
import { cellAfter } from "../src/widgets/canvas/grid-keys.ts";

test("arrows walk to the neighbours and stop at the edges", () => {
  expect(cellAfter("ArrowDown", [0, 3], 2, 5)).toEqual([1, 3]);
  expect(cellAfter("ArrowDown", [1, 3], 2, 5)).toEqual([1, 3]);
  expect(cellAfter("ArrowUp", [0, 3], 2, 5)).toEqual([0, 3]);
  expect(cellAfter("ArrowRight", [1, 3], 2, 5)).toEqual([1, 4]);
  expect(cellAfter("ArrowRight", [1, 4], 2, 5)).toEqual([1, 4]);
  expect(cellAfter("ArrowLeft", [1, 0], 2, 5)).toEqual([1, 0]);
});

test("Home and End go along the row; an empty grid has one place", () => {
  expect(cellAfter("Home", [1, 3], 2, 5)).toEqual([1, 0]);
  expect(cellAfter("End", [1, 3], 2, 5)).toEqual([1, 4]);
  expect(cellAfter("End", [0, 0], 0, 0)).toEqual([0, 0]);
});

test("other keys lead nowhere", () => {
  for (const key of ["Enter", " ", "Escape", "a", "PageDown"]) expect(cellAfter(key, [0, 0], 3, 3)).toBeNull();
});
