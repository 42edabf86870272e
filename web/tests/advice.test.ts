import { tableFromArrays } from "@uwdata/flechette";
import { expect, test } from "vitest";
import { sentenceOf, signOf } from "../src/views/advice/states.ts";
import { lineEvents, linesAbout, linesOf, signsOf } from "../src/views/profile/line-signs.ts";
import { barAfter, barAt, type GanttBar } from "../src/widgets/plots/gantt.ts";
import type { AdviseReply } from "../src/wire/protocol.ts";

const BARS: readonly GanttBar[] = [
  { row: 0, start: 0, end: 4, name: "a" },
  { row: 0, start: 4, end: 5, name: "b" },
  { row: 2, start: 1, end: 2, name: "c" },
  { row: 2, start: 6, end: 9, name: "d" },
];

test("a bar is found where it lies, a short one within the slack", () => {
  expect(barAt(BARS, 0, 2, 0)).toBe(0);
  expect(barAt(BARS, 0, 4.5, 0)).toBe(1);
  expect(barAt(BARS, 1, 2, 0)).toBe(-1);
  expect(barAt(BARS, 2, 2.3, 0)).toBe(-1);
  expect(barAt(BARS, 2, 2.3, 0.5)).toBe(2);
});

test("arrows walk along a row and to the nearest bar of the next row that has one", () => {
  expect(barAfter(BARS, -1, "ArrowRight", 3)).toBe(0);
  expect(barAfter(BARS, 0, "ArrowRight", 3)).toBe(1);
  expect(barAfter(BARS, 1, "ArrowRight", 3)).toBe(1);
  expect(barAfter(BARS, 1, "Home", 3)).toBe(0);
  expect(barAfter(BARS, 0, "ArrowDown", 3)).toBe(2);
  expect(barAfter(BARS, 1, "ArrowDown", 3)).toBe(2);
  expect(barAfter(BARS, 3, "ArrowUp", 3)).toBe(1);
  expect(barAfter(BARS, 2, "ArrowDown", 3)).toBe(2);
  expect(barAfter(BARS, 2, "a", 3)).toBeNull();
  expect(barAfter([], -1, "ArrowDown", 3)).toBeNull();
});

const REPLY: AdviseReply = { work_s: 4, span_s: 1, parallelism: 4, tasks: null, notes: [] };

test("advice is said in one sentence, with what it would bring", () => {
  expect(sentenceOf(REPLY, "loop", 3)).toContain("at most 4.00 for any number of workers");
  expect(sentenceOf({ ...REPLY, work_s: 0, span_s: 0 }, "loop", 0)).toBe("No time recorded.");
  expect(sentenceOf(REPLY, "race", 0)).toContain("No unordered accesses");
  expect(sentenceOf(REPLY, "race", 1)).toContain("1 pair of unordered accesses");
  const tasks = { parent: "main", serial_s: 4, parallel_s: 2, bound_s: 1.5, speedup: 2, workers: 4 };
  expect(sentenceOf({ ...REPLY, tasks }, "task", 6)).toContain("6 tasks below main");
  expect(sentenceOf({ ...REPLY, tasks }, "task", 6)).toContain("speedup 2.00");
});

test("verdicts have signs, so that colour is not all", () => {
  expect(["independent", "independent after changes", "unclear", "dependent", "no claim"].map(signOf)).toEqual(["✓", "◐", "?", "✗", "?"]);
});

test("what happens on a line is one word of letters, and sentences", () => {
  const table = tableFromArrays({
    line: new Uint32Array([5, 9, 9, 9, 12]),
    what: ["definition", "read", "call", "write", "loop"],
    name: ["main", "a", "main", "b", "loop at x.c:12"],
    times: new Float64Array([3, 1, 3, 2, 1]),
    context_id: new Float64Array([1, 1, 1, Number.NaN, 2]),
    reference: new Float64Array([Number.NaN, 4, Number.NaN, 7, Number.NaN]),
  });
  const events = lineEvents(table);
  const signs = signsOf(events);
  expect(signs.get(9)?.text).toBe("CRW");
  expect(signs.get(9)?.title.split("\n")).toEqual(["reads a, once", "calls main, 3 times", "writes b, 2 times"]);
  expect(signs.get(5)?.title).toBe("defines main, called 3 times");
  expect(signs.get(12)?.title).toBe("loop at x.c:12, once");
  expect(events[3]?.context).toBe(-1);
  const { definitions, calls } = linesOf(events, "main");
  expect([...definitions]).toEqual([5]);
  expect([...calls]).toEqual([9]);
  // What the pointer is on in another view: a function by its name, a variable by its number.
  expect([...linesAbout(events, "main")]).toEqual([5, 9]);
  expect([...linesAbout(events, 7)]).toEqual([9]);
  expect([...linesAbout(events, 5)]).toEqual([]);
  expect([...linesAbout(events, "a")]).toEqual([]);
});
