const LOW = ['base', 'machinery', 'api'] as const;
const BESIDE = [...LOW, 'client'];
const SERVER = [...BESIDE, 'store'];
/** Components that communicate only through the API. */
const PEERS = ['scheduler', 'controllers', 'kubelet', 'network', 'proxy', 'dns', 'ingress', 'cloud', 'metrics', 'logging', 'kubectl'];
const BELOW_CLUSTER = [...SERVER, 'apiserver', ...PEERS];

/** The layers that each directory under src/ may import: the table of ARCHITECTURE.md. The key '' is src/index.ts, the package itself. */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  machinery: ['base'],
  api: ['machinery', 'base'],
  store: ['base'],
  client: [...LOW],
  apiserver: SERVER,
  ...Object.fromEntries(PEERS.map((peer) => [peer, BESIDE])),
  cluster: BELOW_CLUSTER,
  testing: [...BELOW_CLUSTER, 'cluster'],
  cli: [...BELOW_CLUSTER, 'cluster'],
  '': [...BELOW_CLUSTER, 'cluster'],
};

/** Layers without I/O. */
export const PURE_LAYERS = ['machinery', 'api'];

/** Node modules without I/O. */
export const PURE_BUILTINS = ['node:assert', 'node:buffer', 'node:crypto', 'node:util', 'node:zlib'];
