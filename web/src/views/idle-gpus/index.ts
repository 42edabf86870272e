import { defineView, type ViewPlugin } from "../../view-kit/plugin.ts";
import { IDLE_GPUS_STATE } from "./states.ts";

const views: readonly ViewPlugin[] = [
  defineView({
    id: "trace.idle-gpus",
    title: "GPU idle time",
    description: "Blame shifting: what threads did while the GPUs of their rank were idle.",
    icon: "clock",
    appliesTo: (item) => item.kind === "experiment" && item.has_trace && item.has_gpus && !item.has_chosen_calls,
    component: () => import("./IdleGpus.svelte"),
    defaultState: IDLE_GPUS_STATE,
    stateVersion: 1,
  }),
];

export default views;
