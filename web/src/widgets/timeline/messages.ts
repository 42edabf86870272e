/** Messages as lines from a sender to a receiver. Pure. */
import type { DrawContext } from "../canvas/draw-context.ts";
import { pixelOf, type TimeScale } from "./axis.ts";

/** Messages, one entry for each. */
export interface LinkColumns {
  readonly length: number;
  readonly sender: Uint32Array;
  readonly receiver: Uint32Array;
  readonly sendNs: Float64Array;
  /** NaN where that side was not found. */
  readonly receiveNs: Float64Array;
  readonly bytes: Float64Array;
  readonly tag: Float64Array;
}

/** A message on screen. */
export interface LinkLine {
  readonly link: number;
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
  /** Received before it was sent: clocks differ. */
  readonly isBackwards: boolean;
}

/** The lines of messages whose two ends have a row and that touch the screen. */
export function linkLines(links: LinkColumns, scale: TimeScale, height: number, rowMiddle: (track: number) => number | null): readonly LinkLine[] {
  const lines: LinkLine[] = [];
  for (let link = 0; link < links.length; link += 1) {
    const [sent, received] = [links.sendNs[link] ?? Number.NaN, links.receiveNs[link] ?? Number.NaN];
    if (Number.isNaN(sent) || Number.isNaN(received)) continue;
    const y1 = rowMiddle(links.sender[link] ?? 0);
    const y2 = rowMiddle(links.receiver[link] ?? 0);
    if (y1 === null || y2 === null) continue;
    const [x1, x2] = [pixelOf(scale, sent), pixelOf(scale, received)];
    if (Math.max(x1, x2) < 0 || Math.min(x1, x2) > scale.pixels || Math.max(y1, y2) < 0 || Math.min(y1, y2) > height) continue;
    lines.push({ link, x1, y1, x2, y2, isBackwards: received < sent });
  }
  return lines;
}

/** The line that is nearest to a point, and no farther than `reach` pixels; null where there is none. */
export function lineAt(lines: readonly LinkLine[], x: number, y: number, reach = 4): LinkLine | null {
  let best: LinkLine | null = null;
  let least = reach;
  for (const line of lines) {
    const distance = distanceTo(line, x, y);
    if (distance > least) continue;
    least = distance;
    best = line;
  }
  return best;
}

function distanceTo({ x1, y1, x2, y2 }: LinkLine, x: number, y: number): number {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const squared = dx * dx + dy * dy;
  const share = squared === 0 ? 0 : Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / squared));
  return Math.hypot(x - x1 - share * dx, y - y1 - share * dy);
}

/** Colours of lines, as CSS. */
export interface LineLook {
  readonly ink: string;
  /** Of messages that were received before they were sent. */
  readonly danger: string;
  readonly accent: string;
}

/** Draws lines between tracks, with arrows where there are few, and the one that is pointed at above the others. */
export function paintLines(context: DrawContext, lines: readonly LinkLine[], pointedAt: number, look: LineLook): void {
  if (lines.length === 0) return;
  const isFew = lines.length < 200;
  for (const isBackwards of [false, true]) {
    context.strokeStyle = isBackwards ? look.danger : look.ink;
    // Many lines must not hide what lies below them.
    context.globalAlpha = Math.max(isBackwards ? 0.2 : 0.07, Math.min(0.75, 90 / lines.length));
    context.lineWidth = isBackwards ? 1.5 : 1;
    context.beginPath();
    for (const line of lines) {
      if (line.isBackwards !== isBackwards) continue;
      context.moveTo(line.x1, line.y1);
      context.lineTo(line.x2, line.y2);
      if (isFew) arrow(context, line);
    }
    context.stroke();
  }
  context.globalAlpha = 1;
  const pointed = lines.find((line) => line.link === pointedAt);
  if (pointed === undefined) return;
  context.strokeStyle = look.accent;
  context.lineWidth = 2.5;
  context.beginPath();
  context.moveTo(pointed.x1, pointed.y1);
  context.lineTo(pointed.x2, pointed.y2);
  arrow(context, pointed);
  context.stroke();
  context.beginPath();
  context.arc(pointed.x1, pointed.y1, 3, 0, 2 * Math.PI);
  context.fillStyle = look.accent;
  context.fill();
}

/** Of more lines of one call than these, arrows would only cover the rows. */
const MOST_ARROWS = 80;

/** Draws the messages of one call over all others, with their arrows where there are few. */
export function paintOwnLines(context: DrawContext, lines: readonly LinkLine[], look: LineLook): void {
  const isFew = lines.length <= MOST_ARROWS;
  context.strokeStyle = look.accent;
  context.lineWidth = isFew ? 1.75 : 1;
  context.globalAlpha = isFew ? 1 : Math.max(0.06, 20 / lines.length);
  context.beginPath();
  for (const line of lines) {
    context.moveTo(line.x1, line.y1);
    context.lineTo(line.x2, line.y2);
    if (isFew) arrow(context, line);
  }
  context.stroke();
  context.globalAlpha = 1;
}

function arrow(context: DrawContext, { x1, y1, x2, y2 }: LinkLine): void {
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (length < 12) return;
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  context.moveTo(x2 - 6 * ux - 3 * uy, y2 - 6 * uy + 3 * ux);
  context.lineTo(x2, y2);
  context.lineTo(x2 - 6 * ux + 3 * uy, y2 - 6 * uy - 3 * ux);
}
