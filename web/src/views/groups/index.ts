import { defineView, type ViewPlugin } from "../../view-kit/plugin.ts";
import { GROUPS_STATE, RACKS_STATE } from "./states.ts";

const views: readonly ViewPlugin[] = [
  defineView({
    id: "groups.clusters",
    title: "Clusters",
    description: "Clusters of locations with similar behaviour, and the functions that separate them.",
    icon: "chart",
    appliesTo: (item) => item.kind === "experiment" && item.locations > 1 && !item.has_chosen_calls,
    component: () => import("./Groups.svelte"),
    defaultState: GROUPS_STATE,
    stateVersion: 1,
  }),
  defineView({
    id: "groups.racks",
    title: "Racks",
    description: "Nodes by rack, and whether slow nodes are concentrated.",
    icon: "map",
    appliesTo: (item) => item.kind === "experiment" && item.nodes > 1 && !item.has_chosen_calls,
    component: () => import("./Racks.svelte"),
    defaultState: RACKS_STATE,
    stateVersion: 1,
  }),
];

export default views;
