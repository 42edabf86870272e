import { defineView, type ViewPlugin } from "../plugin.ts";
import { USER_EVENTS_STATE } from "./states.ts";

const views: readonly ViewPlugin[] = [
  defineView({
    id: "profile.user-events",
    title: "User events",
    description: "What the program reported one value at a time, such as sizes of messages: how often, how much, in which calls, and at which locations.",
    icon: "list",
    appliesTo: (item) => item.has_user_events,
    component: () => import("./UserEvents.svelte"),
    defaultState: USER_EVENTS_STATE,
    stateVersion: 1,
  }),
];

export default views;
