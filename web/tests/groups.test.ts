import { flushSync, mount, type Component } from "svelte";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { EngineClient } from "../src/state/engine.ts";
import type { Item } from "../src/state/item.ts";
import { Links } from "../src/state/links.svelte.ts";
import { PanelSlice } from "../src/state/slice.svelte.ts";
import { Store } from "../src/state/store.svelte.ts";
import { NO_HELPERS } from "../src/view-kit/helpers.ts";
import type { ViewProps } from "../src/view-kit/plugin.ts";
import { isDescription, setHostFiles } from "../src/views/groups/host-files.svelte.ts";
import Groups from "../src/views/groups/Groups.svelte";
import { membersOf } from "../src/views/groups/members.ts";
import { groupBins } from "../src/views/groups/plot.ts";
import Racks from "../src/views/groups/Racks.svelte";
import { GROUPS_STATE, RACKS_STATE } from "../src/views/groups/states.ts";
import { nearest, padded, pixel } from "../src/widgets/plots/scatter.ts";
import { usePanels } from "./panels.ts";
import { arrived } from "./timeline-example.ts";

const mounted = usePanels(800, 400);

beforeAll(() => { Element.prototype.scrollIntoView = () => undefined; });
afterEach(() => { setHostFiles("p", { hosts: [], description: null }); });

const item: Item = { item: "e1", kind: "experiment", title: "p", name: "p", format: "HPCToolkit 4.0", size_bytes: 0, issues: 0, members: [], has_trace: false, has_calls: false, has_waits: false, has_activations: false, has_chosen_calls: false, components: 0, has_user_events: false, has_gpu_stalls: false, has_links: false, has_counters: false, has_gpus: false, locations: 2, nodes: 0, key: "p", source: "s" };

const HELPERS = `${NO_HELPERS}: 4 locations (progress of MPI: 4).`;

/** Four ranks on two nodes: those on the second one are slow in MPI_Allreduce. */
function answerTo(name: string, request: Record<string, unknown>): { reply: object; tables: object } {
  if (name === "clusters") {
    return {
      reply: { findings: ["2 groups: 3 locations; 1 location"], member: "location", sizes: [3, 1], features: ["MPI_Allreduce · CPUTIME"], units: ["s"], axis_shares: [1, 0], notes: request["helpers"] === true ? [] : [HELPERS] },
      tables: {
        members: arrived({ "location": Uint32Array.of(1, 2, 3, 4), "label": ["rank 0", "rank 1", "rank 2", "rank 3"], "node": Float64Array.of(7, 7, 8, 8), "group": Float64Array.of(1, 1, 1, 2), "axis_1": Float64Array.of(-0.6, -0.5, -0.4, 1.7), "axis_2": Float64Array.of(0, 0, 0, 0), "MPI_Allreduce · CPUTIME": Float64Array.of(0.6, 0.7, 0.8, 2.7) }),
        features: arrived({ feature: ["MPI_Allreduce · CPUTIME"], eta_squared: Float64Array.of(0.98), cohens_d: Float64Array.of(20), balance_ratio: Float64Array.of(0.44), used: Float64Array.of(1) }),
        stability: arrived({ of: ["all"], k: Float64Array.of(2), first: Float64Array.of(1), second: Float64Array.of(2), shared_nodes: Float64Array.of(1) }),
        scores: arrived({ k: Float64Array.of(1, 2), explained_percent: Float64Array.of(0, 98), silhouette: Float64Array.of(0, 0.9), chosen: Float64Array.of(0, 1) }),
      },
    };
  }
  const hosts = request["hosts"] as unknown[];
  const racks = hosts.length === 0 ? [] : [{ name: "x4100", group: null, rows: [{ label: "c1", cells: [1, null] }, { label: "c0", cells: [0, 2] }] }];
  return {
    reply: { findings: ["group 2 (2.70 s): all 2 nodes are in one rack"], sizes: [1, 2], feature: "MPI_Allreduce · CPUTIME", unit: "s", racks, unplaced: hosts.length === 0 ? 3 : 0, notes: [] },
    tables: {
      nodes: arrived({ host_id: ["0x01", "0x02", "0x03"], address: ["10.0.0.1", "10.0.0.2", "10.0.0.3"], name: ["x4100c0s0b0n0", "x4100c1s0b0n0", "x4100c0s1b0n0"], group: Float64Array.of(1, 2, 2), value: Float64Array.of(0.7, 2.7, 2.6) }),
      members: arrived({ location: Uint32Array.of(1, 2, 3, 4), node: Float64Array.of(1, 2, 2, 3) }),
    },
  };
}

