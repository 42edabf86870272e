import { defineView, type ViewPlugin } from "../../view-kit/plugin.ts";
import { ANOMALIES_STATE, COMPARE_STATE, COUNTERS_STATE, FIND_STATE, MESSAGES_STATE, OVER_TIME_STATE, STACKS_STATE, STATISTICS_STATE, WAITS_STATE, WORKFLOW_STATE } from "./states.ts";

const hasTrace: ViewPlugin["appliesTo"] = (item) => item.kind === "experiment" && item.has_trace;

/** Whether the trace says when calls began and ended: no sample takes longer than others. */
const hasCalls: ViewPlugin["appliesTo"] = (item, items) => hasTrace(item, items) && item.has_calls;

/** Whether another trace is open to compare with. */
const hasAnother: ViewPlugin["appliesTo"] = (item, items) => hasTrace(item, items) && items.some((one) => one.key !== item.key && hasTrace(one, items));

const views: readonly ViewPlugin[] = [
  defineView({
    id: "trace.statistics",
    title: "Statistics",
    description: "Time and calls in the window of the timeline, by function, group or call path.",
    icon: "list",
    appliesTo: hasTrace,
    component: () => import("./Statistics.svelte"),
    defaultState: STATISTICS_STATE,
    stateVersion: 1,
  }),
  defineView({
    id: "trace.node-detail",
    title: "Call stack",
    description: "Call stack of one track over time.",
    icon: "flame",
    appliesTo: hasTrace,
    component: () => import("./NodeDetail.svelte"),
    defaultState: {},
    stateVersion: 1,
  }),
  defineView({
    id: "trace.find",
    title: "Find calls",
    description: "Calls of a function by duration or start time, with a histogram of durations.",
    icon: "search",
    appliesTo: hasTrace,
    component: () => import("./Find.svelte"),
    defaultState: FIND_STATE,
    stateVersion: 1,
  }),
  defineView({
    id: "trace.anomalies",
    title: "Anomalies",
    description: "Calls that take much longer than others of their function on the same location.",
    icon: "warning",
    appliesTo: hasCalls,
    component: () => import("./Anomalies.svelte"),
    defaultState: ANOMALIES_STATE,
    stateVersion: 1,
  }),
  defineView({
    id: "trace.messages",
    title: "Messages",
    description: "Communication matrix: messages, bytes and transfer time by sender and receiver.",
    icon: "map",
    appliesTo: (item, items) => hasTrace(item, items) && item.has_links,
    component: () => import("./Messages.svelte"),
    defaultState: MESSAGES_STATE,
    stateVersion: 1,
  }),
  defineView({
    id: "trace.workflow",
    title: "Workflow",
    description: "Components of a workflow and exchanges between them: messages, files and ADIOS streams.",
    icon: "messages",
    appliesTo: (item, items) => item.kind === "experiment" && (item.components > 0 || (hasTrace(item, items) && item.has_links && !item.has_chosen_calls)),
    component: () => import("./Workflow.svelte"),
    defaultState: WORKFLOW_STATE,
    stateVersion: 1,
  }),
  defineView({
    id: "trace.waits",
    title: "Waits",
    description: "Wait states and critical path.",
    icon: "chart",
    appliesTo: (item, items) => hasTrace(item, items) && item.has_waits,
    component: () => import("./Waits.svelte"),
    defaultState: WAITS_STATE,
    stateVersion: 2,
  }),
  defineView({
    id: "trace.over-time",
    title: "Over time",
    description: "Time profile, imbalance, idle time, lateness and overlap over time.",
    icon: "chart",
    appliesTo: hasTrace,
    component: () => import("./OverTime.svelte"),
    defaultState: OVER_TIME_STATE,
    stateVersion: 1,
  }),
  defineView({
    id: "profile.stacks",
    title: "Profiles",
    description: "Profile of each location, or the whole tree as a treemap.",
    icon: "bars",
    appliesTo: (item) => item.kind === "experiment",
    component: () => import("./Stacks.svelte"),
    defaultState: STACKS_STATE,
    stateVersion: 1,
  }),
  defineView({
    id: "trace.counters",
    title: "Counters",
    description: "Counters over time: memory, energy, hardware counters.",
    icon: "chart",
    appliesTo: (item, items) => hasTrace(item, items) && item.has_counters,
    component: () => import("./Counters.svelte"),
    defaultState: COUNTERS_STATE,
    stateVersion: 1,
  }),
  defineView({
    id: "trace.compare",
    title: "Compare runs",
    description: "Two traces on one time axis, with the differences by function.",
    icon: "compare",
    appliesTo: hasAnother,
    component: () => import("./Compare.svelte"),
    defaultState: COMPARE_STATE,
    stateVersion: 1,
  }),
];

export default views;
