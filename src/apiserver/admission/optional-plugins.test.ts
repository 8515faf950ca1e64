import { describe, expect, onTestFinished, test } from 'vitest';
import { core } from '#api';
import type { AuthorizationAttributes } from '../authz/authorizer.ts';
import { type AdmissionAttributes, admissionChain } from './admission.ts';
import { configMap, serveAdmission } from './admission-server.test-data.ts';
import type { PluginConfigurations } from './configuration/admission-configuration.ts';
import type { OptionalPluginName } from './plugin-order.ts';
import { alwaysAdmit, alwaysDeny } from './plugins/always-deny.ts';
import { alwaysPullImages } from './plugins/always-pull-images.ts';

/** A server with one of the plugins that are off by default. */
async function serve(
  enabled: OptionalPluginName,
  isForbidden: (attributes: AuthorizationAttributes) => boolean = () => false,
  plugins: PluginConfigurations = {},
) {
  const served = await serveAdmission(isForbidden, { admission: { enabled: [enabled], plugins } });
  onTestFinished(() => served.server[Symbol.asyncDispose]());
  await served.client.of(core.ServiceAccount).create({ metadata: { name: 'default', namespace: 'default' } });
  return served;
}

const messageOf = (write: Promise<unknown>) =>
  write.then(
    () => 'accepted',
    (error: Error) => error.message,
  );

function pod(name: string, spec: Partial<core.PodSpec> = {}) {
  return { metadata: { name, namespace: 'default' }, spec: { containers: [{ name: 'c', image: 'app:1' }], ...spec } } as core.Pod;
}

/** A change that no server made. */
function attributes(resource: string, object: object): AdmissionAttributes {
  return { operation: 'CREATE', resource: { group: '', resource }, subresource: '', name: 'p', object } as unknown as AdmissionAttributes;
}

test('AlwaysDeny rejects every change', () => {
  const chain = admissionChain([alwaysAdmit, alwaysDeny]);
  expect(() => chain.admit(attributes('pods', pod('p')))).toThrow('pods "p" is forbidden: admission control is denying all modifications');
});

describe('AlwaysPullImages', () => {
  test('sets the pull policy of containers and image volumes', async () => {
    const { client } = await serve('AlwaysPullImages');
    const image = { reference: 'data:1', pullPolicy: 'IfNotPresent' };
    const initContainers = [{ name: 'i', image: 'init:1', imagePullPolicy: 'Never' }];
    const created = await client.of(core.Pod).create(pod('p', { initContainers, volumes: [{ name: 'v', image }] }));
    const { containers, initContainers: inits, volumes } = created.spec!;
    expect([...containers, ...inits!].map(({ imagePullPolicy }) => imagePullPolicy)).toEqual(['Always', 'Always']);
    expect(volumes![0]!.image!.pullPolicy).toBe('Always');
  });

  test('rejects another pull policy that a later plugin has set', () => {
    const chain = admissionChain([alwaysPullImages]);
    const containers = [{ name: 'c', image: 'app:1', imagePullPolicy: 'Never' }];
    expect(() => chain.validate(attributes('pods', pod('p', { containers })))).toThrow(
      'pods "p" is forbidden: spec.containers[0].imagePullPolicy: Unsupported value: "Never": supported values: "Always"',
    );
  });

  test('leaves a pod alone whose update brings no new image', async () => {
    const { client } = await serve('AlwaysPullImages');
    const created = await client.of(core.Pod).create(pod('p'));
    const labelled = { ...created, metadata: { ...created.metadata, labels: { a: 'b' } } };
    expect(await messageOf(client.of(core.Pod).update(labelled))).toBe('accepted');
  });
});

describe('DenyServiceExternalIPs', () => {
  test('rejects external IPs that a service does not have yet', async () => {
    const { client } = await serve('DenyServiceExternalIPs');
    const services = client.of(core.Service);
    const spec = (externalIPs: string[]) => ({ clusterIP: 'None', ports: [{ port: 80 }], externalIPs });
    const denied = 'services "s" is forbidden: Use of external IPs is denied by admission control';
    expect(await messageOf(services.create({ metadata: { name: 's', namespace: 'default' }, spec: spec(['192.0.2.1']) }))).toBe(denied);
    const plain = await services.create({ metadata: { name: 's', namespace: 'default' }, spec: spec([]) });
    expect(await messageOf(services.update({ ...plain, spec: { ...plain.spec, externalIPs: ['192.0.2.1'] } }))).toBe(denied);
  });
});

describe('ExtendedResourceToleration', () => {
  test('adds a toleration of each extended resource that containers request', async () => {
    const { client } = await serve('ExtendedResourceToleration');
    const resources = { requests: { cpu: '1', 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '1' } };
    const created = await client.of(core.Pod).create(pod('p', { containers: [{ name: 'c', image: 'app:1', resources }] }));
    const added = created.spec!.tolerations!.filter(({ key }) => !key?.startsWith('node.kubernetes.io/'));
    expect(added).toEqual([{ key: 'example.com/gpu', operator: 'Exists', effect: 'NoSchedule' }]);
  });
});

