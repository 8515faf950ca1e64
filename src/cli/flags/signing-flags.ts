import { mergeAll } from '#base';
import type { ControllerManagerConfig } from '#controllers';
import { durationValue, type Flag, type FlagTable, fileText } from './flag-table.ts';

type SigningConfig = NonNullable<NonNullable<ControllerManagerConfig['options']>['clusterSigning']>;
type PartialPair = { readonly certificate?: string; readonly key?: string };

/** Signers with their own CA flags. */
const SIGNERS: ReadonlyMap<string, string> = new Map([
  ['kubelet-serving', 'kubernetes.io/kubelet-serving'],
  ['kubelet-client', 'kubernetes.io/kube-apiserver-client-kubelet'],
  ['kube-apiserver-client', 'kubernetes.io/kube-apiserver-client'],
  ['legacy-unknown', 'kubernetes.io/legacy-unknown'],
]);

/** Flags of the certificate signers. */
export const SIGNING_FLAGS: FlagTable<ControllerManagerConfig> = {
  ...pairFlags('cluster-signing', 'certificate signing requests', (signing, part) => ({
    ...signing,
    authority: { ...signing.authority, ...part } as NonNullable<SigningConfig['authority']>,
  })),
  ...mergeAll(
    [...SIGNERS].map(([flag, signer]) =>
      pairFlags(`cluster-signing-${flag}`, `requests to ${signer}`, (signing, part) => ({
        ...signing,
        authorities: {
          ...signing.authorities,
          [signer]: { ...signing.authorities?.[signer], ...part } as NonNullable<SigningConfig['authority']>,
        },
      })),
    ),
  ),
  'cluster-signing-duration': {
    value: 'duration',
    help: 'the maximum lifetime of signed certificates (default: 8760h)',
    apply: (config, value) => withSigning(config, (signing) => ({ ...signing, durationMs: durationValue(value) })),
  },
};

function pairFlags(
  prefix: string,
  subject: string,
  change: (signing: SigningConfig, part: PartialPair) => SigningConfig,
): FlagTable<ControllerManagerConfig> {
  const flag = (part: keyof PartialPair, noun: string): Flag<ControllerManagerConfig> => ({
    value: 'file',
    help: `the ${noun} of the authority that signs ${subject}`,
    apply: (config, value, context) => {
      const text = fileText(value, context);
      return withSigning(config, (signing) => change(signing, { [part]: text }));
    },
  });
  return { [`${prefix}-cert-file`]: flag('certificate', 'certificate'), [`${prefix}-key-file`]: flag('key', 'key') };
}

function withSigning(config: ControllerManagerConfig, change: (signing: SigningConfig) => SigningConfig): ControllerManagerConfig {
  return { ...config, options: { ...config.options, clusterSigning: change(config.options?.clusterSigning ?? {}) } };
}
