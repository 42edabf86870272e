import { fittedName } from "../../base/names.ts";
import type { DrawContext } from "../canvas/draw-context.ts";
import type { TimeScale } from "../timeline/axis.ts";

/** Colours and font of a `TimePlot`, as CSS. */
interface TimeLook {
  readonly panel: string;
  readonly bar: string;
  readonly sunken: string;
  readonly selected: string;
  readonly text: string;
  readonly faint: string;
  readonly line: string;
  readonly accent: string;
  readonly font: string;
}

/** Where a `TimePlot` is painted: the origin is below the axis, at the upper left corner of what is on screen. */
export interface TimePaint {
  readonly context: DrawContext;
  readonly scale: TimeScale;
  /** Where the picture begins, to the right of the names. */
  readonly left: number;
  readonly width: number;
  readonly height: number;
  /** Pixels of the content above what is on screen. */
  readonly scrolled: number;
  readonly look: TimeLook;
}

/** A place in a `TimePlot`. */
export interface TimePoint {
  readonly ns: number;
  /** Pixels from the top of the content. */
  readonly y: number;
  /** Pixels from the left edge of the panel. */
  readonly x: number;
  readonly isGutter: boolean;
  readonly isAxis: boolean;
}

/** As much of a text as fits, with an ellipsis for the rest; empty where nothing does. */
export function fittedText(context: DrawContext, text: string, room: number): string {
  return fittedName(text, room, (part) => context.measureText(part).width);
}
