import { JsonSyntaxError, parseJson } from '#machinery';

interface Expectation {
  readonly type: 'object' | 'array';
  /** Go's name of the target type. */
  readonly goType: string;
}

/** The error of Go's JSON decoder for a text that should be an object or a list; undefined if valid. */
export function jsonProblem(text: string, { type, goType }: Expectation): string | undefined {
  let value: unknown;
  try {
    ({ value } = parseJson(text));
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.message;
    throw error;
  }
  if (value === null) return undefined;
  const kind = Array.isArray(value) ? 'array' : goKind(value);
  return kind === type ? undefined : `json: cannot unmarshal ${kind} into Go value of type ${goType}`;
}

function goKind(value: unknown): string {
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'number';
    default:
      return typeof value;
  }
}
