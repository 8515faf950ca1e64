import { describe, expect, test } from 'vitest';
import type { KindBehaviour } from '../../behaviour.ts';
import { replicationControllerBehaviour } from '../../core/v1/replication-controller/replication-controller.behaviour.ts';
import { controllerRevisionBehaviour } from './controller-revision.behaviour.ts';
import { daemonSetBehaviour } from './daemon-set.behaviour.ts';
import { deploymentBehaviour } from './deployment.behaviour.ts';
import { replicaSetBehaviour } from './replica-set.behaviour.ts';
import { statefulSetBehaviour } from './stateful-set.behaviour.ts';

/** Any of the kinds, for tables of cases. */
const any = (behaviour: unknown) => behaviour as KindBehaviour<unknown>;

const NOW = Date.parse('2024-01-01T00:10:00Z');
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'app:1' }] } };
const selector = { matchLabels: { app: 'a' } };
const metadata = { name: 'a', namespace: 'ns', creationTimestamp: '2024-01-01T00:00:00Z', generation: 1 };

/** The object with its defaults, and what is wrong with it. */
function prepared<T>(behaviour: KindBehaviour<T>, spec: object) {
  const object = { metadata, spec: { selector, template, ...spec } } as unknown as T;
  const filled = behaviour.defaults?.(object) ?? object;
  return { object: filled, errors: (behaviour.validate?.(filled) ?? []).map(String) };
}

function updated<T>(behaviour: KindBehaviour<T>, before: object, after: object): readonly string[] {
  const { object: old } = prepared(behaviour, before);
  return (behaviour.validateUpdate?.(prepared(behaviour, after).object, old) ?? []).map(String);
}

describe('defaults', () => {
  test('of a deployment roll a quarter at a time', () => {
    expect(prepared(deploymentBehaviour, {}).object.spec).toMatchObject({
      replicas: 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    });
    expect(prepared(deploymentBehaviour, { strategy: { type: 'Recreate' } }).object.spec?.strategy).toEqual({ type: 'Recreate' });
  });

  test('of a daemon set take one pod down at a time', () => {
    expect(prepared(daemonSetBehaviour, {}).object.spec?.updateStrategy).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: 1, maxSurge: 0 },
    });
  });

  test('of a stateful set keep claims, and fill in the claims themselves', () => {
    const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
    const { object, errors } = prepared(statefulSetBehaviour, { volumeClaimTemplates: [claim] });
    expect(errors).toEqual([]);
    expect(object.spec).toMatchObject({
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      volumeClaimTemplates: [
        { apiVersion: 'v1', kind: 'PersistentVolumeClaim', spec: { volumeMode: 'Filesystem' }, status: { phase: 'Pending' } },
      ],
    });
  });

  test('of a replication controller take labels and selector from the template', () => {
    const { object } = prepared(replicationControllerBehaviour, { selector: undefined });
    expect(object.spec?.selector).toEqual({ app: 'a' });
    expect(object.metadata.labels).toEqual({ app: 'a' });
  });

  test.each([deploymentBehaviour, replicaSetBehaviour, daemonSetBehaviour, statefulSetBehaviour, replicationControllerBehaviour].map(any))(
    'run a second time to no effect (%#)',
    (behaviour) => {
      const { object } = prepared(behaviour, {});
      expect(behaviour.defaults?.(object)).toBe(object);
    },
  );
});

