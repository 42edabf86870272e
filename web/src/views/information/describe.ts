import { bytes, count, seconds } from "../../base/format.ts";
import { isObject, textOf, type Json, type JsonObject } from "../../base/json.ts";
import type { Item } from "../../state/item.ts";
import type { ScalingReply } from "../../wire/protocol.ts";

/** A line of the view. */
export interface Fact {
  readonly name: string;
  readonly value: string;
}

/** A group of facts under a heading. */
export interface FactSection {
  readonly title: string;
  readonly facts: readonly Fact[];
}

const NANOS_PER_SECOND = 1e9;

const COUNTS: readonly (readonly [key: string, name: string])[] = [
  ["contexts", "Contexts"],
  ["locations", "Locations"],
  ["metrics", "Metrics"],
  ["traces", "Traces"],
];

/** Turns the reply of `info` into headings and lines; what a reply lacks is omitted. */
export function describeInfo(info: JsonObject): readonly FactSection[] {
  const sizes: Fact[] = [];
  for (const [key, name] of COUNTS) {
    const value = info[key];
    if (typeof value === "number") sizes.push({ name, value: count(value) });
  }
  // A trace of events, or a recording of all calls, says how many calls it has; what it has as samples are their intervals.
  const [recorded, samples] = [info["activations"], info["samples"]];
  const calls = isObject(recorded) ? recorded["calls"] : info["calls"];
  if (typeof calls === "number") sizes.push({ name: "Calls", value: count(calls) });
  else if (typeof samples === "number" && samples > 0) sizes.push({ name: "Samples", value: count(samples) });
  const span = info["span"];
  if (isObject(span) && typeof span["start_ns"] === "number" && typeof span["end_ns"] === "number") {
    sizes.push({ name: "Time traced", value: seconds((span["end_ns"] - span["start_ns"]) / NANOS_PER_SECOND) });
  }
  return [
    { title: "Contents", facts: sizes },
    {
      title: "Locations",
      facts: objects(info["kinds"]).map((kind) => ({ name: textOf(kind["name"]), value: amount(kind["count"]) })),
    },
    {
      title: "Components",
      facts: objects(info["component_list"]).map((component) => ({ name: textOf(component["name"]), value: ofComponent(component) })),
    },
    {
      title: "Metrics",
      facts: objects(info["metric_list"]).map((metric) => ({
        name: textOf(metric["name"]),
        value: [textOf(metric["unit"]), scopes(metric["scopes"])].filter((text) => text !== "").join(" · "),
      })),
    },
    {
      title: "Metadata",
      facts: objects(info["fact_list"]).filter((fact) => !isOfComponent(info, textOf(fact["name"]))).map((fact) => ({ name: textOf(fact["name"]), value: textOf(fact["value"]) })),
    },
    {
      title: "Files",
      facts: objects(info["file_list"]).map((file) => ({
        name: textOf(file["name"]),
        value: typeof file["size_bytes"] === "number" ? bytes(file["size_bytes"]) : "",
      })),
    },
  ].filter((section) => section.facts.length > 0);
}

/** Whether a fact is about one component: these are in a table of their own. */
function isOfComponent(info: JsonObject, name: string): boolean {
  return objects(info["component_list"]).some((component) => name.startsWith(`${textOf(component["name"])}: `));
}

/** Facts of several things, side by side. */
export interface FactTable {
  readonly title: string;
  readonly heads: readonly string[];
  /** The first cell of a row names it. */
  readonly rows: readonly (readonly string[])[];
  /** What is not shown, as a sentence; empty where all is. */
  readonly note: string;
}

