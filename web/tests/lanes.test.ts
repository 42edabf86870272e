import { describe, expect, test } from "vitest";
import { contrast, type Rgb } from "../src/base/palettes.ts";
import { heatOf } from "../src/views/lanes/heat.ts";
import { insideContext, questionsOf, type ThreadLane } from "../src/views/lanes/lanes.ts";
import type { Zoom } from "../src/views/lanes/states.ts";
import { FIRST_LANES, isShort, originText, placeText, shownThreads, threadRows, threadTitle, type ThreadFacts } from "../src/views/lanes/threads.ts";
import { zoomedIn, zoomedOut, zoomOf } from "../src/views/lanes/zooms.ts";
import { activeAt, extentOf, geometryOf, HEAD_PIXELS, hitAt, lane, LEVEL_PIXELS, levelsIn, longestIn, LOOP_PIXELS, spotAt, unionOf, type Lane } from "../src/widgets/lanes/lane-layout.ts";
import { paintLanes, type LaneLook } from "../src/widgets/lanes/lane-paint.ts";
import type { TimeScale } from "../src/widgets/timeline/axis.ts";

/** A lane drawn as text: indent is the level, `~` a loop, then start and length. */
function drawn(text: string): { of: Lane; names: readonly string[] } {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const indent = Math.min(...lines.map((line) => line.search(/\S/)));
  const parts = lines.map((line) => {
    const [name = "", start = "0", span = "0"] = line.trim().split(/\s+/);
    return { level: (line.search(/\S/) - indent) / 2, name, start: Number(start), span: Number(span) };
  });
  const of = lane({
    length: parts.length,
    level: Uint32Array.from(parts, (part) => part.level),
    isLoop: Uint8Array.from(parts, (part) => (part.name.startsWith("~") ? 1 : 0)),
    start: Float64Array.from(parts, (part) => part.start),
    span: Float64Array.from(parts, (part) => part.span),
  });
  return { of, names: parts.map((part) => part.name) };
}

const { of: MAIN, names: NAMES } = drawn(`
  main 0 100
  ~outer 10 70
  ~inner 20 20
    solve 12 30
      dot 15 5
      dot 22 10
    write 60 15
`);
const { of: WORKER } = drawn(`
  worker 40 50
    solve 45 20
`);
const rowOf = (name: string): number => NAMES.indexOf(name);
const SCALE: TimeScale = { fromNs: 0, toNs: 100, pixels: 1000 };

/** A canvas that remembers what is drawn on it. */
function fakeCanvas(): { context: CanvasRenderingContext2D; drawn: { what: string; x: number; y: number; width: number; opacity: number; fill: unknown }[]; texts: string[] } {
  const shapes: { what: string; x: number; y: number; width: number; opacity: number; fill: unknown }[] = [];
  const texts: string[] = [];
  const context = {
    globalAlpha: 1,
    fillStyle: "",
    fillRect(x: number, y: number, width: number) { shapes.push({ what: "rect", x, y, width, opacity: this.globalAlpha, fill: this.fillStyle }); },
    strokeRect(x: number, y: number, width: number) { shapes.push({ what: "outline", x, y, width, opacity: this.globalAlpha, fill: "" }); },
    fillText(text: string) { texts.push(text); },
    measureText: (text: string) => ({ width: text.length * 6 }),
    beginPath() {}, moveTo() {}, fill() {},
    lineTo(x: number, y: number) { shapes.push({ what: "line", x, y, width: 0, opacity: this.globalAlpha, fill: "" }); },
    stroke() {},
    arc(x: number, y: number) { shapes.push({ what: "circle", x, y, width: 0, opacity: this.globalAlpha, fill: "" }); },
  };
  return { context: context as unknown as CanvasRenderingContext2D, drawn: shapes, texts };
}

function look(change: Partial<LaneLook> = {}): LaneLook {
  return {
    fill: (at, row) => `fill ${String(at)} ${String(row)}`, ink: () => "ink", name: (_, row) => NAMES[row] ?? "", opacity: () => 1, raised: [[], []],
    iterations: () => ["7 iterations", "×7"], shortestLoop: [0, 0], sliver: "sliver", loop: "loop", font: "11px sans", ...change,
  };
}

