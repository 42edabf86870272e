import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ago, bytes, count, number, percent, plural, seconds, sentence, siCount } from "../src/base/format.ts";
import { columnScale, quantity } from "../src/base/quantity.ts";
import { fuzzyFilter, fuzzyMatch } from "../src/base/fuzzy.ts";
import { isPressed, keyLabel } from "../src/base/keys.ts";
import { treeRows, type TreeSource } from "../src/base/tree-rows.ts";
import { listPosition, reveal, rowWindow, scrollHeight, scrollPosition } from "../src/base/window-rows.ts";

const plain = (text: string): string => text.replace(/\u202f/g, " ").replace(/\u2212/g, "-");

/** Value, unit, how it stands there, and text: what the command line writes, and is tested with, too. */
const QUANTITIES = readFileSync("../crates/base/tests/quantities.tsv", "utf8").trimEnd().split("\n").map((line) => line.split("\t"));

describe("numbers as text", () => {
  it.each(QUANTITIES)("writes %s of %j that stands %s as %s, as the command line does", (value = "", unit = "", stands = "", text = "") => {
    const amount = Number(value);
    const scale = columnScale(unit, amount, Number.isInteger(amount));
    const written = stands === "column" ? `${scale.number(amount)} ${scale.unit}`.trimEnd() : quantity(amount, unit, stands === "alone" ? 3 : 4);
    expect(plain(written)).toBe(text.replace(/,/g, " "));
  });

  it.each([
    [0, "0 s"], [1.5, "1.500 s"], [59.99, "59.99 s"], [0.012_34, "12.34 ms"], [3.2e-6, "3.200 µs"], [5e-9, "5.000 ns"],
    [599.25, "599.3 s"], [1200, "1 200 s"], [720_000, "720 000 s"], [-0.5, "-500.0 ms"], [Number.NaN, "–"],
  ])("%d seconds are %s", (value, text) => { expect(plain(seconds(value))).toBe(text); });

  it.each([[0, "0 B"], [512, "512 B"], [1024, "1.02 kB"], [12_900_000, "12.9 MB"], [2.1e9, "2.10 GB"], [999_700, "1.00 MB"]])(
    "%d bytes are %s", (value, text) => { expect(plain(bytes(value))).toBe(text); });

  it.each([[0, "0.0 %"], [0.4532, "45.3 %"], [1, "100.0 %"], [0.0002, "<0.1 %"], [-0.25, "-25.0 %"]])(
    "the share %d is %s", (value, text) => { expect(plain(percent(value))).toBe(text); });

  it.each([[97_833, "97 833"], [999, "999"], [1_000_000, "1 000 000"], [-1234, "-1 234"]])(
    "%d counted is %s", (value, text) => { expect(plain(count(value))).toBe(text); });

  it("writes whole counts without decimals", () => {
    expect([6, 0, 9999, 2.5].map((value) => plain(siCount(value)))).toEqual(["6", "0", "9 999", "2.50"]);
  });

  it("makes sentences of clauses, and leaves names alone", () => {
    expect(["no context matches x", "the end.", "main.db is empty", "solve_x is gone", ""].map(sentence))
      .toEqual(["No context matches x.", "The end.", "main.db is empty.", "solve_x is gone.", ""]);
  });

  it("keeps small and large numbers apart from zero", () => {
    expect(number(1e-12)).not.toBe("0");
    expect(plain(siCount(9999))).toBe("9 999");
    expect(plain(siCount(1e15))).toBe("1.00 P");
  });

  it("says one and many", () => {
    expect(plural(1, "issue")).toBe("1 issue");
    expect(plural(0, "issue")).toBe("0 issues");
    expect(ago(0, 60_000)).toBe("1 minute ago");
    expect(ago(0, 2 * 86_400_000)).toBe("2 days ago");
  });
});

describe("finding by a few letters", () => {
  it("prefers beginnings of words", () => {
    const titles = ["Go to the next panel", "Open folder…", "Show Flat view of others"];
    expect(fuzzyFilter("of", titles, (title) => title)[0]?.one).toBe("Open folder…");
  });

  it("prefers runs to scattered letters", () => {
    const titles = ["Switch between light and dark theme", "Save layout…"];
    expect(fuzzyFilter("lay", titles, (title) => title)[0]?.one).toBe("Save layout…");
  });

  it("needs all letters in their order", () => {
    expect(fuzzyMatch("xyz", "Open folder")).toBeNull();
    expect(fuzzyMatch("redlof", "Open folder")).toBeNull();
    expect(fuzzyMatch("OPEN", "open folder")?.letters).toEqual([0, 1, 2, 3]);
  });

  it("keeps the order when nothing is typed", () => {
    expect(fuzzyFilter(" ", ["b", "a"], (text) => text).map(({ one }) => one)).toEqual(["b", "a"]);
  });
});

