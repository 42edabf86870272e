import { flushSync, mount, type Component } from "svelte";
import { describe, expect, test } from "vitest";
import type { EngineClient } from "../src/state/engine.ts";
import type { Item } from "../src/state/item.ts";
import { Links } from "../src/state/links.svelte.ts";
import { PanelSlice } from "../src/state/slice.svelte.ts";
import { Store } from "../src/state/store.svelte.ts";
import type { ViewProps } from "../src/view-kit/plugin.ts";
import { callAt, levelBins, levelsOf } from "../src/views/traces/icicle.ts";
import { counterSeries } from "../src/view-kit/counters.ts";
import Anomalies from "../src/views/traces/Anomalies.svelte";
import Compare from "../src/views/traces/Compare.svelte";
import Find from "../src/views/traces/Find.svelte";
import Messages from "../src/views/traces/Messages.svelte";
import NodeDetail from "../src/views/traces/NodeDetail.svelte";
import Stacks from "../src/views/traces/Stacks.svelte";
import Statistics from "../src/views/traces/Statistics.svelte";
import * as states from "../src/views/traces/states.ts";
import { TIMELINE_FAMILY, TIMELINE_SHARED, type TimelineShared } from "../src/view-kit/shared.ts";
import type { AnomaliesReply } from "../src/wire/protocol.ts";
import { usePanels } from "./panels.ts";
import { arrived } from "./timeline-example.ts";

const mounted = usePanels(900, 600);

const NOTHING = 0xffff_ffff;
const item: Item = {
  item: "e1", kind: "experiment", title: "p", name: "p.otf2", format: "OTF2", size_bytes: 0, issues: 0, members: [], has_trace: true, has_calls: true, has_waits: true, has_activations: false, has_chosen_calls: false, components: 0, has_user_events: false, has_gpu_stalls: false, has_links: false, has_counters: false, has_gpus: false, locations: 2, nodes: 0, key: "p", source: "s",
};
const second: Item = { ...item, item: "e2", name: "q.otf2", key: "q" };

