/** Colours the cells of timelines on a GPU, into the same canvases as the processor. */
import SHADER from "./cell-colours.wgsl?raw";
import { cellPixels, LOOK_ROW, lookWords, type PackedCells, type TileLook } from "./tile-image.ts";
import { TILE_BINS, TILE_ROWS } from "./tiles.ts";

/** The most keys that a table of a look has room for here. */
const MOST_KEYS = 65_536;
/** Pieces whose cells stay on the device: 16 MB. */
const MOST_PIECES = 64;
/** Pieces that are coloured in turn to see how long one takes. */
const TIMED_PIECES = 8;

/** Written to, and looked up in: `COPY_DST` and `TEXTURE_BINDING` of the specification, which TypeScript does not declare. */
const TABLE_USAGE = 0x02 | 0x04;

/** A canvas that cells are drawn into. */
type Target = OffscreenCanvasRenderingContext2D;

interface Uploaded {
  readonly texture: GPUTexture;
  readonly group: GPUBindGroup;
}

/** Milliseconds for a piece of 64 by 1,024 cells, on each. */
export interface CellTimes {
  readonly gpu: number;
  readonly processor: number;
}

/** A device that colours cells. Closed, or once its device is lost, it draws nothing. */
export class WebGpuCells {
  readonly #device: GPUDevice;
  readonly #pipeline: GPURenderPipeline;
  readonly #canvas: OffscreenCanvas;
  readonly #context: GPUCanvasContext;
  readonly #look: GPUTexture;
  /** From the one that was used longest ago. */
  readonly #pieces = new Map<PackedCells, Uploaded>();
  #isOpen = true;
  /** What the browser says of the device. */
  readonly name: string;

