import { describe, expect, it } from "vitest";
import { recordsOf, Rows, type Activation } from "../src/views/calls/records.ts";
import { GRAPH_STATE, MOST_OPEN, withOpen, withReferences } from "../src/views/calls/graph-state.ts";
import { sharedByAll, shownReferences } from "../src/views/calls/graph-references.ts";
import { fullWay, inOrder, keyOf, keyOfName, nameOfKey, NodeIndex, plainWay, shownTree, spotOf, type ShownTree } from "../src/views/calls/graph-tree.ts";
import { badgeOf, describeNode, nodeText } from "../src/views/calls/graph-text.ts";
import { placesOf } from "../src/views/calls/graph-places.ts";
import { hotPath, pathTo } from "../src/views/calls/graph-find.ts";
import { costColours, deedColour } from "../src/views/calls/graph-paint.ts";
import { contrast, cssOf } from "../src/base/palettes.ts";
import { Entities } from "../src/views/calls/entities.ts";
import type { OpenAs } from "../src/views/calls/graph-state.ts";
import { eachNodeIn, nodeAt, treeLayout } from "../src/widgets/graph/tree-layout.ts";
import { activations, fakeClient, PROGRAM, type Row } from "./calls-example.ts";

const ALL = recordsOf("activation", new Rows(activations(PROGRAM)), () => undefined);
const group = (row: Row): Activation => {
  const [one] = recordsOf("group", new Rows(activations([{ ...row, kind: "group" }])), () => undefined);
  if (one === undefined) throw new Error("no row");
  return one;
};
const at = (id: number): Activation => {
  const one = ALL.find((other) => other.id === id);
  if (one === undefined) throw new Error(`no activation ${String(id)}`);
  return one;
};

/** Indented names, as a person would draw the tree. */
function drawn(tree: ShownTree): string {
  return tree.entities.map((one, node) => `${"  ".repeat(tree.depth[node] ?? 0)}${nodeText(one)}${badgeOf(one) === null ? "" : ` ${badgeOf(one) ?? ""}`}`).join("\n");
}

const INSIDE: Readonly<Record<string, readonly Activation[]>> = {
  "a0 groups": [at(1), group({ ...PROGRAM[4], count: 3 } as Row)],
  "a0 executions": [at(2)],
  "a2 iterations": [at(3), at(7), at(11)],
  "a3 children": [at(4)],
  "a4 groups": [group({ ...PROGRAM[5], count: 2 } as Row)],
  "g5 calls": [at(5), at(6)],
};
const insideOf = (entity: Activation, as: OpenAs): readonly Activation[] | null => INSIDE[`${nameOfKey(keyOf(entity))} ${as}`] ?? null;
const opened = (...names: readonly (readonly [string, OpenAs])[]): ReadonlyMap<number, OpenAs> => new Map(names.map(([name, as]) => [keyOfName(name), as]));