describe('validation', () => {
  const unmatched = 'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`';

  test.each<[string, KindBehaviour<unknown>, object, readonly string[]]>([
    ['a deployment that selects other pods', any(deploymentBehaviour), { selector: { matchLabels: { app: 'b' } } }, [unmatched]],
    ['a deployment without a selector', any(deploymentBehaviour), { selector: undefined }, ['spec.selector: Required value', unmatched]],
    [
      'a deployment that selects everything',
      any(deploymentBehaviour),
      { selector: {} },
      ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
    ],
    [
      'a deployment of an unknown strategy',
      any(deploymentBehaviour),
      { strategy: { type: 'Blue' } },
      ['spec.strategy: Unsupported value: {"Type":"Blue","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"'],
    ],
    [
      'a deployment that never moves',
      any(deploymentBehaviour),
      { strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: '0%' } } },
      ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0'],
    ],
    [
      'a daemon set that surges and shrinks',
      any(daemonSetBehaviour),
      { updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: '101%' } } },
      [
        'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "101%": must not be greater than 100%',
        'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "101%": may not be set when maxUnavailable is non-zero',
      ],
    ],
    [
      'a stateful set with an odd policy',
      any(statefulSetBehaviour),
      { podManagementPolicy: 'Random', serviceName: 'A B', updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
      [
        "spec.podManagementPolicy: Invalid value: \"Random\": must be 'OrderedReady' or 'Parallel'",
        'spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":1,"MaxUnavailable":null}: only allowed for updateStrategy \'RollingUpdate\'',
        "spec.serviceName: Invalid value: \"A B\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
    [
      'a replication controller without a template',
      any(replicationControllerBehaviour),
      { template: undefined, selector: { app: 'a' } },
      ['spec.template: Required value'],
    ],
    [
      'a replica set whose pods end',
      any(replicaSetBehaviour),
      { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never', activeDeadlineSeconds: 5 } } },
      [
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
      ],
    ],
  ])('refuses %s', (_, behaviour, spec, expected) => {
    expect(prepared(behaviour, spec).errors).toEqual(expected);
  });

  test('mounts volumes that a stateful set will claim', () => {
    const mounting = { ...template, spec: { containers: [{ name: 'c', image: 'x', volumeMounts: [{ name: 'data', mountPath: '/d' }] }] } };
    const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
    expect(prepared(statefulSetBehaviour, { template: mounting, volumeClaimTemplates: [claim] }).errors).toEqual([]);
    expect(prepared(statefulSetBehaviour, { template: mounting }).errors).toEqual([
      'spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"',
    ]);
  });

  test('keeps selectors as they are', () => {
    const other = {
      selector: { matchLabels: { app: 'a', x: 'y' } },
      template: { ...template, metadata: { labels: { app: 'a', x: 'y' } } },
    };
    const immutable = 'spec.selector: Invalid value: {"matchLabels":{"app":"a","x":"y"}}: field is immutable';
    expect(updated(deploymentBehaviour, {}, other)).toEqual([immutable]);
    expect(updated(replicaSetBehaviour, {}, other)).toEqual([immutable]);
    expect(updated(daemonSetBehaviour, {}, other)).toEqual([immutable]);
    expect(updated(deploymentBehaviour, {}, { replicas: 5 })).toEqual([]);
  });

  test('lets a stateful set that was kept with a wrong template go on with it', () => {
    const wrong = { ...template, spec: { containers: [{ name: 'C', image: 'app:1' }] } };
    expect(updated(statefulSetBehaviour, { template: wrong }, { template: wrong, replicas: 2 })).toEqual([]);
    expect(updated(statefulSetBehaviour, {}, { template: wrong })).toHaveLength(1);
    const alsoUnlabelled = { ...wrong, metadata: { labels: { app: 'b' } } };
    expect(updated(statefulSetBehaviour, { template: wrong }, { template: alsoUnlabelled })).toEqual([
      'spec.template.metadata.labels: Invalid value: {"app":"b"}: `selector` does not match template `labels`',
    ]);
  });

  test.each([deploymentBehaviour, replicaSetBehaviour, daemonSetBehaviour].map(any))(
    'keeps the selector of a workload: %#',
    (behaviour) => {
      expect(updated(behaviour, {}, { selector: null })).toContain('spec.selector: Invalid value: null: field is immutable');
    },
  );

  test('lets a stateful set change little', () => {
    expect(updated(statefulSetBehaviour, {}, { replicas: 3, minReadySeconds: 5 })).toEqual([]);
    expect(updated(statefulSetBehaviour, {}, { serviceName: 'x' })[0]).toContain(
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas'",
    );
  });

  test('counts what is counted in statuses', () => {
    const { object } = prepared(deploymentBehaviour, {});
    const status = { replicas: 1, readyReplicas: 2, availableReplicas: 3, collisionCount: 1 };
    const old = { ...object, status: { collisionCount: 2 } };
    expect(deploymentBehaviour.validateStatusUpdate?.({ ...object, status }, old).map(String)).toEqual([
      'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
      'status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas',
      'status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas',
      'status.collisionCount: Invalid value: 1: cannot be decremented',
    ]);
  });
});

test('errors of a ReplicaSet status list observedGeneration before terminatingReplicas', () => {
  const { object } = prepared(replicaSetBehaviour, {});
  const status = { replicas: 0, terminatingReplicas: -1, observedGeneration: -1 };
  expect(replicaSetBehaviour.validateStatusUpdate?.({ ...object, status }, object).map(String)).toEqual([
    'status.observedGeneration: Invalid value: -1: must be greater than or equal to 0',
    'status.terminatingReplicas: Invalid value: -1: must be greater than or equal to 0',
  ]);
});

test('the data of ControllerRevisions is immutable', () => {
  const revision = { metadata, data: { x: 1 }, revision: 1 };
  expect(controllerRevisionBehaviour.validate?.(revision)).toEqual([]);
  expect(controllerRevisionBehaviour.validate?.({ metadata, revision: -1 }).map(String)).toEqual([
    'revision: Invalid value: -1: must be greater than or equal to 0',
    'data: Required value: data is mandatory',
  ]);
  expect(controllerRevisionBehaviour.validateUpdate?.({ ...revision, data: { x: 2 } }, revision).map(String)).toEqual([
    'data: Invalid value: {"x":2}: field is immutable',
  ]);
});

test('tables of workloads show desired and current counts', () => {
  const { object } = prepared(deploymentBehaviour, { replicas: 3 });
  const deployed = { ...object, status: { readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 } };
  expect(deploymentBehaviour.table?.cells(deployed, NOW)).toEqual(['a', '1/3', 2, 1, '10m', 'c', 'app:1', 'app=a']);
  const daemon = prepared(daemonSetBehaviour, {}).object;
  expect(daemonSetBehaviour.table?.cells(daemon, NOW)).toEqual(['a', 0, 0, 0, 0, 0, '<none>', '10m', 'c', 'app:1', 'app=a']);
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'u', controller: true };
  expect(controllerRevisionBehaviour.table?.cells({ metadata: { ...metadata, ownerReferences: [owner] }, revision: 4 }, NOW)).toEqual([
    'a',
    'daemonset.apps/d',
    4,
    '10m',
  ]);
});
