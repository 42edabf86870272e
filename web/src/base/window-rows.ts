/**
 * Which rows of a very long list are on screen.
 *
 * Browsers cap the height of an element at 16 to 33 million CSS pixels, so a list of a million rows of 24 px cannot
 * simply be tall. Up to `MOST_PIXELS` the scroll position is the position in the list; beyond it the scroll bar is a
 * scale model: its whole travel stands for the whole list, and wheel and keyboard move by rows, not by pixels.
 */
export interface RowWindow {
  /** Height of the element that makes the scroll bar, in pixels. */
  readonly heightPixels: number;
  /** First row to draw. */
  readonly first: number;
  /** After the last row to draw. */
  readonly end: number;
  /** Where row `first` begins, in pixels from the top of the tall element. */
  readonly offsetPixels: number;
}

/** Lower than the smallest cap of a current browser (Firefox: about 17.8 million). */
const MOST_PIXELS = 12_000_000;

/** The height of the scrolled element for so many rows. */
export function scrollHeight(rows: number, rowPixels: number): number {
  return Math.min(rows * rowPixels, MOST_PIXELS);
}

/** The position in the list, in pixels as if no cap existed, of a scroll position. */
export function listPosition(scrollTop: number, rows: number, rowPixels: number, viewPixels: number): number {
  const full = rows * rowPixels;
  const height = scrollHeight(rows, rowPixels);
  if (full <= height || height <= viewPixels) return scrollTop;
  return (scrollTop / (height - viewPixels)) * (full - viewPixels);
}

/** The scroll position of a position in the list; the inverse of `listPosition`. */
export function scrollPosition(position: number, rows: number, rowPixels: number, viewPixels: number): number {
  const full = rows * rowPixels;
  const height = scrollHeight(rows, rowPixels);
  if (full <= height || height <= viewPixels) return Math.max(0, Math.min(position, full - viewPixels));
  return Math.max(0, Math.min(position / (full - viewPixels), 1)) * (height - viewPixels);
}

/** The rows to draw for a scroll position, with `spare` rows beyond either edge. */
export function rowWindow(scrollTop: number, rows: number, rowPixels: number, viewPixels: number, spare = 6): RowWindow {
  const position = listPosition(scrollTop, rows, rowPixels, viewPixels);
  const first = Math.max(0, Math.min(Math.floor(position / rowPixels) - spare, rows));
  const end = Math.max(first, Math.min(Math.ceil((position + viewPixels) / rowPixels) + spare, rows));
  return {
    heightPixels: scrollHeight(rows, rowPixels),
    first,
    end,
    // Rows keep their true distance from the top edge of the view, wherever the scaled scroll bar stands.
    offsetPixels: scrollTop + first * rowPixels - position,
  };
}

/** The list position that brings a row into view with the least movement. */
export function reveal(row: number, position: number, rowPixels: number, viewPixels: number): number {
  const top = row * rowPixels;
  if (top < position) return top;
  if (top + rowPixels > position + viewPixels) return top + rowPixels - viewPixels;
  return position;
}
