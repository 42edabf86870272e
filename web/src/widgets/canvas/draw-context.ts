import { escapedMarkup } from "../markup.ts";

/** What painters use of a canvas: all of it can also be written as SVG. */
export type DrawContext = Pick<
  CanvasRenderingContext2D,
  | "fillStyle" | "strokeStyle" | "lineWidth" | "lineCap" | "lineJoin" | "globalAlpha" | "font" | "textAlign" | "textBaseline" | "imageSmoothingEnabled"
  | "save" | "restore" | "scale" | "translate" | "rotate" | "clip"
  | "beginPath" | "moveTo" | "lineTo" | "quadraticCurveTo" | "bezierCurveTo" | "arc" | "rect" | "roundRect" | "closePath" | "fill" | "stroke"
  | "fillRect" | "strokeRect" | "fillText" | "measureText" | "setLineDash" | "drawImage"
>;

/** What measures texts. */
export type Ruler = Pick<CanvasRenderingContext2D, "font" | "measureText">;

/** Pixels of a letter, where there is no canvas to measure it with. */
const LETTER_PIXELS = 6.1;
const rulers = new Map<string, (text: string) => number>();

/** Measures texts in a font, in pixels. */
export function widthsIn(font: string): (text: string) => number {
  const known = rulers.get(font);
  if (known !== undefined) return known;
  const context = document.createElement("canvas").getContext("2d");
  if (context !== null) context.font = font;
  const widthOf = (text: string): number => context?.measureText(text).width ?? text.length * LETTER_PIXELS;
  rulers.set(font, widthOf);
  return widthOf;
}

/** What `save` keeps. */
interface Look {
  readonly fillStyle: DrawContext["fillStyle"];
  readonly strokeStyle: DrawContext["strokeStyle"];
  readonly lineWidth: number;
  readonly lineCap: CanvasLineCap;
  readonly lineJoin: CanvasLineJoin;
  readonly globalAlpha: number;
  readonly font: string;
  readonly textAlign: CanvasTextAlign;
  readonly textBaseline: CanvasTextBaseline;
  readonly imageSmoothingEnabled: boolean;
  readonly dash: readonly number[];
  readonly groups: number;
}

const ANCHORS: Readonly<Record<CanvasTextAlign, string>> = { left: "start", start: "start", center: "middle", right: "end", end: "end" };
const BASELINES: Readonly<Record<CanvasTextBaseline, string>> = {
  alphabetic: "alphabetic", middle: "central", top: "text-before-edge", bottom: "text-after-edge", hanging: "hanging", ideographic: "ideographic",
};

/** A drawing context that writes SVG. It keeps to the parts of the canvas's rules that {@link DrawContext} has: a path is in the coordinates in which it is drawn. */
export class SvgContext implements DrawContext {
  fillStyle: DrawContext["fillStyle"] = "#000";
  strokeStyle: DrawContext["strokeStyle"] = "#000";
  lineWidth = 1;
  lineCap: CanvasLineCap = "butt";
  lineJoin: CanvasLineJoin = "miter";
  globalAlpha = 1;
  font = "10px sans-serif";
  textAlign: CanvasTextAlign = "start";
  textBaseline: CanvasTextBaseline = "alphabetic";
  imageSmoothingEnabled = true;
  readonly #parts: string[] = [];
  readonly #saved: Look[] = [];
  readonly #rulerOf: () => Ruler | null;
  #dash: readonly number[] = [];
  #path: string[] = [];
  /** Groups that are open: each has a transformation or a clip. */
  #groups = 0;
  #clips = 0;

  /** `rulerOf` gives what measures texts, when the first one is measured. */
  constructor(rulerOf: () => Ruler | null = () => document.createElement("canvas").getContext("2d")) {
    let ruler: Ruler | null | undefined;
    this.#rulerOf = () => (ruler ??= rulerOf());
  }

