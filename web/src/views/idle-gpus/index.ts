import { defineView, type ViewPlugin } from "../plugin.ts";
import { IDLE_GPUS_STATE } from "./states.ts";

const views: readonly ViewPlugin[] = [
  defineView({
    id: "trace.idle-gpus",
    title: "Idle GPUs",
    description: "What threads did while the GPUs of their rank had nothing to do.",
    icon: "clock",
    appliesTo: (item) => item.kind === "experiment" && item.has_trace,
    component: () => import("./IdleGpus.svelte"),
    defaultState: IDLE_GPUS_STATE,
    stateVersion: 1,
  }),
];

export default views;
