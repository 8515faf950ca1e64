import { meta } from '#api';
import { pushAll } from '#base';
import { decodeObject, FieldError, isJsonObject, JsonSyntaxError, type JsonValue, Path, parseJson, StatusError } from '#machinery';
import type { DeleteOptions } from '../registry/generic/delete-object.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { JSON_TYPE, mediaTypeOf, parseBody } from '../request/parse-body.ts';
import { queryFlag, queryInteger } from '../request/query-values.ts';
import { BODY_LIMIT, namingError, notRegistered } from './decode-body.ts';
import type { ResourceCall } from './resource-call.ts';
import { dryRunErrors } from './write-options.ts';

const BODY = { kind: 'DeleteOptions', schema: meta.DeleteOptions, custom: false };
const POLICIES = ['Foreground', 'Background', 'Orphan'] as const;

/** From the body if there is one, else from the query. */
export async function deleteOptions(call: ResourceCall): Promise<DeleteOptions> {
  const body = await bodyOf(call.request);
  if (body === undefined) return checkedDeleteOptions(fromQuery(call.request.query));
  const options = fromBody(body);
  call.request.audit?.record?.setRequestObject({ kind: 'DeleteOptions', apiVersion: 'v1', ...options });
  return checkedDeleteOptions(options);
}

async function bodyOf({ body }: ApiRequest): Promise<JsonValue | undefined> {
  if (body.type === 'object') return body.value as JsonValue | undefined;
  const bytes = await body.read(BODY_LIMIT);
  if (bytes.length === 0) return undefined;
  return mediaTypeOf(body.contentType) === JSON_TYPE ? jsonValue(bytes) : parseBody(bytes, body.contentType, BODY).value;
}

function jsonValue(bytes: Buffer): JsonValue {
  try {
    return parseJson(bytes).value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw StatusError.badRequest(`couldn't get version/kind; json parse error: ${error.message}`);
  }
}

/** Throws for contradicting options. */
export function checkedDeleteOptions(options: meta.DeleteOptions): DeleteOptions {
  checkOptions(options);
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions, dryRun } = options;
  return {
    gracePeriodSeconds: gracePeriodSeconds !== undefined && gracePeriodSeconds < 0 ? 1 : gracePeriodSeconds,
    propagationPolicy: propagationPolicy as DeleteOptions['propagationPolicy'],
    orphanDependents,
    uid: preconditions?.uid,
    resourceVersion: preconditions?.resourceVersion,
    dryRun: (dryRun?.length ?? 0) > 0,
    raw: options,
  };
}

function fromBody(sent: JsonValue): meta.DeleteOptions {
  const value = sent ?? {};
  const misnamed = namingError(value);
  if (misnamed !== undefined || !isJsonObject(value)) throw StatusError.badRequest(misnamed ?? '');
  const { kind, apiVersion } = value as { kind?: string; apiVersion?: string };
  if (kind && kind !== 'DeleteOptions') throw StatusError.badRequest(notRegistered(kind, apiVersion || 'v1', OPTION_KINDS));
  const { object, error } = decodeObject(meta.DeleteOptions, value);
  if (error !== undefined) throw StatusError.badRequest(error);
  return object as meta.DeleteOptions;
}

/** Upstream decodes options with a scheme of its own. */
const OPTION_KINDS = 'pkg/apis/meta/internalversion/scheme/register.go:27';

function fromQuery(query: URLSearchParams): meta.DeleteOptions {
  const gracePeriodSeconds = queryInteger(query, 'gracePeriodSeconds');
  const orphanDependents = queryFlag(query, 'orphanDependents');
  const propagationPolicy = query.get('propagationPolicy');
  const dryRun = query.getAll('dryRun');
  return {
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(propagationPolicy !== null && { propagationPolicy }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(dryRun.length > 0 && { dryRun }),
  };
}

function checkOptions({ propagationPolicy, orphanDependents, dryRun }: meta.DeleteOptions): void {
  const errors: FieldError[] = [];
  const path = Path.of('propagationPolicy');
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    errors.push(FieldError.invalid(path, propagationPolicy, 'orphanDependents and deletionPropagation cannot be both set'));
  }
  if (propagationPolicy !== undefined && !(POLICIES as readonly string[]).includes(propagationPolicy)) {
    errors.push(FieldError.notSupported(path, propagationPolicy, [...POLICIES, 'nil']));
  }
  pushAll(errors, dryRunErrors(dryRun ?? []));
  if (errors.length > 0) throw StatusError.invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
}
