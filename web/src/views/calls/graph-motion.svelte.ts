import type { ForceLayout } from "../../widgets/graph/force.ts";
import type { TreeLayout } from "../../widgets/graph/tree-layout.ts";
import { placesOf, type KnownPlace } from "./graph-places.ts";
import type { ShownReferences } from "./graph-references.ts";

/** Steps of a frame while nothing is drawn, where reduced motion is preferred. */
const HIDDEN_STEPS = 60;

/** References on their way to their places, one step a frame, until all is calm. */
export class ReferenceMotion {
  /** Grows with every step, so that pictures follow. */
  tick = $state(0);
  force = $state.raw<ForceLayout | null>(null);
  isMoving = $state(false);
  #shown: ShownReferences | null = null;
  readonly #known = new Map<number, KnownPlace>();
  #frame: number | null = null;

  /** Places what is shown now; what was on screen goes on from where it was. */
  place(shown: ShownReferences, layout: TreeLayout, nodeOf: (key: number) => number): void {
    this.#remember();
    this.#shown = shown;
    if (shown.references.length === 0) {
      this.stop();
      this.force = null;
      this.#known.clear();
      return;
    }
    this.force = placesOf(shown, layout, nodeOf, this.#known);
    this.#run();
  }

  /** Takes a reference somewhere, where it stays. */
  move(place: number, x: number, y: number): void {
    this.force?.pin(place, x, y);
    this.#run();
  }

  /** Everything finds its place again. */
  forget(): void {
    this.#known.clear();
    this.#shown = null;
  }

  stop(): void {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    this.#frame = null;
    this.isMoving = false;
  }

  #remember(): void {
    const { force } = this;
    if (force === null) return;
    this.#shown?.references.forEach((id, place) => {
      this.#known.set(id, { x: force.x[place] ?? 0, y: force.y[place] ?? 0, isPinned: force.isPinned(place) });
    });
  }

  #run(): void {
    if (this.#frame !== null) return;
    this.isMoving = true;
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const frame = (): void => {
      let isOn = this.force?.step() === true;
      for (let step = 1; isStill && isOn && step < HIDDEN_STEPS; step += 1) isOn = this.force?.step() === true;
      if (!isStill || !isOn) this.tick += 1;
      this.#frame = isOn ? requestAnimationFrame(frame) : null;
      if (!isOn) this.isMoving = false;
    };
    this.#frame = requestAnimationFrame(frame);
  }
}
