import { core } from '#api';
import type { Client } from '#client';
import { isStatusReason, StatusError } from '#machinery';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { type PluginDeps, pluginForbiddenError, readObject } from './plugin-deps.ts';

const NAMESPACES = { group: '', resource: 'namespaces' };

/** Rejects every change in a namespace that does not exist; NamespaceLifecycle rejects only creations. */
export function namespaceExists(deps: PluginDeps): AdmissionPlugin {
  return {
    name: 'NamespaceExists',
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    validate: async (attributes) => {
      if (await isNamespaceMissing(attributes, deps)) throw StatusError.notFound(NAMESPACES, attributes.namespace);
    },
  };
}

/** Creates the namespace of an object that is created in one that does not exist. */
export function namespaceAutoProvision(deps: PluginDeps & { readonly client: () => Client }): AdmissionPlugin {
  return {
    name: 'NamespaceAutoProvision',
    operations: ['CREATE'],
    admit: async (attributes) => {
      if (attributes.dryRun || !(await isNamespaceMissing(attributes, deps))) return;
      try {
        await deps
          .client()
          .of(core.Namespace)
          .create({ metadata: { name: attributes.namespace } });
      } catch (error) {
        if (!isStatusReason(error, 'AlreadyExists')) throw pluginForbiddenError(attributes, (error as Error).message);
      }
    },
  };
}

async function isNamespaceMissing({ resource, namespace }: AdmissionAttributes, deps: PluginDeps): Promise<boolean> {
  const isNamespace = resource.group === '' && resource.kind === 'Namespace';
  if (namespace === '' || isNamespace || !resource.namespaced) return false;
  return (await readObject(deps, NAMESPACES, { namespace: '', name: namespace })) === undefined;
}
