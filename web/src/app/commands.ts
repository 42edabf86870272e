import { bytes } from "../base/format.ts";
import { itemLabel } from "../state/item.ts";
import { askForFiles, askForFolder } from "../state/pick.ts";
import type { IconName } from "../widgets/icons.ts";
import { isIcon } from "../widgets/icons.ts";
import type { Application } from "./app.svelte.ts";

/** Something that can be done by a key, a button or the palette. */
export interface Command {
  readonly id: string;
  /** Verb first. */
  readonly title: string;
  readonly group: "Open" | "Views" | "Panels" | "Edit" | "Application";
  readonly icon?: IconName;
  readonly keys?: string;
  /** Other keys for the same. */
  readonly moreKeys?: readonly string[];
  run(): void;
}

/** Where browsers cannot ask by themselves, the window asks with its own file inputs. */
export interface FileInputs {
  pickFiles(): void;
  pickFolder(): void;
}

/** Opens files by the browser's picker. */
export function openFiles(app: Application, inputs: FileInputs): void {
  void askForFiles().then(
    (picked) => {
      if (picked === undefined) inputs.pickFiles();
      else if (picked !== null) void app.open(Promise.resolve(picked));
    },
    (error: unknown) => { app.notices.error("The files could not be read", error); },
  );
}

/** Opens a folder by the browser's picker. */
export function openFolder(app: Application, inputs: FileInputs): void {
  void askForFolder().then(
    (picked) => {
      if (picked === undefined) inputs.pickFolder();
      else if (picked !== null) void app.open(Promise.resolve(picked));
    },
    (error: unknown) => { app.notices.error("The folder could not be read", error); },
  );
}

