import { category, cssOf, inkOn } from "../../base/palettes.ts";

/** The colour of the region that is shown at a position, in both looks. */
export function badgeColour(position: number): string {
  return `light-dark(${cssOf(category(position, "light"))}, ${cssOf(category(position, "dark"))})`;
}

/** The colour of text on a badge. */
export function badgeInk(position: number): string {
  return `light-dark(${cssOf(inkOn(category(position, "light")))}, ${cssOf(inkOn(category(position, "dark")))})`;
}