  save(): void {
    const { fillStyle, strokeStyle, lineWidth, lineCap, lineJoin, globalAlpha, font, textAlign, textBaseline, imageSmoothingEnabled } = this;
    this.#saved.push({ fillStyle, strokeStyle, lineWidth, lineCap, lineJoin, globalAlpha, font, textAlign, textBaseline, imageSmoothingEnabled, dash: this.#dash, groups: this.#groups });
  }

  restore(): void {
    const look = this.#saved.pop();
    if (look === undefined) return;
    const { dash, groups, ...rest } = look;
    Object.assign(this, rest);
    this.#dash = dash;
    this.#close(groups);
  }

  scale(x: number, y: number): void { this.#open(`transform="scale(${short(x)} ${short(y)})"`); }
  translate(x: number, y: number): void { this.#open(`transform="translate(${short(x)} ${short(y)})"`); }

  rotate(angle: number): void { this.#open(`transform="rotate(${short((angle * 180) / Math.PI)})"`); }

  clip(): void {
    const id = `clip-${String(this.#clips)}`;
    this.#clips += 1;
    this.#parts.push(`<clipPath id="${id}"><path d="${this.#path.join("")}"/></clipPath>`);
    this.#open(`clip-path="url(#${id})"`);
  }

  beginPath(): void { this.#path = []; }
  moveTo(x: number, y: number): void { this.#path.push(`M${short(x)} ${short(y)}`); }
  lineTo(x: number, y: number): void { this.#path.push(`${this.#path.length === 0 ? "M" : "L"}${short(x)} ${short(y)}`); }
  quadraticCurveTo(cx: number, cy: number, x: number, y: number): void { this.#path.push(`Q${numbers(cx, cy, x, y)}`); }
  bezierCurveTo(ax: number, ay: number, bx: number, by: number, x: number, y: number): void { this.#path.push(`C${numbers(ax, ay, bx, by, x, y)}`); }
  closePath(): void { this.#path.push("Z"); }
  rect(x: number, y: number, width: number, height: number): void { this.#path.push(`M${numbers(x, y)}h${short(width)}v${short(height)}h${short(-width)}Z`); }

  arc(x: number, y: number, radius: number, from: number, to: number): void {
    const sweep = to - from;
    const place = (angle: number): string => numbers(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
    const start = `${this.#path.length === 0 ? "M" : "L"}${place(from)}`;
    // An arc of SVG whose ends are one point is none: a circle has two halves.
    const half = Math.min(sweep, 2 * Math.PI) / 2;
    this.#path.push(start, `A${numbers(radius, radius)} 0 0 1 ${place(from + half)}`, `A${numbers(radius, radius)} 0 0 1 ${place(from + 2 * half)}`);
  }

  roundRect(x: number, y: number, width: number, height: number, radii?: number | DOMPointInit | (number | DOMPointInit)[]): void {
    const wanted = typeof radii === "number" ? radii : 0;
    const r = Math.max(0, Math.min(wanted, Math.abs(width) / 2, Math.abs(height) / 2));
    const corner = (dx: number, dy: number): string => `a${numbers(r, r)} 0 0 1 ${numbers(dx, dy)}`;
    this.#path.push(
      `M${numbers(x + r, y)}h${short(width - 2 * r)}${corner(r, r)}v${short(height - 2 * r)}${corner(-r, r)}h${short(2 * r - width)}${corner(-r, -r)}v${short(2 * r - height)}${corner(r, -r)}Z`,
    );
  }

  fill(): void { if (this.#path.length > 0) this.#parts.push(`<path d="${this.#path.join("")}"${this.#inked("fill", this.fillStyle)}/>`); }
  stroke(): void { if (this.#path.length > 0) this.#parts.push(`<path d="${this.#path.join("")}" fill="none"${this.#line()}/>`); }
  fillRect(x: number, y: number, width: number, height: number): void { this.#parts.push(`<rect${box(x, y, width, height)}${this.#inked("fill", this.fillStyle)}/>`); }
  strokeRect(x: number, y: number, width: number, height: number): void { this.#parts.push(`<rect${box(x, y, width, height)} fill="none"${this.#line()}/>`); }
  setLineDash(segments: Iterable<number>): void { this.#dash = [...segments]; }

  fillText(text: string, x: number, y: number): void {
    if (text === "") return;
    this.#parts.push(
      `<text x="${short(x)}" y="${short(y)}" style="font:${escapedMarkup(this.font)};white-space:pre" text-anchor="${ANCHORS[this.textAlign]}" dominant-baseline="${BASELINES[this.textBaseline]}"${this.#inked("fill", this.fillStyle)}>${escapedMarkup(text)}</text>`,
    );
  }

  measureText(text: string): TextMetrics {
    const ruler = this.#rulerOf();
    if (ruler === null) throw new Error("The browser has no canvas to measure texts with.");
    if (ruler.font !== this.font) ruler.font = this.font;
    return ruler.measureText(text);
  }

  /** The part of a picture is put in as dots. */
  drawImage(image: CanvasImageSource, ...at: number[]): void {
    const whole = "width" in image ? [0, 0, Number(image.width), Number(image.height)] : [];
    const [sx = 0, sy = 0, sw = 0, sh = 0, x = 0, y = 0, wide = 0, high = 0] = at.length === 8 ? at : [...whole, ...at];
    if (!(sw > 0 && sh > 0)) return;
    const part = document.createElement("canvas");
    part.width = Math.ceil(sw);
    part.height = Math.ceil(sh);
    part.getContext("2d")?.drawImage(image, sx, sy, sw, sh, 0, 0, part.width, part.height);
    const smooth = this.imageSmoothingEnabled ? "" : ` style="image-rendering:pixelated"`;
    this.#parts.push(`<image${box(x, y, wide, high)} preserveAspectRatio="none"${smooth}${this.#alpha()} href="${part.toDataURL("image/png")}"/>`);
  }

  /** The picture as a file of its own, of that size in pixels. */
  svg(width: number, height: number): string {
    const size = `width="${short(width)}" height="${short(height)}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${short(width)} ${short(height)}">${this.#parts.join("")}${"</g>".repeat(this.#groups)}</svg>`;
  }

  #open(attribute: string): void {
    this.#parts.push(`<g ${attribute}>`);
    this.#groups += 1;
  }

  #close(kept: number): void {
    for (; this.#groups > kept; this.#groups -= 1) this.#parts.push("</g>");
  }

  #alpha(): string {
    return this.globalAlpha < 1 ? ` opacity="${short(this.globalAlpha)}"` : "";
  }

  #inked(name: "fill" | "stroke", style: DrawContext["fillStyle"]): string {
    return ` ${name}="${escapedMarkup(typeof style === "string" ? style : "none")}"${this.#alpha()}`;
  }

  #line(): string {
    const width = this.lineWidth === 1 ? "" : ` stroke-width="${short(this.lineWidth)}"`;
    const cap = this.lineCap === "butt" ? "" : ` stroke-linecap="${this.lineCap}"`;
    const join = this.lineJoin === "miter" ? "" : ` stroke-linejoin="${this.lineJoin}"`;
    const dash = this.#dash.length === 0 ? "" : ` stroke-dasharray="${this.#dash.map(short).join(" ")}"`;
    return this.#inked("stroke", this.strokeStyle) + width + cap + join + dash;
  }
}

/** A number with a hundredth of a pixel. */
function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function numbers(...values: readonly number[]): string {
  return values.map(short).join(" ");
}

function box(x: number, y: number, width: number, height: number): string {
  // A canvas takes negative sizes.
  return ` x="${short(Math.min(x, x + width))}" y="${short(Math.min(y, y + height))}" width="${short(Math.abs(width))}" height="${short(Math.abs(height))}"`;
}
