import { describe, expect, it } from "vitest";
import { ForceLayout } from "../src/widgets/graph/force.ts";
import { eachFamilyIn, eachNodeIn, nodeAt, nodeBeside, NODE_HEIGHT, treeLayout, type TreeLayout, type TreeShape } from "../src/widgets/graph/tree-layout.ts";
import { centred, fitted, MOST_ZOOM, revealing, zoomedAbout } from "../src/widgets/graph/window.ts";

/** A tree by the parent of each node, in depth-first order. */
function shape(parents: readonly number[]): TreeShape {
  const depth = new Uint16Array(parents.length);
  parents.forEach((parent, node) => { depth[node] = parent < 0 ? 0 : (depth[parent] ?? 0) + 1; });
  return { count: parents.length, parent: Int32Array.from(parents), depth };
}

/** A tree of some size, always the same, of which nodes have many or few children. */
function grown(count: number): TreeShape {
  const parents: number[] = [-1];
  const path = [0];
  let seed = 7;
  for (let node = 1; node < count; node += 1) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    const turn = seed / 2_147_483_648;
    if (turn < 0.4 && path.length > 1) path.length = 1 + Math.floor(turn * 2.5 * (path.length - 1));
    parents.push(path.at(-1) ?? 0);
    if (turn > 0.6 && path.length < 30) path.push(node);
  }
  return shape(parents);
}

function isWithoutOverlap(layout: TreeLayout): boolean {
  return layout.levels.every((list) => list.every((node, at) => at === 0 || (layout.y[node] ?? 0) - (layout.y[list[at - 1] ?? 0] ?? 0) >= NODE_HEIGHT + 2));
}

describe("tree layout", () => {
  it("puts children to the right, in order, and a parent next to their middle", () => {
    //  0 ─ 1
    //    ├ 2 ─ 3
    //    │   └ 4
    //    └ 5
    const layout = treeLayout(shape([-1, 0, 0, 2, 2, 0]), () => 80);
    const y = [...layout.y];
    expect(layout.x[0]).toBe(0);
    expect(layout.x[2]).toBeGreaterThan(80);
    expect(layout.x[1]).toBe(layout.x[5]);
    expect(y[1]).toBeLessThan(y[2] ?? 0);
    expect(y[2]).toBe(((y[3] ?? 0) + (y[4] ?? 0)) / 2);
    expect(y[0]).toBe(((y[1] ?? 0) + (y[5] ?? 0)) / 2);
    expect(y[4]).toBeLessThan(y[5] ?? 0);
  });

  it("keeps nodes of a level apart, whatever the tree", () => {
    for (const count of [1, 2, 50, 3000]) expect(isWithoutOverlap(treeLayout(grown(count), (node) => 40 + (node % 90)))).toBe(true);
  });

  it("makes levels as wide as their widest node", () => {
    const layout = treeLayout(shape([-1, 0, 1, 0, 3]), (node) => (node === 3 ? 200 : 50));
    expect(layout.left[2]).toBeGreaterThan((layout.left[1] ?? 0) + 200);
    expect(layout.totalWidth).toBe((layout.left[2] ?? 0) + 50);
  });

  it("keeps a parent of a hundred thousand in sight of the first", () => {
    const layout = treeLayout(shape([-1, ...Array<number>(100_000).fill(0)]), () => 60);
    expect((layout.y[0] ?? 0) - (layout.y[1] ?? 0)).toBeLessThan(300);
    expect(isWithoutOverlap(layout)).toBe(true);
  });

  it("finds what is under the pointer, and nothing next to it", () => {
    const layout = treeLayout(grown(3000), () => 60);
    for (const node of [0, 1, 17, 999, 2999]) {
      const [x, y] = [layout.x[node] ?? 0, layout.y[node] ?? 0];
      expect(nodeAt(layout, x + 1, y + 10)).toBe(node);
      expect(nodeAt(layout, x - 3, y)).not.toBe(node);
      expect(nodeAt(layout, x + 63, y)).toBe(-1);
    }
  });

  it("gives exactly what is in the window", () => {
    const layout = treeLayout(grown(3000), () => 60);
    const area = { left: 50, right: 700, top: 4000, bottom: 5000 };
    const seen = new Set<number>();
    eachNodeIn(layout, area, (node) => seen.add(node));
    for (let node = 0; node < 3000; node += 1) {
      const [x, y] = [layout.x[node] ?? 0, layout.y[node] ?? 0];
      const isIn = x + 60 >= area.left && x <= area.right && y + NODE_HEIGHT / 2 >= area.top && y - NODE_HEIGHT / 2 <= area.bottom;
      expect(seen.has(node)).toBe(isIn);
    }
    const families = new Set<number>();
    eachFamilyIn(layout, area, (node) => families.add(node));
    for (const node of seen) if ((layout.firstChild[node] ?? -1) >= 0 && (layout.left[1] ?? 0) < area.right) expect(families.has(node) || (layout.x[node] ?? 0) + 60 > area.right).toBe(true);
  });

  it("steps over what would lie on one dot", () => {
    const layout = treeLayout(shape([-1, ...Array<number>(100_000).fill(0)]), () => 60);
    let seen = 0;
    eachNodeIn(layout, { left: 0, right: 1000, top: 0, bottom: 1e9 }, () => { seen += 1; }, 1000);
    expect(seen).toBeLessThan(3000);
    expect(seen).toBeGreaterThan(2000);
  });

  it("goes up and down within a level", () => {
    const layout = treeLayout(shape([-1, 0, 1, 0, 3]), () => 60);
    expect(nodeBeside(layout, 1, 1, 1)).toBe(3);
    expect(nodeBeside(layout, 2, 4, -1)).toBe(2);
    expect(nodeBeside(layout, 2, 4, 1)).toBe(-1);
  });
});

