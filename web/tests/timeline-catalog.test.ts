import { describe, expect, test } from "vitest";
import type { EngineClient } from "../src/state/engine.ts";
import { NONE } from "../src/view-kit/asks.ts";
import { askedWindow, askTimeline, rangesOf, shortName, timelineCatalog, windowOf } from "../src/view-kit/catalog.ts";
import { groupingsOf } from "../src/views/timeline/grouping.ts";
import { colourTable, groupFamily, spread } from "../src/view-kit/colours.ts";
import { arrived, exampleCatalog } from "./timeline-example.ts";

describe("catalog of a trace", () => {
  const catalog = exampleCatalog();

  test("says tracks with their identities", () => {
    expect(catalog.tracks.length).toBe(4);
    expect(catalog.tracks.label(2)).toBe("rank 2");
    expect(catalog.tracks.kinds.map(({ name }) => name)).toEqual(["node", "rank"]);
    expect([...(catalog.tracks.kinds[0]?.numbers ?? [])]).toEqual([0, 0, 1, 1]);
    expect(Number.isNaN(catalog.tracks.component[0])).toBe(true);
  });

  test("knows what lies below a context", () => {
    expect([...catalog.contexts.end]).toEqual([5, 5, 4, 4, 5]);
    expect(catalog.contexts.parent[0]).toBe(-1);
    expect(catalog.contextRow(9)).toBe(3);
    expect(catalog.contextRow(77)).toBe(-1);
  });

  test("gives contexts to functions and groups", () => {
    expect(catalog.nameOf(catalog.keyOf(3, "function"), "function")).toBe("MPI_Send");
    expect(catalog.nameOf(catalog.keyOf(3, "group"), "group")).toBe("MPI");
    expect(catalog.nameOf(NONE, "group")).toBe("(nothing)");
    expect(catalog.keyOf(0, "group")).toBe(NONE);
  });

  test("the window and the tracks on screen lie inside the trace", () => {
    expect(windowOf({ window: null }, catalog)).toEqual([0, 1_000_000]);
    expect(windowOf({ window: [900_000, 1_400_000] }, catalog)).toEqual([500_000, 1_000_000]);
    expect(rangesOf({ tracks: [[2, 99]] }, catalog)).toEqual([{ from: 2, to: 4 }]);
    expect(rangesOf({ tracks: [[50, 99]] }, catalog)).toEqual([{ from: 0, to: 4 }]);
    expect(askedWindow([1.5, 1.6])).toEqual({ from_ns: 1, to_ns: 2 });
  });

  test("the tracks of the program are shown, and those of helper threads on request", () => {
    const withHelpers = { ...catalog, reply: { ...catalog.reply, program_tracks: [{ from: 0, to: 1 }, { from: 2, to: 3 }], helpers: "Helper threads are excluded: 2 locations." } };
    expect(rangesOf({ tracks: null }, withHelpers)).toEqual([{ from: 0, to: 1 }, { from: 2, to: 3 }]);
    expect(rangesOf({ tracks: [[0, 4]] }, withHelpers)).toEqual([{ from: 0, to: 4 }]);
    expect(rangesOf({ tracks: null }, catalog)).toEqual([{ from: 0, to: 4 }]);
  });

  test("is asked once for all views, and again after an error", async () => {
    let asked = 0;
    const client = {
      ask: () => {
        asked += 1;
        return asked === 1 ? Promise.reject(new Error("no")) : Promise.resolve({ reply: catalog.reply, tables: {} });
      },
    } as unknown as EngineClient;
    await expect(askTimeline(client, "e1")).rejects.toThrow("no");
    await expect(askTimeline(client, "e1")).rejects.toThrow("lacks its table");
    const [first, second] = [askTimeline(client, "e1"), askTimeline(client, "e1")];
    expect(first).toBe(second);
    await expect(first).rejects.toThrow();
    expect(asked).toBe(3);
  });
});

describe("groups of tracks", () => {
  const { tracks, reply } = exampleCatalog();

  test("tracks of a node are a group; a row each says no more", () => {
    expect(groupingsOf({ tracks, reply }).map(({ id, count }) => [id, count])).toEqual([["node", 2]]);
  });

  test("numbers whose tracks lie apart, as threads of ranks do, are no groups", () => {
    const apart = { ...tracks, kinds: [{ name: "thread", numbers: Float64Array.of(0, 0, 1, 0) }] };
    expect(groupingsOf({ tracks: apart, reply })).toEqual([]);
  });
});