/** What an engine would answer about a trace of four tracks, 1 ms long; `solve` takes less in a window. */
function answerTo(name: string, request: Record<string, unknown>, calls = 10, named: Partial<AnomaliesReply> = {}): { reply: object; tables: object } {
  const isWindow = request["from_ns"] !== undefined && request["from_ns"] !== null;
  switch (name) {
    case "timeline":
      return {
        reply: { has_calls: true, origin_ns: "1000", span_ns: 1_000_000, sends: 5, receives: 5, counters: [], components: [] },
        tables: {
          tracks: arrived({ location: Uint32Array.of(0, 1, 2, 3), label: ["rank 0", "rank 1", "rank 2", "rank 3"], calls: Float64Array.of(calls, 10, 10, 10) }),
          functions: arrived({ name: ["main", "solve", "MPI_Send"], group: Uint32Array.of(0, 0, 1), exclusive_ns: Float64Array.of(10, 500, 300), calls: Float64Array.of(4, 40, 40) }),
          groups: arrived({ name: ["TAU_USER", "MPI"], exclusive_ns: Float64Array.of(510, 300), calls: Float64Array.of(44, 40) }),
          contexts: arrived({ context_id: Uint32Array.of(0, 7, 8, 9), parent: Uint32Array.of(NOTHING, 0, 1, 2), function: Uint32Array.of(NOTHING, 0, 1, 2), depth: Uint32Array.of(0, 1, 2, 3) }),
        },
      };
    case "stats": {
      const scale = request["item"] === "e2" ? 2 : 1;
      return {
        reply: { notes: [] },
        tables: {
          rows: arrived({
            name: request["by"] === "context" ? ["main > solve", "main > solve > MPI_Send", "main"] : ["solve", "MPI_Send", "main"], group: ["TAU_USER", "MPI", "TAU_USER"], calls: Float64Array.of(40, 40, 4),
            exclusive_s: Float64Array.of(isWindow ? 0.1 : 0.5 * scale, 0.3, 0.01), inclusive_s: Float64Array.of(0.8, 0.3, 0.81), share_percent: Float64Array.of(isWindow ? 24.4 : 61.7, isWindow ? 73.2 : 37, 1.3),
          }),
        },
      };
    }
    case "find":
      return {
        reply: { total: 2, total_ns: 1500, notes: [] },
        tables: {
          rows: arrived({ track: Uint32Array.of(2, 0), context: Uint32Array.of(3, 3), name: ["MPI_Send", "MPI_Send"], start_ns: Float64Array.of(400_000, 100), end_ns: Float64Array.of(401_000, 600), duration_ns: Float64Array.of(1000, 500) }),
          histogram: arrived({ from_ns: Float64Array.of(256, 512), calls: Float64Array.of(1, 1), total_ns: Float64Array.of(500, 1000) }),
        },
      };
    case "anomalies":
      return {
        reply: { detector: null, is_compared: true, total: 3, found: 3, named: 0, excess_ns: 90_000, compared: 240, too_few: 4, notes: ["Calls of MPI and calls that wait are excluded."], ...named },
        tables: {
          rows: arrived({
            track: Uint32Array.of(2, 0), location: ["rank 2", "rank 0"], context: Uint32Array.of(2, 2), context_id: Uint32Array.of(8, 8), name: ["solve", "solve"],
            start_ns: Float64Array.of(400_000, 100_000), end_ns: Float64Array.of(460_000, 130_000), exclusive_ns: Float64Array.of(60_000, 30_000), found: [true, false], named: [false, true],
            median_ns: Float64Array.of(1000, 1000), times_median: Float64Array.of(60, 30), score: Float64Array.of(40, 33), calls: Float64Array.of(60, 60),
          }),
        },
      };
    case "messages":
      return {
        reply: { notes: [] },
        tables: {
          rows: request["by"] === "size"
            ? arrived({ from_bytes: Float64Array.of(64, 256), messages: Float64Array.of(3, 2), bytes: Float64Array.of(200, 600) })
            : arrived({ sender: ["rank 0", "rank 3"], receiver: ["rank 1", "(not in the trace)"], messages: Float64Array.of(3, 2), bytes: Float64Array.of(200, 600), mean_s: Float64Array.of(1e-6, 2e-6), longest_s: Float64Array.of(1e-6, 3e-6), unmatched: Float64Array.of(0, 1), backwards: Float64Array.of(0, 0) }),
        },
      };
    case "calls":
      return {
        reply: { is_complete: true, calls: 2, shorter: 0 },
        tables: { calls: arrived({ track: Uint32Array.of(0, 0), context: Uint32Array.of(1, 2), depth: Uint32Array.of(1, 2), start_ns: Float64Array.of(0, 100), end_ns: Float64Array.of(1000, 600) }) },
      };
    case "path_at":
      return { reply: {}, tables: { path: arrived({ context: Uint32Array.of(1, 2), name: ["main", "solve"], depth: Uint32Array.of(1, 2), start_ns: Float64Array.of(0, 100), end_ns: Float64Array.of(1000, 600) }) } };
    case "metrics":
      return { reply: { default: "time", metrics: [], has_traces: true }, tables: {} };
    case "stacks":
      return {
        reply: { metric: "time", unit: "s", reason: null, parts: ["solve", "MPI_Send", "(others)"], notes: [] },
        tables: {
          locations: arrived({ location: Uint32Array.of(0, 1, 2, 3), label: ["rank 0", "rank 1", "rank 2", "rank 3"], total: Float64Array.of(3, 2, 4, 1), node: Float64Array.of(0, 0, 1, 1), rank: Float64Array.of(0, 1, 2, 3) }),
          stack: arrived({ location: Uint32Array.of(0, 0, 1, 2, 3), part: Uint32Array.of(0, 1, 0, 0, 2), value: Float64Array.of(1, 2, 2, 4, 1) }),
        },
      };
    case "tile":
      return {
        reply: { first_ns: 0, bin_ns: 500_000, bins: 2 },
        tables: { cells: arrived({ key: Uint32Array.of(1, 2), dominant_ns: Float64Array.of(1, 1), busy_ns: Float64Array.of(1, 1), calls: Float64Array.of(1, 1), depth: Uint32Array.of(2, 3) }) },
      };
    default:
      throw new Error(`no answer to ${name}`);
  }
}

