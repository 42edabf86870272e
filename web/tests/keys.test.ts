import { describe, expect, test } from "vitest";
import { keyLabel, keyParts } from "../src/base/keys.ts";

describe("keys on the screen", () => {
  test("the plus key is one key, alone and behind others", () => {
    expect(keyParts("+", false)).toEqual(["+"]);
    expect(keyParts("Ctrl++", false)).toEqual(["Ctrl", "+"]);
    expect(keyParts("Ctrl+Shift+Z", false)).toEqual(["Ctrl", "Shift", "Z"]);
  });

  test("a Mac has signs for its keys", () => {
    expect(keyLabel("Ctrl+K", true)).toBe("⌘K");
    expect(keyLabel("Alt+ArrowUp", false)).toBe("Alt+↑");
  });
});