describe("keys", () => {
  const key = (init: KeyboardEventInit): KeyboardEvent => new KeyboardEvent("keydown", init);

  it("are recognised with exactly their modifiers", () => {
    expect(isPressed(key({ key: "z", ctrlKey: true }), "Ctrl+Z", false)).toBe(true);
    expect(isPressed(key({ key: "Z", ctrlKey: true, shiftKey: true }), "Ctrl+Z", false)).toBe(false);
    expect(isPressed(key({ key: "Z", ctrlKey: true, shiftKey: true }), "Ctrl+Shift+Z", false)).toBe(true);
    expect(isPressed(key({ key: "z" }), "Ctrl+Z", false)).toBe(false);
    expect(isPressed(key({ key: "?", shiftKey: true }), "?", false)).toBe(true);
  });

  it("use the command key on a Mac", () => {
    expect(isPressed(key({ key: "k", metaKey: true }), "Ctrl+K", true)).toBe(true);
    expect(isPressed(key({ key: "k", ctrlKey: true }), "Ctrl+K", true)).toBe(false);
    expect(isPressed(key({ key: "˜", code: "KeyN", altKey: true }), "Alt+N", true)).toBe(true);
    expect(keyLabel("Ctrl+Shift+Z", true)).toBe("⌘⇧Z");
    expect(keyLabel("Ctrl+Shift+Z", false)).toBe("Ctrl+Shift+Z");
  });
});

describe("a tree as rows", () => {
  const CHILDREN: Record<number, number[]> = { 0: [1, 4], 1: [2, 3], 4: [5] };
  const source: TreeSource = {
    roots: [0],
    children: (node) => CHILDREN[node] ?? [],
    hasChildren: (node) => CHILDREN[node] !== undefined,
  };
  const drawn = (open: number[]): string[] => {
    const rows = treeRows(source, (node) => open.includes(node));
    return Array.from(rows.nodes, (node, row) => `${"  ".repeat(rows.depths[row] ?? 0)}${String(node)}`);
  };

  it("shows what is open", () => {
    expect(drawn([])).toEqual(["0"]);
    expect(drawn([0])).toEqual(["0", "  1", "  4"]);
    expect(drawn([0, 1, 4])).toEqual(["0", "  1", "    2", "    3", "  4", "    5"]);
  });

  it("does not show what is open inside something closed", () => {
    expect(drawn([1, 4])).toEqual(["0"]);
  });

  it("knows the row of each parent", () => {
    expect([...treeRows(source, () => true).parents]).toEqual([-1, 0, 1, 1, 0, 4]);
  });

  it("waits for children that are not loaded", () => {
    const rows = treeRows({ roots: [7], children: () => null, hasChildren: () => true }, () => true);
    expect([...rows.nodes]).toEqual([7]);
  });

  it("takes a chain of a million contexts without a stack of its own", () => {
    const LAST = 1_000_000;
    const chain: TreeSource = { roots: [0], children: (node) => [node + 1], hasChildren: (node) => node < LAST };
    const rows = treeRows(chain, () => true);
    expect(rows.length).toBe(LAST + 1);
    expect(rows.nodes[LAST]).toBe(LAST);
  });
});

describe("rows on screen", () => {
  const ROW = 24;
  const VIEW = 480;

  it("are those at the scroll position, when the list is short", () => {
    const window = rowWindow(240, 1000, ROW, VIEW, 0);
    expect([window.first, window.end, window.offsetPixels]).toEqual([10, 30, 240]);
  });

  it("reach the last row of a list that is taller than browsers allow", () => {
    const rows = 5_000_000;
    const height = scrollHeight(rows, ROW);
    expect(height).toBeLessThanOrEqual(12_000_000);
    const window = rowWindow(height - VIEW, rows, ROW, VIEW, 0);
    expect(window.end).toBe(rows);
    expect(window.offsetPixels + (window.end - window.first) * ROW).toBeCloseTo(height, 3);
  });

  it("come back to their position", () => {
    for (const rows of [100, 1_000_000, 20_000_000]) {
      for (const row of [0, Math.floor(rows / 3), rows - 20]) {
        const top = scrollPosition(row * ROW, rows, ROW, VIEW);
        expect(listPosition(top, rows, ROW, VIEW)).toBeCloseTo(row * ROW, 3);
      }
    }
  });

  it("move as little as needed to show one", () => {
    expect(reveal(5, 0, ROW, VIEW)).toBe(0);
    expect(reveal(30, 0, ROW, VIEW)).toBe(31 * ROW - VIEW);
    expect(reveal(3, 240, ROW, VIEW)).toBe(72);
  });
});
