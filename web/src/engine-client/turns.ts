/** Questions that people wait for with their eyes on them: these come before all others. */
const FIRST: ReadonlySet<string> = new Set(["open", "close", "combine", "timeline", "tile", "path_at", "scaling", "tree_table"]);

interface Waiting {
  isFirst: boolean;
  begin: () => void;
}

/**
 * Lets one question at a time to an engine that answers one after the other. What waits here, and not in
 * front of the engine, can be passed by what is more urgent, and costs nothing when it is withdrawn.
 */
export class Turns {
  #waiting: Waiting[] = [];
  #isTaken = false;

  /** Resolves when it is the turn of a question of this name; what it gives ends the turn. Rejects when it is withdrawn. */
  async take(name: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#isTaken) await this.#wait(FIRST.has(name), signal);
    this.#isTaken = true;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#next();
    };
  }

  #wait(isFirst: boolean, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const withdraw = () => {
        this.#waiting = this.#waiting.filter((other) => other !== one);
        reject(signal?.reason as Error);
      };
      const one: Waiting = {
        isFirst,
        begin: () => {
          signal?.removeEventListener("abort", withdraw);
          resolve();
        },
      };
      signal?.addEventListener("abort", withdraw, { once: true });
      this.#waiting.push(one);
    });
  }

  /** Hands the turn on: nobody can come between. */
  #next(): void {
    const urgent = this.#waiting.findIndex((one) => one.isFirst);
    const [next] = this.#waiting.splice(Math.max(urgent, 0), 1);
    if (next === undefined) this.#isTaken = false;
    else next.begin();
  }
}