describe("lane layout", () => {
  test("calls lie on levels by time, with gaps; loops lie below the call that they are in", () => {
    expect(MAIN.layout.levels).toBe(3);
    expect([...MAIN.layout.rows].map((row) => NAMES[row])).toEqual(["main", "solve", "write", "dot", "dot"]);
    expect([...MAIN.parent].map((row) => NAMES[row] ?? "")).toEqual(["", "main", "main", "main", "solve", "solve", "main"]);
    expect(MAIN.loops.map((level) => [...level].map((row) => NAMES[row]))).toEqual([["~outer", "~inner"], [], []]);
    expect([MAIN.nesting[rowOf("~outer")], MAIN.nesting[rowOf("~inner")]]).toEqual([0, 1]);
    expect([...MAIN.lines]).toEqual([2, 0, 0]);
  });

  test("a loop that begins when another one has ended is not inside it", () => {
    const { of } = drawn(`
      main 0 100
      ~first 0 10
      ~second 10 10
    `);
    expect([...of.nesting]).toEqual([0, 0, 0]);
  });

  test("lanes lie below each other, each below its head, and loops need room only when they are shown", () => {
    const without = geometryOf([MAIN, WORKER], false);
    const withLoops = geometryOf([MAIN, WORKER], true);
    expect(without.levelTops[0]).toEqual([0, 1, 2, 3].map((level) => HEAD_PIXELS + level * LEVEL_PIXELS));
    expect(withLoops.levelTops[0]?.map((top, level) => top - (without.levelTops[0]?.[level] ?? 0))).toEqual([0, 2 * LOOP_PIXELS, 2 * LOOP_PIXELS, 2 * LOOP_PIXELS]);
    expect((withLoops.tops[1] ?? 0) - (without.tops[1] ?? 0)).toBe(2 * LOOP_PIXELS);
    expect(without.tops[1]).toBeGreaterThan(without.levelTops[0]?.at(-1) ?? 0);
  });

  test("lanes are only as high as what they have in the time on screen", () => {
    expect([levelsIn(MAIN, [0, 9]), levelsIn(MAIN, [14, 16]), levelsIn(MAIN, [62, 70]), levelsIn(WORKER, [0, 30])]).toEqual([1, 3, 2, 0]);
    const whole = geometryOf([MAIN, WORKER], false);
    const part = geometryOf([MAIN, WORKER], false, [[62, 70], [62, 70]]);
    expect((whole.tops[1] ?? 0) - (part.tops[1] ?? 0)).toBe(LEVEL_PIXELS);
  });

  test("a lane without calls still has room for its head, and for saying so", () => {
    const none = lane({ length: 0, level: new Uint32Array(), isLoop: new Uint8Array(), start: new Float64Array(), span: new Float64Array() });
    expect(geometryOf([none, WORKER], false).tops[1]).toBeGreaterThan(HEAD_PIXELS);
    expect(extentOf(none)).toBeNull();
  });

  test("lanes share the time from the first to the last of them", () => {
    expect(unionOf([extentOf(MAIN), null, extentOf(WORKER)])).toEqual([0, 100]);
    expect(unionOf([extentOf(WORKER)])).toEqual([40, 90]);
  });

  test("what is active at a moment is the chain of calls around it", () => {
    const at = (ns: number): string => activeAt(MAIN, ns).map((row) => NAMES[row]).join(" > ");
    expect(at(5)).toBe("main");
    expect(at(23)).toBe("main > solve > dot");
    expect(at(20)).toBe("main > solve");
    expect(at(74)).toBe("main > write");
    expect(at(100)).toBe("");
  });

  test("the longest call inside is found, however deep those before it are", () => {
    expect(NAMES[longestIn(MAIN, 0)]).toBe("solve");
    expect(longestIn(MAIN, rowOf("solve"))).toBe(NAMES.lastIndexOf("dot"));
    expect(longestIn(MAIN, rowOf("write"))).toBe(-1);
  });
});

