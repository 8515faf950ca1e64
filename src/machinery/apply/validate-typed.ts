import { MAX_FIELD_ERRORS } from '../errors/field-error.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { elementText, type PathElement } from './path-element.ts';
import { isUntyped, type ListShape, type MapShape, type ScalarCheck, type Shape } from './shape.ts';
import { goTypeName, goWrappedSyntax, goWrappedText, itemElement, ListItemError, memberElement, valueTypeOf } from './typed-value.ts';

/** The first errors of a configuration that cannot be applied, in upstream's words; undefined if valid. */
export function typedProblems(shape: Shape, value: JsonValue): string | undefined {
  const { problems } = new TypeCheck().run(shape, value);
  if (problems.length <= 1) return problems[0];
  return ['errors:', ...problems.map((problem) => `  ${problem}`)].join('\n');
}

/** One pass over the configuration, which stops looking after thousands of problems. */
class TypeCheck {
  readonly problems: string[] = [];
  private readonly path: PathElement[] = [];

  run(shape: Shape, value: JsonValue): this {
    if (isUntyped(shape)) return this;
    const valueType = valueTypeOf(shape, value);
    if (valueType === 'map' && shape.map !== undefined) this.map(shape.map, value);
    else if (valueType === 'list' && shape.list !== undefined) this.list(shape.list, value);
    else this.scalar(shape.scalar ?? 'untyped', value);
    return this;
  }

  private get isFull(): boolean {
    return this.problems.length >= MAX_FIELD_ERRORS;
  }

  private problem(message: string): void {
    const path = this.path.map(elementText).join('');
    this.problems.push(path === '' ? message : `${path}: ${message}`);
  }

  private below(element: PathElement, shape: Shape, value: JsonValue): void {
    this.path.push(element);
    this.run(shape, value);
    this.path.pop();
  }

  private scalar(expected: ScalarCheck, value: JsonValue): void {
    if (value === null) return;
    const message = scalarProblem(expected, value);
    if (message !== undefined) this.problem(message);
  }

  private map(map: MapShape, value: JsonValue): void {
    if (value === null) return;
    if (isJsonObject(value)) this.members(map, value);
    else this.problem(`expected map, got ${goWrappedText(value)}`);
  }

  private members(map: MapShape, value: JsonObject): void {
    for (const key of Object.keys(value).sort()) {
      if (this.isFull) return;
      const declared = map.fields.get(key);
      const shape = declared?.shape ?? map.values;
      const element = memberElement(declared, key);
      if (shape !== undefined) this.below(element, shape, value[key] ?? null);
      else {
        // The first unknown field of an object ends its inspection.
        this.path.push(element);
        this.problem('field not declared in schema');
        this.path.pop();
        return;
      }
    }
  }

  private list(list: ListShape, value: JsonValue): void {
    if (value === null) return;
    if (!isJsonArray(value)) this.problem(`expected list, got ${goWrappedText(value)}`);
    else if (list.atomic) this.atomicItems(list, value);
    else this.keyedItems(list, value);
  }

  private atomicItems(list: ListShape, items: readonly JsonValue[]): void {
    for (let i = 0; i < items.length && !this.isFull; i++) this.below(`i:${i}`, list.items, items[i] as JsonValue);
  }

  private keyedItems(list: ListShape, items: readonly JsonValue[]): void {
    const seen = new Set<PathElement>();
    for (let i = 0; i < items.length && !this.isFull; i++) {
      const item = items[i] as JsonValue;
      const element = elementOrProblem(list, item);
      if (element instanceof ListItemError) {
        this.problem(`element ${i}: ${element.message}`);
        return;
      }
      if (seen.has(element)) this.problem(`duplicate entries for key ${elementText(element)}`);
      seen.add(element);
      this.below(element, list.items, item);
    }
  }
}

function scalarProblem(expected: ScalarCheck, value: JsonValue): string | undefined {
  switch (expected) {
    case 'numeric':
      return isNumeric(value) ? undefined : `expected numeric (int or float), got ${goTypeName(value)}`;
    case 'string':
      return typeof value === 'string' ? undefined : `expected string, got ${goWrappedSyntax(value)}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${goWrappedText(value)}`;
    case 'untyped':
      return typeof value !== 'object' ? undefined : `expected any scalar, got ${goWrappedText(value)}`;
  }
}

function isNumeric(value: JsonValue): boolean {
  return typeof value === 'number' || typeof value === 'bigint';
}

function elementOrProblem(list: ListShape, item: JsonValue): PathElement | ListItemError {
  try {
    return itemElement(list, item);
  } catch (error) {
    if (error instanceof ListItemError) return error;
    throw error;
  }
}
