import type { MaybePromise } from '#base';
import { StatusError } from '#machinery';
import type { ServedResource } from '../../registry/generic/served-resource.ts';
import { ConvertedObject } from '../../watch-cache/cached-object.ts';
import { type KubeObject, withMetadata, withoutMetadata } from '../../watch-cache/kube-object.ts';
import type { ApiResponse } from '../api-response.ts';
import { decodeBody } from '../decode-body.ts';
import { trackFieldOwnership } from '../field-ownership.ts';
import type { VerbHandler } from '../handler-table.ts';
import { admissionAttributes, type ResourceCall } from '../resource-call.ts';
import { type WriteOptions, writeOptions } from '../write-options.ts';

/** A question to the server, read from a request. */
export interface ReviewCall {
  readonly call: ResourceCall<ServedResource>;
  readonly options: WriteOptions;
  /** The review, with managedFields set. */
  readonly review: KubeObject;
}

/** A handler for kinds that are created to ask a question and never stored. */
export function reviewHandler(answer: (call: ReviewCall) => Promise<KubeObject> | KubeObject): VerbHandler {
  return async (call) => createdResponse(call.resource, await answer(await readReview(call)));
}

export async function readReview(call: ResourceCall<ServedResource>): Promise<ReviewCall> {
  const options = writeOptions(call.request, 'CreateOptions');
  const body = placed(await decodeBody(call, options.fieldValidation), call.namespace);
  return { call, options, review: await trackFieldOwnership(call, { live: undefined, updated: body, options }) };
}

/** In the namespace of the request, which a body must not contradict. */
function placed(review: KubeObject, namespace: string): KubeObject {
  const bodyNamespace = review.metadata?.namespace ?? '';
  if (bodyNamespace === namespace) return review;
  if (bodyNamespace === '') return withMetadata(review, { namespace });
  if (namespace === '') return withoutMetadata(review, 'namespace');
  throw StatusError.badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

/** The review as admission changed it. */
export async function admitReview({ call, options, review }: ReviewCall): Promise<KubeObject> {
  const request = { operation: 'CREATE', oldObject: undefined, dryRun: options.dryRun, options: options.raw } as const;
  return (await call.deps.admission.admit(admissionAttributes(call, { ...request, object: review }))) as KubeObject;
}

export function validateReview({ call, options, review }: ReviewCall): MaybePromise<void> {
  const request = { operation: 'CREATE', oldObject: undefined, dryRun: options.dryRun, options: options.raw } as const;
  return call.deps.admission.validate(admissionAttributes(call, { ...request, object: review }));
}

export function createdResponse(resource: ServedResource, object: KubeObject): ApiResponse {
  return { type: 'object', code: 201, resource, object: new ConvertedObject(object, 0) };
}
