/** What a `ChartTip` shows, next to which rectangle of the screen. */
export interface TipContent {
  readonly at: Pick<DOMRect, "left" | "right" | "top" | "bottom">;
  readonly title: string;
  /** The one number that matters, large. */
  readonly lead?: string;
  readonly lines: readonly TipLine[];
  /** A sentence below. */
  readonly text?: string;
}

/** A line of a tip. */
interface TipLine {
  readonly name: string;
  readonly value: string;
}
