import type { Ruler } from "../src/widgets/canvas/draw-context.ts";

/** Measures without a browser: every letter is six pixels wide. */
export const RULER: Ruler = { font: "", measureText: (text) => ({ width: text.length * 6 }) as TextMetrics };
