/** What a right click on the timeline offers. Pure. */
import type { MenuItem } from "../../widgets/menu.ts";
import type { Row } from "../../widgets/timeline/rows.ts";
import { isSingle } from "../../widgets/timeline/scene.ts";

/** A function or group under the pointer. */
export interface MenuFunction {
  readonly name: string;
  /** Null where no call instance is under the pointer, only the dominant function of a cell. */
  readonly zoom: (() => void) | null;
  readonly select: (() => void) | null;
  readonly hide: () => void;
  readonly copy: () => void;
}

/** What the menu is about, and what it can do. */
export interface TimelineMenuOf {
  readonly row: Row;
  readonly function: MenuFunction | null;
  /** Whether some tracks are hidden. */
  readonly hasChoice: boolean;
  readonly only: () => void;
  readonly hide: () => void;
  readonly all: () => void;
  readonly group: () => void;
  readonly pin: () => void;
  /** Null where no time is selected. */
  readonly selection: { readonly zoom: () => void; readonly clear: () => void } | null;
}

/** The entries, from what is under the pointer outwards. */
export function timelineMenu(of: TimelineMenuOf): readonly MenuItem[] {
  const { row, function: about, selection } = of;
  const these = isSingle(row) ? "this track" : "these tracks";
  return [
    ...about === null ? [] : [
      { kind: "heading", label: about.name } as const,
      ...about.zoom === null ? [] : [{ label: "Zoom to call", icon: "expand", run: about.zoom } as const],
      ...about.select === null ? [] : [{ label: "Select its time", run: about.select }],
      { label: "Hide this function", icon: "eye-off", run: about.hide } as const,
      { label: "Copy name", run: about.copy },
    ],
    { kind: "heading", label: row.label },
    ...row.group === null ? [] : [{ label: row.isOpen ? "Collapse" : "Expand", run: of.group }],
    { label: row.isPinned === true ? "Unpin" : "Pin to the top", icon: "pin", run: of.pin },
    { label: `Show only ${these}`, icon: "eye", run: of.only },
    { label: `Hide ${these}`, icon: "eye-off", run: of.hide },
    { label: "Show all tracks", disabled: !of.hasChoice, run: of.all },
    ...selection === null ? [] : [
      { kind: "heading", label: "Selected time" } as const,
      { label: "Zoom to selection", icon: "expand", note: "F", run: selection.zoom } as const,
      { label: "Clear selection", note: "Esc", run: selection.clear },
    ],
  ];
}