describe("the tree on screen", () => {
  it("is the first call alone as long as nothing is open", () => {
    expect(drawn(shownTree([at(0)], new Map(), insideOf))).toBe("main");
  });

  it("shows calls by function, and through loops one by one", () => {
    expect(drawn(shownTree([at(0)], opened(["a0", "groups"]), insideOf))).toBe("main\n  load\n  step 3×");
    expect(drawn(shownTree([at(0)], opened(["a0", "executions"], ["a2", "iterations"], ["a3", "children"], ["a4", "groups"], ["g5", "calls"]), insideOf))).toBe(
      ["main", "  loop at main.c:7 3", "    #0", "      step", "        add 2×", "          add", "          add", "    #1", "    #2"].join("\n"),
    );
  });

  it("says what it still has to ask for, and shows the rest", () => {
    const tree = shownTree([at(0)], opened(["a0", "executions"], ["a2", "children"]), insideOf);
    expect(drawn(tree)).toBe("main\n  loop at main.c:7 3");
    expect(tree.missing.map(({ entity, as }) => [entity.id, as])).toEqual([[2, "children"]]);
  });

  it("keeps what is open inside something closed out of sight", () => {
    expect(drawn(shownTree([at(0)], opened(["a2", "iterations"]), insideOf))).toBe("main");
  });

  it("opens each kind of node as it should", () => {
    expect([0, 1, 2, 3].map((id) => [plainWay(at(id)), fullWay(at(id))])).toEqual([["groups", "executions"], [null, null], ["iterations", "iterations"], ["children", "children"]]);
    const many = group({ ...PROGRAM[5], count: 2 } as Row);
    expect([plainWay(many), fullWay(many)]).toEqual(["calls", "calls"]);
  });

  it("sorts calls by time and iterations by number", () => {
    expect(inOrder([at(6), at(5), at(1)]).map((one) => one.id)).toEqual([1, 5, 6]);
    expect(inOrder([at(11), at(3), at(7)]).map((one) => one.number)).toEqual([0, 1, 2]);
    const sorted = [at(1), at(5)];
    expect(inOrder(sorted)).toBe(sorted);
  });

  it("names nodes so that a link can bring them back", () => {
    for (const name of ["a0", "g17", "a4294967295", "g4294967295"]) expect(nameOfKey(keyOfName(name))).toBe(name);
    expect(keyOfName("b3")).toBe(-1);
  });

  it("describes a node in one line", () => {
    expect(describeNode(at(2), 1000, true, false).replace(/\s/gu, " ")).toBe("loop, 3 iterations loop at main.c:7, 700 ns, 70.0 % of all threads, open");
  });
});

describe("what is left when only marked nodes count", () => {
  const tree = shownTree([at(0)], opened(["a0", "executions"], ["a2", "iterations"], ["a3", "children"], ["a4", "groups"], ["g5", "calls"]), insideOf);
  const nodeOf = (id: number): number => tree.entities.findIndex((one) => one.id === id && one.kind !== "group");

  it("begins at the nearest common ancestor and omits chains", () => {
    // Calls 5 and 6 of add meet in their group; iteration 7 meets them in the loop.
    expect(spotOf(tree, [nodeOf(5), nodeOf(6)])).toEqual([{ node: "g5", above: -1, skipped: 0 }, { node: "a5", above: 0, skipped: 0 }, { node: "a6", above: 0, skipped: 0 }]);
    expect(spotOf(tree, [nodeOf(5), nodeOf(7)])).toEqual([{ node: "a2", above: -1, skipped: 0 }, { node: "a5", above: 0, skipped: 3 }, { node: "a7", above: 0, skipped: 0 }]);
  });

  it("begins at a marked node that is around the others", () => {
    expect(spotOf(tree, [nodeOf(2), nodeOf(4)])).toEqual([{ node: "a2", above: -1, skipped: 0 }, { node: "a4", above: 0, skipped: 1 }]);
  });

  it("is drawn from the state alone", () => {
    const spot = spotOf(tree, [nodeOf(5), nodeOf(7)]);
    const shown = shownTree([at(0)], new Map(), insideOf, spot, (key) => ALL.find((one) => keyOf(one) === key) ?? null);
    expect(drawn(shown)).toBe("loop at main.c:7 3\n  add\n  #1");
    expect([...shown.skipped]).toEqual([[1, 3]]);
  });

  it("shows what is open below a node that is left", () => {
    const spot = spotOf(tree, [nodeOf(4), nodeOf(7)]);
    const shown = shownTree([at(0)], opened(["a4", "groups"]), insideOf, spot, (key) => ALL.find((one) => keyOf(one) === key) ?? null);
    expect(drawn(shown)).toBe("loop at main.c:7 3\n  step\n    add 2×\n  #1");
  });
});

describe("state", () => {
  it("closes what is below with a node, and keeps other branches", () => {
    const state = { open: { a0: "executions", a2: "iterations", a3: "children", a9: "groups" } as const };
    expect(withOpen(state.open, "a2", null, ["a3"])).toEqual({ open: { a0: "executions", a9: "groups" } });
    expect(withOpen(state.open, "a9", "executions", [])).toEqual({ open: { ...state.open, a9: "executions" } });
  });

  it("is never too long for a link", () => {
    const open = Object.fromEntries(Array.from({ length: MOST_OPEN }, (_, id) => [`a${String(id)}`, "groups" as const]));
    expect(withOpen(open, "a9999", "groups", [])).toBeNull();
    expect(withOpen(open, "a9999", "groups", ["a5"])).not.toBeNull();
  });

  it("shows references of a node in one way at a time", () => {
    const own = withReferences(GRAPH_STATE, "a4", "own");
    expect(own).toEqual({ references: { a4: "own" } });
    expect(withReferences({ ...GRAPH_STATE, ...own }, "a4", "within")).toEqual({ references: { a4: "within" } });
    expect(withReferences({ ...GRAPH_STATE, ...own }, "a4", null)).toEqual({ references: {} });
  });
});

