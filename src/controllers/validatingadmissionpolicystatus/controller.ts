import { admissionregistration, apiextensions } from '#api';
import type { Controller } from '../runtime/controller.ts';
import { KeyedController } from '../runtime/keyed-controller.ts';
import { checkTypes } from './check-types.ts';
import { builtInKinds, definedKinds } from './checked-kinds.ts';

const NAME = 'validatingadmissionpolicy-status';

/** Writes type-checking warnings to the status of each policy. */
export const validatingAdmissionPolicyStatusController: Controller = {
  name: 'validatingadmissionpolicy-status-controller',
  aliases: [NAME],
  enabledByDefault: true,
  start(context) {
    const { informers, client } = context;
    const policies = informers.of(admissionregistration.ValidatingAdmissionPolicy);
    const definitions = informers.of(apiextensions.CustomResourceDefinition);
    const builtIn = builtInKinds();
    const controller = new KeyedController(context, {
      name: NAME,
      objects: policies.lister,
      async sync(key) {
        const policy = policies.lister.get({ name: key });
        const observedGeneration = policy?.metadata.generation ?? 0;
        if (policy === undefined || observedGeneration <= (policy.status?.observedGeneration ?? 0)) return;
        const expressionWarnings = checkTypes(policy, [...builtIn, ...definitions.lister.list().flatMap(definedKinds)]);
        const typeChecking = expressionWarnings.length === 0 ? {} : { expressionWarnings };
        const patch = { metadata: { name: key }, status: { observedGeneration, typeChecking } };
        const policyClient = client.of(admissionregistration.ValidatingAdmissionPolicy);
        await policyClient.apply(patch, { subresource: 'status', fieldManager: NAME, force: true });
      },
    });
    policies.addHandler({ add: (policy) => controller.enqueue(policy), update: (_, policy) => controller.enqueue(policy) });
    return controller;
  },
};
