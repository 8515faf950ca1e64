import type { Soon } from '#base';
import { StatusError } from '#machinery';
import { decodeBodyAs, type ExpectedKind } from '../../handlers/decode-body.ts';
import { admissionAttributes, type ResourceCall } from '../../handlers/resource-call.ts';
import { type WriteOptions, writeOptions } from '../../handlers/write-options.ts';
import { type KubeObject, withMetadata } from '../kube-object.ts';

/** What a client posted to a subresource that keeps nothing itself: a wish, admitted. */
export interface PostedObject {
  readonly object: KubeObject;
  readonly options: WriteOptions;
  /** Lets admission look at the wish as it is about to be granted. */
  validate(object: KubeObject): Soon<void>;
}

/** Reads a wish from a request's body, and has it admitted. */
export async function readPosted(call: ResourceCall, expected: ExpectedKind): Promise<PostedObject> {
  const options = writeOptions(call.request, 'CreateOptions');
  const posted = placed((await decodeBodyAs(call.request, expected, options.fieldValidation)) as unknown as KubeObject, call.namespace);
  const name = call.name || posted.metadata.name;
  const request = { operation: 'CREATE', oldObject: undefined, dryRun: options.dryRun, options: options.raw, name } as const;
  const object = (await call.deps.admission.admit(admissionAttributes(call, { ...request, object: posted }))) as KubeObject;
  return {
    object,
    options,
    validate: (final) => call.deps.admission.validate(admissionAttributes(call, { ...request, object: final })),
  };
}

/** In the namespace of the request, which a body must not contradict. */
function placed(object: KubeObject, namespace: string): KubeObject {
  const given = object.metadata.namespace ?? '';
  if (given !== '' && given !== namespace) {
    throw StatusError.badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return withMetadata(object, { namespace });
}
