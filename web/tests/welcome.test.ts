import { flushSync, mount, unmount } from "svelte";
import { afterEach, describe, expect, it } from "vitest";
import type { Application } from "../src/app/app.svelte.ts";
import type { FileInputs } from "../src/app/commands.ts";
import Welcome from "../src/app/Welcome.svelte";
import type { RootInfo } from "../src/state/engine.ts";

let mounted: ReturnType<typeof mount> | null = null;

afterEach(() => {
  if (mounted !== null) void unmount(mounted);
  mounted = null;
  document.body.replaceChildren();
});

function show(roots: readonly RootInfo[]): void {
  const session = { client: { kind: "http", roots }, opening: [], items: [], samples: () => Promise.resolve([]), openRoot: () => Promise.resolve() };
  const app = { session, preferences: { recents: [] } } as unknown as Application;
  mounted = mount(Welcome, { target: document.body, props: { app, inputs: {} as FileInputs, onback: () => undefined } });
  flushSync();
}

describe("the start page of a server", () => {
  it("says how much a root holds, or why it cannot be listed", () => {
    show([
      { key: "a", name: "runs", files: 2, bytes: 2048, error: null },
      { key: "b", name: "gone", files: 0, bytes: 0, error: "permission denied" },
    ]);
    const sides = [...document.querySelectorAll("[data-testid=root-side]")];
    expect(sides.map((side) => side.textContent)).toEqual(["2 files · 2.05\u202fkB", "Cannot be listed: permission denied"]);
    expect(sides.map((side) => side.classList.contains("problem"))).toEqual([false, true]);
  });
});
