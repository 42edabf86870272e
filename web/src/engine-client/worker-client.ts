import { tableFromIPC } from "@uwdata/flechette";
import { FILES_OF_FOLDERS } from "../wire/formats.ts";
import type { Protocol, RootReply } from "../wire/protocol.ts";
import {
  type Answer,
  type AskOptions,
  type EngineClient,
  EngineError,
  type NamedFile,
  type Progress,
  written,
} from "./client.ts";
import { Channel, type Message, type Outcome } from "./channel.ts";
import { embeddedRoots } from "./embedded.ts";
import { Turns } from "./turns.ts";
import { type LargeFile, largeFile, type PartsRead } from "./read-ahead.ts";

/** Files from this size on are read by two workers. */
const SHARED_BYTES = 48 * 2 ** 20;

/** How much of a shared file the first worker reads: it has the page's questions besides. */
const FRONT_SHARE = 0.48;

/** Milliseconds that the engine has to itself before the second worker starts. */
const BEFORE_HELPER = 1000;

/** The engine in a worker of this page, with a second one that helps to read large files. */
export class WorkerClient implements EngineClient {
  readonly kind = "worker";
  readonly roots: RootReply[] = [];
  readonly #start: () => Worker;
  #channel: Channel;
  /** Once its engine has started; null before, and where there is none. */
  #helper: Channel | null = null;
  readonly #turns = new Turns();
  #numMade = 0;
  /** Large files that are being read, by the key of their root. */
  readonly #readings = new Map<string, Reading>();
  /** How to make the roots again, should the worker have to be restarted. */
  #made: Message[] = [];

  constructor(start: () => Worker) {
    this.#start = start;
    this.#channel = this.#started();
  }

  /** Also makes roots of the files that a page of its own brought along. */
  static async connect(start: () => Worker): Promise<WorkerClient> {
    const client = new WorkerClient(start);
    const brought = await embeddedRoots();
    for (const { name, files } of brought) {
      client.roots.push(await client.addFiles(name, files));
    }
    // A report shows what it brought along, which is small.
    if (brought.length === 0 && navigator.hardwareConcurrency > 1) client.#startHelper().catch(() => undefined);
    return client;
  }

  /** Starts the second worker when the first one is ready and has had time to warm up. */
  async #startHelper(): Promise<void> {
    await this.#channel.send({ type: "wake" });
    await new Promise((resolve) => { setTimeout(resolve, BEFORE_HELPER); });
    const helper = new Channel(this.#start(), () => { this.#helper = null; });
    await helper.send({ type: "wake" });
    this.#helper = helper;
  }

