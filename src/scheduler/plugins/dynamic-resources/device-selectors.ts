import { resource } from '#api';
import { cel, Quantity } from '#machinery';
import type { OfferedDevice } from './offered-devices.ts';

const MAX_PROGRAMS = 64;
const NOTHING = cel.EntryMap.from([]);

/** Attributes or capacities by domain. Unknown domains are empty, not missing. */
class Domains extends cel.CelMap {
  constructor(private readonly domains: ReadonlyMap<string, cel.CelMap>) {
    super();
  }

  get size(): number {
    return this.domains.size;
  }

  find(key: cel.CelValue): cel.CelValue {
    return (typeof key === 'string' ? this.domains.get(key) : undefined) ?? NOTHING;
  }

  keys(): Iterable<cel.CelValue> {
    return this.domains.keys();
  }
}

/** What the evaluations of one search may cost. What they found is kept, so that a repeated search gets further. */
const SEARCH_COST = 2_000_000;

/** A value that is no boolean is an error. */
type Result = boolean | { readonly error: string };

/** The selectors of a search cost too much. */
export class SearchTooExpensive extends Error {
  override readonly name = 'SearchTooExpensive';
}

/** Evaluates the CEL expressions of classes and claims on devices. Each expression is compiled once, and evaluated once for each device. */
export class DeviceSelectors {
  readonly #programs = new Map<string, cel.CompileResult>();
  #results = new WeakMap<resource.Device, Map<string, Result>>();
  #costLeft = SEARCH_COST;

  /** To be called before a search that others wait for. */
  beginSearch(): void {
    this.#costLeft = SEARCH_COST;
  }

  /** Whether all selectors match; throws upstream's message when one fails. */
  match(selectors: readonly resource.DeviceSelector[] | undefined, offered: OfferedDevice, owner: string): boolean {
    return (selectors ?? []).every((selector, i) => this.#matches(selector.cel?.expression ?? '', offered, `${owner}: selector #${i}`));
  }

  #matches(expression: string, offered: OfferedDevice, where: string): boolean {
    const compiled = this.#compile(expression);
    if (!compiled.ok) throw new Error(`${where}: CEL compile error: ${compiled.message}`);
    const result = this.#evaluate(compiled.program, offered);
    if (typeof result === 'boolean') return result;
    throw new Error(`${where}: CEL runtime error: ${result.error}`);
  }

  #evaluate(program: cel.CelProgram, offered: OfferedDevice): Result {
    let results = this.#results.get(offered.device);
    if (results === undefined) {
      results = new Map();
      this.#results.set(offered.device, results);
    }
    const before = results.get(program.expression);
    if (before !== undefined) return before;
    if (this.#costLeft < 0) throw new SearchTooExpensive();
    const outcome = program.run({ device: activationOf(offered) });
    this.#costLeft -= outcome.cost;
    const result = resultOf(outcome);
    results.set(program.expression, result);
    return result;
  }

  #compile(expression: string): cel.CompileResult {
    const program = this.#programs.get(expression);
    if (program !== undefined) return program;
    const compiled = resource.compileDeviceExpression(expression);
    if (this.#programs.size >= MAX_PROGRAMS) {
      this.#programs.clear();
      this.#results = new WeakMap();
    }
    this.#programs.set(expression, compiled);
    return compiled;
  }
}

function resultOf({ value, error }: cel.EvalOutcome): Result {
  if (error !== undefined) return { error: error.message };
  if (typeof value === 'boolean') return value;
  return { error: `CEL result of type ${cel.formatType(cel.typeOf(value))} could not be converted to bool` };
}

function activationOf({ device, slice }: OfferedDevice): object {
  const { driver } = slice.spec;
  return {
    driver,
    allowMultipleAllocations: device.allowMultipleAllocations === true,
    attributes: byDomain(device.attributes ?? {}, driver, attributeValue),
    capacity: byDomain(device.capacity ?? {}, driver, ({ value }) => new cel.QuantityValue(Quantity.fromJson(value as string))),
  };
}

function byDomain<T>(named: Readonly<Record<string, T>>, driver: string, read: (one: T) => cel.CelValue): Domains {
  const domains = new Map<string, { key: string; value: cel.CelValue }[]>();
  for (const [name, value] of Object.entries(named)) {
    const slash = name.indexOf('/');
    const domain = slash < 0 ? driver : name.slice(0, slash);
    const entry = { key: name.slice(slash + 1), value: read(value) };
    const attributes = domains.get(domain);
    if (attributes === undefined) domains.set(domain, [entry]);
    else attributes.push(entry);
  }
  return new Domains(new Map([...domains].map(([domain, entries]) => [domain, cel.EntryMap.from(entries)])));
}

function attributeValue({ int, bool, string, version }: resource.DeviceAttribute): cel.CelValue {
  if (int !== undefined) return int as cel.CelInt;
  if (bool !== undefined) return bool;
  if (string !== undefined) return string;
  if (version !== undefined) return cel.SemverValue.parse(version);
  throw new Error('unsupported attribute value');
}
