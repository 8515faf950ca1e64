import { apiextensions } from '#api';
import type { Client } from '#client';
import { formatTime, isStatusReason } from '#machinery';

type Definition = apiextensions.CustomResourceDefinition;

/** The `StorageMigrating` state of a definition. */
export type DefinitionMigration =
  | { readonly state: 'running'; readonly migration: string }
  | { readonly state: 'succeeded' }
  | { readonly state: 'failed' };

interface Place {
  readonly group: string;
  readonly resource: string;
}

const FIELD_MANAGER = 'migration-runner-controller';
const CONDITION = 'StorageMigrating';
const MAX_CONFLICTS = 5;

/**
 * Sets the definition's condition StorageMigrating, and, when all objects have been written again, removes the versions in which none are stored
 * any more. Does nothing for resources without a definition.
 */
export async function markDefinition(
  client: Client,
  { group, resource }: Place,
  change: DefinitionMigration & { now: number },
): Promise<void> {
  const definitions = client.of(apiextensions.CustomResourceDefinition);
  for (let conflicts = 0; ; conflicts++) {
    try {
      const definition = await definitions.get({ name: `${resource}.${group}` });
      await definitions.updateStatus(marked(definition, change), { fieldManager: FIELD_MANAGER });
      return;
    } catch (error) {
      if (isStatusReason(error, 'NotFound')) return;
      if (!isStatusReason(error, 'Conflict') || conflicts === MAX_CONFLICTS) throw error;
    }
  }
}

function marked(definition: Definition, change: DefinitionMigration & { now: number }): Definition {
  const { status, metadata, spec } = definition;
  const conditions = status?.conditions ?? [];
  // A definition that was changed meanwhile may store in another version by now.
  const isSame = conditions.find(({ type }) => type === CONDITION)?.observedGeneration === metadata.generation;
  const storage = (spec.versions ?? []).find((version) => version.storage)?.name;
  const isTrimmed = change.state === 'succeeded' && isSame && storage !== undefined;
  const condition = {
    type: CONDITION,
    ...conditionFields(change, isTrimmed),
    lastTransitionTime: formatTime(change.now),
    observedGeneration: metadata.generation ?? 0,
  };
  const others = conditions.filter(({ type }) => type !== CONDITION);
  return {
    ...definition,
    status: { ...status, conditions: [...others, condition], ...(isTrimmed && { storedVersions: [storage] }) },
  } as Definition;
}

function conditionFields(change: DefinitionMigration, isTrimmed: boolean): { status: string; reason: string; message: string } {
  switch (change.state) {
    case 'running':
      return { status: 'True', reason: 'MigrationRunning', message: `Migration ${change.migration} is running` };
    case 'failed':
      return { status: 'False', reason: 'MigrationFailed', message: 'The migration has failed' };
    case 'succeeded': {
      const versions = isTrimmed
        ? 'and the stored versions have been updated'
        : 'but the stored versions have not been updated due to a generation mismatch';
      return { status: 'False', reason: 'MigrationSucceeded', message: `The migration has succeeded ${versions}` };
    }
  }
}
