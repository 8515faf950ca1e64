import type { apps } from '#api';
import type { EventText } from '#client';
import { parseRevision, ROLLBACK_TO } from './annotations.ts';
import { sameTemplate, withoutHash } from './replica-sets.ts';
import { lastRevision, revisionOf, rolledBackAnnotations } from './revision.ts';

export interface Rollback {
  readonly event: EventText | undefined;
  /** The deployment with the old template and without the rollback annotation. */
  readonly rolledBack: apps.Deployment;
}

/** Handles the rollback annotation. Revision 0 is the previous one. */
export function planRollback(deployment: apps.Deployment, sets: readonly apps.ReplicaSet[]): Rollback {
  const target = parseRevision(deployment.metadata.annotations?.[ROLLBACK_TO]) ?? 0n;
  const revision = target === 0n ? lastRevision(sets) : target;
  if (revision === 0n) return rollbackFailure(deployment, 'DeploymentRollbackRevisionNotFound', 'Unable to find last revision.');
  const set = sets.find((candidate) => revisionOf(candidate) === revision);
  if (set === undefined) {
    return rollbackFailure(deployment, 'DeploymentRollbackRevisionNotFound', 'Unable to find the revision to rollback to.');
  }
  const { name } = deployment.metadata;
  if (sameTemplate(deployment.spec?.template, set.spec?.template)) {
    const message = `The rollback revision contains the same template as current deployment "${name}"`;
    return rollbackFailure(deployment, 'DeploymentRollbackTemplateUnchanged', message);
  }
  const message = `Rolled back deployment "${name}" to revision ${revision}`;
  const rolledBack = {
    ...deployment,
    metadata: { ...deployment.metadata, annotations: rolledBackAnnotations(deployment, set) },
    spec: { ...deployment.spec!, template: withoutHash(set.spec?.template) },
  };
  return { event: { type: 'Normal', reason: 'DeploymentRollback', message }, rolledBack: withoutRollbackAnnotation(rolledBack) };
}

function rollbackFailure(deployment: apps.Deployment, reason: string, message: string): Rollback {
  return { event: { type: 'Warning', reason, message }, rolledBack: withoutRollbackAnnotation(deployment) };
}

function withoutRollbackAnnotation(deployment: apps.Deployment): apps.Deployment {
  const { [ROLLBACK_TO]: _, ...annotations } = deployment.metadata.annotations ?? {};
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
}
