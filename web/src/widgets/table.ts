/** A column of `VirtualTable` and `VirtualTree`. */
export interface TableColumn {
  /** Unique within the table. */
  readonly id: string;
  /** In the header. Put the unit here when all cells have the same one. */
  readonly title: string;
  /** Pixels. The first column also takes what is left over. */
  readonly width: number;
  /** Numbers go right. Default: left. */
  readonly align?: "left" | "right";
  readonly sortable?: boolean;
  /** A sentence about what the column means, for the tooltip of the header. */
  readonly help?: string;
}

/** By which column rows are in order. */
export interface TableSort {
  readonly column: string;
  readonly descending: boolean;
}

/** What a row of a tree is. */
export interface RowLevel {
  /** 0 for a root. */
  readonly level: number;
  /** Null when the row cannot be opened. */
  readonly expanded: boolean | null;
}

/** How a row was chosen. */
export interface SelectHow {
  /** Ctrl or Cmd was held, or Space pressed: add or take out. */
  readonly toggle: boolean;
  /** Shift was held: everything from the last one to this one. */
  readonly extend: boolean;
}
