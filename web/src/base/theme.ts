import type { Rgb } from "./palettes.ts";

/** The look that is on screen now. */
export function currentTheme(): "light" | "dark" {
  const chosen = document.documentElement.dataset["theme"];
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Calls `changed` when the look changes, by the toggle or by the system; returns how to stop. For canvases. */
export function onThemeChange(changed: () => void): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  system.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    system.removeEventListener("change", changed);
  };
}

/** The colour of a token as it is on screen, as CSS that a canvas understands: `tokenColor("--text")`. */
export function tokenColor(token: `--${string}`): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${token})`;
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

/** The colour of a token as numbers. */
export function tokenRgb(token: `--${string}`): Rgb {
  const [red = 0, green = 0, blue = 0] = (tokenColor(token).match(/[\d.]+/g) ?? []).map(Number);
  return [red, green, blue];
}
