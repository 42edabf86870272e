/** The part of a picture without edges that is on screen. */

/** Place of the upper left corner, in the picture's pixels at a zoom of one, and the zoom. */
export interface GraphWindow {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

export const LEAST_ZOOM = 0.02;
export const MOST_ZOOM = 4;
/** "Fit" goes no further down: what is smaller cannot be read. */
const LEAST_FIT = 0.3;

/** Zooms by a factor about a place of the screen, which stays where it is. */
export function zoomedAbout(window: GraphWindow, factor: number, screenX: number, screenY: number): GraphWindow {
  const zoom = Math.max(LEAST_ZOOM, Math.min(MOST_ZOOM, window.zoom * factor));
  return { x: window.x + screenX / window.zoom - screenX / zoom, y: window.y + screenY / window.zoom - screenY / zoom, zoom };
}

/** Moves by pixels of the screen. */
export function panned(window: GraphWindow, screenX: number, screenY: number): GraphWindow {
  return { ...window, x: window.x - screenX / window.zoom, y: window.y - screenY / window.zoom };
}

/** Shows an area as a whole, in the middle, where it can be read so; else its upper left corner. */
export function fitted(left: number, top: number, right: number, bottom: number, width: number, height: number, margin = 24): GraphWindow {
  const [wide, high] = [Math.max(1, right - left), Math.max(1, bottom - top)];
  const zoom = Math.max(LEAST_FIT, Math.min(1.25, (width - 2 * margin) / wide, (height - 2 * margin) / high));
  const x = wide * zoom + 2 * margin <= width + 1 ? left - (width / zoom - wide) / 2 : left - margin / zoom;
  const y = high * zoom + 2 * margin <= height + 1 ? top - (height / zoom - high) / 2 : top - margin / zoom;
  return { x, y, zoom };
}

/** The same window, moved so far that a box is on screen with room around it. */
export function revealing(window: GraphWindow, left: number, top: number, right: number, bottom: number, width: number, height: number): GraphWindow {
  const margin = 24 / window.zoom;
  const [wide, high] = [width / window.zoom, height / window.zoom];
  const shift = (from: number, to: number, at: number, room: number): number => {
    if (to + margin > at + room) at = to + margin - room;
    return from - margin < at ? from - margin : at;
  };
  return { ...window, x: shift(left, right, window.x, wide), y: shift(top, bottom, window.y, high) };
}

/** The same zoom, with a place in the middle. */
export function centred(window: GraphWindow, x: number, y: number, width: number, height: number): GraphWindow {
  return { ...window, x: x - width / window.zoom / 2, y: y - height / window.zoom / 2 };
}
