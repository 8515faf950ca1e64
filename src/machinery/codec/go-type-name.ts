import type { Schema } from '../schema.ts';

/** What upstream's errors call a type: `v1.ObjectMeta`, `[]v1.Container`, `map[string]string`. Clients and tests match these texts. */
export function goTypeName(schema: Schema): string {
  switch (schema.type) {
    case 'object':
      return lastSegments(schema.name, 2);
    case 'list':
      return schema.goName ?? `[]${elementName(schema.items)}`;
    case 'map':
      return schema.goName ?? (schema.values.type === 'quantity' ? 'v1.ResourceList' : `map[string]${elementName(schema.values)}`);
    case 'any':
      return lastSegments(schema.name, 2);
    default:
      return schema.goName ?? SCALAR_NAMES[schema.type];
  }
}

/** `ObjectMeta` of `io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta`. */
export function shortTypeName(name: string): string {
  return lastSegments(name, 1);
}

function lastSegments(name: string, count: number): string {
  return name.split('.').slice(-count).join('.');
}

function elementName(schema: Schema): string {
  return ELEMENT_NAMES.get(schema.type) ?? goTypeName(schema);
}

/** Types that are decoded through plain ones; as elements of lists and maps they have their own name. */
const ELEMENT_NAMES: ReadonlyMap<Schema['type'], string> = new Map([
  ['time', 'v1.Time'],
  ['microTime', 'v1.MicroTime'],
  ['duration', 'v1.Duration'],
  ['intOrString', 'intstr.IntOrString'],
]);

// Times, durations and int-or-strings are read through the plain types they are written as.
const SCALAR_NAMES = {
  string: 'string',
  int32: 'int32',
  int64: 'int64',
  double: 'float64',
  bool: 'bool',
  bytes: '[]uint8',
  quantity: 'resource.Quantity',
  time: 'string',
  microTime: 'string',
  duration: 'string',
  intOrString: 'int32',
} as const;
