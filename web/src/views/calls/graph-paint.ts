import { category, contrast, cssOf, inkOn, luminance, ramp, type Rgb } from "../../base/palettes.ts";
import type { DrawContext } from "../../widgets/canvas/draw-context.ts";
import { eachFamilyIn, eachNodeIn, LEVEL_GAP, NODE_HEIGHT, ROW, type Area, type TreeLayout } from "../../widgets/graph/tree-layout.ts";
import type { GraphWindow } from "../../widgets/graph/window.ts";
import type { Deed, ReferenceLink, ShownReferences } from "./graph-references.ts";
import { keyOf, isLeaf, type ShownTree } from "./graph-tree.ts";
import { badgeOf, nodeText, referenceText, shareOf, STORAGE, storageOf } from "./graph-text.ts";
import type { Reference } from "./records.ts";

/** Half the width of a reference's circle. */
export const REFERENCE_RADIUS = 9;
const PADDING = 8;
const GLYPH = 15;
const BADGE_PADDING = 5;
const WIDEST_TEXT = 200;
/** Below this zoom letters are no longer read. */
const LEAST_TEXT_ZOOM = 0.42;
const CORNER = 5;
/** More links than this have neither arrows nor dashes, and circles neither edges nor letters, until they are at rest. */
const MOST_MOVING = 150;

export type Theme = "light" | "dark";

/** Colours of tokens, as a canvas understands them. */
export type GraphColours = Readonly<Record<"panel" | "line" | "strong" | "text" | "secondary" | "accent" | "onAccent" | "soft" | "font", string>>;

/** Fill and ink of a share of the time of all threads. Shares differ by powers of ten, so that steps follow their root. */
export function costColours(share: number, theme: Theme): readonly [fill: Rgb, ink: Rgb] {
  const root = Math.sqrt(Math.max(0, Math.min(1, Number.isFinite(share) ? share : 0)));
  // The ends of the ramp are the ground itself, on which a node would not be seen.
  const fill = theme === "light" ? ramp("inferno", true).rgb(0.02 + 0.78 * root) : ramp("inferno").rgb(0.16 + 0.8 * root);
  const ink = inkOn(fill);
  if (contrast(fill, ink) >= 4.6) return [fill, ink];
  // In the middle of the ramp neither ink is quite readable: a little further from it, one is.
  const away = luminance(ink) > 0.5 ? 0 : 255;
  return [[mixed(fill[0], away), mixed(fill[1], away), mixed(fill[2], away)], ink];
}

function mixed(byte: number, other: number): number {
  return Math.round(byte * 0.86 + other * 0.14);
}

/** Colours of lines: writing warm, reading cool, both as text; the arrow and the dashes say it, too. */
export function deedColour(deed: Deed, theme: Theme, neutral: string): string {
  return deed === "both" ? neutral : cssOf(category(deed === "writes" ? 1 : 2, theme));
}

/** Dashes of lines, for users to whom colours say little. */
export function deedDash(deed: Deed): readonly number[] {
  return deed === "reads" ? [5, 3] : [];
}

export function storageColour(place: number, theme: Theme): Rgb {
  const of = STORAGE[place];
  return of === undefined ? [128, 128, 128] : category(of.colour, theme);
}

/** How wide nodes are, by what stands in them. `measure` gives the width of a name as nodes show it. */
export function widthsOf(tree: ShownTree, measure: (name: string) => number): (node: number) => number {
  // Of a hundred thousand siblings most are alike.
  let before: { readonly name: string; readonly kind: string; readonly width: number } | null = null;
  return (node) => {
    const of = tree.entities[node];
    if (of === undefined) return 0;
    const { kind, name } = of;
    const isCalls = kind === "call" || kind === "group";
    const marks = isCalls ? (of.isInLoop ? GLYPH : 0) + (of.executions > 0 ? GLYPH : 0) : GLYPH;
    if (kind === "call" && before?.kind === kind && before.name === name) return before.width + marks;
    const badge = badgeOf(of);
    // Digits are of one width: a hundred thousand numbers are measured as six.
    const text = kind === "iteration" || name === "" ? nodeText(of).replace(/\d/g, "0") : name;
    const width = 2 * PADDING + Math.min(WIDEST_TEXT, measure(text)) + (badge === null ? 0 : measure(badge.replace(/\d/g, "0")) + 2 * BADGE_PADDING + 5);
    before = { name, kind, width };
    return width + marks;
  };
}

