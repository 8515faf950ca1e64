import { admissionregistration, apiextensions } from '#api';
import type { Controller } from '../runtime/controller.ts';
import { KeyedController } from '../runtime/keyed-controller.ts';
import { builtInKinds, definedKinds } from './checked-kinds.ts';
import { reconcilePolicy } from './reconcile.ts';

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
        const kinds = () => [...builtIn, ...definitions.lister.list().flatMap(definedKinds)];
        const status = reconcilePolicy(policies.lister.get({ name: key }), kinds);
        if (status === undefined) return;
        const patch = { metadata: { name: key }, status };
        const policyClient = client.of(admissionregistration.ValidatingAdmissionPolicy);
        await policyClient.apply(patch, { subresource: 'status', fieldManager: NAME, force: true });
      },
    });
    policies.addHandler({ add: (policy) => controller.enqueue(policy), update: (_, policy) => controller.enqueue(policy) });
    return controller;
  },
};
