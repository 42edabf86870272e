/** How cells and calls of a timeline are coloured. Pure. */
import { cssOf, inkOn, ramp } from "../../base/palettes.ts";
import type { TimelineBy } from "../../view-kit/asks.ts";
import { shortName, type TimelineCatalog } from "../../view-kit/catalog.ts";
import type { CallLook, CallShape } from "../../widgets/timeline/calls.ts";
import type { TileLook, TileMode } from "../../widgets/timeline/tile-image.ts";
import type { Lit } from "./lit.ts";

/** What colours depend on. */
export interface Colouring {
  readonly catalog: Pick<TimelineCatalog, "colourOf" | "keyOf" | "nameOf"> | null;
  readonly by: TimelineBy;
  readonly theme: "light" | "dark";
  /** What stands out; null where everything does. */
  readonly lit: Lit | null;
}

/** The look of cells; `deepest` is the depth that has the last colour of the ramp. */
export function tileLook({ catalog, by, theme, lit }: Colouring, mode: TileMode, deepest: number): TileLook {
  return {
    mode,
    colourOf: (key) => catalog?.colourOf(key, by, theme) ?? null,
    isLit: lit === null ? null : (key) => lit.isKey(key),
    ramp: ramp("inferno", theme === "light"),
    deepest,
  };
}

/** The look of calls; each context is looked up once. */
export function callLook({ catalog, by, theme, lit }: Colouring, shape: CallShape, maxDepth: number | null, hidden: readonly number[]): CallLook {
  const off = new Set(hidden);
  const fills = new Map<number, string | null>();
  const inks = new Map<number, string>();
  return {
    shape,
    maxDepth,
    fillOf: (context) => {
      let fill = fills.get(context);
      if (fill === undefined) {
        const key = catalog?.keyOf(context, by) ?? 0;
        const rgb = off.has(key) ? null : (catalog?.colourOf(key, by, theme) ?? null);
        fill = rgb === null ? null : lit === null || lit.isContext(context) ? cssOf(rgb) : `rgb(${rgb.join(" ")} / 0.14)`;
        fills.set(context, fill);
      }
      return fill;
    },
    inkOf: (context) => {
      let ink = inks.get(context);
      if (ink === undefined) {
        ink = cssOf(inkOn(catalog?.colourOf(catalog.keyOf(context, by), by, theme) ?? [128, 128, 128]));
        inks.set(context, ink);
      }
      return ink;
    },
    nameOf: (context) => shortName(catalog?.nameOf(catalog.keyOf(context, "function"), "function") ?? ""),
  };
}
