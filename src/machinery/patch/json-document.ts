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
import { PiecewiseList } from './piecewise-list.ts';

type Container = JsonObject | readonly JsonValue[];

interface Place {
  readonly container: Container;
  readonly key: string;
}

/** Lists of more items are changed piecewise. */
const LONG_LIST = 2048;

/**
 * A document being patched. Containers are copied on the first change and then changed in place, so the input stays unmodified and a long patch does
 * not copy a long list for each operation.
 */
export class JsonDocument {
  private root: JsonValue;
  private owned = new Set<Container>();
  /** The items of long lists that were changed; the lists themselves are outdated until `release`. */
  private readonly piecewise = new Map<Container, PiecewiseList>();

  constructor(document: JsonValue) {
    this.root = document;
  }

  /** The whole document. Ends the changes. */
  get value(): JsonValue {
    for (const [list, items] of this.piecewise) items.writeTo(list as JsonValue[]);
    this.piecewise.clear();
    return this.root;
  }

  replaceAll(value: JsonValue): void {
    this.root = value;
  }

  /** Updates a value of the document. From now on it may be reachable by two paths: nothing in it may be changed in place any more. */
  release(value: JsonValue | undefined): void {
    const pending = [asContainer(value)];
    while (pending.length > 0) {
      const container = pending.pop();
      if (container === undefined) continue;
      this.piecewise.get(container)?.writeTo(container as JsonValue[]);
      this.piecewise.delete(container);
      this.owned.delete(container);
      for (const member of isJsonArray(container) ? container : Object.values(container))
        if (typeof member === 'object' && member !== null) pending.push(member);
    }
  }

  /** The value at a path; undefined for a key that is not there. Throws where there can be none. */
  get(path: string): JsonValue | undefined {
    const { container, key } = this.find(path, false);
    return isJsonArray(container) ? this.itemAt(container, this.indexIn(container, key, path)) : getKey(container as JsonObject, key);
  }

  add(path: string, value: JsonValue): void {
    const { container, key } = this.find(path, true);
    if (isJsonArray(container)) this.insert(container as JsonValue[], key, value);
    else setKey(container as MutableJsonObject, key, value);
  }

  /** Sets a key, there or not; a list's element must be there. */
  set(path: string, value: JsonValue): void {
    const { container, key } = this.find(path, true);
    if (isJsonArray(container)) this.setItem(container as JsonValue[], this.indexIn(container, key, path), value);
    else setKey(container as MutableJsonObject, key, value);
  }

  remove(path: string): void {
    const { container, key } = this.find(path, true);
    if (isJsonArray(container)) {
      const index = this.indexIn(container, key, path);
      const items = this.piecesOf(container);
      if (items === undefined) (container as JsonValue[]).splice(index, 1);
      else items.remove(index);
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
      const next: Container | undefined = asContainer(this.childOf(container, step));
      if (next === undefined) throw missing(path);
      container = own ? this.ownChild(container, step, next) : next;
    }
    return { container, key };
  }

  private ownChild(parent: Container, step: string, child: Container): Container {
    const owned = this.own(child);
    if (owned === child) return child;
    if (isJsonArray(parent)) this.setItem(parent as JsonValue[], this.indexIn(parent, step, step), owned);
    else setKey(parent as MutableJsonObject, step, owned);
    return owned;
  }

  private own(container: Container): Container {
    if (this.owned.has(container)) return container;
    const copy = isJsonArray(container) ? [...container] : copyObject(container as JsonObject);
    this.owned.add(copy);
    return copy;
  }

  private childOf(container: Container, step: string): JsonValue | undefined {
    if (!isJsonArray(container)) return getKey(container as JsonObject, step);
    const index = parseIndex(step);
    if (index === undefined) return undefined;
    return this.itemAt(container, index < 0 ? index + this.lengthOf(container) : index);
  }

  /** The pieces of an owned list that is about to get longer or shorter; undefined for a short one. */
  private piecesOf(list: readonly JsonValue[]): PiecewiseList | undefined {
    let items = this.piecewise.get(list);
    if (items === undefined && list.length > LONG_LIST) {
      items = new PiecewiseList(list);
      this.piecewise.set(list, items);
    }
    return items;
  }

  private lengthOf(list: readonly JsonValue[]): number {
    return (this.piecewise.get(list) ?? list).length;
  }

  private itemAt(list: readonly JsonValue[], index: number): JsonValue | undefined {
    const items = this.piecewise.get(list);
    return items === undefined ? list[index] : items.at(index);
  }

  private setItem(list: JsonValue[], index: number, value: JsonValue): void {
    const items = this.piecewise.get(list);
    if (items === undefined) list[index] = value;
    else items.set(index, value);
  }

  private insert(list: JsonValue[], key: string, value: JsonValue): void {
    const length = this.lengthOf(list);
    const index = key === '-' ? length : parseIndex(key);
    if (index === undefined) throw new JsonPatchError(`value was not a proper array index: '${key}'`);
    // One more than the number of elements: -1 is after the last one.
    const place = index < 0 ? index + length + 1 : index;
    if (place < 0 || place > length) throw new JsonPatchError(`Unable to access invalid index: ${index}: invalid index referenced`);
    const items = this.piecesOf(list);
    if (items === undefined) list.splice(place, 0, value);
    else items.insert(place, value);
  }

  private indexIn(list: readonly JsonValue[], key: string, path: string): number {
    const index = parseIndex(key);
    if (index === undefined) throw new JsonPatchError(`value was not a proper array index: '${key}' in path '${path}'`);
    const length = this.lengthOf(list);
    const place = index < 0 ? index + length : index;
    if (place < 0 || place >= length) throw new JsonPatchError(`Unable to access invalid index: ${index}: invalid index referenced`);
    return place;
  }
}

function asContainer(value: JsonValue | undefined): Container | undefined {
  return isJsonArray(value) || isJsonObject(value) ? value : undefined;
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
