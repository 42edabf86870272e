import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ramp } from "../src/base/palettes.ts";
import { CellPainter } from "../src/widgets/timeline/cell-painter.svelte.ts";
import type { TileLook } from "../src/widgets/timeline/tile-image.ts";
import type { Tile } from "../src/widgets/timeline/tiles.ts";
import type { CellTimes, WebGpuCells } from "../src/widgets/timeline/webgpu-cells.ts";

const LOOK: TileLook = { mode: "dominant", colourOf: () => [1, 2, 3], isLit: null, ramp: ramp("viridis"), deepest: 3 };
const TILE: Tile = { firstNs: 0, binNs: 1, bins: 1, rows: 1, key: Uint32Array.of(1), dominant: Uint8Array.of(255), busy: Uint8Array.of(255), depth: Uint8Array.of(1) };

/** How long a piece takes the processor, in milliseconds. */
let takes = 0;
let drawn = "";
const picture = { getContext: () => ({ putImageData: () => { drawn = "processor"; now += takes; } }) } as unknown as OffscreenCanvas;
let now = 0;

beforeEach(() => {
  [now, takes, drawn] = [0, 0, ""];
  vi.spyOn(performance, "now").mockImplementation(() => now);
  vi.stubGlobal("ImageData", class {});
});
afterEach(() => { vi.unstubAllGlobals(); });

interface Device {
  readonly painter: CellPainter;
  opened: number;
  closed: number;
  lose(why: string): void;
  fails: boolean;
}

function device({ times = { gpu: 1, processor: 2 }, isExact = true, refused = null }: { times?: CellTimes; isExact?: boolean; refused?: string | null } = {}): Device {
  let onlost: (why: string) => void = () => undefined;
  const made: Device = {
    painter: new CellPainter((lost) => {
      made.opened += 1;
      onlost = lost;
      return Promise.resolve(refused ?? (cells as unknown as WebGpuCells));
    }),
    opened: 0,
    closed: 0,
    lose: (why) => { onlost(why); },
    fails: false,
  };
  const cells = {
    name: "some device",
    isExact: () => isExact,
    times: () => times,
    close: () => { made.closed += 1; },
    draw: () => {
      if (made.fails) throw new Error("out of memory");
      drawn = "webgpu";
      return true;
    },
  };
  return made;
}

async function paint(painter: CellPainter, pieces: number): Promise<string> {
  now += 1000;
  for (let piece = 0; piece < pieces; piece += 1) painter.paint(TILE, LOOK, picture);
  await new Promise((resolve) => { setTimeout(resolve); });
  return drawn;
}

describe("who colours cells", () => {
  test("WebGPU is tried where a frame takes the processor 4 ms, and used where it is faster", async () => {
    const { painter, ...made } = device();
    takes = 1;
    expect(await paint(painter, 3)).toBe("processor");
    expect(painter.reason).toBe("CPU: at most 3.00 ms per frame so far; WebGPU is tried from 4.00 ms per frame.");
    expect(await paint(painter, 4)).toBe("processor");
    expect(await paint(painter, 1)).toBe("webgpu");
    expect(painter.reason).toBe("WebGPU: 1.00 ms for 65,536 cells with WebGPU (some device), 2.00 ms on the CPU.");
    expect(made.closed).toBe(0);
  });

  test("a slower device is not used, unless it is chosen", async () => {
    const { painter } = device({ times: { gpu: 3, processor: 2 } });
    takes = 5;
    await paint(painter, 1);
    expect(await paint(painter, 1)).toBe("processor");
    expect(painter.reason).toBe("CPU: 3.00 ms for 65,536 cells with WebGPU (some device), 2.00 ms on the CPU.");
    painter.choice = "webgpu";
    expect(await paint(painter, 1)).toBe("webgpu");
  });

  test("a device that draws other colours is closed", async () => {
    const made = device({ isExact: false });
    made.painter.choice = "webgpu";
    await paint(made.painter, 1);
    expect(await paint(made.painter, 1)).toBe("processor");
    expect(made.closed).toBe(1);
    expect(made.painter.reason).toContain("draws different colours in this browser");
  });

  test("a device that fails or is lost leaves no picture behind, and is tried again only by choice", async () => {
    const made = device();
    made.painter.choice = "webgpu";
    await paint(made.painter, 1);
    expect(await paint(made.painter, 1)).toBe("webgpu");
    made.fails = true;
    expect(await paint(made.painter, 1)).toBe("processor");
    expect([made.painter.version, made.closed]).toEqual([1, 1]);
    expect(made.painter.reason).toBe("CPU: the WebGPU device was lost (out of memory).");
    made.fails = false;
    await paint(made.painter, 1);
    expect(made.opened).toBe(1);
    made.painter.choice = "auto";
    made.painter.choice = "webgpu";
    await paint(made.painter, 1);
    expect(await paint(made.painter, 1)).toBe("webgpu");
    made.lose("driver reset");
    expect(made.painter.version).toBe(2);
    expect(await paint(made.painter, 1)).toBe("processor");
  });

  test("whoever wants the processor gets it", async () => {
    const made = device();
    made.painter.choice = "webgpu";
    await paint(made.painter, 1);
    made.painter.choice = "processor";
    expect(await paint(made.painter, 1)).toBe("processor");
    expect(made.closed).toBe(1);
    expect(made.painter.reason).toBe("CPU, as selected.");
  });
});
