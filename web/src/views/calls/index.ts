import { defineView, type ViewPlugin } from "../../view-kit/plugin.ts";
import { GRAPH_STATE } from "./graph-state.ts";

const views: readonly ViewPlugin[] = [
  defineView({
    id: "calls.graph",
    title: "Call graph",
    description: "Dynamic call graph with loops, iterations and shared data.",
    icon: "callers",
    appliesTo: (item) => item.has_activations,
    component: () => import("./CallGraph.svelte"),
    defaultState: GRAPH_STATE,
    stateVersion: 1,
  }),
];

export default views;
