import { defineView, type ViewPlugin } from "../../view-kit/plugin.ts";
import { runNow } from "./runs.svelte.ts";
import { SQL_STATE } from "./states.ts";

const views: readonly ViewPlugin[] = [
  defineView({
    id: "item.sql",
    title: "SQL",
    description: "SQL statements over all measured data.",
    icon: "command",
    // Also where nothing answers statements: the view says what to do about it.
    appliesTo: () => true,
    component: () => import("./Sql.svelte"),
    defaultState: SQL_STATE,
    stateVersion: 1,
    commands: [{ id: "run", title: "Run the SQL statement", run: ({ client, item, panelId }) => { runNow(client, item.key, panelId); } }],
  }),
];

export default views;
