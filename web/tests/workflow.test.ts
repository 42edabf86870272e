import { flushSync, mount } from "svelte";
import { describe, expect, it, test } from "vitest";
import type { EngineClient } from "../src/state/engine.ts";
import type { Item } from "../src/state/item.ts";
import { Links } from "../src/state/links.svelte.ts";
import { PanelSlice } from "../src/state/slice.svelte.ts";
import { Store } from "../src/state/store.svelte.ts";
import { NO_FILTER, PROFILE_FAMILY, type Filter } from "../src/view-kit/filter.ts";
import { loadViews } from "../src/views/registry.ts";
import { WORKFLOW_STATE, type WorkflowState } from "../src/views/traces/states.ts";
import Workflow from "../src/views/traces/Workflow.svelte";
import { arrowsOf, BOX_WIDTH, columnsOf, drawingOf, type Exchange, type WorkflowComponent } from "../src/views/traces/workflow-graph.ts";
import { usePanels } from "./panels.ts";
import { arrived } from "./timeline-example.ts";

function exchange(from: number, to: number, by: string, name = "", bytes = 100, count = 2): Exchange {
  return { from, to, by, name, count, bytes, senders: 1, receivers: 1, firstNs: 10, lastNs: 20, isDescribed: by === "dependency" };
}

function component(name: string): WorkflowComponent {
  return { name, application: 0, ranks: 2, locations: 2, startNs: 0, endNs: 100, busyPercent: 50, hosts: "n1", command: "", dependsOn: "" };
}

describe("the drawing of a workflow", () => {
  it("has one arrow for each pair and each way, with the sums of its files", () => {
    const arrows = arrowsOf([exchange(0, 1, "file", "a", 300), exchange(0, 1, "file", "b", 50, 3), exchange(0, 1, "message"), exchange(-1, 1, "message"), exchange(1, 1, "message", "", 7, 1)]);
    expect(arrows.map((arrow) => [arrow.from, arrow.to, arrow.what, arrow.amount.replace(/[\u202f\u00a0]/g, " "), arrow.rows])).toEqual([
      [0, 1, "2 files", "5 reads, 350 B", [0, 1]], [0, 1, "messages", "2 messages, 100 B", [2]], [1, 1, "messages", "1 message, 7 B", [4]],
    ]);
  });

  it("adds up nothing of which a part is not known", () => {
    const [arrow] = arrowsOf([exchange(0, 1, "file", "a"), exchange(0, 1, "file", "b", Number.NaN, Number.NaN)]);
    expect([arrow?.bytes, arrow?.count, arrow?.amount]).toEqual([Number.NaN, Number.NaN, ""]);
  });

  it("places components after those that they take data from", () => {
    const chain = arrowsOf([exchange(2, 0, "file"), exchange(0, 1, "file"), exchange(2, 1, "dependency")]);
    expect(columnsOf(3, chain)).toEqual([1, 2, 0]);
    // Answers are smaller than what they answer.
    expect(columnsOf(2, arrowsOf([exchange(0, 1, "message", "", 8), exchange(1, 0, "message", "", 900)]))).toEqual([1, 0]);
    // A circle ends somewhere.
    const circle = columnsOf(3, arrowsOf([exchange(0, 1, "file"), exchange(1, 2, "file"), exchange(2, 0, "file")]));
    expect([...circle].sort((a, b) => a - b)).toEqual([0, 1, 2]);
    expect(columnsOf(2, [])).toEqual([0, 0]);
  });

  it("has boxes that do not overlap, and wider arrows for more bytes", () => {
    const components = ["a", "b", "c", "d"].map((name) => component(name));
    const arrows = arrowsOf([exchange(0, 1, "file", "x", 1_000_000), exchange(0, 2, "message", "", 100), exchange(0, 3, "ADIOS", "y", 100), exchange(3, 3, "message")]);
    const { boxes, lines, width, height } = drawingOf(components, arrows);
    for (const [at, box] of boxes.entries()) {
      expect(box.x + BOX_WIDTH).toBeLessThanOrEqual(width);
      expect(box.y + box.height).toBeLessThanOrEqual(height);
      for (const other of boxes.slice(at + 1)) expect(box.x !== other.x || box.y + box.height <= other.y || other.y + other.height <= box.y).toBe(true);
    }
    expect(lines[0]?.width).toBeGreaterThan((lines[1]?.width ?? 0) + 5);
  });
});

const mounted = usePanels(900, 600);
const item: Item = {
  item: "e1", kind: "experiment", title: "flow", name: "flow.json", format: "TAU workflow profile", size_bytes: 0, issues: 0, members: [], has_trace: false, has_calls: false, has_waits: false, has_activations: false, has_chosen_calls: false, components: 2, has_user_events: false, has_gpu_stalls: false, has_links: false, has_counters: false, has_gpus: false, locations: 3, nodes: 0, key: "p", source: "s",
};