  async ask<K extends keyof Protocol>(
    name: K,
    request: Protocol[K]["request"],
    options: AskOptions = {},
  ): Promise<Answer<K>> {
    const { signal, onProgress } = options;
    if (signal?.aborted) throw new EngineError(CANCELLED);
    if (name === "open" && "root" in request) await this.#readAhead(request.root, options);
    const done = await this.#turns.take(name, signal, options.isPatient).catch(() => { throw new EngineError(CANCELLED); });
    // A worker of a page that lies on a disk may read no address of it.
    const cancelUrl = location.protocol === "file:" ? "" : URL.createObjectURL(new Blob(["."]));
    const cancel = () => { URL.revokeObjectURL(cancelUrl); };
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      if (signal?.aborted) throw new EngineError(CANCELLED);
      const message = { type: "ask", request: written(name, request), cancelUrl } as const;
      const outcome = await this.#channel.send(message, onProgress);
      if (signal?.aborted) throw new EngineError(CANCELLED);
      if (outcome.type !== "answer") throw new EngineError(CONFUSED);
      const tables: Answer<K>["tables"] = {};
      for (const [table, bytes] of outcome.tables) {
        tables[table] = tableFromIPC(new Uint8Array(bytes));
      }
      return { reply: JSON.parse(outcome.json) as Protocol[K]["reply"], tables };
    } finally {
      done();
      signal?.removeEventListener("abort", cancel);
      URL.revokeObjectURL(cancelUrl);
    }
  }

  addFiles(name: string, files: NamedFile[]): Promise<RootReply> {
    const paths = files.map((file) => file.path);
    const blobs = files.map((file) => file.file);
    const key = this.#key();
    const root = this.#root({ type: "add-files", key, name, paths, files: blobs });
    // Who adds a file opens it next; until the page comes to that, the workers have begun.
    this.#beginReading(key);
    return root;
  }

  addUrl(name: string, url: string, files?: string[]): Promise<RootReply> {
    const address = new URL(url, document.baseURI).href;
    const isFile = /\.[a-z0-9]+$/i.test(new URL(address).pathname);
    const paths = files ?? (isFile ? [""] : [...FILES_OF_FOLDERS]);
    return this.#root({ type: "add-url", key: this.#key(), name, url: address, files: paths });
  }

  /** Files that were picked stay as they were. */
  readonly follow = false;

  /** What answers statements is not for browsers. */
  readonly sql = false;

  memoryBytes(): number {
    return this.#channel.memory;
  }

  dispose(): void {
    this.#helper?.close(new EngineError(CANCELLED));
    this.#channel.close(new EngineError(CANCELLED));
  }

  /** Waits until the large file of a root has been read, where it has one. */
  async #readAhead(key: string, { signal, onProgress }: AskOptions): Promise<void> {
    const reading = this.#readings.get(key) ?? this.#beginReading(key);
    if (reading === null) return;
    const tell = () => onProgress?.(reading.progress());
    reading.listeners.add(tell);
    signal?.addEventListener("abort", reading.stop, { once: true });
    try {
      await reading.done;
    } finally {
      signal?.removeEventListener("abort", reading.stop);
      reading.listeners.delete(tell);
      this.#readings.delete(key);
    }
  }

  /** Has the workers read the large file of a root in parts; what goes wrong there is told by opening it. */
  #beginReading(key: string): Reading | null {
    const made = this.#made.find((one) => one.type === "add-files" && one.key === key);
    const large = made?.type === "add-files" ? largeFile(key, made.paths, made.files) : null;
    if (large === null) return null;
    const total = large.file.size;
    const helper = total >= SHARED_BYTES ? this.#helper : null;
    const channels = helper === null ? [this.#channel] : [this.#channel, helper];
    const bytes = channels.map(() => 0);
    const sum = () => bytes.reduce((all, one) => all + one, 0);
    const listeners = new Set<() => void>();
    const hears = (nth: number) => (progress: Progress) => {
      bytes[nth] = progress.bytes;
      for (const listener of listeners) listener();
    };
    const front = this.#channel.send({ type: "read-parts", ...large, from: 0, isGuess: false }, hears(0));
    const back = helper === null ? null : this.#readBack(helper, large, hears(1));
    const reading: Reading = {
      listeners,
      progress: () => ({ done: sum(), total, bytes: sum() }),
      stop: () => {
        for (const channel of channels) channel.send({ type: "stop-reading", key }).catch(() => undefined);
      },
      done: this.#finishReading(large, front, back),
    };
    // It may never be asked for.
    reading.done.catch(() => undefined);
    this.#readings.set(key, reading);
    return reading;
  }

  async #finishReading(large: LargeFile, front: Promise<Outcome>, back: Promise<PartsRead | null> | null): Promise<void> {
    const [first, second] = await Promise.all([front, back?.catch(() => null) ?? null]);
    const parts = joined(first.type === "parts" ? first.read : null, second, large.file.size);
    // Messages arrive in order: whoever opens the file now does so when its parts are there.
    if (parts !== null) this.#channel.send({ type: "add-parts", key: large.key, path: large.path, parts }).catch(() => undefined);
  }

  /** Has the second worker read the back half of a large file. */
  async #readBack(helper: Channel, large: LargeFile, onProgress: (progress: Progress) => void): Promise<PartsRead | null> {
    const { key, path, file } = large;
    // All at once: a page that is busy showing what was added answers nothing for a while.
    const added = helper.send({ type: "add-files", key, name: path, paths: [path], files: [file] });
    const guess = { from: Math.floor(file.size * FRONT_SHARE), isGuess: true };
    const reading = helper.send({ type: "read-parts", ...large, ...guess }, onProgress, (until) => {
      this.#channel.send({ type: "read-until", key, until }).catch(() => undefined);
    });
    const [outcome] = await Promise.all([reading, added]);
    return outcome.type === "parts" ? outcome.read : null;
  }

  #key(): string {
    this.#numMade += 1;
    return `root${this.#numMade}`;
  }

  async #root(message: Message): Promise<RootReply> {
    this.#made.push(message);
    try {
      const outcome = await this.#channel.send(message);
      if (outcome.type !== "root") throw new EngineError(CONFUSED);
      return outcome.root;
    } catch (error) {
      this.#made = this.#made.filter((made) => made !== message);
      throw error;
    }
  }

  /** A channel to a new worker. When that dies, another takes its place: what was open is lost, what can be opened is not. */
  #started(): Channel {
    return new Channel(this.#start(), (error) => {
      this.#channel.close(error);
      this.#channel = this.#started();
      for (const message of this.#made) this.#channel.send(message).catch(() => undefined);
    });
  }
}

/** A large file that the workers read. */
interface Reading {
  readonly done: Promise<void>;
  readonly progress: () => Progress;
  readonly listeners: Set<() => void>;
  readonly stop: () => void;
}

/** All parts of a file, if what was read is the whole of it. */
function joined(front: PartsRead | null, back: PartsRead | null, size: number): Uint8Array[] | null {
  if (front === null || front.end === size) return front?.parts ?? null;
  return back !== null && front.end === back.begin && back.end === size ? [...front.parts, ...back.parts] : null;
}

const CANCELLED = { kind: "cancelled", message: "cancelled", hint: null };
const CONFUSED = { kind: "protocol", message: "the engine sent the answer to another request", hint: "reload the page" };
