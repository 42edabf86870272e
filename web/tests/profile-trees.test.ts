import { columnFromArray, dictionary, tableFromColumns, utf8 } from "@uwdata/flechette";
import { describe, expect, test } from "vitest";
import { numberColumn, textAt, textColumn } from "../src/view-kit/columns.ts";
import { childrenOf, contextTable, hotPath, nameOf, pathTo, rowOf, shape, type ContextTable } from "../src/view-kit/context-table.ts";
import { lacksCallPaths, sumsOfExclusive } from "../src/views/profile/flat-tree.ts";
import { carryOpen, flatTable, join, uniteCosts } from "../src/views/profile/join.ts";
import { matchedCost, matcher, matchingRows, matchingTexts, nextMatch, NO_SEARCH } from "../src/view-kit/search.ts";
import { firstOpen, sortSiblings, visibleRows, withOpen, withRevealed, type Order } from "../src/views/profile/visible.ts";

/** A tree drawn as lines: two blanks for each level, the name, and its inclusive cost where it is not 1. */
function drawn(text: string): ContextTable {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const indent = Math.min(...lines.map((line) => line.search(/\S/)));
  const rows = lines.map((line) => {
    const [name = "", cost = "1", own = "0"] = line.trim().split(/\s+/);
    return { depth: (line.search(/\S/) - indent) / 2, name, cost: Number(cost), own: Number(own) };
  });
  return contextTable(
    tableFromColumns({
      depth: columnFromArray(Uint32Array.from(rows, (row) => row.depth)),
      context_id: columnFromArray(Uint32Array.from(rows, (_, at) => 100 - at * 3)),
      kind: columnFromArray(rows.map(() => "function"), dictionary(utf8())),
      name: columnFromArray(rows.map((row) => row.name), dictionary(utf8())),
      "inclusive:0": columnFromArray(Float64Array.from(rows, (row) => row.cost)),
      "exclusive:0": columnFromArray(Float64Array.from(rows, (row) => row.own)),
    }),
  );
}

/** A random tree in depth-first order, by a seed. */
function randomTree(length: number, seed: number): { tree: ContextTable; parents: readonly number[]; random: () => number } {
  let state = seed;
  const random = (): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
  const depths: number[] = [];
  for (let row = 0; row < length; row += 1) depths.push(row === 0 ? 0 : Math.floor(random() * ((depths[row - 1] ?? 0) + 2)));
  const parents = depths.map((depth, row) => {
    for (let above = row - 1; above >= 0; above -= 1) if ((depths[above] ?? 0) < depth) return above;
    return -1;
  });
  const text = depths.map((depth) => `${"  ".repeat(depth)}f${String(Math.floor(random() * 9))} ${String(Math.floor(random() * 20))}`).join("\n");
  return { tree: drawn(text), parents, random };
}

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

describe("tables of contexts", () => {
  test("parents and ends of subtrees follow from depths", () => {
    for (const seed of SEEDS) {
      const { tree, parents } = randomTree(60, seed);
      expect([...tree.parent]).toEqual(parents);
      for (let row = 0; row < tree.length; row += 1) {
        const isBelow = (other: number): boolean => {
          for (let at = other; at >= 0; at = parents[at] ?? -1) if (at === row) return true;
          return false;
        };
        const below = parents.map((_, other) => other).filter((other) => isBelow(other));
        expect([row, tree.end[row]]).toEqual([row, (below.at(-1) ?? row) + 1]);
        expect(childrenOf(tree, row)).toEqual(parents.flatMap((parent, child) => (parent === row ? [child] : [])));
      }
    }
  });

  test("a depth that skips a level is taken as one level", () => {
    expect([...shape(Uint32Array.of(0, 3, 3, 0)).parent]).toEqual([-1, 0, 1, -1]);
  });

  test("a context is found by its id, and one that is not there is not", () => {
    const tree = drawn(`
      main
        a
        b
    `);
    expect(rowOf(tree, 97)).toBe(1);
    expect(rowOf(tree, 100)).toBe(0);
    expect(rowOf(tree, 98)).toBe(-1);
    const sparse: ContextTable = { ...tree, contextId: Uint32Array.of(4_000_000_000, 7, 7) };
    expect(rowOf(sparse, 4_000_000_000)).toBe(0);
    expect(rowOf(sparse, 7)).toBe(1);
    expect(rowOf(sparse, 8)).toBe(-1);
    expect(pathTo(tree, 2).map((row) => nameOf(tree, row))).toEqual(["main", "b"]);
  });

  test("texts of a dictionary and undefined numbers survive", () => {
    const table = tableFromColumns({
      name: columnFromArray(["a", null, "b", "a"], dictionary(utf8())),
      plain: columnFromArray(["x", "y", "x", null]),
      cost: columnFromArray([1.5, null, 0, 2]),
    });
    const name = textColumn(table, "name");
    expect([0, 1, 2, 3].map((row) => textAt(name, row))).toEqual(["a", "", "b", "a"]);
    expect(name.texts).toEqual(["a", "b"]);
    const plain = textColumn(table, "plain");
    expect([0, 1, 2, 3].map((row) => textAt(plain, row))).toEqual(["x", "y", "x", ""]);
    expect([...numberColumn(table, "cost")]).toEqual([1.5, Number.NaN, 0, 2]);
  });
});

