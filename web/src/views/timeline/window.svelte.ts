/** The window on screen: moved at once, told to the other views when it rests, with a history of its own. */
import type { Slice } from "../../state/slice.svelte.ts";
import { clampRange, type TimeRange } from "../../widgets/timeline/axis.ts";
import type { TimelineCatalog } from "../../view-kit/catalog.ts";
import { windowOf } from "../../view-kit/catalog.ts";
import type { TimelineShared } from "../../view-kit/shared.ts";

const REST_MILLIS = 140;
const GLIDE_MILLIS = 160;
const MOST_KEPT = 60;
/** A step of its own, so that undoing it leads back to the window before. */
const WHOLE = { label: "Show the whole trace" };

/** The window of one view of a trace. */
export class TimelineWindow {
  #live = $state.raw<TimeRange | null>(null);
  #back = $state.raw<readonly TimeRange[]>([]);
  #forward = $state.raw<readonly TimeRange[]>([]);
  readonly #shared: () => Slice<TimelineShared>;
  readonly #catalog: () => TimelineCatalog | null;
  readonly #range = $derived.by((): TimeRange => {
    const catalog = this.#catalog();
    return catalog === null ? [0, 1] : (this.#live ?? windowOf(this.#shared().current, catalog));
  });
  #timer: ReturnType<typeof setTimeout> | undefined;
  #animation: number | null = null;

  constructor(shared: () => Slice<TimelineShared>, catalog: () => TimelineCatalog | null) {
    this.#shared = shared;
    this.#catalog = catalog;
  }

  get range(): TimeRange {
    return this.#range;
  }

  get bounds(): TimeRange {
    return this.#catalog()?.bounds ?? [0, 1];
  }

  get canGoBack(): boolean {
    return this.#back.length > 0;
  }

  get canGoForward(): boolean {
    return this.#forward.length > 0;
  }

  /** Whether it is being moved right now. */
  get isMoving(): boolean {
    return this.#live !== null;
  }

  /** Moves it; the other views hear of it when it rests. */
  move(range: TimeRange, isDone: boolean): void {
    this.#stop();
    this.#live = clampRange(range, this.bounds);
    if (isDone) this.#timer = setTimeout(() => { this.#tell(); }, REST_MILLIS);
  }

  /** Brings it somewhere, quickly but visibly, so that the place is not lost. */
  glide(range: TimeRange): void {
    this.#stop();
    const target = clampRange(range, this.bounds);
    const from = this.#range;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.#live = target;
      this.#tell();
      return;
    }
    const began = performance.now();
    const frame = (): void => {
      const time = Math.min(1, (performance.now() - began) / GLIDE_MILLIS);
      const eased = 1 - (1 - time) ** 3;
      this.#live = [from[0] + (target[0] - from[0]) * eased, from[1] + (target[1] - from[1]) * eased];
      this.#animation = time < 1 ? requestAnimationFrame(frame) : null;
      if (time >= 1) this.#tell();
    };
    this.#animation = requestAnimationFrame(frame);
  }

  back(): void {
    const last = this.#back.at(-1);
    if (last === undefined) return;
    const now = this.#range;
    this.#back = this.#back.slice(0, -1);
    this.#forward = [...this.#forward, now];
    this.#live = last;
    this.#tell(false);
  }

  forward(): void {
    const next = this.#forward.at(-1);
    if (next === undefined) return;
    const now = this.#range;
    this.#forward = this.#forward.slice(0, -1);
    this.#back = [...this.#back, now];
    this.#live = next;
    this.#tell(false);
  }

  close(): void {
    this.#stop();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    if (this.#animation !== null) cancelAnimationFrame(this.#animation);
    this.#animation = null;
  }

  #tell(isKept = true): void {
    const catalog = this.#catalog();
    const range = this.#live;
    this.#live = null;
    if (catalog === null || range === null) return;
    const [from, to] = [Math.floor(range[0]), Math.ceil(range[1])];
    const isWhole = from <= catalog.bounds[0] && to >= catalog.bounds[1];
    const before = windowOf(this.#shared().current, catalog);
    if (before[0] === from && before[1] === to) return;
    if (isKept) {
      this.#back = [...this.#back, before].slice(-MOST_KEPT);
      this.#forward = [];
    }
    this.#shared().set({ window: isWhole ? null : [from, to] }, isWhole ? WHOLE : { label: "Zoom in time", coalesce: "timeline-window" });
  }
}
