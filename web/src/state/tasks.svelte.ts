import type { AskOptions, EngineClient, Progress } from "./engine.ts";

/** A request that is under way. */
export interface Task {
  readonly id: number;
  readonly label: string;
  readonly progress: Progress | null;
}

const LABELS: Readonly<Record<string, string>> = {
  open: "Opening",
  combine: "Combining",
  tree_table: "Reading the tree",
  callers: "Finding callers",
  flat: "Summing functions",
  distribution: "Comparing locations",
  source: "Reading source",
  report: "Writing the report",
  balance: "Analysing load balance",
  idleness: "Analysing idle time",
  trace: "Reading traces",
  scaling: "Computing maps",
  sql: "Running the statement",
  sql_schema: "Reading table names",
  scaling_table: "Computing the table",
  models: "Finding growth models",
  compare: "Comparing",
};

/** Requests that take longer than this are shown. */
const SHOW_AFTER_MILLIS = 500;

/** What the engine is doing, and how to stop it. */
export class Tasks {
  #list = $state.raw<readonly Task[]>([]);
  readonly #aborts = new Map<number, AbortController>();
  #nextId = 1;
  #finished = $state(0);

  /** Grows with every request that ends. */
  get finished(): number {
    return this.#finished;
  }

  /** Only what has lasted long enough to be worth a look. */
  get list(): readonly Task[] {
    return this.#list;
  }

  cancelAll(): void {
    for (const abort of this.#aborts.values()) abort.abort();
  }

  /** Runs some work as a task: shown when it lasts, stopped by Cancel. */
  async run<T>(label: string, work: (options: Required<AskOptions>) => Promise<T>, outer: AskOptions = {}): Promise<T> {
    const id = this.#nextId;
    this.#nextId += 1;
    const abort = new AbortController();
    this.#aborts.set(id, abort);
    let progress: Progress | null = null;
    let isShown = false;
    const timer = setTimeout(() => {
      isShown = true;
      this.#list = [...this.#list, { id, label, progress }];
    }, SHOW_AFTER_MILLIS);
    try {
      return await work({
        isPatient: outer.isPatient ?? false,
        signal: outer.signal === undefined ? abort.signal : AbortSignal.any([abort.signal, outer.signal]),
        onProgress: (now) => {
          progress = now;
          outer.onProgress?.(now);
          if (isShown) this.#list = this.#list.map((task) => (task.id === id ? { ...task, progress: now } : task));
        },
      });
    } finally {
      clearTimeout(timer);
      this.#aborts.delete(id);
      this.#finished += 1;
      if (isShown) this.#list = this.#list.filter((task) => task.id !== id);
    }
  }

  /** The same client, with every request as a task. */
  watched(client: EngineClient): EngineClient {
    return {
      kind: client.kind,
      get roots() {
        return client.roots;
      },
      follow: client.follow,
      sql: client.sql,
      memoryBytes: () => client.memoryBytes(),
      // A look at the files is no work that somebody waits for.
      ask: (name, request, options) =>
        name === "fingerprint" ? client.ask(name, request, options) : this.run(LABELS[name] ?? "Reading", (inner) => client.ask(name, request, inner), options),
      addFiles: (name, files) => client.addFiles(name, files),
      addUrl: (name, url, files) => client.addUrl(name, url, files),
      dispose: () => { client.dispose(); },
    };
  }
}
