import { beforeEach, describe, expect, it } from 'vitest';
import { MetricsRegistry, silentLogger, VirtualClock } from '#base';
import { openMemoryStore } from '#store';
import { ResourceStorage } from '../../registry/generic/resource-storage.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { Decision } from '../authorizer.ts';
import { NodeAuthorizer } from './node-authorizer.ts';

const RULES = [{ apiGroups: [''], resources: ['services'], verbs: ['get', 'list', 'watch'] }];

let storages: Record<'pods' | 'persistentVolumes' | 'volumeAttachments' | 'resourceSlices' | 'podCertificateRequests', ResourceStorage>;
let authorizer: NodeAuthorizer;

beforeEach(() => {
  const store = openMemoryStore({ clock: new VirtualClock() });
  const storage = (location: string, namespaced: boolean) =>
    new ResourceStorage(
      { location, group: '', resource: location, kind: 'X', apiVersion: 'v1', namespaced },
      { store, clock: new VirtualClock(), logger: silentLogger, metrics: new MetricsRegistry() },
    );
  storages = {
    pods: storage('pods', true),
    persistentVolumes: storage('persistentvolumes', false),
    volumeAttachments: storage('volumeattachments', false),
    resourceSlices: storage('resourceslices', false),
    podCertificateRequests: storage('podcertificaterequests', true),
  };
  authorizer = new NodeAuthorizer({ storages: () => storages, rules: RULES });
});

it('the node authorizer has no opinion on pod certificates when they are disabled', async () => {
  const { podCertificateRequests: _, ...rest } = storages;
  authorizer = new NodeAuthorizer({ storages: () => rest, rules: RULES });
  expect((await ask('create certificates.k8s.io:podcertificaterequests')).verdict).toBe('no opinion');
});

async function put(storage: ResourceStorage, name: string, object: object, metadata: object = {}): Promise<void> {
  const key = storage.keyOf('ns', name);
  const full = {
    metadata: { name, ...(storage.namespaced && { namespace: 'ns' }), uid: `uid-${name}`, ...metadata },
    ...object,
  } as KubeObject;
  await storage.cache.start();
  const current = storage.cache.get(key);
  await (current === undefined ? storage.create(key, full) : storage.update(current, full));
}

const NODE = { name: 'system:node:n', groups: ['system:nodes', 'system:authenticated'] };

interface Ask {
  readonly user?: { name: string; groups: string[] };
  readonly selector?: string;
}

/** `get secrets/s`, `create serviceaccounts/s/token`, `update storage.k8s.io:csinodes/n` */
async function ask(text: string, { user = NODE, selector }: Ask = {}): Promise<Decision> {
  const [verb = '', target = ''] = text.split(' ');
  const [group = '', path = ''] = target.includes(':') ? target.split(':') : ['', target];
  const [resource = '', name = '', subresource = ''] = path.split('/');
  const isCluster = ['nodes', 'persistentvolumes', 'csinodes', 'volumeattachments', 'resourceslices', 'services'].includes(resource);
  const namespace = isCluster ? '' : resource === 'leases' ? 'kube-node-lease' : 'ns';
  const requirements =
    selector === undefined ? {} : { fieldRequirements: [{ field: 'spec.nodeName', operator: '=' as const, value: selector }] };
  return authorizer.authorize({
    user,
    verb,
    isResource: true,
    path: '',
    group,
    version: '*',
    resource,
    subresource,
    namespace,
    name,
    ...requirements,
  });
}
const allowed = async (text: string, options?: Ask) => (await ask(text, options)).verdict === 'allow';

const POD = {
  spec: {
    nodeName: 'n',
    serviceAccountName: 'account',
    imagePullSecrets: [{ name: 'pull' }],
    containers: [
      {
        name: 'c',
        envFrom: [{ secretRef: { name: 'env-from' } }, { configMapRef: { name: 'map-from' } }],
        env: [{ name: 'x', valueFrom: { secretKeyRef: { name: 'env', key: 'k' } } }],
      },
    ],
    initContainers: [{ name: 'i', env: [{ name: 'x', valueFrom: { configMapKeyRef: { name: 'init-map', key: 'k' } } }] }],
    volumes: [
      { name: 'a', secret: { secretName: 'volume' } },
      { name: 'b', configMap: { name: 'volume-map' } },
      { name: 'p', projected: { sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'projected-map' } }] } },
      { name: 'd', persistentVolumeClaim: { claimName: 'claim' } },
      { name: 'e', ephemeral: {} },
      { name: 'f', csi: { driver: 'd', nodePublishSecretRef: { name: 'csi' } } },
    ],
    resourceClaims: [
      { name: 'r', resourceClaimName: 'given' },
      { name: 't', resourceClaimTemplateName: 'x' },
    ],
  },
  status: { resourceClaimStatuses: [{ name: 't', resourceClaimName: 'made' }] },
};

