import { expect, test } from 'vitest';
import { restrictPodCertificateRequests } from './pod-certificate-requests.ts';

const object = (name: string, uid: string, rest: object = {}) => ({ metadata: { name, uid }, ...rest });
const objects = new Map<string, unknown>([
  ['nodes//n', object('n', 'node-uid')],
  ['pods/d/p', object('p', 'pod-uid', { spec: { nodeName: 'n', serviceAccountName: 'sa' } })],
  ['pods/d/elsewhere', object('elsewhere', 'pod-uid', { spec: { nodeName: 'm', serviceAccountName: 'sa' } })],
  [
    'pods/d/mirror',
    {
      metadata: { name: 'mirror', uid: 'pod-uid', annotations: { 'kubernetes.io/config.mirror': 'x' } },
      spec: { nodeName: 'n', serviceAccountName: 'sa' },
    },
  ],
  ['serviceaccounts/d/sa', object('sa', 'sa-uid')],
]);
const deps = {
  table: {
    findPreferred: (_group: string, resource: string) => ({
      storage: {
        get: (namespace: string, name: string) => {
          const object = objects.get(`${resource}/${namespace}/${name}`);
          return object === undefined ? undefined : { object };
        },
      },
    }),
  },
};
const spec = {
  ...{ podName: 'p', podUID: 'pod-uid', nodeName: 'n', nodeUID: 'node-uid' },
  ...{ serviceAccountName: 'sa', serviceAccountUID: 'sa-uid' },
};

function outcome(change: object, attributes: object = {}) {
  const all = {
    ...{ operation: 'CREATE', subresource: '', namespace: 'd', name: 'r' },
    resource: { group: 'certificates.k8s.io', resource: 'podcertificaterequests' },
    object: { metadata: { name: 'r' }, spec: { ...spec, ...change } },
    ...attributes,
  };
  return restrictPodCertificateRequests('n', all as never, deps as never).then(
    () => undefined,
    ({ code, message }: { code: number; message: string }) =>
      `${code} ${message.replace('podcertificaterequests.certificates.k8s.io "r" is forbidden: ', '')}`,
  );
}

test.each<readonly [string, object, string | undefined]>([
  ['its own pod', {}, undefined],
  ['another node', { nodeName: 'm' }, '403 PodCertificateRequest.Spec.NodeName="m", which is not the requesting node "n"'],
  [
    'a former node of that name',
    { nodeUID: 'x' },
    '500 PodCertificateRequest for pod "d/p" names node UID "x", inconsistent with the running node ("node-uid")',
  ],
  ['no pod', { podName: 'q' }, '500 while retrieving pod "d/q" named in the PodCertificateRequest: pod "q" not found'],
  [
    'a former pod of that name',
    { podUID: 'x' },
    '500 PodCertificateRequest for pod "d/p" contains pod UID ("x") which differs from running pod "pod-uid"',
  ],
  [
    'a pod of another node',
    { podName: 'elsewhere' },
    '403 pod "d/elsewhere" is not running on node "n" named in the PodCertificateRequest',
  ],
  ['a mirror pod', { podName: 'mirror' }, '403 pod "d/mirror" is a mirror pod'],
  [
    'another service account',
    { serviceAccountName: 'x' },
    '403 PodCertificateRequest for pod "d/p" contains serviceAccountName ("x") that differs from running pod ("sa")',
  ],
  [
    'a former service account of that name',
    { serviceAccountUID: 'x' },
    '500 PodCertificateRequest for pod "d/p" names service account UID "x", which differs from the running service account ("sa-uid")',
  ],
])('a node requests a certificate for %s', async (_what, change, expected) => {
  expect(await outcome(change)).toBe(expected);
});

test('a node may create PodCertificateRequests and nothing else', async () => {
  expect(await outcome({}, { operation: 'UPDATE' })).toBe('403 unexpected operation UPDATE');
  expect(await outcome({}, { subresource: 'status' })).toBe('403 unexpected subresource status');
});
