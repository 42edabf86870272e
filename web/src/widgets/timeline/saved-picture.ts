/** A timeline as a picture that stands alone, in a paper: title, axis, names of tracks, rows, strips and legend. */
import type { Pen } from "../canvas/pen.ts";
import { pictureOf } from "../canvas/picture.ts";
import type { Picture } from "../save.ts";
import { AXIS_HEIGHT, type TimelineColours, type TimelinePainter } from "./painter.ts";
import { distinctCuts } from "./rows.ts";
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
  return pictureOf(width, height, (pen) => {
    pen.fillStyle = colours.panel;
    pen.fillRect(0, 0, width, height);
    title(pen, texts, width, colours);
    within(pen, labelWidth, TITLE_HEIGHT, scene.scale.pixels, AXIS_HEIGHT, () => { painter.paintAxis(pen, scene.scale, colours); });
    within(pen, labelWidth, TITLE_HEIGHT + AXIS_HEIGHT, scene.scale.pixels, rowsHeight, () => { painter.paintRows(pen, scene, colours, -1); });
    names(pen, scene, colours, labelWidth, rowsHeight);
    texts.strips.forEach((strip, at) => {
      const top = TITLE_HEIGHT + AXIS_HEIGHT + rowsHeight + at * STRIP_HEIGHT;
      within(pen, labelWidth, top, scene.scale.pixels, STRIP_HEIGHT, () => { paintStrip(pen, strip, scene.scale, { ...colours, text: colours.text }); });
      stripNames(pen, strip, colours, labelWidth, top);
    });
    entries.forEach((entry, at) => { legendEntry(pen, entry, MARGIN + (at % columns) * ENTRY_WIDTH, legendTop + MARGIN + Math.floor(at / columns) * ENTRY_HEIGHT, colours); });
  });
}

/** Draws with the origin at a place, cut to a box there. */
function within(pen: Pen, x: number, y: number, width: number, height: number, draw: () => void): void {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
  pen.translate(x, y);
  draw();
  pen.restore();
}

function title(pen: Pen, { title: text, subtitle }: PictureTexts, width: number, colours: TimelineColours): void {
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.fillStyle = colours.ink;
  pen.font = colours.font.replace(/[\d.]+px/u, "14px");
  pen.fillText(fitted(pen, text, width - 2 * MARGIN), MARGIN, 14);
  pen.font = colours.font;
  pen.fillStyle = colours.text;
  pen.fillText(fitted(pen, subtitle, width - 2 * MARGIN), MARGIN, 31);
}

function names(pen: Pen, scene: TimelineScene, colours: TimelineColours, labelWidth: number, rowsHeight: number): void {
  const edge = scene.sticky * scene.rowHeight;
  const rows = labelledInSight(scene, LABEL_STEP).filter((row) => row < scene.sticky || topOf(scene, row) + scene.rowHeight / 2 >= edge);
  const cuts = distinctCuts(rows.map((row) => ({ label: scene.rows[row]?.label ?? "", pixels: labelWidth - 2 * MARGIN - (scene.rows[row]?.level ?? 0) * 8 })));
  within(pen, 0, TITLE_HEIGHT + AXIS_HEIGHT, labelWidth, rowsHeight, () => {
    pen.font = colours.font;
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    pen.fillStyle = colours.ink;
    rows.forEach((row, at) => {
      pen.fillText(cuts[at] ?? "", MARGIN + (scene.rows[row]?.level ?? 0) * 8, topOf(scene, row) + Math.max(LABEL_STEP, scene.rowHeight) / 2);
    });
  });
}

function stripNames(pen: Pen, strip: Strip, colours: TimelineColours, labelWidth: number, top: number): void {
  const axis = stripAxis(strip);
  pen.font = colours.font;
  pen.textBaseline = "middle";
  pen.fillStyle = colours.text;
  pen.textAlign = "right";
  for (const tick of axis.ticks) pen.fillText(strip.textOf(tick), labelWidth - 4, top + stripY(axis, tick));
  pen.textAlign = "left";
  pen.fillStyle = colours.ink;
  pen.fillText(fitted(pen, strip.title, labelWidth - 2 * MARGIN), MARGIN, top + STRIP_HEIGHT / 2);
}

function legendEntry(pen: Pen, { name, colour, share }: PictureTexts["legend"][number], x: number, y: number, colours: TimelineColours): void {
  pen.fillStyle = colour;
  pen.fillRect(x, y + 2, 10, 10);
  pen.font = colours.font;
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.fillStyle = colours.ink;
  const room = ENTRY_WIDTH - 24 - pen.measureText(share).width - 8;
  const text = fitted(pen, name, room);
  pen.fillText(text, x + 16, y + 7);
  pen.fillStyle = colours.text;
  pen.fillText(share, x + 16 + pen.measureText(text).width + 6, y + 7);
}

function fitted(pen: Pen, text: string, room: number): string {
  const width = pen.measureText(text).width;
  if (width <= room) return text;
  return `${text.slice(0, Math.max(1, Math.floor((room / width) * text.length) - 1)).trimEnd()}…`;
}
