/** Room that a picture of cells takes. */
interface CellSize {
  readonly widthPixels: number;
  readonly heightPixels: number;
}

const LARGEST_THUMBNAIL_CELL = 9;

/** Cells of a thumbnail may be so many times as wide as high, or as high as wide. */
const MOST_STRETCHED = 3;

/**
 * Cells of a thumbnail: whole pixels as long as the grid fits, else squeezed into the room. They stretch a little to
 * fill it, but are never larger than 9 pixels, so that a grid of two by two does not look like something important.
 */
export function thumbnailCell(rows: number, columns: number, roomWidth: number, roomHeight: number): CellSize {
  if (rows === 0 || columns === 0) return { widthPixels: 0, heightPixels: 0 };
  const along = (room: number, count: number): number => {
    const size = Math.min(room / count, LARGEST_THUMBNAIL_CELL);
    return size >= 1 ? Math.floor(size) : size;
  };
  const [width, height] = [along(roomWidth, columns), along(roomHeight, rows)];
  return {
    widthPixels: Math.min(width, Math.max(1, height) * MOST_STRETCHED),
    heightPixels: Math.min(height, Math.max(1, width) * MOST_STRETCHED),
  };
}

/** Row height of a tree with thumbnails: the more rows, the smaller, as PaScal's viewer shrinks its nodes. */
export function treeRowHeight(rows: number): number {
  if (rows <= 12) return 48;
  if (rows <= 60) return 36;
  return 28;
}

/** A row of a map is at least so high that a number fits, up to so many rows; beyond them the map keeps its height. */
const READABLE_CELL = 14;
const MOST_READABLE_ROWS = 36;
const TALLEST_MAP = READABLE_CELL * MOST_READABLE_ROWS;

/** Cells of a map that is `width` pixels wide: wider than high, readable when few, no higher than `height` has room for while they stay readable. */
export function mapCell(rows: number, columns: number, width: number, height = Number.POSITIVE_INFINITY): CellSize {
  const widthPixels = columns === 0 ? 0 : width / columns;
  const liked = rows > MOST_READABLE_ROWS ? Math.max(3, TALLEST_MAP / rows) : Math.max(READABLE_CELL, Math.min(44, 300 / Math.max(1, rows)));
  const tallest = Math.min(liked, Math.max(READABLE_CELL, height / Math.max(1, rows)));
  return { widthPixels, heightPixels: Math.max(Math.min(widthPixels, tallest), Math.min(tallest, 18)) };
}

/** Whether a number of so many letters can be read inside a cell. */
export function fitsText(cell: CellSize, letters: number): boolean {
  return cell.heightPixels >= READABLE_CELL && cell.widthPixels >= letters * 6.2 + 6;
}

/** Every how many labels one is drawn, so that they do not touch. */
export function labelStep(count: number, roomPixels: number, leastPixels: number): number {
  if (count === 0) return 1;
  return Math.max(1, Math.ceil(leastPixels / Math.max(roomPixels / count, 0.001)));
}

/** Where a measured cell lies along an axis, as shares of its length. */
export interface Band {
  readonly start: number;
  readonly end: number;
  /** Where its value is exact. */
  readonly middle: number;
}

/**
 * The bands of `count` measured cells. Refined, the axis has `refinedLength` small cells: each measured one is one of
 * them, and its band reaches half way to its neighbours.
 */
export function bandsOf(count: number, refined: number | null): readonly Band[] {
  return Array.from({ length: count }, (_, at) => {
    if (refined === null || count < 2) return { start: at / count, end: (at + 1) / count, middle: (at + 0.5) / count };
    const step = (refined - 1) / (count - 1);
    const middle = (at * step + 0.5) / refined;
    const half = step / refined / 2;
    return { start: at === 0 ? 0 : middle - half, end: at === count - 1 ? 1 : middle + half, middle };
  });
}
