/** Questions for what is on screen: these come before all others. */
const FIRST: ReadonlySet<string> = new Set(["open", "close", "combine", "timeline", "tile", "path_at", "scaling", "tree_table"]);

/** Whose turn it is, of those that wait: the least number; of equal ones who came first. */
type Rank = 0 | 1 | 2;

interface Waiting {
  rank: Rank;
  begin: () => void;
}

/**
 * Lets one question at a time to an engine that answers one after the other. What waits here, and not in
 * front of the engine, can be passed by what is more urgent, and costs nothing when it is withdrawn.
 */
export class Turns {
  #waiting: Waiting[] = [];
  #isTaken = false;

  /** Resolves when it is the turn of a question of this name, after all others if it is patient; what it gives ends the turn. Rejects when it is withdrawn. */
  async take(name: string, signal?: AbortSignal, isPatient = false): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#isTaken) await this.#wait(isPatient ? 2 : FIRST.has(name) ? 0 : 1, signal);
    this.#isTaken = true;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#next();
    };
  }

  #wait(rank: Rank, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = () => {
        this.#waiting = this.#waiting.filter((other) => other !== one);
        reject(signal?.reason as Error);
      };
      const one: Waiting = {
        rank,
        begin: () => {
          signal?.removeEventListener("abort", cancel);
          resolve();
        },
      };
      signal?.addEventListener("abort", cancel, { once: true });
      this.#waiting.push(one);
    });
  }

  /** Hands the turn on: nothing can come between. */
  #next(): void {
    const least = Math.min(...this.#waiting.map((one) => one.rank));
    const [next] = this.#waiting.splice(Math.max(this.#waiting.findIndex((one) => one.rank === least), 0), 1);
    if (next === undefined) this.#isTaken = false;
    else next.begin();
  }
}
