import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import type { PodTokens, TokenSpec } from '../volumes/payload/pod-tokens.ts';
import { podVolumeInfo } from './pod-volume-context.ts';

const POD = { metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec: { serviceAccountName: 's', containers: [] } } as core.Pod;
const tokens = {
  get: async (_: core.Pod, { audience, expirationSeconds }: TokenSpec) => ({
    ...{ token: `${audience || 'default'}-${expirationSeconds}`, expiresAtMs: Date.UTC(2026, 0, 2), refreshAtMs: 0 },
  }),
} as unknown as PodTokens;

describe('what a driver is told of a pod', () => {
  it('is empty unless the CSIDriver asks for it', async () => {
    expect(await podVolumeInfo({ pod: POD, options: {}, isEphemeral: false }, tokens)).toEqual({ volumeContext: {}, secrets: {} });
  });

  it("has the pod's name and uid with podInfoOnMount", async () => {
    const { volumeContext } = await podVolumeInfo({ pod: POD, options: { podInfoOnMount: true }, isEphemeral: true }, tokens);
    expect(volumeContext).toEqual({
      'csi.storage.k8s.io/pod.name': 'p',
      'csi.storage.k8s.io/pod.namespace': 'n',
      'csi.storage.k8s.io/pod.uid': 'u',
      'csi.storage.k8s.io/serviceAccount.name': 's',
      'csi.storage.k8s.io/ephemeral': 'true',
    });
  });

  it.each([
    ['in the context by default', {}, 'volumeContext'],
    ['among the secrets with serviceAccountTokenInSecrets', { serviceAccountTokenInSecrets: true }, 'secrets'],
  ] as const)('has a service account token per audience with tokenRequests, %s', async (_, option, member) => {
    const tokenRequests = [{ audience: 'vault', expirationSeconds: 700 }, { audience: '' }];
    const info = await podVolumeInfo({ pod: POD, options: { tokenRequests, ...option }, isEphemeral: false }, tokens);
    const { [member]: place, ...other } = info;
    expect(Object.values(other)).toEqual([{}]);
    expect(JSON.parse(place['csi.storage.k8s.io/serviceAccount.tokens'] ?? '')).toEqual({
      '': { token: 'default-3600', expirationTimestamp: '2026-01-02T00:00:00Z' },
      vault: { token: 'vault-700', expirationTimestamp: '2026-01-02T00:00:00Z' },
    });
  });
});
