import { DUMP_SCHEMA, dump, type ScalarTagDefinition, type TagDefinition } from 'js-yaml';
import { compareBytes } from './go-format.ts';
import { isJsonArray, isJsonObject, type JsonValue, type MutableJsonObject, setKey } from './json-value.ts';

const INTEGER = 'tag:yaml.org,2002:int';
const SCHEMA = DUMP_SCHEMA.withTags(DUMP_SCHEMA.tags.filter(isIntegerTag).map(withBigIntegers));

function isIntegerTag(tag: TagDefinition): tag is ScalarTagDefinition {
  return tag.nodeKind === 'scalar' && tag.tagName === INTEGER;
}

function withBigIntegers(tag: ScalarTagDefinition): ScalarTagDefinition {
  return {
    ...tag,
    identify: (data) => typeof data === 'bigint' || tag.identify(data),
    represent: (data) => (typeof data === 'bigint' ? data.toString() : tag.represent(data)),
  };
}

/** Writes a value as YAML the way the API does: keys sorted, lists not indented, nothing folded, strings quoted where another type could be read. */
export function encodeYaml(value: unknown): string {
  const plain = sorted(value as JsonValue);
  return dump(plain, { schema: SCHEMA, seqNoIndent: true, noRefs: true, lineWidth: -1, quoteStyle: 'double' });
}

function sorted(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const result: MutableJsonObject = {};
  for (const key of Object.keys(value).sort(compareBytes)) {
    const member: JsonValue | undefined = value[key];
    if (member !== undefined) setKey(result, key, sorted(member));
  }
  return result;
}
