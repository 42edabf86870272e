// What the view of GPU stalls says in one sentence, and which columns it shows.
import { expect, test } from "vitest";
import { sentenceOf, shownColumns, told, type Reason } from "../src/views/gpu-stalls/states.ts";

const MEMORY: Reason = { name: "global memory", share: 53, meaning: "An access has not completed.", remedy: "Coalesce." };

test("the sentence names the first reason and the kernel with most cycles", () => {
  const reply = { cycles: 1000, issue_percent: 41, hidden_percent: null, exposed_percent: 59, samples: 10, kernel_s: null, notes: [] };
  expect(sentenceOf(reply, "gather", [MEMORY])).toBe("No instruction is issued in 59.0 % of the GPU cycles, 53.0 % for global memory. Most cycles: gather.");
  expect(sentenceOf(reply, "gather", [])).toBe("No instruction is issued in 59.0 % of the GPU cycles. Most cycles: gather.");
  const cycles = { ...reply, issue_percent: null, exposed_percent: null };
  expect(sentenceOf(cycles, "gather", [])).toBe("Most GPU cycles: gather. Stalls were not recorded.");
});

test("reasons are told with what one usually does, where there is anything to do", () => {
  expect(told(MEMORY)).toBe("global memory (53.0 % of the cycles): An access has not completed. Usual remedies: Coalesce.");
  expect(told({ ...MEMORY, remedy: "" })).toBe("global memory (53.0 % of the cycles): An access has not completed.");
});

test("the place comes first, whatever rows are", () => {
  expect((["kernel", "function", "line", "instruction"] as const).map((by) => shownColumns(by)[0])).toEqual(["kernel", "function", "file", "instruction"]);
});
