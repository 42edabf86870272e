// Rules about the sources of the page that neither the compiler nor the linter knows.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const FILES: readonly string[] = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((file) => /\.(ts|svelte|css)$/.test(file) && !file.startsWith(join("engine-client", "pkg")) && file !== join("wire", "protocol.ts"))
  .toSorted();

/** Lines of all files but some that have something. */
function linesWith(pattern: RegExp, allowed: readonly string[]): readonly string[] {
  return FILES.filter((file) => !allowed.includes(file)).flatMap((file) =>
    readFileSync(join("src", file), "utf8").split("\n").flatMap((line, at) => (pattern.test(line) ? [`${file}:${String(at + 1)}: ${line.trim()}`] : [])),
  );
}

test("colours come from the tokens and palettes", () => {
  // A drawing context starts with black, as every canvas does.
  const allowed = [join("base", "tokens.css"), join("base", "palettes.ts"), join("widgets", "canvas", "draw-context.ts")];
  expect(FILES.length).toBeGreaterThan(200);
  expect(linesWith(/["'`\s:(]#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\b(?![(-])|(?<!\.)\b(?:rgba?|hsla?|oklch)\(\s*\d/i, allowed)).toEqual([]);
});
