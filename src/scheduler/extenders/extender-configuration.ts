import { core } from '#api';
import { withoutTrailing } from '#base';
import { type ConfigurationReader, checkQualifiedName } from '#machinery';

/** A service that takes part in scheduling, as `extenders` of a KubeSchedulerConfiguration describe it. An empty verb is not supported by the extender. */
export interface ExtenderConfiguration {
  readonly urlPrefix: string;
  readonly filterVerb: string;
  readonly preemptVerb: string;
  readonly prioritizeVerb: string;
  readonly bindVerb: string;
  readonly weight: number;
  /** Without an authority in `tls`, the server's certificate is not checked, as upstream. */
  readonly enableHTTPS: boolean;
  readonly tls: ExtenderTls | undefined;
  readonly timeoutMs: number;
  /** The extender caches nodes: it receives only their names. */
  readonly nodeCacheCapable: boolean;
  readonly managedResources: readonly ManagedResource[];
  /** Scheduling continues without the extender if it does not respond. */
  readonly ignorable: boolean;
}

export interface ManagedResource {
  readonly name: string;
  readonly ignoredByScheduler: boolean;
}

/** Files are read when the scheduler starts; data is PEM. */
export interface ExtenderTls {
  readonly insecure: boolean;
  readonly serverName: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile: string;
  readonly certData: string;
  readonly keyData: string;
  readonly caData: string;
}

const FIELDS = [
  'urlPrefix',
  'filterVerb',
  'preemptVerb',
  'prioritizeVerb',
  'weight',
  'bindVerb',
  'enableHTTPS',
  'tlsConfig',
  'httpTimeout',
  'nodeCacheCapable',
  'managedResources',
  'ignorable',
];
const TLS_FIELDS = ['insecure', 'serverName', 'certFile', 'keyFile', 'caFile', 'certData', 'keyData', 'caData'];
const DEFAULT_TIMEOUT_MS = 5_000;

export function readExtenders(value: unknown, reader: ConfigurationReader): readonly ExtenderConfiguration[] {
  const extenders = reader.list(value, 'extenders').map((extender, i) => readExtender(extender, `extenders[${i}]`, reader));
  const binders = extenders.filter(({ bindVerb }) => bindVerb !== '').length;
  if (binders > 1) reader.fail('extenders', `found ${binders} extenders implementing bind: only one extender can implement bind`);
  const names = extenders.flatMap(({ managedResources }) => managedResources.map(({ name }) => name));
  for (const name of new Set(names.filter((candidate, i) => names.indexOf(candidate) < i)))
    reader.fail('extenders', `duplicate extender managed resource name "${name}"`);
  // Ignorable extenders come last: the result may be decided by then.
  return [...extenders.filter(({ ignorable }) => !ignorable), ...extenders.filter(({ ignorable }) => ignorable)];
}

function readExtender(value: unknown, path: string, reader: ConfigurationReader): ExtenderConfiguration {
  const fields = reader.object(value, path);
  reader.rejectUnknownFields(fields, FIELDS, path);
  const text = (name: string) => reader.text(fields[name], `${path}.${name}`, '');
  const flag = (name: string) => reader.boolean(fields[name], `${path}.${name}`, false);
  const prioritizeVerb = text('prioritizeVerb');
  const weight = reader.number(fields.weight, `${path}.weight`, { fallback: 0, min: 0 });
  if (prioritizeVerb !== '' && weight === 0) reader.fail(`${path}.weight`, 'must have a positive weight applied to it');
  return {
    urlPrefix: readUrl(text('urlPrefix'), `${path}.urlPrefix`, reader),
    filterVerb: text('filterVerb'),
    preemptVerb: text('preemptVerb'),
    prioritizeVerb,
    bindVerb: text('bindVerb'),
    weight,
    enableHTTPS: flag('enableHTTPS'),
    tls: fields.tlsConfig === undefined ? undefined : readTls(fields.tlsConfig, `${path}.tlsConfig`, reader),
    timeoutMs: reader.duration(fields.httpTimeout, `${path}.httpTimeout`, DEFAULT_TIMEOUT_MS) || DEFAULT_TIMEOUT_MS,
    nodeCacheCapable: flag('nodeCacheCapable'),
    managedResources: reader
      .list(fields.managedResources, `${path}.managedResources`)
      .map((resource, i) => readResource(resource, `${path}.managedResources[${i}]`, reader)),
    ignorable: flag('ignorable'),
  };
}

function readUrl(text: string, path: string, reader: ConfigurationReader): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) reader.fail(path, `"${text}" is no http or https URL`);
  return withoutTrailing(text, '/');
}

function readTls(value: unknown, path: string, reader: ConfigurationReader): ExtenderTls {
  const fields = reader.object(value, path);
  reader.rejectUnknownFields(fields, TLS_FIELDS, path);
  const text = (name: string) => reader.text(fields[name], `${path}.${name}`, '');
  const data = (name: string) => Buffer.from(text(name), 'base64').toString('utf8');
  const [certFile, keyFile, caFile] = [text('certFile'), text('keyFile'), text('caFile')];
  const [certData, keyData, caData] = [data('certData'), data('keyData'), data('caData')];
  const insecure = reader.boolean(fields.insecure, `${path}.insecure`, false);
  return { insecure, serverName: text('serverName'), certFile, keyFile, caFile, certData, keyData, caData };
}

function readResource(value: unknown, path: string, reader: ConfigurationReader): ManagedResource {
  const fields = reader.object(value, path);
  reader.rejectUnknownFields(fields, ['name', 'ignoredByScheduler'], path);
  const name = reader.text(fields.name, `${path}.name`, '');
  const [problem] = checkQualifiedName(name);
  if (problem !== undefined) reader.fail(`${path}.name`, problem);
  else if (!core.isExtendedResource(name)) reader.fail(`${path}.name`, 'is an invalid extended resource name');
  return { name, ignoredByScheduler: reader.boolean(fields.ignoredByScheduler, `${path}.ignoredByScheduler`, false) };
}
