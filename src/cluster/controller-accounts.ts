import { type authentication, core } from '#api';
import { type Clock, type Logger, lookupTable, type TokenBucketConfig } from '#base';
import { Client, type ConnectionConfig, httpsTransport, type Identified, type ResourceClient } from '#client';
import { isStatusReason } from '#machinery';

/** Service accounts whose name differs from their controller's. */
const CONTROLLER_ACCOUNTS = lookupTable<string>({
  'serviceaccount-controller': 'service-account-controller',
  'service-cidr-controller': 'service-cidrs-controller',
  'root-ca-certificate-publisher-controller': 'root-ca-cert-publisher',
  'garbage-collector-controller': 'generic-garbage-collector',
  'certificatesigningrequest-signing-controller': 'certificate-controller',
  'certificatesigningrequest-approving-controller': 'certificate-controller',
  'certificatesigningrequest-cleaner-controller': 'certificate-controller',
  'endpoints-controller': 'endpoint-controller',
  'endpointslice-mirroring-controller': 'endpointslicemirroring-controller',
  'node-lifecycle-controller': 'node-controller',
  'taint-eviction-controller': 'node-controller',
  'node-ipam-controller': 'node-controller',
  'pod-garbage-collector-controller': 'pod-garbage-collector',
  'replicationcontroller-controller': 'replication-controller',
  'horizontal-pod-autoscaler-controller': 'horizontal-pod-autoscaler',
  'daemonset-controller': 'daemon-set-controller',
  'persistentvolume-attach-detach-controller': 'attachdetach-controller',
  'persistentvolume-binder-controller': 'persistent-volume-binder',
  'persistentvolume-expander-controller': 'expand-controller',
  'persistentvolumeclaim-protection-controller': 'pvc-protection-controller',
  'persistentvolume-protection-controller': 'pv-protection-controller',
  'resourceclaim-controller': 'resource-claim-controller',
  'bootstrap-signer-controller': 'bootstrap-signer',
  'token-cleaner-controller': 'token-cleaner',
  'legacy-serviceaccount-token-cleaner-controller': 'legacy-service-account-token-cleaner',
});

/** This controller uses the manager's own identity, since it creates the tokens. */
export const MANAGERS_OWN = 'serviceaccount-token-controller';

/** The service account in kube-system that a controller uses. */
export function controllerAccount(controller: string): string {
  return CONTROLLER_ACCOUNTS[controller] ?? controller;
}

interface AccountDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The rate limit of each controller. Default: none. */
  readonly rateLimit?: TokenBucketConfig | undefined;
}

/** `--use-service-account-credentials`: a client for each controller, with a token of its service account. */
export class AccountClients implements AsyncDisposable {
  readonly #clients: Client[] = [];

  constructor(
    private readonly manager: Client,
    private readonly connection: ConnectionConfig,
    private readonly deps: AccountDeps,
  ) {}

  of(controller: string): Client {
    if (controller === MANAGERS_OWN) return this.manager;
    const tokens = new AccountTokens(this.manager, controllerAccount(controller), this.deps.clock);
    const connection = { ...this.connection, credentials: { tokenSource: () => tokens.get() } };
    const { rateLimit } = this.deps;
    const options = { userAgent: 'kube-controller-manager', ...(rateLimit && { rateLimit }) };
    const client = new Client(httpsTransport(connection, this.deps, options));
    this.#clients.push(client);
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.map((client) => client[Symbol.asyncDispose]()));
  }
}

const NAMESPACE = 'kube-system';
const LIFETIME_SECONDS = 3600;
/** The fraction of its lifetime after which a token is renewed. */
const RENEW_AFTER = 0.8;

/** An account's token, requested on first use and renewed before it expires. Concurrent callers share the request. */
class AccountTokens {
  #current: { readonly token: Promise<string>; renewAt: number } | undefined;

  constructor(
    private readonly client: Client,
    private readonly account: string,
    private readonly clock: Clock,
  ) {}

  get(): Promise<string> {
    if (this.#current === undefined || this.clock.now() >= this.#current.renewAt) this.#current = this.#renew();
    return this.#current.token;
  }

  #renew() {
    const token = this.#request();
    const current = { token, renewAt: this.clock.now() + LIFETIME_SECONDS * 1000 * RENEW_AFTER };
    // A failure is retried by the next request.
    token.catch(() => {
      if (this.#current === current) this.#current = undefined;
    });
    return current;
  }

  async #request(): Promise<string> {
    const accounts = this.client.of(core.ServiceAccount);
    await this.#ensureAccount(accounts);
    const tokens = accounts.subresource<authentication.TokenRequest>('token');
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: LIFETIME_SECONDS } };
    const { status } = await tokens.create({ name: this.account, namespace: NAMESPACE }, body);
    if (!status?.token) throw new Error(`the server gave no token for the account ${this.account}`);
    return status.token;
  }

  /** Reads first: a create asks the admission webhooks, which may be down until the controllers run. */
  async #ensureAccount(accounts: ResourceClient<core.ServiceAccount & Identified>): Promise<void> {
    const metadata = { name: this.account, namespace: NAMESPACE };
    try {
      await accounts.get(metadata);
      return;
    } catch (error) {
      if (!isStatusReason(error, 'NotFound')) throw error;
    }
    try {
      await accounts.create({ metadata });
    } catch (error) {
      if (!isStatusReason(error, 'AlreadyExists')) throw error;
    }
  }
}
