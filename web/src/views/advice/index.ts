import { defineView, type ViewPlugin } from "../plugin.ts";
import { ADVICE_STATE } from "./states.ts";

const views: readonly ViewPlugin[] = [
  defineView({
    id: "calls.advice",
    title: "Parallelism",
    description: "Which loops and calls could run in parallel, what forbids it, and what it would bring.",
    icon: "bars",
    appliesTo: (item) => item.has_activations,
    component: () => import("./Advice.svelte"),
    defaultState: ADVICE_STATE,
    stateVersion: 1,
    commands: [
      { id: "loops", title: "Advise on loops", run: ({ state }) => { state.set({ by: "loop" }, { label: "Loops" }); } },
      { id: "tasks", title: "Put calls side by side on workers", run: ({ state }) => { state.set({ by: "task" }, { label: "Tasks" }); } },
    ],
  }),
];

export default views;