async function show<S extends object>(view: unknown, defaultState: S, state: Partial<S> = {}): Promise<{ links: Links; asked: [string, Record<string, unknown>][] }> {
  const store = new Store();
  const links = new Links(store);
  store.setWorkspace(item.key, () => ({ layout: null, panels: { panel: { view: "panel", version: 1, state: { ...(state as object) } } }, shared: {} }));
  const asked: [string, Record<string, unknown>][] = [];
  const ask = (name: string, request: Record<string, unknown>): Promise<unknown> => {
    asked.push([name, request]);
    return Promise.resolve(answerTo(name, request));
  };
  const client = { kind: "worker", ask, roots: [], dispose: () => undefined } as unknown as EngineClient;
  const slice = new PanelSlice(store, item.key, "panel", { defaultState, stateVersion: 1 });
  mounted.push(mount(view as Component<ViewProps<S>>, { target: document.body, props: { panelId: "panel", item, items: [item], client, state: slice, links } }));
  await settled();
  return { links, asked };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) {
    flushSync();
    await Promise.resolve();
  }
  flushSync();
}

const one = (selector: string): HTMLElement => {
  const found = document.querySelector<HTMLElement>(selector);
  if (found === null) throw new Error(`nothing is ${selector}`);
  return found;
};
/** Units stand behind narrow blanks. */
const plain = (text: string | null): string => (text ?? "").replace(/[\u00a0\u202f]/g, " ");
const press = (on: HTMLElement, key: string): void => {
  on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  flushSync();
};

describe("plots of groups", () => {
  test("ranges have room at both ends, also of one value and of none", () => {
    expect(padded(Float64Array.of(0, 10))).toEqual([-0.5, 10.5]);
    expect(padded(Float64Array.of(2))).toEqual([1.9, 2.1]);
    expect(padded(new Float64Array())).toEqual([0, 1]);
    expect(pixel(5, [0, 10], 100, 50)).toBe(125);
  });

  test("the nearest point within reach is found, or none", () => {
    const [xs, ys] = [Float64Array.of(0, 10, 20), Float64Array.of(0, 10, 0)];
    expect(nearest(xs, ys, 11, 8, 5)).toBe(1);
    expect(nearest(xs, ys, 40, 40, 5)).toBe(-1);
  });

  test("values are counted by group on one scale, members in no group last", () => {
    const bins = groupBins(Float64Array.of(0, 1, 9, 10, 5), Float64Array.of(2, 2, 1, 1, Number.NaN), 10);
    expect(bins.map((own) => [own.group, own.members, own.mean, own.min, own.max])).toEqual([[1, 2, 9.5, 9, 10], [2, 2, 0.5, 0, 1], [0, 1, 5, 5, 5]]);
    expect(bins[0]?.counts).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    expect(bins[1]?.counts.slice(0, 2)).toEqual([1, 1]);
  });

  test("descriptions of systems are told from host tables", () => {
    expect(isDescription("name = a\nnode = r{rack}c{chassis}\n")).toBe(true);
    expect(isDescription("hostid,xname\n1,x1c0s0b0n0\n")).toBe(false);
  });
});

describe("groups", () => {
  test("are told in sentences, and arrow keys go through the points from left to right", async () => {
    const { asked, links } = await show(Groups, GROUPS_STATE);
    expect(asked).toEqual([["clusters", { item: "e1", helpers: false, by: "profile", method: "dbscan", k: null, contexts: null }]]);
    expect(one("[data-testid=groups-findings]").textContent).toContain("2 groups: 3 locations; 1 location");
    const plot = one("[data-testid=groups-scatter]");
    press(plot, "End");
    const said = (): string => plot.parentElement?.querySelector("[aria-live]")?.textContent ?? "";
    expect(said()).toMatch(/^rank 3, cluster 2: /);
    await vi.waitFor(() => { expect(links.hover).toEqual({ kind: "location", item: "p", location: 4 }); });
    press(plot, "ArrowLeft");
    expect(said()).toMatch(/^rank 2, cluster 1: /);
  });

  test("mark their members in all views", async () => {
    const { links } = await show(Groups, GROUPS_STATE);
    const buttons = [...document.querySelectorAll<HTMLElement>(".legend button")];
    expect(buttons.map((own) => own.textContent.trim())).toEqual(["cluster 1: 3 locations", "cluster 2: 1 location"]);
    buttons[1]?.click();
    flushSync();
    expect(links.mark).toEqual([{ kind: "location", item: "p", location: 4 }]);
  });

  test("show how each one is spread, and the numbers", async () => {
    await show(Groups, GROUPS_STATE, { show: "distribution" });
    const lines = [...document.querySelectorAll("[data-testid=groups-shapes] p")].map((own) => own.textContent);
    expect(lines[0]).toContain("cluster 1");
    expect(lines[1]).toMatch(/cluster 2\s+1 location/);
  });

  test("are asked for by nodes and by k-means with a given k", async () => {
    const { asked } = await show(Groups, GROUPS_STATE, { by: "node", method: "kmeans", k: 3, show: "tables" });
    expect(asked[0]?.[1]).toEqual({ item: "e1", helpers: false, by: "node", method: "kmeans", k: 3, contexts: null });
    expect(document.body.textContent).toContain("1 and 2");
  });
});

