import { describe, expect, test } from 'vitest';
import { limitRangeBehaviour } from '../limit-range/limit-range.behaviour.ts';
import type { LimitRangeItem } from '../limit-range/limit-range.ts';
import { resourceQuotaBehaviour } from './resource-quota.behaviour.ts';
import type { ResourceQuota, ResourceQuotaSpec } from './resource-quota.ts';

const quotas = resourceQuotaBehaviour as Required<typeof resourceQuotaBehaviour>;
const limits = limitRangeBehaviour as Required<typeof limitRangeBehaviour>;
const metadata = { name: 'a', namespace: 'ns' };
const quota = (spec: ResourceQuotaSpec): ResourceQuota => quotas.defaults({ metadata, spec });

describe('a quota', () => {
  test.each<[string, ResourceQuotaSpec, readonly string[]]>([
    ['of pods and memory', { hard: { pods: '5', 'requests.memory': '1Gi', 'count/jobs.batch': '2' } }, []],
    [
      'of unknown things',
      { hard: { bananas: '5' } },
      [
        'spec.hard[bananas]: Invalid value: "bananas": must be a standard resource type or fully qualified',
        'spec.hard[bananas]: Invalid value: "bananas": must be a standard resource for quota',
      ],
    ],
    ['of a negative number', { hard: { pods: '-1' } }, ['spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0']],
    ['of a fraction of a pod', { hard: { pods: '1500m' } }, ['spec.hard[pods]: Invalid value: "1500m": must be an integer']],
    [
      'with an unknown scope',
      { hard: { pods: '1' }, scopes: ['Sometimes'] },
      ['spec.scopes: Invalid value: ["Sometimes"]: unsupported scope'],
    ],
    [
      'with scopes that exclude each other',
      { hard: { pods: '1' }, scopes: ['BestEffort', 'NotBestEffort'] },
      ['spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes'],
    ],
    [
      'of memory of pods that ask for none',
      { hard: { 'requests.memory': '1Gi' }, scopes: ['BestEffort'] },
      ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
    ],
    [
      'with a scope that needs no values',
      { hard: { pods: '1' }, scopeSelector: { matchExpressions: [{ scopeName: 'BestEffort', operator: 'In', values: ['x'] }] } },
      [
        'spec.scopeSelector.matchExpressions.operator: Invalid value: "In": must be \'Exists\' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity',
      ],
    ],
    [
      'with a scope that needs values',
      { hard: { pods: '1' }, scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In' }] } },
      [
        "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
      ],
    ],
  ])('%s', (_, spec, errors) => {
    expect(quotas.validate(quota(spec)).map(String)).toEqual(errors);
  });

  test('keeps its scopes', () => {
    expect(
      quotas.validateUpdate(quota({ hard: { pods: '1' }, scopes: ['BestEffort'] }), quota({ hard: { pods: '1' } })).map(String),
    ).toEqual(['spec.scopes: Invalid value: ["BestEffort"]: field is immutable']);
  });

  test('prints what is used of what', () => {
    const used = {
      ...quota({ hard: { pods: '5', 'limits.cpu': '2', services: '1' } }),
      status: { hard: { pods: '5', 'limits.cpu': '2', services: '1' }, used: { pods: '2' } },
    };
    expect(quotas.table.cells(used, 0)).toEqual(['a', 'pods: 2/5, services: 0/1', 'limits.cpu: 0/2', '<unknown>']);
  });
});

describe('a limit range', () => {
  const range = (...items: readonly LimitRangeItem[]) => limits.defaults({ metadata, spec: { limits: items } });

  test('fills in defaults from the limits', () => {
    expect(range({ type: 'Container', max: { cpu: '2' }, min: { cpu: '1' } }).spec).toEqual({
      limits: [{ type: 'Container', max: { cpu: '2' }, min: { cpu: '1' }, default: { cpu: '2' }, defaultRequest: { cpu: '2' } }],
    });
  });

  test.each<[string, readonly LimitRangeItem[], readonly string[]]>([
    [
      'of pods and containers',
      [
        { type: 'Pod', max: { cpu: '2' } },
        { type: 'Container', default: { cpu: '1' } },
      ],
      [],
    ],
    ['of the same type twice', [{ type: 'Pod' }, { type: 'Pod' }], ['spec.limits[1].type: Duplicate value: "Pod"']],
    [
      'with a default for pods',
      [{ type: 'Pod', default: { cpu: '1' } }],
      ["spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"],
    ],
    [
      'whose least is more than the most',
      [{ type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } }],
      [
        'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
        'spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1',
        'spec.limits[0].default[cpu]: Invalid value: "2": min value 2 is greater than default value 1',
      ],
    ],
    [
      'whose defaults are out of bounds',
      [{ type: 'Container', min: { cpu: '2' }, max: { cpu: '4' }, default: { cpu: '8' }, defaultRequest: { cpu: '1' } }],
      [
        'spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1',
        'spec.limits[0].default[cpu]: Invalid value: "4": default value 8 is greater than max value 4',
      ],
    ],
    [
      'with a ratio below one',
      [{ type: 'Container', maxLimitRequestRatio: { cpu: '500m' } }],
      ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1'],
    ],
    [
      'of claims without a size',
      [{ type: 'PersistentVolumeClaim' }],
      ['spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided'],
    ],
    [
      'of a type that has no name',
      [{ type: 'some thing' }],
      [
        "spec.limits[0].type: Invalid value: \"some thing\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ],
    ],
  ])('%s', (_, items, errors) => {
    expect(limits.validate(range(...items)).map(String)).toEqual(errors);
  });
});
