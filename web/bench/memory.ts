import { readFileSync, readdirSync } from "node:fs";

/** Own memory of a process and of all it started, in bytes: what it allocated and what it shares, without files. */
export function memoryOf(root: number): number {
  const parents = new Map<number, number>();
  const own = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    const process = Number(name);
    if (!Number.isInteger(process)) continue;
    try {
      const status = readFileSync(`/proc/${name}/status`, "utf8");
      const kibibytes = (key: string): number => Number(new RegExp(`^${key}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
      parents.set(process, kibibytes("PPid"));
      own.set(process, (kibibytes("RssAnon") + kibibytes("RssShmem")) * 1024);
    } catch {
      // It ended meanwhile.
    }
  }
  let sum = 0;
  for (const [process, bytes] of own) {
    for (let at: number | undefined = process; at !== undefined && at !== 0; at = parents.get(at)) {
      if (at === root) {
        sum += bytes;
        break;
      }
    }
  }
  return sum;
}

/** The process of the browser that this one started. */
export function browserProcess(): number {
  for (const name of readdirSync("/proc")) {
    try {
      const status = readFileSync(`/proc/${name}/status`, "utf8");
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8");
      if (Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]) === process.pid && command.includes("--remote-debugging")) return Number(name);
    } catch {
      // Not a process, or it ended.
    }
  }
  throw new Error("the browser is not a child of this process");
}

/** The largest memory between now and `stop`, and what it was at the start. */
export class MemoryWatch {
  readonly #process: number;
  readonly before: number;
  #peak: number;
  readonly #timer: NodeJS.Timeout;

  constructor(process: number) {
    this.#process = process;
    this.before = memoryOf(process);
    this.#peak = this.before;
    this.#timer = setInterval(() => { this.#look(); }, 40);
  }

  #look(): void {
    this.#peak = Math.max(this.#peak, memoryOf(this.#process));
  }

  /** Growth at the peak, in bytes. */
  stop(): number {
    this.#look();
    clearInterval(this.#timer);
    return this.#peak - this.before;
  }
}