/** All commands that make sense now. */
export function allCommands(app: Application, inputs: FileInputs): readonly Command[] {
  const { dock, session, store } = app;
  const item = session.active;
  const commands: Command[] = [
    { id: "open-files", title: "Open files…", group: "Open", icon: "file", keys: "Ctrl+O", run: () => { openFiles(app, inputs); } },
    { id: "open-folder", title: "Open folder…", group: "Open", icon: "folder", keys: "Ctrl+Shift+O", run: () => { openFolder(app, inputs); } },
    { id: "open-url", title: "Open address…", group: "Open", icon: "link", run: () => { app.overlay = "open-url"; } },
    { id: "undo", title: store.undoLabel === null ? "Undo" : `Undo: ${store.undoLabel}`, group: "Edit", icon: "undo", keys: "Ctrl+Z", run: () => { app.undo(); } },
    { id: "redo", title: store.redoLabel === null ? "Redo" : `Redo: ${store.redoLabel}`, group: "Edit", icon: "redo", keys: "Ctrl+Shift+Z", moreKeys: ["Ctrl+Y"], run: () => { app.redo(); } },
    { id: "palette", title: "Find a command", group: "Application", icon: "search", keys: "Ctrl+K", moreKeys: ["Ctrl+P"], run: () => { app.overlay = "palette"; } },
    { id: "keys", title: "Show keyboard shortcuts", group: "Application", icon: "keyboard", keys: "?", run: () => { app.overlay = "keys"; } },
    { id: "theme", title: "Switch between light and dark theme", group: "Application", icon: "sun", keys: "Alt+T", run: () => { app.toggleTheme(); } },
    { id: "theme-system", title: "Use the theme of the system", group: "Application", icon: "auto", run: () => { app.setTheme("system"); } },
  ];
  if (item === null) return commands;
  commands.push(
    { id: "copy-link", title: "Copy a link to this view", group: "Edit", icon: "link", run: () => { void app.copyLink(); } },
    ...(item.members.length > 1 ? [{ id: "parameters", title: "Run parameters…", group: "Edit", icon: "compare", run: () => { app.overlay = "parameters"; } } as const] : []),
    { id: "clear-marks", title: "Clear marks", group: "Edit", run: () => { app.links.setMark([]); } },
    { id: "clear-spot", title: "Remove restrictions from all views", group: "Edit", run: () => { app.links.setSpot(null); } },
    { id: "close-source", title: `Close ${sourceName(app, item.source)}`, group: "Open", icon: "close", run: () => { void session.close(item.source); } },
  );
  for (const other of session.items) {
    if (other.key === item.key) continue;
    commands.push({ id: `item ${other.key}`, title: `Show ${itemLabel(other)} (${bytes(other.size_bytes)})`, group: "Open", run: () => { session.activate(other.key); } });
  }
  if (dock === null) return commands;
  for (const view of app.viewsOf(item)) {
    const icon = isIcon(view.icon) ? { icon: view.icon } : {};
    commands.push({ id: `view ${view.id}`, title: `Show ${view.title}`, group: "Views", ...icon, run: () => { dock.show(view); } });
    if (dock.panels.includes(view.id)) {
      commands.push({ id: `another ${view.id}`, title: `Add another ${view.title}`, group: "Views", ...icon, run: () => { dock.show(view, { another: true }); } });
    }
  }
  commands.push(
    { id: "find-in-panel", title: "Find in this panel", group: "Panels", icon: "search", keys: "Ctrl+F", moreKeys: ["/"], run: () => { app.findInPanel(); } },
    { id: "next-group", title: "Go to the next group of panels", group: "Panels", keys: "F6", run: () => { dock.focusGroup(1); } },
    { id: "previous-group", title: "Go to the previous group of panels", group: "Panels", keys: "Shift+F6", run: () => { dock.focusGroup(-1); } },
    { id: "next-tab", title: "Go to the next tab", group: "Panels", keys: "Alt+PageDown", run: () => { dock.focusTab(1); } },
    { id: "previous-tab", title: "Go to the previous tab", group: "Panels", keys: "Alt+PageUp", run: () => { dock.focusTab(-1); } },
    { id: "close-panel", title: "Close panel", group: "Panels", icon: "close", keys: "Alt+W", run: () => { dock.closeActive(); } },
    { id: "maximize", title: "Maximise or restore panel", group: "Panels", icon: "expand", keys: "Alt+M", run: () => { dock.toggleMaximized(); } },
    { id: "move-left", title: "Move panel to the left", group: "Panels", keys: "Alt+Shift+ArrowLeft", run: () => { dock.moveActive("left"); } },
    { id: "move-right", title: "Move panel to the right", group: "Panels", keys: "Alt+Shift+ArrowRight", run: () => { dock.moveActive("right"); } },
    { id: "move-up", title: "Move panel up", group: "Panels", keys: "Alt+Shift+ArrowUp", run: () => { dock.moveActive("above"); } },
    { id: "move-down", title: "Move panel down", group: "Panels", keys: "Alt+Shift+ArrowDown", run: () => { dock.moveActive("below"); } },
    { id: "save-layout", title: "Save layout…", group: "Panels", icon: "layout", run: () => { app.overlay = "save-layout"; } },
    { id: "reset-layout", title: "Standard layout", group: "Panels", icon: "layout", run: () => { dock.reset(); } },
  );
  for (const saved of app.preferences.layoutsFor(item.kind)) {
    commands.push({ id: `layout ${saved.name}`, title: `Use layout ${saved.name}`, group: "Panels", icon: "layout", run: () => { app.useLayout(saved); } });
  }
  return [...commands, ...viewCommands(app)];
}

/** Commands of the view in the active panel. */
function viewCommands(app: Application): readonly Command[] {
  const item = app.session.active;
  const panelId = app.activePanel;
  const client = app.session.client;
  const view = app.views.find((one) => one.id === panelId?.split("~")[0]);
  if (item === null || panelId === null || client === null || view?.commands === undefined) return [];
  const state = app.sliceOf(item.key, panelId, view);
  return view.commands.map((command): Command => ({
    id: `${view.id} ${command.id}`,
    title: `${view.title}: ${command.title}`,
    group: "Views",
    ...(command.keys === undefined ? {} : { keys: command.keys }),
    run: () => { command.run({ item, panelId, client, links: app.links, state }); },
  }));
}

function sourceName(app: Application, id: string): string {
  return app.store.state.sources.find((source) => source.id === id)?.name ?? "this";
}
