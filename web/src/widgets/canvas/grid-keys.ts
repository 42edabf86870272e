// Walking over the cells of a painted grid with the keyboard.

/** Row, then column. */
export type GridCell = readonly [number, number];

/**
 * The cell that a key leads to from another one, inside a grid of so many rows and columns: arrows to
 * the neighbours, Home and End along the row. Null for any other key.
 */
export function cellAfter(key: string, [row, column]: GridCell, rows: number, columns: number): [number, number] | null {
  const inside = (at: number, count: number): number => Math.max(0, Math.min(at, count - 1));
  switch (key) {
    case "ArrowUp": return [inside(row - 1, rows), column];
    case "ArrowDown": return [inside(row + 1, rows), column];
    case "ArrowLeft": return [row, inside(column - 1, columns)];
    case "ArrowRight": return [row, inside(column + 1, columns)];
    case "Home": return [row, 0];
    case "End": return [row, inside(columns - 1, columns)];
    default: return null;
  }
}
