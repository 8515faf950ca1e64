import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  decodeJsonPatch,
  decodeMergePatch,
  FieldError,
  type JsonObject,
  JsonPatchError,
  JsonSyntaxError,
  type JsonValue,
  Path,
  parseJson,
  patchRejected,
  StatusError,
} from '#machinery';
import type { KubeObject } from '../registry/kube-object.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { mediaTypeOf } from '../request/parse-body.ts';
import { applyObject } from './apply.ts';
import { checkedDecode } from './decode-body.ts';
import { ownFields } from './field-ownership.ts';
import type { ResourceCall } from './resource-call.ts';
import { checkName } from './update.ts';
import { updateObject } from './update-object.ts';
import { type WriteOptions, writeOptions } from './write-options.ts';

export const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

const BODY_LIMIT = 3 * 1024 * 1024;

export async function handlePatch(call: ResourceCall): Promise<ApiResponse> {
  const { resource, request } = call;
  const type = patchType(call);
  const options = writeOptions(request, 'PatchOptions');
  refuseForce(request.query, options, type);
  if (type === PATCH_TYPES.apply) return applyObject(call, options);
  const patch = await patchBody(call);
  const { object } = await updateObject(call, {
    options,
    compute: (live) => ownFields(call, { live, updated: patched(call, { live, patch, type, options }), options }),
  });
  return { type: 'object', code: 200, resource, object };
}

function patchType({ request, resource }: ResourceCall): string {
  const type = mediaTypeOf(request.body.contentType);
  const supported = resource.custom
    ? [PATCH_TYPES.json, PATCH_TYPES.merge, PATCH_TYPES.apply]
    : [PATCH_TYPES.json, PATCH_TYPES.merge, PATCH_TYPES.strategic, PATCH_TYPES.apply];
  if ((supported as readonly string[]).includes(type)) return type;
  throw StatusError.unsupportedMediaType(supported);
}

function refuseForce(query: URLSearchParams, options: WriteOptions, type: string): void {
  const errors: FieldError[] = [];
  if (type === PATCH_TYPES.apply) {
    if (!query.get('fieldManager')) errors.push(FieldError.required(Path.of('fieldManager'), 'is required for apply patch'));
  } else if (query.get('force')) {
    errors.push(FieldError.forbidden(Path.of('force'), 'may not be specified for non-apply patch'));
  }
  if (errors.length > 0) throw StatusError.invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', errors);
}

async function patchBody({ request }: ResourceCall): Promise<JsonValue> {
  const { body } = request;
  if (body.type === 'object') return body.value as JsonValue;
  try {
    return parseJson(await body.read(BODY_LIMIT)).value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw StatusError.badRequest(`error decoding patch: ${error.message}`);
  }
}

interface Patching {
  readonly live: KubeObject;
  readonly patch: JsonValue;
  readonly type: string;
  readonly options: WriteOptions;
}

function patched(call: ResourceCall, { live, patch, type, options }: Patching): KubeObject {
  const { resource, request, name } = call;
  const value = applyPatchOf(type, { live: live as unknown as JsonObject, patch, call });
  const decoded = checkedDecode(
    { request, expected: resource, validation: options.fieldValidation, duplicates: [] },
    value,
  ) as unknown as KubeObject;
  if (decoded.metadata.name !== undefined) checkName(decoded.metadata.name, name);
  return resource.strategy.defaults?.(decoded) ?? decoded;
}

function applyPatchOf(type: string, { live, patch, call }: { live: JsonObject; patch: JsonValue; call: ResourceCall }): JsonValue {
  if (type === PATCH_TYPES.json) return jsonPatched(live, patch);
  if (type === PATCH_TYPES.merge) return applyMergePatch(live, decodeMergePatch(patch));
  return applyStrategicMergePatch(live, decodeMergePatch(patch), call.resource.schema);
}

function jsonPatched(live: JsonObject, patch: JsonValue): JsonValue {
  try {
    return applyJsonPatch(live, decodeJsonPatch(patch).operations);
  } catch (error) {
    throw error instanceof JsonPatchError ? patchRejected(error) : error;
  }
}
