import { tableFromIPC } from "@uwdata/flechette";
import type { Protocol, RootReply } from "../wire/protocol.ts";
import {
  type Answer,
  type AskOptions,
  type EngineClient,
  EngineError,
  type NamedFile,
  written,
} from "./client.ts";
import { Channel, type Message } from "./channel.ts";
import { embeddedRoots } from "./embedded.ts";
import { type LargeFile, largeFile, readAhead } from "./read-ahead.ts";

/** Files of a database that are looked for when nobody lists what is behind an address. */
const DATABASE_FILES = ["meta.db", "profile.db", "cct.db", "trace.db"];

/** The engine in a worker of this page. */
export class WorkerClient implements EngineClient {
  readonly kind = "worker";
  readonly roots: RootReply[] = [];
  readonly #start: () => Worker;
  #channel: Channel;
  #numMade = 0;
  /** How to make the roots again, should the worker have to be started anew. */
  #made: Message[] = [];

  constructor(start: () => Worker) {
    this.#start = start;
    this.#channel = this.#started();
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
      const large = this.#largeFileOf(name, request);
      if (large !== null) await readAhead(this.#channel, large, signal, onProgress);
      const message = { type: "ask", request: written(name, request), lifeline } as const;
      const outcome = await this.#channel.send(message, onProgress);
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
    return this.#channel.memory;
  }

  dispose(): void {
    this.#channel.close(new EngineError(CANCELLED));
  }

  /** The large file that a request is about to open. */
  #largeFileOf<K extends keyof Protocol>(name: K, request: Protocol[K]["request"]): LargeFile | null {
    if (name !== "open" || !("root" in request)) return null;
    for (const made of this.#made) {
      if (made.type === "add-files" && made.key === request.root) return largeFile(made.key, made.paths, made.files);
    }
    return null;
  }

  #key(): string {
    this.#numMade += 1;
    return `root${this.#numMade}`;
  }

  async #root(message: Message): Promise<RootReply> {
    const outcome = await this.#channel.send(message);
    if (outcome.type !== "root") throw new EngineError(CONFUSED);
    this.#made.push(message);
    return outcome.root;
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

const CANCELLED = { kind: "cancelled", message: "cancelled", hint: null };
const CONFUSED = { kind: "protocol", message: "the engine answered another question", hint: "reload the page" };
