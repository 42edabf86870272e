import { tableFromArrays } from "@uwdata/flechette";
import { describe, expect, test } from "vitest";
import { ramp } from "../src/base/palettes.ts";
import { anomaliesOf, between } from "../src/views/timeline/whole-trace.svelte.ts";
import { adjacentToOutlined, nextSingle, onlyRow, toggledRow } from "../src/views/timeline/row-choice.ts";
import { timelineMenu, type TimelineMenuOf } from "../src/views/timeline/timeline-menu.ts";
import type { TimeRange } from "../src/widgets/timeline/axis.ts";
import { callBatch, type CallBatch, type CallLook } from "../src/widgets/timeline/calls.ts";
import { TimelineGestures, type GestureEvents } from "../src/widgets/timeline/gestures.svelte.ts";
import { TimelinePainter, type TimelineColours } from "../src/widgets/timeline/painter.ts";
import { distinctCuts } from "../src/widgets/distinct-names.ts";
import { rangeLabel, rowOfTrack, rowsOf, type Row } from "../src/widgets/timeline/rows.ts";
import { hitAt, labelledInSight, labelledRows, outlineBox, partsOf, spanBox, type TimelineScene } from "../src/widgets/timeline/scene.ts";
import { SvgContext } from "../src/widgets/canvas/draw-context.ts";
import { RULER } from "./ruler.ts";

const row = (from: number, to = from + 1, group: number | null = null): Row => ({ from, to, label: `rank ${String(from)}`, level: 0, group, isOpen: false });

const LOOK: CallLook = { shape: "nested", maxDepth: null, fillOf: () => "#123456", inkOf: () => "#fff", nameOf: (context) => (context === 0 ? "main" : "solve") };

/** Track 0: main from 0 to 100, solve twice in it. Track 1: main alone. */
const CALLS: CallBatch = callBatch(
  { length: 4, track: Uint32Array.of(0, 0, 0, 1), context: Uint32Array.of(0, 1, 1, 0), depth: Uint32Array.of(1, 2, 2, 1), startNs: Float64Array.of(0, 10, 50, 0), endNs: Float64Array.of(100, 40, 90, 100) },
  { range: [0, 100], spans: [{ from: 0, to: 2 }], shortestNs: 0, shorter: 0 },
  (context) => context,
);

/** A nanosecond is two pixels, a row twenty. */
function scene(over: Partial<TimelineScene> = {}): TimelineScene {
  const rows = [row(0), row(1), row(2, 6)];
  return {
    scale: { fromNs: 0, toNs: 100, pixels: 200 },
    rows,
    rowOf: rowOfTrack(rows, 6),
    sticky: 0,
    visible: { from: 0, to: 3 },
    rowHeight: 20,
    scrolled: 0,
    height: 60,
    layers: {
      store: null,
      before: null,
      version: 0,
      tileLook: { mode: "dominant", colourOf: () => null, isLit: null, ramp: ramp("inferno", true), deepest: 2 },
      calls: CALLS,
      callLook: LOOK,
      links: { length: 1, sender: Uint32Array.of(0), receiver: Uint32Array.of(1), sendNs: Float64Array.of(20), receiveNs: Float64Array.of(70), bytes: Float64Array.of(8), tag: Float64Array.of(0) },
      ownLinks: null,
    },
    ...over,
  };
}

