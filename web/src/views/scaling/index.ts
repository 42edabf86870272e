import type { Item } from "../../state/item.ts";
import { defineView, type ViewPlugin } from "../../view-kit/plugin.ts";
import { loadScaling } from "./load.ts";
import { MAP_KINDS } from "./maps.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";
import type { CompareState, LinesState, MapsState, RegionsState, TableState } from "./states.ts";

const isEnsemble = (item: Item): boolean => item.kind === "ensemble";

const regions: RegionsState = { sort: { column: "loss", descending: true }, open: null, scale: "shared", size: "auto" };
const maps: MapsState = { kinds: MAP_KINDS };
const lines: LinesState = {
  quantity: "speedup", along: "cores", arrangement: "multiples", isLogarithmic: false, hasBand: true, overlay: "none", line: -1,
};
const table: TableState = { table: "maps", scope: "shown", sort: null };
const compare: CompareState = { other: "", isOld: false, quantity: "time_ratio", tolerance: 2 };

const views: readonly ViewPlugin[] = [
  defineView({
    id: "scaling.regions",
    title: "Regions",
    description: "Regions of the program with efficiency and parallel overhead.",
    icon: "tree",
    appliesTo: isEnsemble,
    component: () => import("./Regions.svelte"),
    defaultState: regions,
    stateVersion: 1,
    commands: [
      { id: "sort-by-loss", title: "Sort regions by overhead", run: (view) => { view.state.set({ sort: { column: "loss", descending: true } }, { label: "Sort regions" }); } },
      { id: "sort-as-program", title: "Sort regions as in the program", run: (view) => { view.state.set({ sort: { column: "tree", descending: true } }, { label: "Sort regions" }); } },
      {
        id: "only-focused",
        title: "Show only the focused region and its children",
        run: ({ links, item }) => {
          const focus = links.focus;
          if (focus?.kind === "region" && focus.item === item.key) links.setSpot({ item: item.key, region: focus.region });
        },
      },
      { id: "everything", title: "Show all regions again", run: ({ links }) => { links.setSpot(null); } },
      { id: "costly-path", title: "Expand the hot path", run: (view) => { view.state.set({ open: null }, { label: "Expand the hot path" }); } },
    ],
  }),
  defineView({
    id: "scaling.maps",
    title: "Maps",
    description: "Efficiency over cores and input, by region.",
    icon: "map",
    appliesTo: isEnsemble,
    component: () => import("./Maps.svelte"),
    defaultState: maps,
    stateVersion: 1,
    // One answer serves all views of the ensemble.
    prepare: ({ client, item, state }) => loadScaling(client, item, state.shared("scaling", DEFAULT_SETTINGS).current),
    commands: [
      {
        id: "interpolate",
        title: "Switch interpolation of maps",
        run: (view) => {
          const settings = view.state.shared("scaling", DEFAULT_SETTINGS);
          settings.set({ isInterpolated: !settings.current.isInterpolated }, { label: "Interpolation" });
        },
      },
      {
        id: "differences",
        title: "Switch absolute and relative maps",
        run: (view) => {
          const settings = view.state.shared("scaling", DEFAULT_SETTINGS);
          settings.set({ differences: settings.current.differences === "absolute" ? "relative" : "absolute" }, { label: "Absolute or relative maps" });
        },
      },
    ],
  }),
  defineView({
    id: "scaling.lines",
    title: "Lines",
    description: "Time, speedup and efficiency over cores or input, with performance models and scaling laws.",
    icon: "chart",
    appliesTo: isEnsemble,
    component: () => import("./Lines.svelte"),
    defaultState: lines,
    stateVersion: 1,
  }),
  defineView({
    id: "scaling.table",
    title: "Numbers",
    description: "Tables: maps, overhead, scaling laws, repetitions, energy, POP.",
    icon: "list",
    appliesTo: isEnsemble,
    component: () => import("./Numbers.svelte"),
    defaultState: table,
    stateVersion: 1,
  }),
  defineView({
    id: "scaling.verdict",
    title: "Verdict",
    description: "Limits of scaling, and regions by parallel overhead.",
    icon: "flame",
    appliesTo: isEnsemble,
    component: () => import("./Verdict.svelte"),
    defaultState: {},
    stateVersion: 1,
  }),
  defineView({
    id: "scaling.compare",
    title: "Compare",
    description: "Differences between two versions of the program.",
    icon: "compare",
    appliesTo: (item, items) => isEnsemble(item) && items.some((one) => one.key !== item.key && isEnsemble(one)),
    component: () => import("./Compare.svelte"),
    defaultState: compare,
    stateVersion: 1,
  }),
];

export default views;
