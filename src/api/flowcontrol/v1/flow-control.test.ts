import { describe, expect, test } from 'vitest';
import { flowSchemaBehaviour } from './flow-schema.behaviour.ts';
import type { FlowSchemaSpec } from './flow-schema.ts';
import { MANDATORY_FLOW_SCHEMAS } from './mandatory.ts';
import { priorityLevelConfigurationBehaviour } from './priority-level-configuration.behaviour.ts';
import type { PriorityLevelConfigurationSpec } from './priority-level-configuration.ts';

const schemas = flowSchemaBehaviour as Required<typeof flowSchemaBehaviour>;
const levels = priorityLevelConfigurationBehaviour as Required<typeof priorityLevelConfigurationBehaviour>;
const SUBJECTS = [{ kind: 'Group', group: { name: 'g' } }];
const RULE = { subjects: SUBJECTS, nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }] };
const SPEC: FlowSchemaSpec = { priorityLevelConfiguration: { name: 'l' }, matchingPrecedence: 500, rules: [RULE] };

describe('a flow schema', () => {
  const schema = (spec: Partial<FlowSchemaSpec>, name = 'a') => schemas.defaults({ metadata: { name }, spec: { ...SPEC, ...spec } });

  test('comes after those that are more exact, unless told', () => {
    expect(
      schemas.defaults({ metadata: { name: 'a' }, spec: { priorityLevelConfiguration: { name: 'l' } } }).spec?.matchingPrecedence,
    ).toBe(1000);
  });

  test.each<[string, Partial<FlowSchemaSpec>, readonly string[]]>([
    ['that is complete', {}, []],
    [
      'of no level',
      { priorityLevelConfiguration: { name: '' } },
      ['spec.priorityLevelConfiguration.name: Required value: must reference a priority level'],
    ],
    [
      'of a bad precedence',
      { matchingPrecedence: 10_001 },
      ['spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000'],
    ],
    [
      'of the first precedence, which is taken',
      { matchingPrecedence: 1 },
      ["spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1"],
    ],
    [
      'of an unknown way to tell flows apart',
      { distinguisherMethod: { type: 'ByMood' } },
      ['spec.distinguisherMethod.type: Unsupported value: {"Type":"ByMood"}: supported values: "ByNamespace", "ByUser"'],
    ],
    [
      'for nobody',
      { rules: [{ subjects: [], nonResourceRules: RULE.nonResourceRules }] },
      ['spec.rules[0].subjects: Required value: subjects must contain at least one value'],
    ],
    [
      'for odd subjects',
      {
        rules: [
          {
            ...RULE,
            subjects: [{ kind: 'User' }, { kind: 'Robot' }, { kind: 'ServiceAccount', serviceAccount: { name: '', namespace: '' } }],
          },
        ],
      },
      [
        "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
        'spec.rules[0].subjects[1].kind: Unsupported value: "Robot": supported values: "Group", "ServiceAccount", "User"',
        'spec.rules[0].subjects[2].serviceAccount.name: Required value',
        'spec.rules[0].subjects[2].serviceAccount.namespace: Required value: must specify namespace for service account',
      ],
    ],
    [
      'for nothing',
      { rules: [{ subjects: SUBJECTS }] },
      ['spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty'],
    ],
    [
      'for odd requests',
      {
        rules: [
          {
            subjects: SUBJECTS,
            resourceRules: [{ verbs: ['*', 'get'], apiGroups: [], resources: ['*', 'a'] }],
            nonResourceRules: [{ verbs: ['fly'], nonResourceURLs: ['x', '/a*'] }],
          },
        ],
      },
      [
        'spec.rules[0].resourceRules[0].verbs: Invalid value: ["*","get"]: if \'*\' is present, must not specify other verbs',
        'spec.rules[0].resourceRules[0].apiGroups: Required value: resource rules must supply at least one api group',
        'spec.rules[0].resourceRules[0].resources: Invalid value: ["*","a"]: if \'*\' is present, must not specify other resources',
        'spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace',
        'spec.rules[0].nonResourceRules[0].verbs: Unsupported value: ["fly"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"',
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "x": must start with slash',
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: "/a*": wildcard can only do suffix matching',
      ],
    ],
  ])('%s', (_, spec, errors) => {
    expect(schemas.validate(schema(spec)).map(String)).toEqual(errors);
  });

  test('that is mandatory cannot be another', () => {
    const spec = MANDATORY_FLOW_SCHEMAS.get('exempt') as FlowSchemaSpec;
    expect(schemas.validate(schema(spec, 'exempt')).map(String)).toEqual([]);
    expect(schemas.validate(schema({}, 'exempt')).map(String)[0]).toContain("spec of 'exempt' must equal the fixed value");
  });

  test('prints its level, and whether the level is missing', () => {
    const status = { conditions: [{ type: 'Dangling', status: 'True' }] };
    expect(schemas.table.cells({ ...schema({ distinguisherMethod: { type: 'ByUser' } }), status }, 0)).toEqual([
      'a',
      'l',
      500,
      'ByUser',
      '<unknown>',
      'True',
    ]);
  });
});

