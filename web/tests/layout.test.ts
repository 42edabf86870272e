import { describe, expect, it } from "vitest";
import { fromDock, toDock } from "../src/app/dock-layout.ts";
import { defaultWorkspace, freePanelId } from "../src/app/default-workspace.ts";
import type { JsonObject } from "../src/base/json.ts";
import type { Item } from "../src/state/item.ts";
import { keepPanels, layoutChange, panelsOf, parseLayout, type Layout } from "../src/state/layout.ts";
import type { ViewPlugin } from "../src/view-kit/plugin.ts";

const LAYOUT: Layout = {
  isColumn: false,
  root: {
    share: 1,
    parts: [
      { share: 600, parts: [{ share: 700, tabs: ["a", "b"], front: "b" }, { share: 300, tabs: ["c"], front: "c" }] },
      { share: 400, tabs: ["d"], front: "d" },
    ],
  },
};

describe("a layout", () => {
  it("comes back from the dock as it went in", () => {
    expect(fromDock(toDock(LAYOUT))).toEqual(LAYOUT);
  });

  it("comes back from JSON as it went in", () => {
    expect(parseLayout(JSON.parse(JSON.stringify(LAYOUT)) as JsonObject)).toEqual(LAYOUT);
  });

  it("keeps which tabs fill the window", () => {
    for (const [panel, location] of [["b", [0, 0]], ["c", [0, 1]], ["d", [1]]] as const) {
      const maximized: Layout = { ...LAYOUT, maximized: panel };
      const dock = toDock(LAYOUT);
      const grid = { ...dock.grid, maximizedNode: { location } };
      expect(fromDock({ ...dock, grid })).toEqual(maximized);
      expect(parseLayout(JSON.parse(JSON.stringify(maximized)) as JsonObject)).toEqual(maximized);
      expect(layoutChange(LAYOUT, maximized)).toBe("fronts");
      expect(keepPanels(maximized, (id) => id !== panel)).not.toHaveProperty("maximized");
    }
    expect(parseLayout({ ...JSON.parse(JSON.stringify(LAYOUT)) as JsonObject, maximized: "z" })).toEqual(LAYOUT);
  });

  it("gives up what cannot be read", () => {
    expect(parseLayout({ root: { tabs: [] } })).toBeNull();
    expect(parseLayout({ root: { parts: [{ tabs: [1, "a"], front: "z" }, 5] } })).toEqual({
      isColumn: false,
      root: { share: 1, parts: [{ share: 1, tabs: ["a"], front: "a" }] },
    });
    let deep: object = { tabs: ["a"] };
    for (let level = 0; level < 1000; level += 1) deep = { parts: [deep] };
    expect(parseLayout({ root: deep as never })).toBeNull();
  });

  it("closes up when panels go", () => {
    const rest = keepPanels(LAYOUT, (id) => id !== "c" && id !== "b");
    expect(panelsOf(rest)).toEqual(["a", "d"]);
    expect(rest?.root).toEqual({ share: 1, parts: [{ share: 600, parts: [{ share: 700, tabs: ["a"], front: "a" }] }, { share: 400, tabs: ["d"], front: "d" }] });
    expect(keepPanels(LAYOUT, () => false)).toBeNull();
  });

  it("tells what changed", () => {
    const changed = (from: string, to: string): Layout => JSON.parse(JSON.stringify(LAYOUT).replace(from, to)) as Layout;
    expect(layoutChange(LAYOUT, LAYOUT)).toBeNull();
    expect(layoutChange(LAYOUT, changed("\"front\":\"b\"", "\"front\":\"a\""))).toBe("fronts");
    expect(layoutChange(LAYOUT, changed("\"share\":600", "\"share\":500"))).toBe("sizes");
    expect(layoutChange(LAYOUT, changed("\"share\":600", "\"share\":601"))).toBeNull();
    expect(layoutChange(LAYOUT, changed("[\"a\",\"b\"]", "[\"b\",\"a\"]"))).toBe("places");
    expect(layoutChange(LAYOUT, keepPanels(LAYOUT, (id) => id !== "d"))).toBe("panels");
  });
});

describe("the workspace of a fresh item", () => {
  const item = { kind: "experiment" } as Item;
  const view = (id: string, applies = true): ViewPlugin => ({
    id, title: id, description: "", appliesTo: () => applies, component: () => Promise.reject(new Error("not shown")), defaultState: {}, stateVersion: 3,
  });

  it("has the views that exist and apply, and nothing else", () => {
    const workspace = defaultWorkspace(item, [view("profile.tree"), view("profile.flame", false), view("item.issues"), view("my.own")]);
    expect(panelsOf(workspace.layout)).toEqual(["profile.tree", "item.issues"]);
    expect(workspace.panels["profile.tree"]).toEqual({ view: "profile.tree", version: 3, state: {} });
  });

  it("is empty without views", () => {
    expect(defaultWorkspace(item, [])).toEqual({ layout: null, panels: {} });
  });

  it("numbers further panels of a view", () => {
    const taken = new Set(["v", "v~2"]);
    expect(freePanelId("v", (id) => taken.has(id))).toBe("v~3");
    expect(freePanelId("w", (id) => taken.has(id))).toBe("w");
  });
});
