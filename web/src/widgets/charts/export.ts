import { escapedMarkup } from "../markup.ts";
import { canvasPicture, svgText } from "../save.ts";

/** A drawing with its name. */
export interface NamedSvg {
  readonly svg: SVGSVGElement;
  readonly name: string;
}

const GAP = 16;
const HEAD = 28;
const NOTE = 16;

/** Several drawings as one file, as many next to each other as on the screen, under a title and above notes. */
export function sheetOf(title: string, parts: readonly NamedSvg[], notes: readonly string[] = []): { text: string; width: number; height: number } {
  const boxes = parts.map(({ svg }) => svg.getBoundingClientRect());
  const [first] = boxes;
  // Drawings whose tops are level lie in one row on the screen.
  const perRow = Math.max(1, boxes.filter((box) => Math.abs(box.top - (first?.top ?? 0)) < 2).length);
  const cellWidth = Math.max(0, ...boxes.map((box) => box.width)) + GAP;
  const cellHeight = Math.max(0, ...boxes.map((box) => box.height)) + GAP;
  const width = Math.ceil(cellWidth * Math.min(perRow, parts.length) + GAP);
  const foot = HEAD + GAP + cellHeight * Math.ceil(parts.length / perRow);
  const height = Math.ceil(foot + notes.length * NOTE + GAP);
  const look = getComputedStyle(parts[0]?.svg ?? document.body);
  const ground = groundOf(parts[0]?.svg ?? document.body);
  const placed = parts.map(({ svg }, index) => {
    const x = GAP + (index % perRow) * cellWidth;
    const y = HEAD + GAP + Math.floor(index / perRow) * cellHeight;
    return `<g transform="translate(${String(x)} ${String(y)})">${svgText(svg)}</g>`;
  });
  const text =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${String(width)}" height="${String(height)}" viewBox="0 0 ${String(width)} ${String(height)}">` +
    `<rect width="100%" height="100%" fill="${ground}"/>` +
    `<text x="${String(GAP)}" y="24" style="font:600 14px system-ui,sans-serif;fill:${look.color}">${escapedMarkup(title)}</text>` +
    `${placed.join("")}` +
    `${notes.map((note, index) => `<text x="${String(GAP)}" y="${String(foot + index * NOTE + 8)}" style="font:11px system-ui,sans-serif;fill:${look.color}">${escapedMarkup(note)}</text>`).join("")}</svg>`;
  return { text, width, height };
}

/** A sheet as a picture of dots. */
export async function sheetPicture(sheet: { text: string; width: number; height: number }, scale = 2): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(sheet.text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(sheet.width * scale));
  canvas.height = Math.max(1, Math.round(sheet.height * scale));
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvasPicture(canvas);
}

/** The first painted background behind an element, so that light text stays on its dark ground. */
function groundOf(element: Element): string {
  for (let at: Element | null = element; at !== null; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (colour !== "" && colour !== "transparent" && !/,\s*0\)$/.test(colour)) return colour;
  }
  return "white";
}