async function show<S extends object>(view: unknown, defaultState: S, given: { shared?: Partial<TimelineShared>; state?: Partial<S>; items?: Item[]; fails?: string; calls?: number; named?: Partial<AnomaliesReply> } = {}): Promise<{ store: Store; links: Links; asked: [string, Record<string, unknown>][]; shared: () => TimelineShared }> {
  const store = new Store();
  const links = new Links(store);
  store.setWorkspace(item.key, () => ({
    layout: null,
    panels: { panel: { view: "panel", version: 1, state: { ...(given.state as object) } } },
    shared: { [TIMELINE_FAMILY]: { ...given.shared } as never },
  }));
  const asked: [string, Record<string, unknown>][] = [];
  const ask = (name: string, request: Record<string, unknown>): Promise<unknown> => {
    asked.push([name, request]);
    return name === given.fails ? Promise.reject(new Error("this experiment has no traces")) : Promise.resolve(answerTo(name, request, given.calls, given.named));
  };
  const client = { kind: "worker", ask, roots: [], dispose: () => undefined } as unknown as EngineClient;
  const state = new PanelSlice(store, item.key, "panel", { defaultState, stateVersion: 1 });
  mounted.push(mount(view as Component<ViewProps<S>>, { target: document.body, props: { panelId: "panel", item, items: given.items ?? [item], client, state, links } }));
  await settled();
  return { store, links, asked, shared: () => ({ ...TIMELINE_SHARED, ...(store.state.desks[item.key]?.shared?.[TIMELINE_FAMILY] as Partial<TimelineShared> | undefined) }) };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) {
    flushSync();
    await Promise.resolve();
  }
  flushSync();
}

const all = (selector: string): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(selector)];
const texts = (testid: string): string[] => all(`[data-testid=${testid}]`).map((one) => one.textContent.trim());
const values = (testid: string): number[] => all(`[data-testid=${testid}]`).map((one) => Number(one.dataset["value"]));
const button = (name: string | RegExp): HTMLElement => {
  const found = all("button").find((one) => (typeof name === "string" ? (one.getAttribute("aria-label") ?? one.textContent.trim()) === name : name.test(one.getAttribute("aria-label") ?? one.textContent)));
  if (found === undefined) throw new Error(`no button ${String(name)}`);
  return found;
};
const rowOf = (testid: string, text: string): HTMLElement => {
  const row = all(`[data-testid=${testid}]`).find((one) => one.textContent.trim() === text)?.closest<HTMLElement>("[role=row]");
  if (row == null) throw new Error(`no row ${text}`);
  return row;
};