/** What `visibleRows` must show, by recursion over children. */
function expectedRows(tree: ContextTable, open: Uint8Array, root: number, order: Order): number[] {
  const out: number[] = [];
  const visit = (row: number): void => {
    out.push(row);
    if (open[row] === 1) for (const child of sortSiblings(tree, childrenOf(tree, row), order)) visit(child);
  };
  for (const row of root < 0 ? sortSiblings(tree, childrenOf(tree, -1), order) : [root]) visit(row);
  return out;
}

describe("visible rows", () => {
  test("are those whose ancestors are open, whatever the order", () => {
    for (const seed of SEEDS) {
      const { tree, random } = randomTree(80, seed);
      const open = Uint8Array.from({ length: tree.length }, () => (random() < 0.6 ? 1 : 0));
      const values = tree.costs[0]?.inclusive ?? new Float64Array();
      const orders: Order[] = [{ by: "table" }, { by: "cost", values, descending: true }, { by: "cost", values, descending: false }, { by: "name", descending: false }];
      for (const order of orders) {
        for (const root of [-1, 0, 7]) {
          const visible = visibleRows(tree, open, root, order);
          expect([...visible.rows]).toEqual(expectedRows(tree, open, root, order));
          visible.rows.forEach((row, at) => {
            const parent = visible.parents[at] ?? -1;
            expect(parent < 0 ? -1 : visible.rows[parent]).toBe(row === root ? -1 : tree.parent[row]);
          });
        }
      }
    }
  });

  test("siblings with the same cost keep their order, and undefined costs come last", () => {
    const tree = drawn("a\nb\nc\nd");
    const order: Order = { by: "cost", values: Float64Array.of(1, Number.NaN, 3, 1), descending: true };
    expect(sortSiblings(tree, [0, 1, 2, 3], order)).toEqual([2, 0, 3, 1]);
    expect(sortSiblings(tree, [0, 1, 2, 3], { ...order, descending: false })).toEqual([0, 3, 2, 1]);
  });

  test("opening deeply opens only below, and leaves have nothing to open", () => {
    const tree = drawn(`
      main
        a
          b
        c
      other
        d
    `);
    expect([...withOpen(tree, new Uint8Array(6), 0, true, true)]).toEqual([1, 1, 0, 0, 0, 0]);
    expect([...withOpen(tree, new Uint8Array(6).fill(1), 0, false, true)]).toEqual([0, 0, 0, 0, 1, 1]);
    expect([...withRevealed(tree, new Uint8Array(6), [2])]).toEqual([1, 1, 0, 0, 0, 0]);
  });

  test("a fresh tree is open down to where the cost divides", () => {
    const tree = drawn(`
      thread 100
        main 100
          solve 99
            a 50
              deep 50
            b 49
      idle 1
        poll 1
    `);
    const open = firstOpen(tree, tree.costs[0]?.inclusive ?? new Float64Array());
    const visible = visibleRows(tree, open, -1, { by: "table" });
    expect([...visible.rows].map((row) => nameOf(tree, row))).toEqual(["thread", "main", "solve", "a", "b", "idle"]);
  });

  test("a million contexts open and sort within seconds", () => {
    const length = 1_000_000;
    const depth = Uint32Array.from({ length }, (_, row) => (row === 0 ? 0 : 1 + (row % 40)));
    const base = drawn("a");
    const values = Float64Array.from({ length }, (_, row) => (row * 7919) % 1009);
    const codes = new Int32Array(length);
    const tree: ContextTable = { ...base, length, depth, ...shape(depth), name: { codes, texts: ["f"] }, costs: [{ inclusive: values, exclusive: values }] };
    const open = new Uint8Array(length).fill(1);
    const began = performance.now();
    expect(visibleRows(tree, open, -1, { by: "table" }).length).toBe(length);
    expect(visibleRows(tree, open, -1, { by: "cost", values, descending: true }).length).toBe(length);
    expect(performance.now() - began).toBeLessThan(8000);
  });
});

