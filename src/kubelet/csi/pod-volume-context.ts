import type { core, storage } from '#api';
import { formatTime } from '#machinery';
import type { PodTokens } from '../volumes/payload/pod-tokens.ts';

export interface PodVolumeFacts {
  readonly pod: core.Pod;
  readonly options: storage.CSIDriverSpec;
  readonly isEphemeral: boolean;
}

const DEFAULT_TOKEN_SECONDS = 3600;

/** What a driver is told of the pod that a volume is published for. */
export interface PodVolumeInfo {
  readonly volumeContext: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
}

/** Pod information for a driver that requests it: the pod's name, and service account tokens, among the secrets if the driver wants them there. */
export async function podVolumeInfo(facts: PodVolumeFacts, tokens: PodTokens): Promise<PodVolumeInfo> {
  const { options } = facts;
  const podTokens = await serviceAccountTokens(facts, tokens);
  const inSecrets = options.serviceAccountTokenInSecrets === true;
  return {
    volumeContext: { ...(options.podInfoOnMount === true && podIdentity(facts)), ...(!inSecrets && podTokens) },
    secrets: inSecrets ? podTokens : {},
  };
}

function podIdentity({ pod: { metadata, spec }, isEphemeral }: PodVolumeFacts): Readonly<Record<string, string>> {
  return {
    'csi.storage.k8s.io/pod.name': metadata.name,
    'csi.storage.k8s.io/pod.namespace': metadata.namespace ?? '',
    'csi.storage.k8s.io/pod.uid': metadata.uid ?? '',
    'csi.storage.k8s.io/serviceAccount.name': spec?.serviceAccountName ?? '',
    'csi.storage.k8s.io/ephemeral': String(isEphemeral),
  };
}

async function serviceAccountTokens({ pod, options }: PodVolumeFacts, tokens: PodTokens): Promise<Readonly<Record<string, string>>> {
  const requests = options.tokenRequests ?? [];
  if (requests.length === 0) return {};
  const entries: [string, object][] = [];
  for (const { audience = '', expirationSeconds = DEFAULT_TOKEN_SECONDS } of requests) {
    const { token, expiresAtMs } = await tokens.get(pod, { audience, expirationSeconds: Number(expirationSeconds) });
    entries.push([audience, { token, expirationTimestamp: formatTime(expiresAtMs) }]);
  }
  return { 'csi.storage.k8s.io/serviceAccount.tokens': JSON.stringify(Object.fromEntries(entries)) };
}