  private constructor(device: GPUDevice, pipeline: GPURenderPipeline, context: GPUCanvasContext, canvas: OffscreenCanvas, name: string) {
    this.#device = device;
    this.#pipeline = pipeline;
    this.#context = context;
    this.#canvas = canvas;
    this.name = name;
    this.#look = device.createTexture({
      size: [LOOK_ROW, 3 + MOST_KEYS / LOOK_ROW],
      format: "r32uint",
      usage: TABLE_USAGE,
    });
  }

  /** Opens a device; where there is none, says why. `onlost` is called once, unless it is closed before. */
  static async open(onlost: (why: string) => void): Promise<WebGpuCells | string> {
    // Browsers without it, and pages that are not from a secure place, have no such member.
    const gpu = (navigator as { readonly gpu?: GPU }).gpu;
    if (gpu === undefined) return "WebGPU is not available to this page in this browser";
    const adapter = await gpu.requestAdapter();
    if (adapter === null) return "WebGPU found no device";
    const device = await adapter.requestDevice();
    const { vendor, architecture, description } = adapter.info;
    const name = [vendor, description === "" ? architecture : description].filter((part) => part !== "").join(" ");
    const canvas = new OffscreenCanvas(TILE_BINS, TILE_ROWS);
    // TypeScript declares no such context for a canvas that is not on the page.
    const context = canvas.getContext("webgpu" as OffscreenRenderingContextId) as unknown as GPUCanvasContext | null;
    if (context === null) {
      device.destroy();
      return "WebGPU cannot draw on a canvas";
    }
    const format = gpu.getPreferredCanvasFormat();
    context.configure({ device, format, alphaMode: "premultiplied" });
    const module = device.createShaderModule({ code: SHADER });
    const pipeline = await device.createRenderPipelineAsync({
      layout: "auto",
      vertex: { module, entryPoint: "corner" },
      fragment: { module, entryPoint: "colour", targets: [{ format }] },
    });
    const cells = new WebGpuCells(device, pipeline, context, canvas, name);
    const lost = (why: string): void => {
      if (!cells.#isOpen) return;
      cells.close();
      onlost(why);
    };
    // What failed was not drawn: too little memory is one reason.
    device.addEventListener("uncapturederror", ({ error }) => { lost(error.message); });
    device.lost.then(({ message, reason }) => { lost(message === "" ? reason : message); }, () => {
      // It never rejects.
    });
    return cells;
  }

  /** Draws the cells; false where it cannot, and nothing was drawn. */
  draw(packed: PackedCells, look: TileLook, into: Target): boolean {
    const { bins, rows, keys } = packed;
    if (!this.#isOpen || keys.length > MOST_KEYS || bins > TILE_BINS || rows > TILE_ROWS) return false;
    const { group } = this.#uploaded(packed);
    const words = lookWords(keys, look);
    this.#device.queue.writeTexture({ texture: this.#look }, words, { bytesPerRow: LOOK_ROW * 4 }, [LOOK_ROW, words.length / LOOK_ROW]);
    const encoder = this.#device.createCommandEncoder();
    const pass = encoder.beginRenderPass({
      colorAttachments: [{ view: this.#context.getCurrentTexture().createView(), loadOp: "clear", storeOp: "store", clearValue: [0, 0, 0, 0] }],
    });
    pass.setPipeline(this.#pipeline);
    pass.setBindGroup(0, group);
    pass.setViewport(0, 0, bins, rows, 0, 1);
    pass.setScissorRect(0, 0, bins, rows);
    pass.draw(3);
    pass.end();
    this.#device.queue.submit([encoder.finish()]);
    into.globalCompositeOperation = "copy";
    into.imageSmoothingEnabled = false;
    into.drawImage(this.#canvas, 0, 0, bins, rows, 0, 0, bins, rows);
    return true;
  }

  /**
   * Whether its dots are those of the processor: colours of every byte at every opacity, twice in turn with other
   * colours, as pieces are drawn.
   */
  isExact(): boolean {
    const packed = everyDot();
    return [CHECKED, { ...CHECKED, colourOf: (key: number) => [255 - key, key, key ^ 85] as const }].map((look) => {
      const [own, other] = [targetOf(packed), targetOf(packed)];
      if (own === null || other === null || !this.draw(packed, look, own)) return () => false;
      drawByProcessor(packed, look, other);
      // Both are drawn before either is read.
      return () => {
        const dots = (of: Target): Uint32Array => new Uint32Array(of.getImageData(0, 0, packed.bins, packed.rows).data.buffer);
        const [ours, theirs] = [dots(own), dots(other)];
        return ours.every((dot, at) => dot === theirs[at]);
      };
    }).every((isSame) => isSame());
  }

  /** How long a piece takes here and by the processor, until its dots are there; null where nothing can be drawn. */
  times(): CellTimes | null {
    const packed = everyDot();
    const timed = (draw: (into: Target) => void): number | null => {
      const into = targetOf(packed);
      if (into === null) return null;
      const start = performance.now();
      for (let piece = 0; piece < TIMED_PIECES; piece += 1) draw(into);
      // Reading waits for everything that was drawn.
      into.getImageData(0, 0, 1, 1);
      return (performance.now() - start) / TIMED_PIECES;
    };
    const gpu = (into: Target): void => { this.draw(packed, CHECKED, into); };
    const processor = (into: Target): void => { drawByProcessor(packed, CHECKED, into); };
    const found: CellTimes[] = [];
    for (let round = 0; round < 3; round += 1) {
      const one = { gpu: timed(gpu), processor: timed(processor) };
      if (one.gpu === null || one.processor === null) return null;
      found.push({ gpu: one.gpu, processor: one.processor });
    }
    return { gpu: Math.min(...found.map((one) => one.gpu)), processor: Math.min(...found.map((one) => one.processor)) };
  }

  close(): void {
    this.#isOpen = false;
    this.#pieces.clear();
    this.#device.destroy();
  }

  #uploaded(packed: PackedCells): Uploaded {
    let found = this.#pieces.get(packed);
    if (found === undefined) {
      const { bins, rows, cells } = packed;
      const texture = this.#device.createTexture({ size: [bins, rows], format: "r32uint", usage: TABLE_USAGE });
      this.#device.queue.writeTexture({ texture }, cells, { bytesPerRow: bins * 4 }, [bins, rows]);
      const group = this.#device.createBindGroup({
        layout: this.#pipeline.getBindGroupLayout(0),
        entries: [{ binding: 0, resource: texture.createView() }, { binding: 1, resource: this.#look.createView() }],
      });
      found = { texture, group };
    }
    // The last of the map is the one that was used last.
    this.#pieces.delete(packed);
    this.#pieces.set(packed, found);
    for (const [oldest, { texture }] of this.#pieces) {
      if (this.#pieces.size <= MOST_PIECES) break;
      this.#pieces.delete(oldest);
      texture.destroy();
    }
    return found;
  }
}

/** Draws the cells by the processor. */
export function drawByProcessor(packed: PackedCells, look: TileLook, into: Target): void {
  into.putImageData(new ImageData(cellPixels(packed.cells, lookWords(packed.keys, look)), packed.bins, packed.rows), 0, 0);
}

function targetOf({ bins, rows }: PackedCells): Target | null {
  return new OffscreenCanvas(bins, rows).getContext("2d");
}

/** Cells of 256 keys, each at 256 shares of time, so that all bytes of a colour meet many opacities. */
function everyDot(): PackedCells {
  const cells = Uint32Array.from({ length: TILE_BINS * TILE_ROWS }, (_, at) => ((at >> 8) + 1) * 256 + (at & 255));
  return { bins: TILE_BINS, rows: TILE_ROWS, cells, keys: Uint32Array.from({ length: 256 }, (_, key) => key) };
}

/** Every other key does not stand out. */
const CHECKED: TileLook = {
  mode: "dominant",
  colourOf: (key) => [key, 255 - key, (key * 7) & 255],
  isLit: (key) => key % 2 === 0,
  ramp: { name: "greys", title: "", diverging: false, rgb: () => [0, 0, 0], css: () => "" },
  deepest: 1,
};