describe("the hot path", () => {
  const tree = drawn(`
    thread 100
      main 100
        solve 60
          a 25
          b 35
        write 40
    helper 80
  `);
  const cost = tree.costs[0]?.inclusive ?? new Float64Array();
  const names = (rows: readonly number[]): string[] => rows.map((row) => nameOf(tree, row));

  test("follows the most expensive child while it bears the share of its parent", () => {
    expect(names(hotPath(tree, cost, -1, 0.5))).toEqual(["thread", "main", "solve", "b"]);
    expect(names(hotPath(tree, cost, -1, 0.6))).toEqual(["thread", "main", "solve"]);
    expect(names(hotPath(tree, cost, -1, 0.61))).toEqual(["thread", "main"]);
  });

  test("begins where it is told, and stops where nothing costs", () => {
    expect(names(hotPath(tree, cost, 2, 0.1))).toEqual(["solve", "b"]);
    expect(names(hotPath(tree, new Float64Array(tree.length), 1, 0))).toEqual(["main"]);
  });
});

describe("search", () => {
  const tree = drawn(`
    main 10
      MPI_Send 4
        MPI_Send 3
      mpi_helper 2
    std::sort<int>
  `);

  function found(change: Partial<typeof NO_SEARCH>): string[] {
    const texts = matchingTexts(tree.name, { ...NO_SEARCH, ...change });
    return texts === null ? [] : [...matchingRows(tree.name, texts)].map((row) => nameOf(tree, row));
  }

  test("knows case, words and regular expressions", () => {
    expect(found({ text: "mpi" })).toEqual(["MPI_Send", "MPI_Send", "mpi_helper"]);
    expect(found({ text: "MPI", isCased: true })).toEqual(["MPI_Send", "MPI_Send"]);
    expect(found({ text: "sort", isWord: true })).toEqual(["std::sort<int>"]);
    expect(found({ text: "MPI", isWord: true })).toEqual([]);
    expect(found({ text: "^m.*n$", isRegex: true })).toEqual(["main"]);
    expect(found({ text: "sort<" })).toEqual(["std::sort<int>"]);
    expect(found({ text: "" })).toEqual([]);
  });

  test("says why an expression is not regular instead of failing", () => {
    const wrong = matcher({ ...NO_SEARCH, text: "(", isRegex: true });
    expect(wrong !== null && "problem" in wrong ? wrong.problem : "").toMatch(/^Not a regular expression: unterminated group/);
  });

  test("goes to the next and previous match, round the end", () => {
    const rows = Int32Array.of(3, 7, 9);
    expect(nextMatch(rows, -1, 1)).toBe(0);
    expect(nextMatch(rows, 3, 1)).toBe(1);
    expect(nextMatch(rows, 4, 1)).toBe(1);
    expect(nextMatch(rows, 9, 1)).toBe(0);
    expect(nextMatch(rows, 7, -1)).toBe(0);
    expect(nextMatch(rows, 8, -1)).toBe(1);
    expect(nextMatch(rows, 3, -1)).toBe(2);
    expect(nextMatch(new Int32Array(), 3, 1)).toBe(-1);
  });

  test("counts a match inside another one once", () => {
    expect(matchedCost(tree, Int32Array.of(1, 2, 3), tree.costs[0]?.inclusive ?? new Float64Array())).toBe(6);
  });
});

