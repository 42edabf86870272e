import { flushSync, mount, type Component } from "svelte";
import { describe, expect, test } from "vitest";
import type { EngineClient } from "../src/state/engine.ts";
import type { Item } from "../src/state/item.ts";
import { Links } from "../src/state/links.svelte.ts";
import { PanelSlice } from "../src/state/slice.svelte.ts";
import { Store } from "../src/state/store.svelte.ts";
import Execution from "../src/views/lanes/Execution.svelte";
import { LANES_FAMILY, LANES_SHARED, LANES_STATE, THREADS_STATE, type LanesShared, type LanesState, type ThreadsState } from "../src/views/lanes/states.ts";
import Threads from "../src/views/lanes/Threads.svelte";
import type { ViewProps } from "../src/view-kit/plugin.ts";
import { usePanels } from "./panels.ts";
import { arrived } from "./timeline-example.ts";

const mounted = usePanels(1000, 600);

const item: Item = {
  item: "e1", kind: "experiment", title: "p", name: "p.db", format: "Parceive", size_bytes: 0, issues: 0, members: [], has_trace: false, has_calls: false, has_waits: false, has_activations: true, has_chosen_calls: false, components: 0, has_user_events: false, has_gpu_stalls: false, has_links: false, has_counters: false, has_gpus: false, locations: 2, nodes: 0, key: "p", source: "s",
};

/** Calls as the engine has them: number, parent, start and length. Calls 0 and 10 are the entries of threads 0 and 1; 2 and 4 are of one function. */
const CALLS: Readonly<Record<number, readonly [name: string, context: number, level: number, start: number, length: number]>> = {
  0: ["main", 1, 0, 0, 1000],
  2: ["solve", 2, 1, 100, 300],
  3: ["dot", 3, 2, 150, 4],
  4: ["solve", 2, 1, 500, 200],
  10: ["worker", 9, 0, 600, 300],
  11: ["dot", 8, 1, 700, 90],
};
const BELOW: Readonly<Record<number, readonly number[]>> = { 0: [0, 2, 3, 4], 2: [2, 3], 4: [4], 3: [3], 10: [10, 11], 11: [11] };

/** What an engine answers about two threads, of which the first started the second in `main` at line 12. */
function answerTo(name: string, request: Record<string, unknown>): { reply: object; tables: object } {
  const ids = (request["ids"] ?? []) as number[];
  switch (`${name} ${String(request["kind"] ?? "")}`) {
    case "entities thread":
      return {
        reply: { left_out: 0, notes: [] },
        tables: {
          rows: arrived({
            thread: Uint32Array.of(0, 1), name: ["Thread 0", "Thread 1"], entry: Uint32Array.of(0, 10), creator: [null, 0], created_by: [null, 0],
            created_line: [null, 12], start_ns: Float64Array.of(0, 600), length_ns: Float64Array.of(1000, 300), calls: Float64Array.of(4, 2),
          }),
        },
      };
    case "related thread":
      return { reply: { left_out: 0, notes: [] }, tables: { rows: arrived({ of: Uint32Array.of(0, 1), activation: Uint32Array.of(0, 10), context_id: Uint32Array.of(1, 9) }) } };
    case "entities activation":
      // A loop of `main` did it, as far as the engine knows.
      return { reply: { left_out: 0, notes: [] }, tables: { rows: arrived({ activation: Uint32Array.from(ids), name: ids.map(() => "loop at p.c:11"), context_id: Uint32Array.from(ids, (id) => CALLS[id]?.[1] ?? 0), function: Uint32Array.from(ids, () => 3) }) } };
    case "entities function":
      return { reply: { left_out: 0, notes: [] }, tables: { rows: arrived({ function: Uint32Array.from(ids), name: ids.map(() => "main") }) } };
    case "related activation":
      return { reply: { left_out: 0, notes: [] }, tables: { rows: arrived({ of: Uint32Array.from(ids), activation: new Uint32Array(ids.length), context_id: Uint32Array.from(ids, () => 1) }) } };
    case "lanes ": {
      const tops = request["tops"] as number[];
      const rows = tops.flatMap((top, at) => {
        const base = CALLS[top];
        const least = ((base?.[4] ?? 0) * Number(request["below_percent"])) / 100;
        return (BELOW[top] ?? []).flatMap((id) => {
          const call = CALLS[id];
          return call === undefined || base === undefined || call[4] < least ? [] : [{ lane: at, id, level: call[2] - base[2], call }];
        });
      });
      return {
        reply: { left_out: tops.map((top, at) => (BELOW[top] ?? []).length - rows.filter((row) => row.lane === at).length), notes: [] },
        tables: {
          rows: arrived({
            lane: Uint32Array.from(rows, (row) => row.lane), activation: Uint32Array.from(rows, (row) => row.id), kind: rows.map(() => "call"), name: rows.map((row) => row.call[0]),
            context_id: Uint32Array.from(rows, (row) => row.call[1]), level: Uint32Array.from(rows, (row) => row.level), start_ns: Float64Array.from(rows, (row) => row.call[3]),
            length_ns: Float64Array.from(rows, (row) => row.call[4]), count: Float64Array.from(rows, () => 1), iterations: Float64Array.from(rows, () => Number.NaN),
          }),
        },
      };
    }
    default:
      throw new Error(`no answer to ${name}`);
  }
}

