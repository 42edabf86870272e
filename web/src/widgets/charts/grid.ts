/** A matrix of numbers, row by row. Undefined cells are NaN. */
export interface Grid {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float64Array;
}

/** The value of a cell; NaN outside. */
export function cellOf(grid: Grid, row: number, column: number): number {
  if (row < 0 || column < 0 || row >= grid.rows || column >= grid.columns) return Number.NaN;
  return grid.values[row * grid.columns + column] ?? Number.NaN;
}

/** How many cells PaScal's viewers make of the way from one measured cell to the next. */
const STEPS = 4;

/** Cells along an axis of `count` measured ones once it is refined. */
export function refinedLength(count: number): number {
  return count < 2 ? count : STEPS * (count - 1) + 1;
}

/**
 * The refined matrix of PaScal's viewers: every axis of n cells gets 4(n - 1) + 1, linear along rows and columns.
 * A cell between measured ones is undefined when one that it is made of is; measured cells keep their values exactly.
 */
export function refine(grid: Grid): Grid {
  const rows = refinedLength(grid.rows);
  const columns = refinedLength(grid.columns);
  const values = new Float64Array(rows * columns);
  for (let row = 0; row < rows; row += 1) {
    const top = Math.floor(row / STEPS);
    const down = (row % STEPS) / STEPS;
    for (let column = 0; column < columns; column += 1) {
      const left = Math.floor(column / STEPS);
      const right = (column % STEPS) / STEPS;
      const upper = mixed(cellOf(grid, top, left), right === 0 ? 0 : cellOf(grid, top, left + 1), right);
      const lower = down === 0 ? 0 : mixed(cellOf(grid, top + 1, left), right === 0 ? 0 : cellOf(grid, top + 1, left + 1), right);
      values[row * columns + column] = mixed(upper, lower, down);
    }
  }
  return { rows, columns, values };
}

function mixed(from: number, to: number, share: number): number {
  // A share of nothing must not let an undefined neighbour in.
  return share === 0 ? from : from + (to - from) * share;
}

/** The largest absolute value of all defined cells; 0 when there are none. */
export function largest(grids: Iterable<Grid>): number {
  let most = 0;
  for (const grid of grids) {
    for (const value of grid.values) if (Math.abs(value) > most) most = Math.abs(value);
  }
  return most;
}

/** Letters of the longest number of a grid. */
export function longest(grid: Grid, textOf: (value: number) => string): number {
  return Array.from(grid.values).reduce((most, value) => Math.max(most, textOf(value).length), 1);
}
