import type { RegionKey } from "../../state/app-state.ts";
import type { Slice } from "../../state/slice.svelte.ts";
import type { ViewProps } from "../../view-kit/plugin.ts";
import type { ScalingData } from "./data.ts";
import { Latest } from "../../view-kit/ask.svelte.ts";
import { loadScaling } from "./load.ts";
import { DEFAULT_SETTINGS, type ScalingSettings } from "./settings.ts";
import { byWeight, isInside } from "./tree.ts";

type Props = Pick<ViewProps, "item" | "client" | "links"> & { readonly state: Pick<Slice<object>, "shared"> };

/** What every scaling view needs: the answer, the settings that all of them share, and which regions are shown. */
export class ScalingContext {
  readonly settings: Slice<ScalingSettings>;
  readonly answer: Latest<ScalingData>;
  readonly #props: () => Props;
  readonly #marked = $derived.by(() => this.#find());
  readonly #shown = $derived.by(() => this.#choose());
  readonly #places = $derived.by(() => new Map(this.#shown.map((region, position) => [region, position])));

  /** Call it while a component is made. */
  constructor(props: () => Props) {
    this.#props = props;
    this.settings = props().state.shared("scaling", DEFAULT_SETTINGS);
    this.answer = Latest.of(() => {
      const { client, item } = props();
      const settings = this.settings.current;
      return () => loadScaling(client, item, settings);
    });
  }

  get data(): ScalingData | null {
    return this.answer.value;
  }

  /** Selected regions, in the order in which they are shown. */
  get marked(): readonly number[] {
    return this.#marked;
  }

  /** The regions that maps and lines show: the selected ones, else a suggestion; and the one in focus. */
  get shown(): readonly number[] {
    return this.#shown;
  }

  /** Where a region is among the shown ones; null when it is not shown. */
  placeOf(region: number): number | null {
    return this.#places.get(region) ?? null;
  }

  get hovered(): number | null {
    return this.#regionOf(this.#props().links.hover);
  }

  get focused(): number | null {
    return this.#regionOf(this.#props().links.focus);
  }

  /** The region to which all views are restricted. */
  get spot(): number | null {
    const { links, item } = this.#props();
    const spot = links.spot;
    return spot === null || spot.item !== item.key || spot.region === undefined ? null : (this.data?.position(spot.region) ?? null);
  }

  keyOf(region: number): RegionKey {
    return { kind: "region", item: this.#props().item.key, region: this.data?.regions[region]?.id ?? "" };
  }

  hover(region: number | null): void {
    this.#props().links.setHover(region === null ? null : this.keyOf(region));
  }

  focus(region: number | null): void {
    this.#props().links.setFocus(region === null ? null : this.keyOf(region));
  }

  /** Selects exactly these regions of this ensemble. */
  select(regions: readonly number[]): void {
    const { links, item } = this.#props();
    const others = links.mark.filter((thing) => thing.item !== item.key || thing.kind !== "region");
    links.setMark([...others, ...regions.map((region) => this.keyOf(region))]);
  }

  /** Selects a region too, or no longer. */
  toggle(region: number): void {
    const rest = this.#marked.filter((one) => one !== region);
    this.select(rest.length === this.#marked.length ? [...rest, region] : rest);
  }

  restrict(region: number | null): void {
    const { links, item } = this.#props();
    const id = region === null ? undefined : this.data?.regions[region]?.id;
    links.setSpot(id === undefined ? null : { item: item.key, region: id });
  }

  /** Whether a region is inside the part to which views are restricted. */
  isInSpot(region: number): boolean {
    const { data, spot } = this;
    return spot === null || data === null || isInside(data, region, spot);
  }

  #regionOf(thing: { kind: string; item: string; region?: string } | null): number | null {
    if (thing?.kind !== "region" || thing.item !== this.#props().item.key) return null;
    return this.data?.position(thing.region ?? "") ?? null;
  }

  #find(): readonly number[] {
    const { links, item } = this.#props();
    const data = this.data;
    if (data === null) return [];
    return links.mark.flatMap((thing) => {
      if (thing.kind !== "region" || thing.item !== item.key) return [];
      const region = data.position(thing.region);
      return region === null ? [] : [region];
    });
  }

  #choose(): readonly number[] {
    const data = this.data;
    if (data === null || data.regions.length === 0) return [];
    const chosen = this.#marked.length > 0 ? this.#marked : suggested(data, this.spot);
    const focused = this.focused;
    return focused === null || chosen.includes(focused) ? chosen : [...chosen, focused];
  }
}

/** What is shown before anything is selected: everything, and the region that loses most by itself. */
export function suggested(data: ScalingData, spot: number | null): readonly number[] {
  const root = spot ?? 0;
  const worst = data.reply.worst;
  if (worst === null) return [root];
  const own = (region: number): number => data.cell("own_loss", region, worst[0], worst[1]);
  const inside = data.losses.flatMap((row) => {
    const region = data.position(row.region);
    return region === null || region === root || !isInside(data, region, root) ? [] : [region];
  });
  const [most] = byWeight(inside, own);
  return most !== undefined && own(most) > 0 ? [root, most] : [root];
}
