import { percent, plural } from "../base/format.ts";
import type { IterationsFoundReply, IterationsGroupReply, IterationsReply } from "../wire/protocol.ts";
import { valueText } from "./format.ts";
import { shortName } from "./catalog.ts";

/** What balancing one context would save. */
export interface Saving {
  readonly context: string;
  readonly seconds: number;
}

/** A function without what tools put behind its name, the library included: a sentence has no room for it. */
function plainName(name: string): string {
  return shortName(name).replace(/ \[[^\]]*\]$/, "");
}

function seconds(value: number): string {
  return valueText(value, "s");
}

function saved(value: number, whole: number): string {
  return `${seconds(value)}, ${percent(whole > 0 ? value / whole : Number.NaN)}`;
}

/** The group that the iterations were found in. */
export function groupOf(reply: IterationsReply): IterationsGroupReply | null {
  return reply.groups.find((one) => one.group === reply.found?.group) ?? null;
}

/** What was found, in one sentence: how many, of what, where, and what is the most that could be saved. */
export function headline(reply: IterationsReply, best: Saving | null): string {
  const { found } = reply;
  if (found === null) return "No regular iterations.";
  const evidence = groupOf(reply)?.best ?? null;
  const about = evidence?.is_estimate === true ? "About " : "";
  const all = found.locations.length + found.left_out;
  const where = `${found.is_named ? "" : "found "}on ${String(found.locations.length)} of ${String(all)} ${found.group}`;
  return `${about}${plural(found.count, "iteration")} of ${plainName(found.marker)}, ${seconds(found.period_s)} each, ${where}${savingText(found, best)}.`;
}

function savingText(found: IterationsFoundReply, best: Saving | null): string {
  if (found.locations.length < 2) return "";
  if (best !== null && best.seconds > 0) return `; balancing ${plainName(best.context)} would save up to ${saved(best.seconds, found.window_s)}`;
  return `; balancing the computation of each location would save up to ${saved(found.joint_saving_s, found.window_s)}`;
}

/** Why the iterations are believed, and what they were counted from: one fact a line. */
export function evidenceOf(reply: IterationsReply): readonly string[] {
  const { found } = reply;
  if (found === null) return [];
  const facts = [`From ${seconds(found.from_s)} to ${seconds(found.to_s)} after the start: ${found.span_percent.toFixed(1)} % of the analysed time.`];
  const best = groupOf(reply)?.best ?? null;
  if (found.marked_by !== null) facts.push("The program marks its iterations itself.");
  if (found.is_named) facts.push("The marker was specified; each of its executions counts as one iteration.");
  if (best !== null && !found.is_named) {
    facts.push(
      `They begin with ${best.path.split(" > ").map((name) => plainName(name)).join(" › ")}.`,
      `${best.regular_percent.toFixed(0)} % of the intervals between iteration starts are within a factor of 1.5 of the median; these cover ${best.coverage_percent.toFixed(0)} % of the active time of the locations.`,
      best.is_in_step
        ? `Counted by the synchronisations that all locations pass together; one location alone shows ${best.agreement_percent.toFixed(0)} % of the iterations.`
        : best.is_pooled
        ? `Detected on all locations combined; one location alone shows ${best.agreement_percent.toFixed(0)} % of them.`
        : `${best.agreement_percent.toFixed(0)} % of the locations show the same number.`,
      `${plural(best.contexts, "context")} with ${best.explained_percent.toFixed(0)} % of that time repeat${best.contexts === 1 ? "s" : ""} as often.`,
    );
  }
  if (found.is_aligned && found.locations.length > 1) facts.push("Iterations start at about the same time on all locations.");
  facts.push(`Similarity of iterations: ${found.similarity_percent.toFixed(0)} %.`);
  if (found.warm_up > 0) facts.push(`${plural(found.warm_up, "iteration")} at the beginning take${found.warm_up === 1 ? "s" : ""} much longer or shorter than the others (warm-up, excluded).`);
  if (found.partial > 0) facts.push("The last iteration is incomplete and excluded.");
  if (found.guessed_percent > 0) facts.push(`${found.guessed_percent.toFixed(1)} % of the iteration starts were not sampled; they are interpolated.`);
  if (found.interval_s !== null) facts.push(`Samples are ${seconds(found.interval_s)} apart: shorter contexts cannot be resolved by iteration.`);
  if (found.unresolved > 0) facts.push(`${plural(found.unresolved, "context")} whose imbalance may be sampling noise ${found.unresolved === 1 ? "is" : "are"} excluded from the sum of savings.`);
  for (const other of groupOf(reply)?.others ?? []) facts.push(`Alternative: ${String(other.count)} of ${plainName(other.marker)}, ${seconds(other.period_s)} each, ${other.regular_percent.toFixed(0)} % regular.`);
  return facts;
}

/** What balancing would save altogether; nothing where there is one location. */
export function savingsOf(found: IterationsFoundReply): readonly string[] {
  if (found.locations.length < 2) return [];
  const of = found.window_s;
  return [`Potential saving of ${seconds(of)}: balancing each context ${saved(found.saving_s, of)}; balancing the total computation of each location ${saved(found.joint_saving_s, of)}; balancing static imbalance only ${saved(found.lasting_saving_s, of)}.`];
}

/** Why there are no regular iterations, by kind of location. */
export function whyNot(reply: IterationsReply): readonly string[] {
  return reply.groups.flatMap((one) => (one.why_not === null ? [] : [`${plural(one.locations, "location")} (${one.group}): ${one.why_not}.`]));
}
