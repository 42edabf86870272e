import { defineView, type ViewPlugin } from "../../view-kit/plugin.ts";
import { LANES_STATE, THREADS_STATE } from "./states.ts";

const hasActivations: ViewPlugin["appliesTo"] = (item) => item.kind === "experiment" && item.has_activations;

const views: readonly ViewPlugin[] = [
  defineView({
    id: "calls.lanes",
    title: "Execution",
    description: "Timeline of calls by thread, or aggregated by call path.",
    icon: "timeline",
    appliesTo: hasActivations,
    component: () => import("./Execution.svelte"),
    defaultState: LANES_STATE,
    stateVersion: 1,
    commands: [
      { id: "reset-zoom", title: "Reset zoom", run: ({ state }) => { state.set({ zooms: [], window: null }, { label: "Reset zoom" }); } },
      { id: "loops", title: "Show or hide loops", run: ({ state }) => { state.set({ hasLoops: !state.current.hasLoops }, { label: "Show or hide loops" }); } },
    ],
  }),
  defineView({
    id: "calls.threads",
    title: "Threads",
    description: "Threads with their creator, lifetime and number of calls.",
    icon: "list",
    appliesTo: hasActivations,
    component: () => import("./Threads.svelte"),
    defaultState: THREADS_STATE,
    stateVersion: 1,
  }),
];

export default views;
