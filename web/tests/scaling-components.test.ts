import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { EngineClient } from "../src/state/engine.ts";
import type { Item } from "../src/state/item.ts";
import { Links } from "../src/state/links.svelte.ts";
import { PanelSlice } from "../src/state/slice.svelte.ts";
import { Store } from "../src/state/store.svelte.ts";
import Maps from "../src/views/scaling/Maps.svelte";
import Verdict from "../src/views/scaling/Verdict.svelte";
import { MAP_KINDS } from "../src/views/scaling/maps.ts";
import { efficiencyColours } from "../src/widgets/charts/colours.ts";
import LineChart from "../src/widgets/charts/LineChart.svelte";
import MapChart from "../src/widgets/charts/MapChart.svelte";
import type { ScalingReply } from "../src/wire/protocol.ts";
import { exampleAnswer } from "./scaling-example.ts";

beforeAll(() => {
  vi.stubGlobal("ResizeObserver", class { observe(): void {} unobserve(): void {} disconnect(): void {} });
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
});

let mounted: ReturnType<typeof mount>[] = [];

afterEach(async () => {
  await Promise.all(mounted.map((one) => unmount(one)));
  mounted = [];
  document.body.replaceChildren();
});

function all(selector: string): readonly Element[] {
  return [...document.querySelectorAll(selector)];
}

function press(target: Element, key: string): void {
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  flushSync();
}

