import { defineView, type ViewPlugin } from "../../view-kit/plugin.ts";

const views: readonly ViewPlugin[] = [
  defineView({
    id: "item.issues",
    title: "Issues",
    description: "What was repaired, dropped or guessed while reading.",
    icon: "warning",
    appliesTo: () => true,
    component: () => import("./Issues.svelte"),
    defaultState: { order: "severity", descending: true },
    stateVersion: 1,
  }),
];

export default views;
