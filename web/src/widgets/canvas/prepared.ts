/** A canvas of a size in CSS pixels, with as many real ones as the screen has; null until it is there. */
export function prepared(of: HTMLCanvasElement | undefined, width: number, tall: number): CanvasRenderingContext2D | null {
  const context = of?.getContext("2d", { alpha: false }) ?? null;
  if (of === undefined || context === null) return null;
  const ratio = devicePixelRatio;
  const [wide, high] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(tall * ratio))];
  // Setting the size clears the canvas and costs; most frames keep it.
  if (of.width !== wide || of.height !== high) {
    of.width = wide;
    of.height = high;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
