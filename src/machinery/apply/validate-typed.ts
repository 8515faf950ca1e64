import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { elementText, type PathElement } from './path-element.ts';
import { isUntyped, type ListShape, type MapShape, type ScalarCheck, type Shape } from './shape.ts';
import { facetOf, goTypeName, goWrappedSyntax, goWrappedText, itemElement, ListItemError, memberElement } from './typed-value.ts';

interface Problem {
  readonly path: string;
  readonly message: string;
}

const NONE: readonly Problem[] = [];

/** The first error of a configuration that cannot be applied, in upstream's words; undefined if valid. */
export function typedProblems(shape: Shape, value: JsonValue): string | undefined {
  const problems = check(shape, value);
  const [first] = problems;
  if (first === undefined) return undefined;
  if (problems.length === 1) return problemText(first);
  return ['errors:', ...problems.map((problem) => `  ${problemText(problem)}`)].join('\n');
}

function problemText({ path, message }: Problem): string {
  return path === '' ? message : `${path}: ${message}`;
}

function problem(message: string): readonly Problem[] {
  return [{ path: '', message }];
}

function check(shape: Shape, value: JsonValue): readonly Problem[] {
  if (isUntyped(shape)) return NONE;
  const facet = facetOf(shape, value);
  if (facet === 'map' && shape.map !== undefined) return checkMap(shape.map, value);
  if (facet === 'list' && shape.list !== undefined) return checkList(shape.list, value);
  return checkScalar(shape.scalar ?? 'untyped', value);
}

function checkScalar(expected: ScalarCheck, value: JsonValue): readonly Problem[] {
  if (value === null) return NONE;
  switch (expected) {
    case 'numeric':
      return isNumeric(value) ? NONE : problem(`expected numeric (int or float), got ${goTypeName(value)}`);
    case 'string':
      return typeof value === 'string' ? NONE : problem(`expected string, got ${goWrappedSyntax(value)}`);
    case 'boolean':
      return typeof value === 'boolean' ? NONE : problem(`expected boolean, got ${goWrappedText(value)}`);
    case 'untyped':
      return typeof value !== 'object' ? NONE : problem(`expected any scalar, got ${goWrappedText(value)}`);
  }
}

function isNumeric(value: JsonValue): boolean {
  return typeof value === 'number' || typeof value === 'bigint';
}

function checkMap(map: MapShape, value: JsonValue): readonly Problem[] {
  if (value === null) return NONE;
  if (!isJsonObject(value)) return problem(`expected map, got ${goWrappedText(value)}`);
  return checkMembers(map, value);
}

function checkMembers(map: MapShape, value: JsonObject): readonly Problem[] {
  let problems = NONE;
  for (const key of Object.keys(value).sort()) {
    const declared = map.fields.get(key);
    const shape = declared?.shape ?? map.values;
    const element = memberElement(declared, key);
    // The first unknown field of an object ends its inspection.
    if (shape === undefined) return [...problems, { path: elementText(element), message: 'field not declared in schema' }];
    problems = joined(problems, check(shape, value[key] ?? null), element);
  }
  return problems;
}

function joined(problems: readonly Problem[], below: readonly Problem[], element: PathElement): readonly Problem[] {
  if (below.length === 0) return problems;
  const prefix = elementText(element);
  return [...problems, ...below.map(({ path, message }) => ({ path: prefix + path, message }))];
}

function checkList(list: ListShape, value: JsonValue): readonly Problem[] {
  if (value === null) return NONE;
  if (!isJsonArray(value)) return problem(`expected list, got ${goWrappedText(value)}`);
  return list.atomic ? checkAtomicItems(list, value) : checkKeyedItems(list, value);
}

function checkAtomicItems(list: ListShape, items: readonly JsonValue[]): readonly Problem[] {
  let problems = NONE;
  for (const [i, item] of items.entries()) problems = joined(problems, check(list.items, item), `i:${i}`);
  return problems;
}

function checkKeyedItems(list: ListShape, items: readonly JsonValue[]): readonly Problem[] {
  let problems = NONE;
  const seen = new Set<PathElement>();
  for (const [i, item] of items.entries()) {
    const element = elementOrProblem(list, item);
    if (element instanceof ListItemError) return [...problems, { path: '', message: `element ${i}: ${element.message}` }];
    if (seen.has(element)) problems = [...problems, { path: '', message: `duplicate entries for key ${elementText(element)}` }];
    seen.add(element);
    problems = joined(problems, check(list.items, item), element);
  }
  return problems;
}

function elementOrProblem(list: ListShape, item: JsonValue): PathElement | ListItemError {
  try {
    return itemElement(list, item);
  } catch (error) {
    if (error instanceof ListItemError) return error;
    throw error;
  }
}
