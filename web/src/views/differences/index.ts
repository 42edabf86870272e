import { defineView, type ViewPlugin } from "../../view-kit/plugin.ts";
import { DIFFERENCES_STATE } from "./states.ts";

const views: readonly ViewPlugin[] = [
  defineView({
    id: "profile.differences",
    title: "Differences",
    description: "Differences from another run to this one, with significance tests.",
    icon: "compare",
    appliesTo: (item, items) => item.kind === "experiment" && items.some((one) => one.kind === "experiment" && one.key !== item.key),
    component: () => import("./Differences.svelte"),
    defaultState: DIFFERENCES_STATE,
    stateVersion: 1,
  }),
];

export default views;