describe("what is where in a timeline", () => {
  test("a place names its row, moment and innermost call", () => {
    expect(hitAt(scene(), [], 40, 12)).toMatchObject({ row: 0, track: 0, ns: 20, call: 1, link: -1 });
    expect(hitAt(scene(), [], 90, 10)).toMatchObject({ row: 0, call: 0 });
    expect(hitAt(scene({ scrolled: 20 }), [], 40, 12)).toMatchObject({ row: 1, track: 1, call: 3 });
  });

  test("a row of several tracks has no call of its own, and outside of the rows there is nothing", () => {
    expect(hitAt(scene(), [], 40, 50)).toMatchObject({ row: 2, track: null, call: -1 });
    for (const [x, y] of [[-1, 5], [201, 5], [5, -1], [5, 61]] as const) expect(hitAt(scene(), [], x, y)).toBeNull();
  });

  test("a message is under the pointer where its line was drawn", () => {
    const painter = new TimelinePainter();
    const colours: TimelineColours = { font: "", panel: "#fff", line: "#eee", strong: "#ddd", text: "#000", sunken: "#f0f0f0", ink: "#000", danger: "#f00", accent: "#00f" };
    const context = new SvgContext(() => RULER);
    painter.paintRows(context, scene(), colours, -1);
    // From 40, 10 to 140, 30.
    expect(hitAt(scene(), painter.lines, 90, 20)?.link).toBe(0);
    expect(hitAt(scene(), painter.lines, 90, 40)?.link).toBe(-1);
    const svg = context.svg(200, 60);
    expect(svg).toContain(">solve<");
    expect(svg).toContain(">main<");
  });

  test("an outline is where the call is, and absent where its row or time is out of sight", () => {
    const solve = { track: 0, range: [10, 40] as TimeRange, depth: 2 };
    expect(outlineBox(scene(), solve)).toMatchObject({ left: 20, width: 60 });
    expect(outlineBox(scene({ visible: { from: 1, to: 3 } }), solve)).toBeNull();
    expect(outlineBox(scene({ scale: { fromNs: 50, toNs: 100, pixels: 200 } }), solve)).toBeNull();
    expect(spanBox(scene().scale, [-50, 50])).toEqual({ left: -2, width: 102 });
    expect(spanBox(scene().scale, [200, 300])).toBeNull();
  });

  test("rows that do not scroll are where they were, and others go away below them", () => {
    const scrolled = scene({ sticky: 1, scrolled: 20, visible: { from: 2, to: 3 } });
    expect(hitAt(scrolled, [], 40, 12)).toMatchObject({ row: 0, call: 1 });
    expect(hitAt(scrolled, [], 40, 30)).toMatchObject({ row: 2, track: null });
    expect(outlineBox(scrolled, { track: 0, range: [10, 40], depth: 2 })).toMatchObject({ left: 20, width: 60 });
    expect(outlineBox(scrolled, { track: 1, range: [0, 100], depth: 1 })).toBeNull();
    expect(labelledInSight(scrolled, 13)).toEqual([0, 2]);
    expect(partsOf(scrolled).map(({ scene: part, top, height }) => [part.visible, part.scrolled, top, height])).toEqual([[{ from: 0, to: 1 }, 0, 0, 20], [{ from: 2, to: 3 }, 20, 20, 40]]);
  });

  test("names keep a distance, but groups that can be opened are all named", () => {
    const rows = [row(0), row(1), row(2), row(3)];
    expect(labelledRows(rows, { from: 0, to: 4 }, 5, 13)).toEqual([0, 3]);
    expect(labelledRows([row(0, 2, 0), row(2, 4, 2)], { from: 0, to: 2 }, 13, 13)).toEqual([0, 1]);
  });
});

describe("gestures", () => {
  function surface(): { gestures: TimelineGestures; said: unknown[]; scrolledTo: () => number } {
    const said: unknown[] = [];
    let top = 30;
    const events: GestureEvents = {
      range: (...what) => said.push(["range", ...what]),
      select: (...what) => said.push(["select", ...what]),
      zoom: (...what) => said.push(["zoom", ...what]),
      point: () => undefined,
      choose: (hit) => said.push(["choose", hit.ns]),
      rowHeight: (...what) => said.push(["rowHeight", ...what]),
    };
    const gestures = new TimelineGestures(
      {
        scale: { fromNs: 100, toNs: 300, pixels: 100 },
        bounds: [0, 1000],
        selection: [120, 140],
        scrolled: () => top,
        scrollTo: (to) => { top = to; },
        hitAt: ({ x }) => ({ row: 0, ns: 100 + 2 * x, track: 0, call: -1, link: -1, cell: null }),
      },
      () => events,
    );
    return { gestures, said, scrolledTo: () => top };
  }

  test("a press that hardly moves is a click", () => {
    const { gestures, said } = surface();
    expect(gestures.pressed({ x: 10, y: 5 }, "rows", false)).toBe(true);
    gestures.moved({ x: 12, y: 6 });
    gestures.released({ x: 12, y: 6 });
    expect(said).toEqual([["choose", 124]]);
    expect(gestures.pressed({ x: -3, y: 5 }, "rows", false)).toBe(false);
  });

  test("a drag moves the window against the hand and scrolls the rows", () => {
    const { gestures, said, scrolledTo } = surface();
    gestures.pressed({ x: 50, y: 20 }, "rows", false);
    gestures.moved({ x: 60, y: 30 });
    expect(said).toEqual([["range", [80, 280], false]]);
    expect([gestures.isPanning, scrolledTo()]).toEqual([true, 20]);
    gestures.released({ x: 60, y: 30 });
    expect(said.at(-1)).toEqual(["range", [100, 300], true]);
    expect(gestures.isPanning).toBe(false);
  });

  test("a drag with Shift zooms, in either direction, and one that is taken away does not", () => {
    const { gestures, said } = surface();
    gestures.pressed({ x: 60, y: 0 }, "rows", true);
    gestures.moved({ x: 20, y: 0 });
    expect(gestures.ranging).toEqual([140, 220]);
    gestures.released({ x: 20, y: 0 });
    expect(said).toEqual([["zoom", [140, 220]]]);
    gestures.pressed({ x: 60, y: 0 }, "rows", true);
    gestures.moved({ x: 20, y: 0 });
    gestures.cancelled();
    gestures.released({ x: 20, y: 0 });
    expect(said).toHaveLength(1);
  });

  test("a brush on the axis stays inside the trace and ends with a click on the axis", () => {
    const { gestures, said } = surface();
    gestures.pressed({ x: 10, y: 0 }, "axis", false);
    gestures.moved({ x: 400, y: 0 });
    gestures.released({ x: 400, y: 0 });
    expect(said).toEqual([["select", [120, 300], false], ["select", [120, 140], true]]);
    gestures.pressed({ x: 80, y: 0 }, "axis", false);
    gestures.released({ x: 80, y: 0 });
    expect(said.at(-1)).toEqual(["select", null, true]);
  });

  test("the wheel scrolls unless a key or a sideways move says otherwise", () => {
    const { gestures, said } = surface();
    const wheel = { altKey: false, ctrlKey: false, metaKey: false, shiftKey: false, deltaX: 0, deltaY: 0 };
    expect(gestures.wheeled({ x: 50, y: 0 }, { ...wheel, deltaY: 100 })).toBe(false);
    expect(gestures.wheeled({ x: 50, y: 0 }, { ...wheel, shiftKey: true, deltaY: 10 })).toBe(true);
    expect(gestures.wheeled({ x: 50, y: 0 }, { ...wheel, altKey: true, deltaY: -10 })).toBe(true);
    expect(said).toEqual([["range", [120, 320], true], ["rowHeight", 1]]);
    gestures.wheeled({ x: 0, y: 0 }, { ...wheel, ctrlKey: true, deltaY: -60 });
    const [, range] = said.at(-1) as [string, TimeRange];
    expect(range[0]).toBeCloseTo(100, 6);
    expect(range[1]).toBeLessThan(300);
  });
});

