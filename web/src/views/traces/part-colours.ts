import { CATEGORY_COUNT, category, cssOf, distinctColour, DISTINCT_SHADES, type Rgb } from "../../base/palettes.ts";
import { tokenRgb } from "../../base/theme.ts";
import type { TimelineCatalog } from "../../view-kit/catalog.ts";
import { rowsByName } from "./context.svelte.ts";

type Theme = "light" | "dark";

/** What the engine calls the parts that it adds up. */
export const OTHERS = "(others)";

function mixed([red, green, blue]: Rgb, behind: Rgb, part: number): Rgb {
  const mix = (value: number, toward: number): number => Math.round(value + (toward - value) * part);
  return [mix(red, behind[0]), mix(green, behind[1]), mix(blue, behind[2])];
}

/**
 * Colours of parts: those that the timeline has for them. Parts that it does not know have colours that no other part
 * has, while there are some; without a trace, categories, paler from the ninth on.
 */
export function partColours(parts: readonly string[], by: "function" | "group", catalog: TimelineCatalog | null, theme: Theme): readonly string[] {
  const rows = catalog === null ? new Map<string, number>() : rowsByName(catalog, by);
  const behind = tokenRgb("--surface-panel");
  const others = cssOf(mixed(tokenRgb("--text-faint"), behind, 0.55));
  const used = new Set<string>();
  // The timeline's colours begin again after some tens of functions: the first part of a colour has it.
  const known = parts.map((part) => {
    const row = rows.get(part);
    const colour = row === undefined ? null : (catalog?.colourOf(row, by, theme) ?? null);
    if (colour === null || used.has(cssOf(colour))) return null;
    used.add(cssOf(colour));
    return cssOf(colour);
  });
  let next = 0;
  const unused = (): string => {
    if (catalog === null) return cssOf(mixed(category(next, theme), behind, next++ < CATEGORY_COUNT ? 0.12 : 0.5));
    let colour = cssOf(distinctColour(next++, theme));
    for (let tries = 1; used.has(colour) && tries < DISTINCT_SHADES; tries += 1) colour = cssOf(distinctColour(next++, theme));
    return colour;
  };
  return parts.map((part, at) => (part === OTHERS ? others : (known[at] ?? unused())));
}