interface Shown<S> {
  readonly store: Store;
  readonly links: Links;
  readonly asked: [string, Record<string, unknown>][];
  readonly opened: string[];
  state(): S;
  shared(): LanesShared;
}

async function show<S extends object>(view: unknown, defaultState: S, given: { shared?: Partial<LanesShared>; state?: Partial<S>; fails?: string } = {}): Promise<Shown<S>> {
  const store = new Store();
  const links = new Links(store);
  store.setWorkspace(item.key, () => ({ layout: null, panels: { panel: { view: "panel", version: 1, state: { ...(given.state as object) } } }, shared: { [LANES_FAMILY]: { ...given.shared } as never } }), { undoable: false });
  const asked: [string, Record<string, unknown>][] = [];
  const opened: string[] = [];
  const ask = (name: string, request: Record<string, unknown>): Promise<unknown> => {
    asked.push([name, request]);
    return name === given.fails ? Promise.reject(new Error("this experiment has no single calls")) : Promise.resolve(answerTo(name, request));
  };
  const client = { kind: "worker", ask, roots: [], dispose: () => undefined } as unknown as EngineClient;
  const state = new PanelSlice(store, item.key, "panel", { defaultState, stateVersion: 1 });
  const props = { panelId: "panel", item, items: [item], client, state, links, show: (id: string) => opened.push(id) };
  mounted.push(mount(view as Component<ViewProps<S>>, { target: document.body, props: props as unknown as ViewProps<S> }));
  await settled();
  return {
    store, links, asked, opened,
    state: () => ({ ...defaultState, ...(store.state.desks[item.key]?.panels["panel"]?.state as Partial<S> | undefined) }),
    shared: () => ({ ...LANES_SHARED, ...(store.state.desks[item.key]?.shared?.[LANES_FAMILY] as Partial<LanesShared> | undefined) }),
  };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) {
    flushSync();
    await Promise.resolve();
  }
  flushSync();
}

const all = (selector: string): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(selector)];
const one = (testid: string): HTMLElement => {
  const found = all(`[data-testid=${testid}]`)[0];
  if (found === undefined) throw new Error(`no ${testid}`);
  return found;
};
const press = async (key: string): Promise<void> => {
  one("lanes").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  await settled();
};
const says = (): string => all("[aria-live=polite]").map((each) => each.textContent).join("");
const button = (name: string): HTMLElement => {
  const found = all("button").find((each) => (each.getAttribute("aria-label") ?? each.textContent.trim()) === name);
  if (found === undefined) throw new Error(`no button ${name}`);
  return found;
};
const tops = (asked: Shown<object>["asked"]): unknown => asked.filter(([name]) => name === "lanes").at(-1)?.[1]["tops"];

