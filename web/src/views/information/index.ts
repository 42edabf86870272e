import { defineView, type ViewPlugin } from "../../view-kit/plugin.ts";

const views: readonly ViewPlugin[] = [
  defineView({
    id: "item.information",
    title: "Information",
    description: "Experiment, measurement tool, metrics and files.",
    icon: "info",
    appliesTo: () => true,
    component: () => import("./Information.svelte"),
    defaultState: {},
    stateVersion: 1,
  }),
];

export default views;
