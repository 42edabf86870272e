import { describe, expect, it } from "vitest";
import { Channel } from "../src/engine-client/channel.ts";
import { largeFile, readAhead } from "../src/engine-client/read-ahead.ts";
import type { FromWorker, ToWorker } from "../src/engine-client/worker-messages.ts";

const MEBI = 2 ** 20;

/** A worker that takes pieces, and of which `isUseful` says after which it wants no more. */
class TakingWorker {
  onmessage: ((event: { data: FromWorker }) => void) | null = null;
  readonly pieces: Extract<ToWorker, { type: "read-part" }>[] = [];
  readonly #isUseful: (count: number) => boolean;

  constructor(isUseful: (count: number) => boolean) {
    this.#isUseful = isUseful;
  }

  postMessage(message: ToWorker): void {
    if (message.type !== "read-part") throw new Error(message.type);
    this.pieces.push(message);
    const isUseful = this.#isUseful(this.pieces.length);
    setTimeout(() => { this.onmessage?.({ data: { id: message.id, type: "part", isUseful } }); });
  }

  channel(): Channel {
    return new Channel(this as unknown as Worker, () => undefined);
  }
}

/** A file of which every slice begins with the number of its mebibyte; reading from `broken` on fails. */
function fileOf(size: number, broken = Infinity): Blob {
  const slice = (from = 0, to = size): Blob => {
    const end = Math.min(to, size);
    const arrayBuffer = (): Promise<ArrayBuffer> => {
      if (end > broken) return Promise.reject(new Error("the file is gone"));
      return Promise.resolve(new Uint8Array(end - from).fill(Math.floor(from / MEBI), 0, 1).buffer);
    };
    return { size: end - from, arrayBuffer } as Blob;
  };
  return { size, slice } as Blob;
}

async function piecesOf(worker: TakingWorker, file: Blob): Promise<TakingWorker["pieces"]> {
  await readAhead(worker.channel(), { key: "r", path: "a.json", file }, undefined, undefined);
  return worker.pieces;
}

describe("a large file", () => {
  it("reaches the worker whole, in order, and only its end is called the last", async () => {
    const size = 20 * MEBI + 5;
    const pieces = await piecesOf(new TakingWorker(() => true), fileOf(size));
    let end = 0;
    for (const piece of pieces) {
      expect(piece.from).toBe(end);
      expect(new Uint8Array(piece.bytes)[0]).toBe(Math.floor(end / MEBI));
      end += piece.bytes.byteLength;
      expect(piece.isLast).toBe(end === size);
    }
    expect(end).toBe(size);
    expect(pieces.length).toBeGreaterThan(2);
  });

  it("is not fetched on when the worker has no use for it, or it cannot be read", async () => {
    const useless = await piecesOf(new TakingWorker(() => false), fileOf(60 * MEBI));
    expect(useless.length).toBeLessThan(4);
    const broken = await piecesOf(new TakingWorker(() => true), fileOf(60 * MEBI, 20 * MEBI));
    expect(broken.every((piece) => !piece.isLast)).toBe(true);
    expect(broken.length).toBeGreaterThan(1);
  });

  it("is one of JSON that is alone and large", () => {
    const large = fileOf(200 * MEBI);
    expect(largeFile("r", ["a.json"], [large])).toEqual({ key: "r", path: "a.json", file: large });
    expect(largeFile("r", ["a.db"], [large])).toBeNull();
    expect(largeFile("r", ["a.json"], [fileOf(MEBI)])).toBeNull();
    expect(largeFile("r", ["a.json", "b.json"], [large, large])).toBeNull();
  });
});
