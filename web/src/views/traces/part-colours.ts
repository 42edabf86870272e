import { CATEGORY_COUNT, category, cssOf, type Rgb } from "../../base/palettes.ts";
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

/** Colours of parts: those that the timeline has for them; without a trace, categories, paler from the ninth on. */
export function partColours(parts: readonly string[], by: "function" | "group", catalog: TimelineCatalog | null, theme: Theme): readonly string[] {
  const rows = catalog === null ? new Map<string, number>() : rowsByName(catalog, by);
  const behind = tokenRgb("--surface-panel");
  const others = cssOf(mixed(tokenRgb("--text-faint"), behind, 0.55));
  return parts.map((part, at) => {
    if (part === OTHERS) return others;
    const row = rows.get(part);
    const known = row === undefined ? null : (catalog?.colourOf(row, by, theme) ?? null);
    return cssOf(known ?? mixed(category(at, theme), behind, at < CATEGORY_COUNT ? 0.12 : 0.5));
  });
}
