/** What a folder inside a layer may import of its siblings, type imports included. Keys are folders below src/; `*` stands for any one folder. */
export interface FolderRule {
  readonly folder: string;
  readonly mayImport: readonly string[];
  /** Files directly in the layer, which put the folders together, are not to be imported either. */
  readonly excludesTop?: boolean;
}

/** The folders of the API server; each may import those above it. */
const APISERVER_ORDER = [
  'metrics',
  'request',
  'egress',
  'tracing',
  'webhook-client',
  'config-file',
  'audit',
  'storage-encryption',
  'watch-cache',
  'storage-format',
  'registry',
  'kubelet-client',
  'service-endpoints',
  'authn',
  'authz',
  'printing',
  'discovery',
  'admission',
  'crd',
  'handlers',
  'streaming',
  'openapi',
  'flow-control',
  'filters',
  'http',
  'in-process',
  'aggregation',
  'bootstrap',
  'controllers',
].map((folder) => `apiserver/${folder}`);

export const FOLDER_RULES: readonly FolderRule[] = [
  // Controllers share through `runtime` only; files directly in the layer are open to all.
  { folder: 'controllers/*', mayImport: ['controllers/runtime'] },
  ...APISERVER_ORDER.map((folder, index) => ({ folder, mayImport: APISERVER_ORDER.slice(0, index), excludesTop: true })),
  // A new folder has to be given its place in the order.
  { folder: 'apiserver/*', mayImport: [], excludesTop: true },
];
