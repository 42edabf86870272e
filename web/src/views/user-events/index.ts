import { defineView, type ViewPlugin } from "../../view-kit/plugin.ts";
import { USER_EVENTS_STATE } from "./states.ts";

const views: readonly ViewPlugin[] = [
  defineView({
    id: "profile.user-events",
    title: "User events",
    description: "User events (TAU's atomic events), such as message sizes: number, values, contexts and locations.",
    icon: "list",
    appliesTo: (item) => item.has_user_events,
    component: () => import("./UserEvents.svelte"),
    defaultState: USER_EVENTS_STATE,
    stateVersion: 1,
  }),
];

export default views;
