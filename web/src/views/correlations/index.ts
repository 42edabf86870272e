import { defineView, type ViewPlugin } from "../../view-kit/plugin.ts";
import { CORRELATIONS_STATE } from "./states.ts";

const views: readonly ViewPlugin[] = [
  defineView({
    id: "profile.correlations",
    title: "Correlations",
    description: "Correlations of metrics and functions over locations, and with rank or node.",
    icon: "chart",
    appliesTo: (item) => item.kind === "experiment" && item.locations > 2 && !item.has_chosen_calls,
    component: () => import("./Correlations.svelte"),
    defaultState: CORRELATIONS_STATE,
    stateVersion: 1,
  }),
];

export default views;
