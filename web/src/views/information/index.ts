import { defineView, type ViewPlugin } from "../plugin.ts";

const views: readonly ViewPlugin[] = [
  defineView({
    id: "item.information",
    title: "Information",
    description: "What was measured, with which tool, and which files it was read from.",
    icon: "info",
    appliesTo: () => true,
    component: () => import("./Information.svelte"),
    defaultState: {},
    stateVersion: 1,
  }),
];

export default views;
