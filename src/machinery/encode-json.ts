import { isJsonArray, type JsonObject, type JsonValue } from './json-value.ts';

/** Encodes a value as JSON text. Integers held as bigint are written as plain digits; undefined members are left out. */
export function encodeJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    // JSON.stringify refuses bigints. They are rare, so they are not looked for before.
    if (error instanceof TypeError && /BigInt/.test(error.message)) return encodeExactly(value as JsonValue | undefined);
    throw error;
  }
}

function encodeExactly(value: JsonValue | undefined): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  if (isJsonArray(value)) return `[${value.map(encodeExactly).join(',')}]`;
  if ('toJSON' in value && typeof (value as { toJSON: unknown }).toJSON === 'function') return JSON.stringify(value);
  return encodeObject(value);
}

function encodeObject(object: JsonObject): string {
  const members: string[] = [];
  for (const key of Object.keys(object)) {
    const member: JsonValue | undefined = object[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${encodeExactly(member)}`);
  }
  return `{${members.join(',')}}`;
}