describe("racks", () => {
  test("need a host table, and say which", async () => {
    await show(Racks, RACKS_STATE);
    expect(document.body.textContent).toContain("3 nodes, racks unknown");
    expect(document.body.textContent).toContain("hostid and xname");
  });

  test("show every node with its group, and arrow keys go from node to node", async () => {
    setHostFiles("p", { hosts: [{ name: "h.csv", text: "hostid,xname\n" }], description: null });
    const { asked, links } = await show(Racks, RACKS_STATE, { system: "aurora" });
    expect(asked[0]?.[1]).toMatchObject({ item: "e1", hosts: [{ name: "h.csv" }], system: "aurora", description: null });
    const cells = [...document.querySelectorAll<HTMLElement>("[role=option]")];
    expect(cells.map((own) => [own.textContent, plain(own.getAttribute("aria-label"))])).toEqual([
      ["2", "x4100c1s0b0n0, cluster 2, 2.700 s"],
      ["1", "x4100c0s0b0n0, cluster 1, 700.0 ms"],
      ["2", "x4100c0s1b0n0, cluster 2, 2.600 s"],
    ]);
    const map = one("[data-testid=racks-map]");
    press(map, "End");
    const active = document.getElementById(map.getAttribute("aria-activedescendant") ?? "");
    expect(active?.getAttribute("aria-label")).toMatch(/^x4100c0s1b0n0/);
    expect(one("[data-testid=racks-active]").textContent).toContain("host id 0x03");

    // What runs on a node is marked in all views: of the current one by key, of any by click.
    press(map, "Enter");
    expect(links.mark).toEqual([{ kind: "location", item: "p", location: 4 }]);
    flushSync();
    expect(active?.getAttribute("aria-selected")).toBe("true");
    cells[0]?.click();
    expect(links.mark.map((thing) => "location" in thing && thing.location)).toEqual([2, 3]);
    cells[1]?.dispatchEvent(new MouseEvent("click", { bubbles: true, ctrlKey: true }));
    expect(links.mark.map((thing) => "location" in thing && thing.location)).toEqual([2, 3, 1]);
    cells[0]?.dispatchEvent(new MouseEvent("click", { bubbles: true, ctrlKey: true }));
    expect(links.mark.map((thing) => "location" in thing && thing.location)).toEqual([1]);
  });

  test("show costs instead of groups", async () => {
    setHostFiles("p", { hosts: [{ name: "h.csv", text: "hostid,xname\n" }], description: null });
    await show(Racks, RACKS_STATE, { show: "value" });
    const fills = [...document.querySelectorAll<HTMLElement>("[role=option]")].map((own) => own.style.background);
    expect(new Set(fills).size).toBe(3);
    expect(document.body.textContent).toContain("mean of each node");
  });
});

test("locations are joined with the nodes that they run on", () => {
  const { of, nodeOf } = membersOf([0xa, 0xb], [0xb, 0xa, 0xb, Number.NaN, 0xc], [3, 5, 7, 8, 9]);
  expect(of).toEqual([[5], [3, 7]]);
  expect([3, 5, 7, 8, 9].map((location) => nodeOf.get(location))).toEqual([1, 0, 1, undefined, undefined]);
});

test("helper threads are excluded visibly, and included when asked for", async () => {
  const { asked } = await show(Groups, GROUPS_STATE);
  const button = [...document.querySelectorAll("button")].find((found) => found.textContent === "Helper threads excluded: show");
  expect(button).toBeDefined();
  expect(asked.at(-1)?.[1]["helpers"]).toBe(false);
  button?.click();
  await settled();
  expect(asked.at(-1)?.[1]["helpers"]).toBe(true);
  expect(document.body.textContent).not.toContain("Helper threads excluded");
});
