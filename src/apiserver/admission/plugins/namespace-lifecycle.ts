import { whenKnown } from '#base';
import { StatusError } from '#machinery';
import type { KubeObject } from '../../registry/kube-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { type PluginDeps, readObject } from './plugin-deps.ts';

const IMMORTAL: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);
const NAMESPACES = { group: '', resource: 'namespaces' };

/** Objects live in namespaces that exist, and come into none that is going away. */
export function namespaceLifecycle(deps: PluginDeps): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    admit: (attributes) => {
      const { operation, resource, namespace } = attributes;
      if (isNamespace(attributes)) {
        if (operation === 'DELETE' && IMMORTAL.has(attributes.name))
          throw StatusError.forbidden(NAMESPACES, attributes.name, 'this namespace may not be deleted');
        return undefined;
      }
      if (!resource.namespaced || operation !== 'CREATE' || isAccessReview(attributes)) return undefined;
      return whenKnown(readObject(deps, NAMESPACES, { namespace: '', name: namespace }), (found) => checkNamespace(attributes, found));
    },
  };
}

function isNamespace({ resource }: AdmissionAttributes): boolean {
  return resource.group === '' && resource.resource === 'namespaces';
}

/** Questions about a namespace may be asked before it exists. */
function isAccessReview({ resource }: AdmissionAttributes): boolean {
  return resource.resource === 'localsubjectaccessreviews';
}

function checkNamespace(attributes: AdmissionAttributes, found: KubeObject | undefined): void {
  const { namespace } = attributes;
  if (found === undefined) throw StatusError.notFound(NAMESPACES, namespace);
  const isTerminating = (found.status as { phase?: string } | undefined)?.phase === 'Terminating';
  if (isTerminating) throw terminating(attributes, namespace);
}

function terminating({ resource, name }: AdmissionAttributes, namespace: string): StatusError {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const { message } = StatusError.forbidden({ group: resource.group, resource: resource.resource }, name, why);
  const causes = [{ reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' }];
  return new StatusError({
    code: 403,
    reason: 'Forbidden',
    message,
    details: { name, group: resource.group, kind: resource.resource, causes },
  });
}
