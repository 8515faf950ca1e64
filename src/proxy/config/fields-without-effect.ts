import { lookupTable } from '#base';
import type { ConfigurationReader, Fields } from '#machinery';

type Form = 'text' | 'boolean' | 'duration' | 'list' | 'booleans' | Readonly<Record<string, 'text' | 'boolean' | 'duration' | 'list'>>;

interface FieldWithoutEffect {
  readonly form: Form;
  readonly reason: string;
}

const OTHER_MODE = 'this mode is not there; choose nftables or iptables';
const WINDOWS = 'it is about Windows';

/** Fields of upstream's other modes and of its own process. Files of upstream's tools contain them with zero values. */
const FIELDS = lookupTable<FieldWithoutEffect>({
  configSyncPeriod: { form: 'duration', reason: 'changes are watched' },
  enableProfiling: { form: 'boolean', reason: 'no profiles are served; use node --cpu-prof' },
  featureGates: { form: 'booleans', reason: 'the proxy has the features of v1.36 as they are by default' },
  ipvs: {
    form: {
      ...{ syncPeriod: 'duration', minSyncPeriod: 'duration', scheduler: 'text', excludeCIDRs: 'list', strictARP: 'boolean' },
      ...{ tcpTimeout: 'duration', tcpFinTimeout: 'duration', udpTimeout: 'duration' },
    },
    reason: OTHER_MODE,
  },
  portRange: { form: 'text', reason: 'upstream does not use it either' },
  showHiddenMetricsForVersion: { form: 'text', reason: 'all metrics are served as they are' },
  windowsRunAsService: { form: 'boolean', reason: WINDOWS },
  winkernel: {
    form: { networkName: 'text', sourceVip: 'text', enableDSR: 'boolean', rootHnsEndpointName: 'text', forwardHealthCheckVip: 'boolean' },
    reason: WINDOWS,
  },
});

export const FIELDS_WITHOUT_EFFECT: readonly string[] = Object.keys(FIELDS);

/** Settings without an effect here, one sentence each. Values of the wrong type are problems. */
export function readFieldsWithoutEffect(reader: ConfigurationReader, fields: Fields): readonly string[] {
  return Object.entries(FIELDS).flatMap(([name, { form, reason }]) => {
    checkForm(reader, fields[name], { path: name, form });
    return isZero(fields[name]) ? [] : [`${name}: ${reason}`];
  });
}

function checkForm(reader: ConfigurationReader, value: unknown, { path, form }: { path: string; form: Form }): void {
  if (value === undefined || value === null) return;
  if (form === 'text') reader.text(value, path, '');
  else if (form === 'boolean') reader.boolean(value, path, false);
  else if (form === 'duration') reader.duration(value, path, 0);
  else if (form === 'list') reader.list(value, path);
  else checkObject(reader, reader.object(value, path), { path, form });
}

function checkObject(
  reader: ConfigurationReader,
  fields: Fields,
  { path, form }: { path: string; form: Exclude<Form, string> | 'booleans' },
): void {
  if (form !== 'booleans') reader.rejectUnknownFields(fields, Object.keys(form), path);
  for (const [name, value] of Object.entries(fields)) {
    const inner = form === 'booleans' ? 'boolean' : Object.hasOwn(form, name) ? form[name] : undefined;
    if (inner !== undefined) checkForm(reader, value, { path: `${path}.${name}`, form: inner });
  }
}

/** Counts as absent. */
export function isZero(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false || value === 0) return true;
  if (value === '0s' || value === '0') return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.values(value).every(isZero);
}