describe("a chart of lines", () => {
  it("abbreviates a title that is longer than it is wide, and has all of it in the tip", () => {
    const wide = vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(320);
    const long = "#2 MPI_Waitall in hypre_ParCSRPersistentCommHandleWait";
    for (const title of [long, "#1 Whole program"]) {
      const series = [{ id: "i1", name: "i1", colour: "black", points: [{ x: 1, y: 1 }, { x: 2, y: 2 }] }];
      mounted.push(mount(LineChart, { target: document.body, props: { title, series, xTitle: "cores", yTitle: "speedup", xTicks: [], isXLogarithmic: false, isYLogarithmic: false, yText: String, hasBand: false, labelOf: () => "", onpoint: () => undefined } }));
    }
    flushSync();
    wide.mockRestore();
    const shown = all("text.title").map((one) => [one.firstChild?.textContent, one.querySelector("title")?.textContent]);
    expect(shown[0]?.[0]).toMatch(/^#2 MPI_Waitall in hypre.*…$/);
    expect(shown[0]?.[1]).toBe(long);
    expect(shown[1]).toEqual(["#1 Whole program", "#1 Whole program"]);
  });
});

describe("a map", () => {
  function show(isInterpolated: boolean): ReturnType<typeof vi.fn> {
    const onpoint = vi.fn();
    mounted.push(mount(MapChart, {
      target: document.body,
      props: {
        title: "Efficiency #1", help: "Speedup per core.", unit: "%",
        grid: { rows: 2, columns: 2, values: Float64Array.from([1, 0.123456789, Number.NaN, 0.5]) },
        rowLabels: ["1", "4"], columnLabels: ["i1", "i2"], rowTitle: "cores", columnTitle: "inputs", colours: efficiencyColours(),
        isInterpolated, hasNumbers: true, textOf: (value: number) => String(value), tickOf: String,
        labelOf: (row: number, column: number) => `row ${String(row)} column ${String(column)}`, onpoint,
      },
    }));
    flushSync();
    return onpoint;
  }

  it("has the exact value of every cell, and nothing where it is undefined", () => {
    show(false);
    expect(all("[data-testid=map-cell]").map((cell) => cell.getAttribute("data-value"))).toEqual(["1", "0.123456789", "", "0.5"]);
    expect(all("[data-testid=map-cell]")[2]?.getAttribute("fill")).toMatch(/^url/);
  });

  it("moves its current cell by arrow keys, says it, and stays inside", () => {
    const onpoint = show(false);
    const grid = all("[role=grid]")[0];
    if (grid === undefined) throw new Error("no grid");
    press(grid, "ArrowRight");
    press(grid, "ArrowDown");
    press(grid, "ArrowDown");
    expect(onpoint.mock.lastCall?.[0]).toEqual({ row: 1, column: 1 });
    press(grid, "Home");
    expect(onpoint.mock.lastCall?.[0]).toEqual({ row: 1, column: 0 });
    expect(all("[role=gridcell]").map((cell) => cell.getAttribute("aria-label"))).toContain("row 1 column 0");
    press(grid, "Escape");
    expect(onpoint.mock.lastCall?.[0]).toBeNull();
  });

  it("keeps the same cells and values when it is interpolated", () => {
    show(true);
    expect(all("[data-testid=map-cell]").map((cell) => cell.getAttribute("data-value"))).toEqual(["1", "0.123456789", "", "0.5"]);
    expect(all("image.picture").length).toBe(1);
  });
});

describe("views", () => {
  const item: Item = {
    item: "e1", kind: "ensemble", title: "p", name: "p.json", format: "", size_bytes: 0, issues: 0, members: [], has_trace: false, has_calls: false, has_waits: false, has_activations: false, has_chosen_calls: false, components: 0, has_user_events: false, has_gpu_stalls: false, has_links: false, has_counters: false, has_gpus: false, locations: 2, nodes: 0, key: "p", source: "s",
  };

  async function show(view: typeof Maps | typeof Verdict, more: Partial<ScalingReply> = {}): Promise<{ links: Links; store: Store; asked: unknown[] }> {
    const store = new Store();
    const links = new Links(store);
    store.setWorkspace(item.key, () => ({ layout: null, panels: { "scaling.maps": { view: "scaling.maps", version: 1, state: {} } } }));
    const asked: unknown[] = [];
    const ask = (name: string, request: unknown): Promise<unknown> => {
      asked.push([name, request]);
      return Promise.resolve(exampleAnswer(more));
    };
    const client = { kind: "worker", ask, roots: [], dispose: () => undefined } as unknown as EngineClient;
    const state = new PanelSlice(store, item.key, "scaling.maps", { defaultState: { kinds: MAP_KINDS }, stateVersion: 1 });
    mounted.push(mount(view as typeof Maps, { target: document.body, props: { panelId: "scaling.maps", item, items: [item], client, state, links } }));
    await settled();
    return { links, store, asked };
  }

  async function settled(): Promise<void> {
    for (let turn = 0; turn < 4; turn += 1) {
      flushSync();
      await Promise.resolve();
    }
    flushSync();
  }

  const cards = (): readonly (string | null)[] => all("[data-testid=map-card]").map((card) => card.getAttribute("data-region"));
  const mark = (links: Links, ...ids: string[]): void => {
    links.setMark(ids.map((region) => ({ kind: "region", item: item.key, region })));
    flushSync();
  };

  it("show the whole program and the worst region until something is selected", async () => {
    const { links } = await show(Maps);
    expect(cards()).toEqual(["0", "a.1"]);
    mark(links, "b", "a");
    expect(cards()).toEqual(["b", "a"]);
  });

  it("put cards where the keyboard moves them, as one step that can be undone", async () => {
    const { links, store } = await show(Maps);
    mark(links, "0", "a", "b");
    const handle = all("[data-testid=card-handle]")[0];
    if (handle === undefined) throw new Error("no handle");
    press(handle, "ArrowRight");
    expect(cards()).toEqual(["a", "0", "b"]);
    store.undo();
    flushSync();
    expect(cards()).toEqual(["0", "a", "b"]);
  });

  it("offer another baseline where nothing ran on one core, and ask the engine for it", async () => {
    const { asked } = await show(Maps, { baselines: [null, null], worst: null });
    const button = all("button").find((one) => one.textContent.includes("fewest cores"));
    if (!(button instanceof HTMLElement)) throw new Error("no button");
    button.click();
    await settled();
    expect(asked.at(-1)).toMatchObject(["scaling", { item: "e1", view: { baseline: "smallest" } }]);
  });

  it("list what loses most first, and select it by a click", async () => {
    const { links } = await show(Verdict);
    const losses = all("[data-testid=verdict-loss]");
    expect(losses.map((one) => one.getAttribute("data-region"))).toEqual(["a.1", "b", "a.2"]);
    expect(losses.map((one) => one.getAttribute("data-value"))).toEqual(["11", "7", "1"]);
    (losses[1] as HTMLElement).click();
    expect(links.mark).toEqual([{ kind: "region", item: "p", region: "b" }]);
  });
});
