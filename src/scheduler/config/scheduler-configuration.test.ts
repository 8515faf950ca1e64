import { describe, expect, test } from 'vitest';
import { node, outcome, place, pod } from '../placement.test-data.ts';
import { standaloneSettings } from './process-settings.ts';
import { readSchedulerConfiguration, SchedulerConfigurationError } from './scheduler-configuration.ts';

const TYPE = { apiVersion: 'kubescheduler.config.k8s.io/v1', kind: 'KubeSchedulerConfiguration' };

describe('the configuration', () => {
  test('has upstream’s defaults', () => {
    expect(readSchedulerConfiguration()).toMatchObject({
      percentageOfNodesToScore: 0,
      podInitialBackoffSeconds: 1,
      podMaxBackoffSeconds: 10,
      profiles: [{ schedulerName: 'default-scheduler' }],
      leaderElection: { leaderElect: true, resourceName: 'kube-scheduler', resourceNamespace: 'kube-system', leaseDurationMs: 15_000 },
      clientConnection: {},
      delayCacheUntilActive: false,
      withoutEffect: [],
    });
  });

  test.each([
    [{ ...TYPE, kind: 'Pod' }, 'kind: must be KubeSchedulerConfiguration'],
    [{ apiVersion: 'kubescheduler.config.k8s.io/v1beta3' }, 'apiVersion: must be kubescheduler.config.k8s.io/v1'],
    [{ profile: [] }, 'profile: unknown field'],
    [{ percentageOfNodesToScore: 101 }, 'percentageOfNodesToScore: must be a whole number from 0 to 100'],
    [{ podInitialBackoffSeconds: 20 }, 'podMaxBackoffSeconds: must be greater than or equal to podInitialBackoffSeconds'],
    [{ parallelism: 0 }, 'parallelism: must be a whole number from 1 to'],
    [{ enableProfiling: 'yes' }, 'enableProfiling: must be true or false'],
    [{ delayCacheUntilActive: 1 }, 'delayCacheUntilActive: must be true or false'],
    [{ clientConnection: { qps: 'fast' } }, 'clientConnection.qps: must be a number'],
    [{ clientConnection: { burst: 5 } }, 'clientConnection.burst: goes with qps, which is not set'],
    [{ clientConnection: { kubeConfig: 'x' } }, 'clientConnection.kubeConfig: unknown field'],
    [{ leaderElection: { leaseDuration: 'long' } }, 'leaderElection.leaseDuration: "long" is no duration such as 15s'],
    [{ leaderElection: { leaseDuration: '5s' } }, 'leaderElection.leaseDuration: LeaseDuration must be greater than RenewDeadline'],
    [{ extenders: [{ urlPrefix: 'x' }] }, 'extenders[0].urlPrefix: "x" is no http or https URL'],
    [{ extenders: [{ urlPrefix: 'http://x', prioritizeVerb: 'p' }] }, 'extenders[0].weight: must have a positive weight applied to it'],
    [
      { extenders: [{ urlPrefix: 'http://x', managedResources: [{ name: 'cpu' }] }] },
      'extenders[0].managedResources[0].name: is an invalid extended resource name',
    ],
    [
      { extenders: ['http://x', 'http://y'].map((urlPrefix) => ({ urlPrefix, bindVerb: 'bind' })) },
      'extenders: found 2 extenders implementing bind: only one extender can implement bind',
    ],
    [{ profiles: [{ schedulerName: 'a' }, { schedulerName: 'a' }] }, 'profiles[1].schedulerName: duplicate value "a"'],
    [
      { profiles: [{ plugins: { score: { enabled: [{ name: 'Nope' }] } } }] },
      'profiles[0].plugins.score.enabled[0].name: there is no plugin "Nope"',
    ],
    [{ profiles: [{ plugins: { scored: {} } }] }, 'profiles[0].plugins.scored: unknown field'],
    [{ profiles: [{ pluginConfig: [{ name: 'NodeName', args: { x: 1 } }] }] }, 'profiles[0].pluginConfig[0].args.x: unknown field'],
    [
      { profiles: [{ pluginConfig: [{ name: 'InterPodAffinity', args: { hardPodAffinityWeight: 101 } }] }] },
      'profiles[0].pluginConfig[0].args.hardPodAffinityWeight: must be a whole number from 0 to 100',
    ],
    [
      {
        profiles: [
          {
            pluginConfig: [
              {
                name: 'PodTopologySpread',
                args: { defaultConstraints: [{ topologyKey: 'z', maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' }] },
              },
            ],
          },
        ],
      },
      "profiles[0].pluginConfig[0].args.defaultConstraints: must be empty when defaultingType is 'System'",
    ],
  ])('refuses %j', (input, problem) => {
    expect(() => readSchedulerConfiguration(input)).toThrow(SchedulerConfigurationError);
    expect(() => readSchedulerConfiguration(input)).toThrow(problem);
  });

  test('reads how to reach the server, and how fast', () => {
    const { clientConnection } = readSchedulerConfiguration({ clientConnection: { kubeconfig: '/etc/k', qps: 7.5, burst: 9 } });
    expect(clientConnection).toEqual({ kubeconfig: '/etc/k', rateLimit: { perSecond: 7.5, burst: 9 } });
    expect(readSchedulerConfiguration({ clientConnection: { qps: -1 } }).clientConnection).toEqual({});
  });

  test('names what is set without effect', () => {
    const input = { parallelism: 8, enableProfiling: true, clientConnection: { contentType: 'application/vnd.kubernetes.protobuf' } };
    expect(readSchedulerConfiguration(input).withoutEffect).toEqual([
      expect.stringMatching(/^parallelism: /),
      expect.stringMatching(/^enableProfiling: /),
      expect.stringMatching(/^clientConnection.contentType: /),
    ]);
    expect(
      readSchedulerConfiguration({ enableProfiling: false, clientConnection: { contentType: 'application/json' } }).withoutEffect,
    ).toEqual([]);
  });

  test('names what only a scheduler of its own process has', () => {
    expect(standaloneSettings({ clientConnection: {}, delayCacheUntilActive: true, profiles: [] })).toEqual([
      'clientConnection',
      'delayCacheUntilActive',
    ]);
    expect(standaloneSettings(undefined)).toEqual([]);
  });

  test('names all that is wrong at once', () => {
    const read = () => readSchedulerConfiguration({ kind: 'x', podMaxBackoffSeconds: 0 });
    expect(read).toThrow(/kind: .*; podMaxBackoffSeconds: /);
  });

  const tainted = { nodes: [node('n', { taints: [{ key: 'k', effect: 'NoSchedule' }] })] };

  test.each([
    { where: 'at one point', plugins: { filter: { disabled: [{ name: 'TaintToleration' }] } } },
    { where: 'everywhere', plugins: { multiPoint: { disabled: [{ name: 'TaintToleration' }] } } },
  ])('can turn a plugin off $where', ({ plugins }) => {
    expect(outcome(place(pod('p'), { ...tainted, configuration: { profiles: [{ plugins }] } }))).toBe('n');
  });

  test('weights decide between plugins', () => {
    const image = { names: ['img:latest'], sizeBytes: 900_000_000 };
    const nodes = [node('empty'), node('has-image', { images: [image] })];
    const pods = [pod('x', { requests: { cpu: '3', memory: '6Gi' }, on: 'has-image' })];
    const withWeight = (weight: number) => ({ profiles: [{ plugins: { score: { enabled: [{ name: 'ImageLocality', weight }] } } }] });
    expect(outcome(place(pod('p'), { nodes, pods, configuration: withWeight(1) }))).toBe('empty');
    expect(outcome(place(pod('p'), { nodes, pods, configuration: withWeight(100) }))).toBe('has-image');
  });
});
