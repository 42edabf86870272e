import { EngineError, type Progress } from "./client.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

/** What a worker says at last about a message. */
export type Outcome = Exclude<FromWorker, { type: "progress" | "begins" | "error" }>;

/** A message without its number. */
export type Message = ToWorker extends infer M ? (M extends ToWorker ? Omit<M, "id"> : never) : never;

interface Pending {
  resolve: (outcome: Outcome) => void;
  reject: (error: EngineError) => void;
  onProgress: ((progress: Progress) => void) | undefined;
  onBegin: ((at: number) => void) | undefined;
}

/** One worker: messages go in, each is answered once. */
export class Channel {
  /** Bytes of memory that the engine in this worker has taken, as far as it told. */
  memory = 0;
  readonly #worker: Worker;
  readonly #onDeath: (error: EngineError) => void;
  readonly #pending = new Map<number, Pending>();
  #numSent = 0;

  /** Speaks to `worker`; `onDeath` is called when it will not answer any more. */
  constructor(worker: Worker, onDeath: (error: EngineError) => void) {
    this.#worker = worker;
    this.#onDeath = onDeath;
    worker.onmessage = (event: MessageEvent<FromWorker>) => { this.#receive(event.data); };
    worker.onerror = (event) => {
      // The script or the wasm could not be loaded: no answer will ever come.
      event.preventDefault();
      const message = event.message || "the engine could not be loaded";
      this.#fail(new EngineError({ kind: "crashed", message, hint: "reload the page" }));
    };
  }

  send(message: Message, onProgress?: (progress: Progress) => void, onBegin?: (at: number) => void): Promise<Outcome> {
    this.#numSent += 1;
    const id = this.#numSent;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, onProgress, onBegin });
      this.#worker.postMessage({ ...message, id });
    });
  }

  /** Ends the worker; what it has not answered is rejected with `error`. */
  close(error: EngineError): void {
    this.#worker.terminate();
    this.#fail(error);
  }

  #receive(message: FromWorker): void {
    const pending = this.#pending.get(message.id);
    if (message.type === "progress" || message.type === "answer") this.memory = message.memory;
    if (message.type === "progress") {
      pending?.onProgress?.({ done: message.done, total: message.total, bytes: message.bytes });
      return;
    }
    if (message.type === "begins") {
      pending?.onBegin?.(message.at);
      return;
    }
    this.#pending.delete(message.id);
    if (message.type !== "error") {
      pending?.resolve(message);
      return;
    }
    const error = new EngineError(message.error);
    pending?.reject(error);
    if (message.isDead) this.#onDeath(error);
  }

  #fail(error: EngineError): void {
    const all = [...this.#pending.values()];
    this.#pending.clear();
    for (const pending of all) pending.reject(error);
  }
}
