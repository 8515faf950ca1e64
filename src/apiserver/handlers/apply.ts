import { type MaybePromise, runInTurns, TurnBudget } from '#base';
import {
  applySteps,
  configurationName,
  conversionFailure,
  encodeJson,
  formatTime,
  goJsonKind,
  isJsonObject,
  type JsonObject,
  restoreError,
  StatusError,
  type VersionLookup,
  type YamlDocument,
  YamlError,
  yamlSteps,
} from '#machinery';
import { STEP_MS } from '../registry/generic/object-write.ts';
import type { StoredResource } from '../registry/generic/served-resource.ts';
import { updateObject } from '../registry/generic/update-object.ts';
import { warn } from '../request/api-request.ts';
import { queryFlag } from '../request/query-values.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';
import type { ApiResponse } from './api-response.ts';
import { createOnUpdate } from './create.ts';
import { BODY_LIMIT, decodeBounded } from './decode-body.ts';
import { acrossVersions, writtenFields } from './field-ownership.ts';
import { objectWrite } from './object-write.ts';
import { groupResource, type ResourceCall } from './resource-call.ts';
import { withRequestIdentity } from './update.ts';
import type { WriteOptions } from './write-options.ts';

/** Server-side apply: merges the manager's configuration, or reports conflicts. */
export async function applyObject(call: ResourceCall, options: WriteOptions): Promise<ApiResponse> {
  const { resource, subresource, deps } = call;
  const turn = new TurnBudget(deps.clock, STEP_MS);
  const applied = await appliedConfig(call, options);
  call.request.audit?.record?.setRequestObject(applied);
  if (turn.isSpent) await turn.next();
  const create = async () => {
    checkNoUid(call, applied);
    const object = await merged(call, { live: undefined, applied, options });
    if (turn.isSpent) await turn.next();
    return createOnUpdate(call, object, options);
  };
  const { object, created } = await updateObject(objectWrite(call), {
    options,
    compute: (live) => merged(call, { live, applied, options }),
    ...(subresource === '' && { create }),
  });
  return { type: 'object', code: created ? 201 : 200, resource, object };
}

export async function appliedConfig(call: ResourceCall, { fieldValidation }: WriteOptions): Promise<JsonObject> {
  const { body } = call.request;
  if (body.type === 'object') return body.value as JsonObject;
  const { value, problems } = await runInTurns(yamlConfig(await body.read(BODY_LIMIT)), call.deps.clock);
  if (problems.length > 0 && fieldValidation === 'Strict') {
    throw StatusError.badRequest(
      `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${problems.join('\n  ')}`,
    );
  }
  if (fieldValidation === 'Warn') for (const problem of problems) warn(call.request, problem);
  if (value === null) return {};
  if (isJsonObject(value)) return value;
  const detail = `json: cannot unmarshal ${goJsonKind(value)} into Go value of type map[string]interface {}`;
  throw StatusError.badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${detail}`);
}

function* yamlConfig(bytes: Buffer): Generator<void, YamlDocument> {
  try {
    return yield* yamlSteps(bytes);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw StatusError.badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
  }
}

interface ApplyRequest {
  readonly live: KubeObject | undefined;
  readonly applied: JsonObject;
  readonly options: WriteOptions;
}

async function merged(call: ResourceCall, apply: ApplyRequest): Promise<KubeObject> {
  const { resource, deps } = call;
  const { live, applied } = apply;
  const turn = new TurnBudget(deps.clock, STEP_MS);
  const object = await acrossVersions(call, (versions) => patched(versions, call, apply));
  if (object === (live as unknown)) return live!;
  call.request.document = object;
  if (turn.isSpent) await turn.next();
  const unconverted = resource.conversionError?.(object);
  if (unconverted !== undefined)
    throw new Error(`failed to convert to unversioned (${configurationName(resource, applied)}): ${unconverted}`);
  // Custom resources keep nulls for validation; built-in kinds have none.
  const converted = resource.custom ? object : convertedObject(resource, object, applied);
  if (turn.isSpent) await turn.next();
  const placed = withRequestIdentity(converted as unknown as KubeObject, call);
  return resource.strategy.defaults?.(placed) ?? placed;
}

function patched(
  versions: VersionLookup | undefined,
  call: ResourceCall,
  { live, applied, options }: ApplyRequest,
): MaybePromise<JsonObject> {
  const { resource, subresource, request, deps } = call;
  const steps = applySteps({
    schema: resource.schema,
    kind: resource,
    live,
    applied,
    manager: options.fieldManager,
    force: queryFlag(request.query, 'force') ?? false,
    subresource,
    now: formatTime(deps.clock.now()),
    versions,
    ...writtenFields(call),
  });
  return runInTurns(steps, deps.clock);
}

function convertedObject(resource: StoredResource, object: JsonObject, applied: JsonObject): JsonObject {
  const decoded = resource.decode?.(object) ?? decodeBounded(resource.schema, object);
  if (decoded.error === undefined) return decoded.object;
  throw conversionFailure(resource, applied, restoreError(resource.schema, object) ?? decoded.error);
}

/** A uid in the body is a precondition: 409 if the object is absent. */
function checkNoUid(call: ResourceCall, { metadata }: JsonObject): void {
  const uid = isJsonObject(metadata) ? metadata.uid : undefined;
  if (!uid) return;
  const text = typeof uid === 'string' ? uid : encodeJson(uid);
  const detail = `uid mismatch: the provided object specified uid ${text}, and no existing object was found`;
  throw StatusError.conflict(groupResource(call), call.name, detail);
}
