import type { MaybePromise } from '#base';
import { StatusError } from '#machinery';
import type { ServedResource } from '../../registry/generic/served-resource.ts';
import { type KubeObject, withMetadata } from '../../watch-cache/kube-object.ts';
import { decodeBodyAs, type ExpectedKind } from '../decode-body.ts';
import { admissionAttributes, type ResourceCall } from '../resource-call.ts';
import { type WriteOptions, writeOptions } from '../write-options.ts';

/** A posted object that is not stored, such as a Binding, after mutating admission. */
export interface PostedObject {
  readonly object: KubeObject;
  readonly options: WriteOptions;
  /** Runs validating admission. */
  validate(object: KubeObject): MaybePromise<void>;
}

/** Decodes the body and runs mutating admission. */
export async function readPostedObject(call: ResourceCall<ServedResource>, expected: ExpectedKind): Promise<PostedObject> {
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
  const bodyNamespace = object.metadata.namespace ?? '';
  if (bodyNamespace !== '' && bodyNamespace !== namespace) {
    throw StatusError.badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return withMetadata(object, { namespace });
}
