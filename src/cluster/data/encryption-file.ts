import { randomBytes } from 'node:crypto';
import type { EncryptionConfig } from '#apiserver';
import type { Store } from '#store';
import type { DataDirectory } from './data-directory.ts';

const KEY_BYTES = 32;

/**
 * The encryption configuration of a directory's cluster, with the key that is stored there. The key is created on request, and always used
 * afterwards, since encrypted data is lost without it.
 */
export async function secretsEncryption(directory: DataDirectory, isAskedFor: boolean): Promise<EncryptionConfig | undefined> {
  const path = directory.encryption;
  if ((await directory.read(path)) === undefined) {
    if (!isAskedFor) return undefined;
    await directory.write(path, configuration(randomBytes(KEY_BYTES)));
  }
  return { path, reload: true };
}

/** The number of secrets to check, so that the start is not delayed by many. */
const LOOKED_AT = 100;

/** Throws when secrets are encrypted and their key is missing: the cluster could not read them. */
export async function throwIfKeyIsLost(directory: DataDirectory, store: Pick<Store, 'range'>): Promise<void> {
  const page = await store.range({ prefix: '/registry/secrets/', limit: LOOKED_AT });
  const entries = page.status === 'ok' ? page.entries : [];
  const encrypted = entries.find(({ value }) => Buffer.from(value).toString('latin1', 0, 8) === 'k8s:enc:');
  if (encrypted === undefined) return;
  const advice =
    'put that file back, or give the configuration that they were written with as --apiserver-arg encryption-provider-config=FILE';
  throw new Error(`secrets are encrypted (${encrypted.key}), and their key is not in ${directory.encryption}; ${advice}`);
}

/** Identity is last: unencrypted secrets stay readable until they are written again. */
function configuration(key: Buffer): string {
  return `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - secretbox:
      keys:
      - name: key1
        secret: ${key.toString('base64')}
  - identity: {}
`;
}