describe("rows and calls that are chosen", () => {
  const all = [{ from: 0, to: 6 }];

  test("a row is shown alone, and a second click brings all tracks back", () => {
    expect(onlyRow(all, row(2))).toEqual([[2, 3]]);
    expect(onlyRow([{ from: 2, to: 3 }], row(2))).toBeNull();
  });

  test("a row is taken out of the middle, put back, and the last one cannot leave nothing", () => {
    const without = toggledRow(all, row(2));
    expect(without).toEqual([[0, 2], [3, 6]]);
    expect(toggledRow([{ from: 0, to: 2 }, { from: 3, to: 6 }], row(2))).toEqual([[0, 6]]);
    expect(toggledRow([{ from: 2, to: 3 }], row(2))).toBeNull();
  });

  test("keys step over rows of several tracks", () => {
    const rows = [row(0), row(1, 4, 1), row(4)];
    expect(nextSingle(rows, 0, 1, 0)).toBe(2);
    expect(nextSingle(rows, 2, -1, 0)).toBe(0);
    expect(nextSingle(rows, 2, 1, 0)).toBe(-1);
    expect(nextSingle(rows, -1, 1, 1)).toBe(2);
  });

  test("the next call is one in the same call", () => {
    expect(adjacentToOutlined(CALLS, { track: 0, range: [10, 40], depth: 2 }, 1)).toBe(2);
    expect(adjacentToOutlined(CALLS, { track: 0, range: [50, 90], depth: 2 }, 1)).toBe(-1);
    expect(adjacentToOutlined(CALLS, { track: 1, range: [10, 40], depth: 2 }, 1)).toBe(-1);
  });

  test("anomalies are the calls of the answer, at the depth of their contexts", () => {
    const table = tableFromArrays({
      track: new Uint32Array([1, 0, 1]), context: new Uint32Array([2, 1, 1]), start_ns: new Float64Array([50, 0, 95]), end_ns: new Float64Array([90, 40, 99]),
      times_median: [18.4, 1.5, null], named: [false, true, true],
    });
    const marked = anomaliesOf(table, [0, 1, 3], "anomaly.json");
    expect(marked).toEqual([
      { track: 1, range: [50, 90], depth: 3, text: "18.4 times the median" },
      { track: 0, range: [0, 40], depth: 1, text: "1.50 times the median, named by anomaly.json" },
      { track: 1, range: [95, 99], depth: 1, text: "named by anomaly.json" },
    ]);
    // The outline is where the call is drawn.
    expect(outlineBox(scene(), { ...marked[0], depth: 2, track: 0 } as (typeof marked)[0])).toMatchObject({ left: 100, width: 80 });
  });

  test("transfers are the messages between components", () => {
    const all = { length: 2, sender: Uint32Array.of(0, 1), receiver: Uint32Array.of(1, 2), sendNs: Float64Array.of(1, 2), receiveNs: Float64Array.of(3, 4), bytes: Float64Array.of(5, 6), tag: Float64Array.of(0, 1) };
    expect(between(all, [0, 0, 1])).toMatchObject({ length: 1, sender: Uint32Array.of(1), bytes: Float64Array.of(6) });
  });
});

