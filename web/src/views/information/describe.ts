import { bytes, count, seconds } from "../../base/format.ts";
import { isObject, textOf, type Json, type JsonObject } from "../../base/json.ts";

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
  ["regions", "Regions"],
  ["experiments", "Experiments"],
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
  // A trace of events says how many calls it has, and the same number as samples.
  const [calls, samples] = [info["calls"], info["samples"]];
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
      title: "Parameters",
      facts: objects(info["parameters"]).map((parameter) => ({ name: textOf(parameter["name"]), value: values(parameter["values"]) })),
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
      facts: objects(info["fact_list"]).map((fact) => ({ name: textOf(fact["name"]), value: textOf(fact["value"]) })),
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

function values(value: Json | undefined): string {
  return Array.isArray(value) ? value.map((one) => String(one)).join(", ") : "";
}

function amount(value: Json | undefined): string {
  return typeof value === "number" ? count(value) : "";
}
