import { join } from 'node:path';
import { core } from '#api';
import type { Clock, Logger, Random } from '#base';
import type { Client } from '#client';
import type { PodHook } from '../../pods/hooks/pod-hook.ts';
import { PodTokens } from '../../volumes/payload/pod-tokens.ts';
import { CredentialProvider } from './credential-provider.ts';
import { ImageCredentials } from './image-credentials.ts';
import type { CredentialProviderSpec } from './provider-config.ts';

export interface CredentialProvidersConfig {
  readonly specs: readonly CredentialProviderSpec[];
  readonly binDirectory: string;
  /** Of the plugins. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface CredentialsDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** The kubelet's directory, with a docker configuration in it or not. */
  readonly rootDir: string;
}

/** The API's default. */
const TOKEN_SECONDS = 3600;

/** Pull secrets, credential provider plugins, and the docker configuration in the kubelet's directory. The hook reports missing pull secrets, and forgets tokens of pods that are gone. */
export function openCredentials(config: CredentialProvidersConfig | undefined, deps: CredentialsDeps) {
  const { client, clock, logger, rootDir } = deps;
  const tokens = new PodTokens(deps);
  const accounts = {
    account: (namespace: string, name: string) => client.of(core.ServiceAccount).get({ namespace, name }),
    token: async (pod: core.Pod, audience: string, accountUid: string) =>
      (await tokens.get(pod, { audience, accountUid, expirationSeconds: TOKEN_SECONDS })).token,
  };
  const { specs = [], binDirectory = '', environment = {} } = config ?? {};
  const credentials = new ImageCredentials({
    secret: (namespace, name) => client.of(core.Secret).get({ namespace, name }),
    providers: specs.map((spec) => new CredentialProvider(spec, { binDirectory, clock, environment, accounts })),
    nodeConfigFile: join(rootDir, 'config.json'),
    logger,
  });
  const hook: PodHook = {
    name: 'image-credentials',
    prepare: ({ pod, events }) => credentials.reportMissing(pod, events),
    cleanUp: async ({ uid }) => tokens.release(uid),
  };
  return { credentials, hook };
}
