import type { EngineClient } from "../../state/engine.ts";
import type { Item } from "../../state/item.ts";
import { ScalingData } from "./data.ts";
import { scalingView, type ScalingSettings } from "./settings.ts";

/** Answers kept for each engine: going back and forth between two settings is then free. */
const KEPT = 4;

const known = new WeakMap<EngineClient, Map<string, Promise<ScalingData>>>();

/** Regions, verdict and maps of an ensemble. All scaling views ask the same, so one answer serves them all. */
export function loadScaling(client: EngineClient, item: Item, settings: ScalingSettings): Promise<ScalingData> {
  let answers = known.get(client);
  if (answers === undefined) {
    answers = new Map();
    known.set(client, answers);
  }
  const view = scalingView(settings);
  const { order } = settings;
  const key = JSON.stringify([item.item, view, order]);
  const before = answers.get(key);
  if (before !== undefined) {
    answers.delete(key);
    answers.set(key, before);
    return before;
  }
  const answer = client.ask("scaling", { item: item.item, view, order }).then(({ reply, tables }) => new ScalingData(reply, tables));
  answers.set(key, answer);
  const kept = answers;
  answer.catch(() => { kept.delete(key); });
  const [oldest] = kept.keys();
  if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
  return answer;
}