describe("force layout", () => {
  const run = (force: ForceLayout): number => {
    let steps = 0;
    while (force.step() && steps < 5000) steps += 1;
    return steps;
  };

  it("comes to rest, and keeps five hundred things finite and apart", () => {
    const links = Array.from({ length: 500 }, (_, free) => ({ free, x: 0, y: (free % 20) * 40 }));
    const force = new ForceLayout(500, links, (thing) => [80 + (thing % 7), (thing % 20) * 40]);
    const began = performance.now();
    const steps = run(force);
    const millis = (performance.now() - began) / Math.max(1, steps);
    expect(force.isCalm).toBe(true);
    expect(steps).toBeLessThan(1000);
    expect([...force.x, ...force.y].every((value) => Number.isFinite(value) && Math.abs(value) < 1e4)).toBe(true);
    let close = 0;
    for (let one = 0; one < 500; one += 1) {
      for (let other = one + 1; other < 500; other += 1) {
        if (Math.hypot((force.x[one] ?? 0) - (force.x[other] ?? 0), (force.y[one] ?? 0) - (force.y[other] ?? 0)) < 1.6 * force.radius) close += 1;
      }
    }
    expect(close).toBeLessThan(10);
    // A frame has 16 ms; a machine with much else to do takes several times as long.
    expect(millis).toBeLessThan(50);
    console.log(`a step with 500 things: ${millis.toFixed(2)} ms, at rest after ${String(steps)}`);
  });

  it("survives things that are all in one place", () => {
    const force = new ForceLayout(50, [], () => [5, 5]);
    run(force);
    expect(new Set([...force.x].map((x) => Math.round(x))).size).toBeGreaterThan(5);
    expect([...force.x].every(Number.isFinite)).toBe(true);
  });

  it("brings what is linked near, but not into a box", () => {
    const box = { left: 0, top: 90, right: 100, bottom: 112 };
    const force = new ForceLayout(1, [{ free: 0, x: 100, y: 101 }], () => [600, 300], { boxesIn: (_, visit) => { visit(box.left, box.top, box.right, box.bottom); }, radius: 9 });
    run(force);
    const [x, y] = [force.x[0] ?? 0, force.y[0] ?? 0];
    expect(Math.hypot(x - 100, y - 101)).toBeLessThan(130);
    expect(x > box.right + 8 || y < box.top - 8 || y > box.bottom + 8).toBe(true);
  });

  it("leaves alone what was put somewhere, and moves the others out of its way", () => {
    const force = new ForceLayout(2, [], (thing) => [thing * 3, 0]);
    force.pin(0, 40, 40);
    force.pin(1, 41, 40);
    run(force);
    expect([force.x[0], force.y[0], force.x[1]]).toEqual([40, 40, 41]);
    const other = new ForceLayout(2, [], () => [40, 40]);
    other.pin(0, 40, 40);
    run(other);
    expect(Math.hypot((other.x[1] ?? 0) - 40, (other.y[1] ?? 0) - 40)).toBeGreaterThan(15);
  });
});

describe("the window onto a graph", () => {
  const window = { x: 100, y: 50, zoom: 1 };

  it("zooms about the pointer, within bounds", () => {
    const next = zoomedAbout(window, 2, 300, 200);
    expect([next.x + 300 / next.zoom, next.y + 200 / next.zoom]).toEqual([400, 250]);
    expect(zoomedAbout(window, 1e9, 0, 0).zoom).toBe(MOST_ZOOM);
  });

  it("shows small graphs whole and in the middle, and of large ones the beginning", () => {
    const small = fitted(0, 0, 400, 100, 800, 600);
    expect(small.x + 400 / small.zoom).toBeCloseTo(200);
    expect(fitted(0, 0, 1600, 100, 848, 600).zoom).toBeCloseTo(0.5);
    const large = fitted(0, 0, 400, 1e6, 800, 600);
    expect(large.zoom).toBeGreaterThanOrEqual(0.3);
    expect(large.y).toBeLessThan(0);
    expect(large.y).toBeGreaterThan(-200);
  });

  it("moves only as far as it must", () => {
    expect(revealing(window, 200, 100, 260, 120, 800, 600)).toEqual(window);
    expect(revealing(window, 1000, 100, 1060, 120, 800, 600)).toEqual({ x: 1060 + 24 - 800, y: 50, zoom: 1 });
    expect(centred(window, 500, 500, 800, 600)).toEqual({ x: 100, y: 200, zoom: 1 });
  });
});
