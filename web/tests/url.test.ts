import { deflateSync, strToU8 } from "fflate";
import { describe, expect, it } from "vitest";
import { EMPTY_STATE, parseState, type AppState } from "../src/state/app-state.ts";
import { fromFragment, toFragment } from "../src/state/url.ts";

const STATE: AppState = {
  version: 1,
  sources: [
    { id: "s1", name: "amg", origin: { kind: "local", key: "abc" } },
    { id: "s2", name: "p.json", origin: { kind: "url", url: "https://example.org/p.json", files: [] } },
    { id: "s3", name: "Blackscholes", origin: { kind: "sample", id: "blackscholes" } },
    { id: "s4", name: "all", origin: { kind: "root", key: "r1" } },
  ],
  active: "s1/amg",
  desks: {
    "s1/amg": {
      layout: {
        isColumn: false,
        root: { share: 1, parts: [{ share: 5, tabs: ["profile.tree", "profile.flat"], front: "profile.flat" }, { share: 3, tabs: ["item.issues"], front: "item.issues" }] },
      },
      panels: {
        "profile.tree": { view: "profile.tree", version: 2, state: { sort: "inclusive", open: [1, 2, 3], ünï: "→" } },
        "profile.flat": { view: "profile.flat", version: 1, state: {} },
        "item.issues": { view: "item.issues", version: 1, state: {} },
      },
    },
  },
  links: {
    mark: [{ kind: "context", item: "s1/amg", context: 12 }, { kind: "region", item: "s2/p.json", region: "1.2" }],
    focus: { kind: "location", item: "s1/amg", location: 7 },
    spot: { item: "s1/amg", context: 3, window: [10, 20], locations: [0, 1] },
  },
};

function encode(value: unknown, prefix = "#v1="): string {
  const bytes = deflateSync(strToU8(JSON.stringify(value)));
  return prefix + btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

describe("a state in an address", () => {
  it("comes back as it was", () => {
    expect(fromFragment(toFragment(STATE))).toEqual({ state: STATE });
  });

  it("needs no escapes", () => {
    expect(toFragment(STATE)).toMatch(/^#v1=[A-Za-z0-9_-]+$/);
  });

  it("is absent in an address without one, and in one of other software", () => {
    expect(fromFragment("")).toBeNull();
    expect(fromFragment("#")).toBeNull();
    expect(fromFragment("#chapter-2")).toBeNull();
  });

  it("of a newer version is told in words", () => {
    expect(fromFragment("#v2=abc")).toMatchObject({ problem: expect.stringContaining("newer") as string });
    expect(fromFragment(encode({ ...STATE, version: 9 }))).toMatchObject({ problem: expect.stringContaining("newer") as string });
  });

  it("that was cut off is told in words", () => {
    const whole = toFragment(STATE);
    for (const length of [5, 9, 40, whole.length - 10]) {
      expect(fromFragment(whole.slice(0, length))).toMatchObject({ problem: expect.stringContaining("damaged") as string });
    }
  });

  it("that unfolds to very much is refused", () => {
    expect(fromFragment(encode({ version: 1, desks: { a: "x".repeat(5_000_000) } }))).toHaveProperty("problem");
  });
});

describe("a state that was made elsewhere", () => {
  it("loses what has the wrong form, and keeps the rest", () => {
    const parsed = parseState({
      version: 1,
      sources: [{ id: "s1", name: "a", origin: { kind: "local", key: "k" } }, { id: 3 }, { id: "s2", name: "b", origin: { kind: "spell" } }, null],
      active: 17,
      desks: { good: { layout: "none", panels: { a: { view: "x", version: 1, state: { y: 1 } }, b: { view: 3 } } }, bad: 5 },
      links: { mark: [{ kind: "context", item: "i", context: "7" }, { kind: "context", item: "i", context: 7 }], focus: "x", spot: { item: 3 } },
    });
    expect(parsed).toEqual({
      state: {
        version: 1,
        sources: [{ id: "s1", name: "a", origin: { kind: "local", key: "k" } }],
        active: null,
        desks: { good: { layout: null, panels: { a: { view: "x", version: 1, state: { y: 1 } } } } },
        links: { mark: [{ kind: "context", item: "i", context: 7 }], focus: null, spot: null },
      },
    });
  });

  it("without anything in it is the empty one", () => {
    expect(parseState({ version: 1 })).toEqual({ state: EMPTY_STATE });
  });

  it("that is no object is a problem, not a crash", () => {
    for (const value of [null, 3, "x", [], [1]]) expect(parseState(value)).toHaveProperty("problem");
  });
});
