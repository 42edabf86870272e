/** One of several values to choose from. */
export interface Choice<V extends string = string> {
  readonly value: V;
  readonly label: string;
  /** A sentence for the tooltip. */
  readonly hint?: string;
  readonly disabled?: boolean;
}