describe('a priority level', () => {
  const level = (spec: PriorityLevelConfigurationSpec) => levels.defaults({ metadata: { name: 'a' }, spec });
  const limited = (parts: object) => ({ type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: {} }, ...parts } });

  test('has shares and queues unless told', () => {
    expect(level(limited({})).spec).toEqual({
      type: 'Limited',
      limited: {
        limitResponse: { type: 'Queue', queuing: { handSize: 8, queues: 64, queueLengthLimit: 50 } },
        nominalConcurrencyShares: 30,
        lendablePercent: 0,
      },
    });
    expect(level({ type: 'Exempt' }).spec).toEqual({ type: 'Exempt' });
  });

  test.each<[string, PriorityLevelConfigurationSpec, readonly string[]]>([
    ['that queues', limited({}), []],
    ['that rejects', limited({ limitResponse: { type: 'Reject' } }), []],
    [
      'that rejects into queues',
      limited({ limitResponse: { type: 'Reject', queuing: { queues: 1 } } }),
      ['spec.limited.limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited'],
    ],
    [
      'that does something else',
      limited({ limitResponse: { type: 'Shrug' } }),
      ['spec.limited.limitResponse.type: Unsupported value: "Shrug": supported values: "Queue", "Reject"'],
    ],
    ['of an unknown type', { type: 'Odd' }, ['spec.type: Unsupported value: "Odd": supported values: "Exempt", "Limited"']],
    [
      'that is exempt and limited',
      { type: 'Exempt', limited: {} },
      [
        "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'",
        'spec.limited: Forbidden: must be nil if the type is not Limited',
      ],
    ],
    ['without limits', { type: 'Limited' }, ['spec.limited: Required value: must not be empty when type is Limited']],
    [
      'with bad numbers',
      limited({ nominalConcurrencyShares: -1, lendablePercent: 101, borrowingLimitPercent: -1 }),
      [
        'spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer',
        'spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive',
        'spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer',
      ],
    ],
    [
      'with bad queues',
      limited({ limitResponse: { type: 'Queue', queuing: { queues: 8, handSize: 9, queueLengthLimit: -1 } } }),
      [
        'spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be positive',
        'spec.limited.limitResponse.queuing.handSize: Invalid value: 9: should not be greater than queues (8)',
      ],
    ],
    [
      'with a hand that is too large to deal',
      limited({ limitResponse: { type: 'Queue', queuing: { queues: 512, handSize: 8, queueLengthLimit: 1 } } }),
      [
        'spec.limited.limitResponse.queuing.handSize: Invalid value: 8: required entropy bits of deckSize 512 and handSize 8 should not be greater than 60',
      ],
    ],
  ])('%s', (_, spec, errors) => {
    expect(levels.validate(level(spec)).map(String)).toEqual(errors);
  });

  test('prints its numbers', () => {
    expect(levels.table.cells(level(limited({})), 0)).toEqual(['a', 'Limited', 30, 64, 8, 50, '<unknown>']);
    expect(levels.table.cells(level({ type: 'Exempt' }), 0)).toEqual(['a', 'Exempt', '<none>', '<none>', '<none>', '<none>', '<unknown>']);
  });
});
