import { tableFromIPC } from "@uwdata/flechette";
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
import { embeddedRoots } from "./embedded.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

/** Files of a database that are looked for when nobody lists what is behind an address. */
const DATABASE_FILES = ["meta.db", "profile.db", "cct.db", "trace.db"];

/** What the worker said at last about a request. */
type Outcome = Extract<FromWorker, { type: "answer" | "root" }>;

interface Pending {
  resolve: (outcome: Outcome) => void;
  reject: (error: EngineError) => void;
  onProgress: ((progress: Progress) => void) | undefined;
}

/** A message without its number. */
type Unnumbered = ToWorker extends infer M ? (M extends ToWorker ? Omit<M, "id"> : never) : never;

/** The engine in a worker of this page. */
export class WorkerClient implements EngineClient {
  readonly kind = "worker";
  readonly roots: RootReply[] = [];
  readonly #start: () => Worker;
  #worker: Worker;
  #pending = new Map<number, Pending>();
  #numMade = 0;
  #memory = 0;
  /** How to make the roots again, should the worker have to be started anew. */
  #made: Unnumbered[] = [];

  constructor(start: () => Worker) {
    this.#start = start;
    this.#worker = this.#started();
  }

  /** Also makes roots of the files that a page of its own brought along. */
  static async connect(start: () => Worker): Promise<WorkerClient> {
    const client = new WorkerClient(start);
    for (const { name, files } of await embeddedRoots()) {
      client.roots.push(await client.addFiles(name, files));
    }
    return client;
  }

  async ask<K extends keyof Protocol>(
    name: K,
    request: Protocol[K]["request"],
    options: AskOptions = {},
  ): Promise<Answer<K>> {
    const { signal, onProgress } = options;
    if (signal?.aborted) throw new EngineError(CANCELLED);
    // A worker of a page that lies on a disk may read no address of it.
    const lifeline = location.protocol === "file:" ? "" : URL.createObjectURL(new Blob(["."]));
    const cancel = () => URL.revokeObjectURL(lifeline);
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      const message = { type: "ask", request: written(name, request), lifeline } as const;
      const outcome = await this.#send(message, onProgress);
      if (signal?.aborted) throw new EngineError(CANCELLED);
      if (outcome.type !== "answer") throw new EngineError(CONFUSED);
      const tables: Answer<K>["tables"] = {};
      for (const [table, bytes] of outcome.tables) {
        tables[table] = tableFromIPC(new Uint8Array(bytes));
      }
      return { reply: JSON.parse(outcome.json) as Protocol[K]["reply"], tables };
    } finally {
      signal?.removeEventListener("abort", cancel);
      URL.revokeObjectURL(lifeline);
    }
  }

  addFiles(name: string, files: NamedFile[]): Promise<RootReply> {
    const paths = files.map((file) => file.path);
    const blobs = files.map((file) => file.file);
    return this.#root({ type: "add-files", key: this.#key(), name, paths, files: blobs });
  }

  addUrl(name: string, url: string, files?: string[]): Promise<RootReply> {
    const address = new URL(url, document.baseURI).href;
    const isFile = /\.[a-z0-9]+$/i.test(new URL(address).pathname);
    const paths = files ?? (isFile ? [""] : DATABASE_FILES);
    return this.#root({ type: "add-url", key: this.#key(), name, url: address, files: paths });
  }

  memoryBytes(): number {
    return this.#memory;
  }

  dispose(): void {
    this.#worker.terminate();
  }

  #key(): string {
    this.#numMade += 1;
    return `root${this.#numMade}`;
  }

  async #root(message: Unnumbered): Promise<RootReply> {
    const outcome = await this.#send(message, undefined);
    if (outcome.type !== "root") throw new EngineError(CONFUSED);
    this.#made.push(message);
    return outcome.root;
  }

  #send(message: Unnumbered, onProgress: Pending["onProgress"]): Promise<Outcome> {
    this.#numMade += 1;
    const id = this.#numMade;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, onProgress });
      this.#worker.postMessage({ ...message, id });
    });
  }

  #started(): Worker {
    const worker = this.#start();
    worker.onmessage = (event: MessageEvent<FromWorker>) => this.#receive(event.data);
    worker.onerror = (event) => {
      // The script or the wasm could not be loaded: no answer will ever come.
      event.preventDefault();
      const message = event.message || "the engine could not be loaded";
      this.#failAll(new EngineError({ kind: "crashed", message, hint: "reload the page" }));
    };
    return worker;
  }

  #receive(message: FromWorker): void {
    const pending = this.#pending.get(message.id);
    if (message.type === "progress" || message.type === "answer") this.#memory = message.memory;
    if (message.type === "progress") {
      pending?.onProgress?.({ done: message.done, total: message.total, bytes: message.bytes });
      return;
    }
    this.#pending.delete(message.id);
    if (message.type !== "error") {
      pending?.resolve(message);
      return;
    }
    const error = new EngineError(message.error);
    pending?.reject(error);
    if (message.isDead) this.#restart(error);
  }

  /** A new worker in place of one that crashed. What was open is lost; what can be opened is not. */
  #restart(error: EngineError): void {
    this.#worker.terminate();
    this.#failAll(error);
    this.#memory = 0;
    this.#worker = this.#started();
    for (const message of this.#made) void this.#send(message, undefined).catch(() => undefined);
  }

  #failAll(error: EngineError): void {
    const all = [...this.#pending.values()];
    this.#pending.clear();
    for (const pending of all) pending.reject(error);
  }
}

const CANCELLED = { kind: "cancelled", message: "cancelled", hint: null };
const CONFUSED = { kind: "protocol", message: "the engine answered another question", hint: "reload the page" };