describe("the menu of a right click", () => {
  const nothing = (): void => undefined;
  const actions = { pin: nothing, only: nothing, hide: nothing, all: nothing, group: nothing };
  const labels = (of: TimelineMenuOf): readonly string[] => timelineMenu(of).map(({ label }) => label);

  test("on a name there is what can be done with the tracks", () => {
    expect(labels({ row: row(3), function: null, hasChoice: false, selection: null, ...actions })).toEqual(["rank 3", "Pin to the top", "Show only this track", "Hide this track", "Show all tracks"]);
    expect(labels({ row: row(0, 4, 0), function: null, hasChoice: false, selection: null, ...actions })).toContain("Expand");
    expect(labels({ row: row(0, 4, 0), function: null, hasChoice: false, selection: null, ...actions })).toContain("Hide these tracks");
  });

  test("a cell has a dominant function, but no call to zoom to", () => {
    const cell = { name: "solve", zoom: null, select: null, hide: nothing, copy: nothing };
    expect(labels({ row: row(3), function: cell, hasChoice: true, selection: null, ...actions })).not.toContain("Zoom to call");
    expect(labels({ row: row(3), function: { ...cell, zoom: nothing }, hasChoice: true, selection: { zoom: nothing, clear: nothing }, ...actions })).toEqual(
      expect.arrayContaining(["Zoom to call", "Hide this function", "Zoom to selection", "Clear selection"]),
    );
  });
});

describe("names of rows", () => {
  const cut = (labels: readonly string[], pixels: number): readonly string[] => distinctCuts(labels.map((label) => ({ label, pixels })), (text) => text.length * 6.1);

  test("a row of several tracks does not say twice what their names begin with", () => {
    expect(rangeLabel("rank 0 thread 0", "rank 0 thread 3")).toBe("rank 0 thread 0 – 3");
    expect(rangeLabel("rank 0 thread 0", "rank 7 thread 3")).toBe("rank 0 thread 0 – 7 thread 3");
    expect(rangeLabel("main", "main")).toBe("main – main");
  });

  test("a track without a name has its number", () => {
    const rows = rowsOf({ spans: [{ from: 0, to: 2 }], label: (track) => (track === 0 ? " " : "main"), groupBy: null, open: new Set(), most: null });
    expect(rows.map(({ label }) => label)).toEqual(["track 0", "main"]);
  });

  test("different names stay different where they are cut, and short ones are whole", () => {
    const labels = ["A", "B", "C"].flatMap((pool) => [1, 2].map((number) => `process 4711, pool ${pool} of workers number ${String(number)} for the linear solver`));
    const grid = [0, 1, 12, 127].flatMap((rank) => [0, 1, 11].map((thread) => `rank ${String(rank)} thread ${String(thread)}`));
    const streams = [0, 1, 2].flatMap((gpu) => [7, 20, 24].map((stream) => `node gpu-node-${String(gpu)}, process 90210 (python), GPU ${String(gpu)} stream ${String(stream)}`));
    const unlike = ["main", "", "x"].map((end) => `a name of one and the same length without an end${end}`);
    for (const all of [labels, grid, streams, unlike, [...labels, ...grid, ...streams, ...unlike]]) {
      for (const pixels of [30, 42, 60, 90, 120, 180]) {
        const cuts = cut(all, pixels);
        expect(new Set(cuts).size, `${String(pixels)}: ${cuts.join(" | ")}`).toBe(all.length);
        expect(cuts.every((text) => text.trim() !== "" && text.length <= Math.max(6, Math.floor(pixels / 6.1))), `${String(pixels)}: ${cuts.join(" | ")}`).toBe(true);
      }
    }
    // Those that do not differ by a word are told apart by these that do.
    expect(cut(grid, 42)).toEqual(expect.arrayContaining(["…0…1", "…12…11"]));
    expect(cut(["rank 0", "rank 1"], 180)).toEqual(["rank 0", "rank 1"]);
    expect(cut(["same name that is much too long to be shown", "same name that is much too long to be shown"], 60)).toHaveLength(2);
  });
});
