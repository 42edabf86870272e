import { defineView, type ViewPlugin } from "../../view-kit/plugin.ts";
import { ADVICE_STATE } from "./states.ts";

const views: readonly ViewPlugin[] = [
  defineView({
    id: "calls.advice",
    title: "Parallelism",
    description: "Parallelisable loops and concurrent calls, dependences, and potential saving.",
    icon: "bars",
    appliesTo: (item) => item.has_activations,
    component: () => import("./Advice.svelte"),
    defaultState: ADVICE_STATE,
    stateVersion: 1,
    commands: [
      { id: "loops", title: "Advise on loops", run: ({ state }) => { state.set({ by: "loop" }, { label: "Loops" }); } },
      { id: "tasks", title: "Schedule concurrent calls on workers", run: ({ state }) => { state.set({ by: "task" }, { label: "Tasks" }); } },
    ],
  }),
];

export default views;
