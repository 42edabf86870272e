import { defineView, type ViewPlugin } from "../../view-kit/plugin.ts";
import { DIFFERENCES_STATE } from "./states.ts";

/** Whether all calls of a run are there: of calls that a detector chose no difference says anything. */
const isWhole = (item: Parameters<ViewPlugin["appliesTo"]>[0]): boolean => item.kind === "experiment" && !item.has_chosen_calls;

const views: readonly ViewPlugin[] = [
  defineView({
    id: "profile.differences",
    title: "Differences",
    description: "Differences from another run to this one, with significance tests.",
    icon: "compare",
    appliesTo: (item, items) => isWhole(item) && items.some((one) => isWhole(one) && one.key !== item.key),
    component: () => import("./Differences.svelte"),
    defaultState: DIFFERENCES_STATE,
    stateVersion: 1,
  }),
];

export default views;
