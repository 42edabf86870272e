/** Places things freely around others that stay where they are: what is linked comes near, everything keeps its distance. */

import type { Area } from "./tree-layout.ts";

/** A link from a free thing to a fixed place. */
export interface ForceLink {
  readonly free: number;
  readonly x: number;
  readonly y: number;
}

/** A box that stays, by its edges. */
export type VisitBox = (left: number, top: number, right: number, bottom: number) => void;

export interface ForceOptions {
  /** Calls `visit` with the boxes that reach into an area. */
  readonly boxesIn?: (area: Area, visit: VisitBox) => void;
  /** Half the height and width of a thing. */
  readonly radius?: number;
}

/** Strength with which things push each other away; as in the force layout of d3. */
const CHARGE = 200;
/** Things further apart than this do not push. */
const REACH = 110;
/** How far a thing wants to be from what it is linked to. */
const LINK_LENGTH = 60;
const LINK_STRENGTH = 0.05;
/** Part of the speed that is left after a step. */
const FRICTION = 0.7;
/** Part of the warmth that is left after a step. */
const COOLING = 0.985;
const COLD = 0.01;
/** Room around boxes, and between things. */
const CLEARANCE = 8;
/** Pixels of a step at most: whatever is given, nothing flies away. */
const FASTEST = 24;

/** Things in motion. One `step` is one frame. */
export class ForceLayout {
  readonly count: number;
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly radius: number;
  readonly #vx: Float64Array;
  readonly #vy: Float64Array;
  readonly #pinned: Uint8Array;
  readonly #links: readonly ForceLink[];
  readonly #weight: Float64Array;
  readonly #boxesIn: ((area: Area, visit: VisitBox) => void) | undefined;
  readonly #cells = new Map<number, number[]>();
  #warmth = 1;

  /** `start` says where a thing is at first. */
  constructor(count: number, links: readonly ForceLink[], start: (thing: number) => readonly [x: number, y: number], options: ForceOptions = {}) {
    this.count = count;
    this.x = new Float64Array(count);
    this.y = new Float64Array(count);
    this.#vx = new Float64Array(count);
    this.#vy = new Float64Array(count);
    this.#pinned = new Uint8Array(count);
    this.#links = links;
    this.#boxesIn = options.boxesIn;
    this.radius = options.radius ?? 9;
    this.#weight = new Float64Array(count);
    for (const link of links) this.#weight[link.free] = (this.#weight[link.free] ?? 0) + 1;
    for (let thing = 0; thing < count; thing += 1) {
      const [x, y] = start(thing);
      this.x[thing] = x;
      this.y[thing] = y;
    }
  }

  get isCalm(): boolean {
    return this.#warmth < COLD;
  }

  /** Lets everything move again, a little. */
  warm(to = 0.3): void {
    this.#warmth = Math.max(this.#warmth, to);
  }

  /** Puts a thing somewhere, where it stays. */
  pin(thing: number, x: number, y: number): void {
    this.#pinned[thing] = 1;
    this.x[thing] = x;
    this.y[thing] = y;
    this.warm();
  }

  isPinned(thing: number): boolean {
    return this.#pinned[thing] === 1;
  }

