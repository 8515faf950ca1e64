import { mapMaybePromise } from '#base';
import { StatusError } from '#machinery';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { type PluginDeps, pluginForbiddenError, readObject } from './plugin-deps.ts';

const IMMORTAL: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);
const NAMESPACES = { group: '', resource: 'namespaces' };

/** Rejects writes into namespaces that do not exist, and creations in terminating ones. */
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
      return mapMaybePromise(readObject(deps, NAMESPACES, { namespace: '', name: namespace }), (object) =>
        checkNamespace(attributes, object),
      );
    },
  };
}

function isNamespace({ resource }: AdmissionAttributes): boolean {
  return resource.group === '' && resource.resource === 'namespaces';
}

/** Access reviews may name a namespace that does not exist yet. */
function isAccessReview({ resource }: AdmissionAttributes): boolean {
  return resource.resource === 'localsubjectaccessreviews';
}

function checkNamespace(attributes: AdmissionAttributes, object: KubeObject | undefined): void {
  const { namespace } = attributes;
  if (object === undefined) throw StatusError.notFound(NAMESPACES, namespace);
  const isTerminating = (object.status as { phase?: string } | undefined)?.phase === 'Terminating';
  if (isTerminating) throw terminating(attributes, namespace);
}

function terminating(attributes: AdmissionAttributes, namespace: string): StatusError {
  const detail = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const { message, details } = pluginForbiddenError(attributes, detail);
  const causes = [{ reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' }];
  return new StatusError({
    code: 403,
    reason: 'Forbidden',
    message,
    details: { ...details, causes },
  });
}