describe("what is under the pointer", () => {
  const lanes = [MAIN, WORKER];
  const geometry = geometryOf(lanes, true);
  const scales = [SCALE, SCALE];
  const under = (x: number, y: number): string | null => {
    const hit = hitAt(lanes, geometry, scales, [], x, y);
    return hit === null ? null : `${String(hit.lane)} ${hit.lane === 0 ? (NAMES[hit.row] ?? "") : String(hit.row)}`;
  };
  const top = (of: number, level: number): number => (geometry.levelTops[of]?.[level] ?? 0) + 2;

  test("bars are hit where they are drawn, in every lane", () => {
    expect(under(50, top(0, 0))).toBe("0 main");
    expect(under(230, top(0, 2))).toBe("0 dot");
    expect(under(500, top(1, 0))).toBe("1 0");
    expect(under(500, top(1, 1))).toBe("1 1");
    expect(under(200, top(0, 2))).toBeNull();
    expect(under(300, top(1, 0))).toBeNull();
  });

  test("heads and the room between lanes are no bars", () => {
    expect(under(500, 5)).toBeNull();
    expect(spotAt(geometry, 5)).toEqual({ lane: 0, level: -1, nesting: -1 });
    expect(under(500, (geometry.tops[1] ?? 0) - 2)).toBeNull();
    expect(under(500, geometry.height + 50)).toBeNull();
  });

  test("loops are hit on their own lines, short ones on their circles", () => {
    const line = (nesting: number): number => top(0, 0) + LEVEL_PIXELS + nesting * LOOP_PIXELS;
    expect(under(500, line(0))).toBe("0 ~outer");
    expect(under(300, line(1))).toBe("0 ~inner");
    expect(under(500, line(1))).toBeNull();
    const wide = scales.map((): TimeScale => ({ fromNs: 0, toNs: 100_000, pixels: 1000 }));
    expect(hitAt(lanes, geometry, wide, [], 3, line(0))?.row).toBe(rowOf("~outer"));
  });

  test("calls that share a pixel are told as one piece", () => {
    const many = lane({
      length: 5001, level: Uint32Array.from({ length: 5001 }, (_, row) => (row === 0 ? 0 : 1)), isLoop: new Uint8Array(5001),
      start: Float64Array.from({ length: 5001 }, (_, row) => (row === 0 ? 0 : row - 1)), span: Float64Array.from({ length: 5001 }, (_, row) => (row === 0 ? 5000 : 1)),
    });
    const places = geometryOf([many], false);
    const scale: TimeScale = { fromNs: 0, toNs: 5000, pixels: 100 };
    const { context } = fakeCanvas();
    const slivers = paintLanes([many], places, { scales: [scale], width: 100, height: 300, scrolled: 0, hasLoops: false }, look(), context);
    const hit = hitAt([many], places, [scale], slivers, 50, (places.levelTops[0]?.[1] ?? 0) + 3);
    expect(hit?.row).toBe(-1);
    expect(hit?.piece?.count).toBeGreaterThan(40);
    expect([...(slivers[0]?.get(1) ?? [])].reduce((sum, piece) => sum + piece.count, 0)).toBe(5000);
  });
});

