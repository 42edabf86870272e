import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { embeddedRoots } from "../src/engine-client/embedded.ts";

function carry(root: string, path: string, bytes: Uint8Array): void {
  const element = document.createElement("script");
  element.type = "application/x-parallax-file";
  Object.assign(element.dataset, { root, path });
  element.textContent = `\n${gzipSync(bytes).toString("base64")}\n`;
  document.body.append(element);
}

/** Bytes that no packer makes shorter, so that their text has several pieces. */
function noise(length: number): Uint8Array {
  let state = 1;
  return Uint8Array.from({ length }, () => (state = (state * 48271) % 2147483647) & 255);
}

describe("files inside a page", () => {
  afterEach(() => { document.body.replaceChildren(); });

  it("come out as they went in, however many pieces their text has, and leave the page", async () => {
    const large = noise(2_500_001);
    carry("run", "meta.db", Uint8Array.of(1, 2, 3));
    carry("run", "src/a.c", large);
    carry("other", "empty", new Uint8Array());
    const roots = await embeddedRoots();
    expect(roots.map((root) => [root.name, root.files.map((file) => [file.path, file.file.size])])).toEqual([
      ["run", [["meta.db", 3], ["src/a.c", large.length]]],
      ["other", [["empty", 0]]],
    ]);
    const read = new Uint8Array(await (roots[0]?.files[1]?.file ?? new Blob()).arrayBuffer());
    expect(Buffer.compare(read, large)).toBe(0);
    expect(document.querySelectorAll("script")).toHaveLength(0);
  });
});
