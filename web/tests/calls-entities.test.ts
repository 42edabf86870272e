import { describe, expect, it } from "vitest";
import { Entities } from "../src/views/calls/entities.ts";
import { activations, fakeClient, PROGRAM, tableOf } from "./calls-example.ts";

describe("entities", () => {
  it("asks once for what several views want at the same time, and gives each its part", async () => {
    const { client, asked } = fakeClient();
    const entities = new Entities(client, "x");
    const answers = await Promise.all([0, 2, 4, 8].map((id) => entities.related("activation", id, "children")));
    expect(asked.map(({ name, request }) => [name, request["ids"]])).toEqual([["related", [0, 2, 4, 8]]]);
    expect(answers.map(({ entities: list }) => list.map((one) => one.name))).toEqual([["load", "loop at main.c:7"], ["loop at main.c:7", "loop at main.c:7", "loop at main.c:7"], ["add", "add"], ["add", "add"]]);
    expect(answers[0]?.entities.map((one) => [one.kind, one.parent, one.iterations, one.number])).toEqual([["call", 0, 0, null], ["loop", 0, 3, null]]);
  });

  it("asks for each kind and relation by itself, and for the same thing once", async () => {
    const { client, asked } = fakeClient();
    const entities = new Entities(client, "x");
    await Promise.all([entities.get("activation", [1, 4]), entities.get("activation", [4]), entities.related("activation", 0, "groups"), entities.related("activation", 0, "executions"), entities.related("activation", 0, "groups")]);
    expect(asked.map(({ name, request }) => [name, request["relation"], request["ids"]])).toEqual([["entities", undefined, [1, 4]], ["related", "groups", [0]], ["related", "executions", [0]]]);
  });

  it("does not ask again for what it knows, and one entity is one object", async () => {
    const { client, asked } = fakeClient();
    const entities = new Entities(client, "x");
    const [load] = (await entities.related("activation", 0, "children")).entities;
    const before = asked.length;
    const again = await entities.related("activation", 0, "children");
    const [same, none] = await entities.get("activation", [1, 99]);
    expect(again.entities[0]).toBe(load);
    expect(same).toBe(load);
    expect(none).toBeNull();
    expect(asked.slice(before).map(({ request }) => request["ids"])).toEqual([[99]]);
  });

  it("is one for all views of an item", () => {
    const { client } = fakeClient();
    expect(Entities.of(client, "x")).toBe(Entities.of(client, "x"));
    expect(Entities.of(client, "x")).not.toBe(Entities.of(client, "y"));
    expect(Entities.of(client, "x")).not.toBe(Entities.of(fakeClient().client, "x"));
  });

  it("tells everybody who waits of an error, and asks again afterwards", async () => {
    let isBroken = true;
    const { client, asked } = fakeClient(() => {
      if (isBroken) throw new Error("the file is gone");
      return undefined;
    });
    const entities = new Entities(client, "x");
    const outcomes = await Promise.allSettled([entities.related("activation", 0, "children"), entities.related("activation", 0, "children"), entities.get("activation", [1])]);
    expect(outcomes.map((one) => (one.status === "rejected" ? String(one.reason) : "answered"))).toEqual(Array<string>(3).fill("Error: the file is gone"));
    isBroken = false;
    expect((await entities.related("activation", 0, "children")).entities).toHaveLength(2);
    expect(asked).toHaveLength(3);
  });

  it("asks on for those who have not withdrawn, and not at all when all have withdrawn", async () => {
    const { client, asked } = fakeClient();
    const entities = new Entities(client, "x");
    const cancel = new AbortController();
    const withdrawn = [entities.related("activation", 0, "children", { signal: cancel.signal }), entities.related("activation", 2, "iterations", { signal: cancel.signal })];
    const kept = entities.related("activation", 0, "children");
    cancel.abort();
    for (const one of withdrawn) await expect(one).rejects.toThrow(/abort/i);
    expect((await kept).entities).toHaveLength(2);
    expect(asked.map(({ request }) => request["ids"])).toEqual([[0]]);
  });

  it("asks for the rest where an answer has a limit, and says what even one thing has too much of", async () => {
    const rowsOf = (ids: readonly number[]) => ids.flatMap((id) => PROGRAM.filter((row) => row.parent === id).map((row) => ({ id, row })));
    const { client, asked } = fakeClient((_, request) => {
      const all = rowsOf((request as { ids: number[] }).ids);
      const sent = all.slice(0, 2);
      return { reply: { left_out: all.length - sent.length, notes: [] }, tables: { rows: activations(sent.map((one) => one.row), sent.map((one) => one.id)) } };
    });
    const entities = new Entities(client, "x");
    const [main, loop, step] = await Promise.all([0, 2, 4].map((id) => entities.related("activation", id, "children")));
    expect([main?.entities.length, main?.omitted]).toEqual([2, 0]);
    expect([loop?.entities.length, (loop?.omitted ?? 0) > 0]).toEqual([2, true]);
    expect([step?.entities.length, step?.omitted]).toEqual([2, 0]);
    expect(asked.map(({ request }) => request["ids"])).toEqual([[0, 2, 4], [0], [2, 4], [2], [4]]);
  });

  it("forgets what was not used longest when there is too much", async () => {
    const { client, asked } = fakeClient();
    const entities = new Entities(client, "x", 8);
    await entities.related("activation", 0, "children");
    await entities.related("activation", 2, "iterations");
    await entities.related("activation", 4, "calls");
    asked.length = 0;
    await entities.related("activation", 4, "calls");
    expect(asked).toHaveLength(0);
    await entities.related("activation", 0, "children");
    expect(asked).toHaveLength(1);
  });

  it("keeps sums of the whole run apart from those of one call", async () => {
    const columns = ["of", "reference", "name", "storage", "reads", "writes", "read_line", "write_line"];
    const { client } = fakeClient((name) => ({
      reply: { left_out: 0, notes: [] },
      tables: { rows: tableOf([{ of: 4, reference: 7, name: "sum", storage: "global", reads: name === "related" ? 2 : 90, writes: 1, read_line: 12, write_line: null }], columns) },
    }));
    const entities = new Entities(client, "x");
    const touched = await entities.related("activation", 4, "references");
    expect([touched.reads[0], touched.writes[0], touched.readLine[0], touched.writeLine[0]]).toEqual([2, 1, 12, Number.NaN]);
    const [whole] = await entities.get("reference", [7]);
    expect([whole?.name, whole?.reads]).toEqual(["sum", 90]);
    expect((await entities.related("activation", 4, "references")).reads[0]).toBe(2);
  });
});
