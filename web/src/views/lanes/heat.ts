import { cssOf, inkOn, ramp } from "../../base/palettes.ts";

/** Fill and text of a bar. */
export interface Heat {
  readonly fill: string;
  readonly ink: string;
}

type Theme = "light" | "dark";

const STEPS = 48;
/** The part of the ramp in which bars stand out from the panel behind them. */
const ENDS: Readonly<Record<Theme, readonly [from: number, to: number]>> = { light: [0.08, 0.8], dark: [0.2, 0.94] };
const known = new Map<Theme, readonly Heat[]>();

/**
 * The colour of a share of the main call, 0 to 1. It changes with the square root: most calls take little, and must
 * still be distinguished.
 */
export function heatOf(share: number, theme: Theme): Heat {
  let steps = known.get(theme);
  if (steps === undefined) {
    // What takes most stands out from the panel: dark on white, bright on black.
    const inferno = ramp("inferno", theme === "light");
    const [from, to] = ENDS[theme];
    steps = Array.from({ length: STEPS + 1 }, (_, step): Heat => {
      const rgb = inferno.rgb(from + (step / STEPS) * (to - from));
      return { fill: cssOf(rgb), ink: cssOf(inkOn(rgb)) };
    });
    known.set(theme, steps);
  }
  const part = Math.sqrt(Math.max(0, Math.min(1, Number.isFinite(share) ? share : 0)));
  return steps[Math.round(part * STEPS)] ?? { fill: "transparent", ink: "transparent" };
}

/** The gradient as CSS, from nothing to all of the main call. */
export function heatGradient(theme: Theme): string {
  return `linear-gradient(to right, ${Array.from({ length: 9 }, (_, at) => heatOf((at / 8) ** 2, theme).fill).join(", ")})`;
}