test("a component that is chosen restricts the profile views to its locations, and once more shows all", async () => {
  const client = {
    ask: (name: string) => {
      expect(name).toBe("workflow");
      return Promise.resolve({
        reply: { title: "flow", start_ns: null, end_ns: null, bin_ns: null, notes: ["a note"] },
        tables: {
          components: arrived({ component: ["md", "viz"], application: Float64Array.of(0, 1), ranks: Float64Array.of(2, 1), locations: Float64Array.of(2, 1), start_ns: Float64Array.of(0, 5e8), end_ns: Float64Array.of(1e9, 2e9), busy_percent: Float64Array.of(80, Number.NaN), hosts: ["n1", ""], command: ["./md", ""], depends_on: ["", "md"] }),
          exchanges: arrived({ from: ["md"], to: ["viz"], from_row: Float64Array.of(0), to_row: Float64Array.of(1), by: ["ADIOS"], name: ["frames.bp"], count: Float64Array.of(Number.NaN), bytes: Float64Array.of(1000), senders: Float64Array.of(Number.NaN), receivers: Float64Array.of(Number.NaN), first_ns: Float64Array.of(Number.NaN), last_ns: Float64Array.of(Number.NaN), evidence: ["described"] }),
          over_time: arrived({ exchange: Uint32Array.of(0), bin: Uint32Array.of(3), count: Float64Array.of(0), bytes: Float64Array.of(0) }),
        },
      });
    },
  } as unknown as EngineClient;
  const store = new Store();
  store.setWorkspace(item.key, () => ({ layout: null, panels: { panel: { view: "panel", version: 1, state: { ...WORKFLOW_STATE } as never } }, shared: {} }));
  const state = new PanelSlice<WorkflowState>(store, item.key, "panel", { defaultState: WORKFLOW_STATE, stateVersion: 1 });
  const view = mount(Workflow, { target: document.body, props: { panelId: "trace.workflow", item, items: [item], client, state, links: new Links(store) } });
  mounted.push(view);
  await new Promise((resolve) => { setTimeout(resolve, 20); });
  flushSync();
  const boxes = [...document.querySelectorAll<SVGGElement>("[data-testid=workflow-component]")];
  expect(boxes.map((box) => box.getAttribute("aria-label")?.replace(/[\u202f\u00a0]/g, " "))).toEqual(["md, 2 ranks, 0 s to 1.000 s, busy 80.0 %, n1", "viz, 1 rank, 500.0 ms to 2.000 s"]);
  const profiles = (): string => state.shared<Filter>(PROFILE_FAMILY, NO_FILTER).current.profiles;
  boxes[1]?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  flushSync();
  expect(profiles()).toBe("application(1)");
  expect(boxes[1]?.getAttribute("aria-pressed")).toBe("true");
  boxes[1]?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  flushSync();
  expect(profiles()).toBe("");
  const arrow = document.querySelector<SVGGElement>("[data-testid=workflow-arrow]");
  expect(arrow?.getAttribute("aria-label")?.replace(/[\u202f\u00a0]/g, " ")).toContain("md → viz: frames.bp, 1.00 kB, according to the workflow description");
  arrow?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  flushSync();
  expect(document.querySelector("[data-testid=workflow-chosen]")?.textContent).toContain("frames.bp");
  expect(document.body.textContent).toContain("a note");
});

test("views that conclude something from all calls are not offered where a detector chose them", async () => {
  const views = await loadViews();
  const chosen: Item = { ...item, has_trace: true, has_calls: true, has_chosen_calls: true, components: 0, locations: 8, nodes: 4, has_gpus: true };
  const other: Item = { ...chosen, key: "q", item: "e2" };
  const offered = (of: Item): readonly string[] => views.filter((view) => view.appliesTo(of, [of, other])).map((view) => view.title);
  const conclusions = ["Iterations", "Clusters", "Racks", "Correlations", "Differences", "GPU idle time", "Workflow"];
  expect(offered(chosen).filter((title) => conclusions.includes(title))).toEqual([]);
  expect(offered(chosen)).toEqual(expect.arrayContaining(["Anomalies", "Timeline", "Report", "Over time"]));
  const whole = { ...chosen, has_chosen_calls: false };
  expect(views.filter((view) => view.appliesTo(whole, [whole, { ...other, has_chosen_calls: false }])).map((view) => view.title)).toEqual(expect.arrayContaining(conclusions.slice(0, -1)));
});