describe('LimitPodHardAntiAffinityTopology', () => {
  test('rejects required anti-affinity by anything but the node', async () => {
    const { client } = await serve('LimitPodHardAntiAffinityTopology');
    const apart = (topologyKey: string) => {
      const term = { topologyKey, labelSelector: { matchLabels: { app: 'a' } } };
      return pod('p', { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } });
    };
    expect(await messageOf(client.of(core.Pod).create(apart('topology.kubernetes.io/zone')))).toBe(
      'pods "p" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey topology.kubernetes.io/zone but only key kubernetes.io/hostname is allowed',
    );
    expect(await messageOf(client.of(core.Pod).create(apart('kubernetes.io/hostname')))).toBe('accepted');
  });
});

describe('plugins of namespaces', () => {
  const inNamespace = (namespace: string) => ({ ...configMap('c'), metadata: { name: 'c', namespace } });

  test('NamespaceAutoProvision creates the namespace of a new object', async () => {
    const { client } = await serve('NamespaceAutoProvision');
    expect(await messageOf(client.of(core.ConfigMap).create(inNamespace('fresh')))).toBe('accepted');
    expect((await client.of(core.Namespace).get({ name: 'fresh' })).status?.phase).toBe('Active');
  });

  test('NamespaceAutoProvision creates nothing in a dry run', async () => {
    const { client } = await serve('NamespaceAutoProvision');
    const dryRun = client.of(core.ConfigMap).create(inNamespace('fresh'), { dryRun: true });
    expect(await messageOf(dryRun)).toBe('namespaces "fresh" not found');
    expect(await messageOf(client.of(core.Namespace).get({ name: 'fresh' }))).toBe('namespaces "fresh" not found');
  });

  test('NamespaceExists rejects changes in a namespace that does not exist', async () => {
    const { client } = await serve('NamespaceExists');
    expect(await messageOf(client.of(core.ConfigMap).create(inNamespace('missing')))).toBe('namespaces "missing" not found');
    expect(await messageOf(client.of(core.ConfigMap).create(inNamespace('default')))).toBe('accepted');
  });
});

describe('OwnerReferencesPermissionEnforcement', () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u', blockOwnerDeletion: true };
  const owned = (ownerReferences: core.ConfigMap['metadata']['ownerReferences']) => ({
    ...configMap('c'),
    metadata: { name: 'c', namespace: 'default', ownerReferences: ownerReferences! },
  });

  test('lets only who may delete an object change its owners', async () => {
    const { client } = await serve('OwnerReferencesPermissionEnforcement', ({ verb }) => verb === 'delete');
    const configMaps = client.of(core.ConfigMap);
    const created = await configMaps.create(owned([owner]));
    expect(await messageOf(configMaps.update({ ...created, metadata: { ...created.metadata, ownerReferences: [] } }))).toBe(
      'configmaps "c" is forbidden: cannot set an ownerRef on a resource you can\'t delete: configmaps, <nil>',
    );
    expect(await messageOf(configMaps.update({ ...created, data: { a: 'b' } }))).toBe('accepted');
  });

  test('lets only who may change the finalizers of an owner block its deletion', async () => {
    const { client } = await serve('OwnerReferencesPermissionEnforcement', ({ subresource }) => subresource === 'finalizers');
    const configMaps = client.of(core.ConfigMap);
    const message = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on";
    expect(await messageOf(configMaps.create(owned([owner])))).toBe(`configmaps "c" is forbidden: ${message}: configmaps, <nil>`);
    expect(await messageOf(configMaps.create(owned([{ ...owner, kind: 'Wagon' }])))).toBe(
      'configmaps "c" is forbidden: cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion v1 Kind Wagon: no matches for kind "Wagon" in version "v1"',
    );
    expect(await messageOf(configMaps.create(owned([{ ...owner, blockOwnerDeletion: false }])))).toBe('accepted');
  });
});

describe('PodNodeSelector', () => {
  test("adds the namespace's node selector to pods and rejects those that conflict with it", async () => {
    const { client } = await serve('PodNodeSelector');
    const annotations = { 'scheduler.alpha.kubernetes.io/node-selector': 'env=test, disk=ssd' };
    await client.of(core.Namespace).create({ metadata: { name: 'chosen', annotations } });
    await client.of(core.ServiceAccount).create({ metadata: { name: 'default', namespace: 'chosen' } });
    const inChosen = (nodeSelector: Record<string, string>) => {
      const draft = pod('p', { nodeSelector });
      return { ...draft, metadata: { ...draft.metadata, namespace: 'chosen' } };
    };
    expect(await messageOf(client.of(core.Pod).create(inChosen({ env: 'live' })))).toBe(
      'pods "p" is forbidden: pod node label selector conflicts with its namespace node label selector',
    );
    const created = await client.of(core.Pod).create(inChosen({ arch: 'arm64' }));
    expect(created.spec!.nodeSelector).toEqual({ env: 'test', disk: 'ssd', arch: 'arm64' });
  });
});