describe("statistics", () => {
  test("are of the whole trace until there is a window, unrounded, most expensive first", async () => {
    const { asked } = await show(Statistics, states.STATISTICS_STATE);
    expect(asked.filter(([name]) => name === "stats").map(([, request]) => request)).toEqual([{ item: "e1", tracks: null, by: "function" }]);
    expect(texts("stat-name")).toEqual(["solve", "MPI_Send", "main"]);
    expect(values("stat-exclusive")).toEqual([0.5, 0.3, 0.01]);
    expect(document.body.textContent).toContain("The whole trace");
  });

  test("of a window stand next to those of the whole trace, and say so", async () => {
    const { asked, shared } = await show(Statistics, states.STATISTICS_STATE, { shared: { window: [100_000, 200_000], tracks: [[1, 3]] } });
    expect(asked.filter(([name]) => name === "stats").map(([, request]) => request)).toEqual([
      { item: "e1", tracks: [{ from: 1, to: 3 }], from_ns: 100_000, to_ns: 200_000, by: "function" },
      { item: "e1", tracks: [{ from: 1, to: 3 }], by: "function" },
    ]);
    expect(texts("stat-name")).toEqual(["MPI_Send", "solve", "main"]);
    expect(rowOf("stat-name", "MPI_Send").textContent).toContain("+36.2");
    expect(document.body.textContent).toContain("2 of 4 tracks");
    button("Whole trace").click();
    button("All tracks").click();
    await settled();
    expect([shared().window, shared().tracks]).toEqual([null, null]);
  });

  test("mark the contexts of a function, and take the marks away again", async () => {
    const { links } = await show(Statistics, states.STATISTICS_STATE);
    rowOf("stat-name", "solve").click();
    flushSync();
    expect(links.mark).toEqual([{ kind: "context", item: "p", context: 8 }]);
    expect(links.focus).toEqual({ kind: "context", item: "p", context: 8 });
    rowOf("stat-name", "solve").click();
    flushSync();
    expect(links.mark).toEqual([]);
  });

  test("hide a function in the timeline and show it again, also by keyboard", async () => {
    const { shared } = await show(Statistics, states.STATISTICS_STATE);
    button("Hide MPI_Send in the timeline").click();
    flushSync();
    expect(shared().hidden).toEqual([2]);
    rowOf("stat-name", "MPI_Send").click();
    all("[role=grid]")[0]?.dispatchEvent(new KeyboardEvent("keydown", { key: "Delete", bubbles: true }));
    flushSync();
    expect(shared().hidden).toEqual([]);
  });

  test("focus the context of a call path", async () => {
    const { asked, links } = await show(Statistics, states.STATISTICS_STATE, { state: { by: "context" } });
    expect(asked.at(-1)?.[1]).toMatchObject({ by: "context" });
    rowOf("stat-name", "main › solve › MPI_Send").click();
    flushSync();
    expect(links.focus).toEqual({ kind: "context", item: "p", context: 9 });
  });

  test("say in plain words that there is no trace", async () => {
    await show(Statistics, states.STATISTICS_STATE, { fails: "timeline" });
    expect(document.body.textContent).toContain("No trace");
    expect(document.body.textContent).toContain("This experiment has no traces.");
  });

  test("say what the engine complains about", async () => {
    await show(Statistics, states.STATISTICS_STATE, { fails: "stats" });
    expect(document.body.textContent).toContain("The statistics could not be computed");
  });
});

