import {
  copyObject,
  getKey,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type MutableJsonObject,
  setKey,
} from '../json/json-value.ts';
import { JsonPatchError } from './json-patch-error.ts';

type Container = JsonObject | readonly JsonValue[];

interface Place {
  readonly container: Container;
  readonly key: string;
}

/**
 * A document being patched. Containers are copied on the first change and then changed in place, so the input stays unmodified and a long patch does
 * not copy a long list for each operation.
 */
export class JsonDocument {
  private root: JsonValue;
  private owned = new Set<Container>();

  constructor(document: JsonValue) {
    this.root = document;
  }

  get value(): JsonValue {
    return this.root;
  }

  replaceAll(value: JsonValue): void {
    this.root = value;
  }

  /** A container may now be reachable by two paths: none may be changed in place any more. */
  share(): void {
    this.owned = new Set();
  }

  /** The value at a path; undefined for a key that is not there. Throws where there can be none. */
  get(path: string): JsonValue | undefined {
    const { container, key } = this.find(path, false);
    return isJsonArray(container) ? container[indexIn(container, key, path)] : getKey(container as JsonObject, key);
  }

  add(path: string, value: JsonValue): void {
    const { container, key } = this.find(path, true);
    if (isJsonArray(container)) insert(container as JsonValue[], key, value);
    else setKey(container as MutableJsonObject, key, value);
  }

  /** Sets a key, there or not; a list's element must be there. */
  set(path: string, value: JsonValue): void {
    const { container, key } = this.find(path, true);
    if (isJsonArray(container)) (container as JsonValue[])[indexIn(container, key, path)] = value;
    else setKey(container as MutableJsonObject, key, value);
  }

  remove(path: string): void {
    const { container, key } = this.find(path, true);
    if (isJsonArray(container)) {
      (container as JsonValue[]).splice(indexIn(container, key, path), 1);
      return;
    }
    if (!Object.hasOwn(container, key)) throw new JsonPatchError(`Unable to remove nonexistent key: ${key}: missing value`);
    delete (container as MutableJsonObject)[key];
  }

  /** The container of the path's last step; with `own`, it and all its parents may be changed. */
  private find(path: string, own: boolean): Place {
    const steps = path.split('/').slice(1).map(decodeStep);
    const key = steps.pop();
    let container = asContainer(this.root);
    if (key === undefined || container === undefined) throw missing(path);
    if (own) {
      container = this.own(container);
      this.root = container;
    }
    for (const step of steps) {
      const next: Container | undefined = asContainer(childOf(container, step));
      if (next === undefined) throw missing(path);
      container = own ? this.ownChild(container, step, next) : next;
    }
    return { container, key };
  }

  private ownChild(parent: Container, step: string, child: Container): Container {
    const owned = this.own(child);
    if (owned === child) return child;
    if (isJsonArray(parent)) (parent as JsonValue[])[indexIn(parent, step, step)] = owned;
    else setKey(parent as MutableJsonObject, step, owned);
    return owned;
  }

  private own(container: Container): Container {
    if (this.owned.has(container)) return container;
    const copy = isJsonArray(container) ? [...container] : copyObject(container as JsonObject);
    this.owned.add(copy);
    return copy;
  }
}

function asContainer(value: JsonValue | undefined): Container | undefined {
  return isJsonArray(value) || isJsonObject(value) ? value : undefined;
}

function childOf(container: Container, step: string): JsonValue | undefined {
  if (!isJsonArray(container)) return getKey(container as JsonObject, step);
  const index = parseIndex(step);
  return index === undefined ? undefined : container.at(index);
}

function insert(list: JsonValue[], key: string, value: JsonValue): void {
  if (key === '-') {
    list.push(value);
    return;
  }
  const index = parseIndex(key);
  if (index === undefined) throw new JsonPatchError(`value was not a proper array index: '${key}'`);
  // One more than the number of elements: -1 is after the last one.
  const place = index < 0 ? index + list.length + 1 : index;
  if (place < 0 || place > list.length) throw new JsonPatchError(`Unable to access invalid index: ${index}: invalid index referenced`);
  list.splice(place, 0, value);
}

function indexIn(list: readonly JsonValue[], key: string, path: string): number {
  const index = parseIndex(key);
  if (index === undefined) throw new JsonPatchError(`value was not a proper array index: '${key}' in path '${path}'`);
  const place = index < 0 ? index + list.length : index;
  if (place < 0 || place >= list.length) throw new JsonPatchError(`Unable to access invalid index: ${index}: invalid index referenced`);
  return place;
}

function parseIndex(key: string): number | undefined {
  return /^[+-]?[0-9]{1,15}$/.test(key) ? Number(key) : undefined;
}

function decodeStep(step: string): string {
  return step.includes('~') ? step.replace(/~[01]/g, (escaped) => (escaped === '~1' ? '/' : '~')) : step;
}

function missing(path: string): JsonPatchError {
  return new JsonPatchError(`operation does not apply: doc is missing path: "${path}": missing value`);
}
