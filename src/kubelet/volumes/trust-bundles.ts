import { certificatesV1beta1, type core } from '#api';
import { encodePem, pemBlocks } from '#base';
import type { Client, InformerDeps } from '#client';
import { selectorFromObject } from '#machinery';
import { OptionalApiInformer } from './optional-api-informer.ts';

type Bundle = certificatesV1beta1.ClusterTrustBundle;

export interface TrustBundlesDeps extends InformerDeps {
  readonly client: Client;
}

/** The cluster's trust bundles, which are watched from the first pod on that has one in a volume. */
export class TrustBundles implements AsyncDisposable {
  readonly #pods = new Set<string>();
  readonly #informer: OptionalApiInformer<Bundle>;

  /** `onChange`: bundles changed that these pods may use. */
  constructor(deps: TrustBundlesDeps, onChange: (podUids: readonly string[]) => void) {
    const changed = () => onChange([...this.#pods]);
    this.#informer = new OptionalApiInformer<Bundle>(deps.client.of(certificatesV1beta1.ClusterTrustBundle) as never, deps, {
      user: 'ClusterTrustBundle projection',
      // The initial list is what pods are about to get.
      handler: { add: (_, isInInitialList) => !isInInitialList && changed(), update: changed, delete: changed },
    });
  }

  /** The distinct certificates of a projection, as PEM. Rejects with upstream's text when there are none and the source is not optional. */
  async read(source: core.ClusterTrustBundleProjection): Promise<string> {
    const { name, signerName, optional = false } = source;
    if (!name && !signerName) throw new Error('ClusterTrustBundle projection requires either name or signerName to be set');
    const bundles = name ? await this.#named(name) : await this.#ofSigner(source);
    if (bundles.length === 0 && !optional) {
      if (name) throw new Error(`while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "${name}" not found`);
      throw new Error('combination of signerName and labelSelector matched zero ClusterTrustBundles');
    }
    return normalizedCertificates(bundles.map(({ spec }) => spec.trustBundle));
  }

  follow(podUid: string, isUser: boolean): void {
    if (isUser) this.#pods.add(podUid);
    else this.#pods.delete(podUid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#informer[Symbol.asyncDispose]();
  }

  async #named(name: string): Promise<readonly Bundle[]> {
    const bundle = (await this.#informer.synced()).lister.get({ name });
    return bundle === undefined ? [] : [bundle];
  }

  /** Without a selector nothing matches, with an empty one everything. */
  async #ofSigner({ signerName, labelSelector }: core.ClusterTrustBundleProjection): Promise<readonly Bundle[]> {
    const selector = selectorFromObject(labelSelector);
    const { lister } = await this.#informer.synced();
    return [...lister.list()].filter(({ metadata, spec }) => spec.signerName === signerName && selector.matches(metadata.labels));
  }
}

/** Whether a pod has trust bundles in a volume. */
export function usesTrustBundles({ spec }: core.Pod): boolean {
  return (spec?.volumes ?? []).some(({ projected }) => projected?.sources?.some(({ clusterTrustBundle }) => clusterTrustBundle) === true);
}

/** Comments and doubles are left out; the order is always the same. */
function normalizedCertificates(bundles: readonly string[]): string {
  const certificates = bundles.flatMap((text) => Array.from(pemBlocks(text), ({ bytes }) => encodePem('CERTIFICATE', bytes)));
  return [...new Set(certificates)].sort().join('');
}
