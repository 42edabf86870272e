import { defineView, type ViewPlugin } from "../plugin.ts";
import { CALLERS_STATE, DISTRIBUTION_STATE, FLAME_STATE, FLAT_STATE, SOURCE_STATE, TREE_STATE, type FlameState } from "./states.ts";

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
    description: "What calls what, and what it costs: the calling context tree from the entries down.",
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
    description: "Which functions cost most, and who calls them.",
    icon: "callers",
    appliesTo: isExperiment,
    component: () => import("./Callers.svelte"),
    defaultState: CALLERS_STATE,
    stateVersion: 1,
  }),
  defineView({
    id: "profile.flat",
    title: "Flat",
    description: "Costs by function, file, module, loop or line, whatever calls them.",
    icon: "list",
    appliesTo: isExperiment,
    component: () => import("./Flat.svelte"),
    defaultState: FLAT_STATE,
    stateVersion: 1,
  }),
  defineView<FlameState>({
    id: "profile.flame",
    title: "Flame graph",
    description: "The whole tree at a glance: the wider a frame, the more it costs.",
    icon: "flame",
    appliesTo: isExperiment,
    component: () => import("./Flame.svelte"),
    defaultState: FLAME_STATE,
    stateVersion: 1,
    commands: [
      whole,
      { id: "zoom-out", title: "Zoom out fully", run: ({ state }) => { state.set({ zoom: null }, { label: "Zoom" }); } },
      { id: "turn", title: "Turn between flame and icicle", run: ({ state }) => { state.set({ isIcicle: !state.current.isIcicle }, { label: "Turn the picture" }); } },
    ],
  }),
  defineView({
    id: "profile.distribution",
    title: "Locations",
    description: "How evenly the chosen context costs over ranks, threads and nodes.",
    icon: "bars",
    appliesTo: isExperiment,
    component: () => import("./Distribution.svelte"),
    defaultState: DISTRIBUTION_STATE,
    stateVersion: 1,
  }),
  defineView({
    id: "profile.summary",
    title: "Report",
    description: "What is wrong first, where, and what it would bring: the findings of all analyses in plain words.",
    icon: "info",
    appliesTo: isExperiment,
    component: () => import("./Report.svelte"),
    defaultState: {},
    stateVersion: 1,
  }),
  defineView({
    id: "profile.source",
    title: "Source",
    description: "The source code with the cost of each line.",
    icon: "code",
    appliesTo: isExperiment,
    component: () => import("./Source.svelte"),
    defaultState: SOURCE_STATE,
    stateVersion: 1,
  }),
];

export default views;
