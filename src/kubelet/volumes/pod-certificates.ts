import { certificatesV1beta1, core } from '#api';
import { encodePem, pemBlocks, type Random } from '#base';
import type { Client, EventRecorder, InformerDeps } from '#client';
import { goQuote, parseTime } from '#machinery';
import { OptionalApiInformer } from './optional-api-informer.ts';
import { newPodCertificateKey } from './payload/pod-certificate-key.ts';

type Request = certificatesV1beta1.PodCertificateRequest;

export interface PodCertificatesDeps extends InformerDeps {
  readonly client: Client;
  readonly random: Random;
  readonly recorder: EventRecorder;
  readonly nodeName: string;
}

/** One `podCertificate` of a projected volume. */
export interface CertificateSource {
  readonly pod: core.Pod;
  readonly volume: string;
  /** Its position among the sources of the volume. */
  readonly index: number;
  readonly projection: core.PodCertificateProjection;
}

export interface CredentialBundle {
  readonly key: string;
  /** As PEM, without comments and headers. */
  readonly chain: string;
  /** When to request again. */
  readonly refreshAtMs: number;
}

interface Credential {
  readonly key: string;
  readonly chain: string;
  readonly beginRefreshAtMs: number;
  readonly notAfterMs: number;
  isOverdueReported: boolean;
  isExpiryReported: boolean;
}

interface Projection {
  current?: Credential | undefined;
  pending?: { readonly key: string; readonly name: string; readonly abandonAtMs: number } | undefined;
  /** A denied or failed request is final for the pod. */
  failure?: string;
}

/** A request that is not seen for this long was deleted: another one is made. */
const ABANDON_MS = 10 * 60_000;
const OVERDUE_MS = 10 * 60_000;
/** Jitter, so that pods do not all request at once. */
const JITTER_MS = 5 * 60_000;
/** A signer's answer is seen by the watch; this is for requests that were deleted, and events. */
const PENDING_CHECK_MS = 60_000;

/** Keys and certificates of pods, requested from signers by PodCertificateRequests, and renewed before they expire. */
export class PodCertificates implements AsyncDisposable {
  readonly #projections = new Map<string, Map<string, Projection>>();
  readonly #informer: OptionalApiInformer<Request>;