/** What the source says about each component and each process; nothing where it says nothing of single ones. */
export function describeTables(info: JsonObject): readonly FactTable[] {
  const components = objects(info["component_list"]);
  const factsOf = (of: JsonObject): ReadonlyMap<string, string> => new Map(objects(of["fact_list"]).map((fact) => [textOf(fact["name"]), textOf(fact["value"])]));
  const own = components.map((component) => factsOf(component));
  const names = [...new Set(own.flatMap((facts) => [...facts.keys()]))].sort();
  const ofComponents: FactTable = {
    title: "Metadata of components",
    heads: ["", ...components.map((component) => textOf(component["name"]))],
    rows: names.map((name) => [name, ...own.map((facts) => facts.get(name) ?? "")]),
    note: "",
  };
  const processes = objects(info["process_list"]);
  const facts = processes.map((process) => factsOf(process));
  const others = [...new Set(facts.flatMap((of) => [...of.keys()]))].sort();
  const columns = PROCESS_COLUMNS.filter(([key]) => processes.some((process) => process[key] !== null && process[key] !== undefined));
  const all = info["processes"];
  const ofProcesses: FactTable = {
    title: "Processes",
    heads: ["", ...columns.map(([, head]) => head), ...others],
    rows: processes.map((process, at) => [
      [textOf(process["component"]), textOf(process["process"])].filter((text) => text !== "").join(" "),
      ...columns.map(([key]) => cellText(key, process[key])),
      ...others.map((name) => facts[at]?.get(name) ?? ""),
    ]),
    note: typeof all === "number" && all > processes.length ? `The first ${count(processes.length)} of ${count(all)} processes.` : "",
  };
  return [ofComponents, ofProcesses].filter((table) => table.rows.length > 0);
}

const PROCESS_COLUMNS: readonly (readonly [key: string, head: string])[] = [
  ["threads", "Locations"], ["host", "Host"], ["start_s", "Start"], ["pid", "PID"], ["cpu", "CPU"], ["command", "Command"],
];

function cellText(key: string, value: Json | undefined): string {
  if (typeof value !== "number") return textOf(value);
  return key === "start_s" ? seconds(value) : count(value);
}

/** What an ensemble consists of: its parameters, how many regions were measured, and by what. */
export function describeEnsemble(item: Pick<Item, "members">, reply: ScalingReply): readonly FactSection[] {
  const contents: Fact[] = [
    ...(item.members.length > 1 ? [{ name: "Experiments", value: count(item.members.length) }] : []),
    { name: "Regions", value: count(reply.regions.length) },
    { name: "Inputs", value: count(reply.inputs.length) },
    { name: "Core counts", value: count(reply.cores.length) },
  ];
  return [
    { title: "Contents", facts: contents },
    { title: "Parameters", facts: reply.parameters.map((parameter) => ({ name: parameter.name, value: parameter.values.join(", ") })) },
    { title: "Metrics", facts: reply.metrics.map((name) => ({ name, value: "" })) },
    { title: "Source", facts: reply.source === "" ? [] : [{ name: "Measurements", value: reply.source }] },
  ].filter((section) => section.facts.length > 0);
}

/** Ranks of a component, when it ran, and what it takes data from. */
function ofComponent(component: JsonObject): string {
  const { ranks, start_s: start, end_s: end } = component;
  const needed = Array.isArray(component["depends_on"]) ? component["depends_on"].map((one) => String(one)) : [];
  return [
    ranks === 1 ? "1 rank" : `${amount(ranks)} ranks`,
    typeof start === "number" && typeof end === "number" ? `${seconds(start)} to ${seconds(end)}` : "",
    needed.length > 0 ? `takes data from ${needed.join(", ")}` : "",
  ].filter((text) => text !== "").join(" · ");
}

function objects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((one) => isObject(one)) : [];
}

/** What tools call scopes, in the words of the glossary. */
const SCOPES: Readonly<Record<string, string>> = { execution: "inclusive", function: "exclusive", lex_aware: "lexical-aware" };

function scopes(value: Json | undefined): string {
  return Array.isArray(value) ? value.map((one) => SCOPES[String(one)] ?? String(one)).join(", ") : "";
}

function amount(value: Json | undefined): string {
  return typeof value === "number" ? count(value) : "";
}
