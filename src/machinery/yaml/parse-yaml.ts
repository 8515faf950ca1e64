import { parseEvents } from 'js-yaml';
import { runSteps } from '#base';
import { JsonSyntaxError, type ParsedDocument } from '../json/exact-json-parser.ts';
import { parseJson } from '../json/parse-json.ts';
import { YamlComposer, type YamlDocument } from './yaml-composer.ts';
import { translateYamlError, YamlError } from './yaml-error.ts';

/** Deeper than any object of the API, and within what the parser's recursion can take. */
const MAX_DEPTH = 1000;

const EMPTY: YamlDocument = { value: null, duplicates: [], problems: [] };

/**
 * The first document of a YAML text, as the API takes YAML: version 1.1's booleans and octals, keys made strings, aliases limited. JSON is
 * YAML, and is parsed as JSON when it is. An empty text is null. Throws YamlError.
 */
export function parseYaml(input: Uint8Array | string): YamlDocument {
  return runSteps(yamlSteps(input));
}

/** `parseYaml`, with pauses in large texts. */
export function* yamlSteps(input: Uint8Array | string): Generator<void, YamlDocument> {
  const text = textOf(input);
  const json = /^\s*[{[]/.test(text) ? parseAsJson(text) : undefined;
  if (json !== undefined && json.duplicates.length === 0) return { value: json.value, duplicates: [], problems: [] };
  return (yield* compose(text))[0] ?? EMPTY;
}

/** All documents of a YAML text, empty ones as null. Throws YamlError. */
export function parseYamlDocuments(input: Uint8Array | string): YamlDocument[] {
  return runSteps(compose(textOf(input)));
}

function textOf(input: Uint8Array | string): string {
  const text = typeof input === 'string' ? input : Buffer.from(input.buffer, input.byteOffset, input.byteLength).toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

function parseAsJson(text: string): ParsedDocument | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

function* compose(text: string): Generator<void, YamlDocument[]> {
  try {
    const events = parseEvents(text, { maxDepth: MAX_DEPTH });
    yield;
    return yield* new YamlComposer(text).compose(events);
  } catch (error) {
    if (error instanceof RangeError) throw new YamlError(`exceeded max depth of ${MAX_DEPTH}`, { cause: error });
    throw translateYamlError(error);
  }
}
