import { describe, expect, test } from 'vitest';
import type { Container } from '../container/container.ts';
import { defaultPod } from './pod.defaults.ts';
import type { Pod } from './pod.ts';
import { validatePodResize } from './pod-resize.validation.ts';
import type { PodSpec } from './pod-spec.ts';
import { validatePodStatusUpdate } from './pod-status.validation.ts';
import { validateEphemeralContainersUpdate, validatePodUpdate } from './pod-update.validation.ts';

const C: Container = { name: 'c', image: 'app:1' };
const meta = { name: 'a', namespace: 'ns', uid: 'u', generation: 1 };
const pod = (spec: Partial<PodSpec> = {}, overrides: Partial<Pod> = {}): Pod =>
  defaultPod({ metadata: meta, spec: { containers: [C], ...spec }, ...overrides });
const update = (before: Partial<PodSpec>, after: Partial<PodSpec>) => validatePodUpdate(pod(after), pod(before)).map(String);

describe('an update of a pod', () => {
  test.each<[string, Partial<PodSpec>, Partial<PodSpec>]>([
    ['the image', {}, { containers: [{ ...C, image: 'app:2' }] }],
    ['the deadline, downwards', { activeDeadlineSeconds: 20 }, { activeDeadlineSeconds: 10 }],
    [
      'tolerations, by adding',
      { tolerations: [{ key: 'a', operator: 'Exists' }] },
      {
        tolerations: [
          { key: 'b', operator: 'Exists' },
          { key: 'a', operator: 'Exists' },
        ],
      },
    ],
    ['gates, by removing', { schedulingGates: [{ name: 'a.b/c' }] }, {}],
    [
      'the node selector while gated, by adding',
      { schedulingGates: [{ name: 'a.b/c' }] },
      { schedulingGates: [{ name: 'a.b/c' }], nodeSelector: { a: 'b' } },
    ],
    ['a negative grace period, to one', { terminationGracePeriodSeconds: -1 }, { terminationGracePeriodSeconds: 1 }],
  ])('may change %s', (_, before, after) => {
    expect(update(before, after)).toEqual([]);
  });

  test.each<[string, Partial<PodSpec>, Partial<PodSpec>, string]>([
    [
      'add containers',
      {},
      { containers: [C, { ...C, name: 'd' }] },
      'spec.containers: Forbidden: pod updates may not add or remove containers',
    ],
    [
      'remove the deadline',
      { activeDeadlineSeconds: 5 },
      {},
      'spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value',
    ],
    [
      'extend the deadline',
      { activeDeadlineSeconds: 5 },
      { activeDeadlineSeconds: 6 },
      'spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value',
    ],
    [
      'drop a toleration',
      { tolerations: [{ key: 'a', operator: 'Exists' }] },
      {},
      'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
    ],
    [
      'close a gate',
      {},
      { schedulingGates: [{ name: 'a.b/c' }] },
      "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'a.b/c'",
    ],
    [
      'change the node selector of a gated pod',
      { schedulingGates: [{ name: 'a.b/c' }], nodeSelector: { a: 'b' } },
      { schedulingGates: [{ name: 'a.b/c' }] },
      'spec.nodeSelector: Invalid value: null: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ],
    [
      'change the node selector of a gated pod, which is printed in order',
      { schedulingGates: [{ name: 'a.b/c' }], nodeSelector: { a: 'b' } },
      { schedulingGates: [{ name: 'a.b/c' }], nodeSelector: { z: 'y', b: 'c' } },
      'spec.nodeSelector: Invalid value: {"b":"c","z":"y"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ],
  ])('may not %s', (_, before, after, message) => {
    expect(update(before, after)).toContain(message);
  });

  test('that changes anything else is answered with the difference, as upstream prints it', () => {
    expect(update({}, { restartPolicy: 'Never' })).toEqual([
      [
        'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
        '@@ -35,7 +35,7 @@',
        '   }',
        '  ],',
        '  "EphemeralContainers": null,',
        '- "RestartPolicy": "Always",',
        '+ "RestartPolicy": "Never",',
        '  "TerminationGracePeriodSeconds": 30,',
        '  "ActiveDeadlineSeconds": null,',
        '  "DNSPolicy": "ClusterFirst",',
        '',
      ].join('\n'),
    ]);
  });

  test('narrows the node affinity of a gated pod, and never widens it', () => {
    const affinity = (...values: readonly string[]) => ({
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: values.map((key) => ({ key, operator: 'Exists' })) }],
        },
      },
    });
    const gated = { schedulingGates: [{ name: 'a.b/c' }] };
    expect(update({ ...gated, affinity: affinity('a') }, { ...gated, affinity: affinity('a', 'b') })).toEqual([]);
    expect(update({ ...gated, affinity: affinity('a') }, { ...gated, affinity: affinity('b') })).toEqual([
      'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]: Invalid value: {"MatchExpressions":[{"Key":"b","Operator":"Exists","Values":null}],"MatchFields":null}: only additions are allowed (no mutations or deletions)',
    ]);
  });
});