describe("lists with loaded parts", () => {
  const list = drawn("f 10 5\ng 8 4\nh 2 1");
  const callersOfG = drawn(`
    g 8 4
      main 6 3
        start 6 3
      f 2 1
  `);

  test("a part takes the place of its entry, with the entry's own numbers", () => {
    const joined = join(list, new Map([[1, callersOfG]]));
    expect(Array.from({ length: joined.tree.length }, (_, row) => `${"  ".repeat(joined.tree.depth[row] ?? 0)}${nameOf(joined.tree, row)}`)).toEqual([
      "f", "g", "  main", "    start", "  f", "h",
    ]);
    expect([...(joined.tree.costs[0]?.inclusive ?? [])]).toEqual([10, 8, 6, 6, 2, 2]);
    expect([...joined.entries]).toEqual([0, 1, 1, 1, 1, 2]);
    expect([...joined.tree.end]).toEqual([1, 5, 4, 4, 5, 6]);
  });

  test("what is open stays open when another part arrives before it", () => {
    const before = join(list, new Map([[1, callersOfG]]));
    const open = new Uint8Array(before.tree.length);
    open[1] = 1;
    open[2] = 1;
    const after = join(list, new Map([[0, callersOfG], [1, callersOfG]]));
    expect([...carryOpen(before, open, after)].flatMap((isOpen, row) => (isOpen === 1 ? [row] : []))).toEqual([4, 5]);
  });

  test("trees of two metrics become one, with what only the second has", () => {
    const other = drawn(`
      g 80 40
        start 7 7
        main 60 30
          start 60 30
      k 9 9
    `);
    const united = uniteCosts([callersOfG, other]);
    const [first, second] = united.costs;
    expect(Array.from({ length: united.length }, (_, row) => `${"  ".repeat(united.depth[row] ?? 0)}${nameOf(united, row)} ${String(first?.inclusive[row])} ${String(second?.inclusive[row])}`)).toEqual([
      "g 8 80", "  main 6 60", "    start 6 60", "  f 2 0", "  start 0 7", "k 0 9",
    ]);
    const twice = uniteCosts([drawn("f 5 5\nf 3 3"), drawn("f 50 50\nf 30 30")]);
    expect([...(twice.costs[1]?.inclusive ?? [])]).toEqual([50, 30]);
  });

  test("a flat answer is a list without levels", () => {
    const flat = flatTable(
      tableFromColumns({
        name: columnFromArray(["f", "g"]),
        place: columnFromArray(["a.c:1", ""]),
        inclusive: columnFromArray(Float64Array.of(3, 2)),
        exclusive: columnFromArray(Float64Array.of(1, 2)),
        contexts: columnFromArray(Uint32Array.of(4, 1)),
      }),
      "function",
    );
    expect([...flat.parent]).toEqual([-1, -1]);
    expect(textAt(flat.kind, 1)).toBe("function");
  });
});

describe("profiles without call paths", () => {
  test("are recognised where timers that ran inside others lie next to them", () => {
    const flat = drawn(`
      main 100 10
      solve 70 60
      MPI_Send 30 30
    `);
    const inclusive = flat.costs[0]?.inclusive ?? new Float64Array();
    expect(lacksCallPaths(flat, inclusive, 100)).toBe(true);
    expect([...sumsOfExclusive(flat, flat.costs[0]?.exclusive ?? new Float64Array())]).toEqual([10, 60, 30]);
  });

  test("are neither trees, nor lists in which nothing is counted twice", () => {
    const tree = drawn(`
      main 100 10
        solve 90 90
    `);
    expect(lacksCallPaths(tree, tree.costs[0]?.inclusive ?? new Float64Array(), 100)).toBe(false);
    const list = drawn(`
      main 60 60
      other 40 40
    `);
    expect(lacksCallPaths(list, list.costs[0]?.inclusive ?? new Float64Array(), 100)).toBe(false);
  });
});
