import type { resource } from '#api';
import type { OfferedDevice } from './offered-devices.ts';

/** The request names in constraints, configurations and results. */
export interface RequestName {
  /** Of the request itself. */
  readonly request: string;
  /** With the alternative that was chosen: `request/alternative`. */
  readonly full: string;
}

/** A matchAttribute or distinctAttribute constraint of a claim. */
export class AttributeConstraint {
  readonly #constraint: resource.DeviceConstraint;
  readonly #values: string[] = [];

  constructor(constraint: resource.DeviceConstraint) {
    this.#constraint = constraint;
  }

  /** Adds the device, unless that would violate the constraint. */
  add(name: RequestName, offered: OfferedDevice): boolean {
    if (!this.#concerns(name)) return true;
    const { matchAttribute, distinctAttribute } = this.#constraint;
    const value = attributeOf(offered, matchAttribute ?? distinctAttribute ?? '');
    if (value === undefined) return false;
    const [first] = this.#values;
    const isViolated = matchAttribute === undefined ? this.#values.includes(value) : first !== undefined && first !== value;
    if (isViolated) return false;
    this.#values.push(value);
    return true;
  }

  /** Reverts the latest `add`. */
  remove(name: RequestName): void {
    if (this.#concerns(name)) this.#values.pop();
  }

  #concerns({ request, full }: RequestName): boolean {
    const { requests = [] } = this.#constraint;
    return requests.length === 0 || requests.includes(request) || requests.includes(full);
  }
}

/** Equal for equal values of the same type. Names without a domain belong to the driver's domain. */
function attributeOf({ device, slice }: OfferedDevice, qualified: string): string | undefined {
  const attributes = device.attributes ?? {};
  const slash = qualified.indexOf('/');
  const own = qualified.slice(0, slash) === slice.spec.driver ? attributes[qualified.slice(slash + 1)] : undefined;
  const { int, bool, string, version } = attributes[qualified] ?? own ?? {};
  const value = string ?? int ?? bool ?? version;
  if (value === undefined) return undefined;
  const type = string !== undefined ? 'string' : int !== undefined ? 'int' : bool !== undefined ? 'bool' : 'version';
  return `${type} ${value}`;
}
