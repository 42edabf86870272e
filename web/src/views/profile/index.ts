import { defineView, type ViewPlugin } from "../plugin.ts";
import { FLAME_STATE, TREE_STATE } from "./states.ts";

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
  }),
  defineView({
    id: "profile.flame",
    title: "Flame graph",
    description: "The whole tree at a glance: the wider a frame, the more it costs.",
    icon: "flame",
    appliesTo: isExperiment,
    component: () => import("./Flame.svelte"),
    defaultState: FLAME_STATE,
    stateVersion: 1,
  }),
];

export default views;