describe("execution", () => {
  const execution = (given: Parameters<typeof show<LanesState>>[2] = {}): Promise<Shown<LanesState>> => show(Execution, LANES_STATE, given);

  test("has a lane for each thread, which says who started it", async () => {
    await execution();
    expect(all("[data-testid=lane-head]").map((head) => head.textContent.replace(/\s+/g, " "))).toEqual([
      expect.stringContaining("Thread 0 main thread"),
      expect.stringContaining("Thread 1 started by thread 0 at line 12"),
    ]);
    expect(one("lanes").dataset["bars"]).toBe("5");
    expect([one("lanes").dataset["from"], one("lanes").dataset["to"]]).toEqual(["0", "1000"]);
  });

  test("walks over calls and lanes by keyboard, and says what is there", async () => {
    const { links } = await execution();
    await press("ArrowDown");
    expect(says()).toContain("main");
    await press("ArrowDown");
    expect(says()).toMatch(/^solve, 300\sns, from 0\.100\sµs, 30\.0\s% of the top, Thread 0/u);
    expect(links.focus).toEqual({ kind: "context", item: "p", context: 2 });
    await press("ArrowRight");
    expect(says()).toContain("200");
    await press("ArrowDown");
    expect(says()).toContain("worker");
    await press("ArrowUp");
    expect(says()).toContain("main");
    await press(" ");
    expect(links.mark).toEqual([{ kind: "context", item: "p", context: 1 }]);
  });

  test("zooms into a call, which narrows the time of all lanes and shows what was too short", async () => {
    const { asked, state, store } = await execution();
    expect(one("lanes-left-out").dataset["value"]).toBe("1");
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await press(key);
    expect(state().zooms).toEqual([{ thread: 0, activation: 2 }]);
    expect(tops(asked)).toEqual([2, 10]);
    expect([one("lanes").dataset["from"], one("lanes").dataset["to"]]).toEqual(["100", "400"]);
    expect(document.querySelector("[data-testid=lanes-left-out]")).toBeNull();
    await press("ArrowDown");
    expect(says()).toContain("dot");
    await press("Backspace");
    expect([tops(asked), one("lanes").dataset["to"]]).toEqual([[0, 10], "1000"]);
    store.undo();
    await settled();
    expect(tops(asked)).toEqual([2, 10]);
  });

  test("Enter on the top of a zoomed lane goes back, and Reset zoom does so for all lanes", async () => {
    const { state } = await execution({ state: { zooms: [{ thread: 0, activation: 2 }, { thread: 1, activation: 11 }] } });
    expect([one("lanes").dataset["from"], one("lanes").dataset["to"]]).toEqual(["700", "790"]);
    // The lane of `solve` has nothing in this time, so that the first key leads to the other one.
    await press("ArrowDown");
    await press("Enter");
    expect(state().zooms).toEqual([{ thread: 0, activation: 2 }]);
    button("Reset zoom").click();
    await settled();
    expect(state().zooms).toEqual([]);
  });

  test("asks again when the least share changes, and keeps only the newest answer", async () => {
    const { asked, shared } = await execution();
    const slider = one("lanes-below") as HTMLInputElement;
    for (const value of ["25", "31"]) {
      slider.value = value;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      flushSync();
    }
    await settled();
    expect(shared().belowPercent).toBe(31);
    expect(asked.filter(([name]) => name === "lanes").map(([, request]) => request["below_percent"])).toEqual([1, 25, 31]);
    expect(one("lanes").dataset["bars"]).toBe("2");
    expect(one("lanes-left-out").dataset["value"]).toBe("4");
  });

  test("shows any time window by the wheel, and Backspace shows all of it again", async () => {
    const { state } = await execution();
    one("lanes").dispatchEvent(new WheelEvent("wheel", { deltaY: -500, ctrlKey: true, clientX: 500, bubbles: true, cancelable: true }));
    await settled();
    const [from, to] = state().window ?? [0, 0];
    expect(from).toBeGreaterThan(0);
    expect([one("lanes").dataset["from"], one("lanes").dataset["to"]]).toEqual([String(from), String(to)]);
    expect(to - from).toBeLessThan(500);
    await press("Backspace");
    expect(state().window).toBeNull();
    expect(one("lanes").dataset["to"]).toBe("1000");
  });

  test("puts calls together on request, each lane on an axis of its own", async () => {
    const { asked, state } = await execution();
    all("input[type=radio]").find((input) => (input as HTMLInputElement).value === "merged")?.click();
    await settled();
    expect(state().isMerged).toBe(true);
    expect(asked.filter(([name]) => name === "lanes").at(-1)?.[1]).toMatchObject({ is_merged: true, loops: false });
    expect(document.body.textContent).toContain("100 %");
    expect(all("[data-testid=lane-head]")[1]?.textContent.replace(/\s/gu, " ")).toContain("23.1 % of all threads");
  });

  test("lanes are removed, and the choice can be undone", async () => {
    const { shared, store, opened } = await execution();
    button("Remove Thread 1").click();
    await settled();
    expect(shared().threads).toEqual([0]);
    expect(all("[data-testid=lane-head]")).toHaveLength(1);
    button("Threads: 1 of 2").click();
    expect(opened).toEqual(["calls.threads"]);
    store.undo();
    await settled();
    expect(all("[data-testid=lane-head]")).toHaveLength(2);
    button("Remove Thread 0").click();
    await settled();
    button("Remove Thread 1").click();
    await settled();
    button("Show threads").click();
    await settled();
    expect(all("[data-testid=lane-head]")).toHaveLength(2);
  });

  test("says what lies outside the part that all views show", async () => {
    const { links, asked } = await execution({ state: { zooms: [{ thread: 0, activation: 2 }] } });
    links.setSpot({ item: "p", context: 77 });
    await settled();
    expect(document.body.textContent).toContain("is not among these calls");
    // `main` is around the zoomed call, which only the engine knows.
    links.setSpot({ item: "p", context: 1 });
    await settled();
    expect(asked.some(([name, request]) => name === "related" && request["relation"] === "ancestors")).toBe(true);
    expect(document.body.textContent).toContain("Calls outside the selected part");
    button("Show everything").click();
    await settled();
    expect(links.spot).toBeNull();
  });

  test("says why there is nothing", async () => {
    await execution({ fails: "lanes" });
    expect(document.body.textContent).toContain("This experiment has no single calls.");
  });
});