/** What a picture of the graph is made from. */
export interface GraphPicture {
  readonly tree: ShownTree;
  readonly layout: TreeLayout;
  readonly wholeNs: number;
  readonly references: ShownReferences;
  readonly referenceOf: (id: number) => Reference | undefined;
  /** Place of each shown reference. */
  readonly places: { readonly x: Float64Array; readonly y: Float64Array } | null;
  /** Node of a key; -1 where it is not on screen. */
  readonly nodeOf: (key: number) => number;
  readonly isMarked: (node: number) => boolean;
  /** Whether other views point at the node. */
  readonly isPointed: (node: number) => boolean;
  /** Places of references that all marked nodes touch. */
  readonly shared: ReadonlySet<number>;
  readonly hovered: number;
  readonly hoveredReference: number;
  readonly chosen: number;
  /** Whether references are on their way: many of them are drawn without what cannot be read in motion. */
  readonly isMoving: boolean;
  readonly theme: Theme;
  readonly colours: GraphColours;
}

/** Draws what is on screen. */
export function paintGraph(context: DrawContext, picture: GraphPicture, window: GraphWindow, width: number, height: number): void {
  const { colours, layout } = picture;
  context.fillStyle = colours.panel;
  context.fillRect(0, 0, width, height);
  context.save();
  context.scale(window.zoom, window.zoom);
  const area: Area = { left: window.x, top: window.y, right: window.x + width / window.zoom, bottom: window.y + height / window.zoom };
  const painter = new Painter(context, picture, window, area);
  // Rows that would lie on the same dot are drawn once.
  const step = ROW * window.zoom < 2 ? 2 / window.zoom : 0;
  eachFamilyIn(layout, area, (node) => { painter.hull(node, area); }, step);
  eachFamilyIn(layout, area, (node) => { painter.trunk(node, area); }, step);
  eachNodeIn(layout, { ...area, right: area.right + LEVEL_GAP }, (node) => { painter.branch(node); }, step);
  // Lines of references lie below the nodes, whose names are to be read, and their circles above.
  painter.links();
  eachNodeIn(layout, area, (node) => { painter.node(node); }, step);
  painter.circles();
  context.restore();
}

class Painter {
  readonly #context: DrawContext;
  readonly #of: GraphPicture;
  readonly #window: GraphWindow;
  readonly #hasText: boolean;
  readonly #isPlain: boolean;
  /** Right and lower edge of what is on screen, as places are taken. */
  readonly #right: number;
  readonly #bottom: number;
  readonly #cost = new Map<number, readonly [fill: string, ink: string]>();

  constructor(context: DrawContext, of: GraphPicture, window: GraphWindow, area: Area) {
    this.#context = context;
    this.#of = of;
    this.#window = window;
    this.#right = area.right - area.left;
    this.#bottom = area.bottom - area.top;
    this.#hasText = window.zoom >= LEAST_TEXT_ZOOM;
    this.#isPlain = of.isMoving && of.references.links.length > MOST_MOVING;
    context.font = of.colours.font;
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.lineCap = "round";
  }

  // Places are taken relative to the window before the canvas sees them: its numbers are too short for a million rows.
  #x(node: number): number { return (this.#of.layout.x[node] ?? 0) - this.#window.x; }
  #y(node: number): number { return (this.#of.layout.y[node] ?? 0) - this.#window.y; }

