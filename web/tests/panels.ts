import { unmount, type mount } from "svelte";
import { afterEach, beforeAll, beforeEach, vi } from "vitest";

/** A component on the page, as `mount` gives it. */
export type Mounted = ReturnType<typeof mount>;

/**
 * Makes a page in which components can be mounted although nothing is laid out and there is no canvas: everything is
 * as large as is said. What a test puts into the list is taken off the page after it.
 */
export function usePanels(width: number, height: number): Mounted[] {
  const mounted: Mounted[] = [];
  beforeAll(() => {
    vi.stubGlobal("ResizeObserver", class { observe(): void {} unobserve(): void {} disconnect(): void {} });
    vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
    Object.defineProperty(HTMLElement.prototype, "clientHeight", { configurable: true, value: height });
    Object.defineProperty(HTMLElement.prototype, "clientWidth", { configurable: true, value: width });
  });
  beforeEach(() => {
    // Pictures are looked at in a real browser.
    vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(null);
  });
  afterEach(async () => {
    await Promise.all(mounted.map((one) => unmount(one)));
    mounted.length = 0;
    document.body.replaceChildren();
  });
  return mounted;
}
