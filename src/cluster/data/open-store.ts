import { openEmbeddedStore, openEtcdStore, openMemoryStore, type Store, StoreError } from '#store';

type EmbeddedOptions = Parameters<typeof openEmbeddedStore>[0];
type EtcdOptions = Parameters<typeof openEtcdStore>[0];

/** The storage engine. */
export type StoreChoice =
  | { readonly type: 'embedded' }
  | { readonly type: 'memory' }
  | { readonly type: 'etcd'; readonly endpoints: readonly string[] };

/** Opens the store of a cluster on this machine. Errors say what to do. */
export async function openStore(choice: StoreChoice, options: EmbeddedOptions & Omit<EtcdOptions, 'endpoints'>): Promise<Store> {
  switch (choice.type) {
    case 'memory':
      return openMemoryStore(options.clock ? { clock: options.clock } : {});
    case 'embedded':
      return openOwn(options);
    case 'etcd':
      return openEtcd({ ...options, endpoints: choice.endpoints });
  }
}

async function openOwn(options: EmbeddedOptions): Promise<Store> {
  try {
    return await openEmbeddedStore(options);
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause;
    const advice = ADVICE[cause.code];
    throw advice === undefined ? cause : new Error(`${cause.message}; ${advice}`);
  }
}

const ADVICE: Readonly<Partial<Record<StoreError['code'], string>>> = {
  locked: 'stop that process first, or choose another directory with --data-dir',
  corrupt: 'to give up what it holds and start with an empty cluster: sampan delete',
};

/** Throws when no member responds within the call timeout. */
export async function openEtcd(options: EtcdOptions): Promise<Store> {
  try {
    return await openEtcdStore(options);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'unsupported') throw error;
    if (error instanceof StoreError && error.code === 'invalid')
      throw new Error(`${error.message}; give the members so with --etcd-servers`);
    const where = options.endpoints.join(', ');
    const reason = firstCause(error).message;
    throw new Error(`etcd at ${where} cannot be reached (${reason}); start it, or say where it is with --etcd-servers`);
  }
}

/** The root cause: the network error. */
function firstCause(error: unknown): Error {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? firstCause(cause) : error instanceof Error ? error : new Error(String(error));
}