describe("colours of a trace", () => {
  const catalog = exampleCatalog();

  test("by group, own code is warm and MPI is cool, in both looks", () => {
    document.documentElement.dataset["functions"] = "group";
    for (const theme of ["light", "dark"] as const) {
      const solve = catalog.colourOf(1, "function", theme) ?? [0, 0, 0];
      const send = catalog.colourOf(2, "function", theme) ?? [0, 0, 0];
      expect(solve[2]).toBeLessThan(Math.max(solve[0], solve[1]));
      expect(send[2]).toBeGreaterThan(send[0]);
      expect(catalog.colourOf(NONE, "function", theme)).toBeNull();
    }
    delete document.documentElement.dataset["functions"];
  });

  test("calls of one GPU runtime are distinct, unless colours are by group", () => {
    const names = ["cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize", "hipLaunchKernel", "hipMemcpy", "<unknown>"];
    const of = { length: names.length, name: (row: number) => names[row] ?? "", exclusiveNs: Float64Array.from(names, (_, at) => 10 - at) };
    const table = colourTable({ ...of, group: () => 0 }, { length: 1, name: () => "cuda_runtime", exclusiveNs: Float64Array.of(50) });
    const distance = (a: readonly number[], b: readonly number[]): number => Math.hypot(...a.map((value, at) => value - (b[at] ?? 0)));
    const least = (theme: "light" | "dark"): number => {
      const colours = names.slice(0, 5).map((_, row) => table.function(row, theme));
      return Math.min(...colours.flatMap((one, at) => colours.slice(at + 1).map((other) => distance(one, other))));
    };
    for (const theme of ["light", "dark"] as const) {
      document.documentElement.dataset["functions"] = "group";
      const before = least(theme);
      document.documentElement.dataset["functions"] = "distinct";
      expect(least(theme)).toBeGreaterThan(90);
      expect(before).toBeLessThan(50);
      // What has no name is grey.
      const [red = 0, green = 0, blue = 0] = table.function(5, theme);
      expect(Math.max(red, green, blue) - Math.min(red, green, blue)).toBeLessThan(20);
    }
    delete document.documentElement.dataset["functions"];
  });

  test("functions of one group differ", () => {
    const colours = [0, 1, 3].map((row) => String(catalog.colourOf(row, "function", "light")));
    expect(new Set(colours).size).toBe(3);
  });

  test("names tell the family where groups do not", () => {
    expect(groupFamily("TAU_DEFAULT", "MPI_Recv()")).toBe("mpi");
    expect(groupFamily("kernel", "volta_sgemm")).toBe("device");
    expect(groupFamily("TAU_USER", "solve")).toBe("own");
  });

  test("places on a range of hues keep apart", () => {
    const places = Array.from({ length: 8 }, (_, nth) => spread(nth));
    const sorted = [0, ...places.toSorted((a, b) => a - b), 1];
    const gaps = sorted.slice(1).map((place, at) => place - (sorted[at] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(0.05);
  });
});

test("functions that differ in their template arguments only are named by them, wherever they are named", () => {
  const names = ["void sweep<Left<int> >(int)", "void sweep<Right<int> >(int)", "void other<int>(int)"];
  const functions = arrived({ name: names, group: Uint32Array.of(0, 0, 0), exclusive_ns: Float64Array.of(3, 2, 1), calls: Float64Array.of(3, 2, 1) });
  expect(names.map((name) => shortName(name))).toEqual(["sweep", "sweep", "other"]);
  const { reply } = exampleCatalog();
  const tables = { tracks: arrived({ location: [0], label: ["a"], calls: [1], component: [Number.NaN] }), functions, groups: arrived({ name: ["g"], exclusive_ns: [6], calls: [6] }), contexts: arrived({ context_id: Uint32Array.of(0), parent: Uint32Array.of(NONE), function: Uint32Array.of(NONE), depth: Uint32Array.of(0) }) };
  timelineCatalog(reply, tables);
  expect(names.map((name) => shortName(name))).toEqual(["sweep<Left<int> >", "sweep<Right<int> >", "other"]);
});
