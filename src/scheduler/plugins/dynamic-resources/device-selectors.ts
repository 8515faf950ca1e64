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

/** Evaluates the CEL expressions of classes and claims on devices. Each expression is compiled once. */
export class DeviceSelectors {
  readonly #programs = new Map<string, cel.CompileResult>();

  /** Whether all selectors match; throws upstream's message when one fails. */
  match(selectors: readonly resource.DeviceSelector[] | undefined, offered: OfferedDevice, owner: string): boolean {
    return (selectors ?? []).every((selector, i) => this.#matches(selector.cel?.expression ?? '', offered, `${owner}: selector #${i}`));
  }

  #matches(expression: string, offered: OfferedDevice, where: string): boolean {
    const compiled = this.#compile(expression);
    if (!compiled.ok) throw new Error(`${where}: CEL compile error: ${compiled.message}`);
    const outcome = compiled.program.run({ device: activationOf(offered) });
    if (outcome.error !== undefined) throw new Error(`${where}: CEL runtime error: ${outcome.error.message}`);
    if (typeof outcome.value === 'boolean') return outcome.value;
    const type = cel.formatType(cel.typeOf(outcome.value));
    throw new Error(`${where}: CEL runtime error: CEL result of type ${type} could not be converted to bool`);
  }

  #compile(expression: string): cel.CompileResult {
    const program = this.#programs.get(expression);
    if (program !== undefined) return program;
    const compiled = resource.compileDeviceExpression(expression);
    if (this.#programs.size >= MAX_PROGRAMS) this.#programs.clear();
    this.#programs.set(expression, compiled);
    return compiled;
  }
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
