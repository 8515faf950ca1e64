import type { core } from '#api';
import { type Clock, Lru, type Random, retry } from '#base';
import { encodeJson, isJsonObject } from '#machinery';
import type { KubeconfigFile, KubeconfigWebhook } from '../../webhook-client/kubeconfig-webhook.ts';
import { isTemporaryFailure } from '../../webhook-client/retried-post.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { isAboutPods, pluginForbiddenError } from './plugin-deps.ts';

export interface ImagePolicy {
  readonly kubeconfig: KubeconfigFile;
  /** How long responses are cached; 0: not at all. */
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  /** The time before the first retry. */
  readonly retryBackoffMs: number;
  /** What happens when the service fails. */
  readonly defaultAllow: boolean;
}

interface ImagePolicyDeps {
  readonly webhook: Pick<KubeconfigWebhook, 'post'>;
  readonly clock: Clock;
  readonly random: Random;
}

interface ReviewStatus {
  readonly allowed: boolean;
  readonly reason: string;
  readonly auditAnnotations: Readonly<Record<string, unknown>>;
}

const AUDIT_PREFIX = 'imagepolicywebhook.image-policy.k8s.io/';
const OFFERED_ANNOTATIONS = '.image-policy.k8s.io/';
const REMEMBERED = 1024;
const ATTEMPTS = 5;
const TIMEOUT_MS = 30_000;

/** Asks a service whether a pod's images may run, by ImageReview. */
export function imagePolicyWebhook(policy: ImagePolicy, deps: ImagePolicyDeps): AdmissionPlugin {
  const reviews = new Lru<string, ReviewStatus>({ capacity: REMEMBERED, clock: deps.clock });
  return {
    name: 'ImagePolicyWebhook',
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods'],
    validate: async (attributes) => {
      if (!isAboutPods(attributes, 'ephemeralcontainers')) return;
      const spec = reviewSpec(attributes);
      const key = encodeJson(spec);
      const status = reviews.get(key) ?? (await review(attributes, spec, policy, deps));
      if (status === undefined) return;
      const ttlMs = status.allowed ? policy.allowTtlMs : policy.denyTtlMs;
      if (ttlMs > 0 && !reviews.has(key)) reviews.set(key, status, ttlMs);
      demandAllowed(attributes, status);
    },
  };
}

function demandAllowed(attributes: AdmissionAttributes, { allowed, reason, auditAnnotations }: ReviewStatus): void {
  for (const [key, value] of Object.entries(auditAnnotations)) attributes.audit?.annotate(AUDIT_PREFIX + key, String(value));
  if (allowed) return;
  const denied = 'image policy webhook backend denied one or more images';
  throw pluginForbiddenError(attributes, reason === '' ? 'one or more images rejected by webhook backend' : `${denied}: ${reason}`);
}

function reviewSpec({ subresource, object, namespace }: AdmissionAttributes) {
  const { metadata, spec } = object as core.Pod;
  const containers =
    subresource === '' ? [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])] : (spec?.ephemeralContainers ?? []);
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.includes(OFFERED_ANNOTATIONS));
  return {
    containers: containers.map(({ image }) => ({ image: image ?? '' })),
    ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations) }),
    namespace,
  };
}

/** Undefined when the service fails and its failure allows the pod. */
async function review(
  attributes: AdmissionAttributes,
  spec: unknown,
  { retryBackoffMs, defaultAllow }: ImagePolicy,
  { webhook, clock, random }: ImagePolicyDeps,
): Promise<ReviewStatus | undefined> {
  const body = { apiVersion: 'imagepolicy.k8s.io/v1alpha1', kind: 'ImageReview', metadata: {}, spec, status: { allowed: false } };
  const backoff = { initialMs: retryBackoffMs, factor: 1.5, jitter: 0.2 };
  try {
    const options = { clock, random, backoff, attempts: ATTEMPTS, retryOn: isTemporaryFailure };
    return statusOf(await retry(options, () => webhook.post(body, { timeoutMs: TIMEOUT_MS, signal: attributes.signal })));
  } catch (error) {
    if (!defaultAllow) throw pluginForbiddenError(attributes, (error as Error).message);
    attributes.audit?.annotate(`${AUDIT_PREFIX}failed-open`, 'true');
    return undefined;
  }
}

function statusOf(answer: unknown): ReviewStatus {
  const status = isJsonObject(answer as never) ? (answer as Record<string, unknown>).status : undefined;
  if (!isJsonObject(status as never)) throw new Error('the answer is no ImageReview with a status');
  const { allowed, reason, auditAnnotations } = status as Record<string, unknown>;
  return {
    allowed: allowed === true,
    reason: typeof reason === 'string' ? reason : '',
    auditAnnotations: isJsonObject(auditAnnotations as never) ? (auditAnnotations as Record<string, unknown>) : {},
  };
}
