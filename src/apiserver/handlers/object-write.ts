import type { ObjectWrite } from '../registry/generic/object-write.ts';
import { warn } from '../request/api-request.ts';
import { admissionAttributes, type ResourceCall } from './resource-call.ts';

/** The requested write, with the server's admission chain. */
export function objectWrite(call: ResourceCall): ObjectWrite {
  const { resource, subresource, namespace, name, user, deps } = call;
  return {
    resource,
    subresource,
    namespace,
    name,
    user,
    clock: deps.clock,
    random: deps.random,
    document: () => call.request.document,
    warn: (message) => warn(call.request, message),
    admit: (request) => deps.admission.admit(admissionAttributes(call, request)),
    validate: (request) => deps.admission.validate(admissionAttributes(call, request)),
  };
}
