import type { core } from '#api';
import type { ProjectedFile } from '../files/atomic-writer.ts';
import { downwardApiPayload } from '../payload/downward-api-payload.ts';
import { configMapData, keyedPayload, missingConfigMapKey, missingSecretKey, secretData } from '../payload/keyed-payload.ts';
import { podUser } from '../payload/pod-user.ts';
import { MissingObject } from '../referenced-objects.ts';
import { messageOf } from '../volume-plugin.ts';
import type { Contents } from './content-volume.ts';
import type { PluginDeps } from './plugin-deps.ts';

type Files = ReadonlyMap<string, ProjectedFile>;

/** The pod, and the default file mode. */
export interface SourceContext {
  readonly pod: core.Pod;
  readonly defaultMode: number;
}

/** A source of a projected volume. */
interface ProjectionContext extends SourceContext {
  readonly volume: string;
  /** The position of the source in its volume. */
  readonly index: number;
}

interface KeyedReference {
  readonly name?: string | undefined;
  readonly items?: readonly core.KeyToPath[] | undefined;
  readonly optional?: boolean | undefined;
}

const DEFAULT_TOKEN_SECONDS = 3600;
const PRIVATE_MODE = 0o600;

/** Reads volume contents from the API and the pod. */
export class ContentSources {
  constructor(private readonly deps: PluginDeps) {}

  async configMap(source: KeyedReference, { pod, defaultMode }: SourceContext): Promise<Files> {
    const reference = { kind: 'ConfigMap', namespace: pod.metadata.namespace ?? '', name: source.name ?? '' } as const;
    const map = await optionally(source, () => this.deps.objects.get(reference));
    return keyedPayload(map === undefined ? new Map() : configMapData(map), source, { defaultMode, missingKey: missingConfigMapKey });
  }

  async secret(source: KeyedReference, { pod, defaultMode }: SourceContext): Promise<Files> {
    const reference = { kind: 'Secret', namespace: pod.metadata.namespace ?? '', name: source.name ?? '' } as const;
    const secret = await optionally(source, () => this.deps.objects.get(reference));
    return keyedPayload(secret === undefined ? new Map() : secretData(secret), source, { defaultMode, missingKey: missingSecretKey });
  }

  downwardApi(items: readonly core.DownwardAPIVolumeFile[], { pod, defaultMode }: SourceContext): Files {
    return downwardApiPayload(items, { pod, defaultMode, allocatable: this.deps.allocatable() });
  }

  /** All sources in one directory. All errors are reported. */
  async projected({ name: volume, projected }: core.Volume, pod: core.Pod): Promise<Contents> {
    const { sources = [], defaultMode = 0o644 } = projected ?? {};
    const payload = new Map<string, ProjectedFile>();
    const problems: string[] = [];
    let refreshAtMs: number | undefined;
    for (const [index, source] of sources.entries()) {
      try {
        const contents = await this.#projection(source, { pod, defaultMode, volume, index });
        for (const [path, file] of contents.payload) payload.set(path, file);
        refreshAtMs = earliest(refreshAtMs, contents.refreshAtMs);
      } catch (error) {
        problems.push(messageOf(error));
      }
    }
    if (problems.length > 0) throw new Error(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`);
    return { payload, refreshAtMs };
  }

  async #projection(source: core.VolumeProjection, context: ProjectionContext): Promise<Contents> {
    if (source.configMap) return { payload: await this.configMap(source.configMap, context) };
    if (source.secret) return { payload: await this.secret(source.secret, context) };
    if (source.downwardAPI) return { payload: this.downwardApi(source.downwardAPI.items ?? [], context) };
    if (source.serviceAccountToken) return this.#token(source.serviceAccountToken, context);
    if (source.clusterTrustBundle) return this.#trustBundle(source.clusterTrustBundle, context);
    if (source.podCertificate) return this.#certificate(source.podCertificate, context);
    const [kind] = Object.keys(source);
    if (kind === undefined) throw new Error('a source of the projected volume names nothing: set one of its fields, or remove it');
    throw new Error(`projected volumes of ${kind} are not supported`);
  }

  async #trustBundle(source: core.ClusterTrustBundleProjection, context: SourceContext): Promise<Contents> {
    return { payload: new Map([[source.path, ownFile(await this.deps.trustBundles.read(source), context)]]) };
  }

  async #certificate(projection: core.PodCertificateProjection, context: ProjectionContext): Promise<Contents> {
    const { key, chain, refreshAtMs } = await this.deps.certificates.get({ ...context, projection });
    const { credentialBundlePath, keyPath, certificateChainPath } = projection;
    const payload = new Map<string, ProjectedFile>();
    if (credentialBundlePath) payload.set(credentialBundlePath, ownFile(key + chain, context));
    if (keyPath) payload.set(keyPath, ownFile(key, context));
    if (certificateChainPath) payload.set(certificateChainPath, ownFile(chain, context));
    return { payload, refreshAtMs };
  }

  async #token(source: core.ServiceAccountTokenProjection, context: SourceContext): Promise<Contents> {
    const { path, audience = '', expirationSeconds = DEFAULT_TOKEN_SECONDS } = source;
    const { token, refreshAtMs } = await this.deps.tokens.get(context.pod, { audience, expirationSeconds: Number(expirationSeconds) });
    return { payload: new Map([[path, ownFile(token, context)]]), refreshAtMs };
  }
}

/** Owned by the pod's user, if it has one: access by owner or group needs no wider mode. */
function ownFile(text: string, { pod, defaultMode }: SourceContext): ProjectedFile {
  const user = podUser(pod);
  const isPrivate = user !== undefined || pod.spec?.securityContext?.fsGroup !== undefined;
  return { data: Buffer.from(text, 'utf8'), mode: isPrivate ? PRIVATE_MODE : defaultMode, user };
}

async function optionally<T>({ optional }: KeyedReference, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (optional === true && error instanceof MissingObject) return undefined;
    throw error;
  }
}

function earliest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}
