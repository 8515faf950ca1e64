import type { FlowSchemaSpec } from './flow-schema.ts';
import type { PriorityLevelConfigurationSpec } from './priority-level-configuration.ts';

/** Mandatory flow control objects: `exempt` and `catch-all`. */
const EVERYTHING = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};
const groupSubject = (name: string) => ({ kind: 'Group', group: { name } });

export const MANDATORY_FLOW_SCHEMAS: ReadonlyMap<string, FlowSchemaSpec> = new Map<string, FlowSchemaSpec>([
  [
    'exempt',
    {
      priorityLevelConfiguration: { name: 'exempt' },
      matchingPrecedence: 1,
      rules: [{ subjects: [groupSubject('system:masters')], ...EVERYTHING }],
    },
  ],
  [
    'catch-all',
    {
      priorityLevelConfiguration: { name: 'catch-all' },
      matchingPrecedence: 10_000,
      distinguisherMethod: { type: 'ByUser' },
      rules: [{ subjects: [groupSubject('system:unauthenticated'), groupSubject('system:authenticated')], ...EVERYTHING }],
    },
  ],
]);

export const MANDATORY_PRIORITY_LEVELS: ReadonlyMap<string, PriorityLevelConfigurationSpec> = new Map<
  string,
  PriorityLevelConfigurationSpec
>([
  ['exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }],
  ['catch-all', { type: 'Limited', limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } } }],
]);
