import { defineView, type ViewPlugin } from "../../view-kit/plugin.ts";
import { COMPARE_STATE, COUNTERS_STATE, FIND_STATE, MESSAGES_STATE, STACKS_STATE, STATISTICS_STATE, WAITS_STATE } from "./states.ts";

const hasTrace: ViewPlugin["appliesTo"] = (item) => item.kind === "experiment" && item.has_trace;

/** Whether another trace is open to compare with. */
const hasAnother: ViewPlugin["appliesTo"] = (item, items) => hasTrace(item, items) && items.some((one) => one.key !== item.key && hasTrace(one, items));

const views: readonly ViewPlugin[] = [
  defineView({
    id: "trace.statistics",
    title: "Statistics",
    description: "Where the time goes in the window of the timeline: functions, groups or call paths.",
    icon: "list",
    appliesTo: hasTrace,
    component: () => import("./Statistics.svelte"),
    defaultState: STATISTICS_STATE,
    stateVersion: 1,
  }),
  defineView({
    id: "trace.node-detail",
    title: "Call stack",
    description: "What one track does over time, call by call and depth by depth.",
    icon: "flame",
    appliesTo: hasTrace,
    component: () => import("./NodeDetail.svelte"),
    defaultState: {},
    stateVersion: 1,
  }),
  defineView({
    id: "trace.find",
    title: "Find calls",
    description: "Which calls of a function are longest, how long calls take, and when each one was.",
    icon: "search",
    appliesTo: hasTrace,
    component: () => import("./Find.svelte"),
    defaultState: FIND_STATE,
    stateVersion: 1,
  }),
  defineView({
    id: "trace.messages",
    title: "Messages",
    description: "Who sends how much to whom, and how long it takes.",
    icon: "map",
    appliesTo: (item, items) => hasTrace(item, items) && item.has_links,
    component: () => import("./Messages.svelte"),
    defaultState: MESSAGES_STATE,
    stateVersion: 1,
  }),
  defineView({
    id: "trace.waits",
    title: "Waits",
    description: "Who waits for whom, what the run time consists of, and how that changes over time.",
    icon: "chart",
    appliesTo: hasTrace,
    component: () => import("./Waits.svelte"),
    defaultState: WAITS_STATE,
    stateVersion: 1,
  }),
  defineView({
    id: "profile.stacks",
    title: "Profiles",
    description: "What each location spends its time on, side by side; or the whole tree as a treemap.",
    icon: "bars",
    appliesTo: (item) => item.kind === "experiment",
    component: () => import("./Stacks.svelte"),
    defaultState: STACKS_STATE,
    stateVersion: 1,
  }),
  defineView({
    id: "trace.counters",
    title: "Counters",
    description: "How a metric changes over time: memory, energy, hardware counters.",
    icon: "chart",
    appliesTo: (item, items) => hasTrace(item, items) && item.has_counters,
    component: () => import("./Counters.svelte"),
    defaultState: COUNTERS_STATE,
    stateVersion: 1,
  }),
  defineView({
    id: "trace.compare",
    title: "Compare runs",
    description: "Two traces on one axis, and what each function takes more or less of.",
    icon: "compare",
    appliesTo: hasAnother,
    component: () => import("./Compare.svelte"),
    defaultState: COMPARE_STATE,
    stateVersion: 1,
  }),
];

export default views;