describe("threads", () => {
  const threads = (given: Parameters<typeof show<ThreadsState>>[2] = {}): Promise<Shown<ThreadsState>> => show(Threads, THREADS_STATE, given);
  const texts = (testid: string): string[] => all(`[data-testid=${testid}]`).map((each) => each.textContent.trim());

  test("say who started them, where, and how long they run", async () => {
    await threads();
    expect(texts("thread-name")).toEqual(["Thread 0", "Thread 1"]);
    expect(texts("thread-place")).toEqual(["–", "main, line 12"]);
    expect(all("[data-testid=thread-bar]").map((bar) => [bar.style.left, bar.style.width])).toEqual([["0%", "100%"], ["60%", "30%"]]);
    expect(all("[role=row][aria-level]").map((row) => row.getAttribute("aria-level"))).toEqual(["1", "2"]);
  });

  test("that are selected get a lane", async () => {
    const { shared, opened } = await threads({ shared: { threads: [0] } });
    expect(texts("thread-lane")).toEqual(["shown"]);
    all("[data-testid=thread-check]")[1]?.click();
    await settled();
    button("Show 1 thread in Execution").click();
    await settled();
    expect(shared().threads).toEqual([0, 1]);
    expect(opened).toEqual(["calls.lanes"]);
    expect(texts("thread-lane")).toHaveLength(2);
  });

  test("lead to the one that started them, and to the call that did", async () => {
    const { links } = await threads();
    one("thread-creator").click();
    await settled();
    expect(links.focus).toEqual({ kind: "context", item: "p", context: 1 });
    expect(document.querySelector("[role=treegrid]")?.getAttribute("aria-activedescendant")).toMatch(/-0$/);
  });

  test("that are shorter than the least share are called so, not by colour alone", async () => {
    await threads({ shared: { belowPercent: 40 } });
    expect(texts("thread-short")).toEqual(["below 40 %"]);
    expect(one("threads-short").dataset["value"]).toBe("1");
  });

  test("are sorted by column", async () => {
    const { state } = await threads({ state: { isTree: false } });
    all("[role=columnheader] button").find((head) => head.textContent.includes("Time"))?.click();
    await settled();
    expect(state().sort).toEqual({ column: "length", descending: true });
    expect(texts("thread-name")).toEqual(["Thread 0", "Thread 1"]);
    all("[role=columnheader] button").find((head) => head.textContent.includes("Time"))?.click();
    await settled();
    expect(texts("thread-name")).toEqual(["Thread 1", "Thread 0"]);
  });
});
