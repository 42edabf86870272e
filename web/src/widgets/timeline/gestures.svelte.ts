/** What pointer and wheel do on a timeline: pan, zoom, brush a time, point, choose. Knows places, not elements. */
import type { Place } from "../canvas/panel.svelte.ts";
import { nsAt, nsPerPixel, panRange, zoomAbout, type TimeRange, type TimeScale } from "./axis.ts";
import type { TimelineHit } from "./scene.ts";

/** What gestures ask for. */
export interface GestureEvents {
  range(range: TimeRange, isDone: boolean): void;
  /** A brush on the axis; null clears it. */
  select(range: TimeRange | null, isDone: boolean): void;
  /** Shift-drag: a range to show. */
  zoom(range: TimeRange): void;
  point(hit: TimelineHit | null): void;
  choose(hit: TimelineHit): void;
  rowHeight(by: number): void;
}

/** What gestures happen on, read when they do. */
export interface GestureSurface {
  readonly scale: TimeScale;
  readonly bounds: TimeRange;
  readonly selection: TimeRange | null;
  /** Pixels of the rows above the upper edge. */
  scrolled(): number;
  scrollTo(pixels: number): void;
  hitAt(place: Place): TimelineHit | null;
}

/** Where a press began: on the rows or on the axis above. */
export type PressedOn = "rows" | "axis";

interface Drag {
  readonly kind: "pan" | "range" | "select";
  readonly from: Place;
  readonly range: TimeRange;
  readonly scrolled: number;
  moved: boolean;
}

/** A press that moves less is a click. */
const CLICK_PIXELS = 4;

/** The gestures of one timeline. */
export class TimelineGestures {
  /** Where the pointer is; null when it is elsewhere, or drags. */
  pointer = $state.raw<Place | null>(null);
  /** What is under it. */
  hit = $state.raw<TimelineHit | null>(null);
  /** The range that a drag with Shift has reached. */
  ranging = $state.raw<TimeRange | null>(null);
  isPanning = $state(false);

  readonly #surface: GestureSurface;
  readonly #on: () => GestureEvents;
  #drag: Drag | null = null;

  constructor(surface: GestureSurface, on: () => GestureEvents) {
    this.#surface = surface;
    this.#on = on;
  }

  /** Whether a drag begins here, for which the pointer is to be captured. */
  pressed(at: Place, on: PressedOn, hasShift: boolean): boolean {
    const { scale } = this.#surface;
    if (on === "rows" && (at.x < 0 || at.x > scale.pixels)) return false;
    const kind = on === "axis" ? "select" : hasShift ? "range" : "pan";
    this.#drag = { kind, from: at, range: [scale.fromNs, scale.toNs], scrolled: this.#surface.scrolled(), moved: false };
    return true;
  }

  moved(at: Place): void {
    const drag = this.#drag;
    if (drag === null) {
      this.pointer = at;
      this.#point(this.#surface.hitAt(at));
      return;
    }
    if (!drag.moved && Math.hypot(at.x - drag.from.x, at.y - drag.from.y) < CLICK_PIXELS) return;
    drag.moved = true;
    this.pointer = null;
    const { scale, bounds } = this.#surface;
    if (drag.kind === "pan") {
      this.isPanning = true;
      this.#on().range(panRange(drag.range, -(at.x - drag.from.x) * nsPerPixel(scale), bounds), false);
      this.#surface.scrollTo(drag.scrolled - (at.y - drag.from.y));
      return;
    }
    const clamp = (x: number): number => Math.max(bounds[0], Math.min(bounds[1], nsAt(scale, Math.max(0, Math.min(scale.pixels, x)))));
    const [a, b] = [clamp(drag.from.x), clamp(at.x)];
    const chosen: TimeRange = [Math.min(a, b), Math.max(a, b)];
    if (drag.kind === "select") this.#on().select(chosen, false);
    else this.ranging = chosen;
  }

  released(at: Place): void {
    const drag = this.#drag;
    this.#drag = null;
    this.isPanning = false;
    if (drag === null) return;
    const on = this.#on();
    if (!drag.moved) {
      const found = drag.kind === "select" ? null : this.#surface.hitAt(at);
      if (drag.kind === "select") on.select(null, true);
      else if (found !== null) on.choose(found);
      return;
    }
    const { scale } = this.#surface;
    if (drag.kind === "pan") on.range([scale.fromNs, scale.toNs], true);
    else if (drag.kind === "select") on.select(this.#surface.selection, true);
    else if (this.ranging !== null) {
      const chosen = this.ranging;
      this.ranging = null;
      if (chosen[1] > chosen[0]) on.zoom(chosen);
    }
  }

  /** The browser took the pointer away. */
  cancelled(): void {
    this.#drag = null;
    this.ranging = null;
    this.isPanning = false;
  }

  left(): void {
    if (this.#drag !== null) return;
    this.pointer = null;
    this.#point(null);
  }

  /** Whether the wheel did something here; otherwise it scrolls the rows. */
  wheeled(at: Place, wheel: Pick<WheelEvent, "altKey" | "ctrlKey" | "metaKey" | "shiftKey" | "deltaX" | "deltaY">): boolean {
    const { scale, bounds } = this.#surface;
    const range: TimeRange = [scale.fromNs, scale.toNs];
    if (wheel.altKey && !wheel.ctrlKey) {
      this.#on().rowHeight(wheel.deltaY > 0 ? -1 : 1);
    } else if (wheel.ctrlKey || wheel.metaKey) {
      // A mouse wheel comes in steps of a hundred, a pinch in ones.
      const factor = Math.exp(Math.max(-60, Math.min(60, wheel.deltaY)) * (Math.abs(wheel.deltaY) < 20 ? 0.012 : 0.005));
      this.#on().range(zoomAbout(range, factor, nsAt(scale, Math.max(0, Math.min(scale.pixels, at.x))), bounds), true);
    } else {
      const sideways = wheel.shiftKey ? wheel.deltaY || wheel.deltaX : wheel.deltaX;
      if (Math.abs(sideways) <= Math.abs(wheel.shiftKey ? 0 : wheel.deltaY)) return false;
      this.#on().range(panRange(range, sideways * nsPerPixel(scale), bounds), true);
    }
    this.pointer = null;
    return true;
  }

  #point(found: TimelineHit | null): void {
    this.hit = found;
    this.#on().point(found);
  }
}
