import type { JsonObject } from "../base/json.ts";
import type { ChangeOptions, Store } from "./store.svelte.ts";

/** A view's own state: plain JSON, undone, kept in links, back after a reload. */
export interface Slice<S extends object> {
  /** The state now; reading it in a template or effect follows it. Missing members have the plugin's defaults. */
  readonly current: S;
  /** Changes some members. Give a label ("Sort by time"); give `coalesce` for drags; `undoable: false` for scrolling. */
  set(change: Partial<S>, options?: ChangeOptions): void;
}

/** The slice of a panel in the store. */
export class PanelSlice<S extends object> implements Slice<S> {
  readonly #store: Store;
  readonly #item: string;
  readonly #panel: string;
  readonly #defaults: S;
  readonly #own = $derived.by(() => this.#store.state.desks[this.#item]?.panels[this.#panel]?.state);
  readonly #current = $derived.by((): S => ({ ...this.#defaults, ...(this.#own as Partial<S> | undefined) }));

  constructor(store: Store, item: string, panel: string, defaults: S) {
    this.#store = store;
    this.#item = item;
    this.#panel = panel;
    this.#defaults = defaults;
  }

  get current(): S {
    return this.#current;
  }

  set(change: Partial<S>, options: ChangeOptions = {}): void {
    this.#store.setPanel(this.#item, this.#panel, { ...this.#current, ...change } as unknown as JsonObject, options);
  }
}