describe("references", () => {
  const touched = [
    { node: 8, references: [1, 2], reads: [3, 0], writes: [0, 4], only: null },
    { node: 10, references: [2, 3], reads: [1, 5], writes: [1, 0], only: null },
  ];

  it("are shown once, with a line to each node that touches them", () => {
    const shown = shownReferences(touched);
    expect(shown.references).toEqual([1, 2, 3]);
    expect(shown.links.map(({ node, reference, deed }) => [node, shown.references[reference], deed])).toEqual([[8, 1, "reads"], [8, 2, "writes"], [10, 2, "both"], [10, 3, "reads"]]);
  });

  it("are the most used ones where there are too many, and it says how many are not there", () => {
    const shown = shownReferences(touched, 2);
    expect([[...shown.references].sort((a, b) => a - b), shown.omitted]).toEqual([[2, 3], 1]);
    expect(shown.links.every((link) => link.reference < 2)).toBe(true);
  });

  it("are omitted where only some are wanted, and not linked twice", () => {
    const shown = shownReferences([...touched, { node: 8, references: [1, 2], reads: [3, 0], writes: [0, 4], only: new Set([2]) }]);
    expect(shown.links).toHaveLength(4);
    expect(shownReferences(touched.map((one) => ({ ...one, only: new Set([2]) }))).references).toEqual([2]);
  });

  it("that all marked nodes touch are known", () => {
    const shown = shownReferences(touched);
    expect([...sharedByAll(shown, [8, 10])].map((place) => shown.references[place])).toEqual([2]);
    expect(sharedByAll(shown, [8]).size).toBe(0);
    expect(sharedByAll(shown, [8, 10, 12]).size).toBe(0);
  });
});

describe("places of references", () => {
  // main with ten calls, each of which touches one reference of its own and one that all touch.
  const calls = Array.from({ length: 10 }, (_, id): Row => ({ activation: id + 1, kind: "call", name: "work", parent: 0, caller: 0, start_ns: id, length_ns: 1 }));
  const list = recordsOf("activation", new Rows(activations(calls)), () => undefined);
  const tree = shownTree([at(0)], opened(["a0", "calls"]), () => list);
  const layout = treeLayout(tree, () => 70);
  const nodeOf = (key: number): number => new NodeIndex(tree).of(key);
  const shown = shownReferences(list.map((one) => ({ node: keyOf(one), references: [100, one.id], reads: [1, 0], writes: [0, 1], only: null })));

  it("are next to the tree, not on it", () => {
    const force = placesOf(shown, layout, nodeOf, new Map());
    while (force.step());
    for (let place = 0; place < shown.references.length; place += 1) {
      expect(nodeAt(layout, force.x[place] ?? 0, force.y[place] ?? 0, 5)).toBe(-1);
      expect(force.x[place]).toBeLessThan(layout.totalWidth + 250);
    }
  });

  it("are where they were when something else comes, and stay where they were put", () => {
    const known = new Map([[100, { x: 400, y: -80, isPinned: true }], [3, { x: 333, y: 44, isPinned: false }]]);
    const force = placesOf(shown, layout, nodeOf, known);
    expect([force.x[shown.references.indexOf(3)], force.y[shown.references.indexOf(3)]]).toEqual([333, 44]);
    while (force.step());
    expect([force.x[shown.references.indexOf(100)], force.y[shown.references.indexOf(100)]]).toEqual([400, -80]);
  });
});

