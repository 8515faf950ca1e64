import { describe, expect, test } from 'vitest';
import { podGroupBehaviour } from './pod-group.behaviour.ts';
import type { PodGroup, PodGroupSpec } from './pod-group.ts';
import { workloadBehaviour } from './workload.behaviour.ts';
import type { Workload, WorkloadSpec } from './workload.ts';

const groups = podGroupBehaviour as Required<typeof podGroupBehaviour>;
const workloads = workloadBehaviour as Required<typeof workloadBehaviour>;
const metadata = { name: 'a', namespace: 'ns' };
const group = (spec: Partial<PodGroupSpec>, status: PodGroup['status'] = {}): PodGroup => ({
  metadata,
  spec: { schedulingPolicy: { basic: {} }, ...spec },
  status,
});
const workload = (spec: Partial<WorkloadSpec>): Workload => ({
  metadata,
  spec: { podGroupTemplates: [{ name: 'g', schedulingPolicy: { gang: { minCount: 2 } } }], ...spec },
});

describe('a pod group', () => {
  test.each<[Partial<PodGroupSpec>, readonly string[]]>([
    [{}, []],
    [{ schedulingPolicy: { gang: { minCount: 3 } } }, []],
    [{ schedulingPolicy: {} }, ['spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`']],
    [
      { schedulingPolicy: { basic: {}, gang: { minCount: 0 } } },
      [
        'spec.schedulingPolicy: Invalid value: "{`basic`, `gang`}": must specify exactly one of: `basic`, `gang`',
        'spec.schedulingPolicy.gang.minCount: Required value',
      ],
    ],
    [
      { schedulingPolicy: { gang: { minCount: -1 } } },
      ['spec.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to 1'],
    ],
    [{ podGroupTemplateRef: {} }, ['spec.podGroupTemplateRef: Invalid value: "": must specify one of: `workload`']],
    [
      { podGroupTemplateRef: { workload: { workloadName: '', podGroupTemplateName: '' } } },
      [
        'spec.podGroupTemplateRef.workload.workloadName: Required value',
        'spec.podGroupTemplateRef.workload.podGroupTemplateName: Required value',
      ],
    ],
  ])('with %j', (spec, errors) => {
    expect(groups.validate(group(spec)).map(String)).toEqual(errors);
  });

  test('keeps its policy, and what belongs to features that are off', () => {
    const changed = group({ schedulingPolicy: { gang: { minCount: 1 } }, disruptionMode: 'PodGroup' });
    expect(groups.validateUpdate(changed, group({ disruptionMode: 'Pod' })).map(String)).toEqual([
      'spec.schedulingPolicy: Invalid value: null: field is immutable',
      'spec.disruptionMode: Forbidden',
    ]);
  });

  test('tells of the claims in its specification only', () => {
    const status = { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'gpu-1' }, { name: 'other' }] };
    const claims = [{ name: 'gpu', resourceClaimTemplateName: 'gpus' }];
    const old = group({ resourceClaims: claims });
    expect(groups.validateStatusUpdate(group({ resourceClaims: claims }, status), old).map(String)).toEqual([
      'status.resourceClaimStatuses[1].name: Invalid value: "other": must match the name of an entry in `spec.resourceClaims`',
    ]);
  });

  test.each([
    [group({}), ['a', 'Basic', '<none>', 'Pending', '<unknown>']],
    [
      group(
        {
          podGroupTemplateRef: { workload: { workloadName: 'w', podGroupTemplateName: 'g' } },
          schedulingPolicy: { gang: { minCount: 1 } },
        },
        { conditions: [{ type: 'PodGroupScheduled', status: 'True', lastTransitionTime: '', reason: '', message: '' }] },
      ),
      ['a', 'Gang', 'w', 'Scheduled', '<unknown>'],
    ],
  ])('is printed', (object, cells) => {
    expect(groups.table.cells(object, 0)).toEqual(cells);
  });
});

describe('a workload', () => {
  test.each<[Partial<WorkloadSpec>, readonly string[]]>([
    [{}, []],
    [{ podGroupTemplates: [] }, ['spec.podGroupTemplates: Required value']],
    [
      { podGroupTemplates: Array.from({ length: 9 }, (_, i) => ({ name: `g${i}`, schedulingPolicy: { basic: {} } })) },
      ['spec.podGroupTemplates: Too many: 9: must have at most 8 items'],
    ],
    [
      { podGroupTemplates: [0, 1].map(() => ({ name: 'g', schedulingPolicy: { basic: {} } })) },
      ['spec.podGroupTemplates[1]: Duplicate value: {"name":"g","schedulingPolicy":{"basic":{}}}'],
    ],
    [
      { controllerRef: { kind: 'a/b', name: '' } },
      ['spec.controllerRef.kind: Invalid value: "a/b": may not contain \'/\'', 'spec.controllerRef.name: Required value'],
    ],
  ])('with %j', (spec, errors) => {
    expect(workloads.validate(workload(spec)).map(String)).toEqual(errors);
  });

  test('does not change', () => {
    expect(workloads.validateUpdate(workload({ podGroupTemplates: [] }), workload({})).map(String)).toEqual([
      'spec.podGroupTemplates: Invalid value: null: field is immutable',
      'spec.podGroupTemplates: Required value',
    ]);
  });
});
