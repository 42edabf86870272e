/** By whom the cells of timelines are coloured, and why: the same for all timelines of the page. */
import { untrack } from "svelte";
import type { CellChoice } from "../../base/palettes.ts";
import { packedCells, type TileLook } from "./tile-image.ts";
import type { Tile } from "./tiles.ts";
import { drawByProcessor, WebGpuCells, type CellTimes } from "./webgpu-cells.ts";

/** A frame in which the processor needs longer for cells is worth a try: a quarter of a frame at 60 Hz. */
const TRIED_MILLIS = 4;
/** Cells that are coloured within so many milliseconds are of one frame. */
const FRAME_MILLIS = 16;

/** Where WebGPU stands. */
type Device =
  | { readonly kind: "untried" }
  | { readonly kind: "opening" }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "there"; readonly cells: WebGpuCells; readonly times: CellTimes | null };

/** Colours cells, by a GPU where that takes less time; the dots are the same. */
export class CellPainter {
  #choice = $state.raw<CellChoice>("auto");
  #device = $state.raw<Device>({ kind: "untried" });
  #version = $state(0);
  /** The most milliseconds in a frame so far. */
  #most = $state(0);
  #frameStart = Number.NEGATIVE_INFINITY;
  #frameMillis = 0;
  readonly #open: typeof WebGpuCells.open;

  constructor(open: typeof WebGpuCells.open = WebGpuCells.open) {
    this.#open = open;
  }

  /** Changes when pictures that were made before may be wrong: a device was lost, perhaps before it had drawn them. */
  get version(): number {
    return this.#version;
  }

  get choice(): CellChoice {
    return this.#choice;
  }

  set choice(choice: CellChoice) {
    if (choice === this.#choice) return;
    this.#choice = choice;
    const device = this.#device;
    // Who chooses it again wants another try.
    if (device.kind === "refused") this.#device = { kind: "untried" };
    if (choice === "webgpu") this.#try();
    else if (choice === "processor" && device.kind === "there") {
      device.cells.close();
      this.#device = { kind: "untried" };
    }
  }

  /** Who colours the next cells. */
  get by(): "webgpu" | "processor" {
    return this.#gpu === null ? "processor" : "webgpu";
  }

  get #gpu(): WebGpuCells | null {
    const [choice, device] = [this.#choice, this.#device];
    if (device.kind !== "there" || choice === "processor") return null;
    return choice === "webgpu" || (device.times !== null && device.times.gpu < device.times.processor) ? device.cells : null;
  }

  /** A sentence on who colours cells, and why. */
  get reason(): string {
    const [choice, device] = [this.#choice, this.#device];
    if (choice === "processor") return "CPU, as selected.";
    switch (device.kind) {
      case "untried":
        return `CPU: ${this.#most === 0 ? "no cells coloured yet" : `at most ${millis(this.#most)} per frame so far`}; WebGPU is tried from ${millis(TRIED_MILLIS)} per frame.`;
      case "opening":
        return "CPU, until WebGPU is ready.";
      case "refused":
        return `CPU: ${device.why}.`;
      case "there": {
        const { cells, times } = device;
        const took = times === null ? "" : `: ${millis(times.gpu)} for 65,536 cells with WebGPU (${cells.name}), ${millis(times.processor)} on the CPU`;
        return `${this.by === "webgpu" ? `WebGPU${choice === "webgpu" ? ", as selected" : ""}` : "CPU"}${took}.`;
      }
    }
  }

  /** Draws the cells of a piece into a canvas of its size. What is drawn does not depend on who does it, so an effect that paints need not run again. */
  paint(tile: Tile, look: TileLook, picture: OffscreenCanvas): void {
    untrack(() => { this.#paint(tile, look, picture); });
  }

  #paint(tile: Tile, look: TileLook, picture: OffscreenCanvas): void {
    const into = picture.getContext("2d");
    if (into === null) return;
    const packed = packedCells(tile, look.mode);
    const gpu = this.#gpu;
    if (gpu !== null) {
      try {
        if (gpu.draw(packed, look, into)) return;
      } catch (error) {
        gpu.close();
        this.#lost(error instanceof Error ? error.message : String(error));
      }
    }
    const start = performance.now();
    drawByProcessor(packed, look, into);
    this.#took(start, performance.now());
  }

  #took(start: number, end: number): void {
    if (start - this.#frameStart > FRAME_MILLIS) {
      this.#frameStart = start;
      this.#frameMillis = 0;
    }
    this.#frameMillis += end - start;
    if (this.#frameMillis <= this.#most) return;
    const most = this.#frameMillis;
    // A frame must not depend on what it changes itself.
    queueMicrotask(() => {
      this.#most = Math.max(this.#most, most);
      if (this.#most >= TRIED_MILLIS && this.#choice === "auto") this.#try();
    });
  }

  #try(): void {
    if (this.#device.kind !== "untried") return;
    const opening: Device = { kind: "opening" };
    this.#device = opening;
    const known = (next: Device): void => {
      if (this.#device === opening) this.#device = next;
      else if (next.kind === "there") next.cells.close();
    };
    this.#open((why) => { this.#lost(why); }).then(
      (cells) => {
        if (typeof cells === "string") known({ kind: "refused", why: cells });
        else if (!cells.isExact()) {
          cells.close();
          known({ kind: "refused", why: `WebGPU (${cells.name}) draws different colours in this browser` });
        } else known({ kind: "there", cells, times: cells.times() });
      },
      (error: unknown) => { known({ kind: "refused", why: `WebGPU failed (${error instanceof Error ? error.message : String(error)})` }); },
    );
  }

  #lost(why: string): void {
    this.#device = { kind: "refused", why: `the WebGPU device was lost (${why})` };
    this.#version += 1;
  }
}

function millis(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 0)} ms`;
}

/** Of all timelines of the page. */
export const cellPainter = new CellPainter();