  /** Moves everything on; false once all is calm. */
  step(): boolean {
    if (this.isCalm) return false;
    const { x, y } = this;
    this.#sort();
    for (const link of this.#links) this.#pull(link);
    this.#eachPair((one, other) => { this.#push(one, other); });
    for (let thing = 0; thing < this.count; thing += 1) {
      if (this.#pinned[thing] === 1) continue;
      let [vx, vy] = [(this.#vx[thing] ?? 0) * FRICTION, (this.#vy[thing] ?? 0) * FRICTION];
      const speed = Math.hypot(vx, vy);
      if (speed > FASTEST) [vx, vy] = [(vx / speed) * FASTEST, (vy / speed) * FASTEST];
      this.#vx[thing] = vx;
      this.#vy[thing] = vy;
      x[thing] = (x[thing] ?? 0) + vx;
      y[thing] = (y[thing] ?? 0) + vy;
      this.#leaveBoxes(thing);
    }
    this.#eachPair((one, other) => { this.#separate(one, other); });
    this.#warmth *= COOLING;
    return true;
  }

  #pull({ free, x, y }: ForceLink): void {
    const [dx, dy] = [x - (this.x[free] ?? 0), y - (this.y[free] ?? 0)];
    const distance = Math.hypot(dx, dy) || 1;
    const part = ((distance - LINK_LENGTH) / distance) * LINK_STRENGTH * 4 * this.#warmth / Math.max(1, this.#weight[free] ?? 1);
    this.#vx[free] = (this.#vx[free] ?? 0) + dx * part;
    this.#vy[free] = (this.#vy[free] ?? 0) + dy * part;
  }

  #push(one: number, other: number): void {
    const { x, y } = this;
    const [vx, vy] = [this.#vx, this.#vy];
    let dx = (x[other] ?? 0) - (x[one] ?? 0);
    let dy = (y[other] ?? 0) - (y[one] ?? 0);
    let square = dx * dx + dy * dy;
    if (square > REACH * REACH) return;
    if (square < 1e-6) {
      dx = aside(one, other);
      dy = aside(other, one);
      square = dx * dx + dy * dy;
    }
    const part = (CHARGE * 0.12 * this.#warmth) / Math.max(square, 25);
    vx[one] = (vx[one] ?? 0) - dx * part;
    vy[one] = (vy[one] ?? 0) - dy * part;
    vx[other] = (vx[other] ?? 0) + dx * part;
    vy[other] = (vy[other] ?? 0) + dy * part;
  }

  /** Two things never lie on each other. */
  #separate(one: number, other: number): void {
    const { x, y } = this;
    let dx = (x[other] ?? 0) - (x[one] ?? 0);
    let dy = (y[other] ?? 0) - (y[one] ?? 0);
    const least = 2 * this.radius + CLEARANCE;
    let square = dx * dx + dy * dy;
    if (square >= least * least) return;
    if (square < 1e-6) {
      dx = aside(one, other);
      dy = aside(other, one);
      square = dx * dx + dy * dy;
    }
    const distance = Math.sqrt(square);
    const part = ((least - distance) / distance) * 0.5;
    if (this.#pinned[one] !== 1) {
      x[one] = (x[one] ?? 0) - dx * part;
      y[one] = (y[one] ?? 0) - dy * part;
    }
    if (this.#pinned[other] !== 1) {
      x[other] = (x[other] ?? 0) + dx * part;
      y[other] = (y[other] ?? 0) + dy * part;
    }
  }

  #leaveBoxes(thing: number): void {
    if (this.#boxesIn === undefined) return;
    const room = this.radius + CLEARANCE;
    const [x, y] = [this.x[thing] ?? 0, this.y[thing] ?? 0];
    this.#boxesIn({ left: x - room, right: x + room, top: y - room, bottom: y + room }, (left, top, right, bottom) => {
      const [atX, atY] = [this.x[thing] ?? 0, this.y[thing] ?? 0];
      const [nearX, nearY] = [Math.max(left, Math.min(atX, right)), Math.max(top, Math.min(atY, bottom))];
      const [dx, dy] = [atX - nearX, atY - nearY];
      const distance = Math.hypot(dx, dy);
      if (distance >= room) return;
      if (distance > 0) {
        this.x[thing] = nearX + (dx / distance) * room;
        this.y[thing] = nearY + (dy / distance) * room;
        // Along the edge it may go on.
        if (Math.abs(dx) > Math.abs(dy)) this.#vx[thing] = 0;
        else this.#vy[thing] = 0;
        return;
      }
      // Inside it goes on to the right, where there is room sooner or later.
      this.x[thing] = right + room;
      this.#vx[thing] = 0;
    });
  }

  #cellOf(thing: number): number {
    return Math.floor((this.x[thing] ?? 0) / REACH) * 65_536 + Math.floor((this.y[thing] ?? 0) / REACH);
  }

  #sort(): void {
    this.#cells.clear();
    for (let thing = 0; thing < this.count; thing += 1) {
      const cell = this.#cellOf(thing);
      const list = this.#cells.get(cell);
      if (list === undefined) this.#cells.set(cell, [thing]);
      else list.push(thing);
    }
  }

  /** Each two things in the same cell or in neighbouring ones, once. */
  #eachPair(visit: (one: number, other: number) => void): void {
    for (const [cell, list] of this.#cells) {
      for (let at = 0; at < list.length; at += 1) {
        for (let next = at + 1; next < list.length; next += 1) visit(list[at] ?? 0, list[next] ?? 0);
      }
      // Half of the neighbours; the other half finds this cell.
      for (const offset of [1, 65_535, 65_536, 65_537]) {
        const others = this.#cells.get(cell + offset);
        if (others !== undefined) for (const one of list) for (const other of others) visit(one, other);
      }
    }
  }
}

/** Where two things are at one place: some way apart, always the same. */
function aside(one: number, other: number): number {
  return Math.cos(one * 2.399963 + other) * 0.1;
}
