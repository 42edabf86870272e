import { defineView, type ViewPlugin } from "../../view-kit/plugin.ts";
import { CALLERS_STATE, DISTRIBUTION_STATE, FLAME_STATE, FLAT_STATE, SOURCE_STATE, TREE_STATE, type FlameState } from "../../view-kit/states.ts";

const whole: NonNullable<ViewPlugin["commands"]>[number] = {
  id: "whole-program",
  title: "Show the whole program",
  run: ({ links }) => { links.setSpot(null); },
};

const isExperiment: ViewPlugin["appliesTo"] = (item) => item.kind === "experiment";

const views: readonly ViewPlugin[] = [
  defineView({
    id: "profile.tree",
    title: "Tree",
    description: "Top-down view: the calling context tree with inclusive and exclusive values.",
    icon: "tree",
    appliesTo: isExperiment,
    component: () => import("./Tree.svelte"),
    defaultState: TREE_STATE,
    stateVersion: 1,
    commands: [
      whole,
      {
        id: "sort-by-cost",
        title: "Sort by the first column",
        run: ({ state }) => { state.set({ sort: TREE_STATE.sort }, { label: "Sort the tree" }); },
      },
    ],
  }),
  defineView({
    id: "profile.callers",
    title: "Callers",
    description: "Bottom-up view: functions by exclusive value, with their callers.",
    icon: "callers",
    appliesTo: isExperiment,
    component: () => import("./Callers.svelte"),
    defaultState: CALLERS_STATE,
    stateVersion: 1,
  }),
  defineView({
    id: "profile.flat",
    title: "Flat",
    description: "Flat view: values by function, file, module, loop or line.",
    icon: "list",
    appliesTo: isExperiment,
    component: () => import("./Flat.svelte"),
    defaultState: FLAT_STATE,
    stateVersion: 1,
  }),
  defineView<FlameState>({
    id: "profile.flame",
    title: "Flame graph",
    description: "The calling context tree; widths are inclusive values.",
    icon: "flame",
    appliesTo: isExperiment,
    component: () => import("./Flame.svelte"),
    defaultState: FLAME_STATE,
    stateVersion: 1,
    commands: [
      whole,
      { id: "zoom-out", title: "Zoom out fully", run: ({ state }) => { state.set({ zoom: null }, { label: "Zoom" }); } },
      { id: "turn", title: "Switch between flame and icicle", run: ({ state }) => { state.set({ isIcicle: !state.current.isIcicle }, { label: "Switch the direction" }); } },
    ],
  }),
  defineView({
    id: "profile.distribution",
    title: "Locations",
    description: "Distribution of the selected context over ranks, threads and nodes.",
    icon: "bars",
    appliesTo: isExperiment,
    component: () => import("./Distribution.svelte"),
    defaultState: DISTRIBUTION_STATE,
    stateVersion: 1,
  }),
  defineView({
    id: "profile.summary",
    title: "Report",
    description: "Top findings of all analyses, with evidence and potential saving.",
    icon: "info",
    appliesTo: isExperiment,
    component: () => import("./Report.svelte"),
    defaultState: {},
    stateVersion: 1,
  }),
  defineView({
    id: "profile.source",
    title: "Source",
    description: "Source code with metric values by line.",
    icon: "code",
    appliesTo: isExperiment,
    component: () => import("./Source.svelte"),
    defaultState: SOURCE_STATE,
    stateVersion: 1,
  }),
];

export default views;
