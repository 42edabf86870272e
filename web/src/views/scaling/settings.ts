import { quantity } from "../../base/quantity.ts";
import type { CoreOrder, ParameterReply, RepetitionStatistic, ScalingBaseline, ScalingReply, ScalingView } from "../../wire/protocol.ts";

/** How all scaling views of an ensemble look at it: they share one, and it is part of the link. */
export interface ScalingSettings {
  readonly statistic: RepetitionStatistic;
  /** `serial`, `smallest`, `common`, or a core count. */
  readonly baseline: ScalingBaseline;
  /** Empty for the engine's choice. */
  readonly metric: string;
  /** Parameters that are not axes, held at one value. */
  readonly fixed: Readonly<Record<string, string>>;
  readonly minPercent: number;
  readonly clamp: boolean;
  readonly perRepetition: boolean;
  readonly trusted: boolean;
  /** Order of core counts in maps, from the top. */
  readonly order: CoreOrder;
  /** Differences to the start of each axis, or to the cell before. */
  readonly differences: "absolute" | "relative";
  readonly isInterpolated: boolean;
  readonly hasNumbers: boolean;
  /** Whether difference maps have one range for each region, or one for all selected regions. */
  readonly range: "region" | "selected";
}

export const DEFAULT_SETTINGS: ScalingSettings = {
  statistic: "median",
  baseline: "serial",
  metric: "",
  fixed: {},
  minPercent: 0,
  clamp: false,
  perRepetition: false,
  trusted: false,
  order: "ascending",
  differences: "absolute",
  isInterpolated: false,
  hasNumbers: true,
  range: "region",
};

/** The engine's request for settings. */
export function scalingView(settings: ScalingSettings): ScalingView {
  return {
    cores: null,
    fixed: Object.entries(settings.fixed),
    metric: settings.metric === "" ? null : settings.metric,
    min_percent: settings.minPercent,
    statistic: settings.statistic,
    baseline: settings.baseline,
    per_repetition: settings.perRepetition,
    clamp: settings.clamp,
    trusted: settings.trusted,
  };
}

/** What differs from the defaults and changes numbers, in words, for views that do not show the controls. */
export function settingsText(settings: ScalingSettings, parameters: readonly ParameterReply[] = []): readonly string[] {
  const words: string[] = [];
  if (settings.statistic !== "median") words.push(`${settings.statistic} of repetitions`);
  if (settings.baseline !== "serial") {
    words.push(Number.isNaN(Number(settings.baseline)) ? `baseline: ${settings.baseline}` : `baseline: ${settings.baseline} cores`);
  }
  if (settings.metric !== "") words.push(settings.metric);
  for (const [name, value] of Object.entries(settings.fixed)) {
    const parameter = parameters.find((one) => one.name === name);
    const at = parameter?.values.indexOf(value) ?? -1;
    words.push(`${name}: ${parameter === undefined || at < 0 ? value : parameterValue(parameter, at)}`);
  }
  if (settings.minPercent > 0) words.push(`regions of at least ${String(settings.minPercent)} %`);
  if (settings.clamp) words.push("efficiency at most 100 % in differences");
  if (settings.perRepetition) words.push("efficiency of each repetition");
  if (settings.trusted) words.push("trusted runs only");
  if (settings.order === "file") words.push("cores in the order of the file");
  return words;
}

/** The parameter along an axis of the maps: the one whose values are the axis. */
export function axisParameter(reply: ScalingReply, axis: "cores" | "inputs"): ParameterReply | null {
  if (axis === "cores") {
    const wanted = reply.cores.join();
    return (
      reply.parameters.find((one) => one.numbers.join() === wanted) ??
      reply.parameters.find((one) => one.name === "cores") ??
      null
    );
  }
  const wanted = reply.inputs.join("\n");
  const cores = axisParameter(reply, "cores");
  return (
    reply.parameters.find((one) => one !== cores && one.values.join("\n") === wanted) ??
    reply.parameters.find((one) => one.name === "input") ??
    null
  );
}

/**
 * Parameters for which one value can be chosen. A frequency is always held; all others make up the input, so that a
 * choice is worth offering only where there are several of them.
 */
export function extraParameters(reply: ScalingReply): readonly ParameterReply[] {
  const cores = axisParameter(reply, "cores");
  const several = reply.parameters.filter((one) => one !== cores && one.values.length > 1);
  const inputs = several.filter((one) => !isHeld(one));
  return several.filter((one) => isHeld(one) || inputs.length > 1);
}

/** Whether the engine holds a parameter at its highest value unless another is chosen. */
export function isHeld(parameter: Pick<ParameterReply, "name">): boolean {
  return parameter.name === "frequency";
}

/** A value of a parameter for users: frequencies are stored in several units, so they are told by their number. */
export function parameterValue(parameter: ParameterReply, at: number): string {
  const value = parameter.numbers[at] ?? null;
  return isHeld(parameter) && value !== null ? quantity(value, "Hz") : (parameter.values[at] ?? "");
}