describe("painting lanes", () => {
  const lanes = [MAIN, WORKER];
  const geometry = geometryOf(lanes, true);
  const whole = { scales: [SCALE, SCALE], width: 1000, height: 600, scrolled: 0, hasLoops: true };

  test("a window clips all lanes to the same time", () => {
    const { context, drawn: shapes } = fakeCanvas();
    const scale: TimeScale = { fromNs: 40, toNs: 60, pixels: 1000 };
    paintLanes(lanes, geometry, { ...whole, scales: [scale, scale], hasLoops: false }, look(), context);
    const rects = shapes.filter((one) => one.what === "rect");
    expect(rects.map((one) => one.fill)).toEqual(["fill 0 0", `fill 0 ${String(rowOf("solve"))}`, "fill 1 0", "fill 1 1"]);
    expect(rects.every((one) => one.x >= 0 && one.x + one.width <= 1000)).toBe(true);
    // `worker` begins at the left edge of the window, `solve` of the first lane ends inside it.
    expect(rects[2]?.x).toBe(0);
    expect((rects[1]?.x ?? 0) + (rects[1]?.width ?? 0)).toBeCloseTo(100, -1);
  });

  test("what is not pointed at is paler, and what is stands out again", () => {
    const { context, drawn: shapes } = fakeCanvas();
    const row = rowOf("write");
    paintLanes(lanes, geometry, whole, look({ opacity: (_, one) => (one === row ? 1 : 0.5), raised: [[{ row, outline: "accent", flag: null }], []] }), context);
    expect(shapes.filter((one) => one.what === "rect" && one.fill === "fill 0 0")[0]?.opacity).toBe(0.5);
    const own = shapes.filter((one) => one.fill === `fill 0 ${String(row)}`);
    expect(own.map((one) => one.opacity)).toEqual([1, 1]);
    expect(shapes.filter((one) => one.what === "outline")).toHaveLength(1);
  });

  test("a call too short for a pixel is still seen when it is marked", () => {
    const { context, drawn: shapes } = fakeCanvas();
    const scale: TimeScale = { fromNs: 0, toNs: 1_000_000, pixels: 1000 };
    paintLanes(lanes, geometry, { ...whole, scales: [scale, scale] }, look({ raised: [[{ row: rowOf("write"), outline: null, flag: "mark" }], []] }), context);
    expect(shapes.filter((one) => one.fill === "mark").map((one) => one.width)).toEqual([2]);
  });

  test("loops are lines with their iterations, and circles where they are shorter than the least share", () => {
    const lines = fakeCanvas();
    paintLanes(lanes, geometry, whole, look(), lines.context);
    // The outer line has a gap for its text.
    expect(lines.drawn.filter((one) => one.what === "line")).toHaveLength(4);
    expect(lines.texts.filter((text) => text === "7 iterations")).toHaveLength(2);
    const narrow = fakeCanvas();
    paintLanes(lanes, geometry, { ...whole, scales: [{ ...SCALE, pixels: 120 }, { ...SCALE, pixels: 120 }], width: 120 }, look(), narrow.context);
    expect(narrow.texts.filter((text) => text === "×7")).toHaveLength(1);
    const short = fakeCanvas();
    paintLanes(lanes, geometry, whole, look({ shortestLoop: [30, 0] }), short.context);
    expect(short.drawn.filter((one) => one.what === "line")).toHaveLength(2);
    expect(short.drawn.filter((one) => one.what === "circle")).toHaveLength(1);
    const hidden = fakeCanvas();
    paintLanes(lanes, geometryOf(lanes, false), { ...whole, hasLoops: false }, look(), hidden.context);
    expect(hidden.drawn.some((one) => one.what === "line")).toBe(false);
  });

  test("a hundred thousand calls become no more shapes than there are pixels, in a few milliseconds", () => {
    const length = 100_001;
    const many = lane({
      length, level: Uint32Array.from({ length }, (_, row) => (row === 0 ? 0 : 1 + (row % 4))), isLoop: new Uint8Array(length),
      start: Float64Array.from({ length }, (_, row) => (row === 0 ? 0 : Math.floor((row - 1) / 4) * 4)), span: Float64Array.from({ length }, (_, row) => (row === 0 ? 100_000 : 4 - (row % 4))),
    });
    const places = geometryOf([many], false);
    const { context, drawn: shapes } = fakeCanvas();
    const view = { scales: [{ fromNs: 0, toNs: 100_000, pixels: 1200 }], width: 1200, height: 400, scrolled: 0, hasLoops: false };
    const began = performance.now();
    paintLanes([many], places, view, look({ raised: [[]] }), context);
    const millis = performance.now() - began;
    expect(shapes.length).toBeLessThan(4 * 1200 + 10);
    expect(millis).toBeLessThan(60);
  });
});

describe("zooms", () => {
  const [a, b, c]: [Zoom, Zoom, Zoom] = [{ thread: 0, activation: 5 }, { thread: 1, activation: 9 }, { thread: 0, activation: 7 }];

  test("each lane goes back by its own steps", () => {
    const all = zoomedIn(zoomedIn(zoomedIn([], a, false), b, false), c, false);
    expect(zoomOf(all, 0, false)).toEqual(c);
    const back = zoomedOut(all, 0, false);
    expect([zoomOf(back, 0, false), zoomOf(back, 1, false)]).toEqual([a, b]);
    expect(zoomOf(zoomedOut(back, 0, false), 0, false)).toBeNull();
    expect(zoomedOut(all, 3, false)).toBe(all);
  });

  test("zooming into what is the top already is no step", () => {
    expect(zoomedIn([a], a, false)).toEqual([a]);
  });

  test("aggregated calls are a top only among their like, and stay in the history", () => {
    const merged: Zoom = { thread: 0, activation: 5, share: 0.25 };
    const all = [c, merged];
    expect(zoomOf(all, 0, true)).toEqual(merged);
    expect(zoomOf(all, 0, false)).toEqual(c);
    expect(zoomedOut(all, 0, false)).toEqual([merged]);
  });
});

function thread(number: number, change: Partial<ThreadFacts> = {}): ThreadFacts {
  return { thread: number, name: "", entries: [number * 100], context: number, creator: number === 0 ? null : 0, started: { name: "main", context: 1 }, line: 42, startNs: number * 10, lengthNs: 100 - number * 10, calls: 5, ...change };
}

