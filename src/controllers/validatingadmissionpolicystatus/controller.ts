import { admissionregistration } from '#api';
import type { Controller } from '../runtime/controller.ts';
import { KeyedController } from '../runtime/keyed-controller.ts';
import { checkTypes } from './check-types.ts';

/** Tells in the status of each policy what its expressions get wrong about the kinds that they are for. */
export const validatingAdmissionPolicyStatusController: Controller = {
  name: 'validatingadmissionpolicy-status-controller',
  aliases: ['validatingadmissionpolicy-status'],
  enabledByDefault: true,
  start(context) {
    const { informers, client } = context;
    const policies = informers.of(admissionregistration.ValidatingAdmissionPolicy);
    const controller = new KeyedController(context, {
      name: 'validatingadmissionpolicy-status',
      async sync(key) {
        const policy = policies.lister.get({ name: key });
        const generation = policy?.metadata.generation ?? 0;
        if (policy === undefined || policy.status?.observedGeneration === generation) return;
        const expressionWarnings = checkTypes(policy);
        const typeChecking = expressionWarnings.length === 0 ? {} : { expressionWarnings };
        const status = { ...policy.status, observedGeneration: generation, typeChecking };
        await client.of(admissionregistration.ValidatingAdmissionPolicy).updateStatus({ ...policy, status });
      },
    });
    policies.addHandler({ add: (policy) => controller.enqueue(policy), update: (_, policy) => controller.enqueue(policy) });
    return controller;
  },
};