describe("calls", () => {
  test("are found by name and duration, and one is gone to", async () => {
    const { asked, shared } = await show(Find, states.FIND_STATE, { state: { name: "MPI_*", minNs: 300 } });
    expect(asked.find(([name]) => name === "find")?.[1]).toEqual({ item: "e1", name: "MPI_*", tracks: null, min_ns: 300, max_ns: null, order: "longest", max_rows: 1000 });
    expect(texts("find-row")).toEqual(["MPI_Send", "MPI_Send"]);
    expect(values("find-total")).toEqual([2]);
    const row = rowOf("find-row", "MPI_Send");
    row.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
    flushSync();
    expect(shared()).toMatchObject({ window: [399_500, 401_500], cursorNs: 400_000, track: 2 });
    button("Next call").click();
    button("Next call").click();
    flushSync();
    expect(shared()).toMatchObject({ cursorNs: 100, track: 0 });
  });

  test("that take much longer than others are listed, and one is gone to", async () => {
    const { asked, shared, links } = await show(Anomalies, states.ANOMALIES_STATE);
    expect(asked.find(([name]) => name === "anomalies")?.[1]).toMatchObject({ item: "e1", waiting: false });
    expect(texts("anomalies-name")).toEqual(["solve", "solve"]);
    expect(values("anomalies-exclusive_ns")).toEqual([60_000, 30_000]);
    expect(texts("anomalies-says")[0]).toMatch(/^3 anomalies in 240 calls: 90.*µs above the medians; 2 calls with the largest excess are listed$/);
    rowOf("anomalies-location", "rank 0").dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
    flushSync();
    expect(shared()).toMatchObject({ window: [85_000, 145_000], cursorNs: 100_000, track: 0 });
    expect(links.focus).toEqual({ kind: "context", item: "p", context: 8 });
  });

  test("that a detector named are listed with it, with both reasons and the evidence", async () => {
    await show(Anomalies, states.ANOMALIES_STATE, { named: { detector: "Chimbuko", named: 1 } });
    expect(texts("anomalies-says")[0]).toMatch(/^3 anomalies in 240 calls: .* above the medians; Chimbuko names 1 call; /);
    expect([texts("anomalies-found"), texts("anomalies-named")]).toEqual([["true", "false"], ["false", "true"]]);
    expect([values("anomalies-median_ns"), values("anomalies-times_median"), values("anomalies-score"), values("anomalies-calls")]).toEqual([[1000, 1000], [60, 30], [40, 33], [60, 60]]);
  });

  test("that only a detector named are said to be its choice, without numbers of a comparison", async () => {
    await show(Anomalies, states.ANOMALIES_STATE, { named: { detector: "anomaly.json", is_compared: false, found: 0, named: 3, compared: 0, excess_ns: 0 } });
    expect(texts("anomalies-says")).toEqual(["anomaly.json named 3 anomalies; its file may not contain all calls of the program; 2 calls with the largest exclusive time are listed"]);
    expect(values("anomalies-exclusive_ns")).toEqual([60_000, 30_000]);
    for (const id of ["median_ns", "times_median", "score", "calls", "found", "named"]) expect(texts(`anomalies-${id}`), id).toEqual([]);
  });

  test("are restricted by a brush over the histogram, from its smallest to its largest duration", async () => {
    const { asked, store } = await show(Find, states.FIND_STATE);
    const histogram = all("[data-testid=find-histogram]")[0];
    const press = (key: string, shiftKey = false): void => { histogram?.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true })); flushSync(); };
    histogram?.focus();
    press("ArrowRight");
    press("Enter");
    await settled();
    expect(asked.at(-1)?.[1]).toMatchObject({ min_ns: 512, max_ns: 1023 });
    press("ArrowLeft", true);
    await settled();
    expect(asked.at(-1)?.[1]).toMatchObject({ min_ns: 256, max_ns: 1023 });
    press("Escape");
    await settled();
    expect(asked.at(-1)?.[1]).toMatchObject({ min_ns: null, max_ns: null });
    expect(store.state.desks[item.key]?.panels["panel"]?.state).toMatchObject({ minNs: null });
  });

  test("of a very long trace are not looked through before a name is given", async () => {
    const { asked } = await show(Find, states.FIND_STATE, { calls: 30_000_000 });
    expect(asked.filter(([name]) => name === "find")).toEqual([]);
    expect(document.body.textContent).toContain("Enter a function name");
    const field = all("[data-testid=find-name]")[0];
    if (!(field instanceof HTMLInputElement)) throw new Error("no field");
    field.value = "MPI_*";
    field.dispatchEvent(new Event("change", { bubbles: true }));
    await settled();
    expect(asked.at(-1)).toMatchObject(["find", { name: "MPI_*" }]);
  });

  test("say what is wrong with a duration, and keep the last one", async () => {
    const { asked } = await show(Find, states.FIND_STATE);
    const before = asked.length;
    const field = all("[data-testid=find-min]")[0];
    if (!(field instanceof HTMLInputElement)) throw new Error("no field");
    field.value = "10";
    field.dispatchEvent(new Event("change", { bubbles: true }));
    await settled();
    expect(all("[role=alert]").map((one) => one.textContent)).toEqual(["Add a unit: ns, µs, ms, s or min."]);
    expect(asked.length).toBe(before);
    field.value = "2 µs";
    field.dispatchEvent(new Event("change", { bubbles: true }));
    await settled();
    expect(asked.at(-1)?.[1]).toMatchObject({ min_ns: 2000 });
  });
});

