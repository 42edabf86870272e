import type { Spot } from "../state/app-state.ts";
import type { Slice } from "../state/slice.svelte.ts";
import type { CostsChoice, Protocol } from "../wire/protocol.ts";
import type { ViewProps } from "./plugin.ts";
import { askMetrics, Latest, type Metrics } from "./ask.svelte.ts";
import { defaultColumns, metricExpression, metricsOf, type ColumnChoice } from "./cost-columns.ts";
import { type Filter, NO_FILTER, PROFILE_FAMILY, profilesOf, pruneChoice, windowOf } from "./filter.ts";
import { COLUMNS_STATE, type ColumnsState } from "./states.ts";
import { spotOf } from "./selection.ts";

type Props = Pick<ViewProps, "item" | "client" | "links"> & { readonly state: Pick<Slice<object>, "shared"> };

/** What the views of an experiment's costs share: which contexts and locations are included, and the columns that are shown. */
export class CostContext {
  readonly filter: Slice<Filter>;
  readonly columns: Slice<ColumnsState>;
  readonly metrics = new Latest<Metrics>();
  readonly #props: () => Props;
  readonly #spot = $derived.by(() => spotOf(this.#props().links, this.#props().item.key));
  // Time in traces is one cost, whatever columns were chosen.
  readonly #chosen = $derived.by(() => (this.isTrace ? null : this.columns.current.columns) ?? defaultColumns(this.metrics.value?.default ?? ""));
  readonly #asked = $derived.by(() => metricsOf(this.#chosen));

  /** Call it while a component is made. */
  constructor(props: () => Props) {
    this.#props = props;
    this.filter = props().state.shared(PROFILE_FAMILY, NO_FILTER);
    this.columns = props().state.shared("profile-columns", COLUMNS_STATE);
    $effect(() => {
      const { item, client } = props();
      this.metrics.ask(item.item, () => askMetrics(client, item.item));
    });
  }

  /** The part that all views are restricted to. */
  get spot(): Spot | null {
    return this.#spot;
  }

  /** The metric of views that show one; null until it is known, and where nothing was measured. */
  get metric(): string | null {
    return this.filter.current.metric ?? this.metrics.value?.default ?? null;
  }

  get isTrace(): boolean {
    return this.filter.current.isTrace || this.spot?.window !== undefined;
  }

  /** The columns of tables. */
  get chosen(): readonly ColumnChoice[] {
    return this.#chosen;
  }

  /** The metrics that the columns need. */
  get asked(): readonly string[] {
    return this.#asked;
  }

  /** What counts, for questions about several metrics. */
  costs(metrics: readonly string[]): CostsChoice {
    const filter = this.filter.current;
    return {
      metrics: this.isTrace ? [] : metrics.map((metric) => metricExpression(metric)),
      profiles: profilesOf(filter, this.spot),
      is_trace: filter.isTrace,
      window: windowOf(this.spot),
      helpers: filter.helpers,
    };
  }

  /** What lists of functions and other groups ask for: the engine answers them about one metric at a time. */
  lists(): readonly Pick<Protocol["callers"]["request"], "item" | "cost" | "prune" | "from">[] {
    const { metrics: _none, ...where } = this.costs([]);
    const metrics = this.isTrace ? [null] : this.#asked.map((metric) => metricExpression(metric));
    return metrics.map((metric) => ({
      item: this.#props().item.item,
      cost: { ...where, metric },
      prune: pruneChoice(this.filter.current),
      from: this.#spot?.context === undefined ? null : `context(${String(this.#spot.context)})`,
    }));
  }

  /** The tree with these metrics. */
  tree(metrics: readonly string[]): Protocol["tree_table"]["request"] {
    return { item: this.#props().item.item, costs: this.costs(metrics), prune: pruneChoice(this.filter.current) };
  }
}