test('ephemeral containers are added, and neither changed nor removed', () => {
  const e = (image: string) => pod({ ephemeralContainers: [{ name: 'e', image }] });
  expect(validateEphemeralContainersUpdate(e('x'), pod())).toEqual([]);
  expect(validateEphemeralContainersUpdate(pod(), e('x')).map(String)).toEqual([
    'spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be removed\n',
  ]);
  expect(validateEphemeralContainersUpdate(e('y'), e('x')).map(String)[0]).toContain(
    'existing ephemeral containers "e" may not be changed\n@@ -',
  );
});

describe('a resize', () => {
  const sized = (cpu: string, overrides: Partial<Container> = {}) =>
    pod({ containers: [{ ...C, resources: { requests: { cpu }, limits: { cpu: '2' } }, ...overrides }] });

  test('changes cpu and memory', () => {
    expect(validatePodResize(sized('1'), sized('500m'))).toEqual([]);
  });

  test('keeps the class of service, the containers and everything else', () => {
    expect(validatePodResize(pod(), sized('1')).map(String)).toEqual([
      'spec: Invalid value: "": Pod QOS Class may not change as a result of resizing',
      'spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed',
      'spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed',
    ]);
    expect(validatePodResize(sized('1', { image: 'app:2' }), sized('1')).map(String)).toEqual([
      'spec: Forbidden: only cpu and memory resources are mutable',
    ]);
    expect(validatePodResize(sized('1', { name: 'd' }), sized('1')).map(String)).toEqual([
      'spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize',
    ]);
  });
});

describe('a status', () => {
  const ended = (exitCode: number) =>
    ({ containerStatuses: [{ name: 'c', state: { terminated: { exitCode } } }] }) as unknown as Pod['status'];
  const running = { containerStatuses: [{ name: 'c', state: { running: {} } }] } as unknown as Pod['status'];
  const errors = (restartPolicy: string, exitCode: number) =>
    validatePodStatusUpdate(
      pod({ restartPolicy }, { status: running } as Partial<Pod>),
      pod({ restartPolicy }, { status: ended(exitCode) } as Partial<Pod>),
    ).map(String);

  test('brings an ended container back only where the policy restarts it', () => {
    const refused = ['status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state'];
    expect(errors('Always', 0)).toEqual([]);
    expect(errors('OnFailure', 1)).toEqual([]);
    expect(errors('OnFailure', 0)).toEqual(refused);
    expect(errors('Never', 1)).toEqual(refused);
  });

  test('does not move the pod to another node or class', () => {
    const before = pod({ nodeName: 'n' }, { status: { qosClass: 'BestEffort' } });
    const after = pod({ nodeName: 'm' }, { status: { qosClass: 'Burstable', podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] } });
    expect(validatePodStatusUpdate(after, before).map(String)).toEqual([
      'status.nodeName: Forbidden: may not be changed directly',
      'status.qosClass: Invalid value: "Burstable": field is immutable',
      'status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family',
    ]);
  });

  test.each(['podIPs', 'hostIPs'])('cannot tell the families of %s when one is no address', (list) => {
    const addresses = [{ ip: '10.0.0.1' }, { ip: 'x' }, { ip: 'y' }];
    const status = { [list]: addresses, ...(list === 'hostIPs' && { hostIP: '10.0.0.1' }) };
    const after = pod({}, { status });
    const pair = [
      `status.${list}: Internal error: failed to check for dual stack with error:invalid IP[1]: x`,
      `status.${list}: Invalid value: [{"IP":"10.0.0.1"},{"IP":"x"},{"IP":"y"}]: may specify no more than one IP for each IP family`,
    ];
    const notAnIp = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
    expect(validatePodStatusUpdate(after, pod({})).map(String)).toEqual([
      `status.${list}[1]: Invalid value: "x": ${notAnIp}`,
      `status.${list}[2]: Invalid value: "y": ${notAnIp}`,
      ...pair,
    ]);
    expect(validatePodStatusUpdate(after, after).map(String)).toEqual(pair);
  });
});
