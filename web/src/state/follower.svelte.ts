import type { Writing } from "../wire/protocol.ts";
import type { Session } from "./session.svelte.ts";

/** Between two looks at the files. */
const LOOK_MILLIS = 1000;

/** Of the time, how much may be spent on opening again what was written. */
const LARGEST_SHARE = 0.25;

/** Watches the files that a server says may still be written, and has them shown as they are. */
export class Follower {
  #updated = $state<number | null>(null);
  #isLost = $state(false);
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * `off` where files do not change; `lost` when the server does not answer any more. Where it is known whether the
   * files on screen are still written, that instead of `following`.
   */
  get state(): "off" | "following" | "lost" | Exclude<Writing, "unknown"> {
    if (this.#session.client?.follow !== true) return "off";
    if (this.#isLost) return "lost";
    const { writing } = this.#session;
    return writing === "unknown" ? "following" : writing;
  }

  /** When something new was shown last, in milliseconds of the epoch; null while nothing was. */
  get updated(): number | null {
    return this.#updated;
  }

  /** Watches until the page goes away. A page that nobody sees waits. */
  start(): void {
    const again = async (): Promise<void> => {
      const began = performance.now();
      if (!document.hidden) await this.#look();
      const took = performance.now() - began;
      setTimeout(() => { void again(); }, Math.max(LOOK_MILLIS, took / LARGEST_SHARE - took));
    };
    void again();
  }

  async #look(): Promise<void> {
    try {
      if (await this.#session.lookAgain()) this.#updated = Date.now();
      this.#isLost = false;
    } catch {
      this.#isLost = true;
    }
  }
}
