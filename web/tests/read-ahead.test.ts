import { describe, expect, it } from "vitest";
import { largeFile, type PartReader, type PartsRead, readParts, type Reading } from "../src/engine-client/read-ahead.ts";

const MEBI = 2 ** 20;

/** Reads parts of `step` bytes, as if every one were a run, and keeps what reached it. */
class TakingEngine implements Pick<PartReader, "read_part"> {
  readonly taken: { from: number; to: number; isRight: boolean }[] = [];
  most = 0;
  readonly #step: number;
  readonly #isUseful: boolean;

  constructor(step: number, isUseful = true) {
    this.#step = step;
    this.#isUseful = isUseful;
  }

  read_part(_key: string, _path: string, from: number, bytes: Uint8Array, isLast: boolean): { to: number; bytes: Uint8Array; free(): void } {
    this.most = Math.max(this.most, bytes.length);
    // Parts end at multiples of a step; to see that, the engine needs a byte of the next one.
    const end = isLast ? from + bytes.length : Math.floor((from + bytes.length - 1) / this.#step) * this.#step;
    const length = Math.max(0, end - from);
    if (length > 0) this.taken.push({ from, to: from + length, isRight: isRight(bytes.subarray(0, length), from) });
    return { to: from + length, bytes: new Uint8Array(this.#isUseful ? 1 : 0), free: () => undefined };
  }
}

/** The byte at an offset of every file here. */
const byteAt = (offset: number): number => Math.floor(offset / 1024) % 251;

/** Whether these are the bytes from `from` on, looked at here and there. */
function isRight(bytes: Uint8Array, from: number): boolean {
  for (let at = 0; at < bytes.length; at += 509) if (bytes[at] !== byteAt(from + at)) return false;
  return bytes.at(-1) === byteAt(from + bytes.length - 1);
}

/** A file that cannot be read from `broken` on, ends early at `end`, and is another one afterwards when `isChanged`. */
function fileOf(size: number, { broken = Infinity, end = size, isChanged = false }: { broken?: number; end?: number; isChanged?: boolean } = {}): Blob & { fetched: number } {
  const slice = (from = 0, to = size): Blob => ({ arrayBuffer: () => bytesOf(from, to), stream: () => streamFrom(from) }) as unknown as Blob;
  const file = { size, fetched: 0, slice };
  function bytesOf(from: number, to: number): Promise<ArrayBuffer> {
    if (isChanged) return Promise.reject(new DOMException("changed", "NotReadableError"));
    return Promise.resolve(Uint8Array.from({ length: to - from }, (_, at) => byteAt(from + at)).buffer);
  }
  function streamFrom(from: number): ReadableStream {
    file.fetched = from;
    return new ReadableStream({
      type: "bytes",
      pull(controller) {
        if (file.fetched >= broken) throw new DOMException("gone", "NotReadableError");
        const view = controller.byobRequest?.view;
        if (view == null) throw new Error("read without a buffer");
        const into = new Uint8Array(view.buffer, view.byteOffset, Math.min(view.byteLength, 300_001, end - file.fetched));
        for (let at = -(file.fetched % 1024); at < into.length; at += 1024) into.fill(byteAt(file.fetched + Math.max(at, 0)), Math.max(at, 0), at + 1024);
        file.fetched += into.length;
        if (into.length === 0) controller.close();
        controller.byobRequest?.respond(into.length);
      },
    });
  }
  return file as unknown as Blob & { fetched: number };
}

function read(
  engine: TakingEngine,
  file: Blob,
  { reading = whole(), onRead = () => undefined, onBegin = () => undefined }: { reading?: Reading; onRead?: (bytes: number) => void; onBegin?: (at: number) => void } = {},
): Promise<PartsRead | null> {
  return readParts(engine, { key: "r", path: "a.json", file }, reading, { onRead, onBegin });
}

const whole = (): Reading => ({ from: 0, isGuess: false, until: null, isStopped: false });
const guessed = (from: number): Reading => ({ ...whole(), from, isGuess: true });

/** Where the parts end, if each begins where the one before ends, the first at `from`, and all bytes were right. */
function endOf(engine: TakingEngine, from = 0): number {
  let end = from;
  for (const part of engine.taken) {
    expect(part.from).toBe(end);
    expect(part.isRight).toBe(true);
    end = part.to;
  }
  return end;
}

describe("a large file", () => {
  it("reaches the engine whole, in order, in little memory", async () => {
    const size = 20 * MEBI + 5;
    const engine = new TakingEngine(700_001);
    const told: number[] = [];
    const parts = await read(engine, fileOf(size), { onRead: (bytes) => { told.push(bytes); } });
    expect(endOf(engine)).toBe(size);
    expect(parts).toMatchObject({ end: size });
    expect(parts?.parts.length).toBe(engine.taken.length);
    expect(engine.most).toBeLessThanOrEqual(4 * MEBI);
    expect(told.at(-1)).toBe(size);
  });

  it("is read by two, who meet where the second one began", async () => {
    const size = 60 * MEBI + 3;
    const step = 1_300_001;
    const [first, second] = [new TakingEngine(step), new TakingEngine(step)];
    const begins: number[] = [];
    const back = await read(second, fileOf(size), { reading: guessed(24 * step - 1000), onBegin: (at) => { begins.push(at); } });
    expect(back?.end).toBe(size);
    expect(begins).toEqual([back?.begin]);
    const middle = back?.begin ?? 0;
    // The part before it is not whole: it is left to the other.
    const [skipped] = second.taken.splice(0, 1);
    expect(skipped?.to).toBe(middle);
    expect(middle % step).toBe(0);
    expect(endOf(second, middle)).toBe(size);
    expect(back?.parts.length).toBe(second.taken.length);

    const reading = whole();
    const front = await read(first, fileOf(size), { reading, onRead: (bytes) => { if (bytes > 9 * MEBI) reading.until = middle; } });
    expect(front).toMatchObject({ begin: 0, end: middle });
    expect(endOf(first)).toBe(middle);
  });

  it("is left to one where the other sees no part that begins behind its guess", async () => {
    const begins: number[] = [];
    const onBegin = (at: number): void => { begins.push(at); };
    const size = 60 * MEBI;
    expect(await read(new TakingEngine(Infinity), fileOf(size), { reading: guessed(20 * MEBI), onBegin })).toBeNull();
    expect(begins).toEqual([]);
    // Only the end of the file is seen.
    expect(await read(new TakingEngine(100 * MEBI), fileOf(size), { reading: guessed(58 * MEBI), onBegin })).toBeNull();
  });

  it("is read to its end by one who hears too late where another began, and not at all where no part ends there", async () => {
    const late = new TakingEngine(MEBI);
    const reading = whole();
    const onRead = (bytes: number): void => { if (bytes > 30 * MEBI) reading.until = 20 * MEBI; };
    expect((await read(late, fileOf(60 * MEBI), { reading, onRead }))?.end).toBe(60 * MEBI);
    const wrong = await read(new TakingEngine(MEBI), fileOf(60 * MEBI), { reading: { ...whole(), until: 20 * MEBI + 77 } });
    expect(wrong).toBeNull();
  });

  it("may have parts that are longer than what is usually held, up to a bound", async () => {
    const long = new TakingEngine(11 * MEBI);
    const parts = await read(long, fileOf(40 * MEBI));
    expect(long.taken.map(({ to }) => to)).toEqual([11, 22, 33, 40].map((to) => to * MEBI));
    expect(parts?.parts.length).toBe(4);
    const file = fileOf(100 * MEBI);
    expect(await read(new TakingEngine(200 * MEBI), file)).toBeNull();
    expect(file.fetched).toBeLessThan(40 * MEBI);
  });

  it("is not fetched on when the engine has no use for it, or nothing waits for it", async () => {
    const useless = fileOf(60 * MEBI);
    expect(await read(new TakingEngine(MEBI, false), useless)).toBeNull();
    expect(useless.fetched).toBeLessThan(6 * MEBI);

    const cancelled = fileOf(60 * MEBI);
    const reading = whole();
    const stopped = await read(new TakingEngine(MEBI), cancelled, { reading, onRead: (bytes) => { reading.isStopped = bytes > 10 * MEBI; } });
    expect(stopped).toBeNull();
    expect(cancelled.fetched).toBeLessThan(16 * MEBI);
  });

  it("is left to the engine when it breaks off, becomes shorter, changes, or cannot be had as a stream", async () => {
    const noStream = { size: 60 * MEBI, slice: () => ({ stream: () => new ReadableStream() }) } as unknown as Blob;
    for (const file of [fileOf(60 * MEBI, { broken: 20 * MEBI }), fileOf(60 * MEBI, { end: 30 * MEBI }), fileOf(60 * MEBI, { isChanged: true }), noStream]) {
      expect(await read(new TakingEngine(MEBI), file)).toBeNull();
    }
  });

  it("is one of JSON that is alone and large", () => {
    const large = fileOf(200 * MEBI);
    expect(largeFile("r", ["a.json"], [large])).toEqual({ key: "r", path: "a.json", file: large });
    expect(largeFile("r", ["a.db"], [large])).toBeNull();
    expect(largeFile("r", ["a.json"], [fileOf(MEBI)])).toBeNull();
    expect(largeFile("r", ["a.json", "b.json"], [large, large])).toBeNull();
  });
});
