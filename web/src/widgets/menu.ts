import type { IconName } from "./icons.ts";

/** One entry of a menu. */
export interface MenuEntry {
  readonly kind?: "entry";
  readonly label: string;
  readonly icon?: IconName;
  /** Small text on the right: keys or a count. */
  readonly note?: string;
  /** A second line. */
  readonly text?: string;
  /** For entries that are on or off. */
  readonly checked?: boolean;
  readonly disabled?: boolean;
  run(): void;
}

/** A heading, or a line when the label is empty. */
export interface MenuHeading {
  readonly kind: "heading";
  readonly label: string;
}

export type MenuItem = MenuEntry | MenuHeading;
