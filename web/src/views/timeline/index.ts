import { defineView, type ViewPlugin } from "../../view-kit/plugin.ts";
import { TIMELINE_FAMILY, TIMELINE_SHARED } from "../../view-kit/shared.ts";
import { TIMELINE_STATE, type TimelineState } from "./states.ts";

const views: readonly ViewPlugin[] = [
  defineView<TimelineState>({
    id: "trace.timeline",
    title: "Timeline",
    description: "Timeline of ranks and threads, from the whole run to individual calls and messages.",
    icon: "timeline",
    appliesTo: (item) => item.kind === "experiment" && item.has_trace,
    component: () => import("./Timeline.svelte"),
    defaultState: TIMELINE_STATE,
    stateVersion: 1,
    commands: [
      { id: "whole", title: "Show the whole trace", run: ({ state }) => { state.shared(TIMELINE_FAMILY, TIMELINE_SHARED).set({ window: null }, { label: "Show the whole trace" }); } },
      { id: "all-tracks", title: "Show all tracks", run: ({ state }) => { state.shared(TIMELINE_FAMILY, TIMELINE_SHARED).set({ tracks: null }, { label: "Show all tracks" }); } },
      { id: "nothing-hidden", title: "Show all functions", run: ({ state }) => { state.shared(TIMELINE_FAMILY, TIMELINE_SHARED).set({ hidden: [] }, { label: "Show everything" }); } },
      { id: "fit", title: "Fit all tracks, or scroll", run: ({ state }) => { state.set({ height: state.current.height === "fit" ? "auto" : "fit" }, { label: "Change the height of rows" }); } },
      { id: "messages", title: "Show or hide messages", run: ({ state }) => { state.set({ hasLinks: !state.current.hasLinks }, { label: "Show messages" }); } },
    ],
  }),
];

export default views;
