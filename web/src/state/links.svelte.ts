import { sameJson } from "../base/json.ts";
import type { Spot, LinkKey } from "./app-state.ts";
import type { ChangeOptions, Store } from "./store.svelte.ts";

/** What each of the four events carries. */
export interface LinkEvents {
  /** What the pointer or the keyboard is on; null when on nothing. Told at most once per frame. */
  hover: LinkKey | null;
  /** The set that was chosen by hand, in the order of choosing. */
  mark: readonly LinkKey[];
  /** The one thing that the other views show details of. */
  focus: LinkKey | null;
  /** The part that all views are restricted to. */
  spot: Spot | null;
}

type Listener<K extends keyof LinkEvents> = (value: LinkEvents[K]) => void;

/** The text under which two keys are the same thing. */
export function keyText(thing: LinkKey): string {
  const id = thing.kind === "context" ? thing.context : thing.kind === "region" ? thing.region : thing.kind === "reference" ? thing.reference : thing.location;
  return `${thing.kind} ${String(id)} ${thing.item}`;
}

/** Whether two keys name the same thing. */
export function sameKey(a: LinkKey | null, b: LinkKey | null): boolean {
  return a === b || (a !== null && b !== null && keyText(a) === keyText(b));
}

/**
 * How views talk to each other.
 *
 * Read the properties in a template or an effect and it follows by itself; canvas code subscribes with `on`.
 * Mark, focus and spot are part of the state: they are undone, kept in links and survive a reload. Hover is not.
 */
export class Links {
  #hover = $state.raw<LinkKey | null>(null);
  #nextHover: LinkKey | null = null;
  #frame: number | null = null;
  readonly #store: Store;
  readonly #listeners: { [K in keyof LinkEvents]: Set<Listener<K>> } = {
    hover: new Set(),
    mark: new Set(),
    focus: new Set(),
    spot: new Set(),
  };
  readonly #marked = $derived.by(() => new Set(this.#store.state.links.mark.map((thing) => keyText(thing))));

  constructor(store: Store) {
    this.#store = store;
  }

  get hover(): LinkKey | null {
    return this.#hover;
  }

  get mark(): readonly LinkKey[] {
    return this.#store.state.links.mark;
  }

  get focus(): LinkKey | null {
    return this.#store.state.links.focus;
  }

  get spot(): Spot | null {
    return this.#store.state.links.spot;
  }

  /** Whether a thing is marked; cheap enough to ask for every visible row. */
  isMarked(thing: LinkKey): boolean {
    return this.#marked.has(keyText(thing));
  }

  setHover(thing: LinkKey | null): void {
    this.#nextHover = thing;
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = null;
      if (sameKey(this.#nextHover, this.#hover)) return;
      this.#hover = this.#nextHover;
      for (const listener of this.#listeners.hover) listener(this.#hover);
    });
  }

  /** `options` as those of a slice: what one action changes in several places is one step where all have the same `coalesce`. */
  setMark(things: readonly LinkKey[], options: ChangeOptions = {}): void {
    this.#store.setLinks((links) => ({ ...links, mark: things }), { label: things.length === 0 ? "Clear marks" : "Mark", ...options });
  }

  /** Adds a thing to the marked ones, or takes it out. */
  toggleMark(thing: LinkKey): void {
    const text = keyText(thing);
    const rest = this.mark.filter((other) => keyText(other) !== text);
    this.setMark(rest.length === this.mark.length ? [...rest, thing] : rest);
  }

  setFocus(thing: LinkKey | null, options: ChangeOptions = {}): void {
    this.#store.setLinks((links) => ({ ...links, focus: thing }), { label: "Focus", coalesce: "focus", ...options });
  }

  setSpot(spot: Spot | null, options: ChangeOptions = {}): void {
    this.#store.setLinks((links) => ({ ...links, spot }), { label: spot === null ? "Show everything" : "Show a part", ...options });
  }

  /** Calls `listener` whenever the value changes, by whomever, undo included; returns how to stop. */
  on<K extends keyof LinkEvents>(event: K, listener: Listener<K>): () => void {
    const listeners: Set<Listener<K>> = this.#listeners[event];
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Watches the store so that `on` hears of every change; call once, inside an effect root. */
  watch(): void {
    let before = this.#store.state.links;
    $effect(() => {
      const now = this.#store.state.links;
      const last = before;
      before = now;
      if (!sameJson(now.mark, last.mark)) for (const listener of this.#listeners.mark) listener(now.mark);
      if (!sameJson(now.focus, last.focus)) for (const listener of this.#listeners.focus) listener(now.focus);
      if (!sameJson(now.spot, last.spot)) for (const listener of this.#listeners.spot) listener(now.spot);
    });
  }
}
