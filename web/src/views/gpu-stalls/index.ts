import { defineView, type ViewPlugin } from "../../view-kit/plugin.ts";
import { GPU_STALLS_STATE } from "./states.ts";

const views: readonly ViewPlugin[] = [
  defineView({
    id: "profile.gpu-stalls",
    title: "GPU stalls",
    description: "Issue rate, exposed stalls and their reasons, by kernel, function, line and instruction.",
    icon: "chart",
    appliesTo: (item) => item.has_gpu_stalls,
    component: () => import("./GpuStalls.svelte"),
    defaultState: GPU_STALLS_STATE,
    stateVersion: 1,
  }),
];

export default views;
