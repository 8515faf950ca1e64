import { applyPatch, formatTime, isJsonObject, type JsonObject, StatusError } from '#machinery';
import { type KubeObject, withMetadata } from '../registry/kube-object.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { parseBody, YAML_TYPE } from '../request/parse-body.ts';
import { createObject } from './create.ts';
import { checkedDecode } from './decode-body.ts';
import { writtenFields } from './field-ownership.ts';
import type { ResourceCall } from './resource-call.ts';
import { checkName } from './update.ts';
import { updateObject } from './update-object.ts';
import type { WriteOptions } from './write-options.ts';

const BODY_LIMIT = 3 * 1024 * 1024;

/** Server-side apply: merges what the manager wants with what others own, or names the conflict. */
export async function applyObject(call: ResourceCall, options: WriteOptions): Promise<ApiResponse> {
  const { resource, subresource } = call;
  const applied = await appliedConfig(call);
  const create = () => createObject(call, withPlace(merged(call, { live: undefined, applied, options }), call), options);
  const { object, created } = await updateObject(call, {
    options,
    compute: (live) => merged(call, { live, applied, options }),
    ...(subresource === '' && { create }),
  });
  return { type: 'object', code: created ? 201 : 200, resource, object };
}

async function appliedConfig({ request, resource, name }: ResourceCall): Promise<JsonObject> {
  const { body } = request;
  const value = body.type === 'object' ? body.value : parseBody(await body.read(BODY_LIMIT), YAML_TYPE, resource).value;
  if (!isJsonObject(value)) throw StatusError.badRequest('error decoding YAML: the configuration must be an object');
  const given = isJsonObject(value.metadata) ? value.metadata.name : undefined;
  if (typeof given === 'string' && given !== '') checkName(given, name);
  return value;
}

interface Applying {
  readonly live: KubeObject | undefined;
  readonly applied: JsonObject;
  readonly options: WriteOptions;
}

function merged(call: ResourceCall, { live, applied, options }: Applying): KubeObject {
  const { resource, subresource, request, deps } = call;
  const object = applyPatch({
    schema: resource.schema,
    kind: resource,
    live,
    applied,
    manager: options.fieldManager,
    force: request.query.get('force') === 'true',
    subresource,
    now: formatTime(deps.clock.now()),
    ...writtenFields(call),
  });
  if (object === (live as unknown)) return live!;
  const decoded = checkedDecode({ request, expected: resource, validation: 'Ignore', duplicates: [] }, object) as unknown as KubeObject;
  return resource.strategy.defaults?.(decoded) ?? decoded;
}

function withPlace(object: KubeObject, { resource, namespace, name }: ResourceCall): KubeObject {
  return withMetadata(object, resource.namespaced ? { name, namespace } : { name });
}
