import { core } from '#api';
import { goQuote, type ObjectSchema, type Schema, StatusError } from '#machinery';

/** The query options of connect subresources. */
export const CONNECT_OPTIONS: ReadonlyMap<string, ObjectSchema> = new Map<string, ObjectSchema>([
  ['PodExecOptions', core.PodExecOptions],
  ['PodAttachOptions', core.PodAttachOptions],
  ['PodPortForwardOptions', core.PodPortForwardOptions],
  ['PodProxyOptions', core.PodProxyOptions],
  ['ServiceProxyOptions', core.ServiceProxyOptions],
  ['NodeProxyOptions', core.NodeProxyOptions],
]);

/** The options object that admission sees: typed as its kind says, since webhooks decode it strictly. */
export function connectOptions(kind: string, query: URLSearchParams): Record<string, unknown> {
  const options: Record<string, unknown> = { kind, apiVersion: 'v1' };
  for (const { name, schema, presence } of CONNECT_OPTIONS.get(kind)!.fields) {
    if (name === 'kind' || name === 'apiVersion') continue;
    if (query.has(name)) options[name] = decode(schema, query.getAll(name));
    else if (presence === 'always') options[name] = null;
  }
  return options;
}

function decode(schema: Schema, values: readonly string[]): unknown {
  if (schema.type === 'list') return values.map((value) => decode(schema.items, [value]));
  const [first = ''] = values;
  if (schema.type === 'bool') return first !== '0' && first.toLowerCase() !== 'false';
  if (schema.type !== 'int32') return first;
  if (!/^[+-]?\d{1,10}$/.test(first)) throw StatusError.badRequest(`strconv.ParseInt: parsing ${goQuote(first)}: invalid syntax`);
  return Number(first);
}
