import { tableFromArrays } from "@uwdata/flechette";
import { describe, expect, test } from "vitest";
import { argumentsOfAnswer, argumentsText } from "../src/views/timeline/answers.ts";
import { linksOfCall } from "../src/views/timeline/call-details.svelte.ts";
import { isEmptyRow, orderedRows, tracksNamed, withoutEmpty } from "../src/views/timeline/row-order.ts";
import { inPlaces, naturalPlaces } from "../src/view-kit/location-order.ts";
import { axisFormat, valueText } from "../src/view-kit/format.ts";
import { typedTest } from "../src/view-kit/search.ts";
import { stackRows } from "../src/widgets/trace/stacks.ts";
import { axisIn } from "../src/widgets/trace/value-axis.ts";
import { stripAxis } from "../src/widgets/timeline/strips.ts";
import type { Row } from "../src/widgets/timeline/rows.ts";

const row = (from: number, label: string, over: Partial<Row> = {}): Row => ({ from, to: from + 1, label, level: 0, group: null, isOpen: false, ...over });
const labels = (rows: readonly Row[]): readonly string[] => rows.map(({ label }) => label);

describe("rows", () => {
  const rows = [row(0, "rank 10"), row(1, "rank 2"), row(2, "rank 1")];

  test("are sorted by name as people count", () => {
    expect(labels(orderedRows(rows, "name", null, []))).toEqual(["rank 1", "rank 2", "rank 10"]);
    expect(labels(orderedRows(rows, "location", null, []))).toEqual(["rank 10", "rank 2", "rank 1"]);
    const names = ["process 1, thread 10", "rank 3", "process 1, thread 2"];
    expect([...naturalPlaces(3, (at) => names[at] ?? "", [{ name: "rank", numbers: [Number.NaN, 3, Number.NaN] }])]).toEqual([2, 0, 1]);
    // Threads in the order of a file, and a stream of rank 0, which comes after its threads.
    const kinds = [{ name: "rank", numbers: [1, 0, 0, 0] }, { name: "thread", numbers: [0, 10, 2, Number.NaN] }, { name: "gpustream", numbers: [Number.NaN, Number.NaN, Number.NaN, 0] }];
    expect([...inPlaces(naturalPlaces(4, () => "", kinds))]).toEqual([2, 1, 3, 0]);
  });

  test("are sorted by values; what has none comes last in both directions", () => {
    const values = [Number.NaN, 5, 7];
    expect(labels(orderedRows(rows, "busy", { values, joined: "sum", isDescending: true }, []))).toEqual(["rank 1", "rank 2", "rank 10"]);
    expect(labels(orderedRows(rows, "start", { values, joined: "min", isDescending: false }, []))).toEqual(["rank 2", "rank 1", "rank 10"]);
    expect(labels(orderedRows(rows, "busy", null, []))).toEqual(["rank 10", "rank 2", "rank 1"]);
  });

  test("of an open group stay below it, and pinned ones come first", () => {
    const grouped = [
      row(0, "rank 0", { to: 2, group: 0, isOpen: true }), row(0, "thread 0", { level: 1 }), row(1, "thread 1", { level: 1 }),
      row(2, "rank 1", { to: 4, group: 2 }),
    ];
    const values = { values: [1, 3, 4, 4], joined: "sum", isDescending: true } as const;
    expect(labels(orderedRows(grouped, "busy", values, []))).toEqual(["rank 1", "rank 0", "thread 1", "thread 0"]);
    const pinned = orderedRows(grouped, "busy", values, [0]);
    expect(labels(pinned)).toEqual(["rank 0", "thread 1", "thread 0", "rank 1"]);
    expect(pinned[0]?.isPinned).toBe(true);
  });

  test("without calls are hidden, groups only as a whole", () => {
    const isEmpty = (track: number): boolean => track === 1 || track === 4;
    expect(withoutEmpty([{ from: 0, to: 3 }, { from: 4, to: 5 }], isEmpty)).toEqual([{ from: 0, to: 1 }, { from: 2, to: 3 }]);
    expect(isEmptyRow({ from: 1, to: 2 }, isEmpty)).toBe(true);
    expect(isEmptyRow({ from: 0, to: 2 }, isEmpty)).toBe(false);
  });

  test("are filtered by what is typed", () => {
    const names = ["rank 0 thread 0", "rank 0 thread 1", "rank 1 thread 0"];
    const found = (typed: string): unknown => tracksNamed(names.length, (track) => names[track] ?? "", typedTest(typed) ?? (() => true));
    expect(found("thread 0")).toEqual([[0, 3]]);
    expect(found("*thread 0")).toEqual([[0, 1], [2, 3]]);
    expect(found("/1 thread/")).toEqual([[2, 3]]);
  });
});

