/** One step that can be undone. */
interface Step<T> {
  readonly before: T;
  readonly label: string;
  /** Steps with the same name that follow each other within `COALESCE_MILLIS` become one. */
  readonly coalesce: string | null;
  readonly atMillis: number;
}

const COALESCE_MILLIS = 800;
const MOST_STEPS = 200;

/** Undo and redo over values that are never changed in place. */
export class History<T> {
  #past: Step<T>[] = [];
  #future: Step<T>[] = [];
  readonly #now: () => number;

  /** `now` tells milliseconds; tests pass their own. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** What `undo` would take back, in words for a menu. */
  get undoLabel(): string | null {
    return this.#past.at(-1)?.label ?? null;
  }

  /** What `redo` would do again. */
  get redoLabel(): string | null {
    return this.#future.at(-1)?.label ?? null;
  }

  /** Remembers the value before a change. Changes of one drag carry the same `coalesce` and are one step. */
  record(before: T, label: string, coalesce: string | null = null): void {
    const last = this.#past.at(-1);
    const atMillis = this.#now();
    this.#future = [];
    if (last !== undefined && coalesce !== null && last.coalesce === coalesce && atMillis - last.atMillis < COALESCE_MILLIS) {
      this.#past[this.#past.length - 1] = { ...last, atMillis };
      return;
    }
    this.#past.push({ before, label, coalesce, atMillis });
    if (this.#past.length > MOST_STEPS) this.#past.shift();
  }

  /** The value before the last step; null when there is none. */
  undo(current: T): T | null {
    return this.#move(this.#past, this.#future, current);
  }

  /** The value after the step that was undone last. */
  redo(current: T): T | null {
    return this.#move(this.#future, this.#past, current);
  }

  clear(): void {
    this.#past = [];
    this.#future = [];
  }

  #move(from: Step<T>[], to: Step<T>[], current: T): T | null {
    const step = from.pop();
    if (step === undefined) return null;
    to.push({ ...step, before: current, coalesce: null });
    return step.before;
  }
}
