import { describe, expect, test } from "vitest";
import { groupingKinds, locationGroups } from "../src/widgets/trace/stack-groups.ts";
import { chosenNode, eventsCsv, eventTable, eventText, openedBy, shownEvents } from "../src/views/user-events/rows.ts";
import { arrived } from "./timeline-example.ts";

const numbers = (rows: number, of: (row: number) => number): Record<string, Float64Array> =>
  Object.fromEntries(["count", "sum", "mean", "min", "max", "std_dev", "locations"].map((name, at) => [name, Float64Array.from({ length: rows }, (_, row) => of(row) + at)]));

/** Three events; the first happened in two contexts and in no known one, the last in one. */
function example(): ReturnType<typeof eventTable> {
  const events = arrived({ event: ["Size sent", "Level", "Size read"], unit: ["B", "", "B"], ...numbers(3, (row) => [30, 20, 10][row] ?? 0), contexts: Float64Array.of(2, 0, 1) });
  const contexts = arrived({
    event: ["Size sent", "Size sent", "Size sent", "Size read"],
    context_id: Float64Array.of(7, 4, Number.NaN, 9),
    name: ["MPI_Send()", "MPI_Isend()", "(no known context)", "read"],
    path: ["main > MPI_Send()", "main > io > MPI_Isend()", "(no known context)", "main > io > read"],
    unit: ["B", "B", "B", "B"],
    ...numbers(4, (row) => [5, 15, 10, 10][row] ?? 0),
  });
  return eventTable(events, contexts);
}

const by = (column: string, descending = true): { column: string; descending: boolean } => ({ column, descending });

describe("rows of user events", () => {
  test("contexts lie below their event", () => {
    const table = example();
    expect([table.events, table.rows.length]).toEqual([3, 7]);
    expect(table.below).toEqual([[3, 4, 5], [], [6]]);
    expect(table.rows[4]).toMatchObject({ event: "Size sent", name: "MPI_Isend()", context: 4, unit: "B", count: 15, std_dev: 20 });
    expect(table.rows[1]).toMatchObject({ event: "Level", name: "Level", path: "", context: Number.NaN });
  });

  test("both levels are in the order of a column, what is not known and no known context last", () => {
    const table = example();
    expect(shownEvents(table, by("count"), "").roots).toEqual([0, 1, 2]);
    expect(shownEvents(table, by("count"), "").children(0)).toEqual([4, 3, 5]);
    expect(shownEvents(table, by("count", false), "").children(0)).toEqual([3, 4, 5]);
    expect(shownEvents(table, by("name", false), "").roots).toEqual([1, 2, 0]);
    const rows = table.rows.map((row, node) => (node === 1 ? { ...row, max: Number.NaN } : row));
    for (const descending of [true, false]) expect(shownEvents({ ...table, rows }, by("max", descending), "").roots.at(-1)).toBe(1);
  });

  test("a text keeps events, or the contexts that contain it", () => {
    const table = example();
    const sent = shownEvents(table, by("count"), "SENT");
    expect([sent.roots, sent.children(0)]).toEqual([[0], [4, 3, 5]]);
    const io = shownEvents(table, by("count"), "io >");
    expect([io.roots, io.children(0), io.children(2)]).toEqual([[0, 2], [4], [6]]);
    expect(openedBy(table, "io >")).toEqual([0, 1, 2]);
    expect(openedBy(table, "sent")).toEqual([1, 2]);
    expect(openedBy(table, " ")).toEqual([]);
    expect(shownEvents(table, by("count"), "nothing").roots).toEqual([]);
  });

  test("what was chosen is found again, or its event, or the first", () => {
    const table = example();
    expect(chosenNode(table, "Size sent", 4)).toBe(4);
    expect(chosenNode(table, "Size read", 4)).toBe(2);
    expect(chosenNode(table, "Level", null)).toBe(1);
    expect(chosenNode(table, "gone", 4)).toBe(0);
    expect(chosenNode({ rows: [], events: 0, below: [] }, "gone", null)).toBe(-1);
  });

  test("files have every number as it is, and nothing where nothing is known", () => {
    const table = example();
    const lines = eventsCsv(table, shownEvents(table, by("count"), "")).trim().split("\r\n");
    expect(lines[0]).toBe("event,context_id,path,unit,count,sum,mean,min,max,std_dev,locations");
    expect(lines[1]).toBe("Size sent,,,B,30,31,32,33,34,35,36");
    expect(lines[2]).toBe("Size sent,4,main > io > MPI_Isend(),B,15,16,17,18,19,20,21");
    expect(lines).toHaveLength(8);
  });
});

test("whole bytes are written as such", () => {
  expect(eventText(8, "B")).toBe("8\u202fB");
  expect(eventText(2.5, "B")).toMatch(/^2\.5/);
  expect(eventText(4096, "B")).toMatch(/kB$/);
  expect(eventText(Number.NaN, "B")).toBe("–");
});

describe("groups of locations", () => {
  test("kinds that tell all apart, or none, make no groups", () => {
    const kind = (name: string, ...list: number[]): { name: string; numbers: Float64Array } => ({ name, numbers: Float64Array.from(list) });
    const kinds = [kind("application", 1, 0, 1), kind("rank", 0, 1, 2), kind("thread", 0, 0, 0)];
    expect(groupingKinds(kinds).map(({ name }) => name)).toEqual(["application"]);
  });

  test("groups are in the order of their numbers, those without one last", () => {
    const groups = locationGroups({ name: "node", numbers: Float64Array.of(5, Number.NaN, 2, 5) });
    expect([[...groups.of], groups.numbers, groups.sizes]).toEqual([[1, 2, 0, 1], [2, 5, Number.NaN], [1, 2, 1]]);
  });
});
