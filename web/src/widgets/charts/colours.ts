import { cssOf, inkOn, rampOn, type Ramp, type Rgb } from "../../base/palettes.ts";
import { currentTheme, mapRamp } from "../../base/theme.ts";

/** How values become colours. */
export interface ColourScale {
  readonly low: number;
  readonly high: number;
  /** Values whose colours the legend names, ascending. */
  readonly ticks: readonly number[];
  rgb(value: number): Rgb;
}

/** The ramp of maps, reversed as PaScal has it: 0 is its lightest colour, `high` its darkest. */
export function efficiencyColours(high = 1, low = 0, of: Ramp = mapRamp(true)): ColourScale {
  return scaleOf(of, low, high, [low, (low + high) / 2, high]);
}

/** Brown for less, teal for more, the same distance to both sides of `middle`. */
export function differenceColours(range: number, middle = 0): ColourScale {
  const most = range > 0 ? range : 1;
  return scaleOf(rampOn(currentTheme(), "brbg"), middle - most, middle + most, [middle - most, middle, middle + most]);
}

function scaleOf(of: Ramp, low: number, high: number, ticks: readonly number[]): ColourScale {
  const span = high > low ? high - low : 1;
  return { low, high, ticks, rgb: (value) => of.rgb((value - low) / span) };
}

/** A colour scale with its ends swapped, for values of which less is better. */
export function mirrored(scale: ColourScale): ColourScale {
  return { ...scale, rgb: (value) => scale.rgb(scale.low + scale.high - value) };
}

/** Fill of a cell as CSS. */
export function fillOf(scale: ColourScale, value: number): string {
  return cssOf(scale.rgb(value));
}

/** Colour of text on a cell as CSS. */
export function textOn(scale: ColourScale, value: number): string {
  return cssOf(inkOn(scale.rgb(value)));
}

/** The bytes of a picture with one dot for each cell; undefined cells are transparent. */
export function pictureBytes(values: Float64Array, scale: ColourScale): Uint8ClampedArray<ArrayBuffer> {
  const out = new Uint8ClampedArray(values.length * 4);
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at] ?? Number.NaN;
    if (Number.isNaN(value)) continue;
    const [red, green, blue] = scale.rgb(value);
    out[at * 4] = red;
    out[at * 4 + 1] = green;
    out[at * 4 + 2] = blue;
    out[at * 4 + 3] = 255;
  }
  return out;
}
