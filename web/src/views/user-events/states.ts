import type { TableSort } from "../../widgets/table.ts";
import type { StackOrder } from "../../widgets/trace/stacks.ts";

/** What bars are as long as. */
export type EventValue = "count" | "sum" | "mean" | "min" | "max";

/** What a link keeps of the user events. */
export interface UserEventsState {
  readonly sort: TableSort;
  /** What events and call paths contain that are shown. */
  readonly find: string;
  /** Name of the event whose bars are shown; empty for the first. */
  readonly event: string;
  /** Id of the context that bars are restricted to; null for all. */
  readonly context: number | null;
  /** Events whose contexts are shown. */
  readonly open: readonly string[];
  readonly value: EventValue;
  readonly order: StackOrder;
  /** An identity kind, such as `rank`; empty for no groups, null for components where there are some. */
  readonly group: string | null;
  readonly isFitted: boolean;
}

export const USER_EVENTS_STATE: UserEventsState = {
  sort: { column: "count", descending: true },
  find: "",
  event: "",
  context: null,
  open: [],
  value: "count",
  order: "location",
  group: null,
  isFitted: false,
};

/** What bars may be as long as. */
export const EVENT_VALUES: readonly { readonly value: EventValue; readonly label: string; readonly hint: string }[] = [
  { value: "count", label: "Number", hint: "Number of occurrences" },
  { value: "sum", label: "Sum", hint: "Sum of all values" },
  { value: "mean", label: "Mean", hint: "Mean of all values" },
  { value: "min", label: "Minimum", hint: "Smallest value" },
  { value: "max", label: "Maximum", hint: "Largest value" },
];
