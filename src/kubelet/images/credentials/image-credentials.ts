import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { core } from '#api';
import { type Logger, pushAll } from '#base';
import type { PodEvents } from '../../pods/pod-events.ts';
import { type PullCredential, repositoryOf } from '../pull-records.ts';
import type { CredentialProvider } from './credential-provider.ts';
import { keyringEntriesOf, parseDockerConfig } from './docker-config.ts';
import { Keyring, type KeyringEntry } from './keyring.ts';

export interface ImageCredentialsOptions {
  /** Reads a secret of the pod's namespace; rejects when it does not exist. */
  secret(namespace: string, name: string): Promise<core.Secret>;
  readonly providers: readonly CredentialProvider[];
  /** The node's docker configuration; it may appear and disappear. */
  readonly nodeConfigFile?: string;
  readonly logger: Logger;
}

/** Credentials for an image's registry: the pod's secrets first, then the node's. */
export class ImageCredentials {
  readonly #options: ImageCredentialsOptions;

  constructor(options: ImageCredentialsOptions) {
    this.#options = options;
  }

  async of(pod: core.Pod, image: string): Promise<readonly PullCredential[]> {
    const repository = repositoryOf(image);
    const keyrings = [new Keyring(await this.#podEntries(pod)), ...(await this.#nodeKeyrings(repository, pod))];
    const distinct = new Map<string, PullCredential>();
    for (const { auth, secret, serviceAccount } of keyrings.flatMap((keyring) => keyring.entries(repository))) {
      const key = JSON.stringify(auth);
      if (!distinct.has(key)) distinct.set(key, { auth, ...(secret && { secret }), ...(serviceAccount && { serviceAccount }) });
    }
    return distinct.size === 0 ? [{}] : [...distinct.values()];
  }

  /** Records that pull secrets of the pod cannot be read, as upstream also where no image has to be pulled. */
  async reportMissing(pod: core.Pod, events: Pick<PodEvents, 'warning'>): Promise<void> {
    const missing: string[] = [];
    for (const name of pullSecretsOf(pod)) {
      await this.#options.secret(pod.metadata.namespace ?? '', name).catch(() => missing.push(name));
    }
    if (missing.length === 0) return;
    const problem = `Unable to retrieve some image pull secrets (${missing.join(', ')})`;
    events.warning(undefined, 'FailedToRetrieveImagePullSecret', `${problem}; attempting to pull the image may not succeed.`);
  }

  /** Missing or malformed secrets are skipped, as upstream: the image may not need them. */
  async #podEntries(pod: core.Pod): Promise<readonly KeyringEntry[]> {
    const { metadata } = pod;
    const entries: KeyringEntry[] = [];
    for (const name of pullSecretsOf(pod)) {
      try {
        pushAll(entries, entriesOf(await this.#options.secret(metadata?.namespace ?? '', name)));
      } catch (error) {
        this.#options.logger.warn('could not use an image pull secret', { pod: metadata?.name, secret: name, error });
      }
    }
    return entries;
  }

  async #nodeKeyrings(repository: string, pod: core.Pod): Promise<readonly Keyring[]> {
    const { providers, logger } = this.#options;
    const keyrings: Keyring[] = [];
    for (const provider of providers) {
      if (!provider.provides(repository)) continue;
      try {
        const keyring = await provider.keyring(repository, pod);
        if (keyring !== undefined) keyrings.push(keyring);
      } catch (error) {
        logger.error('could not get credentials from a provider', { provider: provider.name, error });
      }
    }
    return [...keyrings, await this.#nodeKeyring()];
  }

  async #nodeKeyring(): Promise<Keyring> {
    const { nodeConfigFile, logger } = this.#options;
    try {
      return new Keyring(nodeConfigFile === undefined ? [] : parseDockerConfig(await readFile(nodeConfigFile, 'utf8')));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') logger.warn("could not read the node's docker configuration", { error });
      return new Keyring([]);
    }
  }
}

function pullSecretsOf({ spec }: core.Pod): readonly string[] {
  return (spec?.imagePullSecrets ?? []).map(({ name = '' }) => name).filter((name) => name !== '');
}

function entriesOf(secret: core.Secret): readonly KeyringEntry[] {
  const { uid = '', namespace = '', name = '' } = secret.metadata;
  return keyringEntriesOf(secret).map((entry) => {
    const credentialHash = createHash('sha256').update(JSON.stringify(entry.auth)).digest('hex');
    return { ...entry, secret: { uid, namespace, name, credentialHash } };
  });
}