  /** The ground behind the iterations of one execution of a loop. */
  hull(node: number, area: Area): void {
    const { tree, layout, colours, theme } = this.#of;
    if (tree.open[node] !== "iterations") return;
    const [first, last] = [layout.firstChild[node] ?? 0, layout.lastChild[node] ?? 0];
    const level = (tree.depth[node] ?? 0) + 1;
    const context = this.#context;
    const left = this.#x(first) - 9;
    const right = (layout.right[level] ?? 0) - this.#window.x + 9;
    const top = Math.max(this.#y(first) - 18, area.top - this.#window.y - 40);
    const bottom = Math.min(this.#y(last) + 18, area.bottom - this.#window.y + 40);
    context.fillStyle = colours.soft;
    context.strokeStyle = cssOf(category(0, theme));
    context.lineWidth = 1;
    context.beginPath();
    context.roundRect(left, top, right - left, bottom - top, 10);
    context.fill();
    context.globalAlpha = 0.35;
    context.stroke();
    context.globalAlpha = 1;
  }

  #trunkX(node: number): number {
    const { tree, layout } = this.#of;
    return (layout.left[(tree.depth[node] ?? 0) + 1] ?? 0) - this.#window.x - LEVEL_GAP / 2 - (tree.open[node] === "iterations" ? 4 : 0);
  }

  /** From a node to the line down its children, and that line. */
  trunk(node: number, area: Area): void {
    const { layout, colours } = this.#of;
    const context = this.#context;
    const x = this.#trunkX(node);
    const [y, first, last] = [this.#y(node), this.#y(layout.firstChild[node] ?? 0), this.#y(layout.lastChild[node] ?? 0)];
    const bend = first === last ? 0 : CORNER;
    const top = Math.max(Math.min(y, first + bend), area.top - this.#window.y - 10);
    const bottom = Math.min(Math.max(y, last - bend), area.bottom - this.#window.y + 10);
    context.strokeStyle = colours.strong;
    context.lineWidth = 1.25;
    context.beginPath();
    context.moveTo(this.#x(node) + (layout.width[node] ?? 0), y);
    context.lineTo(x, y);
    if (bottom > top) {
      context.moveTo(x, top);
      context.lineTo(x, bottom);
    }
    context.stroke();
  }

  /** From the line down the siblings to a node. */
  branch(node: number): void {
    const { tree, layout, colours } = this.#of;
    const above = tree.parent[node] ?? -1;
    if (above < 0) return;
    const context = this.#context;
    const [from, to, y] = [this.#trunkX(above), this.#x(node), this.#y(node)];
    const [first, last] = [layout.firstChild[above] ?? 0, layout.lastChild[above] ?? 0];
    const skipped = tree.skipped.get(node) ?? 0;
    context.strokeStyle = colours.strong;
    context.lineWidth = 1.25;
    if (skipped > 0) context.setLineDash([2, 3]);
    context.beginPath();
    const isCorner = first !== last && (node === first || node === last) && y !== this.#y(above);
    if (isCorner) {
      const side = node === first ? 1 : -1;
      // A parent that is not between its children has its line going on.
      const goesOn = node === first ? this.#y(above) < y : this.#y(above) > y;
      if (goesOn) context.moveTo(from, y);
      else {
        context.moveTo(from, y + side * CORNER);
        context.quadraticCurveTo(from, y, from + CORNER, y);
      }
    } else context.moveTo(from, y);
    context.lineTo(to, y);
    context.stroke();
    if (skipped === 0) return;
    context.setLineDash([]);
    if (!this.#hasText) return;
    context.fillStyle = colours.secondary;
    context.fillText(`+${String(skipped)}`, from + 4, y - 8);
  }

  node(node: number): void {
    const { tree, layout, wholeNs, theme, colours } = this.#of;
    const of = tree.entities[node];
    if (of === undefined) return;
    const context = this.#context;
    const [x, y, wide] = [this.#x(node), this.#y(node), layout.width[node] ?? 0];
    const top = y - NODE_HEIGHT / 2;
    const isMarked = this.#of.isMarked(node);
    const leaf = isLeaf(of);
    const share = shareOf(of, wholeNs);
    const step = Math.round(Math.sqrt(Math.max(0, Math.min(1, share || 0))) * 64);
    let cost = this.#cost.get(step);
    if (cost === undefined) {
      const [fill, ink] = costColours((step / 64) ** 2, theme);
      this.#cost.set(step, (cost = [cssOf(fill), cssOf(ink)]));
    }
    const [fill, ink] = isMarked ? [colours.accent, colours.onAccent] : cost;
    const radius = of.kind === "iteration" ? NODE_HEIGHT / 2 : of.kind === "loop" ? 8 : 4;
    const isSmall = this.#window.zoom < 0.25;
    context.lineWidth = 1;
    context.strokeStyle = isMarked ? colours.accent : colours.strong;
    if (of.kind === "group" && !isSmall) {
      // A second sheet behind the first: there are several.
      context.fillStyle = colours.panel;
      context.beginPath();
      context.roundRect(x + 3, top + 3, wide, NODE_HEIGHT, radius);
      context.fill();
      context.stroke();
    }
    context.fillStyle = fill;
    context.beginPath();
    if (isSmall) context.rect(x, top, wide, NODE_HEIGHT);
    else context.roundRect(x, top, wide, NODE_HEIGHT, radius);
    if (leaf && !isMarked) {
      context.fillStyle = colours.panel;
      context.fill();
      context.globalAlpha = 0.8;
      context.fillStyle = fill;
    }
    context.fill();
    context.globalAlpha = 1;
    if (!isSmall) context.stroke();
    this.#outlines(node, x, top, wide, radius);
    if (!this.#hasText) return;
    this.#inside(node, x, y, wide, leaf && !isMarked ? this.#leafInk(step, ink) : ink);
    if (tree.open[node] !== null && layout.firstChild[node] === -1) {
      context.fillStyle = colours.secondary;
      context.fillText("…", x + wide + 6, y);
    } else if (!leaf && tree.open[node] === null) {
      context.strokeStyle = colours.secondary;
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(x + wide + (of.kind === "group" ? 8 : 5), y - 3.5);
      context.lineTo(x + wide + (of.kind === "group" ? 11.5 : 8.5), y);
      context.lineTo(x + wide + (of.kind === "group" ? 8 : 5), y + 3.5);
      context.stroke();
    }
  }

  /** A faded fill is nearer to the ground, and so may need the other ink. */
  #leafInk(step: number, ink: string): string {
    const { theme } = this.#of;
    const [fill] = costColours((step / 64) ** 2, theme);
    const ground = theme === "light" ? 255 : 21;
    const faded: Rgb = [fill[0] * 0.8 + ground * 0.2, fill[1] * 0.8 + ground * 0.2, fill[2] * 0.8 + ground * 0.2];
    return this.#hasText ? cssOf(inkOn(faded)) : ink;
  }

  #outlines(node: number, x: number, top: number, wide: number, radius: number): void {
    const { colours, chosen, hovered } = this.#of;
    const context = this.#context;
    const outline = (colour: string, by: number, line: number): void => {
      context.strokeStyle = colour;
      context.lineWidth = line;
      context.beginPath();
      context.roundRect(x - by, top - by, wide + 2 * by, NODE_HEIGHT + 2 * by, radius + by);
      context.stroke();
    };
    if (node === hovered) outline(colours.text, 0, 1.75);
    else if (this.#of.isPointed(node)) outline(colours.secondary, 0, 1.25);
    if (node === chosen) outline(colours.accent, 2.5, 2);
  }

  #inside(node: number, x: number, y: number, wide: number, ink: string): void {
    const { tree } = this.#of;
    const of = tree.entities[node];
    if (of === undefined) return;
    const context = this.#context;
    let left = x + PADDING;
    let right = x + wide - PADDING;
    const isCalls = of.kind === "call" || of.kind === "group";
    context.strokeStyle = ink;
    context.fillStyle = ink;
    if (of.kind === "loop" || (isCalls && of.isInLoop)) {
      cycleGlyph(context, left + 4.5, y, of.kind === "loop" ? 4.5 : 3.5);
      left += GLYPH;
    } else if (of.kind === "iteration") {
      arrowGlyph(context, left, y, 9);
      left += GLYPH;
    }
    if (isCalls && of.executions > 0) {
      cycleGlyph(context, right - 4, y, 3.5);
      right -= GLYPH;
    }
    const badge = badgeOf(of);
    if (badge !== null) {
      const size = context.measureText(badge).width + 2 * BADGE_PADDING;
      context.globalAlpha = 0.16;
      context.beginPath();
      context.roundRect(right - size, y - 7.5, size, 15, 7.5);
      context.fill();
      context.globalAlpha = 1;
      context.fillText(badge, right - size + BADGE_PADDING, y + 0.5);
      right -= size + 5;
    }
    const text = nodeText(of);
    context.fillText(context.measureText(text).width <= right - left + 1 ? text : fitted(context, text, right - left), left, y + 0.5);
  }

  /** Whether the pointer is on a reference, or on a node that has some: all others step back. */
  #isPicked(): boolean {
    const { references, hovered, hoveredReference, tree } = this.#of;
    return hoveredReference >= 0 || (hovered >= 0 && references.links.some((link) => link.node === keyAt(tree, hovered)));
  }

  links(): void {
    const { references, places, hovered, hoveredReference } = this.#of;
    if (places === null || references.references.length === 0) return;
    const isPicked = this.#isPicked();
    const isOne = (link: ReferenceLink): boolean => link.reference === hoveredReference || (hovered >= 0 && this.#of.nodeOf(link.node) === hovered);
    for (const deed of ["reads", "writes", "both"] as const) {
      const all = references.links.filter((link) => link.deed === deed);
      const picked = isPicked ? all.filter(isOne) : [];
      this.#lines(isPicked ? all.filter((link) => !isOne(link)) : all, deed, isPicked ? 0.15 : 1, 1.25);
      this.#lines(picked, deed, 1, 2);
    }
    this.#context.globalAlpha = 1;
  }

  /** Lines of one look. Each is a stroke of its own: for software that draws, a thousand short ones are half the work of a long one that crosses itself. */
  #lines(links: readonly ReferenceLink[], deed: Deed, alpha: number, width: number): void {
    if (links.length === 0) return;
    const { places, colours, theme, layout } = this.#of;
    const context = this.#context;
    context.globalAlpha = alpha;
    context.strokeStyle = context.fillStyle = deedColour(deed, theme, colours.text);
    context.lineWidth = width;
    context.lineCap = this.#isPlain ? "butt" : "round";
    context.setLineDash(this.#isPlain ? [] : [...deedDash(deed)]);
    const heads: (readonly [x: number, y: number, ux: number, uy: number])[] = [];
    for (const link of links) {
      const node = this.#of.nodeOf(link.node);
      if (node < 0) continue;
      const [cx, cy] = [(places?.x[link.reference] ?? 0) - this.#window.x, (places?.y[link.reference] ?? 0) - this.#window.y];
      const [fromX, fromY] = anchor(this.#x(node), this.#y(node), layout.width[node] ?? 0, cx, cy);
      if (!this.#isSeen(Math.min(fromX, cx), Math.min(fromY, cy), Math.max(fromX, cx), Math.max(fromY, cy))) continue;
      const [dx, dy] = [cx - fromX, cy - fromY];
      const length = Math.hypot(dx, dy) || 1;
      const [ux, uy] = [dx / length, dy / length];
      const [toX, toY] = [cx - ux * REFERENCE_RADIUS, cy - uy * REFERENCE_RADIUS];
      context.beginPath();
      context.moveTo(fromX, fromY);
      context.lineTo(toX, toY);
      context.stroke();
      if (this.#isPlain || length < REFERENCE_RADIUS + 6) continue;
      if (deed !== "reads") heads.push([toX, toY, ux, uy]);
      if (deed !== "writes") heads.push([fromX, fromY, -ux, -uy]);
    }
    context.setLineDash([]);
    context.lineCap = "round";
    for (const head of heads) arrowHead(context, ...head);
  }

  /** Whether a part of a rectangle is on screen. */
  #isSeen(left: number, top: number, right: number, bottom: number): boolean {
    return right >= 0 && bottom >= 0 && left <= this.#right && top <= this.#bottom;
  }

  circles(): void {
    const { references, places, colours, theme, shared, hovered, hoveredReference, tree } = this.#of;
    if (places === null || references.references.length === 0) return;
    const context = this.#context;
    const isPicked = this.#isPicked();
    const ofHovered = new Set(hovered < 0 ? [] : references.links.filter((link) => link.node === keyAt(tree, hovered)).map((link) => link.reference));
    const taken: (readonly [number, number, number, number])[] = [];
    const named: number[] = [];
    const looks = [-1, ...STORAGE.keys()].map((storage) => {
      const fill = storageColour(storage, theme);
      return { fill: cssOf(fill), ink: cssOf(inkOn(fill)), letter: STORAGE[storage]?.letter ?? "?" };
    });
    references.references.forEach((id, place) => {
      const of = this.#of.referenceOf(id);
      const [x, y] = [(places.x[place] ?? 0) - this.#window.x, (places.y[place] ?? 0) - this.#window.y];
      const look = looks[storageOf(of?.storage ?? "") + 1];
      const room = REFERENCE_RADIUS + 6;
      if (look === undefined || !this.#isSeen(x - room, y - room, x + room, y + room)) return;
      const isOne = place === hoveredReference || ofHovered.has(place);
      context.globalAlpha = isPicked && !isOne ? 0.35 : 1;
      if (shared.has(place)) {
        context.strokeStyle = colours.accent;
        context.lineWidth = 3;
        context.beginPath();
        context.arc(x, y, REFERENCE_RADIUS + 4, 0, 2 * Math.PI);
        context.stroke();
      }
      context.fillStyle = look.fill;
      context.strokeStyle = place === hoveredReference ? colours.text : colours.panel;
      context.lineWidth = place === hoveredReference ? 2 : 1.5;
      context.beginPath();
      context.arc(x, y, REFERENCE_RADIUS, 0, 2 * Math.PI);
      context.fill();
      if (!this.#isPlain) context.stroke();
      if (this.#hasText && !this.#isPlain) {
        context.fillStyle = look.ink;
        context.textAlign = "center";
        context.fillText(look.letter, x, y + 0.5);
        context.textAlign = "left";
      }
      taken.push([x - REFERENCE_RADIUS, y - REFERENCE_RADIUS, x + REFERENCE_RADIUS, y + REFERENCE_RADIUS]);
      if (isOne || (!isPicked && shared.has(place))) named.unshift(place);
      else named.push(place);
    });
    context.globalAlpha = 1;
    if (!this.#hasText || references.references.length > 150) named.splice(Math.max(0, Math.min(named.length, ofHovered.size + (hoveredReference >= 0 ? 1 : 0))));
    for (const place of named) {
      if (isPicked && place !== hoveredReference && !ofHovered.has(place)) continue;
      this.#name(place, taken, place === hoveredReference);
    }
  }

  /** The name of a reference next to its circle, where nothing else is. */
  #name(place: number, taken: (readonly [number, number, number, number])[], isForced: boolean): void {
    const { references, places, colours, layout, shared } = this.#of;
    const of = this.#of.referenceOf(references.references[place] ?? -1);
    if (of === undefined || places === null) return;
    const context = this.#context;
    const text = fitted(context, referenceText(of), 150);
    const wide = context.measureText(text).width;
    const [x, y] = [(places.x[place] ?? 0) - this.#window.x + REFERENCE_RADIUS + (shared.has(place) ? 9 : 5), (places.y[place] ?? 0) - this.#window.y];
    const box = [x - 2, y - 7, x + wide + 2, y + 7] as const;
    const isOver = taken.some((one) => one[0] < box[2] && one[2] > box[0] && one[1] < box[3] && one[3] > box[1]);
    if (isOver && !isForced) return;
    let isOverNode = false;
    const at = { left: box[0] + this.#window.x, right: box[2] + this.#window.x, top: box[1] + this.#window.y, bottom: box[3] + this.#window.y };
    eachNodeIn(layout, at, (node) => {
      const left = layout.x[node] ?? 0;
      if (left < at.right && left + (layout.width[node] ?? 0) > at.left) isOverNode = true;
    });
    if (isOverNode && !isForced) return;
    taken.push(box);
    context.globalAlpha = 0.85;
    context.fillStyle = colours.panel;
    context.fillRect(box[0], box[1], box[2] - box[0], box[3] - box[1]);
    context.globalAlpha = 1;
    context.fillStyle = colours.text;
    context.fillText(text, x, y + 0.5);
  }
}

function keyAt(tree: ShownTree, node: number): number {
  const of = tree.entities[node];
  return of === undefined ? -1 : keyOf(of);
}

/** Where a line to a place leaves a node. */
function anchor(left: number, y: number, width: number, toX: number, toY: number): readonly [number, number] {
  const half = NODE_HEIGHT / 2;
  if (toX > left + width) return [left + width, y];
  if (toX < left) return [left, y];
  return [toX, toY > y ? y + half : y - half];
}

function arrowHead(context: DrawContext, x: number, y: number, ux: number, uy: number): void {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - ux * 7 - uy * 3.5, y - uy * 7 + ux * 3.5);
  context.lineTo(x - ux * 7 + uy * 3.5, y - uy * 7 - ux * 3.5);
  context.closePath();
  context.fill();
}

/** A turning arrow: a loop. */
function cycleGlyph(context: DrawContext, x: number, y: number, radius: number): void {
  context.lineWidth = 1.4;
  context.beginPath();
  context.arc(x, y, radius, -0.6, 4.4);
  context.stroke();
  const [tipX, tipY] = [x + radius * Math.cos(-0.6), y + radius * Math.sin(-0.6)];
  context.beginPath();
  context.moveTo(tipX + 2.2, tipY + 1.6);
  context.lineTo(tipX - 2.4, tipY + 0.4);
  context.lineTo(tipX + 1, tipY - 2.8);
  context.fill();
}

function arrowGlyph(context: DrawContext, x: number, y: number, length: number): void {
  context.lineWidth = 1.4;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + length, y);
  context.moveTo(x + length - 3.5, y - 3.5);
  context.lineTo(x + length, y);
  context.lineTo(x + length - 3.5, y + 3.5);
  context.stroke();
}

function fitted(context: DrawContext, text: string, room: number): string {
  const width = context.measureText(text).width;
  if (width <= room) return text;
  const letters = Math.floor((room / width) * text.length) - 1;
  return letters < 1 ? "" : `${text.slice(0, letters).trimEnd()}…`;
}