  /** `onChange`: the answers to these pods' requests changed. */
  constructor(
    private readonly deps: PodCertificatesDeps,
    onChange: (podUids: readonly string[]) => void,
  ) {
    const changed = ({ spec }: Request) => onChange([spec.podUID]);
    this.#informer = new OptionalApiInformer<Request>(deps.client.of(certificatesV1beta1.PodCertificateRequest) as never, deps, {
      user: 'podCertificate projection',
      fieldSelector: `spec.nodeName=${deps.nodeName}`,
      handler: { add: changed, update: (_, now) => changed(now), delete: changed },
    });
  }

  /** The credentials of a projection. Rejects with upstream's text until they are issued, and when they never will be. */
  async get(source: CertificateSource): Promise<CredentialBundle> {
    const { lister } = await this.#informer.synced();
    const projection = this.#projectionOf(source);
    this.#readAnswer(source, projection, lister.get.bind(lister));
    const { clock } = this.deps;
    const isDue = projection.current === undefined || clock.now() >= projection.current.beginRefreshAtMs;
    if (isDue && projection.pending === undefined && projection.failure === undefined) await this.#request(source, projection);
    if (projection.failure !== undefined) throw new Error(projection.failure);
    if (projection.current === undefined) throw new Error('credential bundle is not issued yet');
    const { key, chain, beginRefreshAtMs } = projection.current;
    return { key, chain, refreshAtMs: isDue ? clock.now() + PENDING_CHECK_MS : beginRefreshAtMs };
  }

  release(podUid: string): void {
    this.#projections.delete(podUid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#informer[Symbol.asyncDispose]();
  }

  #projectionOf({ pod, volume, index }: CertificateSource): Projection {
    const uid = pod.metadata.uid ?? '';
    const ofPod = this.#projections.get(uid) ?? new Map<string, Projection>();
    this.#projections.set(uid, ofPod);
    const key = `${volume}/${index}`;
    const projection = ofPod.get(key) ?? {};
    ofPod.set(key, projection);
    return projection;
  }

  #readAnswer(source: CertificateSource, projection: Projection, find: (key: { namespace: string; name: string }) => Request | undefined) {
    const { pod } = source;
    const { pending } = projection;
    if (pending === undefined) return;
    const { namespace = '' } = pod.metadata;
    const request = find({ namespace, name: pending.name });
    if (request !== undefined) this.#settle(source, projection, request);
    else if (this.deps.clock.now() > pending.abandonAtMs) projection.pending = undefined;
    if (projection.pending !== undefined && projection.current !== undefined) this.#reportAge(pod, projection.current);
  }

  #settle({ pod }: CertificateSource, projection: Projection, { metadata, status }: Request): void {
    for (const { type, reason = '', message = '' } of status?.conditions ?? []) {
      if (type === 'Issued') {
        projection.current = this.#credentialOf(projection.pending?.key ?? '', status ?? {});
        projection.pending = undefined;
        return;
      }
      if (type !== 'Denied' && type !== 'Failed') continue;
      const details = `reason=${goQuote(reason)} message=${goQuote(message)}`;
      projection.failure = `PodCertificateRequest was permanently ${type.toLowerCase()}: ${details}`;
      projection.pending = undefined;
      const outcome = type === 'Denied' ? 'was denied' : 'failed';
      const text = `PodCertificateRequest ${metadata.namespace}/${metadata.name} ${outcome}, ${details.replace(' message', ', message')}`;
      this.deps.recorder.warning(pod, type, text);
      return;
    }
  }

  #credentialOf(key: string, { certificateChain = '', beginRefreshAt, notAfter }: NonNullable<Request['status']>): Credential {
    const chain = Array.from(pemBlocks(certificateChain), ({ bytes }) => encodePem('CERTIFICATE', bytes)).join('');
    const beginRefreshAtMs = parseTime(beginRefreshAt ?? '') + this.#jitterMs();
    return { key, chain, beginRefreshAtMs, notAfterMs: parseTime(notAfter ?? ''), isOverdueReported: false, isExpiryReported: false };
  }

  #reportAge(pod: core.Pod, credential: Credential): void {
    const now = this.deps.clock.now();
    const { recorder } = this.deps;
    if (now > credential.beginRefreshAtMs + OVERDUE_MS && !credential.isOverdueReported) {
      recorder.warning(pod, 'CertificateOverdueForRefresh', 'PodCertificate refresh overdue');
      credential.isOverdueReported = true;
    }
    if (now > credential.notAfterMs && !credential.isExpiryReported) {
      recorder.warning(pod, 'CertificateExpired', 'PodCertificate expired');
      credential.isExpiryReported = true;
    }
  }

  async #request({ pod, projection: wanted }: CertificateSource, projection: Projection): Promise<void> {
    const { client, nodeName, clock } = this.deps;
    const { name: podName, namespace = '', uid: podUID = '' } = pod.metadata;
    const serviceAccountName = pod.spec?.serviceAccountName ?? '';
    const account = await client.of(core.ServiceAccount).get({ namespace, name: serviceAccountName });
    const node = await client.of(core.Node).get({ name: nodeName });
    const { pem, stubRequest } = await newPodCertificateKey(wanted.keyType ?? '');
    const { signerName = '', maxExpirationSeconds, userAnnotations } = wanted;
    const created = await client.of(certificatesV1beta1.PodCertificateRequest).create({
      metadata: {
        namespace,
        generateName: 'req-',
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: podName, uid: podUID }],
      } as never,
      spec: {
        ...{ signerName, podName, podUID, serviceAccountName, nodeName },
        ...{ serviceAccountUID: account.metadata.uid ?? '', nodeUID: node.metadata.uid ?? '', stubPKCS10Request: stubRequest },
        ...(maxExpirationSeconds !== undefined && { maxExpirationSeconds }),
        ...(userAnnotations && { unverifiedUserAnnotations: userAnnotations }),
      },
    });
    projection.pending = { key: pem, name: created.metadata.name, abandonAtMs: clock.now() + ABANDON_MS + this.#jitterMs() };
  }

  #jitterMs(): number {
    return this.deps.random.float() * JITTER_MS;
  }
}