describe("questions", () => {
  const threads = [thread(0), thread(1), thread(2, { entries: [] })];
  const wish = { item: "e", threads, zooms: [], isMerged: false, hasLoops: true, belowPercent: 2 };

  test("are one for all lanes; threads without calls ask nothing", () => {
    expect(questionsOf(wish)).toEqual([{ ask: { item: "e", tops: [0, 100], is_merged: false, below_percent: 2, loops: true }, owners: [0, 1] }]);
  });

  test("name the call that a lane is zoomed to as its top", () => {
    expect(questionsOf({ ...wish, zooms: [{ thread: 1, activation: 105 }] })[0]?.ask.tops).toEqual([0, 105]);
  });

  test("ask for aggregated calls from their single top, with a threshold as much lower", () => {
    const asked = questionsOf({ ...wish, isMerged: true, zooms: [{ thread: 1, activation: 105, share: 0.25 }] });
    expect(asked.map(({ ask, owners }) => [ask.tops, ask.below_percent, ask.loops, owners])).toEqual([[[0], 2, false, [0]], [[100], 0.5, false, [1]]]);
  });
});

describe("threads", () => {
  const list = { threads: [thread(0), thread(1), thread(2, { creator: 1, startNs: 5 }), thread(3, { creator: 99 })], main: thread(0), wholeNs: 0, omitted: 0, notes: [] };

  test("say who started them, and where", () => {
    expect(threadTitle({ thread: 3, name: "" })).toBe("Thread 3");
    expect(threadTitle({ thread: 3, name: "thread 3" })).toBe("Thread 3");
    expect(threadTitle({ thread: 3, name: "worker" })).toBe("Thread 3 worker");
    expect(originText(thread(0), list.main)).toBe("main thread");
    expect(originText(thread(2, { creator: 1 }), list.main)).toBe("started by thread 1 at line 42");
    expect(placeText(thread(1, { line: null }))).toBe("main");
    expect(placeText(thread(1, { line: null, started: null }))).toBe("–");
  });

  test("stand below those that started them; unknown creators leave them at the top", () => {
    const rows = threadRows(list.threads, { column: "thread", descending: false }, true, new Set());
    expect(rows.map((row) => `${"  ".repeat(row.level)}${String(row.facts.thread)}`)).toEqual(["0", "  1", "    2", "3"]);
    expect(threadRows(list.threads, { column: "thread", descending: false }, true, new Set([1])).map((row) => row.facts.thread)).toEqual([0, 1, 3]);
    expect(threadRows(list.threads, { column: "span", descending: true }, false, new Set()).map((row) => row.facts.thread)).toEqual([3, 1, 2, 0]);
  });

  test("that are said to have started each other are listed once each", () => {
    const cyclic = [thread(0, { creator: 1 }), thread(1, { creator: 0 })];
    expect(threadRows(cyclic, { column: "thread", descending: false }, true, new Set()).map((row) => row.facts.thread)).toEqual([0, 1]);
  });

  test("get lanes at first in their order, main before the others, up to a limit", () => {
    const many = Array.from({ length: 40 }, (_, at) => thread(at));
    const main = many[7] ?? thread(7);
    const shown = shownThreads({ threads: many, main, wholeNs: 0, omitted: 0, notes: [] }, null);
    expect(shown).toHaveLength(FIRST_LANES);
    expect(shown.slice(0, 3).map((one) => one.thread)).toEqual([7, 0, 1]);
    expect(shownThreads(list, [2, 77, 0]).map((one) => one.thread)).toEqual([2, 0]);
  });

  test("are short by the share of the main thread under which calls are omitted", () => {
    expect(isShort(thread(1, { lengthNs: 9 }), list.main, 10)).toBe(true);
    expect(isShort(thread(1, { lengthNs: 10 }), list.main, 10)).toBe(false);
    expect(isShort(list.main, list.main, 200)).toBe(false);
  });
});

test("a part that all views show holds what is below it, and everything where the top lies in it", () => {
  const of = { lane: MAIN, context: Float64Array.of(1, 2, 3, 4, 5, 5, 6) } as unknown as ThreadLane;
  expect([...insideContext(of, 4, false)]).toEqual([0, 0, 0, 1, 1, 1, 0]);
  expect([...insideContext(of, 9, true)]).toEqual([1, 1, 1, 1, 1, 1, 1]);
});

describe("heat", () => {
  const rgb = (css: string): Rgb => (css.match(/\d+/g) ?? []).map(Number) as unknown as Rgb;

  test("names can be read on every colour, and the colours of little and much differ most", () => {
    for (const theme of ["light", "dark"] as const) {
      for (let step = 0; step <= 48; step += 1) {
        const { fill, ink } = heatOf((step / 48) ** 2, theme);
        // Neither black nor white reaches more on the colour in the middle between them.
        expect(contrast(rgb(fill), rgb(ink)), `${theme} ${String(step)}`).toBeGreaterThanOrEqual(4.2);
      }
      expect(contrast(rgb(heatOf(0, theme).fill), rgb(heatOf(1, theme).fill))).toBeGreaterThan(5);
    }
  });
});
