import { defineView, type ViewPlugin } from "../plugin.ts";
import { CORRELATIONS_STATE } from "./states.ts";

const views: readonly ViewPlugin[] = [
  defineView({
    id: "profile.correlations",
    title: "Correlations",
    description: "Which costs rise and fall together over locations, and which with the rank or node.",
    icon: "chart",
    appliesTo: (item) => item.kind === "experiment",
    component: () => import("./Correlations.svelte"),
    defaultState: CORRELATIONS_STATE,
    stateVersion: 1,
  }),
];

export default views;