describe("bars of locations", () => {
  test("stand in the places of lists", () => {
    expect(stackRows(Float64Array.of(1, 2, 3), "location", null, Int32Array.of(2, 0, 1)).map(({ location }) => location)).toEqual([1, 2, 0]);
  });
});

describe("what is typed to find a name", () => {
  const finds = (typed: string, name: string): boolean | undefined => typedTest(typed)?.(name);

  test("is words, in any case and order", () => {
    expect(finds("nccl reduce", "ncclDevKernel_AllReduce_Sum")).toBe(true);
    expect(finds("reduce NCCL", "ncclDevKernel_AllReduce_Sum")).toBe(true);
    expect(finds("nccl", "MPI_Send")).toBe(false);
    expect(typedTest("  ")).toBeNull();
  });

  test("is an expression for those who write one", () => {
    expect(finds("MPI_*", "MPI_Send")).toBe(true);
    expect(finds("MPI_*", "PMPI_Send")).toBe(false);
    expect(finds("/^mpi_/i", "MPI_Send")).toBe(true);
    expect(finds("/(/", "anything")).toBe(false);
    expect(finds("\"MPI_Send\"", "MPI_Sendrecv")).toBe(false);
    expect(finds("MPI_Send|MPI_Recv", "MPI_Recv")).toBe(true);
  });
});

describe("ticks", () => {
  test("are round in the unit in which they are written", () => {
    const format = axisFormat("B", 1.2e9);
    expect(axisIn(format.size, 0, 1.2e9, 120).ticks.map((tick) => format.text(tick))).toEqual(["0\u202fGB", "0.5\u202fGB", "1\u202fGB", "1.5\u202fGB"]);
    const events = axisFormat("events", 5);
    expect(events.text(5)).toBe("5\u202fevents");
    expect(valueText(5, "events")).toBe("5\u202fevents");
    expect(stripAxis({ least: 0, most: 4.2e9, unitSize: axisFormat("B", 4.2e9).size }).ticks.map((tick) => axisFormat("B", 4.2e9).text(tick))).toEqual(["6\u202fGB", "0\u202fGB"]);
  });
});

describe("the messages of a call", () => {
  test("are those that begin or end in it", () => {
    const links = {
      length: 3, sender: Uint32Array.of(0, 1, 0), receiver: Uint32Array.of(1, 0, 1), sendNs: Float64Array.of(10, 5, 90), receiveNs: Float64Array.of(30, 15, 95),
      bytes: Float64Array.of(8, 16, 32), tag: Float64Array.of(0, 0, 0),
    };
    const found = linksOfCall(links, { track: 0, step: { context: 1, startNs: 0, endNs: 50 } }, "message");
    expect(found).toEqual([
      { kind: "message", isSent: true, track: 1, atNs: 30, bytes: 8, lengthNs: 20 },
      { kind: "message", isSent: false, track: 1, atNs: 5, bytes: 16, lengthNs: 10 },
    ]);
  });
});

describe("arguments", () => {
  const tables = {
    path: tableFromArrays({ context: Uint32Array.of(1, 2), depth: Uint32Array.of(1, 2), start_ns: Float64Array.of(0, 100), end_ns: Float64Array.of(1000, 600) }),
    arguments: tableFromArrays({ depth: Uint32Array.of(1, 2, 2), name: ["of", "grid", "note"], value: ["main", "[1,1,1]", "a\nb\tc"] }),
  };

  test("are those of the call, not of its callers", () => {
    expect(argumentsOfAnswer(tables, { context: 2, startNs: 100, endNs: 600 })).toEqual([{ name: "grid", value: "[1,1,1]" }, { name: "note", value: "a\nb\tc" }]);
    expect(argumentsOfAnswer(tables, { context: 1, startNs: 0, endNs: 1000 })).toEqual([{ name: "of", value: "main" }]);
    expect(argumentsOfAnswer(tables, { context: 2, startNs: 101, endNs: 600 })).toEqual([]);
  });

  test("are copied a line each", () => {
    expect(argumentsText([{ name: "grid", value: "[1,1,1]" }, { name: "note", value: "a\nb\tc" }])).toBe("grid\t[1,1,1]\nnote\ta b c\n");
  });
});
