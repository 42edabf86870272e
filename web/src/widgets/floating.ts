import { autoUpdate, computePosition, flip, offset, shift, size, type Placement } from "@floating-ui/dom";

/** Keeps `popup` next to `anchor`, inside the window; returns how to stop. Both must be in the document. */
export function keepNextTo(anchor: Element, popup: HTMLElement, placement: Placement, gapPixels = 4): () => void {
  return autoUpdate(anchor, popup, () => {
    void computePosition(anchor, popup, {
      placement,
      strategy: "fixed",
      middleware: [
        offset(gapPixels),
        flip({ padding: 8 }),
        shift({ padding: 8 }),
        size({
          padding: 8,
          apply: ({ availableHeight }) => {
            popup.style.maxHeight = `${String(Math.max(80, availableHeight))}px`;
          },
        }),
      ],
    }).then(({ x, y }) => {
      popup.style.left = `${String(Math.round(x))}px`;
      popup.style.top = `${String(Math.round(y))}px`;
    });
  });
}
