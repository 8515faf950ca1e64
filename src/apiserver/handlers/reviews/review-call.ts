import type { Soon } from '#base';
import { StatusError } from '#machinery';
import { ANONYMOUS } from '../../authn/user.ts';
import { type KubeObject, withMetadata, withoutMetadata } from '../../registry/kube-object.ts';
import type { ServedResource } from '../../registry/served-resource.ts';
import type { ApiRequest } from '../../request/api-request.ts';
import type { ApiResponse, Handler } from '../../request/api-response.ts';
import { ConvertedObject } from '../../watch-cache/cached-object.ts';
import { decodeBody } from '../decode-body.ts';
import { ownFields } from '../field-ownership.ts';
import { admissionAttributes, type HandlerDeps, type ResourceCall } from '../resource-call.ts';
import { type WriteOptions, writeOptions } from '../write-options.ts';

/** A question to the server, read from a request. */
export interface ReviewCall {
  readonly call: ResourceCall;
  readonly options: WriteOptions;
  /** The question, with its fields owned by who asks. */
  readonly review: KubeObject;
}

/** A handler for kinds that are asked by creating them and answered at once. */
export function reviewHandler(deps: () => HandlerDeps, answer: (call: ReviewCall) => Promise<KubeObject> | KubeObject): Handler {
  return async (request) => {
    const call = callOf(request, deps());
    const asked = await readReview(call);
    return created(call.resource, await answer(asked));
  };
}

function callOf(request: ApiRequest, deps: HandlerDeps): ResourceCall {
  const { info } = request;
  const resource = deps.table.find(info.group, info.version, info.resource)!;
  const namespace = resource.namespaced ? info.namespace : '';
  return { request, resource, deps, subresource: info.subresource, namespace, name: info.name, user: request.user ?? ANONYMOUS };
}

export async function readReview(call: ResourceCall): Promise<ReviewCall> {
  const options = writeOptions(call.request, 'CreateOptions');
  const body = placed(await decodeBody(call, options.fieldValidation), call.namespace);
  return { call, options, review: ownFields(call, { live: undefined, updated: body, options }) };
}

/** In the namespace of the request, which a body must not contradict. */
function placed(review: KubeObject, namespace: string): KubeObject {
  const given = review.metadata?.namespace ?? '';
  if (given === namespace) return review;
  if (given === '') return withMetadata(review, { namespace });
  if (namespace === '') return withoutMetadata(review, 'namespace');
  throw StatusError.badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

/** What admission makes of a question; it may refuse it. */
export async function admitReview({ call, options, review }: ReviewCall): Promise<KubeObject> {
  const request = { operation: 'CREATE', oldObject: undefined, dryRun: options.dryRun, options: options.raw } as const;
  return (await call.deps.admission.admit(admissionAttributes(call, { ...request, object: review }))) as KubeObject;
}

export function validateReview({ call, options, review }: ReviewCall): Soon<void> {
  const request = { operation: 'CREATE', oldObject: undefined, dryRun: options.dryRun, options: options.raw } as const;
  return call.deps.admission.validate(admissionAttributes(call, { ...request, object: review }));
}

export function created(resource: ServedResource, object: KubeObject): ApiResponse {
  return { type: 'object', code: 201, resource, object: new ConvertedObject(object, 0) };
}
