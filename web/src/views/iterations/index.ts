import { defineView, type ViewPlugin } from "../../view-kit/plugin.ts";
import { ITERATIONS_STATE } from "./states.ts";

const views: readonly ViewPlugin[] = [
  defineView({
    id: "trace.iterations",
    title: "Iterations",
    description: "Iterations of the program: load balance over locations, and potential saving.",
    icon: "timeline",
    appliesTo: (item) => item.kind === "experiment" && item.has_trace && !item.has_chosen_calls,
    component: () => import("./Iterations.svelte"),
    defaultState: ITERATIONS_STATE,
    stateVersion: 1,
  }),
];

export default views;
