import { canvasPicture, type Picture } from "../save.ts";
import { SvgContext, type DrawContext } from "./draw-context.ts";
import { prepared } from "./prepared.ts";

/** What `paint` draws into so many pixels, to be taken along. */
export function pictureOf(width: number, height: number, paint: (context: DrawContext) => void): Picture {
  return {
    svg: () => {
      const context = new SvgContext();
      paint(context);
      return context.svg(width, height);
    },
    png: async () => {
      const canvas = document.createElement("canvas");
      const context = prepared(canvas, width, height);
      if (context === null) throw new Error("The browser has too little memory for the picture. Make the panel smaller and try again.");
      paint(context);
      return canvasPicture(canvas);
    },
  };
}
