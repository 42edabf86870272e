import { readFileSync, readdirSync } from "node:fs";

/** A process and all that it started. */
function familyOf(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    const process = Number(name);
    if (Number.isInteger(process)) parents.set(process, kibibytesOf(process, "PPid"));
  }
  return [...parents.keys()].filter((process) => {
    for (let at: number | undefined = process; at !== undefined && at !== 0; at = parents.get(at)) if (at === root) return true;
    return false;
  });
}

/** Own memory of processes in bytes: what they allocated and what they share, without files. */
function memoryOf(family: readonly number[]): number {
  let sum = 0;
  for (const process of family) sum += kibibytesOf(process, "RssAnon", "RssShmem") * 1024;
  return sum;
}

/** The sum of numbers in the status of a process; 0 when it ended. */
function kibibytesOf(process: number, ...keys: string[]): number {
  try {
    const status = readFileSync(`/proc/${String(process)}/status`, "utf8");
    return keys.reduce((sum, key) => sum + Number(new RegExp(`^${key}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0), 0);
  } catch {
    return 0;
  }
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

/** Looks between two searches for new processes: looking at all of the machine takes time from what is measured. */
const LOOKS_PER_SEARCH = 12;

/** The largest memory between now and `stop`, and what it was at the start. */
export class MemoryWatch {
  readonly #process: number;
  readonly before: number;
  #family: number[];
  #numLooks = 0;
  #peak: number;
  readonly #timer: NodeJS.Timeout;

  constructor(process: number) {
    this.#process = process;
    this.#family = familyOf(process);
    this.before = memoryOf(this.#family);
    this.#peak = this.before;
    this.#timer = setInterval(() => { this.#look(); }, 40);
  }

  #look(): void {
    this.#numLooks += 1;
    if (this.#numLooks % LOOKS_PER_SEARCH === 0) this.#family = familyOf(this.#process);
    this.#peak = Math.max(this.#peak, memoryOf(this.#family));
  }

  /** Growth at the peak, in bytes. */
  stop(): number {
    clearInterval(this.#timer);
    this.#family = familyOf(this.#process);
    this.#look();
    return this.#peak - this.before;
  }
}
