import type { AppState } from "../state/app-state.ts";
import { toFragment } from "../state/url.ts";

/** Many changes come at once, and browsers take only so many addresses a second. */
const WRITE_AFTER_MILLIS = 250;
const KEPT = "parallax-late-state";

/** The state when the page went away. */
interface Kept {
  /** Fragments with which the browser may load the page again: that of the address, and the one before, where the browser has not heard of that yet. */
  readonly at: readonly string[];
  readonly fragment: string;
}

/** The state in the page's address: a reload, a bookmark and a link bring it back. */
export class StateAddress {
  #written = "";
  /** The fragment before the last one that was written. */
  #before = "";
  #waiting: AppState | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #storage: Storage | null;

  constructor(storage: Storage | null) {
    this.#storage = storage;
  }

  /** Whether the fragment of the address is what was written last, not a link that was followed. */
  get isOwn(): boolean {
    return location.hash === this.#written;
  }

  /** Writes the state soon, or the one that comes after it. */
  put(state: AppState): void {
    this.#waiting = state;
    isUnwritten(true);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => { this.#write(); }, WRITE_AFTER_MILLIS);
  }

  /** The page goes away: an address that is written now would come too late for a reload. */
  keep(): void {
    const fragment = this.#waiting === null ? this.#written : fragmentOf(this.#waiting);
    const kept: Kept = { at: [location.hash, this.#before], fragment };
    try {
      this.#storage?.setItem(KEPT, JSON.stringify(kept));
    } catch {
      // Full storage: the address has the state of a moment ago.
    }
  }

  /** After a reload: puts into the address what was kept. Anything else, such as another link, has its own state. */
  takeUp(): void {
    const text = this.#storage?.getItem(KEPT) ?? null;
    if (text === null) return;
    this.#storage?.removeItem(KEPT);
    const [navigation] = performance.getEntriesByType("navigation");
    const kept = parseKept(text);
    const isReload = navigation instanceof PerformanceNavigationTiming && navigation.type === "reload";
    if (isReload && kept?.at.includes(location.hash) === true) this.#show(kept.fragment);
  }

  #write(): void {
    if (this.#waiting === null) return;
    this.#written = fragmentOf(this.#waiting);
    this.#waiting = null;
    isUnwritten(false);
    if (location.hash === this.#written) return;
    this.#before = location.hash;
    this.#show(this.#written);
  }

  #show(fragment: string): void {
    history.replaceState(history.state, "", fragment === "" ? location.pathname + location.search : fragment);
  }
}

/** Says on the page itself whether the address is behind: who takes the address from outside has to wait for it. */
function isUnwritten(is: boolean): void {
  document.documentElement.toggleAttribute("data-address-behind", is);
}

function parseKept(text: string): Kept | null {
  try {
    const { at, fragment } = JSON.parse(text) as { readonly at?: unknown; readonly fragment?: unknown };
    return Array.isArray(at) && typeof fragment === "string" ? { at: at.map(String), fragment } : null;
  } catch {
    return null;
  }
}

function fragmentOf(state: AppState): string {
  return state.sources.length === 0 ? "" : toFragment(state);
}
