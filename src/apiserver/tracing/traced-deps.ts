import { type Dialer, SPAN_KIND, type Tracer, targetText } from '#base';
import type { Store, TxnRequest } from '#store';
import type { EgressDialer, EgressSelector } from '../egress/egress-selector.ts';

/** What requests wait for outside of the server: the store and the proxies of its networks. */
interface Traceable {
  readonly store: Store;
  readonly egress?: EgressSelector | undefined;
}

/** The same dependencies, with spans in the traces of the requests that call them. Unchanged without a tracer. */
export function tracedDeps<T extends Traceable>(deps: T, tracer: Tracer | undefined): T & { readonly tracer?: Tracer } {
  if (tracer === undefined) return deps;
  const { store, egress } = deps;
  return { ...deps, tracer, store: tracedStore(store, tracer), ...(egress && { egress: tracedEgress(egress, tracer) }) };
}

/** Under the names that calls to etcd have upstream. */
function tracedStore(store: Store, tracer: Tracer): Store {
  const call = <T>(method: string, key: () => string, work: () => T) =>
    tracer.child(
      `etcdserverpb.KV/${method}`,
      { kind: SPAN_KIND.client, attributes: () => ({ 'rpc.service': 'etcdserverpb.KV', 'rpc.method': method, key: key() }) },
      work,
    );
  return {
    engine: store.engine,
    localReads: store.localReads,
    revision: (signal) => store.revision(signal),
    get: (key, signal) =>
      call(
        'Range',
        () => key,
        () => store.get(key, signal),
      ),
    range: (request, signal) =>
      call(
        'Range',
        () => request.prefix ?? request.start ?? '',
        () => store.range(request, signal),
      ),
    ...(store.valueAt && { valueAt: store.valueAt.bind(store) }),
    txn: (request, signal) =>
      call(
        'Txn',
        () => keyOf(request),
        () => store.txn(request, signal),
      ),
    watch: (options, sink) => store.watch(options, sink),
    grantLease: (ttlSeconds, signal) => store.grantLease(ttlSeconds, signal),
    renewLease: (id, signal) => store.renewLease(id, signal),
    revokeLease: (id, signal) => store.revokeLease(id, signal),
    compact: (revision, signal) => store.compact(revision, signal),
    snapshot: (file, signal) => store.snapshot(file, signal),
    defragment: (signal) => store.defragment(signal),
    status: (signal) => store.status(signal),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

function keyOf({ compare = [], write }: TxnRequest): string {
  return (compare[0] ?? write[0])?.key ?? '';
}

function tracedEgress(egress: EgressSelector, tracer: Tracer): EgressSelector {
  return Object.fromEntries(Object.entries(egress).map(([network, dial]) => [network, tracedDialer(dial, tracer)]));
}

function tracedDialer(dial: EgressDialer, tracer: Tracer): Dialer {
  const name = `Proxy via ${dial.protocol ?? 'direct'} protocol over ${dial.transport ?? 'tcp'}`;
  return (target) => tracer.child(name, { attributes: () => ({ address: targetText(target) }) }, () => dial(target));
}
