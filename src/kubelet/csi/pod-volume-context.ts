import type { core, storage } from '#api';
import { formatTime } from '#machinery';
import type { PodTokens } from '../volumes/payload/pod-tokens.ts';

export interface PodVolumeFacts {
  readonly pod: core.Pod;
  readonly options: storage.CSIDriverSpec;
  readonly isEphemeral: boolean;
}

const DEFAULT_TOKEN_SECONDS = 3600;

/** Pod information for a driver that requests it: the pod's name, and service account tokens. */
export async function podVolumeContext(
  { pod, options, isEphemeral }: PodVolumeFacts,
  tokens: PodTokens,
): Promise<Readonly<Record<string, string>>> {
  const context: Record<string, string> = {};
  if (options.podInfoOnMount === true) {
    context['csi.storage.k8s.io/pod.name'] = pod.metadata.name;
    context['csi.storage.k8s.io/pod.namespace'] = pod.metadata.namespace ?? '';
    context['csi.storage.k8s.io/pod.uid'] = pod.metadata.uid ?? '';
    context['csi.storage.k8s.io/serviceAccount.name'] = pod.spec?.serviceAccountName ?? '';
    context['csi.storage.k8s.io/ephemeral'] = String(isEphemeral);
  }
  const requests = options.tokenRequests ?? [];
  if (requests.length === 0) return context;
  const entries: [string, object][] = [];
  for (const { audience = '', expirationSeconds = DEFAULT_TOKEN_SECONDS } of requests) {
    const { token, expiresAtMs } = await tokens.get(pod, { audience, expirationSeconds: Number(expirationSeconds) });
    entries.push([audience, { token, expirationTimestamp: formatTime(expiresAtMs) }]);
  }
  context['csi.storage.k8s.io/serviceAccount.tokens'] = JSON.stringify(Object.fromEntries(entries));
  return context;
}
