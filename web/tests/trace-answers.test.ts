import { tableFromArrays, type Table } from "@uwdata/flechette";
import { expect, test } from "vitest";
import { answerColumns, answerOrder, seriesOf } from "../src/view-kit/answers.ts";

/** A table whose fields say what the engine's schema says. */
function described(columns: Record<string, readonly unknown[]>, said: Record<string, Record<string, string>>): Table {
  const table = tableFromArrays(columns as Record<string, unknown[]>);
  for (const field of table.schema.fields) (field as { metadata: Map<string, string> | null }).metadata = new Map(Object.entries(said[field.name] ?? {}));
  return table;
}

const WAITS = described({
  kind: ["late sender", "collective", "late sender"],
  function: ["MPI_Recv()", "MPI_Barrier()", "MPI_Wait()"],
  context_id: [7, 8, 9],
  waiting_s: [0.25, 1.5, Number.NaN],
  share_percent: [2.5, 15, 0],
}, {
  kind: { head: "Kind", doc: "Why." },
  function: { head: "Function" },
  waiting_s: { head: "Waiting", unit: "s" },
  share_percent: { head: "Share", unit: "%" },
});

test("answers have heads with units, and no ids", () => {
  const columns = answerColumns(WAITS);
  expect(columns.map((one) => one.head.title)).toEqual(["Kind", "Function", "Waiting (s)", "Share (%)"]);
  expect(columns.map((one) => one.head.help)).toEqual(["Why.", "", "", ""]);
  expect(columns.map((one) => one.most)).toEqual([0, 0, 1.5, 100]);
});

test("numbers that say which one, not how much, have no bars and no separators", () => {
  const lines = described({ line: [1201, 14], samples: [1201, 14] }, { line: { head: "Line", role: "label" }, samples: { head: "Samples" } });
  const [line, samples] = answerColumns(lines);
  expect([line?.most, line?.format?.text(1201), line?.head.title]).toEqual([0, "1201", "Line"]);
  expect(samples?.most).toBe(1201);
});

test("rows are in the order of a column, those without a number last", () => {
  const columns = answerColumns(WAITS);
  expect(answerOrder(columns, 3, "waiting_s", true)).toEqual([1, 0, 2]);
  expect(answerOrder(columns, 3, "waiting_s", false)).toEqual([0, 1, 2]);
  expect(answerOrder(columns, 3, "function", false)).toEqual([1, 0, 2]);
  expect(answerOrder(columns, 3, "", true)).toEqual([0, 1, 2]);
});

test("numbers over time are in the bin of their start, also where the first bin is cut", () => {
  // Bins of 0.5 s that begin before the trace does: the first is cut at 0.
  const rows = tableFromArrays({
    start_s: [0, 0, 0.3, 0.8, 1.3],
    name: ["a", "b", "a", "b", "a"],
    exclusive_s: [0.1, 0.2, 0.3, 0.4, 0.5],
  });
  const { firstNs, bins, series } = seriesOf(rows, ["b", "a", "c"], "name", "exclusive_s", 5e8, 2);
  expect(bins).toBe(4);
  expect(firstNs).toBeCloseTo(-0.2e9, 3);
  expect(series.map((one) => one.name)).toEqual(["b", "a"]);
  expect([...(series[0]?.values ?? [])]).toEqual([0.2, 0, 0.4, 0]);
  expect([...(series[1]?.values ?? [])]).toEqual([0.1, 0.3, 0, 0.5]);
});

test("one number for each bin is one line, with gaps where there is none", () => {
  const rows = tableFromArrays({ start_s: [0, 1, 3], imbalance_percent: [10, 20, 40] });
  const { bins, series } = seriesOf(rows, null, "", "imbalance_percent", 1e9, 8);
  expect(bins).toBe(4);
  expect([...(series[0]?.values ?? [])]).toEqual([10, 20, Number.NaN, 40]);
});
