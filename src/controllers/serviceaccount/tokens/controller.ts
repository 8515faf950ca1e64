import { core } from '#api';
import type { Lister } from '#client';
import { isStatusReason } from '#machinery';
import type { Controller, ControllerContext, RunningController } from '../../runtime/controller.ts';
import { KeyedController } from '../../runtime/keyed-controller.ts';
import { updateWithRetry } from '../../runtime/update-with-retry.ts';
import { accountOf, isTokenOf, reconcileToken } from './reconcile.ts';
import { AccountTokenSigner } from './sign-account-token.ts';

/** Fills service account token secrets, and deletes them with their account. */
export const serviceAccountTokenController: Controller = {
  name: 'serviceaccount-token-controller',
  aliases: ['serviceaccount-token'],
  enabledByDefault: true,
  start(context) {
    const { serviceAccountPrivateKey } = context.options;
    return serviceAccountPrivateKey === undefined ? undefined : new TokenController(context, signerOf(serviceAccountPrivateKey));
  },
};

type Signer = () => AccountTokenSigner | Promise<AccountTokenSigner>;

function signerOf(key: string | (() => Promise<string>)): Signer {
  let signer = typeof key === 'string' ? new AccountTokenSigner(key) : undefined;
  const createSigner = async (make: () => Promise<string>) => {
    signer ??= new AccountTokenSigner(await make());
    return signer;
  };
  return () => signer ?? createSigner(key as () => Promise<string>);
}

const MAX_RETRIES = 10;

/** Identifies an account across replacements; a deleted one can no longer be read. */
interface AccountKey {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

interface SecretKey extends AccountKey {
  readonly account: { readonly name: string; readonly uid: string };
}

class TokenController implements RunningController {
  readonly #accounts: Lister<core.ServiceAccount>;
  readonly #secrets: Lister<core.Secret>;
  readonly #accountQueue: KeyedController;
  readonly #secretQueue: KeyedController;

  constructor(
    private readonly context: ControllerContext,
    private readonly signer: Signer,
  ) {
    const { informers, options } = context;
    const accounts = informers.of(core.ServiceAccount);
    const secrets = informers.of(core.Secret);
    this.#accounts = accounts.lister;
    this.#secrets = secrets.lister;
    const limits = { concurrency: options.concurrentServiceAccountTokenSyncs, maxRetries: MAX_RETRIES };
    this.#accountQueue = new KeyedController(context, {
      name: 'serviceaccount_tokens_service',
      ...limits,
      sync: (key) => this.#syncAccount(JSON.parse(key) as AccountKey),
    });
    this.#secretQueue = new KeyedController(context, {
      name: 'serviceaccount_tokens_secret',
      ...limits,
      sync: (key) => this.#syncSecret(JSON.parse(key) as SecretKey),
    });
    const account = ({ metadata: { namespace = '', name, uid = '' } }: core.ServiceAccount) =>
      this.#accountQueue.queue.add(JSON.stringify({ namespace, name, uid } satisfies AccountKey));
    accounts.addHandler({ add: account, update: (_, next) => account(next), delete: account });
    const secret = (object: core.Secret) => this.#enqueueSecret(object);
    secrets.addHandler({ add: secret, update: (_, next) => secret(next), delete: secret });
  }

  async run(): Promise<void> {
    await Promise.all([this.#accountQueue.run(), this.#secretQueue.run()]);
  }

  #enqueueSecret(secret: core.Secret): void {
    const account = accountOf(secret);
    if (account === undefined) return;
    const { namespace = '', name, uid = '' } = secret.metadata;
    this.#secretQueue.queue.add(JSON.stringify({ namespace, name, uid, account } satisfies SecretKey));
  }

  async #syncAccount(key: AccountKey): Promise<void> {
    if (this.#accounts.get(key)?.metadata.uid === key.uid) return;
    const tokens = this.#secrets.list(key.namespace).filter((secret) => isTokenOf(secret, { metadata: key }));
    await Promise.all(tokens.map(({ metadata }) => this.#deleteToken(metadata)));
  }

  async #syncSecret(key: SecretKey): Promise<void> {
    const secret = this.#secrets.get(key);
    if (secret === undefined || secret.metadata.uid !== key.uid) return this.#removeReference(key);
    const account = await this.#account(key);
    if (account === undefined) await this.#deleteToken(secret.metadata);
    else await this.#fill(secret, account);
  }

  /** Tokens are deleted only when the server confirms that the account is gone. */
  async #account({ namespace, account: { name, uid } }: SecretKey): Promise<core.ServiceAccount | undefined> {
    const isReferenced = (account: core.ServiceAccount | undefined) =>
      account !== undefined && (uid === '' || account.metadata.uid === uid);
    const cached = this.#accounts.get({ name, namespace });
    if (isReferenced(cached)) return cached;
    const live = await orMissing(this.context.client.of(core.ServiceAccount).get({ name, namespace }));
    return isReferenced(live) ? live : undefined;
  }

  async #fill(cached: core.Secret, account: core.ServiceAccount): Promise<void> {
    const secrets = this.context.client.of(core.Secret);
    const signer = await this.signer();
    const reconcile = (secret: core.Secret) => {
      const { rootCa } = this.context.options;
      return reconcileToken(secret, { account, rootCa, sign: () => signer.sign(account, secret) });
    };
    if (reconcile(cached) === undefined) return;
    const live = await orMissing(secrets.get(cached.metadata));
    if (live === undefined || live.metadata.resourceVersion !== cached.metadata.resourceVersion) return;
    const filled = reconcile(live);
    if (filled) await unlessChanged(secrets.update(filled));
  }

  async #deleteToken({ name, namespace, uid = '' }: core.Secret['metadata']): Promise<void> {
    await unlessChanged(this.context.client.of(core.Secret).delete({ name, namespace }, { preconditions: { uid } }));
  }

  /** Removes a deleted token from its account's secrets. */
  async #removeReference({ namespace, name, account }: SecretKey): Promise<void> {
    const { client, clock, random } = this.context;
    const cached = this.#accounts.get({ name: account.name, namespace });
    if (cached === undefined || (account.uid !== '' && cached.metadata.uid !== account.uid)) return;
    const key = { name: account.name, namespace };
    const update = updateWithRetry(client.of(core.ServiceAccount), {
      clock,
      random,
      key,
      change: (live) => {
        const isOther = account.uid !== '' && live.metadata.uid !== account.uid;
        if (isOther || !live.secrets?.some((secret) => secret.name === name)) return undefined;
        return { ...live, secrets: live.secrets.filter((secret) => secret.name !== name) };
      },
    });
    await orMissing(update);
  }
}

async function orMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isStatusReason(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** Ignores conflicts: the other change triggers the next sync. */
async function unlessChanged(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isStatusReason(error, 'NotFound') && !isStatusReason(error, 'Conflict')) throw error;
  }
}