describe("the call stack", () => {
  test("of the chosen track says what is active at the cursor, and focuses it", async () => {
    const { asked, links, shared } = await show(NodeDetail, {}, { shared: { track: 2, cursorNs: 150 } });
    expect(asked.find(([name]) => name === "calls")?.[1]).toMatchObject({ tracks: [{ from: 2, to: 3 }], from_ns: 0, to_ns: 1_000_000 });
    expect(asked.find(([name]) => name === "path_at")?.[1]).toEqual({ item: "e1", track: 2, at_ns: 150 });
    const steps = all("[data-testid=path-step]");
    expect(steps.map((step) => [step.querySelector(".what")?.textContent, step.dataset["start"], step.dataset["end"]])).toEqual([["main", "0", "1000"], ["solve", "100", "600"]]);
    steps[1]?.click();
    flushSync();
    expect(links.focus).toEqual({ kind: "context", item: "p", context: 8 });
    const plot = all("[data-testid=icicle]")[0];
    plot?.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
    await settled();
    expect(shared().track).toBe(3);
    expect(asked.findLast(([name]) => name === "calls")?.[1]).toMatchObject({ tracks: [{ from: 3, to: 4 }] });
  });

  test("zooms and moves by the keys of the timeline", async () => {
    const { shared } = await show(NodeDetail, {}, { shared: { window: [400_000, 600_000] } });
    const press = (key: string): void => { all("[data-testid=icicle]")[0]?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })); flushSync(); };
    press("d");
    expect(shared().window).toEqual([450_000, 650_000]);
    press("a");
    expect(shared().window).toEqual([400_000, 600_000]);
    press("w");
    expect((shared().window?.[1] ?? 0) - (shared().window?.[0] ?? 0)).toBe(100_000);
    press("Home");
    expect(shared().window).toBeNull();
  });

  test("finds calls by depth and moment", () => {
    const levels = levelsOf(arrived({ track: Uint32Array.of(0, 0, 0), context: Uint32Array.of(1, 2, 2), depth: Uint32Array.of(1, 2, 2), start_ns: Float64Array.of(0, 10, 50), end_ns: Float64Array.of(100, 30, 60) }));
    expect([callAt(levels, 0, 99), callAt(levels, 1, 10), callAt(levels, 1, 30), callAt(levels, 1, 55), callAt(levels, 2, 55)]).toEqual([0, 1, -1, 2, -1]);
  });

  test("shows nothing at a depth that no context of the bin reaches", () => {
    const bins = levelBins(arrived({ key: Uint32Array.of(4, 5, NOTHING), dominant_ns: Float64Array.of(1, 1, 0), busy_ns: Float64Array.of(10, 5, 0), calls: Float64Array.of(1, 1, 0), depth: Uint32Array.of(1, 2, 0) }), 0, 10, 2);
    expect([...bins.key]).toEqual([NOTHING, 5, NOTHING]);
    expect([...bins.busy]).toEqual([0, 0.5, 0]);
  });
});

describe("messages", () => {
  test("are a table of pairs with their sums, and a pair restricts the tracks", async () => {
    const { asked, shared } = await show(Messages, states.MESSAGES_STATE, { state: { show: "pairs" } });
    expect(asked.find(([name]) => name === "messages")?.[1]).toEqual({ item: "e1", tracks: null, flows: false, by: "pair" });
    expect(texts("pair-sender")).toEqual(["rank 3", "rank 0"]);
    expect(values("pair-bytes")).toEqual([600, 200]);
    expect(values("message-total")).toEqual([5]);
    expect(document.body.textContent).toContain("1 unmatched message");
    rowOf("pair-sender", "rank 0").dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
    flushSync();
    expect(shared().tracks).toEqual([[0, 2]]);
  });

  test("are a matrix whose cells are read aloud", async () => {
    const { shared } = await show(Messages, states.MESSAGES_STATE);
    const matrix = all("[data-testid=matrix]")[0];
    if (matrix === undefined) throw new Error("no matrix");
    expect(matrix.dataset["size"]).toBe("5");
    matrix.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    flushSync();
    expect(matrix.parentElement?.textContent).toContain("From rank 0 to rank 1: 3 messages");
    matrix.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    flushSync();
    expect(shared().tracks).toEqual([[0, 2]]);
  });

  test("are counted by size without gaps", async () => {
    await show(Messages, states.MESSAGES_STATE, { state: { show: "sizes", quantity: "messages" } });
    expect(all("[data-testid=log-bin]").map((bin) => [bin.dataset["from"], bin.dataset["value"]])).toEqual([["64", "3"], ["256", "2"]]);
  });
});

