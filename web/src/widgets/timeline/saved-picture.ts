/** A timeline as a picture that stands alone, in a paper: title, axis, names of tracks, rows, strips and legend. */
import type { DrawContext } from "../canvas/draw-context.ts";
import { pictureOf } from "../canvas/picture.ts";
import type { Picture } from "../save.ts";
import { AXIS_HEIGHT, type TimelineColours, type TimelinePainter } from "./painter.ts";
import { distinctCuts } from "../distinct-names.ts";
import { labelledInSight, topOf, type TimelineScene } from "./scene.ts";
import { paintStrip, STRIP_HEIGHT, stripAxis, stripY, type Strip } from "./strips.ts";

/** What a picture says besides what is drawn. */
export interface PictureTexts {
  readonly title: string;
  /** Window, tracks and what shares are of. */
  readonly subtitle: string;
  /** Name, colour as CSS, and share in words; the largest first. */
  readonly legend: readonly { readonly name: string; readonly colour: string; readonly share: string }[];
  readonly strips: readonly Strip[];
}

const TITLE_HEIGHT = 40;
const ENTRY_HEIGHT = 16;
const ENTRY_WIDTH = 220;
const MARGIN = 8;
/** Rows of the legend at most: what has less time is not seen in the picture. */
const MOST_LEGEND_ROWS = 6;
const LABEL_STEP = 13;

/** What is on screen, with everything that a reader needs who has not seen the screen. */
export function savedPicture(scene: TimelineScene, painter: TimelinePainter, colours: TimelineColours, labelWidth: number, texts: PictureTexts): Picture {
  const rowsHeight = Math.min(scene.height, scene.rows.length * scene.rowHeight - scene.scrolled);
  const width = labelWidth + scene.scale.pixels + MARGIN;
  const columns = Math.max(1, Math.floor((width - 2 * MARGIN) / ENTRY_WIDTH));
  const entries = texts.legend.slice(0, columns * MOST_LEGEND_ROWS);
  const legendTop = TITLE_HEIGHT + AXIS_HEIGHT + rowsHeight + texts.strips.length * STRIP_HEIGHT;
  const height = legendTop + (entries.length === 0 ? 0 : Math.ceil(entries.length / columns) * ENTRY_HEIGHT + 2 * MARGIN);
  return pictureOf(width, height, (context) => {
    context.fillStyle = colours.panel;
    context.fillRect(0, 0, width, height);
    title(context, texts, width, colours);
    within(context, labelWidth, TITLE_HEIGHT, scene.scale.pixels, AXIS_HEIGHT, () => { painter.paintAxis(context, scene.scale, colours); });
    within(context, labelWidth, TITLE_HEIGHT + AXIS_HEIGHT, scene.scale.pixels, rowsHeight, () => { painter.paintRows(context, scene, colours, -1); });
    names(context, scene, colours, labelWidth, rowsHeight);
    texts.strips.forEach((strip, at) => {
      const top = TITLE_HEIGHT + AXIS_HEIGHT + rowsHeight + at * STRIP_HEIGHT;
      within(context, labelWidth, top, scene.scale.pixels, STRIP_HEIGHT, () => { paintStrip(context, strip, scene.scale, { ...colours, text: colours.text }); });
      stripNames(context, strip, colours, labelWidth, top);
    });
    entries.forEach((entry, at) => { legendEntry(context, entry, MARGIN + (at % columns) * ENTRY_WIDTH, legendTop + MARGIN + Math.floor(at / columns) * ENTRY_HEIGHT, colours); });
  });
}

/** Draws with the origin at a place, cut to a box there. */
function within(context: DrawContext, x: number, y: number, width: number, height: number, draw: () => void): void {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.translate(x, y);
  draw();
  context.restore();
}

function title(context: DrawContext, { title: text, subtitle }: PictureTexts, width: number, colours: TimelineColours): void {
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.fillStyle = colours.ink;
  context.font = colours.font.replace(/[\d.]+px/u, "14px");
  context.fillText(fitted(context, text, width - 2 * MARGIN), MARGIN, 14);
  context.font = colours.font;
  context.fillStyle = colours.text;
  context.fillText(fitted(context, subtitle, width - 2 * MARGIN), MARGIN, 31);
}

function names(context: DrawContext, scene: TimelineScene, colours: TimelineColours, labelWidth: number, rowsHeight: number): void {
  const edge = scene.sticky * scene.rowHeight;
  const rows = labelledInSight(scene, LABEL_STEP).filter((row) => row < scene.sticky || topOf(scene, row) + scene.rowHeight / 2 >= edge);
  context.font = colours.font;
  const cuts = distinctCuts(
    rows.map((row) => ({ label: scene.rows[row]?.label ?? "", pixels: labelWidth - 2 * MARGIN - (scene.rows[row]?.level ?? 0) * 8 })),
    (text) => context.measureText(text).width,
  );
  within(context, 0, TITLE_HEIGHT + AXIS_HEIGHT, labelWidth, rowsHeight, () => {
    context.font = colours.font;
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillStyle = colours.ink;
    rows.forEach((row, at) => {
      context.fillText(cuts[at] ?? "", MARGIN + (scene.rows[row]?.level ?? 0) * 8, topOf(scene, row) + Math.max(LABEL_STEP, scene.rowHeight) / 2);
    });
  });
}

function stripNames(context: DrawContext, strip: Strip, colours: TimelineColours, labelWidth: number, top: number): void {
  const axis = stripAxis(strip);
  context.font = colours.font;
  context.textBaseline = "middle";
  context.fillStyle = colours.text;
  context.textAlign = "right";
  for (const tick of axis.ticks) context.fillText(strip.textOf(tick), labelWidth - 4, top + stripY(axis, tick));
  context.textAlign = "left";
  context.fillStyle = colours.ink;
  context.fillText(fitted(context, strip.title, labelWidth - 2 * MARGIN), MARGIN, top + STRIP_HEIGHT / 2);
}

function legendEntry(context: DrawContext, { name, colour, share }: PictureTexts["legend"][number], x: number, y: number, colours: TimelineColours): void {
  context.fillStyle = colour;
  context.fillRect(x, y + 2, 10, 10);
  context.font = colours.font;
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.fillStyle = colours.ink;
  const room = ENTRY_WIDTH - 24 - context.measureText(share).width - 8;
  const text = fitted(context, name, room);
  context.fillText(text, x + 16, y + 7);
  context.fillStyle = colours.text;
  context.fillText(share, x + 16 + context.measureText(text).width + 6, y + 7);
}

function fitted(context: DrawContext, text: string, room: number): string {
  const width = context.measureText(text).width;
  if (width <= room) return text;
  return `${text.slice(0, Math.max(1, Math.floor((room / width) * text.length) - 1)).trimEnd()}…`;
}
