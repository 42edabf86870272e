import { createSubscriber } from "svelte/reactivity";
import { FUNCTION_PALETTES, MAP_RAMPS, rampOn, type FunctionPalette, type MapRamp, type Ramp, type Rgb } from "./palettes.ts";

/** Effects and templates that call it run again when the look changes, by the toggle or by the system. */
const follow = createSubscriber((changed) => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "data-functions", "data-maps"] });
  system.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    system.removeEventListener("change", changed);
  };
});

/** The look that is on screen; what reads it in an effect or a template follows it. */
export function currentTheme(): "light" | "dark" {
  follow();
  const chosen = document.documentElement.dataset["theme"];
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** How functions are coloured; the first palette where none was chosen. */
export function functionPalette(): FunctionPalette {
  follow();
  const chosen = document.documentElement.dataset["functions"];
  return FUNCTION_PALETTES.find((one) => one === chosen) ?? FUNCTION_PALETTES[0];
}

/** The ramp of maps that was chosen, as it is seen in the look on screen. */
export function mapRamp(reversed = false): Ramp {
  const theme = currentTheme();
  const chosen = document.documentElement.dataset["maps"];
  const name: MapRamp = MAP_RAMPS.find((one) => one === chosen) ?? MAP_RAMPS[0];
  return rampOn(theme, name, reversed);
}

/** Colours of tokens as a canvas understands them, and the font of the interface; followed in the same way. */
export function canvasLook<Name extends string>(tokens: Readonly<Record<Name, `--${string}`>>): Readonly<Record<Name | "font", string>> {
  follow();
  const font = `11px ${getComputedStyle(document.documentElement).getPropertyValue("--font-ui")}`;
  const colours = Object.entries<`--${string}`>(tokens).map(([name, token]) => [name, tokenColor(token)]);
  return { ...Object.fromEntries(colours), font } as Record<Name | "font", string>;
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
