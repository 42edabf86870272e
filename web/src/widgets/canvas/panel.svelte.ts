import type { Picture } from "../save.ts";
import type { DrawContext } from "./draw-context.ts";
import { pictureOf } from "./picture.ts";
import { prepared } from "./prepared.ts";

/** A place on a panel, in pixels from its upper left corner. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

/** A canvas as large as what is around it, and what a widget must know to paint it. Made while a component is. */
export class CanvasPanel {
  /** What scrolls and has the keyboard. */
  box = $state<HTMLElement>();
  canvas = $state<HTMLCanvasElement>();
  /** Pixels that are on screen. */
  width = $state(0);
  height = $state(0);
  /** Pixels of the content above what is on screen. */
  scrolled = $state(0);
  /** Where the pointer is; null when it is elsewhere. */
  pointer = $state.raw<Place | null>(null);

  readonly #paint: (context: DrawContext) => void;

  /** Paints when the canvas is there, and again whenever something changes that `paint` has read. */
  constructor(paint: (context: DrawContext) => void) {
    this.#paint = paint;
    $effect(() => {
      if (this.width === 0 || this.height === 0) return;
      const context = prepared(this.canvas, this.width, this.height);
      if (context === null) return;
      context.save();
      paint(context);
      context.restore();
    });
  }

  /** Where something happened. */
  placeOf(event: MouseEvent): Place {
    const bounds = this.box?.getBoundingClientRect();
    return { x: event.clientX - (bounds?.left ?? 0), y: event.clientY - (bounds?.top ?? 0) };
  }

  focus(): void {
    this.box?.focus({ preventScroll: true });
  }

  /** What is on screen. */
  picture(): Picture {
    return pictureOf(this.width, this.height, this.#paint);
  }
}
