import { canvasPicture, type Picture } from "../save.ts";
import { VectorPen, type Pen } from "./pen.ts";
import { prepared } from "./prepared.ts";

/** What `paint` draws into so many pixels, to be taken along. */
export function pictureOf(width: number, height: number, paint: (pen: Pen) => void): Picture {
  return {
    svg: () => {
      const pen = new VectorPen();
      paint(pen);
      return pen.svg(width, height);
    },
    png: async () => {
      const canvas = document.createElement("canvas");
      const context = prepared(canvas, width, height);
      if (context === null) throw new Error("The browser has no room for a picture. Make the panel smaller and try again.");
      paint(context);
      return canvasPicture(canvas);
    },
  };
}
