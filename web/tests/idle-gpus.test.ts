import { expect, test } from "vitest";
import { sentenceOf } from "../src/views/idle-gpus/states.ts";

const short = (path: string): string => path.split(" > ").at(-1) ?? "";

test("the sentence names the longest call, and how long no thread was active", () => {
  const rows = [
    { path: "<no thread active>", seconds: 6, context: Number.NaN },
    { path: "main > load", seconds: 1, context: 4 },
    { path: "main > init > alloc", seconds: 3, context: 7 },
  ];
  expect(sentenceOf(rows, short)).toMatch(/^GPU idle time: 10.00\s?s in total\. Threads are in alloc for 30\.0 % of it\. No thread is active for 60\.0 % of it\.$/u);
});

test("it says nothing of what there is not", () => {
  expect(sentenceOf([{ path: "main", seconds: 2, context: 1 }], short)).toMatch(/in total\. Threads are in main for 100\.0 % of it\.$/);
  expect(sentenceOf([{ path: "<no thread active>", seconds: 2, context: Number.NaN }], short)).toMatch(/in total\. No thread is active for 100\.0 % of it\.$/);
  expect(sentenceOf([{ path: "main", seconds: 0, context: 1 }], short)).toBe("No GPU idle time.");
});
