import { describe, expect, it } from "vitest";
import { Turns } from "../src/engine-client/turns.ts";

const settled = () => new Promise((resolve) => { setTimeout(resolve); });

describe("turns of questions", () => {
  it("are one at a time, pictures before sums, otherwise in the order of asking", async () => {
    const turns = new Turns();
    const order: string[] = [];
    let running = 0;
    const ask = async (name: string, label: string, isPatient = false) => {
      const done = await turns.take(name, undefined, isPatient);
      running += 1;
      expect(running).toBe(1);
      order.push(label);
      await settled();
      running -= 1;
      done();
      done();
    };
    await Promise.all([ask("stats", "stats 1"), ask("stats", "stats 2"), ask("waits", "waits"), ask("tile", "tile 1"), ask("tile", "tile 2")]);
    expect(order).toEqual(["stats 1", "tile 1", "tile 2", "stats 2", "waits"]);
    await ask("waits", "later");
    expect(order.at(-1)).toBe("later");
    order.length = 0;
    await Promise.all([ask("open", "open"), ask("tile", "fine", true), ask("stats", "stats"), ask("tile", "coarse")]);
    expect(order).toEqual(["open", "coarse", "stats", "fine"]);
  });

  it("pass what was withdrawn", async () => {
    const turns = new Turns();
    const done = await turns.take("stats");
    const cancel = new AbortController();
    const withdrawn = turns.take("tile", cancel.signal);
    const next = turns.take("stats");
    cancel.abort(new Error("not any more"));
    await expect(withdrawn).rejects.toThrow("not any more");
    done();
    (await next)();
    await expect(turns.take("tile", cancel.signal)).rejects.toThrow("not any more");
    (await turns.take("tile"))();
  });
});
