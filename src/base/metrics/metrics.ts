import { type Labels, labelText, renderFamily, type Sample } from './metrics-text.ts';

export interface MetricOptions<L extends string> {
  name: string;
  help: string;
  /** Label names; each combination of values is a series. */
  labels?: readonly L[];
}

export interface HistogramOptions<L extends string> extends MetricOptions<L> {
  /** Upper bounds, ascending; +Inf is added. Default: Prometheus's for seconds. */
  buckets?: readonly number[];
}

export interface Counter {
  /** By 1 by default; never negative. */
  inc(by?: number): void;
  readonly value: number;
}

export interface Gauge {
  set(value: number): void;
  inc(by?: number): void;
  dec(by?: number): void;
  /** Computes the value on each read. */
  collect(read: () => number): void;
  readonly value: number;
}

export interface Histogram {
  observe(value: number): void;
  readonly count: number;
  readonly sum: number;
}

/** A metric with all its series. */
export interface Family<S, L extends string> {
  /** The series with these label values. Keep it in hot paths: the lookup costs more than counting. */
  with(labels: Labels<L>): S;
  /** Removes the series, for example when its subject is gone. */
  remove(labels: Labels<L>): void;
}

const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The metrics of one process or one cluster. Registering the same metric twice returns the existing one. */
export class MetricsRegistry {
  readonly #families = new Map<string, SeriesFamily<Series, string>>();

  counter<L extends string = never>(options: MetricOptions<L>): Family<Counter, L> {
    return this.#family('counter', options, () => new CounterSeries());
  }

  gauge<L extends string = never>(options: MetricOptions<L>): Family<Gauge, L> {
    return this.#family('gauge', options, () => new GaugeSeries());
  }

  histogram<L extends string = never>(options: HistogramOptions<L>): Family<Histogram, L> {
    const { buckets = DEFAULT_BUCKETS } = options;
    return this.#family('histogram', options, () => new HistogramSeries(buckets));
  }

  /** All metrics in Prometheus's text format, sorted by name. */
  text(): string {
    const names = [...this.#families.keys()].sort();
    return names.map((name) => this.#families.get(name)?.render()).join('');
  }

  #family<S extends Series, L extends string>(type: MetricType, options: HistogramOptions<L>, create: () => S): SeriesFamily<S, L> {
    const existing = this.#families.get(options.name);
    // Frequent callers pass the same options object, which is not compared again.
    if (existing?.options === options && existing.type === type) return existing as unknown as SeriesFamily<S, L>;
    const definition = definitionOf(type, options);
    if (existing) {
      existing.assertSame(definition);
      return existing as unknown as SeriesFamily<S, L>;
    }
    const family = new SeriesFamily<S, L>(definition, options, create);
    this.#families.set(options.name, family as unknown as SeriesFamily<Series, string>);
    return family;
  }
}

type MetricType = 'counter' | 'gauge' | 'histogram';

interface Definition<L extends string> extends HistogramOptions<L> {
  type: MetricType;
}

function definitionOf<L extends string>(type: MetricType, options: HistogramOptions<L>): Definition<L> {
  assertNames(options);
  if (type !== 'histogram') return { ...options, type };
  const { buckets = DEFAULT_BUCKETS } = options;
  if (buckets.some((bound, i) => i > 0 && bound <= (buckets[i - 1] as number))) {
    throw new RangeError(`the buckets of ${options.name} do not ascend: ${buckets.join(', ')}`);
  }
  return { ...options, type, buckets };
}

interface Series {
  samples(): Sample[];
}

class SeriesFamily<S extends Series, L extends string> implements Family<S, L> {
  readonly #definition: Definition<L>;
  readonly #create: () => S;
  readonly #names: readonly L[];
  /** By the values of the labels. */
  readonly #series = new Map<string, { labels: string; series: S }>();

  constructor(
    definition: Definition<L>,
    /** As they were given. */
    readonly options: HistogramOptions<L>,
    create: () => S,
  ) {
    this.#definition = definition;
    this.#names = definition.labels ?? [];
    this.#create = create;
  }

  with(labels: Labels<L>): S {
    const key = this.#key(labels);
    const existing = this.#series.get(key);
    if (existing) return existing.series;
    const series = this.#create();
    this.#series.set(key, { labels: labelText(this.#names, labels), series });
    return series;
  }

  get type(): MetricType {
    return this.#definition.type;
  }

  remove(labels: Labels<L>): void {
    this.#series.delete(this.#key(labels));
  }

  assertSame(other: Definition<string>): void {
    const own = this.#definition as Definition<string>;
    if (other.type !== own.type || !sameItems(other.labels, own.labels) || !sameItems(other.buckets, own.buckets)) {
      throw new Error(`metric ${other.name} is registered already, with another type, labels or buckets`);
    }
  }

  render(): string {
    const sorted = [...this.#series.values()].sort((a, b) => (a.labels < b.labels ? -1 : 1));
    const samples = sorted.flatMap(({ labels, series }) => series.samples().map((sample) => ({ ...sample, labels })));
    return renderFamily(this.#definition, samples);
  }

  #key(labels: Labels<L>): string {
    let key = '';
    for (const name of this.#names) key += `${labels[name]}\u0000`;
    return key;
  }
}

class CounterSeries implements Counter, Series {
  value = 0;

  inc(by = 1): void {
    if (!(by >= 0)) throw new RangeError(`a counter cannot grow by ${by}`);
    this.value += by;
  }

  samples(): Sample[] {
    return [{ value: this.value }];
  }
}

class GaugeSeries implements Gauge, Series {
  #value = 0;
  #read: (() => number) | undefined;

  get value(): number {
    return this.#read ? this.#read() : this.#value;
  }

  set(value: number): void {
    this.#value = value;
  }

  inc(by = 1): void {
    this.#value += by;
  }

  dec(by = 1): void {
    this.#value -= by;
  }

  collect(read: () => number): void {
    this.#read = read;
  }

  samples(): Sample[] {
    return [{ value: this.value }];
  }
}

class HistogramSeries implements Histogram, Series {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  count = 0;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.count++;
    this.sum += value;
    const bucket = this.#bucketOf(value);
    if (bucket < this.#counts.length) this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
  }

  samples(): Sample[] {
    let below = 0;
    const buckets = this.#bounds.map((bound, i): Sample => {
      below += this.#counts[i] as number;
      return { suffix: '_bucket', le: bound, value: below };
    });
    return [
      ...buckets,
      { suffix: '_bucket', le: Infinity, value: this.count },
      { suffix: '_sum', value: this.sum },
      { suffix: '_count', value: this.count },
    ];
  }

  /** The first bucket whose bound is not below the value, by binary search. */
  #bucketOf(value: number): number {
    let low = 0;
    let high = this.#bounds.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (value <= (this.#bounds[middle] as number)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

function sameItems<T>(list: readonly T[] = [], others: readonly T[] = []): boolean {
  return list === others || (list.length === others.length && list.every((item, i) => item === others[i]));
}

function assertNames({ name, labels = [] }: MetricOptions<string>): void {
  if (!METRIC_NAME.test(name)) throw new Error(`${JSON.stringify(name)} is not a metric name`);
  const bad = labels.find((label) => !LABEL_NAME.test(label) || label === 'le');
  if (bad !== undefined) throw new Error(`${JSON.stringify(bad)} is not a label name for metric ${name}`);
}