describe("finding nodes by their keys", () => {
  it("is right for few and for many", () => {
    const tree = shownTree([at(0)], opened(["a0", "executions"], ["a2", "iterations"], ["a3", "children"], ["a4", "groups"], ["g5", "calls"]), insideOf);
    const index = new NodeIndex(tree);
    for (let times = 0; times < 30; times += 1) expect(index.of(keyOfName(`a${String(1000 + times)}`))).toBe(-1);
    tree.entities.forEach((entity, place) => { expect(index.of(keyOf(entity))).toBe(place); });
    expect(index.of(keyOfName("g4"))).toBe(-1);
  });
});

describe("the way to a context", () => {
  const model = (client: ReturnType<typeof fakeClient>["client"]) => {
    const entities = new Entities(client, "x");
    const inside = async (entity: Activation, as: OpenAs): Promise<readonly Activation[]> => {
      const { entities: list } = await entities.related(entity.kind === "group" ? "group" : "activation", entity.id, as);
      return Promise.all(list.map(async (one) => (one.kind === "group" && one.count === 1 ? ((await entities.get("activation", [one.id]))[0] ?? one) : one)));
    };
    return { entities, insideOf: inside };
  };

  it("opens calls by function, down to the group of the call", async () => {
    const { client } = fakeClient();
    const path = await pathTo(6, [at(0)], model(client), client, "x", {});
    expect(path).toEqual({ open: { a0: "groups", g4: "groups" }, key: keyOfName("g5") });
  });

  it("leaves open what is open, where that leads there", async () => {
    const { client } = fakeClient();
    const path = await pathTo(6, [at(0)], model(client), client, "x", { a0: "executions", a2: "iterations" });
    expect(path).toEqual({ open: { a0: "executions", a2: "iterations", a3: "children", a4: "groups" }, key: keyOfName("g5") });
  });

  it("leads at first to where the time is", async () => {
    const { client } = fakeClient();
    expect(await hotPath([at(0)], model(client))).toEqual({ a0: "groups", g4: "groups" });
    expect(await hotPath([], model(client))).toEqual({});
  });

  it("does not exist to what none of the roots calls", async () => {
    const { client } = fakeClient();
    expect(await pathTo(77, [at(0)], model(client), client, "x", {})).toBeNull();
  });
});

describe("colours", () => {
  it.each(["light", "dark"] as const)("%s: names can be read on every cost", (theme) => {
    for (let share = 0; share <= 1; share += 0.02) {
      const [fill, ink] = costColours(share, theme);
      expect(contrast(fill, ink)).toBeGreaterThan(4.5);
    }
  });

  it("of reading and writing differ from each other", () => {
    for (const theme of ["light", "dark"] as const) expect(deedColour("reads", theme, "x")).not.toBe(deedColour("writes", theme, "x"));
    expect(deedColour("both", "light", cssOf([1, 2, 3]))).toBe("rgb(1 2 3)");
  });
});

describe("a hundred thousand calls", () => {
  it("are assembled once and drawn where the window is", () => {
    const many: Row[] = Array.from({ length: 100_000 }, (_, id) => ({ activation: id + 10, kind: "call", name: "work", parent: 0, caller: 0, start_ns: id * 10, length_ns: 5 }));
    const table = activations(many);
    const began = performance.now();
    const list = recordsOf("activation", new Rows(table), () => undefined);
    const shown = shownTree([at(0)], opened(["a0", "calls"]), () => inOrder(list));
    let measured = 0;
    const layout = treeLayout(shown, () => {
      measured += 1;
      return 60;
    });
    const millis = performance.now() - began;
    expect(shown.count).toBe(100_001);
    expect(nodeAt(layout, (layout.x[77_777] ?? 0) + 5, layout.y[77_777] ?? 0)).toBe(77_777);
    // Each is looked at once, and of a window only what is in it.
    expect(measured).toBe(shown.count);
    let drawn = 0;
    eachNodeIn(layout, { left: 0, right: 2000, top: 1e6, bottom: 1e6 + 1000 }, () => { drawn += 1; });
    expect(drawn).toBeGreaterThan(30);
    expect(drawn).toBeLessThan(40);
    console.log(`100,000 calls: ${millis.toFixed(0)} ms`);
  });
});
