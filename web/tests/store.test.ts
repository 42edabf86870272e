import { describe, expect, it } from "vitest";
import { History } from "../src/state/history.ts";
import { PanelSlice } from "../src/state/slice.svelte.ts";
import { Store } from "../src/state/store.svelte.ts";

const ITEM = "s1/amg";

function storeWithPanel(now: () => number = () => 0): Store {
  const store = new Store(new History(now));
  store.setWorkspace(ITEM, () => ({ layout: null, panels: { tree: { view: "profile.tree", version: 1, state: {} } } }), { undoable: false });
  return store;
}

describe("undo", () => {
  it("takes back and does again what a view changed", () => {
    const store = storeWithPanel();
    const slice = new PanelSlice(store, ITEM, "tree", { defaultState: { sort: "name" }, stateVersion: 1 });
    slice.set({ sort: "time" }, { label: "Sort by time" });
    slice.set({ sort: "loss" }, { label: "Sort by loss" });
    expect(store.undoLabel).toBe("Sort by loss");
    store.undo();
    expect(slice.current.sort).toBe("time");
    expect(store.redoLabel).toBe("Sort by loss");
    store.undo();
    expect(slice.current.sort).toBe("name");
    expect(store.undoLabel).toBeNull();
    store.redo();
    store.redo();
    expect(slice.current.sort).toBe("loss");
    expect(store.redoLabel).toBeNull();
  });

  it("takes back a drag as one step", () => {
    let now = 0;
    const store = storeWithPanel(() => now);
    const slice = new PanelSlice(store, ITEM, "tree", { defaultState: { width: 100 }, stateVersion: 1 });
    for (let width = 101; width <= 150; width += 1) {
      now += 16;
      slice.set({ width }, { coalesce: "width" });
    }
    store.undo();
    expect(slice.current.width).toBe(100);
  });

  it("keeps two drags apart when there was a pause", () => {
    let now = 0;
    const store = storeWithPanel(() => now);
    const slice = new PanelSlice(store, ITEM, "tree", { defaultState: { width: 100 }, stateVersion: 1 });
    slice.set({ width: 120 }, { coalesce: "width" });
    now += 5000;
    slice.set({ width: 140 }, { coalesce: "width" });
    store.undo();
    expect(slice.current.width).toBe(120);
  });

  it("forgets what was undone when something else is done", () => {
    const store = storeWithPanel();
    const slice = new PanelSlice(store, ITEM, "tree", { defaultState: { n: 0 }, stateVersion: 1 });
    slice.set({ n: 1 });
    store.undo();
    slice.set({ n: 2 });
    store.redo();
    expect(slice.current.n).toBe(2);
  });

  it("does not count what is not an action, nor what changes nothing", () => {
    const store = storeWithPanel();
    const slice = new PanelSlice(store, ITEM, "tree", { defaultState: { top: 0 }, stateVersion: 1 });
    slice.set({ top: 300 }, { undoable: false });
    slice.set({ top: 300 });
    expect(store.undoLabel).toBeNull();
  });

  it("leaves open what was opened", () => {
    const store = storeWithPanel();
    store.setLinks((links) => ({ ...links, mark: [{ kind: "context", item: ITEM, context: 1 }] }), { label: "Mark" });
    store.update((state) => ({ ...state, sources: [{ id: "s9", name: "new", origin: { kind: "sample", id: "x" } }] }), { undoable: false });
    store.undo();
    expect(store.state.links.mark).toEqual([]);
    expect(store.state.sources).toHaveLength(1);
  });
});

describe("a view's slice", () => {
  it("has the defaults until something is set, and keeps the rest when one member is", () => {
    const store = storeWithPanel();
    const slice = new PanelSlice(store, ITEM, "tree", { defaultState: { a: 1, b: 2 }, stateVersion: 1 });
    expect(slice.current).toEqual({ a: 1, b: 2 });
    slice.set({ b: 3 });
    expect(slice.current).toEqual({ a: 1, b: 3 });
  });

  it("of another version is migrated where the view can, and left aside where it cannot", () => {
    const store = storeWithPanel();
    new PanelSlice(store, ITEM, "tree", { defaultState: { sort: "x" }, stateVersion: 1 }).set({ sort: "time" });
    const without = new PanelSlice(store, ITEM, "tree", { defaultState: { order: "name" }, stateVersion: 2 });
    expect(without.current).toEqual({ order: "name" });
    const migrated = new PanelSlice(store, ITEM, "tree", {
      defaultState: { order: "name" },
      stateVersion: 2,
      migrate: (state) => ({ order: (state as { sort: string }).sort }),
    });
    expect(migrated.current).toEqual({ order: "time" });
    migrated.set({ order: "loss" });
    expect(store.workspace(ITEM).panels["tree"]).toEqual({ view: "profile.tree", version: 2, state: { order: "loss" } });
  });
});
