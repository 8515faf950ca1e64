import { describe, expect, test } from 'vitest';
import { decodeManifest } from './decode-manifest.ts';

const ORIGIN = { source: 'file', place: '/m/web.yaml', nodeName: 'node-1', nowMs: 0 } as const;
const POD = (spec = '', metadata = '') => `
apiVersion: v1
kind: Pod
metadata: { name: web${metadata} }
spec:
  containers: [{ name: c, image: 'app:1'${spec} }]
`;

describe('a manifest', () => {
  test('becomes a pod of the node, with upstream’s name, annotations and toleration', () => {
    const [pod] = decodeManifest(POD(), ORIGIN);
    expect(pod?.metadata).toMatchObject({ name: 'web-node-1', namespace: 'default', uid: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(pod?.metadata.annotations).toEqual({
      'kubernetes.io/config.hash': pod?.metadata.uid,
      'kubernetes.io/config.seen': '1970-01-01T00:00:00Z',
      'kubernetes.io/config.source': 'file',
    });
    expect(pod?.spec).toMatchObject({
      nodeName: 'node-1',
      restartPolicy: 'Always',
      tolerations: [{ operator: 'Exists', effect: 'NoExecute' }],
    });
    expect(pod?.status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
  });

  test('is another pod when its text or its place is another', () => {
    const uid = (text: string, place: string = ORIGIN.place) => decodeManifest(text, { ...ORIGIN, place })[0]?.metadata.uid;
    expect(uid(POD())).toBe(uid(POD()));
    expect(new Set([uid(POD()), uid(POD(', command: [x]')), uid(POD(), '/m/other.yaml')]).size).toBe(3);
  });

  test('of a URL may be a list, and gets no toleration', () => {
    const list = {
      apiVersion: 'v1',
      kind: 'PodList',
      items: [{ metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i' }] } }],
    };
    const pods = decodeManifest(JSON.stringify(list), { ...ORIGIN, source: 'http' });
    expect(pods.map(({ metadata, spec }) => [metadata.name, spec?.tolerations])).toEqual([['a-node-1', undefined]]);
  });

  test.each([
    ['kind: Service\napiVersion: v1', 'invalid pod: no pod of v1, but Service of v1'],
    [POD().replace('name: web', 'labels: {}'), 'invalid pod: name is needed for the pod'],
    [POD(', env: [{ name: A, valueFrom: { secretKeyRef: { name: s, key: k } } }]'), 'static pods may not reference secrets'],
    [POD(', envFrom: [{ configMapRef: { name: m } }]'), 'static pods may not reference configmaps'],
    [`${POD()}  serviceAccountName: robot\n`, 'static pods may not reference serviceaccounts'],
    [POD(', ports: [{ containerPort: 0 }]'), 'spec.containers[0].ports[0].containerPort'],
  ])('that cannot be run is refused with the reason (%#)', (text, message) => {
    expect(() => decodeManifest(text, ORIGIN)).toThrow(message);
  });
});