describe('a node', () => {
  it.each([
    'secrets/pull',
    'secrets/env-from',
    'secrets/env',
    'secrets/volume',
    'secrets/projected',
    'secrets/csi',
    'configmaps/map-from',
    'configmaps/init-map',
    'configmaps/volume-map',
    'configmaps/projected-map',
    'persistentvolumeclaims/claim',
    'persistentvolumeclaims/p-e',
    'resource.k8s.io:resourceclaims/given',
    'resource.k8s.io:resourceclaims/made',
    'serviceaccounts/account',
    'pods/p',
  ])('reads %s while a pod that uses it runs there, and no longer', async (target) => {
    expect(await allowed(`get ${target}`)).toBe(false);
    await put(storages.pods, 'p', POD);
    expect(await allowed(`get ${target}`)).toBe(true);
    expect(await allowed(`get ${target}`, { user: { ...NODE, name: 'system:node:other' } })).toBe(false);
    await storages.pods.delete(storages.pods.cache.get(storages.pods.keyOf('ns', 'p'))!);
    expect(await ask(`get ${target}`)).toEqual({ verdict: 'no opinion', reason: "no relationship found between node 'n' and this object" });
  });

  it('keeps what another of its pods still uses', async () => {
    await put(storages.pods, 'p', POD);
    await put(storages.pods, 'q', POD);
    await storages.pods.delete(storages.pods.cache.get(storages.pods.keyOf('ns', 'p'))!);
    expect(await allowed('get secrets/volume')).toBe(true);
  });

  it('gets nothing by a pod that it made itself, or that runs nowhere', async () => {
    await put(storages.pods, 'p', POD, { annotations: { 'kubernetes.io/config.mirror': 'x' } });
    await put(storages.pods, 'q', { spec: { ...POD.spec, nodeName: '' } });
    expect(await allowed('get secrets/volume')).toBe(false);
    expect(await allowed('get pods/p')).toBe(true);
  });

  it('sees what is added to a pod that runs: an ephemeral container, a claim', async () => {
    await put(storages.pods, 'p', POD);
    expect(await allowed('get secrets/late')).toBe(false);
    const late = { name: 'e', envFrom: [{ secretRef: { name: 'late' } }] };
    const status = { resourceClaimStatuses: [{ name: 't', resourceClaimName: 'other' }] };
    await put(storages.pods, 'p', { spec: { ...POD.spec, ephemeralContainers: [late] }, status });
    expect(await allowed('get secrets/late')).toBe(true);
    expect(await allowed('get resource.k8s.io:resourceclaims/other')).toBe(true);
    expect(await allowed('get resource.k8s.io:resourceclaims/made')).toBe(false);
  });

  it('reads a volume, and the secrets to mount it, through the claim of its pod', async () => {
    await put(storages.pods, 'p', POD);
    const csi = {
      driver: 'd',
      nodeStageSecretRef: { name: 'stage', namespace: 'secure' },
      controllerPublishSecretRef: { name: 'control', namespace: 'ns' },
    };
    await put(storages.persistentVolumes, 'v', { spec: { csi: { ...csi, nodePublishSecretRef: { name: 'publish', namespace: 'ns' } } } });
    expect(await allowed('get persistentvolumes/v')).toBe(false);
    await put(storages.persistentVolumes, 'v', {
      spec: { claimRef: { namespace: 'ns', name: 'claim' }, csi: { ...csi, nodePublishSecretRef: { name: 'publish', namespace: 'ns' } } },
    });
    expect(await allowed('get persistentvolumes/v')).toBe(true);
    expect(await allowed('get secrets/publish')).toBe(true);
    expect(await allowed('get secrets/control')).toBe(false);
    expect(await allowed('get persistentvolumes/v', { user: { ...NODE, name: 'system:node:other' } })).toBe(false);
  });

  it('reads attachments and slices that name it', async () => {
    await put(storages.volumeAttachments, 'a', { spec: { nodeName: 'n' } });
    await put(storages.resourceSlices, 's', { spec: { nodeName: 'n' } });
    await put(storages.podCertificateRequests, 'c', { spec: { nodeName: 'n' } });
    expect(await allowed('get storage.k8s.io:volumeattachments/a')).toBe(true);
    expect(await allowed('update resource.k8s.io:resourceslices/s')).toBe(true);
    expect(await allowed('get certificates.k8s.io:podcertificaterequests/c')).toBe(true);
    expect(await allowed('get storage.k8s.io:volumeattachments/b')).toBe(false);
  });

  it.each<[string, string | true, string?]>([
    ['list secrets', 'No Object name found'],
    ['watch secrets/x', "no relationship found between node 'n' and this object"],
    ['update secrets/x', 'can only read resources of this type'],
    ['get secrets/x/y', 'cannot read subresource'],
    ['list persistentvolumes', 'can only get individual resources of this type'],
    ['get persistentvolumes/x/status', 'cannot get subresource'],
    ['get persistentvolumeclaims/x/status', 'can only get/update/patch this type'],
    ['update persistentvolumeclaims/x/status', "no relationship found between node 'n' and this object"],
    ['list serviceaccounts', 'can only create tokens for individual service accounts'],
    ['create serviceaccounts/x', 'can only create token subresource of serviceaccount'],
    ['create serviceaccounts/x/token', "no relationship found between node 'n' and this object"],
    ['get coordination.k8s.io:leases/n', true],
    ['create coordination.k8s.io:leases', true],
    ['get coordination.k8s.io:leases/m', 'can only access node lease with the same name as the requesting node'],
    ['list coordination.k8s.io:leases', 'can only get, create, update, patch, or delete a node lease'],
    ['get storage.k8s.io:csinodes/n', true],
    ['get storage.k8s.io:csinodes/m', 'can only access CSINode with the same name as the requesting node'],
    ['list storage.k8s.io:csinodes', 'can only get, create, update, patch, or delete a CSINode'],
    ['create resource.k8s.io:resourceslices', true],
    ['list resource.k8s.io:resourceslices', 'can only list/watch/deletecollection resourceslices with nodeName field selector'],
    ['list resource.k8s.io:resourceslices', true, 'n'],
    ['get nodes/n', true],
    ['get nodes/m', "node 'n' cannot read 'm', only its own Node object"],
    ['list nodes', "node 'n' cannot read all nodes, only its own Node object"],
    ['create nodes', true],
    ['update nodes/n/status', true],
    ['delete nodes/n', ''],
    ['list pods', 'can only list/watch pods with spec.nodeName field selector'],
    ['watch pods', true, 'n'],
    ['watch pods', 'can only list/watch pods with spec.nodeName field selector', 'm'],
    ['create pods', true],
    ['delete pods/x', true],
    ['patch pods/x/status', true],
    ['create pods/x/eviction', true],
    ['update pods/x', ''],
    ['get pods/x/exec', ''],
    ['create certificates.k8s.io:podcertificaterequests', true],
    ['delete certificates.k8s.io:podcertificaterequests/x', 'nodes may not delete podcertificaterequests'],
    ['list services', true],
    ['update services/x', ''],
  ])('%s: %s (selecting %s)', async (text, expected, selector) => {
    const decision = await ask(text, selector === undefined ? {} : { selector });
    expect(decision).toEqual(expected === true ? { verdict: 'allow', reason: '' } : { verdict: 'no opinion', reason: expected });
  });
});

describe('a user that is not a node', () => {
  it.each([
    ['by its groups', { name: 'system:node:n', groups: ['others'] }],
    ['by its name', { name: 'n', groups: ['system:nodes'] }],
  ])('%s, is not for this authorizer', async (_, user) => {
    expect(await ask('list services', { user })).toEqual({ verdict: 'no opinion', reason: '' });
  });

  it('without a name is told so', async () => {
    const user = { name: 'system:node:', groups: ['system:nodes'] };
    expect(await ask('list services', { user })).toEqual({ verdict: 'no opinion', reason: 'unknown node for user "system:node:"' });
  });
});