describe('PodTolerationRestriction', () => {
  test("adds the namespace's default tolerations and rejects those that its whitelist does not cover", async () => {
    const { client } = await serve('PodTolerationRestriction');
    const spot = { key: 'spot', operator: 'Exists', effect: 'NoSchedule' };
    const annotations = {
      'scheduler.alpha.kubernetes.io/defaultTolerations': JSON.stringify([spot]),
      'scheduler.alpha.kubernetes.io/tolerationsWhitelist': JSON.stringify([spot, { operator: 'Exists', effect: 'NoExecute' }]),
    };
    await client.of(core.Namespace).create({ metadata: { name: 'spots', annotations } });
    await client.of(core.ServiceAccount).create({ metadata: { name: 'default', namespace: 'spots' } });
    const inSpots = (name: string, tolerations: core.Toleration[]) => {
      const draft = pod(name, { tolerations });
      return { ...draft, metadata: { ...draft.metadata, namespace: 'spots' } };
    };
    const created = await client.of(core.Pod).create(inSpots('p', []));
    expect(created.spec!.tolerations).toContainEqual(spot);
    const gpu = { key: 'gpu', operator: 'Exists', effect: 'NoSchedule' };
    expect(await messageOf(client.of(core.Pod).create(inSpots('q', [gpu])))).toContain(
      'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist',
    );
  });
});

describe('EventRateLimit', () => {
  const event = (name: string): core.Event => ({
    metadata: { name, namespace: 'default' },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
    source: { component: 'test' },
    reason: 'Tried',
    type: 'Normal',
  });

  test('rejects events beyond the burst until there is a new token', async () => {
    const limits = [{ type: 'Namespace', qps: 1, burst: 2, cacheSize: 0 } as const];
    const { client, clock } = await serve('EventRateLimit', undefined, { EventRateLimit: limits });
    const create = (name: string) => client.of(core.Event).create(event(name));
    await create('a');
    await create('b');
    const error = await create('c').catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 429, reason: 'TooManyRequests' });
    expect((error as Error).message).toBe('Too many requests: limit reached on type Namespace for key default');
    await clock.advance(1000);
    expect(await messageOf(create('c'))).toBe('accepted');
  });

  test('does not count dry runs', async () => {
    const limits = [{ type: 'Server', qps: 1, burst: 1, cacheSize: 0 } as const];
    const { client } = await serve('EventRateLimit', undefined, { EventRateLimit: limits });
    await client.of(core.Event).create(event('a'), { dryRun: true });
    expect(await messageOf(client.of(core.Event).create(event('a')))).toBe('accepted');
  });

  test('needs a configuration', async () => {
    await expect(serve('EventRateLimit')).rejects.toThrow('the admission plugin EventRateLimit needs a configuration');
  });
});

test('PodNodeSelector allows only the labels that the configuration lists for a namespace', async () => {
  const selectors = new Map([['default', 'env=test']]);
  const { client } = await serve('PodNodeSelector', undefined, { PodNodeSelector: selectors });
  expect(await messageOf(client.of(core.Pod).create(pod('p', { nodeSelector: { env: 'live' } })))).toBe(
    'pods "p" is forbidden: pod node label selector labels conflict with its namespace whitelist',
  );
  expect(await messageOf(client.of(core.Pod).create(pod('p', { nodeSelector: { env: 'test' } })))).toBe('accepted');
});

describe('PodSecurity with a configuration', () => {
  const baseline = { level: 'baseline', version: 'latest' } as const;
  const privileged = { level: 'privileged', version: 'latest' } as const;
  const defaults = { enforce: baseline, audit: privileged, warn: privileged };
  const none = new Set<string>();

  test('applies the default standard where a namespace has no labels', async () => {
    const PodSecurity = { defaults, exemptions: { namespaces: none, usernames: none, runtimeClasses: none } };
    const { client } = await serve('AlwaysAdmit', undefined, { PodSecurity });
    expect(await messageOf(client.of(core.Pod).create(pod('p', { hostNetwork: true })))).toContain(
      'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)',
    );
  });

  test('leaves exempt users and namespaces alone', async () => {
    const exemptions = { namespaces: new Set(['free']), usernames: new Set(['tester']), runtimeClasses: none };
    const { client } = await serve('AlwaysAdmit', undefined, { PodSecurity: { defaults, exemptions } });
    expect(await messageOf(client.of(core.Pod).create(pod('p', { hostNetwork: true })))).toBe('accepted');
    const warnings: string[] = [];
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await client.of(core.Namespace).create({ metadata: { name: 'free', labels } }, { onWarning: (text) => warnings.push(text) });
    expect(warnings).toEqual(['namespace "free" is exempt from Pod Security, and the policy (enforce=restricted:latest) will be ignored']);
  });
});
