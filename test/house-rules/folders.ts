/** The siblings that a folder inside a layer may import, type imports included. Keys are folders below src/; `*` matches any one folder. */
export interface FolderRule {
  readonly folder: string;
  readonly mayImport: readonly string[];
  /** Excludes imports of the files directly in the layer, which compose the folders. */
  readonly excludesTop?: boolean;
}

/** The folders of the API server; each may import those before it. */
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
  // Controllers share code through `runtime` only; any may import the files directly in the layer.
  { folder: 'controllers/*', mayImport: ['controllers/runtime'] },
  ...APISERVER_ORDER.map((folder, index) => ({ folder, mayImport: APISERVER_ORDER.slice(0, index), excludesTop: true })),
  // A new folder must be added to the order above.
  { folder: 'apiserver/*', mayImport: [], excludesTop: true },
];