describe("profiles", () => {
  test("have a bar for each location and a legend that leaves parts out", async () => {
    const { store } = await show(Stacks, states.STACKS_STATE);
    expect(all("[data-testid=stack-bars]")[0]?.dataset["rows"]).toBe("4");
    expect(values("stack-part")).toEqual([7, 2, 1]);
    expect(values("stack-total")).toEqual([10]);
    all("[data-testid=stack-part]")[1]?.click();
    flushSync();
    expect(store.state.desks[item.key]?.panels["panel"]?.state).toMatchObject({ hidden: ["MPI_Send"] });
    expect(all("[data-testid=stack-part]")[1]?.getAttribute("aria-pressed")).toBe("false");
  });

  test("are grouped by a kind that groups, and read aloud", async () => {
    const { links } = await show(Stacks, states.STACKS_STATE, { state: { group: "node", order: "total" } });
    const bars = all("[data-testid=stack-bars]")[0];
    expect(bars?.dataset["rows"]).toBe("6");
    const press = (key: string): void => { bars?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })); flushSync(); };
    press("Home");
    press("ArrowRight");
    expect(document.querySelector("[aria-live]")?.textContent).toMatch(/^rank 0: 3.*s; solve 1/);
    press("Enter");
    expect(links.mark).toEqual([{ kind: "location", item: "p", location: 0 }]);
  });
});

describe("a comparison of two runs", () => {
  test("asks for both in the same window and has the largest difference first", async () => {
    const { asked } = await show(Compare, states.COMPARE_STATE, { items: [item, second] });
    const asks = asked.filter(([name]) => name === "stats").map(([, request]) => request);
    expect(asks).toEqual([{ item: "e1", from_ns: 0, to_ns: 1_000_000, by: "function" }, { item: "e2", from_ns: 0, to_ns: 1_000_000, by: "function" }]);
    expect(texts("difference-name")).toHaveLength(3);
  });

  test("moves the other run by the n-th call of a function", async () => {
    const { asked } = await show(Compare, states.COMPARE_STATE, { items: [item, second], state: { align: "call", functionName: "MPI_Send", nth: 2 }, shared: { window: [100, 500] } });
    expect(asked.filter(([name]) => name === "find").map(([, request]) => request)).toEqual([
      { item: "e1", name: "MPI_Send", order: "first", max_rows: 2 }, { item: "e2", name: "MPI_Send", order: "first", max_rows: 2 },
    ]);
    expect(asked.filter(([name]) => name === "tile").map(([, request]) => [request["from_ns"], request["to_ns"]])).toEqual([[100, 500], [100, 500]]);
  });

  test("says what to do where there is only one trace", async () => {
    await show(Compare, states.COMPARE_STATE);
    expect(document.body.textContent).toContain("Open the trace of another run");
  });
});

describe("counters", () => {
  test("hold their value until the next one, also from before the window", () => {
    const series = counterSeries(arrived({ track: Uint32Array.of(1, 1, 0), bin: Uint32Array.of(NOTHING, 2, 1), min: Float64Array.of(5, 1, 7), max: Float64Array.of(5, 3, 9), last: Float64Array.of(5, 2, 8) }), 4);
    expect(series.map((one) => one.track)).toEqual([0, 1]);
    expect([...(series[1]?.last ?? [])]).toEqual([5, 5, 2, 2]);
    // In the bin with the new value the old one held too.
    expect([...(series[1]?.max ?? [])]).toEqual([5, 5, 5, 2]);
    expect([...(series[0]?.last ?? [])]).toEqual([Number.NaN, 8, 8, 8]);
  });
});
